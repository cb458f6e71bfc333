"""What bots may be called."""

import pytest

from arena.model import label_fault


@pytest.mark.parametrize("name", ["a", "Bot-1.2_x", "ボット", "नमस्ते", "ж" * 40, "007"])
def test_names_of_any_script_are_taken(name):
    """Letters and digits of every script are letters and digits."""
    assert label_fault(name) == ""


@pytest.mark.parametrize(
    "name",
    ["", "x" * 41, "a b", "a/b", "a@b", "..", "-", "a\u200bb", "a\ufe0f", "\u0301a", "ㅤ", "a½", "🂡"],
)
def test_other_names_are_refused(name):
    """Separators, invisible characters and names of dots alone are refused."""
    assert label_fault(name) != ""


def test_what_is_wrong_is_told_without_showing_it_raw():
    """A character that can't be printed is named by its number."""
    assert "U+001B" in label_fault("\x1b[31m")
    assert "'/'" in label_fault("../x")
