"""A season of a ladder, day by day: what its rounds find out, and what its files and commands cost.

    python bench/ladder.py                           # 60 authors, 2 games, 10 new versions a day
    python bench/ladder.py --days 115                # to 20 versions of each author
    python bench/ladder.py --seasons 100 --authors 16 --newcomers 3 --matches 300 --days 6
    python bench/ladder.py --played --days 7 --out FOLDER     # real bots and real processes

Without `--played` no bot runs: a match's strokes are drawn from the skills of its two bots, and
all else is the product's: the chain, the rounds' settings, their waves, the count, the sums, the
tables. Such a round has no log. A rated deal, less luck, is drawn with the deviation `--noise`, in
strokes a match. An author's skill begins with a deviation of `--skills` strokes, and a new version
is better than the one before by 1 ± 2 strokes.

With `--played` rounds are those of `arena ladder round`. The bots are greedy with a threshold that
is drawn by lot, and with a share of random moves, less in each version. They skip the check at the
door, which is not a part of a round.

A newcomer's interval is compared with the median of the field after its first round, and its
matches with those of a gauntlet of ten deals against all. Two are *wrongly apart* if a table shows
them apart in the wrong order. CPU is counted, of all processes.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

import arena
from arena.bots import default_cache, in_use, load
from arena.bots.trees import copy_into
from arena.deals import commitment, secret_from_seed
from arena.event.results import counting_of
from arena.ladder.chain import Accepted, RoundBegun, RoundEnded
from arena.ladder.folder import Ladder
from arena.ladder.ranking import earlier, mixture, pooled, sums_of
from arena.ladder.rounds import round_settings
from arena.ladder.state import Round
from arena.model import ADJUSTED, Entrant, Event, LadderSettings, MatchSpec, sha256_hex
from arena.ratings.archive import HOLES, MatchSummary
from arena.ratings.evidence import fitted, lead_of
from arena.ratings.intervals import most_likely_share
from arena.ratings.outcomes import THOUSANDTHS, Tally
from arena.ratings.separation import separation
from arena.ratings.stroke_fit import skill_of_a_stroke
from arena.ratings.sums import encode_sums
from arena.schedule import step_down
from arena.store.folder import write_atomically, write_event

GREEDY = Path(__file__).parents[1] / "example_bots" / "greedy" / "bot.py"
BOT = """import json, random, sys
import greedy

greedy.TAKE_ABOVE_NINE, greedy.TAKE_ABOVE_FOUR = {nine:.3f}, {four:.3f}
for line in sys.stdin.buffer:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{{"type":"ready"}}', flush=True)
    elif message["type"] == "match":
        draw = random.Random(message["seed"])
    elif message["type"] == "act":
        view, legal = message["view"], message["legal"]
        move = draw.choice(legal) if draw.random() < {share:.4f} else greedy.choose(view, legal)
        print(json.dumps({{"turn": message["turn"], "move": move}}), flush=True)
    elif message["type"] == "bye":
        break
"""
GAUNTLET = 10  # deals against each, both seatings
BETTER, WITHIN = 1.0, 2.0  # strokes by which a version is better than the one before
LUCK = 15.0  # strokes; it only decides who wins a match
RECEIVED = "2026-01-01T00:00:00Z"
_pack = msgspec.msgpack.Encoder().encode


class Field:
    """The authors' bots, and how good they are."""

    def __init__(self, options: argparse.Namespace, seed: str) -> None:
        self._options = options
        self.played: bool = options.played
        self._lot = random.Random(f"field {seed}")
        self.skill: dict[str, dict[str, float]] = {}
        """By entrant and game: strokes a match better than the mean."""
        self._share: dict[str, float] = {}
        self._latest: dict[str, str] = {}

    def submit(self, ladder: Ladder, author: str) -> Entrant:
        """Have an author's next version accepted."""
        version = str(len(ladder.state.author(author).accepted) + 1)
        name, before = f"{author}@{version}", self._latest.get(author)
        draw = self._lot.gauss
        self.skill[name] = {
            game: self.skill[before][game] + draw(BETTER, WITHIN)
            if before
            else draw(0.0, self._options.skills)
            for game in self._options.games
        }
        self._latest[author] = name
        content = sha256_hex(name.encode())
        if self.played:
            content = self._kept(ladder, author)
        entrant = Entrant(id=name, name=author, version=version, hash=content)
        ladder.append(
            Accepted(author=author, entrant=entrant, submission=content, received=RECEIVED)
        )
        return entrant

    def _kept(self, ladder: Ladder, author: str) -> str:
        """Write a bot, and keep it as an accepted version; returns its content's hash."""
        self._share[author] = self._share.get(author, self._lot.uniform(0.0, 0.6)) * 0.9
        share, threshold = self._share[author], self._lot.uniform(1.0, 5.0)
        with tempfile.TemporaryDirectory() as place, in_use(default_cache()) as cache:
            shutil.copy(GREEDY, Path(place) / "greedy.py")
            text = BOT.format(share=share, nine=threshold, four=threshold - 1)
            (Path(place) / "bot.py").write_text(text)
            bot = load([Path(place)], cache=cache).candidates[0]
            if not (kept := ladder.version(bot.entrant)).exists():
                kept.mkdir()
                copy_into(Path(bot.snapshot), kept)
        return bot.entrant.snapshot


