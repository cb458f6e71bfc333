"""Play matches of an event again by its bots and compare (`arena verify --rerun`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import trio

from arena.bots import default_cache, in_use, load, restore
from arena.engine.match import FinishedMatch
from arena.event.commands import command_line
from arena.event.results import count_folder
from arena.event.workshop import Workshop, context_of
from arena.executors import Report
from arena.executors.attempts import RETRIES
from arena.executors.local import LocalExecutor
from arena.machine import Notify
from arena.machine.facts import worker_config
from arena.model import Block, Entrant, Event, HostError, MatchRecord, Series, UserError
from arena.reports.escape import plain
from arena.store import read_private, secret_of
from arena.verify.findings import Difference
from arena.verify.rerun import SeriesRerun, choose, difference

_HASH_SHOWN = 12


class Rerun(msgspec.Struct, frozen=True, kw_only=True):
    seed: str
    matches: int
    """That were drawn."""
    played: int
    """With those that came before them in their series."""
    differences: tuple[Difference, ...]


def rerun(
    folder: Path,
    number: int,
    notify: Notify,
    *,
    seed: str,
    jobs: int,
    bots: Sequence[Path] = (),
    sandbox: str = "auto",
) -> Rerun:
    """Play some matches again. UserError if their bots can't be found as they were."""
    event, counting = count_folder(folder)
    secret = secret_of(folder, event)
    drawn = choose(counting, folder, event, number, seed)
    wanted = {entrant for again in drawn for entrant in again.series.entrants}
    entrants = [entrant for entrant in event.entrants if entrant.id in wanted]
    if people := [plain(entrant.id) for entrant in entrants if not entrant.hash]:
        raise UserError(f"{', '.join(people)}: a person, whose matches can't be played again")
    private = read_private(folder)
    cache = default_cache()
    with in_use(cache):
        sources = _sources(bots, event.entrants, cache, private.sources if private else {})
        roster = restore(
            [(entrant, sources.get(entrant.id, "")) for entrant in entrants],
            cache=cache,
            folder=folder,
        )
        settings = event.settings
        workshop = Workshop(
            settings.limits,
            notify,
            folder,
            sandbox=sandbox,
            seats=settings.seats,
            series=settings.series,
            way_out="they must be as they were; say where they are: "
            f"{command_line('verify', folder)} BOT... --rerun {number}",
        )
        ready, _ = workshop.enter(roster, settings.limits)
        workshop.start(context_of(settings, secret, ready, workshop.backend))
        config = worker_config(event, secret, ready, workshop.backend)
        executor = LocalExecutor(config, jobs=min(jobs, workshop.room), pin=True)
        played = trio.run(_play, executor, [again.series for again in drawn])
    return Rerun(
        seed=seed,
        matches=sum(len(again.chosen) for again in drawn),
        played=sum(map(len, played.values())),
        differences=tuple(_differences(event, secret, drawn, played)),
    )


def _sources(
    bots: Sequence[Path], entrants: Sequence[Entrant], cache: Path, known: Mapping[str, str]
) -> dict[str, str]:
    """Where each entrant is, by its content: the paths that were named, then those recorded."""
    sources, lines = dict(known), []
    roster = load(bots, cache=cache)
    for candidate in roster.candidates:
        mine = candidate.entrant
        same = [entrant for entrant in entrants if entrant.hash == mine.hash]
        sources |= {entrant.id: candidate.source for entrant in same}
        if not same:
            entered = [
                f"{plain(entrant.id)} was entered as {entrant.hash[:_HASH_SHOWN]}…"
                for entrant in entrants
                if entrant.name == mine.name
            ]
            named = ", ".join(entered) or "it was not entered under this name"
            lines.append(
                f"{plain(candidate.path)}: its content is no bot's of this event: {named}, "
                f"this is {mine.hash[:_HASH_SHOWN]}…"
            )
    if roster.problems or lines:
        raise UserError("\n".join([*map(str, roster.problems), *lines]))
    return sources


async def _play(
    executor: LocalExecutor, series: Sequence[Series]
) -> dict[str, dict[str, MatchRecord]]:
    """Every series by its id, match by match; one that the machine voids is played again."""
    played: dict[str, dict[str, MatchRecord]] = {}
    tries: dict[str, int] = {}

    def wanted(one: Series) -> int | None:
        return None if one.id in played else tries.get(one.id, 0)

    under_way: dict[str, dict[str, MatchRecord]] = {}

    def report(message: Report) -> None:
        if isinstance(message, FinishedMatch):
            under_way.setdefault(message.record.series, {})[message.record.id] = message.record
            return
        done = under_way.pop(message.series, {})
        if message.bug:
            raise RuntimeError(f"a worker failed in series {message.series}:\n{message.bug}")
        if not message.trouble:
            played[message.series] = done
            return
        tries[message.series] = tries.get(message.series, 0) + 1
        if tries[message.series] > RETRIES:
            raise HostError(
                f"series {message.series} was void {RETRIES + 1} times: {message.trouble}"
            )

    blocks = [Block(id=one.id, series=(one,)) for one in series]
    await executor.play(iter(blocks), choose=wanted, report=report, stop=trio.Event())
    return played


def _differences(
    event: Event,
    secret: bytes,
    drawn: Sequence[SeriesRerun],
    played: Mapping[str, Mapping[str, MatchRecord]],
) -> list[Difference]:
    """Of every match that was played again, in the order of series and matches."""
    found = []
    for again in drawn:
        for spec in again.series.matches:
            recorded = again.records.get(spec.id)
            mine = played[again.series.id].get(spec.id)
            if recorded is None or mine is None:
                continue  # void: a bot at its table had been withdrawn
            if unlike := difference(event, secret, recorded, mine):
                found.append(unlike)
    return found
