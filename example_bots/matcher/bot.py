"""matcher: a yardstick that counts cards and minimises its expected score one card ahead.

The whole policy; every tie goes to the earlier rule and then to the lowest position.

Both games: matcher knows which cards nobody can see. A card that it doesn't know is each of the
*unseen* cards with equal chance: the full pack less all cards in `grids`, `pile`, `recycled` and
the hand. A card drawn from the stock comes from the same unseen cards, or, once the pile has
been reshuffled, from `recycled`. E is the expected score of the own grid under these chances,
each unknown card drawn independently. (play-nine: a column with unknown cards counts the chance
that they match, the combination with the columns already matched included; in four-card-golf
only the points count.)

1. four-card-golf: knock as soon as E is at most 8 - number of seats / 2.
2. Take the discard to where E becomes lowest, if that is lower than the expectation of drawing:
   the mean over the card drawn of the best that can be done with it, E staying as it is when it
   is discarded (a card flipped changes E by nothing on average).
3. Otherwise draw. Swap the drawn card in where E becomes lowest, if that is lower than now.
4. Otherwise discard it; in play-nine flip the first face-down card, but skip instead of flipping
   the last one while E is above 10.5: what is flipped may be bad, and nobody has to go out.

Tee-off: 0 and 1. No look-ahead beyond that, no look at the opponents.
"""

import json
import sys

COMBINATION = (0, 0, -10, -15, -20)
"""play-nine: strokes for 0 to 4 matched columns of one number."""

MARGIN = (0, -10, -5, -5, 0)
"""What one more matched column adds to that many of the same number."""

NUMBERS = (*range(13), -5)

# Counts are indexed by the card itself: in a list of 18, index -5 is index 13.
PACK_NINE = [8] * 13 + [4] + [0] * 4

POINTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0)
"""four-card-golf: points by rank."""

PACK_FOUR = [0] + [4] * 13

FLIP_LAST_AT = 10.5
"""play-nine: the expected score at which the last face-down card is flipped."""

EPSILON = 1e-9
"""Sums of the same strokes in another order differ by less: a tie must stay a tie."""


def pools(view, pack):
    """(counts of the cards that may lie hidden, counts of the cards that may be drawn)."""
    unseen = pack[:]
    for grid in view["grids"]:
        for card in grid:
            if card is not None:
                unseen[card] -= 1
    for card in view["pile"]:
        unseen[card] -= 1
    drawn = view["drawn"]
    if drawn is not None:
        unseen[drawn] -= 1
    recycled = view["recycled"]
    if not recycled:
        return unseen, unseen
    stock = [0] * len(pack)
    for card in recycled:
        unseen[card] -= 1
        stock[card] += 1
    return unseen, stock