def drawn_round(ladder: Ladder, game: str, field: Field, options: argparse.Namespace) -> None:
    """A round whose matches are drawn instead of played."""
    rules, active = ladder.state.rules, ladder.state.active
    begun = RoundBegun(round=len(ladder.state.rounds) + 1, game=game, commitment="0" * 64)
    secret = secret_from_seed(f"{rules.seed}/{begun.round}")
    base = replace(rules.event(game).settings(), predictable=True)
    known = earlier(ladder, game, [each.id for each in active], base.rating)
    own = replace(round_settings(rules, begun, ladder.chain.head), **known)
    settings = replace(base, format="ladder", ladder=own)
    begun = replace(begun, commitment=commitment(secret, settings, active))
    event = Event(
        settings=settings,
        entrants=active,
        commitment=begun.commitment,
        predictable=True,
        finished=True,
        secret=secret.hex(),
        sandbox="none",
    )
    ladder.append(begun)
    counting, lot = counting_of(event, secret), random.Random(f"{rules.seed} {begun.round}")
    while counting.left:
        for block in counting.ahead():
            for series in block.series:
                for spec in series.matches:
                    summary = drawn_match(spec, field, game, options.noise, lot)
                    counting.take_in(series.id, spec.id, _pack(summary), faulted=False)
    played = ladder.state.rounds[-1]
    place = ladder.place_of(played)
    place.mkdir()
    write_event(place, event)
    tally = counting.counted().tally
    ended = RoundEnded(round=begun.round, log=begun.commitment, matches=tally.matches)
    keep_sums(ladder, played, ended, tally)
    ladder.append(ended)


def keep_sums(ladder: Ladder, played: Round, ended: RoundEnded, tally: Tally) -> None:
    """As `arena.ladder.ranking` keeps those of a log."""
    path, encoded = ladder.derived(f"{played.name}.sums"), encode_sums(tally)
    path.parent.mkdir(exist_ok=True)
    mark = bytes.fromhex(sha256_hex(bytes.fromhex(ended.log) + encoded))
    write_atomically(path, mark + encoded)


def drawn_match(
    spec: MatchSpec, field: Field, game: str, noise: float, lot: random.Random
) -> MatchSummary:
    one, two = (field.skill[entrant][game] for entrant in spec.seats)
    behind = one - two + lot.gauss(0.0, noise * math.sqrt(2))  # a rated deal is a mean of two
    totals = 60, 60 + round(behind + lot.gauss(0.0, LUCK))
    luck = 0, THOUSANDTHS * (totals[1] - totals[0]) - round(THOUSANDTHS * behind)
    places = (1, 1) if totals[0] == totals[1] else (1, 2) if totals[0] < totals[1] else (2, 1)
    return MatchSummary(
        id=spec.id,
        attempt=0,
        digest=spec.id,
        totals=totals,
        places=places,
        strokes=totals,
        holes=(HOLES, HOLES),
        decisions=(100, 100),
        think_us=(5_000, 5_000),
        off_turn_us=(0, 0),
        luck=luck,
    )


class Shown(NamedTuple):
    """What a game's ranking shows on a day."""

    apart: int
    """Pairs that are told apart."""
    wrong: int
    new: list[float]
    """Standard errors against the field, in strokes a match: of newcomers."""
    old: list[float]
    new_ranks: list[int]
    """The ranks that a newcomer may have, as many."""
    old_ranks: list[int]


