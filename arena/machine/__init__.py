"""The machine that plays: its facts, its limits, and what `arena doctor` finds."""

from collections.abc import Callable

Notify = Callable[[str], None]  # takes a line for people: of a display, a log, or `print`


def ignore_notes(_: str) -> None:
    """Drop a line: a `Notify` for callers that want none."""
