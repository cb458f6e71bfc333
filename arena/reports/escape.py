"""Escape hostile text for terminals, Markdown, CSV, JSON and shells.

Names, authors, reasons and messages come from strangers who may want to repaint a terminal, break a
table, run a formula in a spreadsheet or a script on a page, or pass for another bot. Characters
that act instead of being read are shown as escapes.

Invariant: what `plain` returns prints on one line, left to right, and moves no cursor.
"""

import codecs
import itertools
import json
import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable

# Control, format (bidi overrides, zero-width joiners, tags), surrogates, private use, line and
# paragraph separators.
_ACTING = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
# Letters and spaces that show nothing, or a width that terminals disagree on; variation selectors,
# by which two names could differ that look the same.
_BLANK = re.compile(
    "[\u00a0\u034f\u115f\u1160\u1680\u17b4\u17b5\u2000-\u200a\u202f\u205f\u2800\u3000\u3164"
    "\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_MARKS = 2  # more marks on one letter than any script needs climb over the lines above
_LONGEST = 200  # a name is a label; what is longer is meant to break something
_LONGEST_SENTENCE = 2000
# Characters at the start of a cell that make spreadsheets take it for a formula.
_FORMULA = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
_EASY = frozenset("@._+~/:=-")  # safe in a Markdown code span, as letters and digits are
# Marks that can't be markup within a line, nor make a link: full stops and colons only where
# no name or address goes on behind them, underscores only within a word.
_UNMARKED = re.compile(r"[ ,;()%+'/-]|[.](?=[ 0-9]|$)|[:](?= |$)|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])")

# What may act in a text of many lines: all but tabs, newlines and the rest of ASCII's letters.
_DOUBTFUL = re.compile(r"[^\n\t -~]")


def plain(text: str) -> str:
    """Escape text for a terminal; the first step of all other functions here."""
    shown: list[str] = []
    marks = 0
    for place, char in enumerate(text):
        if place == _LONGEST:
            shown.append("…")
            break
        mark = unicodedata.category(char) in {"Mn", "Me"}
        marks = marks + 1 if mark else 0
        stray = mark and (place == 0 or marks > _MARKS)
        shown.append(_escape(char) if stray or _acts(char) else char)
    return "".join(shown)


def visible(text: str) -> str:
    """Escape, for a terminal, our own text of any length that quotes strangers; keeps newlines."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(_escape(char) if _acts(char) and char != "\n" else char for char in text)


class Legible:
    """Decode output, piece by piece, without control sequences; bytes that aren't UTF-8 show."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def __call__(self, data: bytes, *, last: bool = False) -> bytes:
        """Escape the next piece; an incomplete character waits for its rest."""
        text = self._decoder.decode(data, last).replace("\r\n", "\n")

        def shown(found: re.Match[str]) -> str:
            return _escape(found[0]) if unicodedata.category(found[0]) in _ACTING else found[0]

        return _DOUBTFUL.sub(shown, text).encode()


def _acts(char: str) -> bool:
    return unicodedata.category(char) in _ACTING or _BLANK.match(char) is not None


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def json_line(encoded: bytes) -> bytes:
    """The same JSON, with everything escaped that a terminal would obey."""
    if encoded.isascii() and b"\x7f" not in encoded:
        return encoded
    return "".join(
        json.dumps(char)[1:-1] if _acts(char) and char != "\n" else char
        for char in encoded.decode().replace("\x7f", "\\u007f")
    ).encode()


def shell(words: Iterable[str]) -> str:
    """A command for copying into a shell: each word is one word there, and none acts."""
    return " ".join(map(_word, words))


def _word(text: str) -> str:
    if not any(map(_acts, text)):
        return shlex.quote(text)
    shown = (
        [char]
        if char.isalnum() and not _acts(char)
        else (f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))
        for char in text
    )
    return f"$'{''.join(itertools.chain.from_iterable(shown))}'"


def markdown(text: str) -> str:
    """Escape running text and table cells of Markdown: nothing in it can be markup."""
    shown = plain(text)
    return "".join(
        char
        if char.isalnum() or not char.isascii() or _UNMARKED.match(shown, place)
        else f"&#{ord(char)};"
        for place, char in enumerate(shown)
    )


def markdown_name(text: str) -> str:
    """Escape a name in Markdown: set as code, so that it is no mention and no link."""
    shown = plain(text)
    if text and shown == text and all(char.isalnum() or char in _EASY for char in text):
        return f"`{text}`"
    return f"<code>{markdown(text)}</code>"


def sentence(text: str, escape: Callable[[str], str] = plain) -> str:
    """Escape, word by word, text that may be longer than a name."""
    return " ".join(map(escape, text[:_LONGEST_SENTENCE].split(" ")))


def cell(text: str) -> str:
    """Escape a text cell of a CSV file: it is never a formula. Our own numbers need no escaping."""
    shown = plain(text)
    return f"'{shown}" if shown.lstrip(" ")[:1] in _FORMULA and shown else shown
