"""A round of a standing ladder: spend a budget of matches where they tell most.

Theory of operation. What earlier rounds have shown is in the event's settings, as a Gaussian, so a
round begins where they ended. Each wave plays one chunk of deals for each of the pairs that promise
most. A pair promises p(1 - p) · v / (v + s): p is the probability that their order is other than it
seems, v the variance of their lead, s that of a chunk. A newcomer's leads are unsure, so newcomers
are placed first, against any bot, then against those near them; then neighbours whose order is open
play on. A bot meets `spread` others at most in a wave, since what it has shown in the wave is not
known yet. Pairs that are told apart, or shown to be close, play no more.

Invariant: a wave is a function of the settings, the waves before it and what they have shown.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from arena.deals import Deals
from arena.formats import Format
from arena.formats.blocks import Dealing
from arena.formats.tables import all_tables, field_of
from arena.model import Entrant, LadderSettings, Settings, UserError
from arena.schedule import Lead, ScheduleEnd, Wave, WaveResults, step_down

MOST_DEALS = 100_000  # of one pair in a round
_NOISE = 0.5
"""The deviation of a rated deal less luck, in `event_sd`: it only shapes the choice of pairs."""


class LadderRound(Format):
    adaptive = True
    Options = LadderSettings
    options_member = "ladder"

    def __init__(self, settings: Settings, entrants: Sequence[Entrant], deals: Deals) -> None:
        if settings.seats != 2:
            raise UserError("a ladder's rounds are between pairs: leave seats out")
        if not settings.ladder:
            raise UserError("a round of a ladder is played by: arena ladder round")
        self._options = settings.ladder
        self._most_deals = MOST_DEALS
        field = field_of(settings, entrants)
        self._dealing = Dealing(settings, all_tables(settings, field), deals, chunk=settings.deals)
        self._pairs = [(name, *table) for name, table in self._dealing.pairings.items()]
        if not self._pairs:
            raise UserError("none of these bots may meet")
        noise = _NOISE * settings.rating.event_sd
        self._chunk = noise * noise / settings.deals
        self._lot = deals.ranks("ladder", list(self._dealing.pairings))

    def wave(self, before: Sequence[Wave], results: WaveResults) -> Wave | ScheduleEnd:
        left = self._options.budget - sum(wave.matches for wave in before)
        open_ = list(self._open(results))
        if not open_:
            return ScheduleEnd("all told apart or shown to be close")
        note = f"{len(open_)} pairs open" if len(open_) > 1 else "1 pair open"
        a_pair = 2 * self._dealing.chunk
        most = min(left, max(a_pair, self._options.budget // self._options.waves)) // a_pair
        played: Counter[str] = Counter()
        for wave in before:
            played.update({name: len(deals) for name, deals in wave.deals.items()})
        chosen = self._chosen(open_, most, played)
        if not chosen:
            return ScheduleEnd(f"the budget of {self._options.budget} matches, with {note}")
        deals = {
            name: range(played[name], played[name] + self._dealing.chunk) for name in sorted(chosen)
        }
        return self._dealing.wave(deals, more=max(0, left - a_pair * len(deals)), note=note)

    def _chosen(
        self, pairs: Sequence[tuple[str, str, str, float]], most: int, played: Counter[str]
    ) -> list[str]:
        """Of these pairs those that promise most, `spread` of a bot at most."""
        met: Counter[str] = Counter()
        chosen: list[str] = []
        for name, one, two, _ in sorted(pairs, key=lambda pair: (-pair[3], self._lot[pair[0]])):
            if len(chosen) == most:
                break
            if max(met[one], met[two]) < self._options.spread and played[name] < MOST_DEALS:
                met.update((one, two))
                chosen.append(name)
        return chosen

    def _open(self, results: WaveResults) -> Iterator[tuple[str, str, str, float]]:
        """The pairs whose order is open, with what they promise."""
        order = [entrant for entrant in results.order() if entrant not in results.withdrawn]
        playing = set(order)
        neighbours = itertools.starmap(results.lead, itertools.pairwise(order))
        pairs = step_down(neighbours, len(order) - 1, results.separation)
        for name, one, two in self._pairs:
            if one in playing and two in playing:
                lead = results.lead(one, two)
                if is_open(lead, results.separation(pairs, lead.error), self._options.close):
                    yield name, one, two, self._promise(lead)

    def _promise(self, lead: Lead) -> float:
        wrong = 0.5 * math.erfc(abs(lead.strokes) / lead.error / math.sqrt(2))
        variance = lead.error * lead.error
        return wrong * (1 - wrong) * variance / (variance + self._chunk)


def is_open(lead: Lead, errors: float, close: float) -> bool:
    """Whether two are neither told apart, by so many standard errors, nor shown to be close."""
    reach = errors * lead.error
    return abs(lead.strokes) <= reach and abs(lead.strokes) + reach >= close
