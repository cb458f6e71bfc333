"""The interface between formats and counts: waves of matches, and the results they follow from.

An event is played in waves. A format decides a wave when all matches of the waves before it have
been counted, from their results. So the decision does not depend on the order in which they were
played, and can be made again from the log.

Invariant: pure; a wave is a function of the event and of the counted matches before it.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from arena.model import Block, TrialVerdict

_MOST_TIMES = 2.0**30
_HALVINGS = 20


class Lead(NamedTuple):
    strokes: float  # a match; by what the event rates on
    error: float  # its standard error
    skew: float = 0.0  # skewness of the estimate, where the event rates on strokes less luck


class Forfeits(NamedTuple):
    """Results of two entrants against each other, with forfeits apart from strokes."""

    matches: int
    one: int  # of these, matches that the first alone forfeited
    two: int  # that the second alone forfeited
    lead: Lead  # of the first, in matches without a forfeit; its error is infinite if there is none


class WaveResults(Protocol):
    """Results of the waves so far."""

    @property
    def withdrawn(self) -> Collection[str]:
        """Entrants that play no more."""

    def order(self) -> Sequence[str]:
        """All entrants, the best first."""

    def lead(self, one: str, two: str) -> Lead:
        """The lead of the first over the second; negative if it is behind."""

    def separation(self, pairs: int, error: float) -> float:
        """How many standard errors tell so many pairs apart, at a lead with this error."""

    def forfeits(self, one: str, two: str) -> Forfeits:
        """Only of an event that rates on strokes less luck."""


class Wave(msgspec.Struct, frozen=True, kw_only=True):
    """Matches that are decided together."""

    blocks: Callable[[], Iterable[Block]]  # from the first, each time it is called
    matches: int
    by_entrant: Mapping[str, int]
    deals: Mapping[str, range] = {}  # by pairing, those of the wave, if the format needs them
    more: int = 0  # matches that are likely to come after it
    note: str = ""  # what is still open, for people


class ScheduleEnd(msgspec.Struct, frozen=True):
    """Nothing more is to be played."""

    note: str = ""
    """Why, for people; empty where it was known from the beginning. Published tables have it, so
    rewording one makes old events differ from their tables."""
    verdict: TrialVerdict | None = None  # what has been shown, if something was to be


Schedule = Callable[[Sequence[Wave], WaveResults], Wave | ScheduleEnd]
"""Decides the wave after the given ones."""


class NoResults:
    withdrawn: Collection[str] = ()

    def order(self) -> Sequence[str]:
        return ()

    def lead(self, one: str, two: str) -> Lead:  # noqa: ARG002 - as it is asked
        return Lead(0.0, float("inf"))

    def separation(self, pairs: int, error: float) -> float:  # noqa: ARG002 - as it is asked
        return float("inf")

    def forfeits(self, one: str, two: str) -> Forfeits:
        return Forfeits(0, 0, 0, self.lead(one, two))


def step_down(leads: Iterable[Lead], pairs: int, separation: Callable[[int, float], float]) -> int:
    """For how many pairs together one has to be sure, by leads of neighbours (Holm's step-down).

    The surest pair has to be sure enough for all pairs, the next for all but that one: an open pair
    doesn't pay for clear ones. A pair that is shown to be close still counts.
    """
    sure = ((abs(lead.strokes) / lead.error, lead.error) for lead in leads)
    for errors, error in sorted(sure, reverse=True):
        if pairs <= 1 or errors <= separation(pairs, error):
            break
        pairs -= 1
    return max(1, pairs)


Errors = Callable[..., float]
"""(error, times=1.0) -> how many standard errors tell two apart at a lead with this error, when so
many times the deals have been played."""


def more_deals(lead: Lead, deals: float, errors: Errors, *, close: float = 0.0) -> tuple[int, bool]:
    """Estimate how many more deals tell two apart, in two digits; and whether it is a lower bound.

    The error of a lead shrinks with the root of the deals: the lead of today is then enough. If it
    is the true one the chance is about even; it is rarely just that, so what it takes scatters
    widely (bench/calibration.py outlook). A lead that is less than its error says little: what a
    lead larger by that error takes is a lower bound. `close`: a lead that needn't be told apart.
    """
    strokes = abs(lead.strokes)
    need = max(strokes, close - strokes)
    if at_least := need < lead.error:
        need += lead.error

    def short(times: float) -> bool:
        error = lead.error / math.sqrt(times)
        return errors(error, times=times) * error > need

    high = 1.0
    while short(high) and high < _MOST_TIMES:
        high *= 2
    low = max(1.0, high / 2)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if short(middle) else (low, middle)
    more = max(1, math.ceil(deals * (high - 1)))
    unit = 10 ** max(0, len(str(more)) - 2)
    return round(more / unit) * unit, at_least


def worth(one: float, two: float, bots: int) -> float:
    """How many deals between two alone tell as much of their lead as those that each of them has
    played with all: exact where all pairs have played as many.
    """
    return bots / (bots - 1) / (1 / one + 1 / two)


def at_once(wave: Wave) -> Schedule:
    return lambda before, results: ScheduleEnd() if before else wave  # noqa: ARG005 - as they are asked


def wave_of(blocks: Callable[[], Iterable[Block]]) -> Wave:
    matches = 0
    by_entrant: dict[str, int] = {}
    for spec in (spec for block in blocks() for series in block.series for spec in series.matches):
        matches += 1
        for entrant in spec.seats:
            by_entrant[entrant] = by_entrant.get(entrant, 0) + 1
    return Wave(blocks=blocks, matches=matches, by_entrant=by_entrant)


def all_blocks(waves: Iterable[Wave]) -> Iterator[Block]:
    for wave in waves:
        yield from wave.blocks()
