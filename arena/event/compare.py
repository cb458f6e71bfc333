"""Comparing two bots: an event of the two, whose format ends it when the answer is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from arena.bots import Candidate, Roster, default_cache, in_use, load, printable
from arena.event.cluster import Where
from arena.event.enter import settings_of
from arena.event.prepare import entered, play_new
from arena.formats.trial import CHUNK, FORFEITS, SKEW
from arena.live.event import Live, opened
from arena.machine.preflight import SETTINGS, keep_promises
from arena.model import Entrant, Trial, UserError
from arena.reports.escape import plain
from arena.store import claim_folder
from arena.terminal.progress import JsonLines, Progress, progress

SAME = 8
"""The exit code where both bots have the same content."""


def compare_bots(
    *,
    old: Path,
    new: Path,
    effect: float,
    alpha: float,
    beta: float,
    budget: int,
    seed: str | None,
    out: Path | None,
    sandbox: str,
    jobs: int | None,
    no_pin: bool,
    max_time: int | None,
    as_json: bool,
    quiet: bool,
    beacon: str | None,
    live: Live | None,
    where: Where | None,
    **flags: Any,  # noqa: ANN401 - the settings' own flags
) -> int:
    """`arena compare`; its exit code."""
    if beacon is not None:
        raise UserError("--beacon goes with a prepared folder; leave it out")
    cache = default_cache()
    with claim_folder(out) as folder, in_use(cache), opened(live) as page:
        roster, contender = _both(old, new, cache)
        settings = settings_of(
            seats=2,
            tables=None,
            deals=CHUNK,
            series=CHUNK,
            fresh="series",
            playoff=False,
            no_same_author=False,
            trial=Trial(
                new=contender,
                effect=effect,
                alpha=alpha,
                beta=beta,
                budget=budget,
                forfeits=FORFEITS,
                skew=SKEW,
            ),
            **flags,
        )
        watcher = progress(settings.rating, as_json=as_json, quiet=quiet)
        if (same := _same(roster, watcher)) is not None:
            return same
        room = keep_promises(
            settings.limits, seats=2, series=settings.series, jobs=jobs, flags=SETTINGS
        )
        entry = entered(
            roster,
            settings,
            cache,
            folder=folder,
            seed=seed,
            sandbox=sandbox,
            skip_broken=False,
            room=2 * room,
            way_out="a comparison needs both",
        )
        return play_new(
            entry,
            folder,
            cache,
            watcher,
            jobs=jobs,
            no_pin=no_pin,
            max_time=max_time,
            room=room,
            page=page,
            sandbox=sandbox,
            where=where,
        )


def _both(old: Path, new: Path, cache: Path) -> tuple[Roster, str]:
    """The two bots, with ids that tell them apart; and the new one's."""
    rosters = [load([path], cache=cache) for path in (old, new)]
    candidates: list[Candidate] = []
    for path, roster in zip((old, new), rosters, strict=True):
        if len(roster.candidates) > 1:
            raise UserError(f"{printable(path)} holds several bots; name one of them")
        candidates += roster.candidates
    if len(candidates) == len(rosters):
        before, after = (candidate.entrant for candidate in candidates)
        if before.id == after.id:
            candidates = [
                msgspec.structs.replace(candidate, entrant=_named(candidate.entrant, suffix))
                for candidate, suffix in zip(candidates, ("old", "new"), strict=True)
            ]
    joined = Roster(
        candidates=tuple(candidates),
        notes=tuple(note for roster in rosters for note in roster.notes),
        problems=tuple(problem for roster in rosters for problem in roster.problems),
        skipped=tuple(left_out for roster in rosters for left_out in roster.skipped),
    )
    return joined, candidates[-1].entrant.id if candidates else ""


def _same(roster: Roster, watcher: Progress) -> int | None:
    """The exit code if both have the same content: what is the same can't be better, and matches
    would show it only by chance.
    """
    if roster.problems or len(roster.candidates) < len({"old", "new"}):
        return None
    old, new = (candidate.entrant for candidate in roster.candidates)
    if old.hash != new.hash:
        return None
    if isinstance(watcher, JsonLines):
        watcher.say("same", old=old.id, new=new.id, hash=new.hash)
    else:
        click.echo(f"{plain(new.id)} against {plain(old.id)}: the same content, nothing played")
    return SAME


def _named(entrant: Entrant, suffix: str) -> Entrant:
    """Of two with one name and version."""
    version = f"{entrant.version}-{suffix}"
    return msgspec.structs.replace(entrant, version=version, id=f"{entrant.name}@{version}")
