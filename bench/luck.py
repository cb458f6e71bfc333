"""How much of the luck the ledger takes away, measured on games that bots have really played.

    python bench/luck.py FOLDER [FOLDER...]     # results folders of finished events
    python bench/luck.py --retuned FOLDER       # writes copies of example bots, a constant changed
    python bench/luck.py --cost                 # plays the Python bots, and compares the CPU

Prints a table of all folders together, and one of every kind of event. Pairs are alike if the name
of one is the other's with "-b" at its end, as those of the retuned copies are; a folder with such
names counts for its alike pairs alone.

- **explained**: the share of the variance of a match's stroke difference that is gone when each
  seat's luck is taken off, by pair, over single matches.
- **rotated**: the variance of the mean difference of matches on deals of their own, unadjusted,
  over that of the luck-adjusted mean of all seatings of one deal, for as many matches.
- **CPU**: of this process, for a ledger's sums. `--cost` compares it with that of `arena run` and
  all that it starts, with one job, between events of different length: set-up doesn't count.
"""

from __future__ import annotations

import argparse
import math
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from itertools import combinations
from pathlib import Path

from arena.deals import Deals, with_beacon
from arena.luck import entries, evaluator_name, sums
from arena.registry import GAMES, game
from arena.store import read_by_id, read_event

BOTS = Path(__file__).parents[1] / "example_bots"
SUFFIX = "-b"
RETUNED = {
    "greedy": (
        ("bot.py", "TAKE_ABOVE_NINE = 3", "TAKE_ABOVE_NINE = 2"),
        ("bot.py", "KNOCK_AT = 7", "KNOCK_AT = 8"),
    ),
    "matcher": (
        ("bot.py", "FLIP_LAST_AT = 10.5", "FLIP_LAST_AT = 8.5"),
        ("bot.py", "<= 8 - ", "<= 7 - "),
    ),
    "strong": (
        ("bot.py", "drawing(unseen.draws) - EPSILON", "drawing(unseen.draws) - 0.5"),
        ("bot.py", "KNOCK_AHEAD = 4", "KNOCK_AHEAD = 3"),
    ),
    "expectimax": (
        ("play_nine.rs", "PRICE: f32 = 4.0", "PRICE: f32 = 3.5"),
        ("four_card_golf.rs", "AHEAD: f32 = 4.0", "AHEAD: f32 = 3.5"),
    ),
    "column-js": (
        ("bot.js", "[0, 0, 1.5, 3]", "[0, 0, 2, 3]"),
        ("bot.js", "sum <= 5", "sum <= 6"),
    ),
}
"""What an author may try next: file, what stands there, what then."""


def retune(folder):
    """Write the retuned copies, and their originals beside them."""
    for name, changes in RETUNED.items():
        shutil.copytree(BOTS / name, folder / name)
        copy = Path(shutil.copytree(BOTS / name, folder / (name + SUFFIX)))
        manifest = copy / "bot.toml"
        renamed = (manifest.name, f'name = "{name}"', f'name = "{name}{SUFFIX}"')
        for file, before, after in (renamed, *changes):
            text = (copy / file).read_text(encoding="utf-8")
            assert text.count(before) == 1, (
                f"{name}/{file}: {before!r} is there {text.count(before)} times"
            )
            (copy / file).write_text(text.replace(before, after), encoding="utf-8")


class Measured:
    """What was found for a game with so many seats."""

    def __init__(self):
        self.pairs = defaultdict(dict)
        """By pair: by pairing, deal and rotation, (difference of strokes, of luck)."""
        self.kinds = defaultdict(lambda: defaultdict(float))
        """By kind and deal: the luck of all seats in all rotations, which have cards in common."""
        self.seconds = 0.0
        self.matches = 0
        self.seats = 0

    def take(self, event, records, without=()):
        """Measure the matches of a log, but for those of some bots."""
        settings = event.settings
        self.seats = settings.seats
        named = {
            "game": game(settings.game),
            "deals": Deals(with_beacon(bytes.fromhex(event.secret), event.beacon)),
            "settings": settings,
        }
        names = {entrant.id: entrant.name for entrant in event.entrants}
        copies = any(name.endswith(SUFFIX) for name in names.values())
        for record in records:
            seats = sorted(range(settings.seats), key=lambda seat: names[record.seats[seat]])
            pairs = [
                (seats_of, pair)
                for seats_of in combinations(seats, 2)
                if alike(pair := tuple(names[record.seats[seat]] for seat in seats_of))
                or not copies
            ]
            if record.faults or not pairs or {names[seat] for seat in record.seats} & {*without}:
                continue
            started = time.process_time()
            luck = sums(record, **named)
            self.seconds += time.process_time() - started
            self.matches += 1
            for (first, second), pair in pairs:
                strokes = record.totals[first] - record.totals[second]
                key = record.pairing, record.deal, record.rotation
                self.pairs[pair][key] = strokes, (luck[first] - luck[second]) / 1000
            for entry in entries(record, **named):
                self.kinds[entry.kind.value][record.pairing, record.deal] += entry.luck / 1000

    def explained(self):
        """By pair, the share of the variance of single matches that is gone."""
        return {
            pair: 1
            - statistics.variance(strokes - luck for strokes, luck in found.values())
            / statistics.variance(strokes for strokes, _ in found.values())
            for pair, found in self.pairs.items()
        }

    def rotated(self, *, adjusted=True):
        """By pair, how many times less the variance of all seatings' mean is."""
        ratios = {}
        for pair, found in self.pairs.items():
            deals = defaultdict(list)
            for (pairing, deal, _), (strokes, luck) in found.items():
                deals[pairing, deal].append(strokes - luck if adjusted else strokes)
            means = [statistics.mean(rest) for rest in deals.values() if len(rest) == self.seats]
            alone = statistics.variance(strokes for strokes, _ in found.values()) / self.seats
            ratios[pair] = alone / max(statistics.variance(means), 1e-9)
        return ratios


