"""Output to the terminal: its width, whether it has colour, and messages on stderr."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys

import click

from arena.event.commands import command_line, resume_line
from arena.reports.escape import json_line, plain

__all__ = [
    "colour",
    "columns",
    "command_line",
    "json_line",
    "plain",
    "resume_line",
    "say",
    "warn",
]


def columns() -> int:
    """The width of the terminal; 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def colour() -> bool:
    """Whether stdout is a terminal that wants colour (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


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
