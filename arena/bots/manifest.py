"""bot.toml: what an author states about a bot, by the table in protocol/SPEC.md, section 8.

Invariant: a `Manifest` holds only valid values; all mistakes of a file are reported together, each
with its line.
"""

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from arena.bots import toml
from arena.bots.folder import Folder, open_folder
from arena.bots.locks import LOCKS
from arena.bots.plain_text import BotError, did_you_mean, printable, split_words, toml_array
from arena.bots.toml import BoundsError, Key, Toml
from arena.model import LONGEST_LABEL, Frozen, Parameter, label_fault
from arena.model.parameters import LARGEST
from arena.model.parameters import MOST as MOST_PARAMETERS
from arena.model.parameters import NAME as PARAMETER_NAME

NAME = "bot.toml"
AUTHOR = 100  # characters: fits into a row of a table
FILE_BYTES = 16_384  # a manifest has a dozen lines
MOST = 10**9  # largest limit: eleven days in milliseconds
MISTAKES = 20  # reported of one file: a screen's worth

_NUMBERS = ("min", "max", "default")
_PARAMETER = (*_NUMBERS, "scale")
_EXAMPLE = "{ default = 1.5, min = 0, max = 4 }"

_WORDS = {"str": "a string", "bool": "true or false", "int": "an integer", "float": "a number"}
_WORDS |= {"list": "an array", "dict": "a table"}
_MARKED = re.compile(
    r"(?P<text>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of .*)\)"
)
_CLOSED = re.compile(r"""(?:[^"'#]++|"(?:[^"\\]++|\\.)*+"|'[^']*+')*+""")
# tomllib's words for the end of the line, or of the file, in a string.
_UNCLOSED = (
    "Illegal character '\\n'",
    "Found invalid character '\\n'",
    "Unterminated string",
    'Expected "\'"',
)


class Asked(Frozen, frozen=True, kw_only=True):
    """The limits that a bot asks for; None: the event's own."""

    memory_mb: int | None = None
    tasks: int | None = None
    start_ms: int | None = None
    scratch_mb: int | None = None  # None: no scratch space


_LIMITS = Asked.__struct_fields__


class Manifest(Frozen, frozen=True, kw_only=True):
    """The fields of bot.toml; None where the file has none."""

    name: str | None = None
    version: str | None = None
    author: str = ""
    run: tuple[str, ...] | None = None
    build: tuple[tuple[str, ...], ...] = ()
    lock: str = ""
    optional: bool = False
    asked: Asked = Asked()
    tune: tuple[Parameter, ...] = ()


