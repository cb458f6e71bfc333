"""Fitting text into columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.reports.escape import plain
from arena.reports.layout import clip, width, wrap


@given(st.text(), st.integers(4, 40))
def test_clipped_names_fit(text, room):
    """Never wider than the room, whatever the script."""
    assert width(clip(plain(text), room)) <= room


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("short", 5, "short"),
        ("a-long-name@1.0", 10, "a-long…1.0"),
        ("日本のボット@3", 8, "日本…@3"),
        ("abcdefgh\u0301i", 5, "abc…i"),
        ("日本語", 4, "日…"),
    ],
)
def test_names_are_cut_in_the_middle(text, room, expected):
    """Wide characters count double; a mark does not go on another letter."""
    assert clip(text, room) == expected


@given(st.text(), st.integers(12, 60))
def test_wrapped_lines_fit(text, room):
    """Lines fit, and no character is lost."""
    shown = plain(text)
    lines = wrap(shown, room, indent="  ")
    assert all(width(line) <= room for line in lines)
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")


def test_wrap():
    """Breaks at spaces, indents what follows, cuts a word that is longer than a line."""
    assert wrap("one two three", 8, indent="  ") == ["one two", "  three"]
    assert wrap("a bbbbbbbbbb c", 6, indent="  ") == ["a", "  bbbb", "  bbbb", "  bb c"]
    assert wrap("as wide as it gets", None, indent="  ") == ["as wide as it gets"]
    assert wrap("日本", 1, indent="") == ["日本"]
