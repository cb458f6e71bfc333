"""Racing: play on only where the order is still open.

Theory of operation. The first wave is a warm-up: a bot meets `spread` others, or all where there
are no more, and plays at least so many deals. After each wave the field is put in order, and cut
wherever all above are separated from all below: by more standard errors than chance alone makes,
for all neighbours whose order is open and all looks together. The bots between two cuts are a
group. In a group of more than one whose neighbours aren't all separated or shown to be close, each
pair whose order is open plays on, `growth` times as many deals as it has played; a bot against the
`spread` nearest in the order at most. Two that may not meet play on against a third that both may
meet, the nearest in the order. The event is over when no group is open, or when the rest of the
budget is too small for any pair.

The bounds hold at every look, however many waves there are (`arena.ratings.separation`). The
constants are in the event's settings, since a race is decided again long after it was played. Races
of older arenas have no `spread`: in their warm-up every pair plays the event's deals.

Invariant: a wave is a function of the waves before it and of what they have shown.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from arena.deals import Deals
from arena.formats import Format
from arena.formats.blocks import MOST_MATCHES, Dealing
from arena.formats.tables import all_tables, balanced_tables, field_of
from arena.model import Entrant, RaceSettings, Settings, UserError
from arena.schedule import Lead, ScheduleEnd, Wave, WaveResults, more_deals, step_down, worth

MOST_DEALS = 100_000  # of one pair: they tell even a tenth of a stroke

# The closest neighbours end with an error of a seventh of `close`, most with a larger one.
_EARLIER = 3
_LEAST_CLOSE = 0.5

# As many as there are in most fields.
_SPREAD = 10
_LEAST_WARM_UP = 2  # deals of a pair: of one alone there is no variance


def refuse_small_budget(settings: Settings, bots: int) -> None:
    """UserError if the budget is too small for the warm-up of so many bots that may all meet."""
    racing = settings.racing
    if racing and racing.budget and settings.same_author and bots > 1:
        _, _, warm_up = _warm_up(settings, bots)
        _refuse_below(racing.budget, warm_up, 2 * warm_up * _warm_up_pairs(racing, bots))


def _refuse_below(budget: int, warm_up: int, matches: int) -> None:
    if budget < matches:
        deals = "1 deal" if warm_up == 1 else f"{warm_up} deals"
        raise UserError(
            f"--budget {budget}: the warm-up alone, {deals} for each pair, has "
            f"{matches} matches; choose a larger budget or fewer bots"
        )


def _warm_up(settings: Settings, bots: int) -> tuple[int, int, int]:
    """Deals of a chunk, of the first one, and of a pair's warm-up, which ends with a chunk."""
    # As few series as can be, and of one length: later waves go on where chunks end.
    chunk = -(-settings.deals // -(-settings.deals // settings.series))
    spread = settings.racing.spread if settings.racing else UNSET
    warm_up = settings.deals
    if spread is not UNSET:
        warm_up = max(_LEAST_WARM_UP, -(-spread // (bots - 1)))
        if warm_up <= chunk:
            return chunk, warm_up, warm_up
    return chunk, chunk, min(MOST_DEALS, -(-warm_up // chunk) * chunk)


def _warm_up_pairs(racing: RaceSettings, bots: int) -> int:
    pairs = math.comb(bots, 2)
    return pairs if racing.spread is UNSET else min(pairs, -(-bots * racing.spread // 2))


class Race(Format):
    adaptive = True
    Options = RaceSettings
    options_member = "racing"

    @staticmethod
    def stated(options: RaceSettings) -> RaceSettings:
        mixture = max(options.close, _LEAST_CLOSE) / _EARLIER
        return replace(
            options,
            mixture=mixture if options.mixture is UNSET else options.mixture,
            spread=_SPREAD if options.spread is UNSET else options.spread,
        )

    def __init__(self, settings: Settings, entrants: Sequence[Entrant], deals: Deals) -> None:
        if settings.seats != 2:
            raise UserError("a race is between pairs: leave --seats out")
        if settings.tables is not None:
            raise UserError("--tables goes with a round robin; in a race every pair meets")
        self._most_deals = MOST_DEALS
        self._racing = settings.racing or RaceSettings()
        if settings.deals > MOST_DEALS:
            raise UserError(
                f"a pair in a race plays {MOST_DEALS} deals at most; choose fewer --deals"
            )
        field = field_of(settings, entrants)
        self._entrants = len(field)
        chunk, first, warm_up = _warm_up(settings, len(field))
        tables = all_tables(settings, field)
        self._dealing = Dealing(settings, tables, deals, chunk=chunk, first=first)
        if not tables:
            raise UserError("with --no-same-author none of these bots may meet")
        self._seated = {frozenset(table): name for name, table in self._dealing.pairings.items()}
        note = "warm-up: every pair"
        if (pairs := _warm_up_pairs(self._racing, len(field))) < len(tables):
            tables = balanced_tables(replace(settings, tables=pairs), field, deals)
            note = f"warm-up: every bot against {self._racing.spread} others"
        names = sorted(self._seated[frozenset(table)] for table in tables)
        self._first = self._dealing.wave(dict.fromkeys(names, range(warm_up)), note=note)
        self._warm_up = warm_up
        self._budget = self._racing.budget or MOST_MATCHES
        _refuse_below(self._budget, warm_up, self._first.matches)

    def wave(self, before: Sequence[Wave], results: WaveResults) -> Wave | ScheduleEnd:
        if not before:
            return self._first
        played = _played(before)
        met = {pair: played[name] for pair, name in self._seated.items()}
        standing = _Standing(results, self._racing, self._entrants, met)
        pairs = [pair for group in standing.open_groups() for pair in standing.open_pairs(group)]
        if not pairs:
            waves = "one wave" if len(before) == 1 else f"{len(before)} waves"
            return ScheduleEnd(f"all neighbours told apart or shown to be close, in {waves}")
        note = standing.open_note()
        nearest = self._nearest(pairs, standing.order)
        chosen = {name for pair in nearest for name in self._through(pair, standing.order)}
        deals = {name: some for name in sorted(chosen) if (some := self._more(played[name]))}
        if not deals:
            return ScheduleEnd(f"nobody can be told apart by playing on, with {note}")
        left = self._budget - sum(wave.matches for wave in before)
        deals = self._within(left, deals)
        if not deals:
            return ScheduleEnd(f"the budget of {self._budget} matches, with {note}")
        more = min(standing.likely(pairs), left) - 2 * sum(map(len, deals.values()))
        note = f"{note}; {standing.hardest()}"
        return self._dealing.wave(deals, more=max(0, more), note=note)

    def chunks(self, deals: range) -> Iterator[range]:
        """Those of a pair by its blocks."""
        return self._dealing.chunks(deals)

    def _nearest(
        self, pairs: Sequence[tuple[str, str]], order: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        """Of these pairs, for each bot as many as it may meet in one wave."""
        most = len(order) if self._racing.spread is UNSET else self._racing.spread
        place = {entrant: number for number, entrant in enumerate(order)}
        met: Counter[str] = Counter()
        for pair in sorted(pairs, key=lambda pair: place[pair[1]] - place[pair[0]]):
            if all(met[entrant] < most for entrant in pair):
                met.update(pair)
                yield pair

    def _through(self, pair: tuple[str, str], order: Sequence[str]) -> list[str]:
        """The pairings that tell two apart: their own, or theirs with a third bot."""
        if own := self._seated.get(frozenset(pair)):
            return [own]
        one, two = map(order.index, pair)
        for other in sorted(order, key=lambda other: abs(2 * order.index(other) - one - two)):
            met = [self._seated.get(frozenset((entrant, other))) for entrant in pair]
            if all(met):
                return [name for name in met if name]
        return []

    def _within(self, matches: int, deals: dict[str, range]) -> dict[str, range]:
        """Cut a wave down to so many matches: the pairs that would play most play less."""
        while 2 * sum(map(len, deals.values())) > matches:
            name = max(deals, key=lambda name: (len(deals[name]), name))
            if rest := deals.pop(name)[: -self._dealing.chunk]:
                deals[name] = rest
        return dict(sorted(deals.items()))

    def _more(self, played: int) -> range:
        """The next deals of a pair, in whole chunks; none after the last."""
        if not played:
            return range(self._warm_up)
        chunks = max(1, round(self._racing.growth * played / self._dealing.chunk))
        return range(played, min(MOST_DEALS, played + chunks * self._dealing.chunk))


def _played(waves: Sequence[Wave]) -> Counter[str]:
    """Deals played by pairing: each wave goes on where the one before it ended."""
    played: Counter[str] = Counter()
    for wave in waves:
        played.update({name: len(deals) for name, deals in wave.deals.items()})
    return played


class _Standing:
    """Which bots are told apart after the waves so far."""

    def __init__(
        self,
        results: WaveResults,
        racing: RaceSettings,
        entrants: int,
        met: Mapping[frozenset[str], int],
    ) -> None:
        self._results = results
        self._close = racing.close
        self._deals: Counter[str] = Counter()
        for pair, many in met.items():
            self._deals.update(dict.fromkeys(pair, many))
        self.order: Sequence[str] = [e for e in results.order() if e not in results.withdrawn]
        self._pairs = step_down(
            itertools.starmap(results.lead, itertools.pairwise(self.order)),
            entrants - 1,
            results.separation,
        )

    def open_groups(self) -> Iterator[Sequence[str]]:
        """Groups in which some neighbours are neither separated nor close."""
        for group in self._groups():
            if any(self._open(one, two) for one, two in itertools.pairwise(group)):
                yield group

    def open_pairs(self, group: Sequence[str]) -> Iterator[tuple[str, str]]:
        """All pairs whose order is open, not neighbours alone: these may change."""
        for number, one in enumerate(group):
            for two in group[number + 1 :]:
                if self._open(one, two):
                    yield one, two

    def open_note(self) -> str:
        groups = [f"{group[0]} to {group[-1]} ({len(group)})" for group in self.open_groups()]
        return f"open: {', '.join(groups)}"

    def hardest(self) -> str:
        """The open neighbours that take the most deals, if they alone play on, for people."""
        found = []
        for one, two in itertools.pairwise(self.order):
            if self._open(one, two):
                known, lead = self._known(one, two), self._results.lead(one, two)
                found.append((*more_deals(lead, known, self._errors, close=self._close), one, two))
        more, at_least, one, two = max(found)
        return f"{one} and {two}: {'more than' if at_least else 'about'} {more} more deals"

    def _errors(self, error: float, times: float) -> float:
        del times  # the bounds of a race go by the error alone
        return self._results.separation(self._pairs, error)

    def _known(self, one: str, two: str) -> float:
        """Deals between two alone that tell as much of their lead as all that they have played,
        though they may never have met.
        """
        return worth(self._deals[one], self._deals[two], len(self._deals))

    def likely(self, pairs: Sequence[tuple[str, str]]) -> int:
        """Matches until all these pairs are told apart, for people."""
        matches = 0.0
        others = Counter(itertools.chain.from_iterable(pairs))
        for one, two in pairs:
            lead = self._results.lead(one, two)
            # The error shrinks with the root of the deals; it has to come down to this.
            need = max(abs(lead.strokes), self._close - abs(lead.strokes), 0.1)
            need /= self._results.separation(self._pairs, lead.error)
            deals = self._known(one, two) * max(0.0, (lead.error / need) ** 2 - 1)
            # Where all of a group play on, the deals of the other pairs help.
            matches += 2 * deals * 2 / (1 + (others[one] + others[two]) / 2)
        return math.ceil(matches)

    def _groups(self) -> Iterator[Sequence[str]]:
        order = self.order
        begin = 0
        for cut in range(1, len(order) + 1):
            if cut == len(order) or all(
                self._separated(one, two) for one in order[begin:cut] for two in order[cut:]
            ):
                yield order[begin:cut]
                begin = cut

    def _separated(self, one: str, two: str) -> bool:
        lead = self._results.lead(one, two)
        return lead.strokes > self._reach(lead)

    def _open(self, one: str, two: str) -> bool:
        lead = self._results.lead(one, two)
        reach = self._reach(lead)
        return abs(lead.strokes) <= reach and abs(lead.strokes) + reach >= self._close

    def _reach(self, lead: Lead) -> float:
        return self._results.separation(self._pairs, lead.error) * lead.error
