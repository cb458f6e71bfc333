"""Every string is there in every language, and every string that is asked for is there."""

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

import arena.site
from arena.registry import GAMES
from arena.regret import MistakeKind, Phase
from arena.site.words import LANGUAGES, english, moment, number, say, strings

FOLDER = Path(arena.site.__file__).parent
VALUE = re.compile(r"\{(\w+)\}")
# A key in a call of ours: say("key", t("key", fact("key", labelled("title", "key" …
CALLS = re.compile(
    r"""\b(?:say|said|english|fact|words|t|labelled|_folded)\(\s*(?:"(?:aria_label|title)",\s*)?"(?!aria_label"|title")([a-z_]+)\""""
)
QUOTED = re.compile(r"""["']([a-z]+(?:_[a-z]+)*)["']""")
# Of a row of heads: "KEY KIND ABOUT, KEY KIND ABOUT".
HEADS = re.compile(r"\b((?:col|about)_[a-z_]+)\b")


# In a template: {KEY}, {ATTRIBUTE:KEY}; but {=PART} is none.
PARTS = re.compile(r"\{(?:[a-z-]+:)?([a-z_]+)\}")

LIVE = FOLDER.parent / "live"


def sources():
    folders = (FOLDER, LIVE)
    scripts = [path for folder in folders for path in (folder / "assets").glob("*.js")]
    return [*(path for folder in folders for path in folder.rglob("*.py")), *scripts]


def in_templates():
    """The keys that templates of pages name."""
    paths = [*(FOLDER / "pages").glob("*.html"), *LIVE.glob("*.html")]
    return {key for path in paths for key in PARTS.findall(path.read_text("utf-8"))}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_strings_with_the_same_values(language):
    """One that is missing, or too many, or lacks a value, is found."""
    ours, theirs = strings("en"), strings(language)
    assert ours.keys() == theirs.keys()
    for key, text in ours.items():
        assert set(VALUE.findall(text)) == set(VALUE.findall(theirs[key])), key
        assert theirs[key].strip(), key


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])
def test_a_language_is_no_copy_of_english(language):
    """Sentences are translated: those of more than three words all differ."""
    ours, theirs = strings("en"), strings(language)
    same = [key for key, text in ours.items() if text.count(" ") > 2 and theirs[key] == text]
    assert same == []


def test_every_key_that_is_asked_for_exists():
    """In the pages and in the scripts."""
    texts = [path.read_text("utf-8") for path in sources()]
    asked = {key for text in texts for found in (CALLS, HEADS) for key in found.findall(text)}
    assert len(asked) > 100
    assert in_templates() | asked <= strings("en").keys()


def test_every_string_is_asked_for_somewhere():
    """None is left over: each stands in quotes in the code, or is a move's or a regret's."""
    texts = [path.read_text("utf-8") for path in sources()]
    quoted = {key for text in texts for found in (QUOTED, HEADS) for key in found.findall(text)}
    moves = {f"move_{word}" for word in ("take", "tee", "draw", "swap", "flip", "skip", "knock")}
    moves |= {"move_draw_unseen", "move_swap_unseen", "move_discard"}
    regrets = {*(f"mistake_{each}" for each in MistakeKind), *(f"phase_{each}" for each in Phase)}
    assert strings("en").keys() - quoted - moves - regrets - in_templates() == set()


def test_there_is_a_sheet_of_rules_for_each_game_and_language():
    """And none for anything else."""
    there = {path.name for path in files("arena.games").joinpath("sheets").iterdir()}
    assert there == {f"{game}.{language}.html" for game in GAMES for language in LANGUAGES}


@pytest.mark.parametrize("game", GAMES)
def test_the_sheets_of_a_game_state_the_same_numbers(game):
    """What cards are worth is the same in every language, in the same order."""
    folder = files("arena.games") / "sheets"
    numbers = {}
    for language in LANGUAGES:
        text = (folder / f"{game}.{language}.html").read_text("utf-8")
        text = re.sub(r"<[^>]*>", " ", text)
        numbers[language] = sorted(
            {int(found.replace("\u2212", "-")) for found in re.findall("\u2212?[0-9]+", text)}
        )
    english_numbers = [each for each in numbers["en"] if not 1 <= each <= 9]
    for language in LANGUAGES:
        assert [each for each in numbers[language] if not 1 <= each <= 9] == english_numbers


def test_a_string_stands_in_the_page_with_its_key_and_values():
    """So that a script can put another language's in its place."""
    assert say("bots_n", n=7) == ('<span data-t="bots_n" data-v="{&quot;n&quot;: 7}">7 bots</span>')
    with pytest.raises(KeyError):
        english("no_such_key")


@pytest.mark.parametrize("key", strings("en"))
def test_a_string_is_whole_in_the_page(key):
    """However long it is: without scripts there is nothing else to read."""
    values = dict.fromkeys(VALUE.findall(strings("en")[key]), 7)
    assert say(key, **values).count("\u2026") == strings("en")[key].count("\u2026")


def test_a_number_and_a_time_carry_themselves():
    """Whatever the language, they are the same."""
    assert number(-1234.5, 1) == '<span data-n="-1234.5">\u22121,234.5</span>'
    assert number(2, sign=True) == '<span data-n="2" data-s>+2</span>'
    assert moment(0) == ""
    assert moment(1.0) == ('<time datetime="1970-01-01T00:00:01+00:00" data-day>1970-01-01</time>')


def test_strings_are_sorted_files_of_json():
    """So that two languages can be read side by side."""
    for language in LANGUAGES:
        path = FOLDER / "assets" / "strings" / f"{language}.json"
        keys = list(json.loads(path.read_text("utf-8")))
        assert keys == sorted(keys)
