"""Mistakes in options, in cases and in spec files alike: one message each, at its place, with what to do."""

import numpy as np
import pytest

from exactattn.documents.case import loads
from exactattn.documents.specs import loads_spec
from exactattn.errors import CaseError

CASE = "version: 1\nproblem:\n  Q: [[1, 2], [3, 4]]\n  K: [[1, 2], [3, 4]]\n  V: [[1], [2]]\n  "
ARRAYS = {name: np.ones((2, 2)) for name in "qkv"}

OPTIONS = {  # the line, where in it, and what is said
    "window of ONNX": ("window: [-1, 0]", 10, "write null for an open side, which ONNX and flash-attn call -1"),
    "window of one": ("window: [3]", 9, "wanted two whole numbers, [left, right]"),
    "window word": ("window: [left, 0]", 10, "found 'left', wanted how many keys are seen on this side"),
    "window number": ("window: 3", 9, "found '3', wanted a list"),
    "softcap": ("softcap: -5", None, "found softcap -5, wanted a positive number"),
    "softcap zero": ("softcap: 0", None, "found softcap 0, wanted a positive number; leave it out for none"),
    "softcap order": ("softcap_order: after-mask", None, "there is no softcap: give one, or leave it out"),
    "softcap word": ("softcap_order: after", 16, "did you mean 'after-"),
    "causal word": ("causal: bottomright", 9, "did you mean 'bottom-right'?"),
    "causal fraction": ("causal: 1.5", 9, "found '1.5', wanted true, false (or none), 'top-left', 'bottom-right', or"),
    "causal too far": ("causal: 99999999999", 9, "wanted a position"),
    "offset of top-left": ("{causal: top-left, offset: 3}", None, "causal is top-left and offset 3"),
    "two offsets": ("{causal: 3, offset: 3}", None, "found an offset in both `causal` and `offset`"),
    "offset alone": ("offset: 3", None, "no causal rule, window, alibi or rotary asks"),
    "offset word": ("offset: start", 9, "wanted a position of query 0: a whole number, or the word end"),
    "slopes": ("alibi: {form: signed}", 8, "'alibi' has no key 'slopes' (write `slopes: paper`"),
    "slopes word": ("alibi: {slopes: papr}", 17, "did you mean 'paper'?"),
    "slopes of two": ("alibi: {slopes: [1, 2]}", None, "found 2 slopes for 1 heads"),
    "alibi form": ("alibi: {slopes: [1], form: sign}", 28, "did you mean 'signed'?"),
    "rotary width": ("rotary: {width: 3}", None, "rotary positions turn pairs"),
    "rotary layout": ("rotary: {layout: half}", 18, "did you mean 'halves'?"),
    "rotary key": ("rotary: {bas: 3}", 10, "unknown key 'bas' (did you mean 'base'?)"),
    "rotary base": ("rotary: {base: -1}", None, "found rotary base -1, wanted a positive number"),
    "rotary": ("rotary: true", 9, "found 'true', wanted a mapping"),
    "norm": ("qk_norm: {kind: layer}", 17, "wanted 'rms' or 'l2'"),
    "eps": ("qk_norm: {eps: -1}", None, "found eps -1 of the norm, wanted 0 or more"),
    "norm weights": ("qk_norm: {q_weight: [1, 2, 3]}", None, "the norm has 3 weights for 2 elements"),
    "bias place": ("bias_place: inside", None, "there is no bias and no alibi"),
    "masked row": ("masked_row: avg", 13, "wanted 'undefined' or 'zero' or 'uniform' or 'mean'"),
    "lse base": ("lse_base: 1", 11, "found the lse_base '1', wanted a positive number other than 1"),
    "scale": ("scale: 1/sqrt(d_q)", 15, "unknown name 'd_q'"),
    "misspelt": ("softcapp: 3", 1, "unknown key 'softcapp' (did you mean 'softcap'?)"),
    "twice": ("softcap: 3\n  softcap: 4", None, "'softcap' stands twice"),
    "nothing": ("scale:", 7, "found nothing, wanted a number"),
    "words": ("scale: about 3", 8, "found 'about 3', wanted a number"),
    "tower": ("scale: 9**9**9", None, "too large"),
}


def lines(text: str) -> str:
    return text[1:-1].replace(", ", "\n  ") if text.startswith("{") else text


@pytest.mark.parametrize("name", OPTIONS)
def test_a_case_names_each_mistake_once_at_its_place(name: str) -> None:
    text, column, words = OPTIONS[name]
    with pytest.raises(CaseError) as caught:
        loads(CASE + lines(text))
    (mistake,) = caught.value.mistakes
    assert words in str(mistake)
    assert column is None or (mistake.line, mistake.column) == (6, column + 2)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_spec_file_says_the_same(name: str) -> None:
    text, column, words = OPTIONS[name]
    with pytest.raises(CaseError) as caught:
        loads_spec(lines(text).replace("\n  ", "\n")).inputs(ARRAYS)
    (mistake,) = caught.value.mistakes
    assert words in str(mistake)
    assert column is None or (mistake.line, mistake.column) == (1, column)


def test_mistakes_of_a_spec_come_together_in_the_order_of_the_file() -> None:
    with pytest.raises(CaseError) as caught:
        loads_spec("scale: x\nwindow: [-1, 2]\nfoo: 1\nlayout: BHDL\nrotary: {sines: s}\n")
    assert [m.line for m in caught.value.mistakes] == [1, 2, 3, 4, 5]
    assert "give both cosines and sines" in str(caught.value)
    assert "wanted one of BHLD, BLHD" in str(caught.value)