def read(folder: Folder) -> Manifest | None:
    """Read and check a bot's manifest; None if it has none."""
    found = folder.find(NAME)
    if found is None or not found.is_file:
        return None
    data = folder.read(found, FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise BotError(f"{NAME} is larger than {FILE_BYTES} bytes")
    try:
        # Editors on Windows write a byte-order mark; TOML forbids it.
        return parse(data.decode("utf-8-sig"))
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise BotError(f"{NAME}:{line}: not UTF-8; save the file as UTF-8") from e


def of_folder(path: Path) -> Manifest:
    with open_folder(path) as folder:
        return read(folder) or Manifest()


def parse(text: str) -> Manifest:
    try:
        document = toml.loads(text)
    except BoundsError as e:
        raise BotError(f"{NAME}:{e.line}: {e.what}; a manifest is a few plain fields") from e
    except ValueError as e:  # TOMLDecodeError, and integers too long for Python
        raise BotError(_syntax(str(e), text)) from e
    return _Reader(document, text).manifest()


def _syntax(message: str, text: str) -> str:
    """Put line and column first, as compilers do."""
    marked = _MARKED.fullmatch(message)
    if marked is None:
        return f"{NAME}: {printable(message)}"
    lines = text.split("\n")
    line = marked["line"] or len(lines)
    column = marked["column"] or len(lines[-1]) + 1
    written = lines[int(line) - 1]
    if marked["text"] in _UNCLOSED:
        # tomllib notices an open single quote only at the end of the file.
        first = 1 if "Expected" in marked["text"] else int(line)
        for number, each in enumerate(lines[first - 1 : int(line)], first):
            closed = _CLOSED.match(each)
            assert closed, "it matches nothing, too"
            if each[closed.end() : closed.end() + 1] in ('"', "'"):
                what = "the string that begins here is never closed"
                return f"{NAME}:{number}:{closed.end() + 1}: {what}"
    hint = ""
    if ":" in written and "=" not in written:
        hint = "; a field is written as name = value"
    elif re.match(r"\s*\w+\s*=\s*[\w./]", written) and marked["text"] == "Invalid value":
        hint = "; text stands in double quotes"
    return f"{NAME}:{line}:{column}: {printable(marked['text'])}{hint}"


def location(folder: Path, field: str) -> str:
    """File, line and field of a snapshot's manifest, as the beginning of a message."""
    text = (folder / NAME).read_bytes().decode("utf-8-sig")
    return f"{NAME}:{toml.loads(text).lines.get((field,), 1)}: {field}: "


def _kind(value: object) -> str:
    return _WORDS.get(type(value).__name__, "a date or time")


class _WrongError(Exception):
    """Mistakes in a field, one text each."""


class _Reader:
    """Reads one document into a Manifest; collects mistakes instead of stopping."""

    def __init__(self, document: Toml, text: str) -> None:
        self.text = text.split("\n")
        self.document = document.values
        self.lines = document.lines
        self.mistakes: list[tuple[Key, str]] = []

    def manifest(self) -> Manifest:
        fields: dict[str, Callable[[str, Any], object]] = {
            "name": self._label,
            "version": self._label,
            "author": self._author,
            "run": lambda field, value: _command(_array(field, value)),
            "build": _build,
            "lock": self._lock,
            "optional": _flag,
            "limits": self._limits,
            "tune": self._tune,
        }
        self._unknown((), self.document, tuple(fields))
        valid: dict[str, Any] = {}
        for field, parse in fields.items():
            try:
                if field in self.document:
                    valid[field] = parse(field, self.document[field])
            except _WrongError as e:
                self.mistakes += [((field,), f"{field}: {what}") for what in e.args]
        if self.mistakes:
            found = sorted((self.lines.get(key, 1), what) for key, what in self.mistakes)
            shown = [f"{NAME}:{line}: {what}" for line, what in found[:MISTAKES]]
            if len(found) > MISTAKES:
                shown.append(f"{NAME}: and {len(found) - MISTAKES} more mistakes")
            raise BotError(*shown)
        return Manifest(asked=valid.pop("limits", Asked()), **valid)

    def _unknown(
        self, above: tuple[str, ...], table: dict[str, Any], known: tuple[str, ...]
    ) -> None:
        for key in table:
            if key in known:
                continue
            if len(self.mistakes) > MISTAKES:
                hint = ""  # it isn't shown, and takes time
            elif not above and key in _LIMITS:
                hint = " (it belongs under [limits])"
            else:
                hint = did_you_mean(key, known) or f" (known: {', '.join(known)})"
            place = f" in [{'.'.join(above)}]" if above else ""
            what = f"unknown field '{printable(key, LONGEST_LABEL)}'{place}{hint}"
            self.mistakes.append(((*above, key), what))

    def _string(self, field: str, value: object) -> str:
        if isinstance(value, str):
            return value
        hint = ""
        if type(value) in {int, float}:
            # As it is written: 1.10 is not 1.1, and 1e999 would be inf.
            line = self.text[self.lines.get((field,), 1) - 1]
            number = re.fullmatch(
                rf"[^=]*=\s*([\w.+-]{{1,{LONGEST_LABEL}}})\s*(?:#.*)?", line, re.ASCII
            )
            hint = f'; write {field} = "{number[1]}"' if number else ""
        raise _WrongError(f"must be a string, not {_kind(value)}{hint}")

    def _label(self, field: str, value: object) -> str:
        text = unicodedata.normalize("NFC", self._string(field, value))
        if fault := label_fault(text):
            raise _WrongError(f"'{printable(text, LONGEST_LABEL)}' is not allowed: {fault}")
        return text

    def _author(self, field: str, value: object) -> str:
        text = unicodedata.normalize("NFC", self._string(field, value)).strip()
        too_long = f"may have {AUTHOR} characters, not {len(text)}" if len(text) > AUTHOR else ""
        odd = "" if text.isprintable() else "holds characters that can't be printed"
        if wrong := [what for what in (too_long, odd) if what]:
            raise _WrongError(*wrong)
        return text

    def _lock(self, field: str, value: object) -> str:
        name = self._string(field, value)
        if name not in LOCKS:
            raise _WrongError(
                f"must be {', '.join(LOCKS[:-1])} or {LOCKS[-1]}, a file beside {NAME}, not "
                f"'{printable(name, LONGEST_LABEL)}'"
            )
        return name

    def _limits(self, field: str, table: object) -> Asked:
        if not isinstance(table, dict):
            raise _WrongError(f"must be a table, not {_kind(table)}")
        self._unknown((field,), table, _LIMITS)
        asked = {name: table[name] for name in _LIMITS if name in table}
        for name, value in asked.items():
            if what := _wrong_limit(value):
                self.mistakes.append(((field, name), f"{field}.{name}: {what}"))
        return Asked(**asked)

    def _tune(self, field: str, table: object) -> tuple[Parameter, ...]:
        if not isinstance(table, dict):
            raise _WrongError(f"must be a table, not {_kind(table)}")
        if len(table) > MOST_PARAMETERS:
            raise _WrongError(f"may have {MOST_PARAMETERS} parameters, not {len(table)}")
        found = []
        for name, given in table.items():
            key = (field, name)
            shown = f"{field}.{printable(name, LONGEST_LABEL)}"
            if not isinstance(given, dict):
                what = f"must be a table like {_EXAMPLE}, not {_kind(given)}"
                self.mistakes.append((key, f"{shown}: {what}"))
                continue
            self._unknown(key, given, _PARAMETER)
            if what := _wrong_parameter(name, given):
                self.mistakes.append((key, f"{shown}: {what}"))
            else:
                found.append(_parameter(name, given))
        return tuple(found)


def _wrong_parameter(name: str, given: dict[str, Any]) -> str:
    if not PARAMETER_NAME.fullmatch(name):
        return "a name is a letter, then letters, digits and _, 24 at most"
    for field in _NUMBERS:
        if type(given.get(field)) not in {int, float}:
            what = f"{field} must be a number" if field in given else f"it has no {field}"
            return f"{what}; write for instance {_EXAMPLE}"
    low, high, default = (given[field] for field in _NUMBERS)
    scale = given.get("scale", "linear")
    wrong = {
        f"a number is more than {LARGEST:g}": not max(map(abs, (low, high, default))) <= LARGEST,
        f"its range is empty: min {low} is not below max {high}": not low < high,
        f"its default {default} is not between {low} and {high}": not low <= default <= high,
        'scale must be "linear" or "log"': scale not in ("linear", "log"),
        "a log scale needs a min above 0": scale == "log" and low <= 0,
    }
    return next((what for what, found in wrong.items() if found), "")


def _parameter(name: str, given: dict[str, Any]) -> Parameter:
    low, high, default = (given[field] for field in _NUMBERS)
    whole = all(type(value) is int for value in (low, high, default))
    log = given.get("scale") == "log"
    rough = Parameter(name=name, low=low, high=high, default=default, whole=whole, log=log)
    # As their texts say: a process gets no other number.
    low, high, default = (float(rough.text(value)) for value in (low, high, default))
    return replace(rough, low=low, high=high, default=default)


def _wrong_limit(value: object) -> str:
    if type(value) is not int:
        return f"must be an integer, not {_kind(value)}"
    if value < 1:
        return "must be at least 1"
    return f"must be at most {MOST}" if value > MOST else ""


def _build(field: str, value: object) -> tuple[tuple[str, ...], ...]:
    """One command, or an array of commands."""
    items = _array(field, value)
    if not any(isinstance(item, list) for item in items):
        return (_command(items),) if items else ()
    commands = []
    wrong: list[str] = []
    for place, item in enumerate(items, 1):
        if not isinstance(item, list):
            what = "must be one array of strings or an array of such arrays, but item"
            wrong.append(f"{what} {place} is {_kind(item)}")
            break
        try:
            commands.append(_command(item, f" of command {place}"))
        except _WrongError as e:
            wrong += e.args
    if wrong:
        raise _WrongError(*wrong)
    return tuple(commands)


def _flag(_: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _WrongError(f"must be true or false, not {_kind(value)}")
    return value


def _array(field: str, value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    hint = ""
    if isinstance(value, str):
        hint = f"; write {field} = {toml_array(split_words(value))}"
    raise _WrongError(f"must be an array of strings, not {_kind(value)}{hint}")


def _command(words: list[Any], which: str = "") -> tuple[str, ...]:
    for place, word in enumerate(words, 1):
        if not isinstance(word, str):
            raise _WrongError(f"must hold strings, but item {place}{which} is {_kind(word)}")
        if "\0" in word:
            raise _WrongError(f"has a zero byte in item {place}{which}")
    if not words or not words[0]:
        raise _WrongError(f"names no program{which}")
    return tuple(words)
