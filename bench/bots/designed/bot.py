"""A bot whose policy is the design in design.json: what bench/twins.py draws by lot.

A design is a dict of choices that students make: what an unknown card counts, whether columns that
may still match are worth something, when the discard is taken, where a card goes, which card is
flipped, when the last one is left. `bot.js` plays the same designs.
"""

import json
import random
import sys
from pathlib import Path

POINTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0)
COMBINATION = (0, 0, -10, -15, -20)
PACK = {**dict.fromkeys(range(13), 8), -5: 4}
EPSILON = 1e-9


def unseen_of(view):
    """Counts of the cards that nobody sees, and how many there are."""
    count = dict(PACK)
    hand = [] if view["drawn"] is None else [view["drawn"]]
    for cards in (*view["grids"], view["pile"], view["recycled"], hand):
        for card in cards:
            if card is not None:
                count[card] -= 1
    return count, max(1, sum(count.values()))


class Grid:
    """What a grid of play-nine is worth by a design."""

    def __init__(self, design, view):
        self.design = design
        self.count, self.total = unseen_of(view)
        self.unknown = design["unknown"]
        if design["counts"]:
            self.unknown = sum(card * n for card, n in self.count.items()) / self.total
        self.values = design["values"]

    def worth(self, grid):
        """Lower is better."""
        matched = {}
        for column in range(4):
            top = grid[column]
            if top is not None and top == grid[column + 4]:
                matched[top] = matched.get(top, 0) + 1
        worth = -10 * matched.get(-5, 0)
        if self.design["combos"]:
            worth += sum(COMBINATION[columns] for columns in matched.values())
        for column in range(4):
            worth += self.column(grid[column], grid[column + 4], matched)
        self.matched = matched
        return worth

    def column(self, top, bottom, matched):
        """What a column is worth that doesn't match; a matched one is in the combinations."""
        if top is not None and top == bottom:
            return 0.0
        design, values = self.design, self.values
        sum_ = self.unknown if top is None else values[top + 5]
        sum_ += self.unknown if bottom is None else values[bottom + 5]
        if design["hope"]:
            worth = sum_
            for card in (top, bottom):
                if card is not None:
                    match = -10 if card == -5 else 0
                    if design["combos"]:
                        columns = matched.get(card, 0)
                        match += COMBINATION[columns + 1] - COMBINATION[columns]
                    chance = self.count[card] / self.total if design["counts"] else 0.07
                    worth -= design["hope"] * chance * max(0.0, sum_ - match)
            sum_ = worth
        if design["half"] and (top is None) != (bottom is None):
            sum_ += design["half"] * (bottom if top is None else top)
        return sum_

    def savings(self, grid, card):
        """By position, what a card saves there."""
        now = self.worth(grid)
        matched, found = self.matched, []
        for at in range(8):
            old, beside = grid[at], grid[at ^ 4]
            if beside is not None and beside in (card, old):
                changed = list(grid)
                changed[at] = card
                found.append(now - self.worth(changed))
            else:
                found.append(self.column(old, beside, matched) - self.column(card, beside, matched))
        return found

    def best(self, grid, card):
        """The design's place for a card: what it saves, and the position."""
        saving = self.savings(grid, card)
        if self.design["place"] == "rules":
            place = self.by_rules(grid, card)
            return saving[place], place
        most = max(saving)
        best = [at for at in range(8) if saving[at] > most - EPSILON]
        return most, first(self.design["ties"], best, grid)

    def by_rules(self, grid, card):
        """A match first; else on the highest card that is face up; else on a hidden one."""
        open_ = [at for at in range(8) if grid[at] is not None]
        for at in open_:
            if grid[at] == card and grid[at ^ 4] != card:
                return at ^ 4
        free = [at for at in open_ if grid[at] != grid[at ^ 4]]
        high = max((grid[at] for at in free), default=-9)
        hidden = [at for at in range(8) if grid[at] is None]
        if not hidden or (free and high > card + self.design["above"]):
            return max(free or open_, key=lambda at: (grid[at], -at))
        return first(self.design["flip"], hidden, grid)


def first(order, places, grid):
    """One of several places, by a rule."""
    if order == "last":
        return places[-1]
    if order in ("hidden", "open"):
        wanted = [at for at in places if (grid[at] is None) == (order == "hidden")]
        return (wanted or places)[0]
    if order in ("beside-open", "beside-hidden"):
        wanted = [at for at in places if (grid[at ^ 4] is not None) == (order == "beside-open")]
        return (wanted or places)[0]
    if order in ("beside-low", "beside-high"):
        sign = 1 if order == "beside-low" else -1
        return min(
            places, key=lambda at: (sign * (5.6 if grid[at ^ 4] is None else grid[at ^ 4]), at)
        )
    if order == "column":
        return min(places, key=lambda at: (at % 4, at))
    return places[0]


