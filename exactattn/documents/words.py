"""The words of a case file that are chosen from a list."""

from __future__ import annotations

from exactattn.findings import Verdict

VERSION = "1"
KINDS = ("law", "equation", "formula", "order", "reading", "uncheckable")
CAUSAL = ("top-left", "bottom-right")
MASKED_ROWS = ("undefined", "zero")
ORIENTATIONS = ("rows", "columns")
DTYPES = ("float64", "float32")
FORMS = ("plain", "numpy", "r", "spreadsheet")
VERDICTS = tuple(map(str, (Verdict.FAILS, Verdict.UNDECIDED, Verdict.NOT_RUN)))
DEFAULT_FORMATS = ("float64", "float32")
DEFAULT_ALGORITHMS = ("naive", "shifted", "online")
RESERVED = (*KINDS, "fit", "run", "hazard")  # first parts of ids, so no names of problems
