"""Choose matches that the bots play again, and compare the new records with the log.

The processes of a match had played the earlier matches of its series, so these are played again
too. Invariant: the choice is a function of the folder and the seed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from arena import registry
from arena.deals import Deals, with_beacon
from arena.games.observer import ObservedGame, ObservedMove
from arena.model import Event, MatchRecord, Series, sha256_hex
from arena.ratings.counts import CountedSeries
from arena.ratings.incremental import Counting
from arena.replay.moves import replay_moves
from arena.store import records_of_series
from arena.verify.findings import Difference, differs
from arena.verify.records import unlike


class SeriesRerun(msgspec.Struct, frozen=True, kw_only=True):
    """A series, played again up to its last chosen match."""

    series: Series
    records: Mapping[str, MatchRecord]
    """What was recorded, by match."""
    chosen: frozenset[str]


def choose(
    counting: Counting, folder: Path, event: Event, number: int, seed: str
) -> list[SeriesRerun]:
    """Draw so many of the matches that count, and the series that have to be played for them."""

    def drawn() -> Iterator[tuple[str, str, CountedSeries]]:
        for chosen in counting.chosen():
            for spec, _, _ in chosen.matches:
                yield sha256_hex(f"{seed}/{spec.id}".encode()), spec.id, chosen

    by_series: dict[str, tuple[CountedSeries, set[str]]] = {}
    for _, match, chosen in heapq.nsmallest(number, drawn(), key=lambda one: one[:2]):
        by_series.setdefault(chosen.series.id, (chosen, set()))[1].add(match)
    return [
        _again(folder, event, chosen, frozenset(matches))
        for _, (chosen, matches) in sorted(by_series.items())
    ]


def _again(
    folder: Path, event: Event, chosen: CountedSeries, matches: frozenset[str]
) -> SeriesRerun:
    series = chosen.series
    last = max(at for at, spec in enumerate(series.matches) if spec.id in matches)
    specs = series.matches[: last + 1]
    wanted = {spec.id for spec in specs}
    return SeriesRerun(
        series=Series(id=series.id, matches=specs),
        records={
            record.id: record
            for record in records_of_series(folder, series.id, event)
            if record.attempt == chosen.attempt and record.id in wanted
        },
        chosen=matches,
    )


def difference(
    event: Event, secret: bytes, recorded: MatchRecord, played: MatchRecord
) -> Difference | None:
    """How a match that was played again differs, and by which bot's move."""
    if recorded.digest == played.digest:
        return None
    found = unlike(played, recorded)
    if found.move:
        for record in (recorded, played):
            seat = _mover(event, secret, record, found.hole, found.move)
            if seat is not None and _failed(recorded) == _failed(played):
                who = recorded.seats[seat]
                return msgspec.structs.replace(found, what=f"played again, the move of {who}")
    return differs("played again, faults", _failed(recorded), _failed(played), match=recorded.id)


def _failed(record: MatchRecord) -> str:
    failed = [
        f"{record.seats[fault.seat]}: {fault.kind.value} on hole {fault.hole}"
        for fault in record.faults
    ]
    return "; ".join(failed) or "none"


def _mover(event: Event, secret: bytes, record: MatchRecord, hole: int, move: int) -> int | None:
    """The seat that made a move; None if the record has no such move."""
    seats: list[int] = []

    def moved(followed: ObservedGame, moved: ObservedMove) -> None:
        if (followed.holes, len(followed.moves)) == (hole, move):
            seats.append(moved.seat)

    replay_moves(
        record,
        game=ObservedGame(registry.game(event.settings.game), moved),
        deals=Deals(with_beacon(secret, event.beacon)),
        settings=event.settings,
    )
    return seats[0] if seats else None