def play_nine(view, rng, design):
    """A move of play-nine."""
    if view["phase"] == "tee":
        one, two = sorted(rng.sample(range(8), 2))
        return f"tee {one} {two}" if design["tee"] == "lot" else f"tee {design['tee']}"
    mine, seat = view["grids"][view["seat"]], view["seat"]
    grid = Grid(design, view)
    others = [other for at, other in enumerate(view["grids"]) if at != seat and len(other)]
    near = min(other.count(None) for other in map(list, others)) <= design["rush"]
    ease = design["eager"] if near or view["ended_by"] is not None else 0.0
    if view["phase"] == "turn":
        saving, place = grid.best(mine, view["discard"])
        taken = saving > -5 and takes(design, grid, mine, view["discard"], ease)
        return f"take {place}" if taken else "draw"
    card = view["drawn"]
    saving, place = grid.best(mine, card)
    after = view["grids"][(seat + 1) % len(view["grids"])]
    fed = any(after[at] == card and after[at ^ 4] != card for at in range(len(after)))
    if saving + (design["feed"] if fed else 0.0) > design["swap"] - ease + EPSILON:
        return f"swap {place}"
    hidden = [at for at in range(8) if mine[at] is None]
    if len(hidden) == 1 and view["ended_by"] is None and waits(design, grid, mine, others):
        return "skip"
    if design["flip"] == "lot":
        return f"flip {rng.choice(hidden)}"
    return f"flip {first(design['flip'], hidden, mine)}"


def takes(design, grid, mine, card, ease):
    """Whether it takes the discard."""
    if design["take"] == "card":
        matches = any(mine[at] == card and mine[at ^ 4] != card for at in range(8))
        return matches or card <= design["limit"] + ease
    saving, _ = grid.best(mine, card)
    if design["take"] == "saving":
        return saving > design["limit"] - ease + EPSILON
    drawn = 0.0
    for each, count in grid.count.items():
        if count:
            drawn += count * max(0.0, grid.best(mine, each)[0])
    return saving > drawn / grid.total * design["patience"] + design["limit"] - 3 - ease


def waits(design, grid, mine, others):
    """Whether it leaves its last card face down."""
    rule, bar = design["skip"]
    worth = grid.worth(list(mine))
    if rule == "above":
        return worth > bar
    return rule == "behind" and min(grid.worth(list(other)) for other in others) - worth < bar


def four_card_golf(view, four):
    """A move of four-card golf."""
    grid = view["grids"][view["seat"]]
    values = [four["unknown"] if card is None else POINTS[card] for card in grid]
    worst = max(range(4), key=lambda at: (values[at], at if four["ties"] == "last" else -at))
    unknown = [at for at in range(4) if grid[at] is None]
    if four["learn"] and unknown:
        worst_known = max((values[at] for at in range(4) if grid[at] is not None), default=0)
        if worst_known <= four["learn"]:
            worst = unknown[-1 if four["ties"] == "last" else 0]
    late = view["turns"][view["seat"]] > four["late"]
    if view["phase"] == "turn":
        bar = four["knock"] + (four["relax"] if late else 0)
        if view["ended_by"] is None and sum(values) <= bar and len(unknown) <= four["blind"]:
            return "knock"
        saving = values[worst] - POINTS[view["discard"]]
        return f"take {worst}" if saving > four["take"] else "draw"
    saving = values[worst] - POINTS[view["drawn"]]
    return f"swap {worst}" if saving > four["swap"] else "discard"


def choose(game, view, rng, design):
    """A move for a view."""
    if game == "play-nine":
        return play_nine(view, rng, design)
    return four_card_golf(view, design["four"])


def main():
    """Answer `hello` and `act`."""
    design = json.loads(Path("design.json").read_text())
    game, rng = "", random.Random()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            game = message["game"]
            print('{"type":"ready"}', flush=True)
        elif kind == "match":
            rng.seed(message["seed"])
        elif kind == "act":
            move = choose(game, message["view"], rng, design)
            if move not in message["legal"]:
                move = message["legal"][0]
            print(json.dumps({"turn": message["turn"], "move": move}), flush=True)
        elif kind == "bye":
            return


if __name__ == "__main__":
    main()
