"""Guess a bot's language from its command and files; `languages.toml` says how to flush there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence

import msgspec

from arena.check.mistakes import table


class Language(msgspec.Struct, frozen=True):
    """Advice on standard output and input."""

    name: str = ""
    flush: str = "Flush standard output after every line."
    log: str = ""
    read: str = "Read line by line, without a block-wise reader in front of it."
    program: str | None = None
    """A pattern for the interpreter's name."""
    sources: tuple[str, ...] = ()


def language(run: Sequence[str], files: Iterable[str] = ()) -> Language:
    """By the interpreter that runs it, else by the sources beside its program."""
    languages = msgspec.convert(table("languages"), dict[str, Language]).values()
    program = posixpath.basename(run[0]) if run else ""
    names = [*files]
    by_program = (s for s in languages if s.program and re.fullmatch(s.program, program))
    by_source = (s for s in languages for name in names if name.endswith(s.sources))
    return next(by_program, None) or next(by_source, Language())


def in_language(advice: str, run: Sequence[str], files: Iterable[str] = ()) -> str:
    """Fill {flush}, {log} and {read} in an advice."""
    spoken = language(run, files)
    for key in ("flush", "log", "read"):
        advice = advice.replace(f"{{{key}}}", getattr(spoken, key))
    return advice.strip()
