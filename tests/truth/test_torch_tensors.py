"""Tensors of torch are taken as they are, in every float type that it has; its attention lies near the truth."""

from __future__ import annotations

import numpy as np
import pytest

from exactattn.attention.spec import AttentionSpec
from exactattn.errors import ProblemError
from exactattn.truth.blocks import enclose
from exactattn.truth.gradients import enclose_gradients
from exactattn.truth.tensors import Tensors

torch = pytest.importorskip("torch", reason="torch is not installed; pip install 'exactattn[torch]'")


@pytest.mark.parametrize("name", ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_every_type_is_taken_exactly(name):
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 4).to(getattr(torch, name)) for _ in range(3))
    tensors = Tensors.of(
        q, k.transpose(1, 2).contiguous().transpose(1, 2), v.requires_grad_() if name == "float64" else v
    )
    for head, part in zip(tensors.heads, q, strict=True):
        assert head.q.astype(np.float64).tolist() == part.double().tolist()


def test_what_is_no_float_is_refused():
    with pytest.raises(ProblemError, match="type int64"):
        Tensors.of(*(torch.ones(2, 2, dtype=torch.int64) for _ in range(3)))
    with pytest.raises(ProblemError, match="complex64"):
        Tensors.of(*(torch.ones(2, 2, dtype=torch.complex64) for _ in range(3)))


@pytest.mark.parametrize("causal", [False, True])
def test_attention_and_gradients_of_torch(causal):
    """Another implementation: float64 errs by a few units of 1e-16 here, and its causal corner is top-left."""
    torch.manual_seed(1)
    q, k, v = (torch.randn(1, 2, n, 8, dtype=torch.float64, requires_grad=True) for n in (5, 7, 7))
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    g = torch.randn(out.shape, dtype=torch.float64)
    out.backward(g)
    tensors = Tensors.of(q, k, v, AttentionSpec(causal="top-left" if causal else "none"))
    found = enclose(tensors)
    assert (np.abs(found.mid - out.detach().numpy()) <= found.rad + 1e-14).all()
    made = enclose_gradients(tensors, g.numpy())
    for name, x in (("q", q), ("k", k), ("v", v)):
        one = getattr(made, name)
        assert (np.abs(one.mid - x.grad.numpy()) <= one.rad + 1e-13).all()
        assert one.rad.max() < 1e-10
