"""How far the evaluator behind regrets can be trusted: roll-outs, planted blunders, the rest.

    python bench/regret.py rollouts GAME    # 1,000 positions: its opinion beside played-out holes
    python bench/regret.py blunders         # ten bots with one kind of blunder each
    python bench/regret.py rest FOLDER...   # strokes = luck + regret + rest, in results folders

**rollouts** takes decisions from holes of the Python example bots, one a hole, of every number of
seats. Two moves are compared: the best by the evaluator, and the one that was played or, if that is
the best, the next best. Behind each the hole is played to its end, all seats by the policy
(`judge`: the evaluator's best moves; or an example bot in Python), both moves with the same cards.
The cards that no player knows and the stock are dealt anew each time; what other players of
four-card golf alone know stays as it was in the hole, one sample of what it could be.
"""

import argparse
import copy
import math
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from self_play import Imported

from arena import open_results
from arena.deals import Deals, secret_from_seed
from arena.games import Game, Hole
from arena.model import MatchSpec, Settings
from arena.referee import Referee
from arena.registry import GAMES, game
from arena.regret import MistakeKind, decisions, mistake_of, regret_of, worths_of
from arena.regret.summary import RegretSummary

BOTS = Path(__file__).parents[1] / "example_bots"
PLAYERS = ("greedy", "matcher", "strong")
SEATS = (2, 2, 2, 3, 4)
BINS = (0.25, 1.0, 3.0)

Policy = Callable[[Hole, int], str]


def by_judge(rules: Game) -> Policy:
    """The evaluator's best move."""
    worths = worths_of(rules)

    def choose(hole: Hole, seat: int) -> str:
        legal = hole.legal(seat)
        found = worths(hole.view(seat), hole.events(seat, 0), legal)
        return legal[found.index(min(found))]

    return choose


def by_bot(name: str) -> Policy:
    """An example bot that can be imported; it sees all moves of the hole at each decision."""
    module = Imported(BOTS / name).module

    def choose(hole: Hole, seat: int) -> str:
        view, legal = as_json(hole.view(seat)), hole.legal(seat)
        if not hasattr(module, "Caps") or "known" not in view:
            return str(module.choose(view, legal))
        caps = module.Caps(len(view["grids"]))
        caps.see(as_json(hole.events(seat, 0)))
        return str(module.four_card_golf(view, caps))

    return choose


def as_json(message: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(message))


def play_on(hole: Hole, policy: Policy) -> tuple[int, ...]:
    """Scores of the hole, played to its end by one policy."""
    while acting := hole.to_act():
        hole.apply(acting[0], policy(hole, acting[0]))
    return hole.scores()


def copied(hole: Hole) -> Any:
    """A hole that goes on by itself; its deck, which doesn't change, is shared."""
    other = copy.copy(hole)
    for name, value in vars(hole).items():
        if isinstance(value, list):
            setattr(other, name, [x.copy() if isinstance(x, list) else x for x in value])
    return other


def dealt_anew(hole: Any, chance: random.Random) -> Any:
    """A copy of the hole in which the cards that no player knows have been shuffled."""
    other = copied(hole)
    view = hole.view(hole.to_act()[0])
    letters = getattr(view, "known", None) or [
        ["n" if card is None else "a" for card in grid] for grid in view.grids
    ]
    down = [(s, at) for s, row in enumerate(letters) for at, who in enumerate(row) if who == "n"]
    inside, reshuffled = vars(other), vars(hole)["_reshuffles"]
    cards, stock = inside["_cards"], inside["_stock"]
    slots = [at for at, card in enumerate(stock) if card is not None]
    hidden, drawn = [cards[seat][at] for seat, at in down], [stock[at] for at in slots]
    if reshuffled:
        chance.shuffle(hidden)
        chance.shuffle(drawn)
    else:
        unseen = hidden + drawn
        chance.shuffle(unseen)
        hidden, drawn = unseen[: len(hidden)], unseen[len(hidden) :]
    for (seat, at), card in zip(down, hidden, strict=True):
        cards[seat][at] = card
    for at, card in zip(slots, drawn, strict=True):
        stock[at] = card
    return other


def margin(scores: Sequence[int], seat: int) -> float:
    """Strokes of a seat above the mean of the others."""
    return scores[seat] - (sum(scores) - scores[seat]) / (len(scores) - 1)


