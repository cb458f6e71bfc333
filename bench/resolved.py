"""How many matches to a resolved ranking: plain round robins of wins and losses, and a race.

    arena run example_bots/{strong,expectimax,...} --deals 100 --seed resolved --out LOG
    python bench/resolved.py LOG [--times 200] [--without BOT] [--spread 10] [--deals 10]
                                  [--blocks]

A log that was really played is drawn from again and again, with replacement: a plain round robin
draws single matches on deals of their own and sees who won; the race is `arena.formats.race`
itself and draws rated deals, both seatings of a deal, less their luck. Both end when neighbours
are all separated with 95 % confidence (Bonferroni) or close: within 2 strokes a match, or,
where only wins are seen, within what 2 strokes are in wins. The plain one pays nothing for looking
again and again, which is in its favour. What decides both is how close neighbours are: that is
told too, by all of the log and by what the two have shown against each other.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena import luck, registry
from arena.deals import Deals, with_beacon
from arena.formats.race import Race
from arena.model import ADJUSTED, BLOCKS, Event, RaceSettings, RatingSettings, pairing_id
from arena.ratings import normal
from arena.ratings.evidence import Evidence
from arena.ratings.intervals import Z95, Moments
from arena.ratings.outcomes import THOUSANDTHS, Tally
from arena.schedule import NoResults, ScheduleEnd, Wave
from arena.store import read_event, read_records

CLOSE = 2.0
GROWTH = 1.1


class Pool(NamedTuple):
    """What two bots have shown; the first is the smaller id."""

    points: list[float]
    """Of the first, match by match."""
    strokes: list[int]
    """By which it was above the other, match by match."""
    gaps: list[int]
    """Thousandths of strokes by which it was above the other, less luck, by rated deal."""


def pools_of(folder: Path, without: Sequence[str]) -> tuple[Event, dict[tuple[str, str], Pool]]:
    """A log by pairs."""
    event = read_event(folder)
    game = registry.game(event.settings.game)
    deals = Deals(with_beacon(bytes.fromhex(event.secret), event.beacon))
    events: dict[tuple[str, str], dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    pools: dict[tuple[str, str], Pool] = defaultdict(lambda: Pool([], [], []))
    for record in read_records(folder):
        if record.faults or any(seat.partition("@")[0] in without for seat in record.seats):
            continue
        one, two = sorted(record.seats)
        first, second = record.seats.index(one), record.seats.index(two)
        cost = record.luck or luck.sums(record, game=game, deals=deals, settings=event.settings)
        gap = record.totals[first] - record.totals[second]
        pools[one, two].points.append(0.5 if not gap else float(gap < 0))
        pools[one, two].strokes.append(gap)
        adjusted = gap * THOUSANDTHS - cost[first] + cost[second]
        events[one, two][record.deal].append(adjusted)
    for pair, by_deal in events.items():
        pools[pair].gaps.extend(sum(both) for both in by_deal.values() if len(both) == 2)
    return event, dict(pools)


def plain(pools: dict[tuple[str, str], Pool], bots: Sequence[str], draw: random.Random) -> int:
    """Matches of a round robin that sees wins and losses until it is resolved."""
    errors = normal.quantile(1 - RatingSettings().error_rate / (2 * (len(bots) - 1)))
    sd = statistics.median(statistics.stdev(pool.strokes) for pool in pools.values())
    near = normal.cdf(CLOSE / sd) - 0.5
    won = dict.fromkeys(pools, (0.0, 0.0))
    each = 0
    while True:
        more = max(10, int(each * (GROWTH - 1)))
        for pair, pool in pools.items():
            drawn = draw.choices(pool.points, k=more)
            points, squares = won[pair]
            won[pair] = points + sum(drawn), squares + sum(point * point for point in drawn)
        each += more
        share, variance = dict.fromkeys(bots, 0.0), dict.fromkeys(bots, 0.0)
        for (one, two), (points, squares) in won.items():
            mean = points / each
            spread = max(squares / each - mean * mean, 1 / each) / each
            share[one] += mean
            share[two] += 1 - mean
            variance[one] += spread
            variance[two] += spread
        order = sorted(bots, key=lambda bot: -share[bot])
        if all(
            _resolved(
                (share[a] - share[b]) / (len(bots) - 1),
                math.sqrt(variance[a] + variance[b]) / (len(bots) - 1),
                errors,
                near,
            )
            for a, b in itertools.pairwise(order)
        ):
            return each * len(pools)


def _resolved(lead: float, error: float, errors: float, near: float) -> bool:
    return abs(lead) > errors * error or abs(lead) + errors * error < near


def race(event: Event, pools: dict[tuple[str, str], Pool], draw: random.Random) -> int:
    """Matches of a race until it is resolved."""
    pairs = {pairing_id(pair): pair for pair in pools}
    format_ = Race(event.settings, event.entrants, Deals(bytes(32)))
    tally = Tally(margin=event.settings.rating.forfeit_margin)
    waves: list[Wave] = []
    while True:
        results = Evidence(event, tally, {}) if waves else NoResults()
        wave = format_.wave(waves, results)
        if isinstance(wave, ScheduleEnd):
            return sum(wave.matches for wave in waves)
        waves.append(wave)
        for pairing, deals in wave.deals.items():
            pair = pairs[pairing]
            gaps = tally.gaps.setdefault(pair, Moments())
            for block in format_.chunks(deals):
                for gap in draw.choices(pools[pair].gaps, k=len(block)):
                    gaps.add(gap, 2)
                    tally.blocks[ADJUSTED][pair].add(f"{block.start}", gap)


def strokes(pool: Pool) -> list[float]:
    """By which the first was ahead, a match, by rated deal."""
    return [-gap / (2 * THOUSANDTHS) for gap in pool.gaps]


def neighbours(event: Event, pools: dict[tuple[str, str], Pool]) -> None:
    """Tell how close they are, by the log, the four closest; and whether skills add up."""
    tally = Tally(margin=event.settings.rating.forfeit_margin)
    for pair, pool in pools.items():
        gaps = tally.gaps[pair] = Moments()
        for gap in pool.gaps:
            gaps.add(gap, 2)
    evidence = Evidence(event, tally, {})
    found = [
        (evidence.lead(one, two), one, two) for one, two in itertools.pairwise(evidence.order())
    ]
    for lead, one, two in sorted(found)[:4]:
        gaps = strokes(pools[min(one, two), max(one, two)])
        direct = statistics.mean(gaps) * (1 if one < two else -1)
        print(
            f"{one + ' / ' + two:<28} {lead.strokes:5.2f} ± {Z95 * lead.error:.2f} strokes, "
            f"{direct:+.2f} between the two; {statistics.stdev(gaps):.1f} is one deviation"
        )
    misfit = 0.0
    for (one, two), pool in pools.items():
        gaps = strokes(pool)
        off = statistics.mean(gaps) - evidence.lead(one, two).strokes
        misfit += len(gaps) * off * off / statistics.variance(gaps)
    free = len(pools) - len(evidence.order()) + 1
    print(f"squared misfits of one number a bot: {misfit / free:.1f} times those of chance")


def main() -> None:
    """Draw, and tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("log", type=Path)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--without", action="append", default=[], metavar="BOT")
    parser.add_argument("--deals", type=int, default=10, help="by which pairs play on")
    parser.add_argument(
        "--spread", type=int, default=10, help="of the warm-up; 0: all pairs play --deals"
    )
    parser.add_argument("--blocks", action="store_true", help="errors as wide as blocks ask for")
    options = parser.parse_args()
    event, pools = pools_of(options.log, options.without)
    bots = sorted({bot for pair in pools for bot in pair})
    entrants = tuple(entrant for entrant in event.entrants if entrant.id in bots)
    settings = msgspec.structs.replace(
        event.settings,
        format="racing",
        rate_on=ADJUSTED,
        deals=options.deals,
        tables=None,
        units=BLOCKS if options.blocks else msgspec.UNSET,
        racing=msgspec.structs.replace(
            Race.stated(RaceSettings(close=CLOSE)), spread=options.spread or msgspec.UNSET
        ),
        evaluator=luck.evaluator_name(registry.game(event.settings.game)),
    )
    event = msgspec.structs.replace(event, settings=settings, entrants=entrants)
    print(
        f"{len(bots)} bots, {sum(len(pool.points) for pool in pools.values())} matches in the log"
    )
    neighbours(event, pools)
    raced = [race(event, pools, random.Random(f"race{n}")) for n in range(options.times)]
    told = [plain(pools, bots, random.Random(f"plain{n}")) for n in range(options.times)]
    for name, found in (("plain round robin", told), ("race", raced)):
        low, *_, high = sorted(found)
        tenth, *_, ninth = statistics.quantiles(found, n=10)
        print(
            f"{name:<18} median {statistics.median(found):>10,.0f}  ({low:,} to {high:,}; "
            f"eight of ten {tenth:,.0f} to {ninth:,.0f})"
        )
    print(f"ratio of the medians: 1/{statistics.median(told) / statistics.median(raced):.1f}")


if __name__ == "__main__":
    main()
