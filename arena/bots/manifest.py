"""bot.toml: what an author states about a bot, checked field by field.

Reads one file. The contract is the table in protocol/SPEC.md, section 8.

Invariant: a `Manifest` holds only valid values; the mistakes of a file are reported together, each
with its line.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from pathlib import Path
from typing import Any

from arena.bots import toml
from arena.bots.folder import Folder, opened
from arena.bots.locks import LOCKS
from arena.bots.plain_text import did_you_mean, printable
from arena.bots.toml import BoundsError, Key, Toml
from arena.model import LONGEST_LABEL, Frozen, label_fault

NAME = "bot.toml"
AUTHOR = 100
"""Longest author: it still fits into a row of a table."""
FILE_BYTES = 16_384
"""A manifest has a dozen lines."""
MOST = 10**9
"""No limit may be larger: eleven days in milliseconds."""
MISTAKES = 20
"""Told of one file: a screen's worth."""

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


def read(folder: Folder) -> Manifest | None:
    """Read and check a bot's manifest; None if it has none; ManifestError holds all that is wrong
    with it, SnapshotError why it can't be read.
    """
    found = folder.find(NAME)
    if found is None or not found.is_file:
        return None
    data = folder.read(found, FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise ManifestError(f"{NAME} is larger than {FILE_BYTES} bytes")
    try:
        # Editors on Windows like to begin a file with a byte-order mark; TOML forbids it.
        return parse(data.decode("utf-8-sig"))
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise ManifestError(f"{NAME}:{line}: not UTF-8; save the file as UTF-8") from e


def of_folder(path: Path) -> Manifest:
    """What a bot's folder states, by its path."""
    with opened(path) as folder:
        return read(folder) or Manifest()


def parse(text: str) -> Manifest:
    """Check the text of a manifest."""
    try:
        document = toml.loads(text)
    except BoundsError as e:
        raise ManifestError(f"{NAME}:{e.line}: {e.what}; a manifest is a few plain fields") from e
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


def place(folder: Path, field: str) -> str:
    """Where a snapshot's manifest states a field, as the beginning of a line about it."""
    text = (folder / NAME).read_bytes().decode("utf-8-sig")
    return f"{NAME}:{toml.loads(text).lines.get((field,), 1)}: {field}: "


def _kind(value: object) -> str:
    if isinstance(value, list):
        return "an array"
    if isinstance(value, dict):
        return "a table"
    return _KINDS.get(type(value), "a date or time")


class _Check:
    """One document on its way to a Manifest; collects mistakes instead of stopping."""

    def __init__(self, document: Toml, text: str) -> None:
        self.text = text.split("\n")
        self.document = document.values
        self.lines = document.lines
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
            found = sorted((self.lines.get(key, 1), what) for key, what in self.mistakes)
            told = [f"{NAME}:{line}: {what}" for line, what in found[:MISTAKES]]
            if len(found) > MISTAKES:
                told.append(f"{NAME}: and {len(found) - MISTAKES} mistakes more")
            raise ManifestError(*told)
        return result

    def _wrong(self, key: tuple[str, ...], what: str) -> None:
        self.mistakes.append((key, f"{printable('.'.join(key))}: {what}"))

    def _unknown(
        self, above: tuple[str, ...], table: dict[str, Any], known: tuple[str, ...]
    ) -> None:
        for key in table:
            if key in known:
                continue
            if len(self.mistakes) > MISTAKES:
                hint = ""  # it isn't told, and to look for it takes its time
            elif not above and key in _LIMITS:
                hint = " (it belongs under [limits])"
            else:
                hint = did_you_mean(key, known) or f" (known: {', '.join(known)})"
            place = f" in [{'.'.join(above)}]" if above else ""
            self.mistakes.append(
                ((*above, key), f"unknown field '{printable(key, LONGEST_LABEL)}'{place}{hint}")
            )

    def _string(self, field: str) -> str | None:
        value = self.document.get(field)
        if value is None or isinstance(value, str):
            return value
        hint = ""
        if type(value) in {int, float}:
            # As it stands there: 1.10 is no 1.1, and 1e999 would be inf.
            line = self.text[self.lines.get((field,), 1) - 1]
            said = re.fullmatch(
                rf"[^=]*=\s*([\w.+-]{{1,{LONGEST_LABEL}}})\s*(?:#.*)?", line, re.ASCII
            )
            hint = f'; write {field} = "{said[1]}"' if said else ""
        self._wrong((field,), f"must be a string, not {_kind(value)}{hint}")
        return None

    def _label(self, field: str) -> str | None:
        text = self._string(field)
        if text is None:
            return None
        text = unicodedata.normalize("NFC", text)
        fault = label_fault(text)
        if fault:
            self._wrong((field,), f"'{printable(text, LONGEST_LABEL)}' doesn't do: {fault}")
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
                f"'{printable(name, LONGEST_LABEL)}'",
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
                self._wrong(("limits", field), "must be at least 1")
            elif value > MOST:
                self._wrong(("limits", field), f"must be at most {MOST}")
            else:
                asked[field] = value
        return Asked(**asked)
