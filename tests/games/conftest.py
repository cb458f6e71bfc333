"""Decks that tests can read, policies that don't want to end, and a second referee.

The second referee (`Mirror`) is the oracle of these tests: it was written from the rules and
not from the engine. It moves identified cards about and keeps a set of who has seen which, so
that views, events and secrecy follow from one line each. It may be as slow as it likes.
"""

import random
from collections import Counter
from itertools import chain
from types import SimpleNamespace

import msgspec
import pytest

from arena.games import four_card_golf, play_nine

GAMES = (play_nine.GAME, four_card_golf.GAME)


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


# ------------------------------------------------------------------------- a second referee


class Mirror:
    """The rules once more, over cards with an identity: (reshuffle it came from, index)."""

    def __init__(self, game, *, seats, order, deck, turn_cap):
        self.nine = game.name == "play-nine"
        self.size = 8 if self.nine else 4
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
        if self.nine:
            yield from self.tee_offs()
        else:
            for seat in self.order:
                self.seen[seat] |= {self.grid[seat, 2], self.grid[seat, 3]}
        for _ in range(self.cap):
            for place, seat in enumerate(self.order):
                yield from self.turn(seat)
                if self.ended_by is not None:
                    for other in self.order[place + 1 :] + self.order[:place]:
                        yield from self.turn(other)
                    return

    def tee_offs(self):
        self.phase = "tee"
        legal = [f"tee {a} {b}" for a in range(8) for b in range(a + 1, 8)]
        chosen = {}
        while len(chosen) < len(self.order):
            seat, move = yield {seat: legal for seat in self.order if seat not in chosen}
            chosen[seat] = move
        for seat in self.order:
            cards = [self.grid[seat, int(at)] for at in chosen[seat].split()[1:]]
            self.tell_all(*cards)
            self.note(seat, chosen[seat], cards=cards)
        self.phase = "turn"

    def turn(self, seat):
        self.begun[seat] += 1
        self.own_turn[seat] += 1
        spots = range(self.size)
        legal = [f"take {at}" for at in spots] + ["draw"]
        if not self.nine and self.ended_by is None:
            legal.append("knock")
        _, move = yield {seat: legal}
        if move == "knock":
            self.ended_by = seat
            self.note(seat, move)
            return
        if move == "draw":
            self.draw(seat)
            self.phase = "drawn"
            legal = [f"swap {at}" for at in spots]
            if self.nine:
                down = [at for at in spots if not self.open(seat, at)]
                legal += [f"flip {at}" for at in down] + ["skip"] * (len(down) == 1)
            else:
                legal.append("discard")
            _, move = yield {seat: legal}
            card, self.hand = self.hand, None
            self.phase = "turn"
        else:
            card = self.pile.pop()
        kind, *at = move.split()
        if kind in ("take", "swap"):
            out, self.grid[seat, int(at[0])] = self.grid[seat, int(at[0])], card
            lying = card
            if self.nine:
                self.tell_all(card)
        else:
            out = card
            lying = self.grid[seat, int(at[0])] if kind == "flip" else None
            if kind == "flip":
                self.tell_all(lying)
        self.pile.append(out)
        self.tell_all(out)
        self.note(seat, move, card=lying, out=out)
        if self.nine and self.ended_by is None and all(self.open(seat, at) for at in spots):
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

    def letters(self, seat):
        if seat not in self.order:
            return ""
        letters = ""
        for card in (self.grid[seat, at] for at in range(self.size)):
            knowing = [reader for reader, seen in self.seen.items() if card in seen]
            owner = "r" if card[0] == self.made > 0 else "o"
            letters += "a" if len(knowing) == self.seats else owner if knowing else "n"
        return letters

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
        if not self.nine:
            view["known"] = [self.letters(other) for other in range(self.seats)]
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
        Mirror=Mirror,
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
