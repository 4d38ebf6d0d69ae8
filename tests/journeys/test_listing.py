"""Everything that can be listed has a name and a line about it."""

from __future__ import annotations

import pytest

from exactattn import plugins
from exactattn.errors import UsageError
from exactattn.journeys.listing import KINDS, listing, titled


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_listed_with_a_line(kind):
    rows = listing(kind)
    assert rows
    assert all(name and text and "\n" not in text for name, text in rows)
    assert len({name for name, _ in rows}) == len(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_have_titles(kind):
    title, *rows = titled(kind)
    assert all(text.isupper() for text in title)
    assert rows == listing(kind)


def test_engines_and_stages_say_what_they_are():
    assert "Arb" in dict(listing("engines"))["ball"]
    assert "Guarantee: none" in dict(listing("engines"))["multiprecision"]
    assert dict(listing("stages"))["weights"].startswith("the softmax of each row")


@pytest.mark.parametrize("kind", ["engines", "generators", "laws", "checks"])
def test_plugins_are_listed_by_existing(kind):
    assert [name for name, _ in listing(kind)] == list(plugins.found(kind))


def test_formats_show_their_range():
    assert dict(listing("formats"))["float16"] == (
        "11 significant bits, unit roundoff 2**-11, largest 65504, smallest normal 2**-14, overflow gives infinity"
    )


def test_an_unknown_kind_is_said():
    with pytest.raises(UsageError, match="did you mean 'engines'"):
        listing("engine")