class Compared(msgspec.Struct):
    """Two moves of one position."""

    mistake: MistakeKind
    said: float  # by the evaluator: how much worse the second move is
    rolled: float  # by roll-outs
    error: float  # of these


def positions(rules: Game, count: int, chance: random.Random) -> Any:
    """(hole, seat, best, other, regret, mistake) at decisions of all players."""
    players = [by_bot(name) for name in PLAYERS]
    worths = worths_of(rules)
    deals = Deals(secret_from_seed("rollouts"))
    number = 0
    while count:
        number += 1
        seats = chance.choice(SEATS)
        deck = deals.deck("rollouts", number, 1, rules.pack(seats))
        order = tuple(range(seats))
        hole: Any = rules.start(seats=seats, order=order, deck=deck, turn_cap=rules.turn_cap)
        table = [chance.choice(players) for _ in order]
        held: list[Any] = []
        while acting := hole.to_act():
            seat = acting[0]
            move = table[seat](hole, seat)
            held.append((copied(hole), seat, move))
            hole.apply(seat, move)
        hole, seat, move = chance.choice(held)
        legal = hole.legal(seat)
        found = worths(hole.view(seat), hole.events(seat, 0), legal)
        least = min(found)
        best = legal[found.index(least)]
        other = move
        if found[legal.index(move)] - least < 1e-6:
            rest = [(w, m) for w, m in zip(found, legal, strict=True) if w - least > 1e-6]
            if not rest:
                continue
            other = min(rest)[1]
        said = regret_of(rules, found, legal.index(other))
        yield hole, seat, best, other, said, mistake_of(rules, hole.view(seat), other, best)
        count -= 1


def rollouts(rules: Game, count: int, times: int, name: str) -> list[Compared]:
    """What the evaluator says of positions, and what comes of them."""
    policy = by_judge(rules) if name == "judge" else by_bot(name)
    chance = random.Random("rollouts")
    found = []
    for hole, seat, best, other, said, mistake in positions(rules, count, chance):
        differences = []
        for _ in range(times):
            dealt = dealt_anew(hole, chance)
            twin = copied(dealt)
            dealt.apply(seat, other)
            twin.apply(seat, best)
            differences.append(
                margin(play_on(dealt, policy), seat) - margin(play_on(twin, policy), seat)
            )
        mean = sum(differences) / times
        variance = sum((x - mean) ** 2 for x in differences) / (times - 1)
        found.append(Compared(mistake, said, mean, math.sqrt(variance / times)))
    return found


def _line(title: str, some: Sequence[Compared]) -> None:
    if not some:
        return
    n = len(some)
    said = sum(each.said for each in some) / n
    rolled = sum(each.rolled for each in some) / n
    error = math.sqrt(sum((each.rolled - rolled) ** 2 for each in some) / max(1, n - 1) / n)
    sure = [each for each in some if abs(each.rolled) > 2 * each.error]
    agree = sum(each.rolled > 0 for each in sure)
    print(f"| {title} | {n} | {said:.2f} | {rolled:.2f} ± {error:.2f} | {agree} of {len(sure)} |")


def show_rollouts(found: Sequence[Compared]) -> None:
    print("| positions | | said | rolled | agree where the roll-outs are sure |")
    print("|---|---:|---:|---:|---:|")
    _line("all", found)
    low = 0.0
    for high in (*BINS, math.inf):
        title = f"regret {low:g} to {high:g}" if high < math.inf else f"regret above {low:g}"
        _line(title, [each for each in found if low <= each.said < high])
        low = high
    for mistake in MistakeKind:
        _line(mistake, [each for each in found if each.mistake is mistake])


def best_of(worths: Sequence[float], legal: Sequence[str], begins: str | tuple[str, ...]) -> str:
    """The best of the moves that begin so; empty if there is none."""
    return min(((w, m) for w, m in zip(worths, legal, strict=True) if m.startswith(begins)))[1]


def next_place(view: Any, move: str) -> str:
    """The same card one place further on; as it was where that would end the hole."""
    word, _, place = move.partition(" ")
    if word not in {"take", "swap"} or view.grids[view.seat].count(None) < 2:
        return move
    return f"{word} {(int(place) + 1) % len(view.grids[view.seat])}"


