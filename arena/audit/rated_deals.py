"""Group records, in the order of their ids, into rated deals.

Invariant: a *whole* one has all rotations, each a turn of the others' seats, with no fault in any.
Only these are compared, so that a fault is never taken for skill.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from arena.model import HoleRecord, MatchRecord, block_of, match_id
from arena.ratings.outcomes import THOUSANDTHS
from arena.referee import HOLES


class RatedDeal(msgspec.Struct, frozen=True):
    """The counted records of one deal in its rotations."""

    pairing: str
    deal: int
    records: tuple[MatchRecord, ...]
    whole: bool

    @property
    def circle(self) -> tuple[str, ...]:
        return self.records[0].seats

    def sums(self, by_seat: Callable[[MatchRecord], Sequence[int]]) -> dict[str, int]:
        """The sum of a number over all rotations, by entrant, in the order of ids."""
        sums = dict.fromkeys(sorted(self.circle), 0)
        for record in self.records:
            for entrant, value in zip(record.seats, by_seat(record), strict=True):
                sums[entrant] += value
        return sums

    def strokes(self) -> dict[str, int]:
        """Thousandths above the table's mean, times seats, by entrant in the order of ids."""
        sums = self.sums(strokes)
        return dict(zip(sums, centred(list(sums.values())), strict=True))

    @property
    def block(self) -> str:
        """The block whose processes played it."""
        return block_of(self.records[0].series)


def rated_deals(records: Iterable[MatchRecord]) -> Iterator[RatedDeal]:
    """The records must come in the order of their ids."""
    for (pairing, deal), some in groupby(records, lambda record: (record.pairing, record.deal)):
        together = tuple(some)
        yield RatedDeal(pairing, deal, together, _whole(together))


def _whole(records: tuple[MatchRecord, ...]) -> bool:
    circle = records[0].seats
    return len(records) == len(circle) and all(
        record.id == match_id(record.pairing, record.deal, rotation)
        and record.rotation == rotation
        and record.seats == circle[rotation:] + circle[:rotation]
        and not record.faults
        for rotation, record in enumerate(records)
    )


def strokes(record: MatchRecord) -> list[int]:
    """Thousandths by seat, less luck where the log has it: that shows sooner what a bot did."""
    luck = record.luck if len(record.luck) == len(record.seats) else (0,) * len(record.seats)
    return [THOUSANDTHS * total - chance for total, chance in zip(record.totals, luck, strict=True)]


def centred(values: Sequence[int]) -> list[int]:
    """Each less the mean of all, times their number."""
    whole = sum(values)
    return [len(values) * one - whole for one in values]


def full_holes(record: MatchRecord) -> Iterator[HoleRecord]:
    """The holes of a match that all seats have played to the end, a playoff left out."""
    everybody = set(range(len(record.seats)))
    for hole in record.holes[:HOLES]:
        if hole.scores and set(hole.order) == everybody and len(hole.order) == len(everybody):
            yield hole
