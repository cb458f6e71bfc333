"""Holes played in this process by policies of every sort, and decks that can be changed."""

import random

import pytest

from arena.games.four_card_golf import GAME as FOUR
from arena.games.play_nine import GAME as NINE
from arena.luck import four_card_golf, play_nine, tables

GAMES = {"play-nine": (NINE, play_nine, play_nine.PlayNineWalk, 8)}
GAMES["four-card-golf"] = (FOUR, four_card_golf, four_card_golf.FourCardWalk, 4)
TABLES = [(name, seats) for name in GAMES for seats in range(2, GAMES[name][0].max_seats + 1)]


class Shuffled:
    """A deck in any order, whose reshuffles can be put into any order too."""

    def __init__(self, cards, later=None):
        self.cards = list(cards)
        self.later = later or {}

    def reshuffle(self, number, cards):
        order = self.later.setdefault(number, [])
        if not order:
            order.extend(random.Random(str((number, cards))).sample(list(cards), len(cards)))
        assert sorted(order) == list(cards)
        return order


def points(card):
    """A card as the policies here see it; 13 in four-card-golf is a king."""
    return 0 if card == 13 else card


def lots(lot, view, legal):
    """Any legal move."""
    return lot.choice(legal)


def low(lot, view, legal):
    """A low card onto a high or an unknown one; else it draws, and turns what it can."""
    mine = [6 if card is None else points(card) for card in view.grids[view.seat]]
    if view.phase == "tee":
        return legal[0]
    if "knock" in legal and sum(mine) <= 8:
        return "knock"
    at = mine.index(max(mine))
    card = view.discard if view.phase == "turn" else view.drawn
    if points(card) < mine[at] - (3 if view.phase == "turn" else 0):
        return f"{'take' if view.phase == 'turn' else 'swap'} {at}"
    return "draw" if view.phase == "turn" else legal[8] if len(mine) == 8 else "discard"


def early(lot, view, legal):
    """Ends the hole as soon as it can: knocks when its peek was good, else at any time."""
    if view.phase == "tee":
        return legal[0]
    known = [points(card) for card in view.grids[view.seat] if card is not None]
    if "knock" in legal and (sum(known) <= 6 or lot.random() < 0.3):
        return "knock"
    if view.phase == "drawn":
        flips = [move for move in legal if move.startswith("flip")]
        return flips[0] if flips else "swap 0"
    return "draw"


def peeker(lot, view, legal):
    """Lives by what it alone knows: keeps what it saw if it is low, lays low cards there if not."""
    if view.phase == "tee":
        return "tee 3 7"
    mine = view.grids[view.seat]
    high = [at for at, card in enumerate(mine) if card is not None and points(card) > 5]
    card = view.discard if view.phase == "turn" else view.drawn
    if "knock" in legal and not high:
        return "knock"
    if high and points(card) < 5:
        return f"{'take' if view.phase == 'turn' else 'swap'} {high[0]}"
    return "draw" if view.phase == "turn" else "discard" if "discard" in legal else legal[8]


def waiter(lot, view, legal):
    """Plays for a reshuffle: draws, and changes cards without an end."""
    if view.phase == "tee":
        return lot.choice(legal)
    if view.phase == "turn":
        return "draw"
    mine = view.grids[view.seat]
    shown = [at for at, card in enumerate(mine) if card is not None]
    return "discard" if "discard" in legal else f"swap {lot.choice(shown)}"


POLICIES = (lots, low, early, peeker, waiter)


class Played:
    """A hole that was played to its end."""

    def __init__(self, name, seats, policies, lot, *, turn_cap=None, order=None):
        self.game, self.module, self.walk, self.size = GAMES[name]
        self.seats, self.order = seats, order or tuple(range(seats))
        self.turn_cap = turn_cap or self.game.turn_cap
        pack = self.game.pack(seats)
        self.deck = Shuffled(lot.sample(pack, len(pack)))
        hole = self.start(self.deck)
        self.moves = []
        while acting := hole.to_act():
            seat = acting[0]
            move = policies[seat](lot, hole.view(seat), hole.legal(seat))
            hole.apply(seat, move)
            self.moves.append(move)
        self.scores = hole.scores()
        self.reshuffles = len(self.deck.later)

    def start(self, deck):
        """The hole, from its beginning."""
        return self.game.start(
            seats=self.seats, order=self.order, deck=deck, turn_cap=self.turn_cap
        )

    def noted(self, deck=None, moves=None):
        """What the walk notes, of a part of the moves perhaps."""
        deck, moves = deck or self.deck, self.moves if moves is None else moves
        walk = self.walk(
            self.start(deck),
            seats=self.seats,
            order=self.order,
            deck=deck,
            tables=tables(self.module.MEASURE),
        )
        try:
            walk.walk(moves)
        except ValueError:
            assert len(moves) < len(self.moves)
        return walk.noted


@pytest.fixture(scope="session")
def play():
    """Plays a hole: `play(name, seats, policies, seed)`."""
    return lambda name, seats, policies, seed, **named: Played(
        name, seats, policies, random.Random(seed), **named
    )
