"""Print the verdict of `arena verify`, for people or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click
import msgspec

from arena import __version__
from arena.api.proof import Verification
from arena.model import DERIVATION, Event, UserError
from arena.reports.escape import json_line, plain
from arena.reports.layout import wrap
from arena.terminal.screen import say
from arena.verify.findings import LOG
from arena.verify.tables import OLDER
from arena.verify.whole import FolderVerdict

if TYPE_CHECKING:
    from arena.verify.rerun_bots import Rerun

VERSION = 1
"""Of what --json prints."""
DIFFERS = 5
WIDTH = 80
_LABEL = 14


def show_verification(found: Sequence[Verification], *, as_json: bool) -> int:
    """Print what came of verifying an event and its epochs; the exit code."""
    if as_json:
        click.echo(json_line(msgspec.json.encode(_all_as_json(found))))
    else:
        for each in found:
            _print_verdict(each)
    if any(each.verdict.difference for each in found):
        return DIFFERS
    for each in found:
        if not each.verdict.proven:
            raise UserError(
                f"{each.folder}: the secret has not been revealed yet, so the deals can't be "
                "verified, nor anything that follows from them; try again when the event is over"
            )
    return 0


def _print_verdict(found: Verification) -> None:
    folder, verdict, seconds, played = found.folder, found.verdict, found.seconds, found.rerun
    if verdict.difference is not None:
        _print_difference(folder, verdict, played)
        return
    for line in _lines(folder, verdict, seconds, played):
        click.echo(line)


class LogBar:
    """How much of a log is verified, on a terminal."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __call__(self, folder: Path, byte: int) -> None:
        if not sys.stderr.isatty():
            return
        if folder != self._folder:
            log = folder / LOG
            self._folder, self._size = folder, log.stat().st_size if log.is_file() else 0
        if self._size:
            click.echo(f"\r{100 * byte // self._size:3} % of the log\r", nl=False, err=True)

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            click.echo("\r" + " " * 20 + "\r", nl=False, err=True)


def _print_difference(folder: Path, verdict: FolderVerdict, played: Rerun | None) -> None:
    found = verdict.difference
    assert found is not None
    say(f"arena: {plain(str(folder))} is not as it should be:")
    for line in wrap(found.where, WIDTH - 2, indent=""):
        say(f"  {line}")
    for line in wrap(found.text, WIDTH - 4, indent=""):
        say(f"    {line}")
    if played is not None:
        say(
            f"  of {played.played} matches played again, {len(played.differences)} came out "
            f"otherwise; the same ones again: --rerun {played.matches} --seed {played.seed}"
        )
    if verdict.differing > 1:
        say(f"  lines of the log that differ: {verdict.differing:,}")


def _lines(
    folder: Path, verdict: FolderVerdict, seconds: float, played: Rerun | None
) -> Iterator[str]:
    event = verdict.event
    assert event is not None
    if verdict.proven and event.finished:
        yield f"verified: {plain(str(folder))}"
    elif verdict.proven:
        yield f"verified as far as it has been played: {plain(str(folder))}"
    else:
        yield f"checksums and digests are right: {plain(str(folder))}"
    for label, text in _facts(verdict, event, seconds, played):
        first, *rest = wrap(text, WIDTH - _LABEL - 2, indent="") or [""]
        yield f"  {label:{_LABEL}}{first}"
        for line in rest:
            yield f"  {'':{_LABEL}}{line}"


def _facts(
    verdict: FolderVerdict, event: Event, seconds: float, played: Rerun | None
) -> Iterator[tuple[str, str]]:
    settings = event.settings
    if not verdict.proven:
        yield "records", f"{verdict.records:,}"
        return
    extra = verdict.records - verdict.matches
    yield (
        "matches",
        f"{verdict.matches:,} that count, of {verdict.planned:,} planned"
        + (f" for shard {event.shard}" if event.shard else "")
        + (f"; {extra:,} more records" if extra else ""),
    )
    yield "moves", f"{verdict.moves:,}, played again by the rules of {settings.game}"
    deals = "all from the secret"
    if settings.beacon:
        deals += f" and the beacon {plain(event.beacon)} (look it up: {plain(settings.beacon)})"
    if event.predictable:
        deals += "; predictable: anyone who knew the seed knew the deals"
    yield "deals", deals
    yield "commitment", event.commitment + (" as published" if verdict.published else "")
    if event.finished:
        text = ", ".join(verdict.tables) or "none"
        yield (
            "tables",
            text + (f"; not there: {', '.join(verdict.absent)}" if verdict.absent else ""),
        )
    if verdict.tables and (older := OLDER.get(settings.rule)):
        true = f"the tables were derived by rule {settings.rule}, and are true to it: {older}; "
        yield "older rule", true + f"`arena table` shows those of rule {DERIVATION}"
    if verdict.torn:
        yield "torn", "the last line has no end, as a killed writer leaves it"
    if verdict.not_reproducible:
        bots = ", ".join(plain(entrant) for entrant in verdict.not_reproducible)
        yield "unlike", f"played otherwise when a series was played again: {bots}"
    rate = verdict.records / seconds if seconds else 0.0
    by = "1 process" if verdict.processes == 1 else f"{verdict.processes} processes"
    yield "rate", f"{rate:,.0f} matches a second, by {by}"
    if played is not None:
        text = (
            f"{played.matches} matches drawn by the seed {plain(played.seed)}, and "
            f"{played.played - played.matches} before them in their series: as recorded"
        )
        yield "played again", text
    yield "not proven", "; ".join(_unproven(verdict, played))


def _unproven(verdict: FolderVerdict, played: Rerun | None) -> Iterator[str]:
    """What no folder can prove, or this one does not."""
    if played is None:
        yield "that the bots made these moves (--rerun N)"
    yield "faults, times, order of play, sandbox, machine and who could not run: the host's word"
    if verdict.event is not None and verdict.event.settings.rule == 1:
        yield "whether the secret came from a seed, and what an arena doesn't read in a line"
    if not verdict.published:
        yield "that this is the commitment published before the event (--commitment HEX)"


def _all_as_json(found: Sequence[Verification]) -> dict[str, Any]:
    """The event's verdict, with those on its epochs; it is verified if all are."""
    first, *epochs = (
        _as_json(each.verdict, each.seconds, each.rerun) | {"folder": str(each.folder)}
        for each in found
    )
    del first["folder"]
    verified = first["verified"] and all(epoch["verified"] for epoch in epochs)
    return {**first, "verified": verified, "epochs": epochs}


def _as_json(verdict: FolderVerdict, seconds: float, played: Rerun | None) -> dict[str, Any]:
    return {
        "v": VERSION,
        "verified": verdict.difference is None and verdict.proven,
        "arena": __version__,
        **msgspec.to_builtins(
            {name: getattr(verdict, name) for name in verdict.__struct_fields__ if name != "event"}
        ),
        "commitment": verdict.event.commitment if verdict.event else None,
        "rule": verdict.event.settings.rule if verdict.event else None,
        "finished": verdict.event.finished if verdict.event else None,
        "seconds": round(seconds, 3),
        "rerun": msgspec.to_builtins(played),
    }
