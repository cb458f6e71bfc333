"""strong: one card ahead, on a learned value of columns, of tempo and of what the others need.

play-nine. A position after a move is worth, in strokes that I end above the others,

    E(me) - E(other) + moved(my columns) - to_move(other's columns) + lead(E(me) - E(other))
        - feed * (what the discard that I leave is worth to the next player)

where E is the expected score of a grid as in matcher (unknown cards at the chances of the
unseen cards), and the rest is tables.json: what a column is worth beyond E because it may still
be improved (a half matched column of eights is a chance, a low pair that doesn't match is not),
by the number of face-down cards, mine and the other's: they are the time that is left. The tables
were learned from self-play of two seats (see the README of the example bots). With more seats the
others count as their mean, and the time left is that of the one nearest to going out.

Going out is a move like any other: it is worth E(me) less what the others will have after their
last turn, which is computed, not learned. So strong goes out when it is ahead. On its own last
turn it minimises its expected score.

four-card-golf. Cards are placed as by matcher. What differs is when to knock: a player who replaces
a known card of seven, or discards a drawn seven, holds no known card above seven. strong
remembers these caps from the events, takes the hidden cards of the others for the mean of the
unseen cards under their cap, and knocks when its expected sum is 4 below what the others are then
expected to have after their last turn.
"""

import json
import sys

# Cards as indexes: 0 to 12 are themselves, 13 is a Hole-in-One, 14 is face down.
HIDDEN = 14
NUMBER = (*range(13), -5)
COMBINATION = (0, 0, -10, -15, -20)
MARGIN = (0, -10, -5, -5, 0)
"""What one more matched column adds to that many of the same number."""

PACK_NINE = [8] * 13 + [4, 0]

NEAR = 3
"""tables.json tells face-down cards apart up to here: 3 means 3 or more."""

POINTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0)
"""four-card-golf: points by rank."""

UNKNOWN_WORTH = 6
"""four-card-golf: whoever replaces an unseen card holds no card known to be worse than this."""

LAST_TURN = 0.35
"""four-card-golf: a last turn takes about that part off the others' worst card."""

KNOCK_AHEAD = 4
"""four-card-golf: knock when that far below the others: less, and they are ahead too often."""

EPSILON = 1e-9


def load_tables():
    """All tables, each by [own face-down cards][the other's], 1 to NEAR each.

    A table of columns is a flat list, indexed by 15 * card + card.
    """
    folder = __file__.rpartition("/")[0] or "."
    with open(folder + "/tables.json", encoding="ascii") as file:
        tables = json.load(file)
    pairs = [(a, b) for a in range(15) for b in range(a, 15)]

    def square(tenths):
        table = [0.0] * 225
        for (a, b), value in zip(pairs, tenths):
            table[15 * a + b] = table[15 * b + a] = value / 10
        return table

    def by_time(make, rows):
        cells = iter(rows)
        nothing = [None] * (NEAR + 1)
        return [nothing] + [
            [None] + [make(next(cells)) for _ in range(NEAR)] for _ in range(NEAR)
        ]

    return (
        by_time(square, tables["moved"]),
        by_time(square, tables["to_move"]),
        by_time(lambda row: [value / 10 for value in row], tables["lead"]),
        *(
            by_time(lambda value: value / 100, tables[name])
            for name in ("live_moved", "live_to_move", "feed")
        ),
    )


MOVED, TO_MOVE, LEAD, LIVE_MOVED, LIVE_TO_MOVE, FEED = load_tables()


def lead_value(row, lead):
    """`lead` in strokes on the piecewise linear curve `row`: twelve points, six strokes apart."""
    place = lead / 6 + 5.5
    if place <= 0:
        return row[0]
    if place >= 10.999:
        place = 10.999
    index = int(place)
    low = row[index]
    return low + (place - index) * (row[index + 1] - low)


class Unseen:
    """The cards that nobody sees: chances of a face-down card, and of the next from the stock."""

    def __init__(self, view):
        counts = PACK_NINE[:]
        for grid in view["grids"]:
            for card in grid:
                if card is not None:
                    counts[card if card >= 0 else 13] -= 1
        for card in view["pile"]:
            counts[card if card >= 0 else 13] -= 1
        drawn = view["drawn"]
        if drawn is not None:
            counts[drawn if drawn >= 0 else 13] -= 1
        recycled = view["recycled"]
        stock = counts
        if recycled:
            stock = [0] * 15
            for card in recycled:
                index = card if card >= 0 else 13
                counts[index] -= 1
                stock[index] += 1
        share = 1 / (sum(counts) or 1)
        self.chance = chance = [count * share for count in counts]
        self.mean = sum(map(float.__mul__, chance, map(float, NUMBER)))
        if recycled:
            share = 1 / sum(stock)
            self.draws = [(card, stock[card] * share) for card in range(14) if stock[card]]
        else:
            self.draws = [(card, chance[card]) for card in range(14) if counts[card]]


