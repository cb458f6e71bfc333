"""Text from strangers, made harmless for each place it is put.

Names, authors, reasons and messages are chosen by people who may want to repaint a terminal,
break a table, run a formula in a spreadsheet or a script on a page, or pass for somebody else.
What would act instead of being read is shown as an escape that can be read.

Invariant: what `plain` returns prints on one line, left to right, and moves no cursor.
"""

from __future__ import annotations

import re
import unicodedata

# Control, format (bidi overrides, zero-width joiners, tags), surrogates, private use, line and
# paragraph separators.
_ACTING = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
# Letters and spaces that show nothing, or a width that terminals disagree on.
_BLANK = frozenset(
    "\u00a0\u034f\u115f\u1160\u17b4\u17b5\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u202f\u205f\u2800\u3000\u3164\uffa0"
)
# More marks on one letter than any script needs climb over the lines above.
_MARKS = 2
# A name is a label; what is longer is meant to break something.
_LONGEST = 200
_LONGEST_SENTENCE = 2000
# Characters at the start of a cell that make spreadsheets take it for a formula.
_FORMULA = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
# In a Markdown code span these and letters and digits need no thought, wherever it is shown.
_EASY = frozenset("@._+~/:=-")
# Marks that can't be markup within a line, nor make a link: full stops and colons only where
# no name or address goes on behind them, underscores only within a word.
_UNMARKED = re.compile(r"[ ,;()%+'/-]|[.](?=[ 0-9]|$)|[:](?= |$)|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])")


def plain(text: str) -> str:
    """For a terminal, and the first step of everything else."""
    shown: list[str] = []
    marks = 0
    for place, char in enumerate(text):
        if place == _LONGEST:
            shown.append("…")
            break
        category = unicodedata.category(char)
        mark = category in {"Mn", "Me"}
        marks = marks + 1 if mark else 0
        stray = mark and (place == 0 or marks > _MARKS or _is_selector(char))
        if stray or category in _ACTING or char in _BLANK:
            shown.append(_escape(char))
        else:
            shown.append(char)
    return "".join(shown)


def _is_selector(char: str) -> bool:
    """Variation selectors: they show nothing, so two names could look the same."""
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def markdown(text: str) -> str:
    """For running text and table cells of Markdown: nothing in it can be markup."""
    shown = plain(text)
    return "".join(
        char
        if char.isalnum() or not char.isascii() or _UNMARKED.match(shown, place)
        else f"&#{ord(char)};"
        for place, char in enumerate(shown)
    )


def markdown_name(text: str) -> str:
    """For a name in Markdown: set as code, so that it calls nobody and links nowhere."""
    shown = plain(text)
    if text and shown == text and all(char.isalnum() or char in _EASY for char in text):
        return f"`{text}`"
    return f"<code>{markdown(text)}</code>"


def sentence(text: str) -> str:
    """Like `plain`, for text that may be longer than a name."""
    return " ".join(plain(word) for word in text[:_LONGEST_SENTENCE].split(" "))


def markdown_sentence(text: str) -> str:
    """Like `markdown`, for text that may be longer than a name."""
    return " ".join(markdown(word) for word in text[:_LONGEST_SENTENCE].split(" "))


def cell(text: str) -> str:
    """For a text cell of a CSV file: never a formula. Numbers of ours don't pass through."""
    shown = plain(text)
    return f"'{shown}" if shown.lstrip(" ")[:1] in _FORMULA and shown else shown
