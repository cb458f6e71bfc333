"""Turn counted matches into rated deals, and rated deals into sums.

A *rated deal* is one deal of one pairing in all its seat rotations. Its rules:

- Entrants rank by the sum of their strokes over the rotations; equal sums tie. For W-T-L alone a
  tie goes to the one that won more of the playoffs between the two: of `places` only those of two
  with equal totals are read.
- An entrant that forfeited in any rotation ranks behind all that did not. Among forfeiters fewer
  forfeits come first, then a later latest forfeit in its match (hole, then its own decision within
  the match); the same decision is a tie.
- One with a rotation that is missing is left out.
- A match of two that was not to be played because one had been withdrawn is *void*: a forfeit
  of the withdrawn before its first decision. At a table of more than two it is played: a forfeit of
  the withdrawn, whatever it did, and the others count as they played.
- Results of annulled entrants vanish; those of the others against each other stay.

Strokes are compared pair by pair and match by match: the difference of the two totals; the
published margin when one of them forfeited that match; nothing when both did. From strokes less
luck matches that a withdrawn bot forfeits are left out: they say nothing of its opponent.

Invariant: sums are of whole numbers (strokes in thousandths), so they don't depend on the
order of the calls. Besides the sums only rated deals that lack a rotation are kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from copy import copy
from itertools import combinations
from typing import TypeVar

import msgspec

from arena.model import MatchSpec
from arena.ratings.archive import MatchSummary
from arena.ratings.intervals import Moments

THOUSANDTHS = 1000
_Key = TypeVar("_Key")
_Sums = TypeVar("_Sums")

# The moment of a forfeit by withdrawal: before any that a bot can commit itself.
_BEFORE_THE_MATCH = (-1, -1)


class RatedOutcome(msgspec.Struct, frozen=True):
    """Places of a complete rated deal: for online ratings."""

    entrants: tuple[str, ...]
    """Sorted by id."""
    places: tuple[int, ...]
    """1 is best; equal numbers tie."""
    pairing: str = ""
    deal: int = 0
    """With the pairing: the deal that was played in all rotations."""
    again: bool = False
    """Whether it may be dealt again: a withdrawal cut one of its series short, and if a late record
    undoes that, the series is played anew."""


class PairCount(msgspec.Struct):
    """Rated deals of a pair; the first is the smaller id."""

    first: int = 0
    ties: int = 0
    second: int = 0
    first_playoffs: int = 0
    """Ties that the playoffs of the matches broke for the first: they rate as ties."""
    second_playoffs: int = 0
    first_places: int = 0
    """Ties that the sums of places broke, by which the first rule of derivation went."""
    second_places: int = 0


class ForfeitSums(msgspec.Struct):
    """Rated deals of a pair in which either forfeited a match; the first is the smaller id."""

    first: int = 0
    """Matches that the first alone forfeited."""
    second: int = 0
    whole: Moments = msgspec.field(default_factory=Moments)
    """These deals as they stand among `Tally.gaps`."""
    rest: Moments = msgspec.field(default_factory=Moments)
    """What is left of them without the matches that were forfeited."""


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
    faults: Counter[str] = msgspec.field(default_factory=Counter)
    beaten: dict[str, Moments] = msgspec.field(default_factory=_moments)
    """By pairing: half points against opponents' half points at stake."""
    margin: dict[str, Moments] = msgspec.field(default_factory=_moments)
    """By pairing: thousandths of a stroke, against comparisons made."""
    adjusted: dict[str, Moments] = msgspec.field(default_factory=_moments)
    """The same, less luck."""


class _Rotation(msgspec.Struct):
    seats: tuple[str, ...]
    deal: int
    played: MatchSummary | None
    out: frozenset[str]
    """Withdrawn before."""
    gone: frozenset[str]
    """Annulled."""
    whole: bool
    """Whether its series was played to its end."""


class _Showing(msgspec.Struct):
    strokes: int = 0
    forfeits: int = 0
    latest: tuple[int, int] = _BEFORE_THE_MATCH
    places: int = 0

    @property
    def key(self) -> tuple[int, int, int, int]:
        """Smaller is better; equal ties."""
        if self.forfeits:
            return (1, self.forfeits, -self.latest[0], -self.latest[1])
        return (0, self.strokes, 0, 0)


