"""What goes with q, k and v: masks, biases, sinks and positions, checked and made exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.fits import FARTHEST
from exactattn.errors import ProblemError
from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.exact import Exact, Expr
from exactattn.truth.layouts import as_array, checked

Polarity = Literal["attend", "block"]


def masks(mask: Any, bias: Any, polarity: Polarity, shape: tuple[int, ...]) -> tuple[Mask | None, Any]:
    """Which keys are allowed and what is added, each of four axes of full length or 1."""
    if polarity not in ("attend", "block"):
        raise ProblemError(f"found polarity {polarity!r}: true means that a key may be seen (attend), or not (block)")
    seen, added = None, None
    for label, given in (("mask", mask), ("bias", bias)):
        if given is None:
            continue
        array = as_array(given, label)
        if array.dtype == np.bool_ and label == "mask":
            one = array if polarity == "attend" else ~array
            seen = _broad(one, label, shape)
            continue
        if array.dtype.kind in "iu" or array.dtype == np.bool_:
            wanted = {
                "mask": "give booleans (which keys are allowed), or floats that are added; 0 and 1 could mean either",
                "bias": "give floats, which are added; booleans that say which keys are allowed are a mask",
            }
            raise ProblemError(f"the {label} has type {array.dtype}: {wanted[label]}")
        floats = np.asarray(checked(array, label), dtype=np.float64)
        if np.isnan(floats).any() or np.isposinf(floats).any():
            raise ProblemError(f"the {label} has a NaN or +inf, which no score can be added to: mend it")
        blocked = np.isneginf(floats)
        if blocked.any():
            other = _broad(~blocked, label, shape)
            seen = other if seen is None else seen & other
            floats = np.where(blocked, 0.0, floats)
        one = _broad(floats, label, shape)
        added = one if added is None else _sum(added, one)
    return seen, added


def _sum(a: Any, b: Any) -> Any:
    """The sum of two biases, where floats add exactly. Errors: ProblemError elsewhere."""
    with np.errstate(all="ignore"):
        out = a + b
        back = out - a
        exact = (back == b) & (out - back == a)
    if not exact.all():
        raise ProblemError("a mask of floats and a bias do not add up exactly in float64: add them yourself, give one")
    return out


def _broad(array: Any, label: str, shape: tuple[int, ...]) -> Any:
    """Four axes, each of its full length or 1."""
    four = array.reshape((1,) * (4 - array.ndim) + array.shape) if array.ndim <= 4 else array
    if four.ndim != 4 or any(n not in (1, m) for n, m in zip(four.shape, shape, strict=True)):
        raise ProblemError(f"the {label} has shape {array.shape}, which does not broadcast to (B, H, L, S) = {shape}")
    return four


def sinks_of(sinks: Any, heads: int) -> tuple[Exact, ...] | None:
    """A logit a head, exact: floats, integers or exact numbers. Errors: ProblemError for anything else."""
    if sinks is None:
        return None
    if isinstance(sinks, (list, tuple)):
        values = [x.item() if isinstance(x, (np.floating, np.integer)) else x for x in sinks]
    else:
        array = checked(sinks, "sinks")
        values = np.asarray(array, np.float64).tolist() if array.ndim == 1 else [array]
    if len(values) != heads:
        raise ProblemError(f"found {len(values)} sinks for {heads} heads: give one for each head")
    for x in values:
        if isinstance(x, bool) or not isinstance(x, (int, float, Fraction, Expr)):
            raise ProblemError(f"a sink has type {type(x).__name__}: give an axis of {heads} floats or exact numbers")
        if isinstance(x, float) and not np.isfinite(x):
            raise ProblemError("a sink is not finite: leave sinks out where there are none")
    return tuple(Fraction(x) if isinstance(x, (int, float)) else x for x in values)


def positions_of(x: Any, label: str, shape: tuple[int, int]) -> NDArray[np.intp] | None:
    """Rotary positions of each sequence. Errors: ProblemError for what are not integers of that shape."""
    if x is None:
        return None
    array = as_array(x, label)
    if array.dtype.kind not in "iu" or array.shape not in (shape, shape[1:]):
        raise ProblemError(f"{label}: found {array.dtype} {array.shape}, wanted integers {shape[1:]} or {shape}")
    if array.size and max(int(array.max()), -int(array.min())) > FARTHEST:
        raise ProblemError(f"{label}: found numbers above 2**52 in size, where distances are not exact any more")
    return np.broadcast_to(array, shape).astype(np.intp)
