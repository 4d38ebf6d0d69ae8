"""How calls are read: what is a call, where a mistake is, and that no text gives anything but an answer or an error."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.errors import NumeralError
from exactattn.generators.calls import MAX_DEPTH, MAX_TEXT, Call, Number, Sequence, Span, Word, parse


def values(text):
    return [argument.value for argument in parse(text).arguments]


def test_a_call_has_a_name_values_and_keywords():
    call = parse(" np.random.normal(0, 1e-1, size=(3, 4)) ")
    assert (call.function, call.offset) == ("np.random.normal", 1)
    assert [argument.keyword for argument in call.arguments] == [None, None, "size"]
    assert [argument.offset for argument in call.arguments] == [18, 21, 27]
    assert call.arguments[1].value == Number(Fraction(1, 10), False, 21)


def test_brackets_around_one_number_are_the_number_as_in_python():
    one, tuple_of_one, list_of_one, nothing = values("f((3), (3,), [3], ())")
    assert one == Number(Fraction(3), True, 3)
    assert isinstance(tuple_of_one, Sequence)
    assert len(tuple_of_one.items) == 1
    assert isinstance(list_of_one, Sequence)
    assert len(list_of_one.items) == 1
    assert isinstance(nothing, Sequence)
    assert nothing.items == ()


def test_numbers_are_exact_and_know_whether_they_are_integers():
    found = [(x.value, x.whole) for x in values("f(3, 3L, -.5, 3., 1e2, 0.1,)")]
    wanted = [(3, True), (3, True), (Fraction(-1, 2), False), (3, False), (100, False), (Fraction(1, 10), False)]
    assert found == wanted


def test_ranges_words_and_calls_inside():
    span, word, inner = values("f(-1:10, TRUE, g(2))")
    assert span == Span(-1, 10, 2)
    assert word == Word("TRUE", 9)
    assert isinstance(inner, Call)
    assert (inner.function, inner.offset) == ("g", 15)


@pytest.mark.parametrize(
    ("text", "offset", "says"),
    [
        ("", 0, "found the end of the text"),
        ("rand", 0, "wanted a call"),
        ("(3)", 1, "wanted a call"),
        ("3", 0, "wanted a call"),
        ("rand(3", 6, "wanted ',' or ')'"),
        ("rand(3))", 7, "one call a text"),
        ("rand(3) * 2", 8, "not part of a call"),
        ("rand(3).T", 7, "not part of a call"),
        ("rand(3 4)", 7, "found '4', wanted ',' or ')'"),
        ("rand(,)", 5, "found ',', wanted a number"),
        ("rand(size=)", 10, "found ')', wanted a number"),
        ("rand(=3)", 5, "found '=', wanted a number"),
        ("rand(--3)", 6, "found '-', wanted a number"),
        ("rand(3x)", 5, "not part of a call"),
        ("rand(1_000)", 5, "not part of a call"),
        ("rand('a')", 5, "not part of a call"),
        ("rand([3)", 7, "wanted ',' or ']'"),
        ("rand(1.5:3)", 5, "integers on both sides"),
        ("rand(1:)", 7, "found ')', wanted a number"),
        ("rand(3); import os", 7, "not part of a call"),
        ("lambda: 3", 6, "one call a text"),
        ("f(" * (MAX_DEPTH + 2), 2 * (MAX_DEPTH + 1), f"more than {MAX_DEPTH} deep"),
        ("f(" + "[" * 1_900, 2 + MAX_DEPTH, f"more than {MAX_DEPTH} deep"),
        ("f" * (MAX_TEXT + 1), MAX_TEXT, f"at most {MAX_TEXT}"),
        ("f(1e99999)", 2, "exponent"),
    ],
)
def test_a_mistake_has_a_place(text, offset, says):
    with pytest.raises(NumeralError, match=r".") as caught:
        parse(text)
    assert says in str(caught.value)
    assert caught.value.offset == offset


@given(st.text(alphabet="rf.,()[]=:-+ 0123eELT_'x\n", max_size=40) | st.text(max_size=20))
def test_any_text_is_a_call_or_a_mistake_with_a_place(text):
    try:
        found = parse(text)
    except NumeralError as error:
        found = error
    if isinstance(found, NumeralError):
        assert found.offset is not None
        assert 0 <= found.offset <= len(text)
    else:
        assert isinstance(found, Call)