class Grid:
    """A grid as everybody expects it; cards as indexes.

    `now[column]`: expected score of a column, with what its match adds to the others;
    `match[card]`: score of one more matched column; `beside[card]`: of a card and an unknown one.
    """

    def __init__(self, cards, unseen):
        self.cards = cards = [
            HIDDEN if card is None else card if card >= 0 else 13 for card in cards
        ]
        self.hidden = cards.count(HIDDEN)
        self.match = match = [0] * 13 + [-10]
        score = 0.0
        matched = {}
        for column in range(4):
            card = cards[column]
            if card == cards[column + 4] and card != HIDDEN:
                matched[card] = columns = matched.get(card, 0) + 1
                match[card] = MARGIN[columns] - (10 if card == 13 else 0)
                if card == 13:
                    score -= 10
        for columns in matched.values():
            score += COMBINATION[columns]
        self.chance = chance = unseen.chance
        mean = unseen.mean
        beside = [
            number + mean + (gain - 2 * number) * likely
            for number, gain, likely in zip(NUMBER, match, chance)
        ]
        self.beside = beside
        self.now = now = []
        both = None
        for column in range(4):
            top, bottom = cards[column], cards[column + 4]
            if top == bottom:
                if top == HIDDEN:
                    if both is None:
                        both = 2 * mean
                        for number, gain, likely in zip(NUMBER, match, chance):
                            both += (gain - 2 * number) * likely * likely
                    value = both
                    score += both
                else:
                    value = MARGIN[matched[top] - 1] - (10 if top == 13 else 0)
            else:
                if top == HIDDEN:
                    value = beside[bottom]
                elif bottom == HIDDEN:
                    value = beside[top]
                else:
                    value = NUMBER[top] + NUMBER[bottom]
                score += value
            now.append(value)
        self.expected = score

    def live(self, top, bottom):
        """What a column of two face-up cards gains by a match, by the chance of the card."""
        if top == bottom or top == HIDDEN or bottom == HIDDEN:
            return 0.0
        score = NUMBER[top] + NUMBER[bottom]
        match, chance = self.match, self.chance
        gain = score - match[top]
        value = gain * chance[top] if gain > 0 else 0.0
        gain = score - match[bottom]
        return value + gain * chance[bottom] if gain > 0 else value

    def columns(self, row, live):
        """The sum of a table over the columns, `live` times their chances included."""
        cards = self.cards
        value = 0.0
        for top, bottom in zip(cards[:4], cards[4:]):
            value += row[15 * top + bottom] + live * self.live(top, bottom)
        return value

    def places(self):
        """Positions that differ: one of a column of two face-down or two equal cards."""
        cards = self.cards
        return [
            position
            for position in range(8)
            if position < 4 or cards[position] != cards[position - 4]
        ]

    def gains(self):
        """By card: the change of the expected score when it comes to its best place, at most 0.

        A card beside a different face-up card adds its number: one minimum serves all cards.
        """
        cards, now = self.cards, self.now
        beside_open = beside_hidden = 1000.0
        matching = [1000.0] * 14
        for position in range(8):
            partner = cards[position ^ 4]
            column = now[position & 3]
            if partner == HIDDEN:
                if -column < beside_hidden:
                    beside_hidden = -column
            else:
                value = NUMBER[partner] - column
                if value < beside_open:
                    beside_open = value
                if cards[position] != partner:
                    value = self.match[partner] - column
                    if value < matching[partner]:
                        matching[partner] = value
        gains = []
        for number, beside, match in zip(NUMBER, self.beside, matching):
            best = number + beside_open
            if beside + beside_hidden < best:
                best = beside + beside_hidden
            if match < best:
                best = match
            gains.append(best if best < 0 else 0.0)
        return gains

    def best_place(self, card):
        """(change of the expected score, position) for `card`; the lowest position of equals."""
        cards = self.cards
        best, place = 1000.0, 0
        for position in range(8):
            partner = cards[position ^ 4]
            if partner == HIDDEN:
                value = self.beside[card]
            elif partner != card:
                value = NUMBER[card] + NUMBER[partner]
            elif cards[position] == card:
                continue  # it would replace its like
            else:
                value = self.match[card]
            value -= self.now[position & 3]
            if value < best - EPSILON:
                best, place = value, position
        return best, place


