"""The drawn heads of `exactattn.tensors.drawn` that have no mask and no options, as makers of (q, k, v)."""

from __future__ import annotations

from functools import wraps

import numpy as np

from exactattn.tensors import drawn


def three(make):
    """A maker of the three tensors alone, under the name of its generator."""

    @wraps(make)
    def tensors(*arguments, **options):
        made = make(*arguments, **options)
        return made.q, made.k, made.v

    return tensors


def alone(make):
    made = make(np.random.default_rng(0))
    return made.mask is None and not made.options


normal = three(drawn.normal)
HARD = tuple(three(make) for make in drawn.DRAWN.values() if alone(make))
