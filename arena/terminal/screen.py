"""Output to the terminal: its width, whether it has colour, and messages on stderr."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO

import click
import msgspec

from arena.event.commands import command_line, resume_line
from arena.reports.escape import json_line, plain

if TYPE_CHECKING:
    from arena.reports.cards import Style

# For commands, which import nothing beneath this room.
__all__ = ["command_line", "json_line", "plain", "resume_line"]


def columns() -> int:
    """The width of the terminal; 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def colour() -> bool:
    """Whether stdout is a terminal that wants colour (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def can_draw(*streams: TextIO) -> bool:
    """Whether these are a terminal whose cursor can be moved."""
    able = os.environ.get("TERM", "") not in ("", "dumb")
    return able and all(stream.isatty() for stream in streams)


def style(*, hidden: bool = False) -> Style:
    from arena.reports.cards import Style

    out = sys.stdout
    if isinstance(out, TextIOWrapper):
        out.reconfigure(errors="backslashreplace")  # a name may be in any script
    encoding = (out.encoding or "").lower().replace("-", "")
    painted = colour() and os.environ.get("TERM") != "dumb"
    return Style(lines=encoding == "utf8", colour=painted, hidden=hidden)


def picked(found: object, names: str) -> dict[str, Any]:
    return {name: getattr(found, name) for name in names.split()}


def echo_json(value: object) -> None:
    """Print a value as one line, with everything escaped that a terminal would obey."""
    click.echo(json_line(msgspec.json.encode(value)))


def show(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


def say(text: str) -> None:
    """Print a message on stderr, unless --quiet was given."""
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("quiet"):
        warn(text)


def warn(text: str) -> None:
    """Print a message on stderr, even with --quiet."""
    from arena.reports.escape import visible

    with contextlib.suppress(OSError):  # a terminal that has hung up ends nothing
        click.echo(visible(text), err=True)