class Outlook:
    """What my moves are worth on a turn that is not my last: see the formula above.

    Every value is a change against E(me) - E(other); lower is better.
    """

    def __init__(self, view, unseen, mine):
        seat, order, grids = view["seat"], view["order"], view["grids"]
        self.mine = mine
        after = order.index(seat)
        others = [Grid(grids[other], unseen) for other in order[after + 1 :] + order[:after]]
        share = 1 / len(others)
        time = min(NEAR, min(other.hidden for other in others))
        draws = unseen.draws
        self.lead = mine.expected - share * sum(other.expected for other in others)

        # What the last turn of the others brings them, the discard that I leave them apart.
        gains = others[0].gains()
        drawing = sum(gains[card] * likely for card, likely in draws)
        last = drawing
        for other in others[1:]:
            more = other.gains()
            last += sum(more[card] * likely for card, likely in draws)
        # What the discard is worth to the next player, beyond a draw; under HIDDEN the mean.
        self.fed = fed = [share * min(0.0, gain - drawing) for gain in gains]
        fed.append(sum(chance * value for chance, value in zip(unseen.chance, fed)))

        # By number of cards turned in this move, 0 or 1.
        self.rows, self.lives, self.leads, self.feeds, self.bases = [], [], [], [], []
        cards = mine.cards
        for hidden in (mine.hidden, mine.hidden - 1):
            if not hidden:
                self.rows.append(None)
                self.lives.append(0.0)
                self.leads.append(None)
                self.feeds.append(1.0)
                self.bases.append(-share * last)
                continue
            near = min(hidden, NEAR)
            row = MOVED[near][time]
            live = LIVE_MOVED[near][time]
            base = mine.columns(row, live)
            for other in others:
                theirs = min(other.hidden, NEAR)
                base -= share * other.columns(TO_MOVE[theirs][near], LIVE_TO_MOVE[theirs][near])
            self.rows.append(row)
            self.lives.append(live)
            self.leads.append(LEAD[near][time])
            self.feeds.append(FEED[near][time])
            self.bases.append(base)

        # By place: all that doesn't depend on the card that comes to it.
        self.at = []
        for position in mine.places():
            card, partner = cards[position], cards[position ^ 4]
            turned = card == HIDDEN
            row = self.rows[turned]
            fixed = self.bases[turned] - self.feeds[turned] * fed[card]
            if row:
                live = self.lives[turned]
                fixed -= row[15 * partner + card] + live * mine.live(partner, card)
                row = row[15 * partner : 15 * partner + 14]
                if partner != HIDDEN:
                    row = [
                        value + live * mine.live(partner, new) for new, value in enumerate(row)
                    ]
            expected = -mine.now[position & 3]
            self.at.append((position, card, partner, fixed, row, self.leads[turned], expected))
        # Flipping: the same for every drawn card but for what is discarded.
        self.flips = []
        for position, card, partner, _, row, leads, _ in self.at:
            if card == HIDDEN:
                value = self.bases[1]
                if row:
                    value += sum(map(float.__mul__, row, unseen.chance))
                    value += lead_value(leads, self.lead) - self.rows[1][15 * partner + card]
                self.flips.append((value, position))
        self.flip = min(self.flips)

    def best_place(self, card):
        """(value, position) of the best place for a card."""
        mine, lead = self.mine, self.lead
        number = NUMBER[card]
        best, place = 1000.0, 0
        for position, old, partner, fixed, row, leads, expected in self.at:
            if partner == card:
                if old == card:
                    continue  # it would replace its like
                expected += mine.match[card]
            elif partner == HIDDEN:
                expected += mine.beside[card]
            else:
                expected += number + NUMBER[partner]
            value = fixed + expected
            if row:
                value += row[card] + lead_value(leads, lead + expected)
            if value < best:
                best, place = value, position
        return best, place

    def discarding(self, card):
        """(value, move) when the drawn card is discarded."""
        value, position = self.flip
        value -= self.feeds[1] * self.fed[card]
        if self.mine.hidden == 1:
            skip = self.bases[0] - self.feeds[0] * self.fed[card]
            skip += lead_value(self.leads[0], self.lead)
            if skip < value:
                return skip, "skip"
        return value, f"flip {position}"

    def drawing(self, draws):
        """The value of a draw."""
        return sum(
            likely * min(self.best_place(card)[0], self.discarding(card)[0])
            for card, likely in draws
        )


