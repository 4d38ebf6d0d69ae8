"""Blocks of numbers as people paste them, and numbers as people state them: each with its place, nothing guessed."""

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
