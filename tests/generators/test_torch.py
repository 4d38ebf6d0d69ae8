"""PyTorch's stream against what PyTorch prints; skipped where PyTorch is not installed."""

from __future__ import annotations

import importlib.util
from fractions import Fraction

import pytest

from exactattn import plugins
from exactattn.errors import NumeralError

TORCH = plugins.get("generators", "torch")
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


def floats(drawn):
    return [floats(part) for part in drawn] if isinstance(drawn, tuple) else float(drawn)


@needs_torch
def test_the_numbers_of_pytorchs_tutorial():
    """pytorch.org, "Introduction to PyTorch Tensors": manual_seed(1729), then rand(2, 3) twice."""
    first, second = TORCH.draw(1729, ["torch.rand(2, 3)", "rand((2, 3))"])
    assert floats(first) == [
        pytest.approx([0.3126, 0.3791, 0.3087], abs=0.51e-4),
        pytest.approx([0.0736, 0.4216, 0.0691], abs=0.51e-4),
    ]
    assert floats(second) == [
        pytest.approx([0.2332, 0.4047, 0.2162], abs=0.51e-4),
        pytest.approx([0.9927, 0.4128, 0.5938], abs=0.51e-4),
    ]


@needs_torch
def test_normal_numbers_as_every_course_prints_them():
    assert floats(TORCH.draw(42, ["randn(3)"])[0]) == pytest.approx([0.3367, 0.1288, 0.2345], abs=0.51e-4)
    assert floats(TORCH.draw(0, ["randn(3)"])[0]) == pytest.approx([1.5410, -0.2934, -2.1788], abs=0.51e-4)


CALLS = {
    "rand(5)": lambda t: t.rand(5),
    "rand(size=[2, 3])": lambda t: t.rand((2, 3)),
    "randn(4, 5)": lambda t: t.randn(4, 5),  # 16 numbers or more go another way
    "randn((2,))": lambda t: t.randn(2),
    "randint(3, (3, 3))": lambda t: t.randint(3, (3, 3)),
    "randint(-5, 5, (4,))": lambda t: t.randint(-5, 5, (4,)),
    "randint(low=2, high=9, size=(2, 2))": lambda t: t.randint(2, 9, (2, 2)),
    "randint(high=9, size=(2, 2))": lambda t: t.randint(9, (2, 2)),
}


@needs_torch
@pytest.mark.parametrize("call", CALLS)
def test_it_is_the_shared_stream_of_pytorch(call):
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        wanted = [CALLS[call](torch).tolist(), torch.rand(1).tolist()]
    assert [floats(drawn) for drawn in TORCH.draw(7, [call, "rand(1)"])] == wanted


@needs_torch
def test_numbers_are_float32():
    (drawn,) = TORCH.draw(7, ["rand(20)"])
    assert all((x * 2**24).denominator == 1 for x in drawn)
    assert all(isinstance(x, Fraction) for x in drawn)


@pytest.mark.parametrize(
    ("call", "offset", "says"),
    [
        ("rand()", 0, "rand needs a size"),
        ("rand((2, 3), 4)", 13, "at most 1 values"),
        ("rand(2, dtype=x)", 8, "takes the axes only"),
        ("rand(dtype=x)", 5, "no 'dtype' that is read here"),
        ("rand(size=3)", 10, "wanted a tuple as 'size'"),
        ("randint(3)", 0, "randint needs 'size'"),
        ("randint(0, 3, 4)", 14, "wanted a tuple as 'size'"),
        ("randint(5, 5, (2,))", 11, "from 6 to"),
        ("torch.randin(3)", 0, "did you mean 'randint'"),
    ],
)
def test_a_mistake_has_a_place(call, offset, says):
    with pytest.raises(NumeralError) as caught:
        TORCH.draw(1, [call])
    assert says in str(caught.value)
    assert caught.value.offset == offset
