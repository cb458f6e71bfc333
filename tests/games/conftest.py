"""Decks that tests can read, policies that don't want to end, and a second referee.

Every registered game, and the toy of tests/third_game, goes through the conformance suite beside
the `Referee` in `second/NAME.py`: see mirror.py.
"""

import importlib
import random
from collections import Counter
from itertools import chain
from types import SimpleNamespace

import msgspec
import pytest

from arena import registry
from tests.third_game import open_six, second_referee

GAMES = (*map(registry.game, registry.GAMES), open_six.GAME)


def second(game):
    """The second referee of a game."""
    if game is open_six.GAME:
        return second_referee.Referee
    name = game.name.replace("-", "_")
    return importlib.import_module(f"tests.games.second.{name}").Referee


class ListDeck:
    """A deck as written down; a reshuffle turns the ascending cards round unless given."""

    def __init__(self, cards, reshuffled=None):
        self.cards = tuple(cards)
        self.reshuffled = {} if reshuffled is None else reshuffled
        self.asked = []

    def reshuffle(self, number, cards):
        self.asked.append((number, tuple(cards)))
        if number in self.reshuffled:
            return self.reshuffled[number]
        return tuple(reversed(cards))


class SeededDeck(ListDeck):
    """A shuffled pack; remembers what it handed out."""

    def __init__(self, pack, seed):
        self._random = random.Random(seed)
        super().__init__(self._random.sample(pack, len(pack)))
        self.handed = {}

    def reshuffle(self, number, cards):
        assert list(cards) == sorted(cards)
        super().reshuffle(number, cards)
        self.handed[number] = self._random.sample(cards, len(cards))
        return self.handed[number]


def lay(hands, discard, stock):
    """The deck that deals these hands (in the order of play), this discard and this stock."""
    assert len({len(hand) for hand in hands}) == 1
    return ListDeck([*(card for row in zip(*hands, strict=True) for card in row), discard, *stock])


# ------------------------------------------------------------------------------- policies


def any_move(hole, seat, rng):
    """Uniformly one of the legal moves."""
    return rng.choice(hole.legal(seat))


def any_kind(hole, seat, rng):
    """Uniformly one of the choices of the rules, then one of its positions."""
    kinds = {}
    for move in hole.legal(seat):
        kinds.setdefault(move.split()[0], []).append(move)
    return rng.choice(kinds[rng.choice(sorted(kinds))])


def endless(hole, seat, rng):
    """Never ends the hole: keeps one card down, skips or discards, never knocks."""
    legal = hole.legal(seat)
    for move in ("skip", "discard", "draw"):
        if move in legal:
            return move
    flips = [move for move in legal if move.startswith("flip")]
    return flips[0] if flips else legal[0]


def replacer(hole, seat, rng):
    """Replaces the same card for ever, from the pile or from the stock."""
    legal = hole.legal(seat)
    return rng.choice([move for move in legal if move in ("take 0", "draw", "swap 0")] or legal)


def keeper(hole, seat, rng):
    """Draws and keeps, never knocks: leaves many cards that it alone knows."""
    legal = hole.legal(seat)
    if hole.view(seat).phase == "drawn":
        return rng.choice([move for move in legal if move.startswith(("swap", "disc", "skip"))])
    return rng.choice([move for move in legal if move == "draw"] or legal)


POLICIES = (any_move, any_kind, endless, replacer, keeper)


def moves(hole, *script):
    """Play the moves one after another, each by the (first) seat that is to act."""
    for move in script:
        hole.apply(hole.to_act()[0], move)


def play(hole, policy, rng, *, most=None, each=lambda: None):
    """Play on to the end, or for `most` moves; returns the moves as (seat, move)."""
    script = []
    while (acting := hole.to_act()) and len(script) != most:
        each()
        seat = rng.choice(acting)
        move = policy(hole, seat, rng)
        hole.apply(seat, move)
        script.append((seat, move))
    each()
    return script


def sent(thing):
    """What a bot reads of a view or of events."""
    return msgspec.json.decode(msgspec.json.encode(thing))


def snapshot(hole):
    """Everything in a hole, to see whether anything at all has changed."""
    return repr({name: value for name, value in vars(hole).items() if name != "_deck"})


def all_cards(hole):
    """The cards of every place where a card can be."""
    stock = [card for card in hole._stock if card is not None]
    assert hole._stock_left == len(stock)
    hand = [] if hole._hand is None else [hole._hand]
    return Counter(chain(*hole._cards, hole._pile, stock, hand))


# ------------------------------------------------------------------------------- fixtures


@pytest.fixture(params=GAMES, ids=lambda game: game.name, scope="session")
def game(request):
    """Each game."""
    return request.param


@pytest.fixture(scope="session")
def lab():
    """The doubles above, for test modules."""

    def start(game, deck, *, seats=2, order=None, turn_cap=None):
        return game.start(
            seats=seats,
            order=range(seats) if order is None else order,
            deck=deck,
            turn_cap=turn_cap or game.turn_cap,
        )

    def shuffled(game, seats, seed):
        return SeededDeck(game.pack(seats), seed)

    return SimpleNamespace(
        ListDeck=ListDeck,
        second=second,
        POLICIES=POLICIES,
        all_cards=all_cards,
        any_kind=any_kind,
        any_move=any_move,
        endless=endless,
        keeper=keeper,
        lay=lay,
        moves=moves,
        play=play,
        replacer=replacer,
        sent=sent,
        shuffled=shuffled,
        snapshot=snapshot,
        start=start,
    )
