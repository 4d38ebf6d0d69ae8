"""Drawn heads that are hard for float arithmetic, by name: for tests, campaigns and audits.

Each generator makes one head of a few queries and keys from a generator of NumPy: a name and a seed tell what is drawn.
Its docstring says what it is hard for. The default scale, 1/sqrt(d), is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike

from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.near import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """One head of float64 tensors, each number meant exactly.

    Shapes: q (L, d), k (S, d), v (S, d_v); mask (L, S), true where a key is allowed, None where all are.
    `options` are fields of a spec that belong to the problem, such as `softcap`.
    """

    q: Floats
    k: Floats
    v: Floats
    mask: Mask | None = None
    options: Mapping[str, Fraction] = field(default_factory=dict)


def normal(
    rng: Generator, queries: int, keys: int, width: int, dtype: DTypeLike = np.float32, size: float = 1.0
) -> Drawn:
    """Normal numbers times a size, rounded to a type of NumPy."""
    q, k, v = (
        (rng.standard_normal((tokens, width)) * size).astype(dtype).astype(np.float64)
        for tokens in (queries, keys, keys)
    )
    return Drawn(q, k, v)


def plain(rng: Generator) -> Drawn:
    """Hard for nothing: what every method must do well."""
    return normal(rng, 8, 24, 8)


def eight_bits(rng: Generator) -> Drawn:
    """Numbers of 8 bits, as bfloat16 holds them: scores are exact in float64, so nothing excuses an error in them."""
    q, k, v = (rng.integers(-128, 129, (tokens, 8)).astype(np.float64) / 64 for tokens in (6, 20, 20))
    return Drawn(q, k, v)


def ties(rng: Generator) -> Drawn:
    """Scores of a row take two values: equal weights must be equal, and no order may depend on rounding."""
    x = normal(rng, 6, 40, 4)
    return Drawn(x.q, np.repeat(x.k[:2], 20, axis=0), x.v)


def huge_scores(rng: Generator) -> Drawn:
    """Scores of about a thousand: exp without a shift overflows, and an error of a score is one of a weight."""
    return normal(rng, 6, 30, 8, size=30.0)


def beyond_exp(rng: Generator) -> Drawn:
    """Differences of scores from 0 to about 10^6: most weights underflow."""
    return normal(rng, 6, 30, 8, size=float(10 ** rng.uniform(1, 3)))


def at_the_edge_of_exp(rng: Generator) -> Drawn:
    """Differences of scores of 700 to 760, where exp leaves the normal and then all numbers, beside huge values."""
    edge = np.concatenate([[0.0], -rng.uniform(700, 760, 29)])
    return Drawn(np.full((3, 1), 1.0), edge[:, np.newaxis], rng.standard_normal((30, 3)) * 2.0 ** rng.integers(0, 900))


def ascending_scores(rng: Generator) -> Drawn:
    """Scores that grow from key to key: a running maximum changes each time, and each rescaling rounds."""
    x = normal(rng, 4, 60, 3)
    steps = np.cumsum(rng.uniform(0.1, 3, 60))[:, np.newaxis]
    return Drawn(np.abs(x.q) + 0.5, np.repeat(steps, 3, axis=1) + x.k / 64, x.v)


def massive_activations(rng: Generator) -> Drawn:
    """One channel a thousand times the others, in a few tokens, as in language models: small products are lost."""
    x = normal(rng, 8, 32, 8)
    x.k[0, 3], x.v[0], x.v[1] = 1500.0, 0.0, 2.0e4
    x.q[:, 3] *= 4
    return x


def all_negative(rng: Generator) -> Drawn:
    """Every score is far below 0: a maximum that starts at 0, or exp without a shift, gives rows of zeros."""
    x = normal(rng, 6, 20, 8)
    return Drawn(np.abs(x.q), -np.abs(x.k) * 50, x.v)


def near_duplicate_keys(rng: Generator) -> Drawn:
    """Large keys that differ in their last digits, and a query nearly across them: scores are small differences."""
    base = rng.integers(2**21, 2**22, 3).astype(float)
    q = base * np.array([1.0, -1.0, 1.0]) + rng.integers(0, 4, (4, 3))
    return Drawn(q, base + rng.integers(-2, 3, (10, 3)), rng.standard_normal((10, 2)))


def duplicates_beyond_53_bits(rng: Generator) -> Drawn:
    """The same with numbers of 50 bits, whose products float64 must round."""
    x = near_duplicate_keys(rng)
    return Drawn(x.q * (1 + 2.0**-28), x.k * (1 + 2.0**-27), x.v)


def wrong_golden(_rng: Generator) -> Drawn:
    """Two keys for which plain float64 gives 0.639736 without any warning.

    Exact value: the output is 1/(1 + exp(-1/sqrt(3))) = 0.640457475680627...
    """
    keys = [[4194301.0, 3.0, 4194287.0], [4194302.0, 4.0, 4194287.0]]
    return Drawn(np.array([[4194274.0, -4194273.0, 4194274.0]]), np.array(keys), np.array([[0.0], [1.0]]))


def subnormal(rng: Generator) -> Drawn:
    """Values of a few units of the smallest subnormal: every product with a weight rounds by a large part of itself."""
    x = normal(rng, 4, 12, 4)
    return Drawn(x.q, x.k, rng.integers(-50, 50, (12, 4)).astype(np.float64) * 2.0**-1074)


def tiny_everywhere(rng: Generator) -> Drawn:
    """Scores that underflow to 0, as they nearly should, and values near the smallest normal number."""
    x = normal(rng, 4, 12, 4)
    return Drawn(x.q * 2.0**-540, x.k * 2.0**-530, x.v * 2.0**-1000)


def huge_and_tiny(rng: Generator) -> Drawn:
    """Scores of about 1 made of factors of about 2^600 and 2^-600: any square of them leaves the range."""
    x = normal(rng, 4, 12, 4)
    return Drawn(x.q * 2.0**600, x.k * 2.0**-600, x.v * 2.0**900)


def overflowing(rng: Generator) -> Drawn:
    """Scores past the range of float64: infinities, whose differences are no numbers."""
    x = normal(rng, 4, 12, 4)
    return Drawn(x.q * 2.0**600, x.k * 2.0**600, x.v)


def cancelling_values(rng: Generator) -> Drawn:
    """Pairs of equal keys with values that cancel but for their last digits: outputs far smaller than their terms."""
    x = normal(rng, 6, 20, 4)
    x.k[10:] = x.k[:10]
    x.v[:10] *= 1e6
    x.v[10:] = -x.v[:10] + rng.standard_normal((10, 4)).astype(np.float32)
    return x


def common_offset(rng: Generator) -> Drawn:
    """Values of 10^8 and a little: a row of weights that does not sum to 1 shows in the output."""
    x = normal(rng, 6, 20, 4)
    return Drawn(x.q, x.k, x.v + 1e8)


def long_rows(rng: Generator) -> Drawn:
    """3000 keys: errors of long sums."""
    return normal(rng, 2, 3000, 4)


def one_key(rng: Generator) -> Drawn:
    """One key: the weight is exactly 1, the output exactly its value."""
    return normal(rng, 5, 1, 4)


def zeros(rng: Generator) -> Drawn:
    """A query, keys and a value of zeros: relative errors have nothing to be relative to."""
    x = normal(rng, 4, 8, 4)
    x.q[0], x.k[:3], x.v[2] = 0.0, 0.0, 0.0
    return x


def masked(rng: Generator) -> Drawn:
    """Any keys hidden; the first row sees one key, the second all, the last none."""
    x = normal(rng, 6, 14, 4)
    mask = rng.random((6, 14)) < 0.6
    mask[0], mask[1], mask[-1] = np.arange(14) == rng.integers(14), True, False
    return Drawn(x.q, x.k, x.v, mask)


def hidden_maximum(rng: Generator) -> Drawn:
    """Hidden keys have by far the largest scores and values: a shift by their maximum leaves nothing of the others."""
    x = normal(rng, 6, 16, 4)
    hidden = rng.permutation(16)[:5]
    x.q[:] = np.abs(x.q) + 0.25
    x.k[hidden], x.v[hidden] = 4000.0, 2.0**1000
    mask = np.ones((6, 16), dtype=np.bool_)
    mask[:, hidden] = False
    return Drawn(x.q, x.k, x.v, mask)


def beyond_the_cap(rng: Generator) -> Drawn:
    """Scores 10 to 1000 times the cap: tanh is 1 but for a part that floats cannot hold, so different scores tie."""
    x = normal(rng, 6, 20, 4, size=float(10 ** rng.uniform(1.5, 2.5)))
    return Drawn(x.q, x.k, x.v, options={"softcap": Fraction(int(rng.integers(5, 51)))})


def near_the_cap(rng: Generator) -> Drawn:
    """Scores about as large as the cap, of both signs: tanh bends most, and its error is multiplied by the cap."""
    x = normal(rng, 6, 20, 4, size=5.0)
    return Drawn(x.q, x.k, x.v, options={"softcap": Fraction(int(rng.integers(10, 60)))})


def capped_and_masked(rng: Generator) -> Drawn:
    """Hidden keys under a cap: a mask of -inf must not be capped to a finite score."""
    x = normal(rng, 6, 20, 4, size=4.0)
    mask = rng.random((6, 20)) < 0.5
    mask[:, 0] = True
    return Drawn(x.q, x.k, x.v, mask, {"softcap": Fraction(2)})


DRAWN: Mapping[str, Callable[[Generator], Drawn]] = MappingProxyType({
    make.__name__.replace("_", "-"): make
    for make in (
        plain, eight_bits, ties, huge_scores, beyond_exp, at_the_edge_of_exp, ascending_scores, massive_activations,
        all_negative, near_duplicate_keys, duplicates_beyond_53_bits, wrong_golden, subnormal, tiny_everywhere,
        huge_and_tiny, overflowing, cancelling_values, common_offset, long_rows, one_key, zeros, masked, hidden_maximum,
        beyond_the_cap, near_the_cap, capped_and_masked,
    )
})  # fmt: skip
