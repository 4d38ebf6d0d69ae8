"""Blocks of numbers as people paste them, and numbers as people state them: each with its place, nothing guessed.

`read_pasted` reads one block, `read_all` every block of a paste, `find_pasted` those of a whole document; `read_said`
reads one number with its words and marks, `read_chain` the numbers of a chain of equations. What has two readings is a
`PastedError` that names both, and says how to choose.
"""

from exactattn.documents.pasted.found import find_pasted
from exactattn.documents.pasted.model import Cell, Found, Pasted, PastedError, Said
from exactattn.documents.pasted.reading import read_all, read_pasted
from exactattn.documents.pasted.said import read_chain, read_said

__all__ = [
    "Cell",
    "Found",
    "Pasted",
    "PastedError",
    "Said",
    "find_pasted",
    "read_all",
    "read_chain",
    "read_pasted",
    "read_said",
]