def _tee(view: Any, move: str, *_: Any) -> str:
    return "tee 0 4" if view.phase == "tee" else move


def _take(view: Any, move: str, worths: Any, legal: Any) -> str:
    wanted = view.phase == "turn" and view.discard <= 5 and view.grids[view.seat].count(None) > 1
    return best_of(worths, legal, "take") if wanted else move


def _draw(view: Any, move: str, *_: Any) -> str:
    return "draw" if view.phase == "turn" else move


def _misplace(view: Any, move: str, *_: Any) -> str:
    return next_place(view, move)


def _keep(view: Any, move: str, worths: Any, legal: Any) -> str:
    wanted = view.phase == "drawn" and view.drawn <= 9 and view.grids[view.seat].count(None) > 1
    return best_of(worths, legal, "swap") if wanted else move


def _discard(view: Any, move: str, worths: Any, legal: Any) -> str:
    return best_of(worths, legal, ("flip", "skip")) if view.phase == "drawn" else move


def _end(view: Any, move: str, *_: Any) -> str:
    grid = view.grids[view.seat]
    if view.phase == "drawn" and grid.count(None) == 1 and view.ended_by is None:
        return f"flip {grid.index(None)}"
    return move


def _go_on(view: Any, move: str, worths: Any, legal: Any) -> str:
    grid = view.grids[view.seat]
    if view.ended_by is not None or grid.count(None) != 1:
        return move
    others = [(w, m) for w, m in zip(worths, legal, strict=True) if m[5:] != str(grid.index(None))]
    return min(others)[1] if move.endswith(f" {grid.index(None)}") else move


def _knock(view: Any, move: str, _: Any, legal: Any) -> str:
    return "knock" if "knock" in legal and view.turns[view.seat] > 1 else move


def _never_knock(_: Any, move: str, worths: Any, legal: Any) -> str:
    return best_of(worths, legal, ("take", "draw")) if move == "knock" else move


BLUNDERS = {
    "tees off with one column": ("play-nine", MistakeKind.TEE, _tee),
    "takes whatever is 5 or lower": ("play-nine", MistakeKind.TOOK, _take),
    "never takes": ("play-nine", MistakeKind.DREW, _draw),
    "puts a card one place too far": ("play-nine", MistakeKind.MISPLACED, _misplace),
    "keeps what it draws up to 9": ("play-nine", MistakeKind.KEPT, _keep),
    "never keeps what it draws": ("play-nine", MistakeKind.DISCARDED, _discard),
    "goes out as soon as it can": ("play-nine", MistakeKind.EARLY, _end),
    "never goes out": ("play-nine", MistakeKind.LATE, _go_on),
    "knocks on its second turn": ("four-card-golf", MistakeKind.EARLY, _knock),
    "never knocks": ("four-card-golf", MistakeKind.LATE, _never_knock),
}
"""Of strong, each with one kind of blunder: game, the mistake that should come first, the move."""


def blunders(matches: int) -> int:
    """How many of ten planted blunders the report ranks first, by what they cost."""
    print("| strong, but it | game | first | strokes a match | second | |")
    print("|---|---|---|---:|---|---:|")
    found = 0
    for title, (name, mistake, blunder) in BLUNDERS.items():
        rules = game(name)
        worths, policy = worths_of(rules), by_bot("strong")
        settings = Settings(game=name, seats=2, turn_cap=rules.turn_cap)
        deals, summary = Deals(secret_from_seed("blunders")), RegretSummary()
        for number in range(matches):
            spec = MatchSpec(
                id=f"b-{number:06d}-0", series="b", pairing="b", deal=number // 2,
                rotation=number % 2, seats=("blunders", "strong")[:: 1 - 2 * (number % 2)],
            )  # fmt: skip
            referee = Referee(spec, game=rules, deals=deals, settings=settings)
            referee.begin()
            while referee.asked:
                for seat in referee.asked:
                    _, view, plays = referee.sight(seat)
                    legal = referee.legal(seat)
                    move = policy(_Seen(view, plays, legal), seat)
                    if spec.seats[seat] == "blunders":
                        move = blunder(view, move, worths(view, plays, legal), legal)
                    referee.answer(seat, move)
            record = referee.record()
            record = msgspec.structs.replace(record, digest=record.computed_digest())
            summary.add(record, decisions(record, game=rules, deals=deals, settings=settings))
        (mine,) = [each for each in summary.bots() if each.bot == "blunders"]
        (first, cost), (second, less) = [*mine.mistakes.items(), ("-", 0.0)][:2]
        found += first is mistake
        mark = "" if first is mistake else f", not {mistake}"
        print(f"| {title} | {name} | {first}{mark} | {cost:.1f} | {second} | {less:.1f} |")
    print(f"\n{found} of {len(BLUNDERS)} ranked first, {matches} matches each against strong")
    return found


