"""What moves of Play Nine are worth: expected scores one card ahead, and learned tables beyond.

A position after a move of a seat is worth, in strokes above the mean of the others,

    E(own) - E(other) + moved(own columns) - to_move(other's columns) + lead(E(own) - E(other))
        - feed * (what the discard is worth to the next seat)

E is the expected score of a grid, its face-down cards at the chances of the unseen ones. The tables
say what a column is worth beyond that because it may still be improved, by how much time is left:
the face-down cards of the seat and the fewest of any other. Once a seat has gone out nothing is
learned: the others have E and the best use of one more card. A draw is worth the mean over the
unseen cards of the best use of each.

Cards by kind: 0 to 12 are themselves, 13 is a Hole-in-One, 14 is face down.
"""

from collections.abc import Sequence
from importlib.resources import files
from math import fsum
from operator import mul
from typing import Final, NamedTuple

import msgspec

from arena.games.play_nine import CARDS, COLUMNS, PlayNineView
from arena.luck.play_nine import DOWN, KIND, KINDS, PACK, SQUARE
from arena.model import Frozen, Play
from arena.regret import Judge, unseen_counts

_FILE: Final = "play_nine.json"
NEAR: Final = 3  # more face-down cards than these are no other time

_NUMBER: Final[tuple[float, ...]] = (*range(13), -5)
_ACE: Final = 13  # the Hole-in-One, which never cancels
_MATCHED: Final = (0, 0, -10, -15, -20)  # strokes by the number of matched columns of one value
_MORE: Final = (0, -10, -5, -5, 0)  # what one more adds
_KNOTS: Final = 6  # strokes between two points of `lead`; zero lies in their middle
_PAIRS: Final = [(a, b) for a in range(SQUARE) for b in range(a, SQUARE)]
_TIMES: Final = [(own, other) for own in range(1, NEAR + 1) for other in range(1, NEAR + 1)]


