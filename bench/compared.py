"""How many matches `arena compare` needs, by pairs of bots that have really played.

    python bench/compared.py LOG... [--times 100]

Rated deals are drawn from a log again and again, with replacement, by a trial of the usual error
rates (0 against 2 strokes a match, 5 %) as `arena compare` decides it, until it has its verdict;
beside it a trial that sees strokes as played, each match on a deal of its own. The first of a pair
by name is the old bot, then the second.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Sequence
from pathlib import Path

import msgspec
from resolved import Pool, pools_of

from arena.deals import Deals
from arena.formats.trial import CHUNK, SequentialTrial
from arena.model import ADJUSTED, Event, TrialSettings, TrialVerdict
from arena.ratings.evidence import Evidence
from arena.ratings.intervals import Moments
from arena.ratings.outcomes import THOUSANDTHS, Tally
from arena.schedule import NoResults, ScheduleEnd, Wave, WaveResults

CLOSE = 5.0
"""Strokes a match: of pairs that are further apart the first look tells."""


def tried(event: Event, gaps: Sequence[int], draw: random.Random) -> tuple[TrialVerdict, int]:
    """The verdict of a trial of two, and its matches; `gaps` of the first by rated deal."""
    old, new = sorted(entrant.id for entrant in event.entrants)
    tally = Tally(margin=event.settings.rating.forfeit_margin)
    moments = tally.gaps[old, new] = Moments()
    trial = SequentialTrial(event.settings, event.entrants, Deals(bytes(32)))
    waves: list[Wave] = []
    evidence: WaveResults = NoResults()
    while not isinstance(wave := trial.wave(waves, evidence), ScheduleEnd):
        for gap in draw.choices(gaps, k=wave.matches // 2):
            moments.add(gap, 2)
        waves.append(wave)
        evidence = Evidence(event, tally, {})
    return wave.verdict or TrialVerdict.UNDECIDED, sum(wave.matches for wave in waves)


def event_of(event: Event, pair: tuple[str, str], new: str) -> Event:
    """The comparison of a pair."""
    settings = msgspec.structs.replace(
        event.settings,
        format="trial",
        rate_on=ADJUSTED,
        deals=CHUNK,
        series=CHUNK,
        tables=None,
        trial=SequentialTrial.stated(TrialSettings(new=new, budget=200_000)),
    )
    entrants = tuple(entrant for entrant in event.entrants if entrant.id in pair)
    return msgspec.structs.replace(event, settings=settings, entrants=entrants)


def as_played(pool: Pool, draw: random.Random) -> list[int]:
    """Two matches on deals of their own in the place of a rated deal, luck and all."""
    return [
        (draw.choice(pool.strokes) + draw.choice(pool.strokes)) * THOUSANDTHS
        for _ in range(20 * len(pool.gaps))
    ]


def main() -> None:
    """Draw, and tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("logs", type=Path, nargs="+")
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--without", action="append", default=[], metavar="BOT")
    options = parser.parse_args()
    told: list[tuple[float, float, float]] = []
    for log in options.logs:
        event, pools = pools_of(log, options.without)
        for pair, pool in sorted(pools.items()):
            # Strokes above are losses, so the sign of the lead is turned.
            lead = statistics.mean(pool.gaps) / 2 / THOUSANDTHS
            draw = random.Random(f"{pair}")
            plain = as_played(pool, draw)
            chosen = event_of(event, pair, max(pair))
            found = [tried(chosen, pool.gaps, draw) for _ in range(options.times)]
            slow = [tried(chosen, plain, draw) for _ in range(max(1, options.times // 5))]
            better = sum(verdict is TrialVerdict.BETTER for verdict, _ in found) / len(found)
            median = statistics.median(matches for _, matches in found)
            without = statistics.median(matches for _, matches in slow)
            told.append((abs(lead), median, without))
            print(
                f"{max(pair) + ' against ' + min(pair):<32} {lead:+6.1f} strokes a match, "
                f"better in {better:4.0%}: {median:5,.0f} matches, as played {without:7,.0f}"
            )
    for name, some in (("all", told), ("within 5 strokes", [t for t in told if t[0] < CLOSE])):
        if some:
            print(
                f"{len(some)} pairs, {name}: median {statistics.median(t[1] for t in some):,.0f} "
                f"matches (at most {max(t[1] for t in some):,.0f}), as played "
                f"{statistics.median(t[2] for t in some):,.0f}: "
                f"1/{statistics.median(t[2] / t[1] for t in some):.1f}"
            )


if __name__ == "__main__":
    main()
