"""The luck of every stroke of chance has the mean 0, card by card that could have come.

What could have come is found here without the walk: an unseen card may lie at any unseen place of
the deck. So each such place is exchanged with that of the card that came, all moves up to it are
played again, and the mean of what is then noted has to be 0.
"""

import math
import random
from copy import deepcopy

import pytest

from arena.luck.walk import LuckKind

from .conftest import POLICIES, TABLES, Shuffled, waiter

TOLERANCE = 1e-9 * 10_000
"""Of a stroke."""


class Places:
    """Where every card of a hole came from: (0, index) of the deck, (r, index) of reshuffle r."""

    def __init__(self, played):
        self.played = played
        self.players = len(played.order)
        dealt = self.players * played.size
        self.unseen = {(0, at) for at in range(len(played.deck.cards))}
        self.stock = {(0, at) for at in range(dealt + 1, len(played.deck.cards))}
        self.base, self.first = 0, dealt + 1
        self.grid = {
            (seat, at): (0, at * self.players + place)
            for place, seat in enumerate(played.order)
            for at in range(played.size)
        }
        self.turns = dict.fromkeys(played.order, 0)
        self.before = dict.fromkeys(played.order, 0)
        self.events = []
        """(kind, moves so far, which entries of that kind and move, its place, its pool)"""

    def event(self, kind, moves, entries, place, pool):
        assert place in pool
        self.events.append((kind, moves, entries, place, sorted(pool)))
        self.unseen.discard(place)
        self.stock.discard(place)

    def hidden(self):
        """Places that a face-down card may come from."""
        return self.unseen if not self.base else self.unseen - self.stock

    def draw(self, seat):
        if not self.stock:
            self.base += 1
            self.first = 0
            self.before = dict(self.turns)
            self.before[seat] -= 1
            cards = len(self.played.deck.later[self.base])
            self.stock = {(self.base, at) for at in range(cards)}
            self.unseen |= self.stock
        turn = self.turns[seat] - self.before[seat]
        slot = (turn - 1) * self.players + self.played.order.index(seat)
        place = (self.base, self.first + slot)
        return place if place in self.stock else min(self.stock)

    def walk(self):  # noqa: C901, PLR0912 - what each kind of move does
        """All events of the hole."""
        played, nine = self.played, self.played.size == 8
        hole = played.start(played.deck)
        down = set(self.grid)
        entries = 0
        if not nine:
            for seat in played.order:
                for at in (2, 3):
                    among = range(entries, entries + self.players)
                    self.event(LuckKind.PEEK, 0, among, self.grid[seat, at], self.unseen)
                    entries += self.players
                    down.discard((seat, at))
        self.event(LuckKind.FIRST, 0, None, (0, self.players * played.size), self.unseen)
        hand = None
        for number, move in enumerate(played.moves, 1):
            seat = hole.to_act()[0]
            word, *ats = move.split(" ")
            if word == "tee":
                for entry, at in enumerate(map(int, ats)):
                    among = range(entry, entry + 1)
                    self.event(LuckKind.TEE, number, among, self.grid[seat, at], self.unseen)
                    down.discard((seat, at))
            elif word in {"draw", "take", "knock"}:
                self.turns[seat] += 1
            if word == "draw":
                hand = self.draw(seat)
                self.event(
                    LuckKind.DRAW, number, None, hand, self.stock if self.base else self.unseen
                )
            elif word == "flip":
                at = seat, int(ats[0])
                self.event(LuckKind.FLIP, number, None, self.grid[at], self.hidden())
                down.discard(at)
            elif word in {"take", "swap"}:
                at = seat, int(ats[0])
                if at in down:
                    self.event(LuckKind.OUT, number, None, self.grid[at], self.hidden())
                    down.discard(at)
            hole.apply(seat, move)
        entry = 0
        for seat in played.order:
            for at in range(played.size):
                if (seat, at) in down:
                    among = range(entry, entry + 1)
                    place = self.grid[seat, at]
                    self.event(LuckKind.REVEAL, len(played.moves), among, place, self.hidden())
                    entry += 1
        return self.events


def exchanged(deck, one, other):
    """The deck with two unseen cards exchanged; both lie in the same shuffle."""
    changed = Shuffled(deck.cards, deepcopy(deck.later))
    (base, first), (other_base, second) = one, other
    assert base == other_base
    cards = changed.later[base] if base else changed.cards
    cards[first], cards[second] = cards[second], cards[first]
    return changed


def lucks(played, deck, kind, moves, entries):
    noted = played.noted(deck, played.moves[:moves])
    found = [luck for move, of, _, luck in noted if of is kind and move == moves]
    return found if entries is None else [found[entry] for entry in entries]


def check(played, lot, each):
    """Check some events of every kind; the kinds that were checked."""
    events = Places(played).walk()
    checked = set()
    for kind in LuckKind:
        some = [event for event in events if event[0] is kind]
        for _, moves, entries, place, pool in lot.sample(some, min(each, len(some))):
            found = [
                lucks(played, exchanged(played.deck, place, other), kind, moves, entries)
                for other in pool
            ]
            for entry in zip(*found, strict=True):
                assert abs(math.fsum(entry) / len(pool)) < TOLERANCE, (kind, moves)
            if any(any(entry) for entry in found):
                checked.add(kind)
    return checked


@pytest.mark.no_cover
@pytest.mark.parametrize(("name", "seats"), TABLES)
@pytest.mark.long(
    "the luck ledger by simulation", quick=("play-nine-2", "play-nine-4", "four-card-golf-4")
)
def test_every_kind_of_chance_has_the_mean_zero(play, name, seats):
    """At any number of seats, whatever sort of players sit there."""
    lot = random.Random(f"{name}/{seats}")
    checked = set()
    for seed in range(2):
        policies = [lot.choice(POLICIES[:4]) for _ in range(seats)]
        checked |= check(play(name, seats, policies, seed), lot, 2)
    kinds = {LuckKind.FIRST, LuckKind.DRAW}
    kinds |= {LuckKind.TEE, LuckKind.FLIP} if name == "play-nine" else {LuckKind.PEEK}
    assert checked >= kinds


@pytest.mark.parametrize(
    ("name", "seats"),
    [
        ("play-nine", 2),
        ("play-nine", 6),
        ("four-card-golf", 2),
        ("four-card-golf", 4),
        ("four-card-golf", 8),
    ],
)
@pytest.mark.long("the luck ledger by simulation", quick=("play-nine-2",))
def test_after_a_reshuffle_there_are_two_pools(play, name, seats):
    """The new stock is known as a whole, and what is still face down is another pool."""
    lot = random.Random(f"again/{name}/{seats}")
    cap = 60 if seats == 2 else 20
    played = play(name, seats, [waiter] * seats, 7, turn_cap=cap)
    assert played.reshuffles
    events = Places(played).walk()
    late = [event for event in events if event[3][0] > 0]
    assert late
    some = []
    for kind, moves, entries, place, pool in [*lot.sample(late, 5), events[-1]]:
        found = [
            lucks(played, exchanged(played.deck, place, other), kind, moves, entries)
            for other in pool
        ]
        some += [luck for entry in found for luck in entry if luck]
        for entry in zip(*found, strict=True):
            assert abs(math.fsum(entry) / len(pool)) < TOLERANCE, (kind, moves)
    assert some
