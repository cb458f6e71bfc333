"""A batch of card tables as numpy arrays: decks, stock, pile, turns, the end of a hole.

Theory of operation. A row of every array is one hole in play, and exactly one seat of it is to act;
`step` plays one move in each row and deals anew where the hole is over. Seats are kept by their
place in the order of play, so that "clockwise from me" is a rotation of places, whichever seat
deals. What a row may do follows from its `_state`, a number into the game's table of legal actions.
`_held` is the card that can be placed now: the top of the pile, or the one drawn. A pile is a count
by code and its top, as nothing else of its order matters: a reshuffle sorts it first. Drawn slots
of the stock are 0. Arrays that are indexed cell by cell are flat; each row of cards has a cell more
that moves without a position write to.

Invariant, of every row and code: grids, pile, stock and a drawn card are the cards of the deck.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.deals import Deals
from arena.games import IllegalMoveError
from arena.games.descriptor import named
from arena.rl.aec import Reward, chosen_game
from arena.rl.observation import SHAPES, fields
from arena.rl.vector.decks import DealtDecks, Decks, RandomDecks

Ints = NDArray[Any]

DRAW = 1
"""The kind of the move `draw`; lower kinds are choices before the first turn, higher ones complete
a turn."""
NOBODY = -1


class BatchStep(NamedTuple):
    rewards: NDArray[np.float32]  # by row and seat; 0 but where a hole is over
    done: NDArray[np.bool_]
    """By row: the match (with `holes=1` the hole) is over, and another one has been dealt."""
    over: Ints  # the rows in which a hole is over
    scores: Ints  # strokes of those holes, by row of `over` and seat


class VectorEnv(ABC):
    """A batch of holes or matches. `deal` and `hole` say, by row, which one is in play."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[int, ...]]  # by action
    legal_by_state: ClassVar[Ints]
    first_state: ClassVar[int]

    def __init__(
        self, *, batch: int, seats: int, holes: int, zero_sum: bool, turn_cap: int, decks: Decks
    ) -> None:
        self.batch = batch
        self.seats = seats
        self.holes = holes
        shape = SHAPES[self.name]
        self.moves = shape.moves
        self.fields = fields(self.name, seats)
        self.deal: Ints = np.zeros(batch, np.intp)
        self.hole: Ints = np.ones(batch, np.intp)
        self._zero_sum = zero_sum
        self._decks = decks
        self._next_deal = 0
        self._size, self._codes = shape.cards, shape.codes + 1
        self._actions = len(self.moves)
        self._last_turn = turn_cap * seats
        self._rows = np.arange(batch)

        self._width = seats * self._size + 1
        self._row_cells = self._rows * self._width
        self._cards: Ints = np.zeros(batch * self._width, np.int8)
        self._pile: Ints = np.zeros(batch * self._codes, np.int16)
        self._recycled: Ints = np.zeros((batch, self._codes), np.int16)
        # The stock, and a cell for slots past its end, which is empty for ever.
        self._stock_width = decks.size - seats * self._size
        self._stock: Ints = np.zeros(batch * self._stock_width, np.int8)
        self._stock_left, self._held, self._top, self._place, self._turn = (
            np.zeros(batch, np.intp) for _ in range(5)
        )
        self._since, self._reshuffles, self._state = (np.zeros(batch, np.intp) for _ in range(3))
        self._ended: Ints = np.full(batch, NOBODY, np.intp)

        self._kind = np.array(self.kinds)
        self._legal_flat = self.legal_by_state.ravel()
        self._number_legal = self.legal_by_state.sum(axis=1)
        # Legal actions first, in their order; so the n-th of a state is one look.
        self._nth_legal = np.argsort(~self.legal_by_state, axis=1, kind="stable").ravel()
        places = np.arange(seats)
        self._next_place = (places + 1) % seats
        clockwise = (places[:, None] + places) % seats
        cells = clockwise[:, :, None] * self._size + np.arange(self._size)
        self._clockwise_cells = cells.reshape(seats, -1)
        self._begun = (clockwise <= places[:, None]).astype(np.int16)
        """By place and seats clockwise from it: whether it has had its turn of this round."""
        at = np.array([int(move[-1]) if move[-1].isdigit() else -1 for move in self.moves])
        self._cell = np.where(at < 0, self._width - 1, places[:, None] * self._size + at).ravel()
        self._lay_out()
        self.reset()

    def reset(self) -> None:
        self.hole[:] = 1
        self.deal[:] = self._new_deals(self.batch)
        self._start(self._rows)

    @property
    def acting(self) -> Ints:
        """By row: the seat that is to act."""
        return np.asarray((self._place + self.hole - 1) % self.seats)

    def legal(self) -> NDArray[np.bool_]:
        """By row and action: whether the seat that is to act may play it."""
        legal: NDArray[np.bool_] = self.legal_by_state.take(self._state, axis=0)
        return legal

    def random_actions(self, rng: np.random.Generator) -> Ints:
        """By row: one of the legal actions, each as likely."""
        state = self._state
        nth = (rng.random(self.batch) * self._number_legal.take(state)).astype(np.intp)
        actions: Ints = self._nth_legal.take(state * self._actions + nth)
        return actions

    def observe(self) -> NDArray[np.int16]:
        """By row: what the seat that is to act knows, as `arena.rl.observe` says it."""
        seen = np.empty((self.batch, self.fields["recycled"].stop), np.int16)
        place, ended = self._place, self._ended
        for name, values in (
            ("discard", self._top),
            ("stock", self._stock_left),
            ("place", place),
            ("ended", np.where(ended < 0, 0, (ended - place - 1) % self.seats + 1)),
        ):
            seen[:, self.fields[name].start] = values
        begun = self._begun.take(place, axis=0)
        seen[:, self.fields["turns"]] = (self._turn // self.seats)[:, None] + begun
        seen[:, self.fields["pile"]] = self._pile.reshape(self.batch, -1)[:, 1:]
        seen[:, self.fields["recycled"]] = self._recycled[:, 1:]
        cells = self._clockwise_cells.take(place, axis=0)
        cells += self._row_cells[:, None]
        self._observe(seen, cells)
        return seen

    def step(self, actions: ArrayLike) -> BatchStep:
        """Play one action in each row; IllegalMoveError, and no change, if one is not legal."""
        chosen = np.asarray(actions)
        if chosen.shape != (self.batch,) or chosen.dtype.kind not in "iu":
            raise ValueError(
                f"actions are {chosen.dtype} of shape {chosen.shape}: "
                f"they must be {self.batch} whole numbers, one for each row"
            )
        chosen = chosen.astype(np.intp, copy=False)
        in_range = (chosen >= 0) & (chosen < self._actions)
        legal = self._legal_flat.take(self._state * self._actions + chosen, mode="clip") & in_range
        if not legal.all():
            row = int(np.argmin(legal))
            action = int(chosen[row])
            what = repr(self.moves[action]) if in_range[row] else "not an action"
            raise IllegalMoveError(
                f"row {row}: action {action} ({what}) is not legal for seat {self.acting[row]} "
                "now; choose where legal() is true"
            )
        over = self._play(chosen, self._kind.take(chosen))
        rewards = np.zeros((self.batch, self.seats), np.float32)
        done = np.zeros(self.batch, np.bool_)
        scores = self._end(over, rewards, done) if over.size else np.zeros((0, self.seats), np.intp)
        return BatchStep(rewards, done, over, scores)

    @abstractmethod
    def _lay_out(self) -> None:
        """Make the arrays that only the game has."""

    @abstractmethod
    def _observe(self, seen: Ints, cells: Ints) -> None:
        """Fill in phase, drawn, grids and what else only the game knows."""

    @abstractmethod
    def _play(self, actions: Ints, kinds: Ints) -> Ints:
        """Play legal actions; the rows in which the hole is over now."""

    @abstractmethod
    def _deal_cards(self, rows: Ints) -> None:
        """The grids of these rows have been dealt."""

    @abstractmethod
    def _score(self, grids: Ints) -> Ints:
        """Strokes by row and place of codes by row, place and position."""

    def _new_deals(self, number: int) -> Ints:
        deals = np.arange(self._next_deal, self._next_deal + number)
        self._next_deal += number
        return deals

    def _start(self, rows: Ints) -> None:
        """Deal the holes that `deal` and `hole` name to these rows."""
        seats, dealt = self.seats, self.seats * self._size
        decks = self._decks.deal(rows, self.deal[rows], self.hole[rows])
        hands = decks[:, :dealt].reshape(-1, self._size, seats).transpose(0, 2, 1)
        self._cards.reshape(self.batch, -1)[rows, :-1] = hands.reshape(-1, dealt)
        self._stock.reshape(self.batch, -1)[rows, :-1] = decks[:, dealt + 1 :]
        self._stock_left[rows] = self._stock_width - 1
        top = decks[:, dealt].astype(np.intp)
        self._held[rows] = self._top[rows] = top
        self._pile.reshape(self.batch, -1)[rows] = 0
        self._pile[rows * self._codes + top] = 1
        self._recycled[rows] = 0
        for state in (self._place, self._turn, self._since, self._reshuffles):
            state[rows] = 0
        self._ended[rows] = NOBODY
        self._state[rows] = self.first_state
        self._deal_cards(rows)

    def _draw(self, rows: Ints) -> None:
        """The card of each row's slot comes into the hand; past the end or gone, the lowest."""
        left = self._stock_left.take(rows)
        if not left.all():
            for row in rows[left == 0].tolist():
                self._reshuffle(row)
            left = self._stock_left.take(rows)
        rounds = (self._turn.take(rows) - self._since.take(rows)) // self.seats
        slots = rounds * self.seats + self._place.take(rows)
        cells = rows * self._stock_width + np.minimum(slots, self._stock_width - 1)
        drawn = self._stock.take(cells)
        if not drawn.all():
            gone = np.flatnonzero(drawn == 0)
            stocks = self._stock.reshape(self.batch, -1)[rows[gone]]
            cells[gone] = rows[gone] * self._stock_width + (stocks != 0).argmax(axis=1)
            drawn = self._stock.take(cells)
        self._stock[cells] = 0
        self._stock_left[rows] = left - 1
        self._held[rows] = drawn
        again = np.flatnonzero(self._reshuffles.take(rows))
        if again.size:
            self._recycled[rows[again], drawn[again]] -= 1

    def _reshuffle(self, row: int) -> None:
        """Make all of a row's pile but its top the new stock; its slots count from 1 again."""
        pile = self._pile.reshape(self.batch, -1)[row]
        top = self._top[row]
        pile[top] -= 1
        rest = np.repeat(np.arange(self._codes), pile)
        self._recycled[row] = pile
        pile[:] = 0
        pile[top] = 1
        self._reshuffles[row] += 1
        stock = self._stock.reshape(self.batch, -1)[row]
        stock[:] = 0
        stock[: len(rest)] = self._decks.reshuffle(row, int(self._reshuffles[row]), rest)
        self._stock_left[row] = len(rest)
        # Every seat's next turn, the drawing one's present, is the first of the new stock.
        self._since[row] = self._turn[row]

    def _discard(self, rows: Ints, out: Ints, taken: Ints, number: Ints | int) -> None:
        """`number` cards `out` go onto the pile, from which the top is gone if it was `taken`."""
        cells = rows * self._codes
        self._pile[cells + self._top.take(rows)] -= taken
        self._pile[cells + out] += number
        self._top[rows] = self._held[rows] = out

    def _pass_on(self, rows: Ints, places: Ints, ended: Ints) -> Ints:
        """The turns of these rows are complete; the rows in which the hole is over."""
        turns = self._turn.take(rows) + 1
        following = self._next_place.take(places)
        over = (following == ended) | ((ended < 0) & (turns >= self._last_turn))
        self._turn[rows] = turns
        self._place[rows] = following
        self._ended[rows] = ended
        return np.asarray(rows[over])

    def _end(self, over: Ints, rewards: Ints, done: Ints) -> Ints:
        """Score the holes that are over, and deal the next ones."""
        grids = self._cards.reshape(self.batch, -1)[over, :-1].astype(np.intp)
        by_place = self._score(grids.reshape(len(over), self.seats, self._size))
        first = (self.hole[over] - 1) % self.seats
        places = (np.arange(self.seats) - first[:, None]) % self.seats
        scores: Ints = np.take_along_axis(by_place, places, axis=1)
        if self._zero_sum:
            others = (scores.sum(axis=1, keepdims=True) - scores) / (self.seats - 1)
            rewards[over] = others - scores
        else:
            rewards[over] = -scores
        last = self.hole[over] == self.holes
        self.hole[over] += 1
        finished = over[last]
        done[finished] = True
        self.hole[finished] = 1
        self.deal[finished] = self._new_deals(len(finished))
        self._start(over)
        return scores


def vector_env(
    game: str,
    batch: int,
    *,
    seats: int = 2,
    holes: int = 1,
    reward: Reward = "strokes",
    turn_cap: int | None = None,
    seed: int | None = None,
    deals: Deals | None = None,
) -> VectorEnv:
    """Holes (`holes=1`) or matches (9), dealt from `seed` or, at 11 µs a deck, from `deals`."""
    rules = chosen_game(game, seats, holes, reward, turn_cap)
    if not rules.about.vector:
        raise ValueError(f"{game} has no batches; use arena.rl.env")
    if batch < 1:
        raise ValueError(f"batch is {batch}: it must be 1 or more")
    if seed is not None and deals is not None:
        raise ValueError("give a seed or deals, not both: deals have a secret of their own")
    pack = rules.pack(seats)
    decks: Decks = RandomDecks(pack, seed) if deals is None else DealtDecks(pack, deals)
    columns: type[VectorEnv] = named(rules.about.vector)
    return columns(
        batch=batch,
        seats=seats,
        holes=holes,
        zero_sum=reward == "margin",
        turn_cap=turn_cap or rules.turn_cap,
        decks=decks,
    )