class TimeRows(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was learned for one time, in hundredths."""

    moved: tuple[int, ...]  # by the two cards of a column, (0, 0), (0, 1), ... (14, 14)
    to_move: tuple[int, ...]
    lead: tuple[int, ...]  # by the lead, at -33, -27, ... 33 strokes
    live_moved: int
    live_to_move: int
    feed: int


class JudgeRows(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    about: str
    tee: int
    """What it costs to turn two cards of one column at the tee, in hundredths of a stroke."""
    times: tuple[TimeRows, ...]  # by own face-down cards, 1 to 3 or more, and the others'


class TimeTable:
    """The same in strokes, ready for use."""

    def __init__(self, rows: TimeRows) -> None:
        self.moved, self.to_move = _square(rows.moved), _square(rows.to_move)
        self.lead = [value / 100 for value in rows.lead]
        self.live_moved, self.live_to_move = rows.live_moved / 100, rows.live_to_move / 100
        self.feed = rows.feed / 100

    def led(self, lead: float) -> float:
        """The curve `lead` at so many strokes."""
        last = len(self.lead) - 1
        place = lead / _KNOTS + last / 2
        if not 0 <= place < last:
            return self.lead[0 if place < 0 else last]
        at = int(place)
        return self.lead[at] + (place - at) * (self.lead[at + 1] - self.lead[at])


def _square(row: Sequence[int]) -> list[float]:
    square = [0.0] * (SQUARE * SQUARE)
    for (a, b), value in zip(_PAIRS, row, strict=True):
        square[SQUARE * a + b] = square[SQUARE * b + a] = value / 100
    return square


class ColumnWorths:
    def __init__(self, rows: JudgeRows) -> None:
        self.tee = rows.tee / 100
        self.times = dict(zip(_TIMES, map(TimeTable, rows.times), strict=True))
        """By own face-down cards and the others', both at most NEAR."""


class Chances:
    """Of the cards that no seat sees: what lies face down, and what comes from the stock."""

    def __init__(self, view: PlayNineView) -> None:
        self.down, self.stock = map(_shares, unseen_counts(view, KIND, PACK))
        self.mean = fsum(map(mul, self.down, _NUMBER))


def _shares(counts: Sequence[int]) -> list[float]:
    whole = sum(counts) or 1
    return [count / whole for count in counts]


class ExpectedGrid:
    """A seat's cards, as everybody expects them."""

    def __init__(self, cards: Sequence[int | None], chances: Chances) -> None:
        self.cards = [DOWN if card is None else KIND[card] for card in cards]
        self.down = self.cards.count(DOWN)
        self.columns = list(zip(self.cards[:COLUMNS], self.cards[COLUMNS:], strict=True))
        matched = [0] * KINDS
        for top, bottom in self.columns:
            if top == bottom != DOWN:
                matched[top] += 1
        self._chance = chances.down
        self.match: list[float] = [_MORE[many] for many in matched]
        """By card, what one more matched column of it counts."""
        self.match[_ACE] -= 10
        gains = [match - 2 * number for match, number in zip(self.match, _NUMBER, strict=True)]
        down = [gain * chance for gain, chance in zip(gains, self._chance, strict=True)]
        self.beside = [x + chances.mean + gain for x, gain in zip(_NUMBER, down, strict=True)]
        """By card, what a column of it and a face-down one counts."""
        hidden = 2 * chances.mean + fsum(map(mul, down, self._chance))
        self.now: list[float] = []
        """By column: its expected score, or what a matched one adds to the others."""
        for top, bottom in self.columns:
            if top == bottom != DOWN:
                self.now.append(_MORE[matched[top] - 1] - 10 * (top == _ACE))
            else:
                self.now.append(hidden if top == bottom else self._with(top, bottom))
        open_ones = [
            now for (a, b), now in zip(self.columns, self.now, strict=True) if a != b or a == DOWN
        ]
        self.expected = fsum(open_ones) + sum(map(_MATCHED.__getitem__, matched))
        self.expected -= 10 * matched[_ACE]

    def _with(self, card: int, beside: int) -> float:
        """What a column with this card counts, unless both are face down."""
        if card == DOWN:
            return self.beside[beside]
        if beside == DOWN:
            return self.beside[card]
        return self.match[card] if card == beside else _NUMBER[card] + _NUMBER[beside]

    def changes(self, at: int) -> list[float]:
        """By card, how the expected score changes if it comes to a position."""
        beside, now = self.cards[at ^ COLUMNS], self.now[at % COLUMNS]
        if beside == DOWN:
            return [after - now for after in self.beside]
        base = _NUMBER[beside] - now
        changes = [number + base for number in _NUMBER]
        changes[beside] = self.match[beside] - now
        if self.cards[at] == beside != DOWN:
            changes[beside] = 0.0  # it replaces its like
        return changes

    def live(self, top: int, bottom: int) -> float:
        """What a column of two face-up cards may gain by a match, by its chance."""
        if top in {bottom, DOWN} or bottom == DOWN:
            return 0.0
        score, match, chance = _NUMBER[top] + _NUMBER[bottom], self.match, self._chance
        value = 0.0 if (gain := score - match[top]) < 0 else gain * chance[top]
        return value if (gain := score - match[bottom]) < 0 else value + gain * chance[bottom]

    def learned(self, square: Sequence[float], live: float) -> float:
        return fsum(square[SQUARE * a + b] + live * self.live(a, b) for a, b in self.columns)

    def gains(self) -> list[float]:
        """By card, how its best use changes the expected score: at most 0."""
        return [min(0.0, *row) for row in zip(*map(self.changes, range(CARDS)), strict=True)]


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


class Outlook:
    """What the moves of a turn are worth."""

    def __init__(self, tables: ColumnWorths, view: PlayNineView) -> None:
        chances = Chances(view)
        at = view.order.index(view.seat)
        after = (*view.order[at + 1 :], *view.order[:at])
        self._chances, self._times = chances, tables.times
        self._mine = ExpectedGrid(view.grids[view.seat], chances)
        self._others = [ExpectedGrid(view.grids[other], chances) for other in after]
        self._lead = self._mine.expected - _mean([other.expected for other in self._others])
        self._last = view.ended_by is not None
        gains = [other.gains() for other in self._others]
        draws = [fsum(map(mul, gain, chances.stock)) for gain in gains]
        share = 1 / len(after)
        self._ending = -_mean(draws)
        """What the last turns of the others bring them, if this move is the last of the seat."""
        fed = [share * min(0.0, gain - draws[0]) for gain in gains[0]]
        if after[0] == view.ended_by:
            fed = [0.0] * KINDS
        self._fed = [*fed, fsum(map(mul, fed, chances.down))]
        """By card on the pile, what it brings the next seat beyond a draw; last an unknown one."""
        self._behind = {turned: self._position(turned) for turned in (0, 1)}
        self._swaps = [self._swap(place) for place in range(CARDS)]

    def _position(self, turned: int) -> "_Behind":
        """The position behind a move that turns so many cards."""
        down = self._mine.down - turned
        if self._last or not down:
            ending = 0.0 if self._last else self._ending
            return _Behind(None, 1.0, ending)
        near = [min(NEAR, other.down) for other in self._others]
        time = self._times[min(NEAR, down), min(near)]
        theirs = [self._times[other, min(NEAR, down)] for other in near]
        base = self._mine.learned(time.moved, time.live_moved) - _mean(
            [
                other.learned(their.to_move, their.live_to_move)
                for other, their in zip(self._others, theirs, strict=True)
            ]
        )
        return _Behind(time, time.feed, base)

    def _swap(self, place: int) -> list[float]:
        """By card, what it is worth to lay it on a position."""
        mine = self._mine
        old, beside = mine.cards[place], mine.cards[place ^ COLUMNS]
        behind, lead = self._behind[old == DOWN], self._lead
        base = behind.base - behind.feed * self._fed[old]
        leads = [lead + change for change in mine.changes(place)]
        if (time := behind.time) is None:
            return [base + after for after in leads]
        live, square = time.live_moved, time.moved
        base -= square[SQUARE * beside + old] + live * mine.live(beside, old)
        return [
            base + after + time.led(after) + square[SQUARE * beside + card]
            + live * mine.live(beside, card)
            for card, after in enumerate(leads)
        ]  # fmt: skip

    def _flip(self, place: int) -> float:
        """What it is worth to turn a card, the discard apart."""
        behind, mine = self._behind[1], self._mine
        if (time := behind.time) is None:
            return behind.base + self._lead
        beside = mine.cards[place ^ COLUMNS]
        square, live, down = time.moved, time.live_moved, self._chances.down
        start = SQUARE * beside
        values = [square[start + card] + live * mine.live(beside, card) for card in range(KINDS)]
        value = behind.base + self._lead + time.led(self._lead)
        return value + fsum(map(mul, values, down)) - square[start + DOWN]

    def _discards(self) -> dict[str, tuple[float, float]]:
        """By move that discards the drawn card: what it is worth apart from it, and its feed."""
        places = [at for at, card in enumerate(self._mine.cards) if card == DOWN]
        found = {f"flip {at}": (self._flip(at), self._behind[1].feed) for at in places}
        if len(places) == 1:
            behind = self._behind[0]
            led = 0.0 if behind.time is None else behind.time.led(self._lead)
            found["skip"] = behind.base + self._lead + led, behind.feed
        return found

    def drawn(self, card: int) -> dict[str, float]:
        """By move that uses a drawn card."""
        swaps = {f"swap {at}": worths[card] for at, worths in enumerate(self._swaps)}
        fed = self._fed[card]
        return swaps | {m: worth - feed * fed for m, (worth, feed) in self._discards().items()}

    def turn(self, card: int) -> dict[str, float]:
        """By move that begins a turn, with that card on the pile."""
        least = [min(worths) for worths in zip(*self._swaps, strict=True)]
        for worth, feed in self._discards().values():
            least = [min(x, worth - feed * fed) for x, fed in zip(least, self._fed, strict=False)]
        takes = {f"take {at}": worths[card] for at, worths in enumerate(self._swaps)}
        return takes | {"draw": fsum(map(mul, least, self._chances.stock))}


class _Behind(NamedTuple):
    time: TimeTable | None  # None if nothing more is learned
    feed: float
    base: float


def _worths(
    tables: ColumnWorths, view: PlayNineView, _: Sequence[Play], legal: Sequence[str]
) -> list[float]:
    if view.phase == "tee":
        return [tables.tee * ((int(m[4]) - int(m[6])) % COLUMNS == 0) for m in legal]
    outlook = Outlook(tables, view)
    if view.drawn is None:
        found = outlook.turn(KIND[view.discard])
    else:
        found = outlook.drawn(KIND[view.drawn])
    return [found[move] for move in legal]


def _ends(view: PlayNineView, move: str) -> bool:
    cards = view.grids[view.seat]
    if view.ended_by is not None or cards.count(None) != 1:
        return False
    return move.endswith(f" {cards.index(None)}")


def _tables() -> ColumnWorths:
    text = (files("arena.regret") / _FILE).read_bytes()
    return ColumnWorths(msgspec.json.decode(text, type=JudgeRows))


JUDGE: Final = Judge(1, ("arena.regret", _FILE), _tables, _worths, _ends)
