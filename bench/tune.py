"""How many matches a tuning needs, on strokes less luck and on wins and losses.

    nice -n 10 python bench/tune.py --how strokes --deals 2
    nice -n 10 python bench/tune.py --how wins --deals 40          # hours
    python bench/tune.py --simulated                               # both, in a minute
    python bench/tune.py --simulated --how strokes --deals 2 3

The example bot `strong` gets four weights, one for each part of its learned value. They are detuned
(DETUNED) and tuned back by the search of `arena tune`, stage by stage, in this process: no sandbox,
no clock, the referee and the deals of an event. After each stage the setting that the tuning would
return plays `strong` as it is (GOOD), on deals that no tuning has seen.

Prints by how many strokes a match the settings of all seeds lag behind the good one: the median,
and the middle half. `--simulated` replaces the matches by a surface and the noise of real ones.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import inspect
import itertools
import json
import math
import random
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from arena.bots.manifest import parse
from arena.deals import Deals, secret_from_seed
from arena.engine.in_process import play_match
from arena.luck import evaluator_name, sums
from arena.model import Settings
from arena.registry import game
from arena.tuner.search import ParameterSearch, Setting, Stage
from arena.tuner.surface import Gap

STRONG = Path(__file__).parents[1] / "example_bots" / "strong"
MANIFEST = """\
name = "weighted"
version = "1"
author = "arena"
run = ["python3", "-S", "weighted.py"]

[tune]
moved = { default = 1, min = 0.0, max = 2.0 }
to_move = { default = 1, min = 0.0, max = 2.0 }
lead = { default = 1, min = 0.0, max = 2.0 }
feed = { default = 1, min = 0.0, max = 2.0 }
"""
PARAMETERS = parse(MANIFEST).tune
GOOD = {each.name: "1" for each in PARAMETERS}
DETUNED = {"moved": "0.4", "to_move": "1.7", "lead": "1.6", "feed": "0.3"}
GAME = game("play-nine")
EVENT_SD = GAME.about.rating.event_sd
DEPTH = {"moved": (33, 85), "to_move": (7.9, 5.3), "lead": (1.7, 32), "feed": (22, 1.4)}
"""Strokes by which a weight of 0, and one of 2, lags behind 1: halves of parabolas through what 40
deals each showed at 0 and at 2.5."""
NEAR, FAR = 25.0, 2.3
"""Variance of a rated deal's strokes less luck: near each other, and more a stroke of distance."""
SETTINGS = Settings(game=GAME.name, turn_cap=GAME.turn_cap, evaluator=evaluator_name(GAME))


def weigh(bot: Any, moved: float, to_move: float, lead: float, feed: float) -> None:
    """Multiply the tables of a loaded `strong`."""
    weights = {
        **dict.fromkeys(("MOVED", "LIVE_MOVED"), moved),
        **dict.fromkeys(("TO_MOVE", "LIVE_TO_MOVE"), to_move),
        "LEAD": lead,
        "FEED": feed,
    }
    for name, weight in weights.items():
        setattr(bot, name, _times(getattr(bot, name), weight))


def _times(table: Any, weight: float) -> Any:
    if isinstance(table, list):
        return [_times(each, weight) for each in table]
    return table if table is None else table * weight


_SCRIPT = """\
import os
import bot
%s
names = ("moved", "to_move", "lead", "feed")
weigh(bot, *(float(os.environ["ARENA_PARAM_" + name]) for name in names))
bot.main()
"""


def write_bot(folder: Path) -> None:
    """`strong` with four weights, as a bot for `arena tune`."""
    shutil.copytree(STRONG, folder)
    (folder / "bot.toml").write_text(MANIFEST)
    functions = "\n".join(map(inspect.getsource, (weigh, _times)))
    text = "from __future__ import annotations\nAny = None\n" + _SCRIPT % functions
    (folder / "weighted.py").write_text(text)


