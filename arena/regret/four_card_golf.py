"""What moves of four-card golf are worth: hands by the turns that are left, by what a seat knows.

A position after a move of a seat is worth V(own hand) - V(other's hand). V is what a hand comes to
in so many turns, each of which makes the best of a discard and a draw: one is certain, since a
knock leaves it, and after each there is another one with the same chance. How many turns are left
in the mean was counted in games of the example bots, by the class of the seat's own hand and of the
best hand among the others. A card that the seat doesn't know counts as the mean card of those that
it may be. What another seat has seen of its own is at most what its moves tell: a player that gives
up a seven holds no card that it knows to be worse. A discard is worth to the next seat what it
gains over a draw.

A knock is computed: the seat's own cards against those of the others after their last turn. So is
a last turn. A draw is worth the mean over the unseen cards of the best use of each.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from importlib.resources import files
from math import fsum
from operator import mul
from typing import Final

import msgspec

from arena.games.four_card_golf import CARDS, FourCardView
from arena.luck.four_card_golf import CLASSES, CODE, HANDS, KIND, KINDS, NEAR, PACK, UNKNOWN
from arena.model import Frozen, Play
from arena.regret import Judge, unseen_counts

_FILE: Final = "four_card_golf.json"
_MOST: Final = KINDS - 1
_UNSEEN: Final = 6  # a player that replaces a card it hasn't seen knows of none that is worse
_WORST: Final = CARDS * _MOST
_ONE_PACK: Final = 4  # seats that one pack serves


class HandRows(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All numbers in hundredths."""

    about: str
    moved: tuple[tuple[int, ...], ...]
    """Turns that a seat has left that has just moved: by its class and the best of the others'."""
    waiting: tuple[tuple[int, ...], ...]  # the same of the others
    saved: int  # what a last turn saves in the mean beyond the use of a draw on the worst card
    turns: tuple[int, ...]  # for how many turns left there are values
    values: tuple[tuple[int, ...], ...]  # by these turns, by the hands in the order of HANDS


class HandWorths:
    """What a hand comes to, by its class and the best class of the others, and its code."""

    def __init__(self, rows: HandRows) -> None:
        self._rows = rows
        self.saved = rows.saved / 100
        self.moved = [list(map(self._between, row)) for row in rows.moved]
        self.waiting = [list(map(self._between, row)) for row in rows.waiting]

    def _between(self, turns: int) -> dict[int, float]:
        """The values for so many turns, from the two rows beside it."""
        known = self._rows.turns
        at = min(max(bisect_right(known, turns), 1), len(known) - 1)
        low, high = known[at - 1], known[at]
        part = (turns - low) / (high - low)
        both = zip(HANDS, self._rows.values[at - 1], self._rows.values[at], strict=True)
        return {hand: (x + part * (y - x)) / 100 for hand, x, y in both}


class UnseenCards:
    """Of the cards that a seat doesn't see: means, and chances of the next draw."""

    def __init__(self, view: FourCardView) -> None:
        packs = 1 if len(view.grids) <= _ONE_PACK else 2
        counts, stock = unseen_counts(view, KIND, (packs * many for many in PACK))
        self.up_to = []
        """By points: the mean of the unseen cards that count no more."""
        cards = strokes = 0
        for points, many in enumerate(counts):
            cards += many
            strokes += points * many
            self.up_to.append(strokes / cards if cards else points / 2)
        self.mean = self.up_to[_MOST]
        whole = sum(stock) or 1
        self.chances = [many / whole for many in stock]

    def drawn(self, worths: Sequence[float]) -> float:
        """The mean over the next card of the stock."""
        return fsum(map(mul, self.chances, worths))


def caps(plays: Sequence[Play], seats: int) -> list[list[int | None]]:
    """By seat and position: None for a card that its owner hasn't seen, else the most that it
    counts, if its owner plays with sense.
    """
    most: list[list[int | None]] = [
        [_MOST if at in NEAR else None for at in range(CARDS)] for _ in range(seats)
    ]
    for play in plays:
        word, _, place = play.move.partition(" ")
        if word == "knock":
            continue
        mine = most[play.seat]
        assert play.out is not None
        limit = KIND[play.out]
        if place and mine[int(place)] is None:
            limit = _UNSEEN
        for at, cap in enumerate(mine):
            if cap is not None and limit < cap:
                mine[at] = limit
        if place:
            mine[int(place)] = max(limit - 1, 0)
    return most


