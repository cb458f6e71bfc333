"""Find neighbours that are not told apart, and tell how many more deals would do that.

The rule is the one that judges the event then: in a race its own; while a planned event is played
the bound that holds at every look, and from its last match on that of one look.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from arena.model import OpenPair, Settings
from arena.ratings.evidence import lead_of
from arena.ratings.fit import Fit
from arena.ratings.outcomes import Tally
from arena.schedule import Errors, more_deals, worth


def open_pairs(
    settings: Settings,
    tally: Tally,
    ranking: tuple[Fit, Sequence[int]],
    errors: Errors,
    share: float,
) -> Iterator[OpenPair]:
    """Neighbours of the ranking. `share`: of the event's matches that is played."""
    found, order = ranking
    decided = settings.racing or settings.ladder
    close = decided.close if decided else 0.0
    for one, two in pairwise(order):
        lead = lead_of(found, one, two, settings.rating)
        reach = errors(lead.error) * lead.error
        if lead.strokes > reach or abs(lead.strokes) + reach < close:
            continue
        names = found.entrants[one], found.entrants[two]
        deals = settings.deals * share
        if decided:
            of_one, of_two = (tally.accounts[name].deals for name in names)
            deals = worth(of_one, of_two, len(found.entrants))
        more, at_least = more_deals(lead, deals, errors, close=close)
        yield OpenPair(bots=names, deals=more, at_least=at_least)
