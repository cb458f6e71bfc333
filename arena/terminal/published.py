"""Print the progress and the outcome of `arena publish`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from arena.site.publish import PublishedSummary
from arena.site.words import english
from arena.terminal.screen import say

_EACH = 1_000


def outcome_lines(outcome: PublishedSummary) -> Iterator[str]:
    yield (
        f"{outcome.folder}: {outcome.matches:,} matches, {outcome.replays:,} to look at, "
        f"in e/{outcome.slug}"
    )
    for key in outcome.missing:
        yield f"{outcome.folder}: {english(key)}"
    yield from outcome.why.splitlines()


class PublishProgress:
    """A line now and then, on a terminal."""

    def __init__(self) -> None:
        self._next = _EACH

    def __call__(self, folder: Path, done: int, of: int) -> None:
        if done >= self._next and sys.stderr.isatty():
            say(f"{folder}: {done:,} of {of:,} matches")
            self._next = done + _EACH
