"""Whose a submission is, from the name that it lies under, and short names for authors.

An author is known by the place of the upload, which the organiser or the course system decides,
never by anything in it. `key` is the identity: the name as it stands (in NFC), with the course
system's number if it gives one, since two authors may have one name. No two names are taken for
one, not even if they differ in case alone: one author could replace what another handed in.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

from arena.bots.commands import LANGUAGES
from arena.intake.caps import refuse
from arena.intake.upload import suffix_of
from arena.model import Frozen, sha256_hex
from arena.tables import table

LONGEST_NAME = 80  # characters shown of an author's name: a row of a table
LONGEST_HANDLE = 32  # a folder's name, a part of an address
_DIGITS = 6  # of the hash that stands for a name in a script that isn't spelt in Latin letters

_SYSTEMS = table("intake/course_systems")
_LETTERS: dict[str, str] = {
    letter: spelt
    for script in table("intake/letters").values()
    for letter, _, spelt in (pair.partition("=") for pair in script.split())
}
_NUMBERED = re.compile(r"\d+_")


class Author(Frozen, frozen=True):
    key: str
    name: str


class Handed(NamedTuple):
    """What a course system's name says: the author, and the file's own name; empty: a folder."""

    author: Author
    file: str
    is_bot: bool  # False: a text or a link that was typed into the course system


def author_of(name: str, *, is_file: bool) -> Author:
    """The author of what lies in the inbox under this name (AUTHOR, AUTHOR.zip, AUTHOR.py)."""
    if handed := handed_in(name, is_file=is_file):
        return handed.author
    ends = (suffix_of(name), *(end for end in LANGUAGES if name.endswith(end)))
    stem = name.removesuffix(next(filter(None, ends), "")) if is_file else name
    return _author(stem, "")


def handed_in(name: str, *, is_file: bool) -> Handed | None:
    """What a name says if a course system wrote it; SubmissionError if it could be two authors'."""
    text = unicodedata.normalize("NFC", name)
    for name_of_system, system in _SYSTEMS.items():
        found = re.fullmatch(system["pattern"], text) if is_file or system["folders"] else None
        if found:
            parts = found.groupdict(default="")
            if name_of_system == "canvas" and _NUMBERED.match(parts["rest"]):
                # ann_1_2_3_x.zip is the file 3_x.zip of number 1, or x.zip of one called ann_1.
                what = "could be of two authors; put it into a folder with its author's name"
                raise refuse(name, what)
            author = _author(parts["name"], parts["number"])
            return Handed(author, parts["rest"], parts["kind"] in {"", "file"})
    return None


def _author(text: str, number: str) -> Author:
    text = unicodedata.normalize("NFC", text)
    key = "".join(" " if unicodedata.category(c) == "Zs" else c for c in text).strip()
    if not key.isprintable() or not any(c.isalnum() for c in key):
        raise refuse(text, "names no author that can be shown; name it after its author")
    name = key if len(key) <= LONGEST_NAME else f"{key[: LONGEST_NAME - 1]}…"
    return Author(f"{key}_{number}" if number else key, name)


def handle_of(author: Author, taken: Mapping[str, str]) -> str:
    """A short name of [a-z0-9-]; `taken`: the keys of handles that are given already.

    An author who has a handle keeps it. The second of two equal ones gets -2, and so on: go
    through new authors sorted by key, and the handles are the same everywhere.
    """
    for handle, key in taken.items():
        if key == author.key:
            return handle
    first = _slug(author)
    handle, number = first, 1
    while handle in taken:
        number += 1
        end = f"-{number}"
        handle = first[: LONGEST_HANDLE - len(end)].rstrip("-") + end
    return handle


def _slug(author: Author) -> str:
    """In Latin letters, if at least half of the letters can be spelt so; else by its hash."""
    letters = [c for c in author.name.casefold() if c.isalpha()]
    spelt = [_spelt(c) for c in letters]
    if 2 * sum(map(bool, spelt)) < len(letters):
        return f"author-{sha256_hex(author.key.encode())[:_DIGITS]}"
    text = "".join(map(_spelt, author.name.casefold()))
    slug = re.sub("[^a-z0-9]+", "-", text)[:LONGEST_HANDLE].strip("-")
    return slug or f"author-{sha256_hex(author.key.encode())[:_DIGITS]}"


def _spelt(c: str) -> str:
    if not c.isalnum():
        return "" if unicodedata.category(c).startswith("M") else "-"
    if c in _LETTERS:
        return _LETTERS[c]
    name = unicodedata.name(c, "")
    for script in ("HANGUL SYLLABLE ", "HIRAGANA LETTER ", "KATAKANA LETTER "):
        if name.startswith(script):
            return name.removeprefix(script).removeprefix("SMALL ").lower()
    plain = "".join(_LETTERS.get(each, each) for each in unicodedata.normalize("NFKD", c))
    return "".join(each for each in plain if each.isascii())