def play_nine(view):
    """A move in play-nine."""
    phase = view["phase"]
    if phase == "tee":
        return "tee 0 1"  # two columns begun leave more chances than one decided
    cards = view["grids"][view["seat"]]
    unseen = Unseen(view)
    mine = Grid(cards, unseen)
    if view["ended_by"] is not None:
        if phase == "turn":
            card = view["discard"]
            value, place = mine.best_place(card if card >= 0 else 13)
            gains = mine.gains()
            drawing = sum(gains[card] * likely for card, likely in unseen.draws)
            return f"take {place}" if value < min(0.0, drawing) - EPSILON else "draw"
        card = view["drawn"]
        value, place = mine.best_place(card if card >= 0 else 13)
        return f"swap {place}" if value < -EPSILON else f"flip {cards.index(None)}"
    outlook = Outlook(view, unseen, mine)
    if phase == "turn":
        card = view["discard"]
        value, place = outlook.best_place(card if card >= 0 else 13)
        return f"take {place}" if value < outlook.drawing(unseen.draws) - EPSILON else "draw"
    card = view["drawn"]
    if card < 0:
        card = 13
    value, place = outlook.best_place(card)
    other, move = outlook.discarding(card)
    return f"swap {place}" if value < other - EPSILON else move


class Caps:
    """What the moves of a hole of four-card-golf tell: the most that a card can be worth.

    `seen[seat][position]`: whether its owner has seen the card; `cap[seat][position]`: points.
    """

    def __init__(self, seats=0):
        self.seen = [[False, False, True, True] for _ in range(seats)]
        self.cap = [[10] * 4 for _ in range(seats)]

    def see(self, events):
        """Take in completed moves, oldest first."""
        for event in events:
            move = event["move"]
            if move == "knock":
                continue
            seen, cap = self.seen[event["seat"]], self.cap[event["seat"]]
            limit = POINTS[event["out"]]
            place = None
            if move != "discard":
                place = int(move[5:])  # "take 1" or "swap 1"
                if not seen[place]:
                    limit = UNKNOWN_WORTH
            for position in range(4):
                if seen[position] and limit < cap[position]:
                    cap[position] = limit
            if place is not None:
                seen[place] = True
                cap[place] = max(limit - 1, 0)


def four_card_golf(view, caps):
    """A move in four-card-golf."""
    grids, seat = view["grids"], view["seat"]
    counts = [0] + [4 if len(grids) < 5 else 8] * 13
    for grid in grids:
        for card in grid:
            if card is not None:
                counts[card] -= 1
    for card in view["pile"]:
        counts[card] -= 1
    drawn = view["drawn"]
    if drawn is not None:
        counts[drawn] -= 1
    recycled = view["recycled"]
    stock = counts
    if recycled:
        stock = [0] * 14
        for card in recycled:
            counts[card] -= 1
            stock[card] += 1
    # By cap: the mean points of the unseen cards up to it.
    by_points = [0] * 11
    for count, points in zip(counts, POINTS):
        by_points[points] += count
    means = []
    number = total = 0
    for points, count in enumerate(by_points):
        number += count
        total += count * points
        means.append(total / number if number else points / 2)
    mean = means[10]
    values = [mean if card is None else POINTS[card] for card in grids[seat]]
    most = max(values)
    worst = values.index(most)
    if drawn is not None:
        return f"swap {worst}" if POINTS[drawn] < most - EPSILON else "discard"
    if view["ended_by"] is None:
        others = 0.0
        for other in view["order"]:
            if other != seat:
                theirs = [
                    POINTS[card] if card is not None else means[cap] if seen else mean
                    for card, seen, cap in zip(grids[other], caps.seen[other], caps.cap[other])
                ]
                others += sum(theirs) - LAST_TURN * max(theirs)
        if sum(values) <= others / (len(view["order"]) - 1) - KNOCK_AHEAD:
            return "knock"
    drawing = sum(
        count * (points - most) for count, points in zip(stock, POINTS) if points < most
    ) / (sum(stock) or 1)
    change = POINTS[view["discard"]] - most
    return f"take {worst}" if change < drawing - EPSILON else "draw"


class Player:
    """A seat: in four-card-golf it remembers the moves of the hole."""

    def __init__(self):
        self.caps = Caps()

    def choose(self, view, legal, events):
        """A move for the view, `events` being those since the last call; each is legal."""
        if "known" not in view:
            return play_nine(view)
        # My first decision of a hole: what is remembered belongs to an earlier one.
        if view["phase"] == "turn" and view["turns"][view["seat"]] == 1:
            self.caps = Caps(len(view["grids"]))
        self.caps.see(events)
        return four_card_golf(view, self.caps)


def choose(view, legal):
    """A move from the view alone."""
    if "known" in view:
        return four_card_golf(view, Caps(len(view["grids"])))
    return play_nine(view)


def main():
    """Read lines until `bye` or the end of input; answer `hello` and `act`."""
    write = sys.stdout.write
    flush = sys.stdout.flush
    player = Player()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        kind = message["type"]
        if kind == "act":
            move = player.choose(message["view"], message["legal"], message["events"])
            write(f'{{"turn":"{message["turn"]}","move":"{move}"}}\n')
            flush()
        elif kind == "hello":
            write('{"type":"ready"}\n')
            flush()
        elif kind == "bye":
            return


if __name__ == "__main__":
    main()
