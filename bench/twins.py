"""How often `arena twins` lists honest bots, and how many ports it finds.

    python bench/twins.py GAME [--bots N] [--ports N] [--real N] [--seed TEXT] [--questions N]

Every bot answers the questions that `arena twins` would put to bots of the event in results/GAME.
**Honest** are N designs that are drawn by lot, each as if a student had written it alone: two of
seven from the scaffold, with some of its choices replaced, the others from the rules
(bots/designed/designs.py); and the example bots that are no recipes, as processes. **Ports** are
the same policy by another hand: as it is, with other tie-breaks, with another constant, with
another generator for what is decided by lot. The first N designs are also played as processes, in
Python and by a second implementation in JavaScript: **real** ports.

Intervals are 95 %: of honest pairs by drawing the bots again, since pairs share bots, of ports by
Wilson.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec

from arena.api.twins import published_recipes
from arena.bots import default_cache, in_use, load
from arena.event.poll import QUESTIONS, PollTerms, choose_courses, poll_bots
from arena.event.workshop import Workshop
from arena.ratings.intervals import wilson
from arena.registry import game as game_of
from arena.store import read_event
from arena.twins.likeness import Bars, BotAnswers, Likeness, TwinSearch
from arena.twins.questions import SeatCourse
from arena.wire.messages import Act, MatchStart

HERE = Path(__file__).parent
DESIGNED = HERE / "bots" / "designed"
EXAMPLES = HERE.parent / "example_bots"
OTHERS = ("champion", "choosy", "expectimax", "pacer", "quick")  # that are no recipes
DRAWS = 400

sys.path.insert(0, str(DESIGNED))
import bot as designed  # noqa: E402
import designs  # noqa: E402

Turn = tuple[dict[str, Any], tuple[str, ...]]  # a view, and what is legal
Course = list[tuple[int, list[Turn]]]  # by match its seed and its turns


def in_process(courses: Sequence[SeatCourse]) -> Course:
    """Views as bots read them."""
    found: Course = []
    for course in courses:
        [seed] = [line.seed for line in course.lines if isinstance(line, MatchStart)]
        acts = [line for line in course.lines if isinstance(line, Act)]
        found.append((seed, [(msgspec.to_builtins(a.view), tuple(a.legal)) for a in acts]))
    return found


def played(game: str, design: designs.Design, once: Course, again: Course) -> BotAnswers:
    """What a design answers."""
    lot = "lot" in (design["tee"], design["flip"])
    first = _answers(game, design, once)
    return BotAnswers(first, _answers(game, design, again) if lot else first)


def _answers(game: str, design: designs.Design, courses: Course) -> list[str]:
    answers = []
    for seed, turns in courses:
        rng = random.Random(f"{design.get('salt', '')}/{seed}")
        for view, legal in turns:
            move = designed.choose(game, view, rng, design)
            answers.append(move if move in legal else legal[0])
    return answers


def program(folder: Path, name: str, design: designs.Design, language: str) -> Path:
    """A design as a program."""
    place = folder / name
    place.mkdir()
    source, run = {"py": ("bot.py", ["python3", "-S"]), "js": ("bot.js", ["node"])}[language]
    shutil.copy(DESIGNED / source, place)
    (place / "design.json").write_text(json.dumps(design))
    (place / "bot.toml").write_text(f'version = "1"\nrun = {json.dumps([*run, source])}\n')
    return place


def shown(found: int, of: int) -> str:
    """A share with its interval."""
    share = found / of
    low, high = wilson(share, of, share * (1 - share))
    return f"{found:4} of {of:4}  {100 * share:5.1f} %  ({100 * low:.1f} to {100 * high:.1f})"


def false_alarms(
    pairs: Mapping[tuple[str, str], Likeness], bots: Sequence[str], bars: Bars
) -> None:
    """How many honest pairs get as far as each bar, and where bars would be."""
    rng = random.Random("draws")
    near = sum(each.near for each in pairs.values())
    print(f"\n{len(bots)} honest bots, {len(pairs):,} pairs; {near:,} too near a recipe to tell")
    draws = [Counter(rng.choices(bots, k=len(bots))) for _ in range(DRAWS)]
    for bar, rare in bars:
        listed = [pair for pair, each in pairs.items() if each.rare(bars) >= rare]
        rates = sorted(
            sum(drawn[a] * drawn[b] for a, b in listed) / sum(drawn[a] * drawn[b] for a, b in pairs)
            for drawn in draws
        )
        low, high = (100 * rates[at] for at in (DRAWS // 40, -DRAWS // 40))
        share = 100 * len(listed) / len(pairs)
        print(f"  alike >= {bar:.2f}: {len(listed):5}  {share:.2f} % ({low:.2f} to {high:.2f})")
    alike = sorted((0.0 if each.near else each.alike for each in pairs.values()), reverse=True)
    steps = (f"1 of {n}: {alike[len(alike) // n]:.2f}" for n in (20, 100, 300, 1000, 3000))
    print(f"  as much alike are {', '.join(steps)}")


def found_ports(what: str, ports: Mapping[str, Sequence[Likeness]], bars: Bars) -> None:
    """How many of each kind are listed."""
    every = [each for kind in ports.values() for each in kind]
    for bar, rare in bars:
        print(f"\n{what} that are listed, alike >= {bar:.2f}")
        for kind, found in {**ports, "all": every}.items():
            print(
                f"  {kind:20} {shown(sum(each.rare(bars) >= rare for each in found), len(found))}"
            )
    near = sum(each.near for each in every)
    print(f"  {near} of {len(every)} are too near a recipe to tell")


def recipes_beside(search: TwinSearch, ports: Collection[str]) -> None:
    """Of how many ports no statistic can tell: honest bots that play a recipe are the same."""
    found = sum(search.near(port) or search.near(port.partition(" ")[0]) for port in ports)
    print(f"  of {found} of {len(ports)} one of the two plays a recipe, or nearly")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("game", choices=("play-nine", "four-card-golf"))
    parser.add_argument("--bots", type=int, default=150)
    parser.add_argument("--ports", type=int, default=150)
    parser.add_argument("--real", type=int, default=20)
    parser.add_argument("--seed", default="a", help="draws the designs")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    wanted = parser.parse_args()
    folder, game = HERE.parent / "results" / wanted.game, wanted.game
    event = read_event(folder)
    courses = choose_courses(folder, event, print, wanted.questions)
    turns = [turn for course in courses for turn in course.turns]
    once, again = in_process(courses), in_process([course.reseeded() for course in courses])
    drawn = {
        f"design-{number:03}": designs.honest(random.Random(f"{wanted.seed}/honest/{number}"))
        for number in range(wanted.bots)
    }
    bots = {name: played(game, design, once, again) for name, design in drawn.items()}
    kinds: dict[str, str] = {}
    for number in range(wanted.ports):
        rng, kind = (
            random.Random(f"{wanted.seed}/port/{number}"),
            designs.PORTS[number % len(designs.PORTS)],
        )
        name = f"design-{number % wanted.bots:03}"
        port = f"{name} port-{number:03}"
        kinds[port] = kind
        bots[port] = played(game, designs.port(drawn[name], rng, kind), once, again)
    with in_use(default_cache()), tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        real = [
            program(place, f"{name}.{language}", drawn[name], language)
            for name in list(drawn)[: wanted.real]
            for language in ("py", "js")
        ]
        examples = [EXAMPLES / name for name in OTHERS]
        workshop = Workshop(event.settings, print, skip_broken=True)
        published = published_recipes(place, workshop)
        programs, _ = workshop.enter(load([*examples, *real], cache=workshop.cache))
        asked = {**published, **{bot.entrant.name: bot for bot in programs}}
        terms = PollTerms(event.settings, courses, workshop.backend.name, 120.0)
        answers = poll_bots(list(asked.values()), terms, workshop.room)
        processes = dict(zip(asked, answers, strict=True))
    recipes = {name: processes.pop(name) for name in published}
    bars = game_of(game).about.twins
    search = TwinSearch(turns, {**bots, **processes}, recipes, bars)
    honest = [*drawn, *(name for name in OTHERS if name in processes)]
    print(f"{game}: {len(turns):,} questions of {len(courses)} matches, each asked twice")
    false_alarms({pair: search.likeness(*pair) for pair in combinations(honest, 2)}, honest, bars)
    ports, families = defaultdict(list), defaultdict(list)
    for port, kind in kinds.items():
        original = port.partition(" ")[0]
        ports[kind].append(search.likeness(original, port))
        families[drawn[original]["family"]].append(ports[kind][-1])
    found_ports("ports, by what was changed,", ports, bars)
    found_ports("ports, by the original's family,", families, bars)
    recipes_beside(search, kinds)
    crossed = [
        search.likeness(f"{name}.py", f"{name}.js")
        for name in list(drawn)[: wanted.real]
        if f"{name}.js" in processes
    ]
    if crossed:
        found_ports("real ports, Python to JavaScript,", {"as processes": crossed}, bars)


if __name__ == "__main__":
    main()