def shown(ladder: Ladder, game: str, field: Field, fresh: set[str]) -> Shown:
    """Every pair, as the ladder's table judges it."""
    rules, active = ladder.state.rules, ladder.state.active
    own = LadderSettings(
        round=1, head="", budget=1, close=rules.close, mixture=mixture(rules.close)
    )
    settings = replace(rules.event(game).settings(), format="ladder", ladder=own)
    event = Event(settings=settings, entrants=active, commitment="")
    fit = fitted(event, pooled(ladder, game), ADJUSTED)
    index = {name: at for at, name in enumerate(fit.entrants)}
    leads = {
        pair: lead_of(fit, index[pair[0]], index[pair[1]], settings.rating)
        for pair in itertools.combinations(fit.order(), 2)
    }

    def errors(pairs: int, error: float) -> float:
        return separation(settings, pairs, error)

    neighbours = (leads[pair] for pair in itertools.pairwise(fit.order()))
    pairs = step_down(neighbours, len(index) - 1, errors)
    apart = [
        pair
        for pair, lead in leads.items()
        if lead.strokes > errors(pairs, lead.error) * lead.error
    ]
    skill = {} if field.played else field.skill
    wrong = sum(skill[one][game] < skill[two][game] for one, two in apart if skill)
    told = Counter(itertools.chain.from_iterable(apart))
    ranks = {name: len(index) - told[name] for name in index}
    unit = skill_of_a_stroke(settings.rating)
    error = {
        name: found / unit
        for name, found in zip(fit.entrants, fit.against(range(len(index))), strict=True)
    }
    return Shown(
        len(apart),
        wrong,
        [value for name, value in error.items() if name in fresh],
        [value for name, value in error.items() if name not in fresh],
        [many for name, many in ranks.items() if name in fresh],
        [many for name, many in ranks.items() if name not in fresh],
    )


class Day(NamedTuple):
    matches: int
    cpu: float
    wall: float
    width: list[float]
    """Of newcomers, as a share of the field's median; empty on the first day."""
    ranks: list[float]
    """Of newcomers, how many they may have, as a share of the field's median."""
    spent: list[int]
    """Matches of newcomers in a game."""
    apart: float
    """Share of the pairs."""
    wrong: int
    look: float
    """Seconds of CPU to judge all pairs, which is no part of a day."""


def cpu() -> float:
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def days(folder: Path, options: argparse.Namespace, seed: str) -> Iterator[Day]:
    folder.mkdir(parents=True, exist_ok=True)
    games = "".join(f"[games.{game}]\n" for game in options.games)
    rules = f'name = "season"\nseed = "{seed}"\nmatches = {options.matches}\n{games}'
    (folder / "ladder.toml").write_text(rules)
    arena.ladder_init(folder)
    field, lot = Field(options, seed), random.Random(f"days {seed}")
    authors = [f"author-{number:02d}" for number in range(options.authors)]
    waiting: list[str] = []
    ladder: Ladder | None = None  # nobody else changes it
    for day in range(options.days):
        if day and len(waiting) < options.newcomers:  # each author in turn, by lot
            waiting += lot.sample(authors, len(authors))
        new = waiting[: options.newcomers] if day else authors
        del waiting[: options.newcomers]
        ladder = ladder if ladder and not options.played else Ladder(folder)
        fresh = {field.submit(ladder, author).id for author in dict.fromkeys(new)}
        begun, used = monotonic(), cpu()
        for game in options.games:
            if not options.played:
                drawn_round(ladder, game, field, options)
                continue
            run = arena.RunOptions(sandbox=options.sandbox, jobs=options.jobs)
            if not arena.ladder_round(folder, game, options=run).complete:
                raise SystemExit(f"{folder}: a round was stopped")
        wall, used = monotonic() - begun, cpu() - used
        ladder, before = Ladder(folder) if options.played else ladder, cpu()
        found = [shown(ladder, game, field, fresh) for game in options.games]
        rounds = ladder.state.rounds[-len(options.games) :]
        spent = [matches_of(ladder, each, fresh) for each in rounds]
        pairs = math.comb(options.authors, 2) * len(found)
        yield Day(
            matches=sum(each.ended.matches for each in rounds if each.ended),
            cpu=used,
            wall=wall,
            width=[
                value / statistics.median(each.old)
                for each in found
                if each.old
                for value in each.new
            ],
            ranks=[
                value / statistics.median(each.old_ranks)
                for each in found
                if each.old_ranks
                for value in each.new_ranks
            ],
            spent=list(itertools.chain.from_iterable(spent)),
            apart=sum(each.apart for each in found) / pairs,
            wrong=sum(each.wrong for each in found),
            look=cpu() - before,
        )


def matches_of(ladder: Ladder, played: Round, names: set[str]) -> list[int]:
    accounts = sums_of(ladder, played).accounts
    return [accounts[name].matches for name in sorted(names) if name in accounts]


def show_day(number: int, day: Day) -> None:
    width = f"{statistics.median(day.width):.2f} {max(day.width):.2f}" if day.width else "-"
    spent = f"{statistics.median(day.spent):.0f} {max(day.spent)}"
    print(
        f"{number:4} {day.matches:8} {day.cpu:8.1f} {day.wall:8.1f} {width:>12} {spent:>10} "
        f"{day.apart:6.0%} {day.wrong:6} {day.look:6.1f}",
        flush=True,
    )


