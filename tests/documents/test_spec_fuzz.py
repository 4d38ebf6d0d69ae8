"""Spec files of any content: a problem, or a message; never anything else."""

from contextlib import suppress

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from exactattn.documents.model_options import SpecPart
from exactattn.documents.specs import loads_spec
from exactattn.errors import ExactattnError

RNG = np.random.default_rng(0)
ARRAYS = {
    **{name: RNG.standard_normal((2, 3, 4)) for name in ("q", "k", "v", "out")},
    "seen": np.ones((3, 3), bool),
    "c": np.ones((3, 2)),
    "w": np.ones(4),
    "n": np.array([2]),
    "empty": np.empty((0, 3)),
    "text": np.zeros((2, 3, 4), np.int8),
}
KEYS = sorted(SpecPart.model_fields)
INNER = (
    "slopes",
    "form",
    "width",
    "base",
    "layout",
    "factor",
    "cosines",
    "sines",
    "kind",
    "eps",
    "q_weight",
    "q",
    "mask",
)
WORDS = st.sampled_from(
    [
        "true",
        "none",
        "null",
        "end",
        "0",
        "1",
        "-1",
        "2",
        "1.5",
        "1e999",
        "10**9",
        "1/0",
        "nan",
        "inf",
        "''",
        "x",
        "top-left",
    ]
    + [
        "after-mask",
        "BLD",
        "BLHD",
        "THD",
        "HLD",
        "block",
        "paper",
        "halves",
        "rms",
        "c",
        "w",
        "n",
        "seen",
        "empty",
        "text",
    ]
    + ["bfloat16", "1/sqrt(d_k)", "sqrt(-1)", "99999999999999999999"]
)
VALUES = st.recursive(
    WORDS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(st.sampled_from(INNER), inner, max_size=3).map(
            lambda parts: "{" + ", ".join(f"{key}: {value}" for key, value in parts.items()) + "}"
        ),
    ),
    max_leaves=4,
)


@settings(max_examples=400)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1, max_size=4))
def test_any_spec_gives_a_problem_or_a_message(parts):
    text = "".join(f"{key}: {value}\n" for key, value in parts.items())
    with suppress(ExactattnError):
        loads_spec(text).inputs(ARRAYS)


@given(st.text(max_size=60))
def test_any_text_gives_a_spec_or_a_message(text):
    with suppress(ExactattnError):
        loads_spec(text)
