"""Summarize match records for the ratings, and keep the summaries of a whole log in memory.

Records come in the order in which matches ended; which of them count is known only in the order of
the schedule. So the archive keeps the 80 bytes of every match that the ratings need.

Invariant: the order of `add` calls changes the order in which `Archive.of` yields, nothing else.
"""

import zlib
from collections.abc import Iterable

import msgspec

from arena.model import MatchRecord, SeatUse

HOLES = 9
# Enough of a digest to tell two attempts at a match apart: 64 bits, and no bot gains by a clash.
DIGEST_HEX = 16


class Forfeit(msgspec.Struct, frozen=True, array_like=True):
    seat: int
    hole: int
    turn: int
    kind: str


class MatchSummary(msgspec.Struct, frozen=True, array_like=True):
    """Summary of one match for ratings and tables; tuples are by seat."""

    id: str
    attempt: int
    digest: str
    totals: tuple[int, ...]
    places: tuple[int, ...]
    strokes: tuple[int, ...]  # over the holes that the seat's own bot finished, not its fallback
    holes: tuple[int, ...]
    decisions: tuple[int, ...]
    think_us: tuple[int, ...]
    """Whole microseconds, so that sums don't depend on the order of adding."""
    off_turn_us: tuple[int, ...]
    forfeits: tuple[Forfeit, ...] = ()
    luck: tuple[int, ...] = ()  # thousandths of strokes; empty without an evaluator


def summarize(record: MatchRecord) -> MatchSummary:
    seats = range(len(record.seats))
    whole = {fault.seat: max(0, fault.hole - 1) for fault in reversed(record.faults)}
    scores = [hole.scores for hole in record.holes[:HOLES]]
    own = [[hole[seat] for hole in scores[: whole.get(seat, HOLES)] if hole] for seat in seats]
    uses = record.use or (SeatUse(),) * len(seats)
    return MatchSummary(
        id=record.id,
        attempt=record.attempt,
        digest=record.digest[:DIGEST_HEX],
        totals=record.totals,
        places=record.places,
        strokes=tuple(map(sum, own)),
        holes=tuple(map(len, own)),
        decisions=tuple(use.decisions for use in uses),
        think_us=tuple(round(use.think_ms * 1000) for use in uses),
        off_turn_us=tuple(round(use.off_turn_ms * 1000) for use in uses),
        forfeits=tuple(Forfeit(f.seat, f.hole, f.turn, f.kind.value) for f in record.faults),
        luck=record.luck,
    )


_pack = msgspec.msgpack.Encoder().encode


def pack_summary(record: MatchRecord) -> bytes:
    return _pack(summarize(record))


class Archive:
    """Packed summaries by series: *open*, or sealed, then compressed to 35 bytes a match of two."""

    def __init__(self) -> None:
        self._open: dict[str, list[bytes]] = {}
        self._sealed: dict[str, bytes] = {}
        self._unpack = msgspec.msgpack.Decoder(MatchSummary).decode
        self._unpack_all = msgspec.msgpack.Decoder(list[MatchSummary]).decode

    def add(self, series: str, playing: bytes) -> None:
        if series in self._sealed:
            self._reopen(series)
        self._open.setdefault(series, []).append(playing)

    def of(self, series: str) -> Iterable[MatchSummary]:
        if sealed := self._sealed.get(series):
            return self._unpack_all(zlib.decompress(sealed))
        return map(self._unpack, self._open.get(series, ()))

    def seal(self, series: str) -> None:
        """Compress a series of which no more is expected."""
        together = _pack(list(map(msgspec.Raw, self._open.pop(series, ()))))
        self._sealed[series] = zlib.compress(together, 1)

    def sealed(self, series: str) -> bool:
        return series in self._sealed

    def reopen(self) -> None:
        for series in list(self._sealed):
            self._reopen(series)

    def _reopen(self, series: str) -> None:
        if playings := list(map(_pack, self.of(series))):
            self._open[series] = playings
        del self._sealed[series]

    @property
    def open(self) -> set[str]:
        """The ids of the series that have records and are not sealed; a copy."""
        return set(self._open)

    @property
    def series(self) -> set[str]:
        """The ids of the series that have records or are sealed; a copy."""
        return self.open.union(self._sealed)
