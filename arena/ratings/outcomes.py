"""Turn counted matches into rated deals, and rated deals into sums.

A *rated deal* is one deal of one pairing in all its seat rotations. Its rules:

- Entrants rank by the sum of their strokes over the rotations; equal sums tie. For W-T-L alone a
  tie goes to the one that won more of the playoffs between the two, by their places.
- An entrant that forfeited in any rotation ranks behind all that did not. Among forfeiters fewer
  forfeits come first, then a later latest forfeit in its match (hole, then its own decision within
  the match); the same decision is a tie.
- One with a rotation that is missing is left out.
- A match of two of which one had been withdrawn is *void*, not played: a forfeit of the withdrawn
  before its first decision. At a table of more than two it is played: a forfeit of the withdrawn,
  whatever it did, and the others count as they played.
- Results of annulled entrants vanish; those of the others against each other stay.

Strokes are compared pair by pair and match by match: the difference of the two totals; the
published margin when one of them forfeited that match; nothing when both did. From strokes less
luck matches that a withdrawn bot forfeits are left out: they say nothing of its opponent.

Invariant: sums are of whole numbers (strokes in thousandths), so they don't depend on the
order of the calls. Besides the sums only rated deals that lack a rotation are kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from copy import copy
from itertools import combinations
from typing import NamedTuple, TypeVar

import msgspec

from arena.model import ADJUSTED, RESULTS, MatchSpec, RateOn, block_of
from arena.ratings.archive import MatchSummary
from arena.ratings.dependence import BlockSums, TableOfBot
from arena.ratings.intervals import Moments

THOUSANDTHS = 1000
Pair = tuple[str, str]
_Key = TypeVar("_Key")
_Sums = TypeVar("_Sums")

# The moment of a forfeit by withdrawal: before any that a bot can commit itself.
_BEFORE_THE_MATCH = (-1, -1)


class RatedOutcome(msgspec.Struct, frozen=True):
    """Places of a complete rated deal: for online ratings."""

    entrants: tuple[str, ...]  # sorted by id
    places: tuple[int, ...]  # 1 is best; equal numbers tie
    pairing: str = ""
    deal: int = 0  # with the pairing: the deal that was played in all rotations
    again: bool = False
    """A withdrawal cut one of its series short; if a late record undoes that, it is dealt again."""


Report = Callable[[RatedOutcome], None]


class PairCount(msgspec.Struct):
    """Rated deals of a pair; the first is the smaller id."""

    first: int = 0
    ties: int = 0
    second: int = 0
    first_playoffs: int = 0  # of the ties, those that playoffs broke for the first
    second_playoffs: int = 0
    first_places: int = 0  # those that sums of places broke: for the first rule of derivation
    second_places: int = 0


class ForfeitSums(msgspec.Struct):
    """Rated deals of a pair in which either forfeited a match; the first is the smaller id."""

    first: int = 0  # matches that the first alone forfeited
    second: int = 0
    whole: Moments = msgspec.field(default_factory=Moments)  # as they stand among `Tally.gaps`
    rest: Moments = msgspec.field(default_factory=Moments)  # without the forfeited matches


def _moments() -> defaultdict[str, Moments]:
    return defaultdict(Moments)


class Account(msgspec.Struct):
    matches: int = 0
    deals: int = 0
    strokes: int = 0
    holes: int = 0
    decisions: int = 0
    think_us: int = 0
    off_turn_us: int = 0
    faults: dict[str, int] = {}
    # By pairing: half points against those at stake; thousandths of a stroke against comparisons
    # made, as played and less luck.
    beaten: dict[str, Moments] = msgspec.field(default_factory=_moments)
    margin: dict[str, Moments] = msgspec.field(default_factory=_moments)
    adjusted: dict[str, Moments] = msgspec.field(default_factory=_moments)


class _Rotation(msgspec.Struct):
    whole: bool  # whether its series was played to its end
    out: frozenset[str]  # withdrawn before
    gone: frozenset[str] = frozenset()  # annulled
    # By entrant: thousandths of strokes, place, luck; empty if it was not played.
    shown: dict[str, tuple[int, int, int]] = {}
    fell: dict[str, tuple[int, int]] = {}  # by entrant with a fault: hole and turn of the first one


class _Showing(NamedTuple):
    """An entrant's rated deal. Smaller keys are better, equal ones tie."""

    key: tuple[int, int, int, int]
    places: int


