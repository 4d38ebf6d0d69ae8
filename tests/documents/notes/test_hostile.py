"""Documents that are broken or made to do harm: a message or a draft, never a traceback, and the case stays a case."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactattn.documents.case import loads
from exactattn.documents.notes import read_notes
from exactattn.errors import CaseError

SEED = "$$Q = \\begin{bmatrix} 1 & 0 \\\\ 0 & 1 \\end{bmatrix}$$\n"
SEED += "K = [[1, 0], [0, 1]]\nV = [[1, 2], [3, 4]]\n- 0.5 (weight)\n"
BROKEN = {
    "opened": "$$" + "\\begin{bmatrix}" * 500,
    "array without columns": SEED + "$$A = \\begin{array}{cc 1 & 2 \\end{array}$$",
    "brackets": "X = " + "[" * 5000,
    "braces": "$$A = " + "{" * 5000 + "$$",
    "fractions": "$$A = " + "\\frac{1}{" * 300 + "2" + "}" * 300 + " = 3$$",
    "powers": "Q = [[1e999999999, 2]]\n9^9^9^9^9 = 3\n2**99999999 = 1",
    "zero": SEED + "1/0 = 3\n$$\\frac{1}{0} = [1, 2]$$",
    "calls": "f(" * 5000 + " = 1",
    "sides": "1 = " * 5000,
    "private characters": SEED + "\ue000 = \ue001 = 1",
    "control characters": SEED + "\x00A\x1b[31m = [[1, 2], [3, 4]]\x85\u2028",
    "YAML": SEED + 'output = [[1, 2], [3, 4]]  # "}\n# Title": {a: [}\n',
    "softmax of sums": SEED + "$A = " + "softmax(S + " * 90 + "M" + ")" * 90 + "$",
    "sums": SEED + "$A = " + "(S + " * 300 + "M" + ")" * 300 + "$",
    "words": SEED + "we divide the scores " * 5000,
    "causal": SEED + "not only look attend see " * 3000 + "\n\n" + "causal mask " * 3000,
    "cells": SEED + "```\nprint(x)\n```\nOutput:\n" * 500 + "```\n[[1, 2], [3, 4]]\n```\n",
    "masks": SEED + "M = [[1, -inf], [2, 3]]\n\n" * 400,
    "unclosed": SEED + "$$A = " + "\\begin{pmatrix} 1 & 2 \\end{bmatrix} " * 400 + "$$",
    "names": SEED + "$W_Q = W_K$, " * 900,
    "softmax": "$$A = " + "\\text{softmax}(" * 300 + "QK^T" + ")" * 300 + "$$",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_documents(name):
    try:
        draft = read_notes(BROKEN[name])
    except CaseError:
        return
    loads(draft.text)


def test_a_document_that_is_too_long_is_not_read():
    with pytest.raises(CaseError, match="at most 200,000 characters"):
        read_notes(SEED * 3000)


def test_many_equations_are_read_up_to_a_bound_that_is_said():
    draft = read_notes(SEED + "".join(f"0.5*{n} + 1 = {n / 2 + 1}\n" for n in range(1100)))
    notes = [one.what for one in draft.noted if not one.understood]
    assert "the equations from here on" in notes
    assert "the claims from here on" in notes


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(SEED) - 1), st.sampled_from(list("[]{}\\$&=,.;01 \n|^_(-")) | st.characters()),
        max_size=25,
    )
)
def test_a_document_with_some_characters_replaced_is_a_case_or_a_mistake(changes):
    text = list(SEED)
    for place, character in changes:
        text[place] = character
    try:
        draft = read_notes("".join(text))
    except CaseError:
        return
    loads(draft.text)
