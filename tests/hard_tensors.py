"""Tensors that are hard for float arithmetic: (q, k, v) of one head by name, from a NumPy generator."""

from __future__ import annotations

import numpy as np


def plain(rng):
    return normal(rng, 8, 24, 8)


def normal(rng, queries, keys, width, dtype=np.float32, size=1.0):
    """Normal numbers, rounded to a format."""
    shapes = (queries, width), (keys, width), (keys, width)
    return tuple((rng.standard_normal(shape) * size).astype(dtype).astype(np.float64) for shape in shapes)


def ties(rng):
    """All scores of a row are equal, or take two values."""
    q, k, v = normal(rng, 6, 40, 4)
    return q, np.repeat(k[:2], 20, axis=0), v


def huge_scores(rng):
    return normal(rng, 6, 30, 8, size=30.0)


def beyond_exp(rng):
    """Differences of scores from 0 to about 10^6: most weights underflow."""
    return normal(rng, 6, 30, 8, size=float(10 ** rng.uniform(1, 3)))


def at_the_edge_of_exp(rng):
    """Score differences between 700 and 760, where exp leaves the normal and then all numbers."""
    edge = np.concatenate([[0.0], -rng.uniform(700, 760, 29)])
    return np.full((3, 1), 1.0), edge[:, np.newaxis], rng.standard_normal((30, 3)) * 2.0 ** rng.integers(0, 900)


def massive_activations(rng):
    """One channel a thousand times the others, in a few tokens, as in language models."""
    q, k, v = normal(rng, 8, 32, 8)
    k[0, 3], v[0], v[1] = 1500.0, 0.0, 2.0e4
    q[:, 3] *= 4
    return q, k, v


def all_negative(rng):
    q, k, v = normal(rng, 6, 20, 8)
    return np.abs(q), -np.abs(k) * 50, v


def near_duplicate_keys(rng):
    """Large keys that differ in their last digits, and a query nearly across them: scores of small differences."""
    base = rng.integers(2**21, 2**22, 3).astype(float)
    q = base * [1, -1, 1] + rng.integers(0, 4, (4, 3))
    return q, base + rng.integers(-2, 3, (10, 3)), rng.standard_normal((10, 2))


def duplicates_beyond_53_bits(rng):
    """The same with numbers of 50 bits, whose products float64 must round."""
    q, k, v = near_duplicate_keys(rng)
    return q * (1 + 2.0**-28), k * (1 + 2.0**-27), v


def subnormal(rng):
    return (*normal(rng, 4, 12, 4)[:2], rng.integers(-50, 50, (12, 4)) * 2.0**-1074)


def tiny_everywhere(rng):
    q, k, v = normal(rng, 4, 12, 4)
    return q * 2.0**-540, k * 2.0**-530, v * 2.0**-1000


def huge_and_tiny(rng):
    """Products of about 1 made of factors of about 2^600 and 2^-600."""
    q, k, v = normal(rng, 4, 12, 4)
    return q * 2.0**600, k * 2.0**-600, v * 2.0**900


def overflowing(rng):
    """Scores past the range of float64."""
    q, k, v = normal(rng, 4, 12, 4)
    return q * 2.0**600, k * 2.0**600, v


def cancelling_values(rng):
    """Pairs of equal keys with values that cancel but for their last digits."""
    q, k, v = normal(rng, 6, 20, 4)
    k[10:] = k[:10]
    v[:10] *= 1e6
    v[10:] = -v[:10] + rng.standard_normal((10, 4)).astype(np.float32)
    return q, k, v


def common_offset(rng):
    q, k, v = normal(rng, 6, 20, 4)
    return q, k, v + 1e8


def long_rows(rng):
    return normal(rng, 2, 3000, 4)


def one_key(rng):
    return normal(rng, 5, 1, 4)


def zeros(rng):
    q, k, v = normal(rng, 4, 8, 4)
    q[0], k[:3], v[2] = 0.0, 0.0, 0.0
    return q, k, v


HARD = (
    plain, ties, huge_scores, beyond_exp, at_the_edge_of_exp, massive_activations, all_negative, near_duplicate_keys,
    duplicates_beyond_53_bits, subnormal, tiny_everywhere, huge_and_tiny, overflowing, cancelling_values, common_offset,
    long_rows, one_key, zeros,
)  # fmt: skip