class Tally:
    def __init__(self, *, margin: float, rated: Report | None = None) -> None:
        self.pairs: dict[Pair, PairCount] = defaultdict(PairCount)
        self.gaps: dict[Pair, Moments] = defaultdict(Moments)
        """By pair: thousandths of a stroke, less luck, of the smaller id above the other, against
        comparisons made; while neither was withdrawn."""
        self.forfeited: dict[Pair, ForfeitSums] = defaultdict(ForfeitSums)
        """By pair, of the deals in `gaps`; of a pair that never forfeited there is nothing."""
        self.accounts: dict[str, Account] = defaultdict(Account)
        self.blocks: dict[RateOn, dict[TableOfBot, BlockSums]] = {
            RESULTS: defaultdict(BlockSums),
            ADJUSTED: defaultdict(BlockSums),
        }
        """Thousandths of a stroke above the others, while nobody was withdrawn."""
        self.matches = 0
        self._closed = 0
        self._margin = round(margin * THOUSANDTHS)
        self._rated = rated
        self._parts: dict[tuple[str, int], list[_Rotation]] = {}

    def fault(self, entrant: str, kind: str) -> None:
        """Count a fault; apart from matches, since a fault outlives an annulment."""
        faults = self.accounts[entrant].faults
        faults[kind] = faults.get(kind, 0) + 1

    def match(
        self,
        spec: MatchSpec,
        played: MatchSummary,
        *,
        out: frozenset[str] = frozenset(),
        gone: frozenset[str] = frozenset(),
        whole: bool = True,
    ) -> None:
        """`out`: withdrawn before. `gone`: annulled. `whole`: no match of its series is void."""
        self.matches += 1
        for seat, entrant in enumerate(spec.seats):
            if entrant in out or entrant in gone:
                continue
            account = self.accounts[entrant]
            account.matches += 1
            account.strokes += played.strokes[seat]
            account.holes += played.holes[seat]
            account.decisions += played.decisions[seat]
            account.think_us += played.think_us[seat]
            account.off_turn_us += played.off_turn_us[seat]
        luck = played.luck or (0,) * len(spec.seats)
        strokes = (THOUSANDTHS * total for total in played.totals)
        shown = zip(spec.seats, zip(strokes, played.places, luck, strict=True), strict=True)
        fell = {spec.seats[f.seat]: (f.hole, f.turn) for f in reversed(played.forfeits)}
        self._add(spec, _Rotation(whole, out, gone, dict(shown), fell))

    def void(self, spec: MatchSpec, out: frozenset[str]) -> None:
        self._add(spec, _Rotation(whole=False, out=out))

    def copied(self) -> Tally:
        tally = Tally(margin=self._margin / THOUSANDTHS)
        tally.matches = self.matches
        tally.pairs, tally.gaps = _copied(self.pairs), _copied(self.gaps)
        tally.forfeited = {
            pair: ForfeitSums(each.first, each.second, copy(each.whole), copy(each.rest))
            for pair, each in self.forfeited.items()
        }
        tally.accounts = _copied(self.accounts)
        tally.blocks = {rate_on: _copied(sums) for rate_on, sums in self.blocks.items()}
        for account in tally.accounts.values():
            account.faults = account.faults.copy()
            account.beaten = _copied(account.beaten)
            account.margin = _copied(account.margin)
            account.adjusted = _copied(account.adjusted)
        return tally

    def close(self) -> None:
        """Drop rated deals that lack a rotation: matches of another event can follow."""
        self._parts.clear()
        self._closed += 1

    def _add(self, spec: MatchSpec, part: _Rotation) -> None:
        key = (spec.pairing, spec.deal)
        parts = self._parts.setdefault(key, [])
        parts.append(part)
        if len(parts) == len(spec.seats):
            del self._parts[key]
            self._settle(spec, parts)

    def _settle(self, spec: MatchSpec, parts: list[_Rotation]) -> None:
        entrants = sorted(set(spec.seats) - parts[0].gone)
        showings = {entrant: _showing(entrant, parts) for entrant in entrants}
        sums = {entrant: [0, 0, 0] for entrant in entrants}
        """Half points, and strokes above the others: as played, and less luck."""
        for one, two in combinations(entrants, 2):
            points = self._count_result(one, two, parts, showings)
            compared = [self._compared(part, one, two) for part in parts]
            played, adjusted = map(sum, zip(*compared, strict=True))
            for entrant, own, sign in ((one, points, 1), (two, 2 - points, -1)):
                sums[entrant][0] += own
                sums[entrant][1] += sign * played
                sums[entrant][2] += sign * adjusted
            if not any(one in part.out or two in part.out for part in parts):
                self.gaps[one, two].add(adjusted, len(parts))
                if any(one in part.fell or two in part.fell for part in parts):
                    self._set_apart(one, two, parts, adjusted)
        others = len(entrants) - 1
        for entrant, (points, played, adjusted) in sums.items():
            account = self.accounts[entrant]
            account.deals += 1
            account.beaten[spec.pairing].add(points, 2 * others)
            account.margin[spec.pairing].add(played, others * len(parts))
            account.adjusted[spec.pairing].add(adjusted, others * len(parts))
        if not any(part.out for part in parts):
            block = f"{self._closed} {block_of(spec.series)}"
            # Of two, one gains what the other loses.
            for bot in entrants if others > 1 else entrants[:1]:
                table = (bot, *(entrant for entrant in entrants if entrant != bot))
                for rate_on, value in zip((RESULTS, ADJUSTED), sums[bot][1:], strict=True):
                    self.blocks[rate_on][table].add(block, value)
        if self._rated is not None and all(part.shown for part in parts):
            keys = [showings[entrant].key for entrant in entrants]
            places = tuple(1 + sum(other < key for other in keys) for key in keys)
            again = not all(part.whole for part in parts)
            self._rated(RatedOutcome(tuple(entrants), places, spec.pairing, spec.deal, again))

    def _count_result(
        self, one: str, two: str, parts: list[_Rotation], showings: dict[str, _Showing]
    ) -> int:
        """The half points of the first."""
        count = self.pairs[one, two]
        first, second = showings[one], showings[two]
        if first.key < second.key:
            count.first += 1
            return 2
        if first.key > second.key:
            count.second += 1
            return 0
        count.ties += 1
        if not first.key[0]:  # both have played every rotation
            won = 0
            for part in parts:
                (mine, place, _), (theirs, other, _) = part.shown[one], part.shown[two]
                won += (mine == theirs) * ((place < other) - (place > other))
            count.first_playoffs += won > 0
            count.second_playoffs += won < 0
            count.first_places += first.places < second.places
            count.second_places += first.places > second.places
        return 1

    def _compared(self, part: _Rotation, one: str, two: str) -> tuple[int, int]:
        """Thousandths of strokes of the first above the second: as played, and less luck."""
        lost, other_lost = (each in part.out or each in part.fell for each in (one, two))
        if lost or other_lost:
            margin = self._margin * (lost - other_lost)
            return margin, margin
        (mine, _, luck), (theirs, _, other_luck) = part.shown[one], part.shown[two]
        return mine - theirs, mine - theirs - luck + other_luck

    def _set_apart(self, one: str, two: str, parts: list[_Rotation], gap: int) -> None:
        """Of a deal in which either forfeited, sum up forfeits and strokes apart."""
        apart = self.forfeited[one, two]
        apart.whole.add(gap, len(parts))
        rest = [part for part in parts if one not in part.fell and two not in part.fell]
        for part in parts:
            apart.first += one in part.fell and two not in part.fell
            apart.second += two in part.fell and one not in part.fell
        if rest:
            apart.rest.add(sum(self._compared(part, one, two)[1] for part in rest), len(rest))


def _copied(sums: Mapping[_Key, _Sums]) -> dict[_Key, _Sums]:
    return {key: copy(each) for key, each in sums.items()}


def _showing(entrant: str, parts: list[_Rotation]) -> _Showing:
    strokes = places = forfeits = 0
    latest = _BEFORE_THE_MATCH
    for part in parts:
        own, place, _ = part.shown.get(entrant, (0, 0, 0))
        strokes += own
        places += place
        if entrant in part.out:
            forfeits += 1
        elif entrant in part.fell:
            forfeits += 1
            latest = max(latest, part.fell[entrant])
    key = (1, forfeits, -latest[0], -latest[1]) if forfeits else (0, strokes, 0, 0)
    return _Showing(key, places)