def show_summary(found: Sequence[Day], options: argparse.Namespace) -> None:
    later = [day for day in found if day.width]
    if later:
        widths = [value for day in later for value in day.width]
        ranks = [value for day in later for value in day.ranks]
        spent = [value for day in later for value in day.spent]
        gauntlet = 2 * GAUNTLET * (options.authors - 1)
        print(
            f"newcomers: interval {statistics.median(widths):.2f} of the field's median, 9 of 10 "
            f"below {quantile(widths):.2f}; ranks that it may have {statistics.median(ranks):.2f} "
            f"of the field's median, 9 of 10 below {quantile(ranks):.2f}; "
            f"matches {statistics.mean(spent):.0f} of a gauntlet's {gauntlet}, "
            f"{statistics.mean(spent) / gauntlet:.0%}, 9 of 10 below "
            f"{quantile(spent):.0f}"
        )
    if not options.played:  # what real bots can do isn't known
        wrong = sum(day.wrong > 0 for day in found)
        print(f"days with a pair wrongly apart: {wrong} of {len(found)}")


def quantile(values: Sequence[float]) -> float:
    return sorted(values)[min(len(values) - 1, math.ceil(0.9 * len(values)) - 1)]


def show_disk(folder: Path, matches: int) -> None:
    sizes: dict[str, int] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            sizes.setdefault(kind_of(path.relative_to(folder)), 0)
            sizes[kind_of(path.relative_to(folder))] += path.stat().st_size
    for name, size in sorted(sizes.items(), key=lambda each: -each[1]):
        print(f"{size:14,} bytes {size / matches:10.1f} a match  {name}")
    whole = sum(sizes.values())
    print(f"{whole:14,} bytes {whole / matches:10.1f} a match  in {matches:,} matches")


def kind_of(place: Path) -> str:
    return (
        f"rounds/*/{'/'.join(place.parts[2:3])}" if place.parts[0] == "rounds" else place.parts[0]
    )


def show_commands(folder: Path, commands: Sequence[Sequence[str]]) -> None:
    """Time commands on the season."""
    for words in commands:
        used, begun = cpu(), monotonic()
        line = [sys.executable, "-m", "arena", "ladder", words[0], str(folder), *words[1:]]
        code = subprocess.run(line, stdout=subprocess.DEVNULL, check=False).returncode
        took = f"{cpu() - used:.1f} s of CPU, {monotonic() - begun:.1f} s"
        print(f"arena ladder {' '.join(words)}: {took}" + (f", exit code {code}" if code else ""))


def season(options: argparse.Namespace) -> None:
    """One season, shown day by day."""
    with nullcontext(options.out) if options.out else tempfile.TemporaryDirectory() as place:
        folder, found = Path(place) / "season", []
        print(" day  matches      CPU        s  width of new  matches  apart  wrong   look")
        for number, day in enumerate(days(folder, options, options.seed), 1):
            show_day(number, day)
            found.append(day)
        show_summary(found, options)
        show_disk(folder, sum(day.matches for day in found))
        commands = [["status"], ["table"], ["table", "--grades"]]
        show_commands(
            folder, [*commands, ["verify", "--jobs", "1"]] if options.played else commands
        )


def seasons(options: argparse.Namespace) -> None:
    """How often a season shows a pair apart in the wrong order."""
    found, wrong = [], 0
    for number in range(options.seasons):
        with tempfile.TemporaryDirectory() as place:
            one = list(days(Path(place) / "season", options, f"{options.seed} {number}"))
        found += one
        wrong += any(day.wrong for day in one)
        if sys.stderr.isatty():
            print(f"\r{number + 1} seasons, {wrong} wrong", end="", file=sys.stderr)
    show_summary(found, options)
    most = most_likely_share(wrong, options.seasons)
    print(
        f"seasons with a pair wrongly apart on any day, in any game: {wrong} of {options.seasons} "
        f"(95 %: at most {most:.1%}); pairs apart on the last days "
        f"{statistics.mean(day.apart for day in found[options.days - 1 :: options.days]):.0%}"
    )


def main() -> None:
    own = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=own)
    parser.add_argument("--authors", type=int, default=60)
    parser.add_argument("--newcomers", type=int, default=10, help="new versions a day")
    parser.add_argument("--days", type=int, default=14)
    parser.add_argument("--matches", type=int, default=3_000, help="of a round")
    parser.add_argument("--games", nargs="+", default=["play-nine", "four-card-golf"])
    parser.add_argument("--noise", type=float, default=9.0)
    parser.add_argument("--skills", type=float, default=6.0)
    parser.add_argument("--seasons", type=int, help="so many, for their errors alone")
    parser.add_argument("--played", action="store_true", help="with real bots")
    parser.add_argument("--sandbox", default="auto")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", default="season")
    parser.add_argument("--out", type=Path, help="keep the ladder there")
    options = parser.parse_args()
    seasons(options) if options.seasons else season(options)


if __name__ == "__main__":
    main()
