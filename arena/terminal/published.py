"""Print the progress and the outcome of `arena publish`."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from arena.reports.escape import plain
from arena.site.publish import PublishedSummary
from arena.site.words import english
from arena.terminal.screen import echo_json, say

_EACH = 1_000


def outcome_lines(outcome: PublishedSummary) -> Iterator[str]:
    yield (
        f"{outcome.folder}: {outcome.matches:,} matches, {outcome.replays:,} to look at, "
        f"in e/{outcome.slug}"
    )
    for key in outcome.missing:
        yield f"{outcome.folder}: {english(key)}"
    yield from outcome.why.splitlines()


def print_aliases(outcomes: Iterable[PublishedSummary], *, as_json: bool) -> None:
    """Each bot once: an alias is the same in all events of a site."""
    for each in sorted({alias for outcome in outcomes for alias in outcome.aliases}):
        if as_json:
            echo_json(each._asdict())
        else:
            author = f"  {each.author_alias} = {plain(each.author)}" if each.author else ""
            click.echo(f"{each.alias} = {plain(each.bot)}{author}")


class PublishProgress:
    """A line now and then, on a terminal."""

    def __init__(self) -> None:
        self._next = _EACH

    def __call__(self, folder: Path, done: int, of: int) -> None:
        if done >= self._next and sys.stderr.isatty():
            say(f"{folder}: {done:,} of {of:,} matches")
            self._next = done + _EACH
