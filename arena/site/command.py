"""`arena publish` at work: flags in, lines for people out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click
import msgspec

from arena.executors.cores import fair_jobs
from arena.model import UserError
from arena.site.aliases import default_place, read_or_make
from arena.site.clearance import Clearing, known_again, site_key
from arena.site.folder import SiteFolder, failed, new_index
from arena.site.publish import Options, Outcome, publish, sources
from arena.site.words import english
from arena.terminal.notes import tell_long_read
from arena.terminal.screen import say

_EACH = 1_000
"""Matches between two lines of progress."""


def put(
    folders: Sequence[Path],
    *,
    site: Path,
    title: str | None,
    name: str | None,
    anonymous: bool,
    alias_key: Path | None,
    with_stderr: bool,
    with_host: bool,
    jobs: int | None,
) -> None:
    """Publish, and say what was."""
    if name is not None and len(folders) > 1:
        raise UserError("--name: for one folder; publish the others on their own")
    if alias_key is not None and not anonymous:
        raise UserError("--alias-key: goes with --anonymous")
    with closing(SiteFolder(site)) as target:
        tell_long_read(folders)
        found = sources(folders)
        index = target.index or new_index(title=title or "", anonymous=anonymous)
        if index.anonymous != anonymous:
            raise UserError(
                f"{site}: its names are aliases: add --anonymous, or publish to another folder"
                if index.anonymous
                else f"{site}: it has names in it already; an anonymous site needs a folder of "
                "its own"
            )
        key = b""
        if anonymous:
            key = site_key(read_or_make(alias_key or default_place(), site), index.id)
            if index.key not in ("", known_again(key)):
                raise UserError(
                    f"{site}: its aliases were made with another key; name its file: "
                    "--alias-key FILE"
                )
            index = msgspec.structs.replace(index, key=known_again(key))
        clearing = Clearing(key=key, stderr=with_stderr and not anonymous, host=with_host)
        if anonymous and (with_stderr or with_host):
            raise UserError("--with-stderr, --with-host: may hold names; not with --anonymous")
        try:
            target.begin(index)
        except OSError as error:
            raise failed(site, error) from None
        options = Options(clearing=clearing, title=title, name=name, jobs=jobs or fair_jobs())
        for outcome in publish(target, found, options, _Told()):
            _tell(outcome)
        click.echo(str(site / "index.html"))


def _tell(outcome: Outcome) -> None:
    say(
        f"{outcome.folder}: {outcome.matches:,} matches, {outcome.replays:,} to look at, "
        f"in e/{outcome.slug}"
    )
    for key in outcome.missing:
        say(f"{outcome.folder}: {english(key)}")
    for line in outcome.why.splitlines():
        say(line)


class _Told:
    """Progress on a terminal: a line now and then."""

    def __init__(self) -> None:
        self._next = _EACH

    def __call__(self, folder: Path, done: int, of: int) -> None:
        """So many matches are done."""
        if done >= self._next and sys.stderr.isatty():
            say(f"{folder}: {done:,} of {of:,} matches")
            self._next = done + _EACH
