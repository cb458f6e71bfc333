"""bot.toml: what an author states about a bot, checked field by field.

Reads one file. The contract is the table in protocol/SPEC.md, section 8.

Invariant: a `Manifest` holds only valid values; every mistake of a file is reported at once,
each with its line (tomllib knows no lines, so they are found by parsing the file again line
by line, but only when there is something to report).
"""

from __future__ import annotations

import re
import shlex
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.labels import LABEL, label_fault
from arena.model import Frozen
from arena.roster.locks import LOCKS
from arena.roster.plain import did_you_mean, printable

NAME = "bot.toml"
AUTHOR = 100
"""Longest author: it still fits into a row of a table."""
FILE_BYTES = 16_384
FILE_LINES = 400
"""A manifest has a dozen lines. The caps bound the time of finding lines, which is quadratic."""

_FIELDS = ("name", "version", "author", "run", "build", "lock", "optional", "limits")
_LIMITS = ("memory_mb", "tasks", "start_ms", "scratch_mb")
_KINDS = {str: "a string", bool: "true or false", int: "an integer", float: "a number"}
_MARKED = re.compile(
    r"(?P<text>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of .*)\)"
)
# tomllib's words for the end of the line, or of the file, in a string.
_UNCLOSED = (
    "Illegal character '\\n'",
    "Found invalid character '\\n'",
    "Unterminated string",
    'Expected "\'"',
)
Key = tuple[str, ...]


class ManifestError(Exception):
    """The author's mistakes, one line each."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)
        self.lines = lines


class Asked(Frozen, frozen=True, kw_only=True):
    """The limits that a bot asks for; None: the event's own."""

    memory_mb: int | None = None
    tasks: int | None = None
    start_ms: int | None = None
    scratch_mb: int | None = None
    """None: no scratch space at all."""


class Manifest(Frozen, frozen=True, kw_only=True):
    """What the file says; None where it says nothing."""

    name: str | None = None
    version: str | None = None
    author: str = ""
    run: tuple[str, ...] | None = None
    build: tuple[tuple[str, ...], ...] = ()
    lock: str = ""
    optional: bool = False
    asked: Asked = Asked()


def read(path: Path) -> Manifest:
    """Read and check a manifest; ManifestError holds all that is wrong with it."""
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES + 1)
    except OSError as e:
        raise ManifestError(f"can't read {NAME}: {e.strerror}") from e
    if len(data) > FILE_BYTES:
        raise ManifestError(f"{NAME} is larger than {FILE_BYTES} bytes")
    try:
        # Editors on Windows like to begin a file with a byte-order mark; TOML forbids it.
        return parse(data.decode("utf-8-sig"))
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise ManifestError(f"{NAME}:{line}: not UTF-8; save the file as UTF-8") from e


def parse(text: str) -> Manifest:
    """Check the text of a manifest."""
    if text.count("\n") > FILE_LINES:
        raise ManifestError(f"{NAME} has more than {FILE_LINES} lines")
    try:
        document = tomllib.loads(text)
    except RecursionError as e:
        raise ManifestError(f"{NAME} is nested too deeply") from e
    except ValueError as e:  # TOMLDecodeError, and integers too long for Python
        raise ManifestError(_syntax(str(e), text)) from e
    return _Check(document, text).manifest()


def _syntax(message: str, text: str) -> str:
    """Put line and column first, as compilers do."""
    marked = _MARKED.fullmatch(message)
    if marked is None:
        return f"{NAME}: {printable(message)}"
    lines = text.split("\n")
    line = marked["line"] or len(lines)
    column = marked["column"] or len(lines[-1]) + 1
    said = lines[int(line) - 1]
    if marked["text"] in _UNCLOSED:
        # One in single quotes is missed only where the file ends.
        first = 1 if "Expected" in marked["text"] else int(line)
        for number, each in enumerate(lines[first - 1 : int(line)], first):
            if opened := _opened(each):
                return f"{NAME}:{number}:{opened}: the string that begins here is never closed"
    hint = ""
    if ":" in said and "=" not in said:
        hint = "; a field is written as name = value"
    elif re.match(r"\s*\w+\s*=\s*[\w./]", said) and marked["text"] == "Invalid value":
        hint = "; text stands in double quotes"
    return f"{NAME}:{line}:{column}: {printable(marked['text'])}{hint}"


def _opened(line: str) -> int:
    """The column of the quote that nothing on the line closes; 0 without one."""
    begun, quote, escaped = 0, "", False
    for column, c in enumerate(line, 1):
        if escaped:
            escaped = False
        elif quote:
            escaped = c == "\\" and quote == '"'
            quote = "" if c == quote else quote
        elif c == "#":
            break
        elif c in {'"', "'"}:
            begun, quote = column, c
    return begun if quote else 0


def _keys(document: dict[str, Any]) -> Iterator[Key]:
    for key, value in document.items():
        yield (key,)
        if isinstance(value, dict):
            yield from ((key, inner) for inner in value)


def _key_lines(text: str) -> dict[Key, int]:
    """Find the line on which each key begins.

    A prefix of whole lines parses exactly where no string or array is open, so a key that
    appears for the first time began on the line after the last prefix that parsed.
    """
    found: dict[Key, int] = {}
    lines = text.split("\n")
    done = 0
    for end in range(1, len(lines) + 1):
        try:
            document = tomllib.loads("\n".join(lines[:end]) + "\n")
        except ValueError:
            continue
        for key in _keys(document):
            found.setdefault(key, done + 1)
        done = end
    return found


def place(path: Path, field: str) -> str:
    """Where a manifest states a field, as the beginning of a line about it."""
    text = path.read_bytes().decode("utf-8-sig")
    return f"{NAME}:{_key_lines(text).get((field,), 1)}: {field}: "