class Columns:
    """A play-nine grid as its owner expects it.

    `now[column]` is the expected score of a column, with what its match adds to the other
    columns of that number; `beside_hidden(card)` that of a column of `card` and an unknown one.
    """

    def __init__(self, grid, unseen):
        self.grid = grid
        self.unseen = unseen
        self.total = total = sum(unseen)
        if total:
            self.mean = (sum(map(int.__mul__, unseen, range(13))) - 5 * unseen[-5]) / total
        else:
            self.mean = 0.0  # nothing is hidden, and nothing will be drawn from here
        self.matched = matched = [0] * 18
        for column in range(4):
            top = grid[column]
            if top is not None and top == grid[column + 4]:
                matched[top] += 1
        self.now = [self.value(grid[column], grid[column + 4]) for column in range(4)]

    def match(self, card, others):
        """A matched column of `card` where `others` columns of the same number match."""
        return MARGIN[others] - 10 if card == -5 else MARGIN[others]

    def beside_hidden(self, card):
        """A column of `card` and an unknown card."""
        value = card + self.mean
        count = self.unseen[card]
        if count:
            value += (self.match(card, self.matched[card]) - 2 * card) * count / self.total
        return value

    def both_hidden(self):
        """A column of two unknown cards."""
        value = 2 * self.mean
        for card in NUMBERS:
            count = self.unseen[card]
            if count:
                gain = self.match(card, self.matched[card]) - 2 * card
                value += gain * (count / self.total) ** 2
        return value

    def value(self, top, bottom):
        """The expected score of a column of the grid."""
        if top is None:
            return self.both_hidden() if bottom is None else self.beside_hidden(bottom)
        if bottom is None:
            return self.beside_hidden(top)
        if top == bottom:
            return self.match(top, self.matched[top] - 1)
        return top + bottom

    def expected(self):
        """The expected score of the grid."""
        score = 0.0
        for column in range(4):
            top, bottom = self.grid[column], self.grid[column + 4]
            if top is None or top != bottom:
                score += self.now[column]
            elif top == -5:
                score -= 10
        for columns in self.matched:
            score += COMBINATION[columns]
        return score

    def best_place(self, card):
        """(change of the expected score, position) of the best place for `card`."""
        grid = self.grid
        best, place = 1000.0, 0
        for position in range(8):
            partner = grid[position ^ 4]
            if partner is None:
                value = self.beside_hidden(card)
            elif partner == card:
                if grid[position] == card:
                    continue  # it would replace its like
                value = self.match(card, self.matched[card])
            else:
                value = card + partner
            value -= self.now[position & 3]
            if value < best - EPSILON:
                best, place = value, position
        return best, place

    def drawing(self, stock):
        """The expected change by a draw: each card at its best place, or discarded.

        A card beside a different face-up card always adds its number, so one minimum over such
        places serves all cards; only matches are looked at one by one.
        """
        grid, now = self.grid, self.now
        beside_open = beside_hidden = 1000.0
        matching = {}
        for position in range(8):
            partner = grid[position ^ 4]
            column = now[position & 3]
            if partner is None:
                if -column < beside_hidden:
                    beside_hidden = -column
            else:
                if partner - column < beside_open:
                    beside_open = partner - column
                if grid[position] != partner:
                    value = self.match(partner, self.matched[partner]) - column
                    if value < matching.get(partner, 1000.0):
                        matching[partner] = value
        change = 0.0
        total = 0
        for card in NUMBERS:
            count = stock[card]
            if count:
                total += count
                best = card + beside_open
                if beside_hidden < 1000.0:
                    value = self.beside_hidden(card) + beside_hidden
                    if value < best:
                        best = value
                if card in matching and matching[card] < best:
                    best = matching[card]
                if best < 0:
                    change += best * count
        return change / total if total else 0.0


def play_nine(view):
    """The policy in play-nine."""
    phase = view["phase"]
    if phase == "tee":
        return "tee 0 1"
    grid = view["grids"][view["seat"]]
    unseen, stock = pools(view, PACK_NINE)
    columns = Columns(grid, unseen)
    if phase == "turn":
        change, place = columns.best_place(view["discard"])
        if change < -EPSILON and change < columns.drawing(stock) - EPSILON:
            return f"take {place}"
        return "draw"
    change, place = columns.best_place(view["drawn"])
    if change < -EPSILON:
        return f"swap {place}"
    if grid.count(None) == 1 and columns.expected() > FLIP_LAST_AT:
        return "skip"
    return f"flip {grid.index(None)}"


def four_card_golf(view):
    """The policy in four-card-golf."""
    grids = view["grids"]
    seats = len(grids)
    grid = grids[view["seat"]]
    pack = PACK_FOUR if seats < 5 else [2 * count for count in PACK_FOUR]
    unseen, stock = pools(view, pack)
    total = sum(unseen)
    mean = sum(map(int.__mul__, unseen, POINTS)) / total if total else 0.0
    values = [mean if card is None else POINTS[card] for card in grid]
    most = max(values)
    worst = values.index(most)
    if view["phase"] == "drawn":
        return f"swap {worst}" if POINTS[view["drawn"]] < most - EPSILON else "discard"
    if view["ended_by"] is None and sum(values) <= 8 - seats / 2 + EPSILON:
        return "knock"
    change = POINTS[view["discard"]] - most
    drawing = sum(
        count * (points - most) for count, points in zip(stock, POINTS) if points < most
    ) / (sum(stock) or 1)
    if change < -EPSILON and change < drawing - EPSILON:
        return f"take {worst}"
    return "draw"


def choose(view, legal):
    """A move for the view. matcher needs no look at `legal`: each move it names is legal."""
    return four_card_golf(view) if "known" in view else play_nine(view)


def main():
    """Read lines until `bye` or the end of input; answer `hello` and `act`."""
    write = sys.stdout.write
    flush = sys.stdout.flush
    for line in sys.stdin.buffer:
        message = json.loads(line)
        kind = message["type"]
        if kind == "act":
            move = choose(message["view"], message["legal"])
            write(f'{{"turn":"{message["turn"]}","move":"{move}"}}\n')
            flush()
        elif kind == "hello":
            write('{"type":"ready"}\n')
            flush()
        elif kind == "bye":
            return


if __name__ == "__main__":
    main()
