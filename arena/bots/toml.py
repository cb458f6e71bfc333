"""Parse untrusted TOML: bound it before tomllib reads it, and find the line of every key.

tomllib's time is quadratic in the parts of a dotted key and in the depth of its table; it recurses
into nested values, takes microseconds for each token, and reports no lines. One pass over the
tokens bounds all of that.

Invariant: up to the first syntax error, where tomllib stops, both see the same tokens; so nothing
that tomllib reads is longer, deeper or more than was counted.
"""

import contextlib
import json
import re
import tomllib
from typing import Any, NamedTuple

MAX_PARTS = 16
"""Parts of a key and its table together, and nested brackets: Cargo's own manifests have six."""
MAX_TOKENS = 200_000  # a Cargo.lock of 1 MB has 150,000, the largest project's 30,000
MAX_DIGITS = 1000  # of a number: TOML requires 19, Python refuses more than 4,300
_DIGITS = re.compile(rf"[+-]?[0-9_]{{{MAX_DIGITS + 1},}}.*", re.DOTALL)

_TOKEN = re.compile(
    r"""
    [ \t\r]*+ (?:
      (?P<end> (?: (?: \n | \#[^\n]*+ ) [ \t\r]*+ )++ )
    | (?P<string>
          \"{3} (?: [^"\\]++ | \\. | \"{1,2}+ (?!") )*+ \"{3,5}
        | '{3}  (?: [^']++ | '{1,2}+ (?!') )*+ '{3,5}
        | " (?!"") (?: [^"\\\n]++ | \\[^\n] )*+ "
        | ' (?!'') [^'\n]*+ '
      )
    | (?P<mark> [\[\]{}=,.] )
    | (?P<bare> [^\s"'\#\[\]{}=,.]++ )
    )
    """,
    re.VERBOSE | re.DOTALL,
)

Key = tuple[str | int, ...]  # names of tables and keys, and indices of arrays, from the top


class BoundsError(Exception):
    """A text exceeds a bound: the line, and which."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


class Toml(NamedTuple):
    """A text's values, and the first line of each key."""

    values: dict[str, Any]
    lines: dict[Key, int]


def loads(text: str) -> Toml:
    """Parse a text; BoundsError if it exceeds a bound, ValueError if it is not TOML."""
    lines = _Tokens(text).lines()
    return Toml(tomllib.loads(text), lines)


def _unquoted(text: str) -> str:
    """A part of a key. JSON's escapes are TOML's but one; a key with that one has no line."""
    if text[0] not in "\"'":
        return text
    if text[0] == '"' and "\\" in text:
        with contextlib.suppress(ValueError):
            return str(json.loads(text))
    return text[1:-1]


class _Tokens:
    def __init__(self, text: str) -> None:
        self.text = text
        self.line = 1
        self.found: dict[Key, int] = {}
        self.tables: dict[Key, int] = {}  # the index of the last table in each array of tables
        self.table: Key = ()
        self.key: list[str] = []
        self.value: Key | None = None  # the key of the value being read; None: a key is being read
        self.open: list[tuple[str, Key, int]] = []
        """Open brackets of values: which, of which key, and the index in it."""
        self.header = 0  # brackets of the header being read

    def lines(self) -> dict[Key, int]:
        count = 0
        match = _TOKEN.scanner(self.text).match  # type: ignore[attr-defined]
        while token := match():
            count += 1
            if count > MAX_TOKENS:
                raise BoundsError(self.line, f"holds more than {MAX_TOKENS} tokens")
            kind, text = token.lastgroup, token[token.lastgroup]
            if kind == "end":
                if not self.open and "\n" in text:
                    self.key, self.value, self.header = [], None, 0
                self.line += text.count("\n")
            elif kind == "mark":
                self._mark(text)
            else:
                if self.value is None:
                    self.key.append(_unquoted(text))
                    if len(self.key) + len(self._base()) > MAX_PARTS:
                        raise BoundsError(self.line, f"has a key of more than {MAX_PARTS} parts")
                elif kind == "bare" and _DIGITS.fullmatch(text):
                    raise BoundsError(self.line, f"has a number of more than {MAX_DIGITS} digits")
                self.line += text.count("\n") if kind == "string" else 0
        return self.found

    def _base(self) -> Key:
        """The table that a key is relative to."""
        return self.open[-1][1] if self.open else () if self.header else self.table

    def _mark(self, mark: str) -> None:
        if self.value is not None:
            self._within_value(mark)
        elif mark == "=":
            base = self._base()
            self.value = (*base, *self.key)
            for end in range(len(base) + 1, len(self.value) + 1):
                self.found.setdefault(self.value[:end], self.line)
        elif mark == "}" and self.open:
            _, self.value, _ = self.open.pop()
        elif mark == "[" and not self.key:
            self.header += 1
        elif mark == "]" and self.key:
            self._end_header()

    def _end_header(self) -> None:
        """End of a header: the keys that follow belong to its table."""
        table: Key = ()
        for left, part in enumerate(self.key, 1 - len(self.key)):
            table = (*table, part)
            self.found.setdefault(table, self.line)
            if not left and self.header > 1:
                self.tables[table] = self.tables.get(table, -1) + 1
            if table in self.tables:
                table = (*table, self.tables[table])
                self.found.setdefault(table, self.line)
        self.table = table
        self.key = []

    def _within_value(self, mark: str) -> None:
        assert self.value is not None
        if mark in "[{":
            if len(self.open) + len(self.value) >= MAX_PARTS:
                raise BoundsError(self.line, f"is nested more than {MAX_PARTS} deep")
            self.open.append((mark, self.value, 0))
            self.key = []
            self.value = (*self.value, 0) if mark == "[" else None
        elif mark in "]}" and self.open:
            _, self.value, _ = self.open.pop()
        elif mark == "," and self.open:
            bracket, whose, place = self.open[-1]
            self.open[-1] = (bracket, whose, place + 1)
            self.key = []
            self.value = (*whose, place + 1) if bracket == "[" else None
