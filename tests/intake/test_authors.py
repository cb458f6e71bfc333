"""Whose a submission is, by the name it lies under; and handles that are unique."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.intake import Author, SubmissionError, author_of, handle_of

FILES = {
    "ann.zip": ("ann", "ann"),
    "ann.tar.gz": ("ann", "ann"),
    "Ann Lee.TGZ": ("Ann Lee", "Ann Lee"),
    "ann.b.py": ("ann.b", "ann.b"),
    "ann.unknown": ("ann.unknown", "ann.unknown"),
    "e\u0301.zip": ("é", "é"),
    "Given\u00a0Family.zip": ("Given Family", "Given Family"),
    "Given Family_12345_assignsubmission_file_bot.zip": ("Given Family_12345", "Given Family"),
    "Given Family_12345_assignsubmission_onlinetext_onlinetext.html": (
        "Given Family_12345",
        "Given Family",
    ),
    "familygiven_12345_67890_bot.zip": ("familygiven_12345", "familygiven"),
    "familygiven_LATE_12345_67890_bot-2.zip": ("familygiven_12345", "familygiven"),
    "müllerjörg_12345_67890_mein bot.zip": ("müllerjörg_12345", "müllerjörg"),
    "familygiven_12345_text.html": ("familygiven_12345", "familygiven"),
    "anon_x1Y2z_67890_bot.zip": ("anon_x1Y2z", "anon"),
    "LATE_anon_x1Y2z_67890_1_bot.zip": ("anon_x1Y2z", "anon"),
}
FOLDERS = {
    "ann.zip": ("ann.zip", "ann.zip"),
    "Ann": ("Ann", "Ann"),
    "Given Family_12345_assignsubmission_file_": ("Given Family_12345", "Given Family"),
    "Given Family_12345_assignsubmission_file": ("Given Family_12345", "Given Family"),
    "Red team_assignsubmission_file_": ("Red team", "Red team"),
    "Family_Given_login_12345": ("Family_Given_login_12345", "Family_Given_login_12345"),
    "team_1_2_x": ("team_1_2_x", "team_1_2_x"),
}


@pytest.mark.parametrize("name", FILES)
def test_the_author_of_a_file(name):
    assert Author(*FILES[name]) == author_of(name, is_file=True)


@pytest.mark.parametrize("name", FOLDERS)
def test_the_author_of_a_folder(name):
    assert Author(*FOLDERS[name]) == author_of(name, is_file=False)


@pytest.mark.parametrize("name", ["...", "\x1b[2J", "a\u202eb", "\udcff", "a\nb"])
def test_a_name_that_names_nobody_is_refused(name):
    with pytest.raises(SubmissionError, match="names no author that can be shown; name it after"):
        author_of(name, is_file=False)


def test_nobody_becomes_another_by_name_of_a_file():
    """On Canvas one may be called ann_12345, and another's file may begin with numbers."""
    with pytest.raises(SubmissionError, match="could be of two authors; put it into a folder with"):
        author_of("ann_12345_678_90_bot.zip", is_file=True)
    forged = "eve_9_67890_ann_12345_67891_bot.zip"
    assert "eve_9" == author_of(forged, is_file=True).key
    forged = "eve_9_assignsubmission_file_ann_12345_assignsubmission_file_bot.zip"
    assert "eve_9" == author_of(forged, is_file=True).key


def test_a_long_name_is_shown_short_and_stays_itself():
    first, second = (author_of("n" * 100 + end, is_file=False) for end in "ab")
    assert 80 == len(first.name)
    assert first.key != second.key


HANDLES = {
    "Ann Lee": "ann-lee",
    "  José  Ñandú!": "jose-nandu",
    "Łukasz Øst-Æble": "lukasz-ost-aeble",
    "Nguyễn Thị Đào": "nguyen-thi-dao",
    "Weiß": "weiss",
    "Фёдор Щукин": "fedor-shchukin",
    "Ἀλέξανδρος": "alexandros",
    "김민준": "gimminjun",
    "さくら": "sakura",
    "Ann 李": "ann",
    "x" * 90: "x" * 32,
    "C++ & co.": "c-co",
    "Ann–Lee": "ann-lee",
    "１２３": "123",
}


@pytest.mark.parametrize("name", HANDLES)
def test_a_handle_is_readable(name):
    assert HANDLES[name] == handle_of(Author(name, name), {})


@pytest.mark.parametrize("name", ["李小龙", "محمد", "אברהם", "अमित", "७"])
def test_a_script_without_a_spelling_gets_a_number_of_its_own(name):
    handle = handle_of(Author(name, name), {})
    assert re.fullmatch("author-[0-9a-f]{6}", handle)
    assert handle != handle_of(Author(name + "x" * 0 + name, name + name), {})


def test_equal_handles_are_numbered_and_stay():
    taken = {}
    names = ["Ann", "ann", "Änn", "ann-2", "x" * 40, "X" * 40]
    for name in names:
        taken[handle_of(Author(name, name), taken)] = name
    assert ["ann", "ann-2", "ann-3", "ann-2-2", "x" * 32, "x" * 30 + "-2"] == list(taken)
    assert list(taken) == [handle_of(Author(name, name), taken) for name in names]


@given(st.lists(st.text(max_size=60), max_size=5))
def test_whatever_a_name_is_its_handle_is_harmless_and_its_own(names):
    """Or it is refused; a handle leads back to one key, and its author keeps it."""
    taken = {}
    for name in names:
        try:
            author = author_of(name, is_file=False)
        except SubmissionError:
            continue
        assert author.name.isprintable()
        assert len(author.name) <= 80
        handle = handle_of(author, taken)
        assert re.fullmatch("[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?", handle)
        assert taken.setdefault(handle, author.key) == author.key