class Tally:
    def __init__(
        self, *, margin: float, rated: Callable[[RatedOutcome], None] | None = None
    ) -> None:
        self.pairs: dict[tuple[str, str], PairCount] = defaultdict(PairCount)
        self.gaps: dict[tuple[str, str], Moments] = defaultdict(Moments)
        """By pair, the smaller id first: by how many thousandths of a stroke, luck taken off, that
        was above the other, against comparisons made; while neither was withdrawn.
        """
        self.forfeited: dict[tuple[str, str], ForfeitSums] = defaultdict(ForfeitSums)
        """By pair, of the deals in `gaps`; of a pair that never forfeited there is nothing."""
        self.accounts: dict[str, Account] = defaultdict(Account)
        self.matches = 0
        self._margin = round(margin * THOUSANDTHS)
        self._rated = rated
        self._parts: dict[tuple[str, int], list[_Rotation]] = {}

    def fault(self, entrant: str, kind: str) -> None:
        """Count a fault; apart from matches, since a fault outlives an annulment."""
        self.accounts[entrant].faults[kind] += 1

    def match(
        self,
        spec: MatchSpec,
        played: MatchSummary,
        *,
        out: frozenset[str] = frozenset(),
        gone: frozenset[str] = frozenset(),
        whole: bool = True,
    ) -> None:
        """Count a played match; `out` had been withdrawn before, `gone` is annulled. `whole`: no
        match of its series is void.
        """
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
        self._add(spec, _Rotation(spec.seats, spec.deal, played, out, gone, whole))

    def void(self, spec: MatchSpec, out: frozenset[str]) -> None:
        self._add(spec, _Rotation(spec.seats, spec.deal, None, out, frozenset(), whole=False))

    def copied(self) -> Tally:
        """A copy that doesn't change when more is counted."""
        tally = Tally(margin=self._margin / THOUSANDTHS)
        tally.matches = self.matches
        tally.pairs, tally.gaps = _copied(self.pairs), _copied(self.gaps)
        tally.forfeited = {
            pair: ForfeitSums(each.first, each.second, copy(each.whole), copy(each.rest))
            for pair, each in self.forfeited.items()
        }
        tally.accounts = _copied(self.accounts)
        for account in tally.accounts.values():
            account.faults = account.faults.copy()
            account.beaten = _copied(account.beaten)
            account.margin = _copied(account.margin)
            account.adjusted = _copied(account.adjusted)
        return tally

    def close(self) -> None:
        """Drop rated deals that lack a rotation, so that matches of another event can follow,
        whatever its pairings and deals are called.
        """
        self._parts.clear()

    def _add(self, spec: MatchSpec, part: _Rotation) -> None:
        key = (spec.pairing, spec.deal)
        parts = self._parts.setdefault(key, [])
        parts.append(part)
        if len(parts) == len(spec.seats):
            del self._parts[key]
            self._settle(spec.pairing, parts)

    def _settle(self, pairing: str, parts: list[_Rotation]) -> None:
        entrants = sorted(set(parts[0].seats) - parts[0].gone)
        void = any(part.played is None for part in parts)
        showings = _showings(parts)
        self._count_results(pairing, parts, showings)
        self._count_strokes(pairing, parts)
        if self._rated is not None and not void:
            keys = [showings[entrant].key for entrant in entrants]
            places = tuple(1 + sum(other < key for other in keys) for key in keys)
            again = not all(part.whole for part in parts)
            self._rated(RatedOutcome(tuple(entrants), places, pairing, parts[0].deal, again))

    def _count_results(
        self, pairing: str, parts: list[_Rotation], showings: dict[str, _Showing]
    ) -> None:
        points = dict.fromkeys(showings, 0)
        at_stake = dict.fromkeys(showings, 0)
        for one, two in combinations(sorted(showings), 2):
            result = self._pair(one, two, parts, showings)
            points[one] += result
            points[two] += 2 - result
            at_stake[one] += 2
            at_stake[two] += 2
        for entrant, stake in at_stake.items():
            account = self.accounts[entrant]
            account.deals += 1
            account.beaten[pairing].add(points[entrant], stake)

    def _count_strokes(self, pairing: str, parts: list[_Rotation]) -> None:
        """By how many, for every pair and match: as played, and less luck."""
        seated = [entrant for entrant in sorted(parts[0].seats) if entrant not in parts[0].gone]
        lead = {entrant: [0, 0, 0] for entrant in seated}
        out = frozenset[str]().union(*(part.out for part in parts))
        fell = frozenset[str]().union(*(_forfeiters(part) for part in parts))
        for one, two in combinations(seated, 2):
            gap = 0
            for part in parts:
                played, adjusted = self._compared(part, one, two)
                for entrant, sign in ((one, 1), (two, -1)):
                    sums = lead[entrant]
                    sums[0] += sign * played
                    sums[1] += sign * adjusted
                    sums[2] += 1
                gap += adjusted
            if out.isdisjoint((one, two)):
                self.gaps[one, two].add(gap, len(parts))
                if not fell.isdisjoint((one, two)):
                    self._set_apart(one, two, parts, gap)
        for entrant, (played, adjusted, comparisons) in lead.items():
            account = self.accounts[entrant]
            account.margin[pairing].add(played, comparisons)
            account.adjusted[pairing].add(adjusted, comparisons)

    def _compared(self, part: _Rotation, one: str, two: str) -> tuple[int, int]:
        """Thousandths of strokes of the first above the second: as played, and less luck."""
        lost, played = part.out | _forfeiters(part), part.played
        if one in lost or two in lost:
            margin = self._margin * ((one in lost) - (two in lost))
            return margin, margin
        assert played is not None, "a match that is not played is a forfeit of one of two"
        first, second = part.seats.index(one), part.seats.index(two)
        strokes = (played.totals[first] - played.totals[second]) * THOUSANDTHS
        if not played.luck:
            return strokes, strokes
        return strokes, strokes - played.luck[first] + played.luck[second]

    def _set_apart(self, one: str, two: str, parts: list[_Rotation], gap: int) -> None:
        """Of a deal in which either forfeited, sum up forfeits and strokes apart."""
        apart = self.forfeited[one, two]
        apart.whole.add(gap, len(parts))
        strokes = matches = 0
        for part in parts:
            lost = _forfeiters(part).intersection((one, two))
            if lost:
                apart.first += lost == {one}
                apart.second += lost == {two}
            else:
                strokes += self._compared(part, one, two)[1]
                matches += 1
        if matches:
            apart.rest.add(strokes, matches)

    def _pair(
        self, one: str, two: str, parts: list[_Rotation], showings: dict[str, _Showing]
    ) -> int:
        """Count a pair's result; returns the half points of the first."""
        count = self.pairs[one, two]
        first, second = showings[one], showings[two]
        if first.key < second.key:
            count.first += 1
            return 2
        if first.key > second.key:
            count.second += 1
            return 0
        count.ties += 1
        if not first.forfeits:
            won = _playoffs_won(parts, one, two)
            count.first_playoffs += won > 0
            count.second_playoffs += won < 0
            count.first_places += first.places < second.places
            count.second_places += first.places > second.places
        return 1


