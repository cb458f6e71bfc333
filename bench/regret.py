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
from arena.registry import GAMES, game
from arena.regret import Mistake, mistake_of, worths_of

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


def dealt_anew(hole: Any, chance: random.Random) -> Any:
    """A copy of the hole in which the cards that no player knows have been shuffled."""
    other = copy.copy(hole)
    for name, value in vars(hole).items():
        if isinstance(value, list):
            setattr(other, name, [x.copy() if isinstance(x, list) else x for x in value])
    view = hole.view(hole.to_act()[0])
    letters = getattr(view, "known", None) or [
        ["n" if card is None else "a" for card in grid] for grid in view.grids
    ]
    down = [(s, at) for s, row in enumerate(letters) for at, who in enumerate(row) if who == "n"]
    slots = [at for at, card in enumerate(other._stock) if card is not None]
    hidden = [other._cards[seat][at] for seat, at in down]
    stock = [other._stock[at] for at in slots]
    if hole._reshuffles:
        chance.shuffle(hidden)
        chance.shuffle(stock)
    else:
        unseen = hidden + stock
        chance.shuffle(unseen)
        hidden, stock = unseen[: len(hidden)], unseen[len(hidden) :]
    for (seat, at), card in zip(down, hidden, strict=True):
        other._cards[seat][at] = card
    for at, card in zip(slots, stock, strict=True):
        other._stock[at] = card
    return other


def margin(scores: Sequence[int], seat: int) -> float:
    """Strokes of a seat above the mean of the others."""
    return scores[seat] - (sum(scores) - scores[seat]) / (len(scores) - 1)


class Compared(msgspec.Struct):
    """Two moves of one position."""

    mistake: Mistake
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
            held.append((dealt_anew(hole, random.Random(0)), seat, move))
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
        said = found[legal.index(other)] - least
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
            twin = dealt_anew(dealt, chance)
            twin._cards, twin._stock = copy.deepcopy(dealt._cards), dealt._stock.copy()
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
    for mistake in Mistake:
        _line(mistake, [each for each in found if each.mistake is mistake])


def rest(folder: Path, newest: int) -> None:
    """What is left of strokes when luck and regret are taken off, by bot and over all."""
    results = open_results(folder)
    rules = results.settings.game
    records = sorted(results.matches(), key=lambda record: record.digest)[:newest]
    both, by_bot_ = [], defaultdict(list)
    for record in records:
        regrets = [0.0] * len(record.seats)
        for each in results.decisions(record):
            regrets[each.seat] += each.regret / 1000
        lucks = [each / 1000 for each in record.luck]
        for seat, bot in enumerate(record.seats):
            found = tuple(margin(each, seat) for each in (record.totals, lucks, regrets))
            both.append(found)
            by_bot_[bot].append(found)
    pairs = [(strokes - luck, regret) for strokes, luck, regret in both]
    scale = sum(x * y for x, y in pairs) / sum(y * y for _, y in pairs)
    print(f"**{rules}**, {len(records)} of {folder}, scale that leaves least: {scale:.3f}\n")
    print("| bot | matches | strokes | luck | regret | rest |")
    print("|---|---:|---:|---:|---:|---:|")
    for bot, found in sorted(by_bot_.items(), key=lambda item: sum(x for x, _, _ in item[1])):
        strokes, luck, regret = (_mean(column) for column in zip(*found, strict=True))
        left = [s - k - r for s, k, r in found]
        error = math.sqrt(_variance(left) / len(left))
        means = f"{strokes:+.1f} | {luck:+.1f} | {regret:+.1f}"
        print(f"| {bot} | {len(found)} | {means} | {_mean(left):+.1f} ± {error:.1f} |")
    whole = _variance([s for s, _, _ in both])
    print("\n| what is taken off | share of the variance that is left |")
    print("|---|---:|")
    print(f"| luck | {_variance([s - k for s, k, _ in both]) / whole:.1%} |")
    print(f"| luck and regret | {_variance([s - k - r for s, k, r in both]) / whole:.1%} |")
    within = [
        [s - k - r - _mean([a - b - c for a, b, c in found]) for s, k, r in found]
        for found in by_bot_.values()
    ]
    print(f"| and each bot's mean | {_variance([x for one in within for x in one]) / whole:.1%} |")


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
    parser.add_argument("--newest", type=int, default=400, help="matches for the rest")
    asked = parser.parse_args()
    if asked.what == "rest":
        for name in asked.names:
            rest(Path(name), asked.newest)
        return 0
    for name in asked.names or GAMES:
        found = rollouts(game(name), asked.positions, asked.times, asked.policy)
        print(f"**{name}**, {asked.positions} positions, {asked.times} roll-outs of each of two")
        show_rollouts(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
