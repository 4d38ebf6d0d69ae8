"""Plain float64 attention in NumPy: what the certified computations are timed against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def attention(q: Floats, k: Floats, v: Floats, block: int) -> Floats:
    """softmax(q k^T / sqrt(d)) v, in place where possible, by blocks of query rows.

    Shapes: (H, L, d), (H, S, d), (H, S, d_v) -> (H, L, d_v).
    """
    out = np.empty((*q.shape[:2], v.shape[2]))
    scale = q.shape[2] ** -0.5
    for head in range(len(q)):
        keys = k[head].T
        for start in range(0, q.shape[1], block):
            scores = (q[head, start : start + block] * scale) @ keys
            scores -= scores.max(axis=1, keepdims=True)
            np.exp(scores, out=scores)
            total = scores.sum(axis=1, keepdims=True)
            np.matmul(scores, v[head], out=out[head, start : start + block])
            out[head, start : start + block] /= total
    return out


def forward_backward(q: Floats, k: Floats, v: Floats, g: Floats, block: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Outputs, dq, dk and dv for the gradient g of the outputs, in place where possible, by blocks of query rows.

    Shapes: (H, L, d), (H, S, d), (H, S, d_v), (H, L, d_v) -> (H, L, d_v), then those of q, k and v.
    """
    out, dq = np.empty_like(g), np.empty_like(q)
    dk, dv = np.zeros_like(k), np.zeros_like(v)
    scale = q.shape[2] ** -0.5
    for head in range(len(q)):
        for start in range(0, q.shape[1], block):
            some = slice(start, start + block)
            scaled, gradient = q[head, some] * scale, g[head, some]
            weights = scaled @ k[head].T
            weights -= weights.max(axis=1, keepdims=True)
            np.exp(weights, out=weights)
            weights /= weights.sum(axis=1, keepdims=True)
            np.matmul(weights, v[head], out=out[head, some])
            dv[head] += weights.T @ gradient
            scores = gradient @ v[head].T
            scores -= (gradient * out[head, some]).sum(axis=1, keepdims=True)
            scores *= weights
            np.matmul(scores, k[head], out=dq[head, some])
            dq[head, some] *= scale
            dk[head] += scores.T @ scaled
    return out, dq, dk, dv


def by_longdouble(q: Floats, k: Floats, v: Floats) -> Floats:
    """One head in NumPy's longdouble, which no BLAS helps. Shapes: (L, d), (S, d), (S, d_v) -> (L, d_v)."""
    q, k, v = (x.astype(np.longdouble) for x in (q, k, v))  # type: ignore[assignment]
    scores = (q / np.sqrt(np.longdouble(q.shape[1]))) @ k.T
    scores -= scores.max(axis=1, keepdims=True)
    powers = np.exp(scores)
    return np.asarray((powers @ v) / powers.sum(axis=1, keepdims=True))