class _Seen:
    """What a policy asks a hole for."""

    def __init__(self, view: Any, plays: Any, legal: Any) -> None:
        self.view, self.events = lambda _: view, lambda *_: plays
        self.legal = lambda _: legal


def rest(folder: Path, newest: int, weakest: str) -> None:
    """What is left of strokes when luck and regret are taken off, by bot and over all."""
    results = open_results(folder)
    records = sorted(results.matches(), key=lambda record: record.digest)[:newest]
    found, bots = [], defaultdict(list)
    for record in records:
        regrets = [0.0] * len(record.seats)
        for each in results.decisions(record):
            regrets[each.seat] += each.regret / 1000
        lucks = [each / 1000 for each in record.luck]
        plain = not any(seat.startswith(weakest) for seat in record.seats)
        for seat, bot in enumerate(record.seats):
            parts = [margin(each, seat) for each in (record.totals, lucks, regrets)]
            found.append((plain, *parts))
            bots[bot].append(parts)
    print(f"**{results.settings.game}**, {len(records)} matches of {folder}\n")
    print("| bot | matches | strokes | luck | regret | rest |")
    print("|---|---:|---:|---:|---:|---:|")
    for bot, mine in sorted(bots.items(), key=lambda item: _mean([x[0] for x in item[1]])):
        strokes, luck, regret = (_mean(column) for column in zip(*mine, strict=True))
        left = [s - k - r for s, k, r in mine]
        error = math.sqrt(_variance(left) / len(left))
        means = f"{strokes:+.1f} | {luck:+.1f} | {regret:+.1f}"
        print(f"| {bot} | {len(mine)} | {means} | {_mean(left):+.1f} ± {error:.1f} |")
    print(f"\n| | all | without {weakest} |")
    print("|---|---:|---:|")
    parts = [[each[1:] for each in found], [each[1:] for each in found if each[0]]]
    scales = [
        sum((s - k) * r for s, k, r in some) / sum(r * r for _, _, r in some) for some in parts
    ]
    print(f"| scale of regret that would leave least | {scales[0]:.2f} | {scales[1]:.2f} |")
    for title, taken in (
        ("luck taken off", lambda s, k, _: s - k),
        ("luck and regret", lambda s, k, r: s - k - r),
    ):
        shares = [
            _variance([taken(*each) for each in some]) / _variance([each[0] for each in some])
            for some in parts
        ]
        print(f"| variance left, {title} | {shares[0]:.1%} | {shares[1]:.1%} |")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def main() -> int:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("what", choices=("rollouts", "blunders", "rest"))
    parser.add_argument("names", nargs="*", help="games or results folders")
    parser.add_argument("--positions", type=int, default=1000)
    parser.add_argument("--times", type=int, default=40, help="roll-outs of each move")
    parser.add_argument("--policy", default="judge", help="judge, or a Python example bot")
    parser.add_argument("--matches", type=int, default=10, help="a blunder")
    parser.add_argument("--newest", type=int, default=400, help="matches for the rest")
    parser.add_argument("--weakest", default="random", help="figures without this bot, too")
    asked = parser.parse_args()
    if asked.what == "blunders":
        return int(blunders(asked.matches) < len(BLUNDERS))
    if asked.what == "rest":
        for name in asked.names:
            rest(Path(name), asked.newest, asked.weakest)
        return 0
    for name in asked.names or GAMES:
        found = rollouts(game(name), asked.positions, asked.times, asked.policy)
        print(f"**{name}**, {asked.positions} positions, {asked.times} roll-outs of each of two")
        show_rollouts(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
