"""Options of attention that carry numbers of their own: ALiBi, rotary positions, norms of q and k."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from exactattn.errors import ProblemError
from exactattn.numbers.exact import ONE, ZERO, Exact

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
