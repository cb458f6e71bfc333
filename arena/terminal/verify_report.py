"""The verdict of `arena verify`, for people and for programs."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import click
import msgspec

from arena import __version__
from arena.event.epochs import epochs_of
from arena.model import DERIVATION, Event, Frozen, UserError
from arena.reports.escape import json_line, plain
from arena.reports.layout import wrap
from arena.terminal.screen import say
from arena.verify.findings import LOG
from arena.verify.tables import OLDER
from arena.verify.whole import FolderVerdict, verify, verify_epoch

if TYPE_CHECKING:
    from arena.verify.rerun_bots import Rerun

VERSION = 1
"""Of what --json prints."""
DIFFERS = 5
WIDTH = 80
_LABEL = 14


class Rerunning(Frozen, frozen=True, kw_only=True):
    """What is to be played again."""

    matches: int
    seed: str | None
    bots: tuple[Path, ...]
    sandbox: str


class _Judged(NamedTuple):
    """A folder, and what was found."""

    folder: Path
    verdict: FolderVerdict
    seconds: float
    played: Rerun | None


def verify_folder(
    folder: Path,
    *,
    commitment: str | None,
    jobs: int | None,
    as_json: bool,
    rerunning: Rerunning | None = None,
) -> int:
    """`arena verify`; its exit code."""
    jobs = jobs or cores()
    began = time.monotonic()
    with _Bar(folder) as bar:
        verdict = verify(folder, jobs=jobs, commitment=commitment, progress=bar.at)
    seconds = time.monotonic() - began
    played: Rerun | None = None
    if rerunning is not None and verdict.proven and verdict.difference is None:
        played = _rerun(folder, rerunning, jobs)
        verdict = msgspec.structs.replace(verdict, difference=next(iter(played.differences), None))
    judged = [_Judged(folder, verdict, seconds, played), *_epochs(folder, verdict, jobs)]
    if as_json:
        click.echo(json_line(msgspec.json.encode(_all_as_json(judged))))
    else:
        for each in judged:
            _tell(each)
    if any(each.verdict.difference for each in judged):
        return DIFFERS
    for each in judged:
        if not each.verdict.proven:
            raise UserError(
                f"{each.folder}: the secret has not been revealed yet, so the deals can't be "
                "verified, nor anything that follows from them; try again when the event is over"
            )
    return 0


def _epochs(folder: Path, verdict: FolderVerdict, jobs: int) -> Iterator[_Judged]:
    """What is to be said of an event's epochs, if the event can be believed."""
    before = [verdict.event] if verdict.event is not None else []
    # Who was withdrawn follows from a log that is true.
    withdrawn = None if verdict.difference else set(verdict.withdrawn)
    for path in epochs_of(folder) if before else ():
        began = time.monotonic()
        with _Bar(path) as bar:
            verdict = verify_epoch(path, before, withdrawn, jobs=jobs, progress=bar.at)
        yield _Judged(path, verdict, time.monotonic() - began, None)
        if verdict.event is None:
            return
        before.append(verdict.event)
        withdrawn = None if withdrawn is None or verdict.difference else withdrawn
        if withdrawn is not None:
            withdrawn.update(verdict.withdrawn)


def _tell(judged: _Judged) -> None:
    """A verdict, for people."""
    folder, verdict, seconds, played = judged
    if verdict.difference is not None:
        _tell_difference(folder, verdict, played)
        return
    for line in _lines(folder, verdict, seconds, played):
        click.echo(line)


def _rerun(folder: Path, asked: Rerunning, jobs: int) -> Rerun:
    """Have the bots play."""
    from arena.verify.rerun_bots import rerun

    return rerun(
        folder,
        asked.matches,
        say,
        seed=secrets.token_hex(4) if asked.seed is None else asked.seed,
        bots=asked.bots,
        sandbox=asked.sandbox,
        jobs=jobs,
    )


def cores() -> int:
    """How many processes there is room for; on any system."""
    if sys.platform != "linux":
        return os.cpu_count() or 1
    from arena.executors.cores import fair_jobs

    return fair_jobs()


class _Bar:
    """The percentage that is verified, on a terminal."""

    def __init__(self, folder: Path) -> None:
        log = folder / LOG
        self._size = log.stat().st_size if log.is_file() else 0
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def at(self, byte: int) -> None:
        if self._shown and self._size:
            click.echo(f"\r{100 * byte // self._size:3} % of the log\r", nl=False, err=True)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r" + " " * 20 + "\r", nl=False, err=True)


def _tell_difference(folder: Path, verdict: FolderVerdict, played: Rerun | None) -> None:
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
        told = f"the tables were derived by rule {settings.rule}, and are true to it: {older}; "
        yield "older rule", told + f"`arena table` shows those of rule {DERIVATION}"
    if verdict.torn:
        yield "torn", "the last line has no end, as a killed writer leaves it"
    if verdict.not_reproducible:
        bots = ", ".join(plain(entrant) for entrant in verdict.not_reproducible)
        yield "unlike", f"played otherwise when a series was played again: {bots}"
    rate = verdict.records / seconds if seconds else 0.0
    by = "1 process" if verdict.processes == 1 else f"{verdict.processes} processes"
    yield "rate", f"{rate:,.0f} matches a second, by {by}"
    if played is not None:
        told = (
            f"{played.matches} matches drawn by the seed {plain(played.seed)}, and "
            f"{played.played - played.matches} before them in their series: as recorded"
        )
        yield "played again", told
    yield "not proven", "; ".join(_unproven(verdict, played))


def _unproven(verdict: FolderVerdict, played: Rerun | None) -> Iterator[str]:
    """What no folder can prove, or this one has not."""
    if played is None:
        yield "that the bots made these moves (--rerun N)"
    yield "faults, times, order of play, sandbox, machine and who could not run: the host's word"
    if verdict.event is not None and verdict.event.settings.rule == 1:
        yield "whether the secret came from a seed, and what an arena doesn't read in a line"
    if not verdict.published:
        yield "that this is the commitment published before the event (--commitment HEX)"


def _all_as_json(judged: Sequence[_Judged]) -> dict[str, Any]:
    """The event's verdict, with those on its epochs; it is verified if all are."""
    first, *epochs = (
        _as_json(each.verdict, each.seconds, each.played) | {"folder": str(each.folder)}
        for each in judged
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