def _kind(value: object) -> str:
    if isinstance(value, list):
        return "an array"
    if isinstance(value, dict):
        return "a table"
    return _KINDS.get(type(value), "a date or time")


class _Check:
    """One document on its way to a Manifest; collects mistakes instead of stopping."""

    def __init__(self, document: dict[str, Any], text: str) -> None:
        self.document = document
        self.text = text
        self.mistakes: list[tuple[Key, str]] = []

    def manifest(self) -> Manifest:
        """Check everything, then give the manifest or raise all mistakes together."""
        self._unknown((), self.document, _FIELDS)
        result = Manifest(
            name=self._label("name"),
            version=self._label("version"),
            author=self._author(),
            run=self._run(),
            build=self._build(),
            lock=self._lock(),
            optional=self._optional(),
            asked=self._asked(),
        )
        if self.mistakes:
            lines = _key_lines(self.text)
            raise ManifestError(
                *(
                    f"{NAME}:{line}: {what}"
                    for line, what in sorted(
                        (lines.get(key, 1), what) for key, what in self.mistakes
                    )
                )
            )
        return result

    def _wrong(self, key: Key, what: str) -> None:
        self.mistakes.append((key, f"{printable('.'.join(key))}: {what}"))

    def _unknown(self, above: Key, table: dict[str, Any], known: tuple[str, ...]) -> None:
        for key in table:
            if key in known:
                continue
            if not above and key in _LIMITS:
                hint = " (it belongs under [limits])"
            else:
                hint = did_you_mean(key, known) or f" (known: {', '.join(known)})"
            place = f" in [{'.'.join(above)}]" if above else ""
            self.mistakes.append(
                ((*above, key), f"unknown field '{printable(key, LABEL)}'{place}{hint}")
            )

    def _string(self, field: str) -> str | None:
        value = self.document.get(field)
        if value is None or isinstance(value, str):
            return value
        hint = f'; write {field} = "{value}"' if type(value) in {int, float} else ""
        self._wrong((field,), f"must be a string, not {_kind(value)}{hint}")
        return None

    def _label(self, field: str) -> str | None:
        text = self._string(field)
        if text is None:
            return None
        text = unicodedata.normalize("NFC", text)
        fault = label_fault(text)
        if fault:
            self._wrong((field,), f"'{printable(text, LABEL)}' doesn't do: {fault}")
            return None
        return text

    def _author(self) -> str:
        text = unicodedata.normalize("NFC", self._string("author") or "").strip()
        if len(text) > AUTHOR:
            self._wrong(("author",), f"may have {AUTHOR} characters, not {len(text)}")
        if not text.isprintable():
            self._wrong(("author",), "holds characters that can't be printed")
        return text

    def _optional(self) -> bool:
        value = self.document.get("optional", False)
        if not isinstance(value, bool):
            self._wrong(("optional",), f"must be true or false, not {_kind(value)}")
            return False
        return value

    def _command(self, field: str, value: list[Any], which: str = "") -> tuple[str, ...]:
        for place, word in enumerate(value, 1):
            if not isinstance(word, str):
                self._wrong(
                    (field,), f"must hold strings, but item {place}{which} is {_kind(word)}"
                )
                return ()
            if "\0" in word:
                self._wrong((field,), f"has a zero byte in item {place}{which}")
                return ()
        if not value or not value[0]:
            self._wrong((field,), f"names no program{which}")
            return ()
        return tuple(value)

    def _not_an_array(self, field: str, value: object) -> None:
        hint = ""
        if isinstance(value, str):
            try:
                words = shlex.split(value)
            except ValueError:
                words = value.split()
            array = ", ".join(f'"{word}"' for word in words)
            hint = f"; write {field} = [{printable(array)}]"
        self._wrong((field,), f"must be an array of strings, not {_kind(value)}{hint}")

    def _run(self) -> tuple[str, ...] | None:
        value = self.document.get("run")
        if value is None:
            return None
        if not isinstance(value, list):
            self._not_an_array("run", value)
            return None
        return self._command("run", value)

    def _build(self) -> tuple[tuple[str, ...], ...]:
        value = self.document.get("build", [])
        if not isinstance(value, list):
            self._not_an_array("build", value)
            return ()
        if not any(isinstance(item, list) for item in value):
            return (self._command("build", value),) if value else ()
        commands = []
        for place, item in enumerate(value, 1):
            if not isinstance(item, list):
                self._wrong(
                    ("build",),
                    f"must be one array of strings or an array of such arrays, "
                    f"but item {place} is {_kind(item)}",
                )
                return ()
            commands.append(self._command("build", item, f" of command {place}"))
        return tuple(commands)

    def _lock(self) -> str:
        name = self._string("lock")
        if name is None:
            return ""
        if name not in LOCKS:
            self._wrong(
                ("lock",),
                f"must be {', '.join(LOCKS[:-1])} or {LOCKS[-1]}, a file beside {NAME}, not "
                f"'{printable(name, LABEL)}'",
            )
        return name

    def _asked(self) -> Asked:
        table = self.document.get("limits", {})
        if not isinstance(table, dict):
            self._wrong(("limits",), f"must be a table, not {_kind(table)}")
            return Asked()
        self._unknown(("limits",), table, _LIMITS)
        asked: dict[str, int] = {}
        for field in _LIMITS:
            value = table.get(field)
            if value is None:
                continue
            if type(value) is not int:
                self._wrong(("limits", field), f"must be an integer, not {_kind(value)}")
            elif value < 1:
                self._wrong(("limits", field), f"must be at least 1, not {value}")
            else:
                asked[field] = value
        return Asked(**asked)
