"""A lean bot is told less, and can know as much: its view follows from what it is told."""

import random

import pytest

from arena.deals import Deals
from arena.games.four_card_golf import GAME as FOUR_CARD_GOLF
from arena.games.play_nine import GAME as PLAY_NINE
from arena.model import MatchSpec, Settings
from arena.referee import Referee
from arena.wire.messages import Act, Next

DEALS = Deals(bytes(range(32)))


class Follower:
    """Keeps a view as its program would: from the hole's first, by the events alone."""

    def __init__(self, view):
        self.grids = [list(grid) for grid in view.grids]
        self.known = [list(letters) for letters in getattr(view, "known", ())]
        self.pile, self.stock, self.recycled = list(view.pile), view.stock, list(view.recycled)
        self.turns, self.ended_by = list(view.turns), view.ended_by
        self.seat, self.order = view.seat, view.order

    def draw(self, card):
        """Somebody drew; `card` is None if it isn't known which."""
        if not self.stock:
            self.stock, self.recycled = len(self.pile) - 1, sorted(self.pile[:-1])
            self.pile = self.pile[-1:]
            for letters in self.known:
                letters[:] = ["o" if letter == "r" else letter for letter in letters]
            self.reshuffled = True
        self.stock -= 1
        if self.recycled and card is not None:
            self.recycled.remove(card)

    def follow(self, play):
        """One event."""
        kind, *where = play.move.split()
        positions = list(map(int, where))
        self.reshuffled = False
        if kind == "tee":
            for at, card in zip(positions, play.cards, strict=True):
                self.grids[play.seat][at] = card
            if play.seat == self.order[-1]:
                self.turns[self.order[0]] += 1
            return
        if kind == "take":
            self.pile.pop()
        elif kind == "knock":
            self.ended_by = play.seat
        else:
            self.draw(play.card if kind == "swap" else play.out)
        assert play.reshuffled == self.reshuffled
        self.was_recycled = self.was_recycled or self.reshuffled
        if play.out is not None:
            self.pile.append(play.out)
        for at in positions:
            self.place(play, kind, at)
        if not self.known and None not in self.grids[play.seat] and self.ended_by is None:
            self.ended_by = play.seat
        after = self.order[(self.order.index(play.seat) + 1) % len(self.order)]
        if self.ended_by != after:
            self.turns[after] += 1

    def place(self, play, kind, at):
        """A card came to lie at a position."""
        self.grids[play.seat][at] = play.card
        if self.known:
            letters = self.known[play.seat]
            if letters[at] == "r" and play.seat != self.seat:
                self.recycled.remove(play.out)  # what nobody else knew has come out
            drawn = "r" if self.was_recycled else "o"
            letters[at] = "a" if kind == "take" else drawn

    was_recycled = False

    def view(self, drawn):
        """(grids, known, pile, stock, recycled, drawn, turns, ended_by) as it sees them."""
        self.reshuffled = False
        kept = [*self.pile], self.stock, [*self.recycled], [[*letters] for letters in self.known]
        if drawn is not None:
            self.draw(drawn)
        seen = (
            tuple(map(tuple, self.grids)),
            tuple("".join(letters) for letters in self.known),
            tuple(self.pile),
            self.stock,
            tuple(self.recycled),
            drawn,
            tuple(self.turns),
            self.ended_by,
        )
        self.pile, self.stock, self.recycled, self.known = kept
        return seen


def seen(view):
    """The same of a view of the referee's."""
    known = getattr(view, "known", ())
    return (
        view.grids, known, view.pile, view.stock,
        view.recycled, view.drawn, view.turns, view.ended_by,
    )  # fmt: skip


def played(game, seats, seed):
    """Play a match with every seat lean, its view followed and compared at each question."""
    settings = Settings(game=game.name, seats=seats, turn_cap=game.turn_cap)
    names = tuple(f"bot{seat}@1" for seat in range(seats))
    spec = MatchSpec(id=f"m{seed}", series="s", pairing="p", deal=seed, rotation=0, seats=names)
    referee = Referee(spec, game=game, deals=DEALS, settings=settings)
    draw, followers, told = random.Random(seed), {}, []
    referee.begin()
    while referee.asked:
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=1, lean=True)
            told.append(question)
            truth = referee._hole.view(seat)
            if isinstance(question, Act):
                followers[seat] = Follower(question.view)
                legal = question.legal
            else:
                for play in question.events:
                    followers[seat].follow(play)
                assert followers[seat].view(question.drawn) == seen(truth)
                legal = referee._hole.legal(seat)
            # Holes that go on and on have reshuffles.
            slow = [move for move in legal if move in ("draw", "discard", "swap 0", "swap 1")]
            referee.answer(seat, draw.choice(slow if slow and draw.random() < 0.95 else legal))
    return referee, told


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("game", "seats"), [(PLAY_NINE, 2), (PLAY_NINE, 6), (FOUR_CARD_GOLF, 2), (FOUR_CARD_GOLF, 8)]
)
@pytest.mark.parametrize("seed", range(4))
def test_the_view_follows_from_the_events(game, seats, seed):
    """After a hole's first question, events and the drawn card say all that the view would."""
    referee, told = played(game, seats, seed)
    assert 9 == len(referee.record().holes)
    assert any(play.reshuffled for each in told if isinstance(each, Next) for play in each.events)


def test_the_first_question_of_each_hole_tells_all():
    """A lean seat gets one full question a hole, whenever that is."""
    _, told = played(PLAY_NINE, 3, 1)
    full = [question.hole for question in told if isinstance(question, Act)]
    assert sorted([*range(1, 10)] * 3) == full


def test_whoever_does_not_ask_for_less_is_told_all():
    """Lean questions are for those that want them."""
    game = FOUR_CARD_GOLF
    settings = Settings(game=game.name, turn_cap=game.turn_cap)
    spec = MatchSpec(id="m", series="s", pairing="p", deal=0, rotation=0, seats=("a", "b"))
    referee = Referee(spec, game=game, deals=DEALS, settings=settings)
    referee.begin()
    for _ in range(6):
        (seat,) = referee.asked
        assert isinstance(referee.question(seat, bank_ms=1), Act)
        referee.answer(seat, referee._hole.fallback(seat))
