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
