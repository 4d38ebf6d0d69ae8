"""Options of attention that carry numbers of their own: ALiBi, rotary positions, norms of q and k."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from exactattn.errors import ProblemError
from exactattn.numbers.exact import ONE, ZERO, Exact, Expr

Causal = Literal["none", "top-left", "bottom-right", "offset"]
Orientation = Literal["rows", "columns"]
MaskedRow = Literal["undefined", "zero", "uniform", "mean"]
SoftcapOrder = Literal["before-bias", "after-bias", "after-mask"]


@dataclass(frozen=True, slots=True)
class Alibi:
    """A bias that is linear in the distance of query and key: slope of the head times a distance.

    slopes  one for each head
    form    "distance": -|p - j|; "signed": j - p; p the position of the query, j that of the key

    Source: Press, Smith and Lewis 2021 (arXiv 2108.12409); the forms and offsets are those of kernels in use.
    """

    slopes: tuple[Exact, ...]
    form: Literal["distance", "signed"] = "distance"

    def __post_init__(self) -> None:
        """Errors: ProblemError for another form."""
        check_word("form of alibi", self.form, ("distance", "signed"))


@dataclass(frozen=True, slots=True)
class Rotary:
    """Rotary positions: pairs of elements of q and k turned by position times frequency.

    width   how many leading elements are turned; None means all
    base    frequency l of width/2 is base ** (-2 l / width), an exact real number
    layout  which elements make a pair: "halves" (l, l + width/2) or "interleaved" (2 l, 2 l + 1)
    cache   cosines and sines as given numbers, (positions, width/2) each, in place of the exact ones
    factor  on both cosine and sine (YaRN's attention factor)

    Source: Su et al. 2021 (arXiv 2104.09864), equation 34.
    """

    width: int | None = None
    base: Exact = Fraction(10000)
    layout: Literal["halves", "interleaved"] = "halves"
    cache: tuple[Any, Any] | None = None
    factor: Exact = ONE

    def __post_init__(self) -> None:
        """Errors: ProblemError for another layout, or a cache that is not two tables of exact numbers of one size."""
        check_word("layout of rotary positions", self.layout, ("halves", "interleaved"))
        if self.cache is not None:
            sizes = [_table_size(table) for table in self.cache]
            if len(sizes) != 2 or sizes[0] is None or sizes[0] != sizes[1]:
                raise ProblemError(
                    "a rotary cache is two tables, cosines and sines, of one size (positions, pairs), not empty, of "
                    f"finite floats that float64 holds, or of exact numbers; found {len(sizes)} with sizes {sizes}"
                )

    def turned(self, width: int) -> int:
        """How many elements of so many are turned. Errors: ProblemError for an odd or too large number."""
        own = width if self.width is None else self.width
        if own % 2 or not 0 < own <= width:
            raise ProblemError(
                f"rotary positions turn pairs: {own} elements of {width} cannot be turned; "
                "give an even `width` of at most the head size"
            )
        return own


@dataclass(frozen=True, slots=True)
class QKNorm:
    """A norm of each query and key before rotation and scores.

    kind      "rms": x / sqrt(mean of x^2 + eps); "l2": x / sqrt(sum of x^2 + eps)
    q_weight  factors of the elements of q afterwards, k_weight of those of k; None means 1

    Source: Henry et al. 2020 (arXiv 2010.04245) for the l2 form; Zhang and Sennrich 2019 (arXiv 1910.07467) for rms.
    """

    kind: Literal["rms", "l2"] = "rms"
    eps: Exact = ZERO
    q_weight: tuple[Exact, ...] | None = None
    k_weight: tuple[Exact, ...] | None = None

    def __post_init__(self) -> None:
        """Errors: ProblemError for another kind."""
        check_word("kind of norm", self.kind, ("rms", "l2"))


def check_word(label: str, found: Any, words: tuple[str, ...]) -> None:
    """Errors: ProblemError for a word that is not one of those."""
    if not isinstance(found, str) or found not in words:
        near = get_close_matches(str(found)[:40], words, 1)
        guess = f"; did you mean {near[0]!r}?" if near else ""
        raise ProblemError(f"found {label} {found!r}, wanted one of {', '.join(words)}{guess}")


def _table_size(table: Any) -> tuple[int, ...] | None:
    """(rows, columns) of a table of finite floats or of exact numbers; None for anything else."""
    if isinstance(table, np.ndarray):
        if table.ndim != 2 or not table.size or not (table.dtype.kind == "f" or table.dtype.name == "bfloat16"):
            return None
        held = table.astype(np.float64)
        return table.shape if np.isfinite(held).all() and (held == table).all() else None
    if not isinstance(table, (list, tuple)) or not table or not all(isinstance(row, (list, tuple)) for row in table):
        return None
    widths = {len(row) for row in table}
    exact = all(isinstance(x, (Fraction, Expr)) for row in table for x in row)
    return (len(table), *widths) if exact and len(widths) == 1 and widths != {0} else None
