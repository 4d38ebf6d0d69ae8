"""Where a computation of attention may round: the contract under which its error has a proven bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from exactattn.numbers.formats import Format

FUNCTION_ULPS = 4  # of exp, tanh and log; NumPy's claim less for float32


@dataclass(frozen=True, slots=True)
class PrecisionContract:
    """The format in which each number of a run of attention is held, and how accurate its functions are.

    inputs        of q, k, v, bias and sinks, as they are given
    scores        of q and k after their part of the scale, norm and rotation, and of the scores up to the mask
    softmax       to which scores are rounded before the softmax, and in which it is computed
    weights       to which weights are rounded before they multiply v
    accumulation  in which the terms of a sum or of a product of matrices are multiplied and added, in any order; a
                  softmax in a wider format is summed in that
    output        of the context
    ulps          how many ulps of their format exp, tanh and log may err
    scale_place   the scale is one factor on the scores, or its root is one on q and one on k ("both")

    Rounding: to nearest, subnormal numbers kept. Whatever order a run has, and however much more accurate it is than
    this, it keeps the contract.
    """

    inputs: Format
    scores: Format
    softmax: Format
    weights: Format
    accumulation: Format
    output: Format
    ulps: int = FUNCTION_ULPS
    scale_place: Literal["scores", "both"] = "scores"

    @staticmethod
    def uniform(
        fmt: Format,
        *,
        softmax: Format | None = None,
        accumulation: Format | None = None,
        scale_place: Literal["scores", "both"] = "scores",
    ) -> PrecisionContract:
        """Everything in one format, but for what is named."""
        return PrecisionContract(fmt, fmt, softmax or fmt, fmt, accumulation or fmt, fmt, FUNCTION_ULPS, scale_place)