def expected_hands(
    view: FourCardView, plays: Sequence[Play], unseen: UnseenCards, seats: Sequence[int]
) -> list[list[float]]:
    """The cards of other seats, as their moves so far let one expect them."""
    most = caps(plays, len(view.grids))
    return [
        [
            (unseen.mean if cap is None else unseen.up_to[cap]) if card is None else KIND[card]
            for card, cap in zip(view.grids[other], most[other], strict=True)
        ]
        for other in seats
    ]


def last_gains(hand: Sequence[float]) -> list[float]:
    """By card, what it saves in the place of the worst."""
    return [max(0.0, max(hand) - card) for card in range(KINDS)]


class HandOutlook:
    """What the moves of a turn are worth."""

    def __init__(self, values: HandWorths, view: FourCardView, plays: Sequence[Play]) -> None:
        unseen = UnseenCards(view)
        at = view.order.index(view.seat)
        after = (*view.order[at + 1 :], *view.order[:at])
        self._unseen, self._values, self._seats = unseen, values, len(after)
        self._own = [UNKNOWN if card is None else KIND[card] for card in view.grids[view.seat]]
        self._last = view.ended_by is not None
        others = expected_hands(view, plays, unseen, after)
        gains = list(map(last_gains, others))
        draws = [unseen.drawn(gain) for gain in gains]
        self._knocked = (fsum(map(fsum, others)) - fsum(draws)) / len(after) - values.saved
        """What the others have after a knock, in the mean."""
        fed = [max(0.0, gain - draws[0]) / len(after) for gain in gains[0]]
        if after[0] == view.ended_by:
            fed = [0.0] * KINDS
        self._fed = [*fed, unseen.drawn(fed)]
        """By card on the pile, what it brings the next seat beyond a draw; last an unknown one."""
        sums = list(map(fsum, others))
        self._best = min(sums)
        self._others = [
            (
                class_of(strokes),
                min([*sums[:at], *sums[at + 1 :]], default=_WORST),
                sum(CODE[round(card)] for card in hand),
            )
            for at, (strokes, hand) in enumerate(zip(sums, others, strict=True))
        ]
        """Of each: its class, the best sum among the rest of the others, the code of its hand."""

    def _behind(self, hand: Sequence[int]) -> float:
        """The worth of a position behind a move, the discard apart."""
        expected = fsum(self._unseen.mean if card == UNKNOWN else card for card in hand)
        if self._last:
            return expected
        mine = self._values.moved[class_of(expected)][class_of(self._best)]
        waiting = self._values.waiting
        others = fsum(
            waiting[group][class_of(min(expected, rest))][code]
            for group, rest, code in self._others
        )
        return mine[sum(CODE[card] for card in hand)] - others / self._seats

    def _swaps(self, card: int) -> list[float]:
        """By position, what it is worth to lay a card there."""
        own = self._own
        return [
            self._behind([*own[:at], card, *own[at + 1 :]]) + self._fed[own[at]]
            for at in range(CARDS)
        ]

    def drawn(self, card: int) -> dict[str, float]:
        """By move that uses a drawn card."""
        swaps = {f"swap {at}": worth for at, worth in enumerate(self._swaps(card))}
        return swaps | {"discard": self._behind(self._own) + self._fed[card]}

    def turn(self, card: int) -> dict[str, float]:
        """By move that begins a turn, with that card on the pile."""
        stay = self._behind(self._own)
        uses = [min(stay + self._fed[kind], *self._swaps(kind)) for kind in range(KINDS)]
        known = fsum(self._unseen.mean if own == UNKNOWN else own for own in self._own)
        takes = {f"take {at}": worth for at, worth in enumerate(self._swaps(card))}
        return takes | {"draw": self._unseen.drawn(uses), "knock": known - self._knocked}


def class_of(strokes: float) -> int:
    return bisect_left(CLASSES, round(100 * strokes))


def _tables() -> HandWorths:
    text = (files("arena.regret") / _FILE).read_bytes()
    return HandWorths(msgspec.json.decode(text, type=HandRows))


def _worths(
    values: HandWorths, view: FourCardView, plays: Sequence[Play], legal: Sequence[str]
) -> list[float]:
    outlook = HandOutlook(values, view, plays)
    if view.drawn is None:
        found = outlook.turn(KIND[view.discard])
    else:
        found = outlook.drawn(KIND[view.drawn])
    return [found[move] for move in legal]


def _ends(_: FourCardView, move: str) -> bool:
    return move == "knock"


JUDGE: Final = Judge(1, ("arena.regret", _FILE), _tables, _worths, _ends, doubt=0.35)
