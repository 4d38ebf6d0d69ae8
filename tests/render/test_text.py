"""Hostile strings: what makes them safe to show."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.render.text import clean, clean_lines, code, flow, markdown, safe_json


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
        ("a\nb\tc\rd", r"a\nb\tc\rd"),
        ("\u202eabc\u2066", r"\u202eabc\u2066"),
        ("\u200b\ufeff\u2028", r"\u200b\ufeff\u2028"),
        ("\x9b31m\x7f\x00", r"\x9b31m\x7f\x00"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("三个标记 é α√2 ✗", "三个标记 é α√2 ✗"),
    ],
)
def test_hidden_characters_become_visible(hostile, shown):
    assert clean(hostile) == shown


@given(st.text(st.characters()))
def test_nothing_hidden_is_left(text):
    for made in (clean(text), flow(text), markdown(text), code(text)):
        assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in made)


@given(st.text())
def test_json_text_keeps_its_data(text):
    import json

    assert json.loads(safe_json(json.dumps([text], ensure_ascii=False))) == [text]


def test_long_text_is_cut_and_counted():
    assert clean("x" * 5000) == "x" * 4000 + "... (1000 more characters)"


def test_our_own_line_breaks_stay():
    assert clean_lines("a\x1b\nb") == "a\\x1b\nb"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("<b>&</b>", "&lt;b&gt;&amp;&lt;/b&gt;"),
        ("[x](javascript:y)", r"\[x](javascript:y)"),
        ("![x](y)", r"!\[x](y)"),
        ("# head", r"\# head"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("---", r"\---"),
        ("`c`", r"\`c\`"),
        ("a | b", r"a \| b"),
        ("_z_ **b** d_k a * b", r"\_z\_ \*\*b\*\* d_k a * b"),
        ("0.3 is wrong, -0.5 too", "0.3 is wrong, -0.5 too"),
        ("-0.5 is wrong", "-0.5 is wrong"),
    ],
)
def test_markdown_is_escaped_where_it_would_act(text, escaped):
    assert markdown(text) == escaped


@pytest.mark.parametrize(
    ("text", "span"),
    [("0.3", "`0.3`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("a|b", r"`a\|b`"), ("", "`  `"), ("a\nb", "`a b`")],
)
def test_code_spans_hold_anything(text, span):
    assert code(text) == span
