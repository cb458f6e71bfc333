"""Print the verdict of `arena verify`, for people or as JSON."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from arena import __version__
from arena.api.proof import Verification
from arena.model import DERIVATION, Event, UserError
from arena.reports.escape import plain
from arena.reports.layout import wrap
from arena.terminal.screen import echo_json, say
from arena.verify.findings import LOG
from arena.verify.whole import OLDER

VERSION = 1  # of what --json prints
DIFFERS = 5
WIDTH = 80
_LABEL = 14


def show_verification(found: Sequence[Verification], *, as_json: bool) -> int:
    """Print what came of verifying an event and its epochs; the exit code."""
    if as_json:
        echo_json(_all_as_json(found))
    else:
        for each in found:
            for line in _lines(each):
                (say if each.verdict.difference else click.echo)(line)
    if any(each.verdict.difference for each in found):
        return DIFFERS
    for each in found:
        if not each.verdict.proven:
            raise UserError(
                f"{each.folder}: the secret has not been revealed yet, so the deals can't be "
                "verified, nor anything that follows from them; try again when the event is over"
            )
    return 0


@contextmanager
def log_bar() -> Iterator[Callable[[Path, int], None]]:
    """How much of a log is verified, on a terminal."""
    sizes: dict[Path, int] = {}

    def show(folder: Path, byte: int) -> None:
        if not sys.stderr.isatty():
            return
        if folder not in sizes:
            log = folder / LOG
            sizes[folder] = log.stat().st_size if log.is_file() else 0
        if size := sizes[folder]:
            click.echo(f"\r{100 * byte // size:3} % of the log\r", nl=False, err=True)

    try:
        yield show
    finally:
        if sizes:
            click.echo("\r" + " " * 20 + "\r", nl=False, err=True)


def _lines(found: Verification) -> Iterator[str]:
    folder, verdict, again = plain(str(found.folder)), found.verdict, found.rerun
    if (difference := verdict.difference) is not None:
        yield f"arena: {folder} is not as it should be:"
        yield from (f"  {line}" for line in wrap(difference.where, WIDTH - 2, indent=""))
        yield from (f"    {line}" for line in wrap(difference.text, WIDTH - 4, indent=""))
        if again is not None:
            yield (
                f"  of {again.played} matches played again, {len(again.differences)} came out "
                f"otherwise; the same ones again: --rerun {again.matches} --seed {again.seed}"
            )
        if verdict.differing > 1:
            yield f"  lines of the log that differ: {verdict.differing:,}"
        return
    event = verdict.event
    assert event is not None
    if verdict.proven and event.finished:
        yield f"verified: {folder}"
    elif verdict.proven:
        yield f"verified as far as it has been played: {folder}"
    else:
        yield f"checksums and digests are right: {folder}"
    for label, text in _facts(found, event):
        first, *rest = wrap(text, WIDTH - _LABEL - 2, indent="") or [""]
        yield f"  {label:{_LABEL}}{first}"
        for line in rest:
            yield f"  {'':{_LABEL}}{line}"


def _facts(found: Verification, event: Event) -> Iterator[tuple[str, str]]:
    verdict, seconds, again, settings = found.verdict, found.seconds, found.rerun, event.settings
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
        absent = f"; not there: {', '.join(verdict.absent)}" if verdict.absent else ""
        yield "tables", (", ".join(verdict.tables) or "none") + absent
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
    if again is not None:
        drawn = f"{again.matches} matches drawn by the seed {plain(again.seed)}"
        before = f"{again.played - again.matches} before them in their series: as recorded"
        yield "played again", f"{drawn}, and {before}"
    yield "not proven", "; ".join(_unproven(found, settings.rule))


def _unproven(found: Verification, rule: int) -> Iterator[str]:
    """What no folder can prove, or this one does not."""
    if found.rerun is None:
        yield "that the bots made these moves (--rerun N)"
    yield "faults, times, order of play, sandbox, machine and who could not run: the host's word"
    if rule == 1:
        yield "whether the secret came from a seed, and what an arena doesn't read in a line"
    if not found.verdict.published:
        yield "that this is the commitment published before the event (--commitment HEX)"


def _all_as_json(found: Sequence[Verification]) -> dict[str, Any]:
    """The event's verdict, with those on its epochs; it is verified if all are."""
    first, *epochs = (_as_json(each) | {"folder": str(each.folder)} for each in found)
    del first["folder"]
    verified = first["verified"] and all(epoch["verified"] for epoch in epochs)
    return {**first, "verified": verified, "epochs": epochs}


def _as_json(found: Verification) -> dict[str, Any]:
    verdict = msgspec.structs.asdict(found.verdict)
    event = verdict.pop("event")
    return {
        "v": VERSION,
        "verified": found.verified,
        "arena": __version__,
        **verdict,
        "commitment": event.commitment if event else None,
        "rule": event.settings.rule if event else None,
        "finished": event.finished if event else None,
        "seconds": round(found.seconds, 3),
        "rerun": found.rerun,
    }