@functools.cache
def _bot(weights: tuple[float, ...]) -> Any:
    spec = importlib.util.spec_from_file_location("strong", STRONG / "bot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    weigh(module, *weights)
    return module


def policy(setting: Setting) -> Callable[[Any, Sequence[str]], str]:
    bot = _bot(tuple(float(setting[each.name]) for each in PARAMETERS))

    def choose(view: Any, legal: Sequence[str]) -> str:
        move: str = bot.choose(asdict(view), legal)
        return move

    return choose


def played(
    settings: dict[str, Setting], pair: tuple[str, str], deals: Deals, numbers: range
) -> Iterator[tuple[float, int]]:
    """By rated deal: strokes less luck a match by which the first is ahead, and who has won."""
    one, _ = pair
    policies = {each: policy(settings[each]) for each in pair}
    for deal in numbers:
        ahead, strokes = 0.0, 0
        for rotation in range(2):
            record = play_match(GAME, policies, deals=deals, deal=deal, rotation=rotation)
            luck = sums(record, game=GAME, deals=deals, settings=SETTINGS)
            mine = record.seats.index(one)
            strokes += record.totals[1 - mine] - record.totals[mine]
            ahead += (luck[mine] - luck[1 - mine]) / 1000
        yield (strokes + ahead) / 2, (strokes > 0) - (strokes < 0)


def gap(pair: tuple[str, str], values: Sequence[float]) -> Gap:
    mean = statistics.fmean(values)
    squares = sum((value - mean) ** 2 for value in values)
    return Gap(one=pair[0], two=pair[1], deals=len(values), strokes=mean, squares=squares)


def stage(number: int, settings: Sequence[Setting], deals: int, seed: str, how: str) -> Stage:
    named = {f"s{number:02d}-{place:02d}": each for place, each in enumerate(settings)}
    cards, noise = Deals(secret_from_seed(f"{seed}/{number}")), random.Random(f"{seed}/{number}")
    gaps = []
    for pair in itertools.combinations(named, 2):
        if how.startswith("simulated"):
            shown = list(simulated(named, pair, noise, deals))
        else:
            shown = list(played(named, pair, cards, range(deals)))
        # As `gaps_of` in arena/event/tune.py scales a win.
        wins = how.endswith("wins")
        gaps.append(gap(pair, [1.2533 * EVENT_SD * won if wins else by for by, won in shown]))
    return Stage(settings=named, gaps=gaps)


def behind(setting: Setting) -> float:
    """Of the simulated bot: strokes a match behind the best setting, which is GOOD."""
    off = {name: float(setting[name]) - 1 for name in DEPTH}
    return sum(DEPTH[name][far > 0] * far**2 for name, far in off.items())


def simulated(
    settings: dict[str, Setting], pair: tuple[str, str], noise: random.Random, deals: int
) -> Iterator[tuple[float, int]]:
    ahead = behind(settings[pair[1]]) - behind(settings[pair[0]])
    for _ in range(deals):
        by = noise.gauss(ahead, math.sqrt(NEAR + FAR * abs(ahead)))
        strokes = noise.gauss(ahead, EVENT_SD)
        yield by, (strokes > 0) - (strokes < 0)


def lag(setting: Setting, deals: int, seed: str) -> float:
    """Strokes less luck a match behind the good setting, on deals of its own."""
    if not deals:
        return behind(setting)
    cards = Deals(secret_from_seed(f"judged/{seed}"))
    both = {"good": GOOD, "new": setting}
    return statistics.fmean(by for by, _ in played(both, ("good", "new"), cards, range(deals)))


def tuned(
    seed: str, how: str, deals: int, stages: int, *, judged: int, first: int
) -> list[tuple[int, float]]:
    """Matches, and the lag, after each stage from `first` on."""
    search = ParameterSearch(PARAMETERS, DETUNED, seed=seed, stages=stages)
    found, matches = list[tuple[int, float]](), 0
    for number in range(stages):
        over = stage(number, search.next_settings(), deals, f"{seed}/{how}", how)
        search.add(over)
        matches += 2 * deals * len(over.gaps)
        if number + 1 >= first:
            found.append((matches, lag(search.best(), judged, seed)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--simulated", action="store_true", help="without a match")
    parser.add_argument("--how", choices=["strokes", "wins"], default="strokes")
    parser.add_argument("--deals", type=int, nargs="+", help="of a pair in a stage")
    parser.add_argument("--stages", type=int, default=8)
    parser.add_argument("--judged", type=int, default=80, help="deals that judge a setting")
    parser.add_argument("--from-stage", type=int, default=1, help="the first that is judged")
    parser.add_argument(
        "--kept", type=Path, help="a file of results: begun again, a measure goes on"
    )
    asked = parser.parse_args()
    measures = [(asked.how, deals) for deals in asked.deals or [2]]
    if asked.simulated:
        asked.judged = 0
        measures = [(f"simulated {how}", deals) for how, deals in measures]
        if not asked.deals:
            measures = [("simulated strokes", 1), ("simulated wins", 10), ("simulated wins", 20)]
    lines = asked.kept.read_text().splitlines() if asked.kept and asked.kept.exists() else []
    kept = {key: json.loads(found) for key, found in (line.split("\t") for line in lines)}
    for how, deals in measures:
        runs = []
        for seed in range(1, 1 + asked.seeds):
            limits = {"judged": asked.judged, "first": asked.from_stage}
            key = json.dumps([seed, how, deals, asked.stages, limits])
            if key not in kept:
                kept[key] = tuned(f"seed {seed}", how, deals, asked.stages, **limits)
                line = f"{key}\t{json.dumps(kept[key])}"
                if asked.kept:
                    with asked.kept.open("a") as file:
                        print(line, file=file)
                if not asked.simulated:
                    print(line, file=sys.stderr, flush=True)
            runs.append(kept[key])
        for number, after in enumerate(zip(*runs, strict=True)):
            matches = statistics.median(count for count, _ in after)
            low, middle, high = statistics.quantiles([by for _, by in after], n=4)
            name = f"{how:>17}, {deals:2} deals a pair, stage {number + asked.from_stage:2}"
            lags = f"behind by {middle:6.2f} ({low:.2f} to {high:.2f})"
            print(f"{name}: {matches:6.0f} matches, {lags}", flush=True)


if __name__ == "__main__":
    main()
