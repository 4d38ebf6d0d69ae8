"""Which findings a pattern means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.documents.expect import matches

YES = [
    ("weights[2,0]", "weights[2,0]"),
    ("weights[2, 0]", "weights[2,0]"),
    ("weights[2, :]", "weights[2,0]"),
    ("weights[:, 0]", "weights[2,0]"),
    ("weights[0,2,:]", "weights[0,2,1]"),
    ("weights[:,:,:]", "weights[0,2,1]"),
    ("weights[2]", "weights[2,0]"),
    ("weights", "weights[2,0]"),
    ("lse[1]", "lse[1]"),
    ("wo", "wo"),
    ("law:1", "law:1"),
    ("fit:weights/scale", "fit:weights/scale"),
    ("run:float32/naive", "run:float32/naive"),
    ("a:weights[2, :]", "a:weights[2,0]"),
    ("a:law:1", "a:law:1"),
]
NO = [
    ("weights[2,0]", "weights[2,1]"),
    ("weights[2,:]", "weights[1,0]"),
    ("weights[2,:]", "weights[2]"),
    ("weights[2,:]", "weights[0,2,1]"),
    ("weights[2,:]", "a:weights[2,0]"),
    ("a:weights[2,:]", "weights[2,0]"),
    ("a:weights[2,:]", "b:weights[2,0]"),
    ("weights", "fit:weights/scale"),
    ("weight", "weights[0,0]"),
    ("wo", "words"),
    ("law:1", "law:10"),
    ("", ""),
    ("weights[2", "weights[2"),
    ("weights[x]", "weights[0]"),
    ("weights[]", "weights[0]"),
    ("weights[0:1,0]", "weights[0,0]"),
]


@pytest.mark.parametrize(("pattern", "id"), YES)
def test_means(pattern: str, id: str) -> None:
    assert matches(pattern, id)


@pytest.mark.parametrize(("pattern", "id"), NO)
def test_does_not_mean(pattern: str, id: str) -> None:
    assert not matches(pattern, id)


@given(st.text(), st.text())
def test_never_fails(pattern: str, id: str) -> None:
    assert matches(pattern, id) in (True, False)