def _forfeiters(part: _Rotation) -> frozenset[str]:
    """Entrants that forfeited a played match by a fault in it."""
    if part.played is None:
        return frozenset()
    return frozenset(part.seats[forfeit.seat] for forfeit in part.played.forfeits)


def _copied(sums: Mapping[_Key, _Sums]) -> dict[_Key, _Sums]:
    return {key: copy(each) for key, each in sums.items()}


def _playoffs_won(parts: list[_Rotation], one: str, two: str) -> int:
    """Playoffs between the two: won by the first less won by the second."""
    won = 0
    for part in parts:
        assert part.played is not None, "entrants without a forfeit have played every rotation"
        totals, places = part.played.totals, part.played.places
        first, second = part.seats.index(one), part.seats.index(two)
        if totals[first] == totals[second]:
            won += (places[first] < places[second]) - (places[first] > places[second])
    return won


def _showings(parts: list[_Rotation]) -> dict[str, _Showing]:
    showings = {entrant: _Showing() for entrant in parts[0].seats}
    for part in parts:
        for entrant in part.out:
            showings[entrant].forfeits += 1
        if (played := part.played) is None:
            continue
        # A seat forfeits a match once, however many faults its record has.
        first = {forfeit.seat: forfeit for forfeit in reversed(played.forfeits)}
        for seat, entrant in enumerate(part.seats):
            showing = showings[entrant]
            showing.strokes += played.totals[seat]
            showing.places += played.places[seat]
            if seat in first and entrant not in part.out:
                showing.forfeits += 1
                showing.latest = max(showing.latest, (first[seat].hole, first[seat].turn))
    for entrant in parts[0].gone:
        del showings[entrant]
    return showings