PYTHON = ("greedy", "matcher", "strong")
SHORT, LONG = 5, 45
"""Deals a pair."""


def children():
    """CPU seconds of all that this process has started and that is over."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cost():
    """Prints what playing and measuring cost a match."""
    print("| game | playing, ms | luck, ms | share |")
    print("|---|---:|---:|---:|")
    for name in GAMES:
        with tempfile.TemporaryDirectory() as folder:
            spent = {}
            for deals in (SHORT, LONG):
                before = children()
                command = ["arena", "run", *[BOTS / bot for bot in PYTHON], "--game", name]
                command += ["--deals", str(deals), "--seed", "cost", "--jobs", "1"]
                command += ["--out", f"{folder}/{deals}", "--quiet"]
                subprocess.run(
                    [sys.executable, "-m", *command], check=True, stdout=subprocess.DEVNULL
                )
                spent[deals] = children() - before
            measured = Measured()
            event = read_event(Path(folder, str(LONG)))
            measured.take(event, read_by_id(Path(folder, str(LONG)), lambda _: True))
        playing = (spent[LONG] - spent[SHORT]) * LONG / (LONG - SHORT) / measured.matches
        luck = measured.seconds / measured.matches
        print(f"| {name} | {1000 * playing:.1f} | {1000 * luck:.2f} | {luck / playing:.0%} |")


def alike(pair):
    """Whether it is a bot and its retuned copy."""
    return pair[0] + SUFFIX == pair[1]


def spread(values):
    """Median, and the least with its pair."""
    pair = min(values, key=values.__getitem__)
    return statistics.median(values.values()), values[pair], " / ".join(pair)


def report(name, measured):
    """A game's part of the page."""
    shares, rotated = measured.explained(), measured.rotated()
    plain = measured.rotated(adjusted=False)
    matches = min(map(len, measured.pairs.values()))
    print(f"**{name}**, {measured.seats} seats, by `{evaluator_name(game(name))}`: ", end="")
    print(f"{measured.matches} matches, {len(shares)} pairs of bots with at least {matches} each\n")
    print("| pairs | explained | least | rotated | least | rotated, not adjusted |")
    print("|---|---:|---|---:|---|---:|")
    for title, wanted in (("unlike", False), ("alike", True)):
        some = [
            {pair: value for pair, value in values.items() if alike(pair) is wanted}
            for values in (shares, rotated, plain)
        ]
        if some[0]:
            (e, e_low, e_pair), (r, r_low, r_pair), (u, _, _) = map(spread, some)
            print(f"| {title} ({len(some[0])}) | {e:.0%} | {e_low:.0%} {e_pair}", end="")
            print(f" | {r:.1f} | {r_low:.1f} {r_pair} | {u:.1f} |")
    print(f"\nCPU: {1000 * measured.seconds / measured.matches:.2f} ms a match, for its sums.\n")
    print("| kind | mean luck a seat | standard error | in errors |")
    print("|---|---:|---:|---:|")
    for kind, by_deal in measured.kinds.items():
        lucks = [luck / measured.seats**2 for luck in by_deal.values()]
        mean = statistics.mean(lucks)
        error = statistics.stdev(lucks) / math.sqrt(len(lucks))
        print(f"| {kind} | {mean:+.4f} | {error:.4f} | {mean / error:+.1f} |")
    print()


def main():
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--retuned", type=Path, help="write the retuned copies, and nothing else")
    parser.add_argument("--pairs", action="store_true", help="every pair, too")
    parser.add_argument("--without", nargs="*", default=(), help="names of bots to leave out")
    parser.add_argument("--cost", action="store_true", help="CPU beside that of playing")
    asked = parser.parse_args()
    if asked.cost:
        cost()
    if asked.retuned is not None:
        retune(asked.retuned)
        return 0
    games = defaultdict(Measured)
    for folder in asked.folders:
        event = read_event(folder)
        measured = games[event.settings.game, event.settings.seats]
        measured.take(event, read_by_id(folder, lambda _: True), asked.without)
    for (name, _), measured in games.items():
        report(name, measured)
        if asked.pairs:
            rotated = measured.rotated()
            for pair, share in sorted(measured.explained().items(), key=lambda item: item[1]):
                print(f"{share:6.1%} {rotated[pair]:6.1f}x  {' / '.join(pair)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
