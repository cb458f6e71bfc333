"""A second referee: the oracle of these tests, written from the rules and not from the engine.

It moves identified cards about and keeps a set of who has seen which, so that views, events and
secrecy follow from one line each. It may be as slow as it likes. What is a game's own is a subclass
in `second/NAME.py`.
"""

from collections import Counter
from collections.abc import Callable
from types import MappingProxyType


def others(hole, seat):
    """The cards of the other seats."""
    return [cards for other, cards in enumerate(hole._cards) if other != seat]


STOCK = {
    "the next card": lambda hole, _: next((c for c in hole._stock if c is not None), None),
    "the card in another's hand": lambda hole, _: hole._hand,
    "the stock less another's hand": lambda hole, _: tuple(hole._recycled),
}
"""Leaks of any game."""
GRIDS = {
    "one's own unseen cards": lambda hole, seat: hole._cards[seat],
    "others' unseen cards": others,
}
"""Leaks of a game that hides cards."""


class Mirror:
    """The rules once more, over cards with an identity: (reshuffle it came from, index)."""

    SIZE = 0
    """Cards of a player."""
    STATED = (0, 0, 0)
    """What the rules say: fewest seats, most seats, turn cap."""
    OPEN = True
    """Whether everybody sees a card that is laid."""
    FIELDS = frozenset()
    """Of a view, beside the common ones."""
    LEAKS = MappingProxyType({})
    """By name, what a view that told too much would tell: (hole, seat) -> anything."""

    score: Callable
    """Strokes of known cards: a method of each game."""

    # What a game says.

    def opening(self):
        """Before the first turn: what is seen, and decisions."""
        yield from ()

    def instead(self):
        """Moves that are a whole turn without a card."""
        return []

    def away(self, seat):
        """What can be done with a drawn card but laying it."""
        return ["discard"]

    def ends(self, seat, move):
        """Whether the seat has ended the hole by its turn."""
        return False

    def more(self, view):
        """What else a view has."""

    # What is common.

    def __init__(self, *, seats, order, deck, turn_cap):
        self.size = self.SIZE
        self.seats, self.order, self.deck, self.cap = seats, list(order), deck, turn_cap
        self.value = {(0, index): card for index, card in enumerate(deck.cards)}
        self.seen = {seat: set() for seat in range(seats)}
        coming = iter(sorted(self.value))
        self.grid = {}
        for position in range(self.size):
            for seat in self.order:
                self.grid[seat, position] = next(coming)
        self.pile = [next(coming)]
        self.tell_all(self.pile[0])
        self.stock = dict(enumerate(coming))
        self.length = len(self.stock)
        self.made = 0
        self.own_turn = Counter()
        self.begun = Counter()
        self.hand = self.ended_by = None
        self.anew = False
        self.phase = "turn"
        self.log = []
        self.asking = self.hole()
        self.wanted = next(self.asking)

    # The rules, read from top to bottom; every `yield` is a decision.

    def hole(self):
        yield from self.opening()
        for _ in range(self.cap):
            for place, seat in enumerate(self.order):
                yield from self.turn(seat)
                if self.ended_by is not None:
                    for other in self.order[place + 1 :] + self.order[:place]:
                        yield from self.turn(other)
                    return

    def turn(self, seat):
        self.begun[seat] += 1
        self.own_turn[seat] += 1
        spots = range(self.size)
        legal = [f"take {at}" for at in spots] + ["draw", *self.instead()]
        _, move = yield {seat: legal}
        if move in self.instead():
            self.note(seat, move)
            self.end(seat, move)
            return
        if move == "draw":
            self.draw(seat)
            self.phase = "drawn"
            _, move = yield {seat: [f"swap {at}" for at in spots] + self.away(seat)}
            card, self.hand = self.hand, None
            self.phase = "turn"
        else:
            card = self.pile.pop()
        kind, *at = move.split()
        if kind in ("take", "swap"):
            out, self.grid[seat, int(at[0])] = self.grid[seat, int(at[0])], card
            lying = card
            if self.OPEN:
                self.tell_all(card)
        else:
            out = card
            lying = self.grid[seat, int(at[0])] if kind == "flip" else None
            if kind == "flip":
                self.tell_all(lying)
        self.pile.append(out)
        self.tell_all(out)
        self.note(seat, move, card=lying, out=out)
        self.end(seat, move)

    def end(self, seat, move):
        if self.ended_by is None and self.ends(seat, move):
            self.ended_by = seat

    def draw(self, seat):
        if not self.stock:
            self.made += 1
            self.anew = True
            values = sorted(self.value[card] for card in self.pile[:-1])
            new = self.deck.reshuffle(self.made, values)
            self.value |= {(self.made, index): card for index, card in enumerate(new)}
            self.stock = {index: (self.made, index) for index in range(len(new))}
            self.length = len(new)
            self.pile = self.pile[-1:]
            self.own_turn = Counter({seat: 1})
        slot = (self.own_turn[seat] - 1) * len(self.order) + self.order.index(seat)
        self.hand = self.stock.pop(slot if slot in self.stock else min(self.stock))
        self.seen[seat].add(self.hand)

    # Who knows what.

    def tell_all(self, *cards):
        for seen in self.seen.values():
            seen.update(cards)

    def open(self, seat, at):
        return all(self.grid[seat, at] in seen for seen in self.seen.values())

    def note(self, seat, move, *, card=None, out=None, cards=()):
        readers = {reader for reader, seen in self.seen.items() if card in seen}
        self.log.append((seat, move, card, out, cards, self.anew, readers))
        self.anew = False

    # The questions that a hole answers, too.

    def apply(self, seat, move):
        assert move in self.wanted[seat]
        try:
            self.wanted = self.asking.send((seat, move))
        except StopIteration:
            self.wanted = {}

    def to_act(self):
        return tuple(self.wanted)

    def legal(self, seat):
        return self.wanted.get(seat, [])

    def grids(self):
        spots = range(self.size)
        return tuple(
            tuple(self.value[self.grid[seat, at]] for at in spots) if seat in self.order else ()
            for seat in range(self.seats)
        )

    def known(self, seat, reader):
        cards = [self.grid[seat, at] for at in range(self.size)] if seat in self.order else []
        return [self.value[card] if card in self.seen[reader] else None for card in cards]

    def view(self, seat):
        mine = self.hand in self.seen[seat]
        made = [card for card in self.value if card[0] == self.made > 0]
        view = {
            "seat": seat,
            "order": self.order,
            "phase": self.phase,
            "grids": [self.known(other, seat) for other in range(self.seats)],
            "discard": self.value[self.pile[-1]],
            "pile": [self.value[card] for card in self.pile],
            "stock": len(self.stock),
            "recycled": sorted(self.value[card] for card in made if card not in self.seen[seat]),
            "drawn": self.value[self.hand] if self.hand and mine else None,
            "turns": [self.begun[other] for other in range(self.seats)],
            "ended_by": self.ended_by,
        }
        self.more(view)
        return view

    def events(self, seat):
        events = []
        for player, move, card, out, cards, anew, readers in self.log:
            event = {"seat": player, "move": move}
            if card is not None and seat in readers:
                event["card"] = self.value[card]
            if out is not None:
                event["out"] = self.value[out]
            if cards:
                event["cards"] = [self.value[card] for card in cards]
            if anew:
                event["reshuffled"] = True
            events.append(event)
        return events
