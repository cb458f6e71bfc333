"""A small laboratory: schedules, records and events made by hand, without playing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import pytest

from arena.model import (
    Block,
    Entrant,
    Event,
    Fault,
    FaultKind,
    HoleRecord,
    MatchRecord,
    MatchSpec,
    SeatUse,
    Series,
    Settings,
    match_id,
    pairing_id,
    sha256_hex,
)
from arena.ratings.incremental import Counting
from arena.ratings.standings import table
from arena.schedule import at_once, wave_of
from tests.records import match_record


class Lab:
    """What the tests of counting and rating are made from."""

    def schedule(
        self, tables: Iterable[Sequence[str]], *, deals: int, series: int = 25
    ) -> list[Block]:
        """Blocks for tables in the order in which they are given."""
        tables = list(tables)
        blocks = []
        for first in range(0, deals, series):
            chunk = range(first, min(first + series, deals))
            blocks += [self._block(tuple(entrants), chunk) for entrants in tables]
        return blocks

    def _block(self, entrants: tuple[str, ...], deals: range) -> Block:
        pairing = pairing_id(entrants)
        name = f"{pairing}-{deals.start}"
        seats = len(entrants)
        return Block(
            id=name,
            series=tuple(
                Series(
                    id=f"{name}-s{rotation}",
                    matches=tuple(
                        MatchSpec(
                            id=match_id(pairing, deal, rotation),
                            series=f"{name}-s{rotation}",
                            pairing=pairing,
                            deal=deal,
                            rotation=rotation,
                            seats=tuple(entrants[(s + rotation) % seats] for s in range(seats)),
                        )
                        for deal in deals
                    ),
                )
                for rotation in range(seats)
            ),
        )

    def round_robin(self, names: Sequence[str], *, seats: int = 2, deals: int = 1) -> list[Block]:
        """Every table of the field."""
        return self.schedule(itertools.combinations(names, seats), deals=deals)

    def specs(self, blocks: Iterable[Block]) -> Iterator[MatchSpec]:
        """All specs in their order."""
        return (spec for block in blocks for series in block.series for spec in series.matches)

    def record(
        self,
        spec: MatchSpec,
        totals: dict[str, int] | None = None,
        *,
        fell: dict[str, tuple[int, int]] | None = None,
        kind: FaultKind = FaultKind.CRASH,
        places: Sequence[int] | None = None,
        attempt: int = 0,
        ms: float = 2.0,
        off_turn_ms: float = 0.0,
    ) -> MatchRecord:
        """A record: totals by entrant (90 unless told), faults as entrant -> (hole, turn)."""
        by_seat = [(totals or {}).get(entrant, 90) for entrant in spec.seats]
        fell = fell or {}
        finished = 9
        if fell and len(spec.seats) - len(fell) < 2:
            finished = max(0, max(hole for hole, _ in fell.values()) - 1)
        shares = [[total // 9 + (number < total % 9) for number in range(9)] for total in by_seat]
        holes = tuple(
            HoleRecord(
                order=tuple(range(len(by_seat))),
                moves="",
                scores=tuple(share[number] for share in shares),
            )
            for number in range(finished)
        )
        record = match_record(
            spec,
            deck="deck",
            holes=holes,
            totals=tuple(sum(share[:finished]) for share in shares),
            places=tuple(places)
            if places
            else tuple(1 + sum(o < t for o in by_seat) for t in by_seat),
            faults=tuple(
                Fault(kind=kind, seat=spec.seats.index(entrant), hole=hole, turn=turn, message="it")
                for entrant, (hole, turn) in fell.items()
            ),
            attempt=attempt,
            use=tuple(
                SeatUse(decisions=10, think_ms=10 * ms, max_ms=ms, off_turn_ms=off_turn_ms)
                for _ in by_seat
            ),
        )
        return _with_digest(record)

    def event(self, names: Sequence[str], **changes: object) -> Event:
        """An event that is over."""
        settings = Settings(game="play-nine", **changes)
        return Event(
            settings=settings,
            entrants=tuple(
                Entrant(id=n, name=n, version="1", author="somebody", hash=sha256_hex(n.encode()))
                for n in names
            ),
            commitment=sha256_hex(b"commitment"),
            secret=sha256_hex(b"secret"),
            sandbox="bwrap",
            finished=True,
        )

    def count(self, blocks: Sequence[Block], records: Iterable[MatchRecord]) -> Counting:
        """Everything fed."""
        counting = Counting(at_once(wave_of(lambda: blocks)), Settings(game="play-nine"))
        for record in records:
            counting.add(record)
        return counting

    def wanted(self, counting: Counting) -> list[tuple[str, int]]:
        """What is to be played, and the numbers of the attempts."""
        return [
            (series.id, attempt)
            for block in counting.ahead()
            for series in block.series
            if (attempt := counting.wanted(series)) is not None
        ]

    def table(self, blocks, records, names, **changes):
        """The table of an event that is over."""
        return table(self.event(names, **changes), self.count(blocks, records).counted())


def _with_digest(record: MatchRecord) -> MatchRecord:
    import msgspec

    return msgspec.structs.replace(record, digest=record.computed_digest())


@pytest.fixture
def lab() -> Lab:
    """The laboratory."""
    return Lab()


@pytest.fixture(scope="session")
def shared_lab() -> Lab:
    """The laboratory, for hypothesis, which wants fixtures that outlive an example."""
    return Lab()
