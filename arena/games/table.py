"""A card table that the games are built on: dealing, order of play, stock, pile, event log.

Theory of operation. A `CardTable` is dealt once from a `HoleDeck`. After that a game changes it in
three ways only: `_draw` takes a card from the stock into the hand, `_finish` logs a
completed turn and passes play on, and the game itself moves cards between a grid, the hand and
the pile. A move is checked in full before the first change, so a refused move changes nothing.

The stock is not a queue. Which card a seat draws is fixed by its place in the order of play
and by the number of its turn (its slot), not by what others drew before: the same deal played
with other players, or with the seats rotated, gives each seat the same cards, and far more of
the luck cancels. A slot never depends on an unseen card, so chances are those of drawing from
the top. A drawn slot becomes None; the stock keeps its length.

Invariant: grids, pile, stock and hand together are the cards of the deck. Touches nothing but
its own state; all randomness is the deck's.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from arena.games import HoleDeck, IllegalMoveError
from arena.model import HoleRecord, Play


class CardTable:
    """What all games share. A seat that takes no part in the hole has no cards and no turns."""

    def __init__(
        self, *, size: int, seats: int, order: Sequence[int], deck: HoleDeck, turn_cap: int
    ) -> None:
        cards = deck.cards
        players = len(order)
        dealt = players * size
        if players < 2 or len(set(order)) < players or not set(order) <= set(range(seats)):
            raise ValueError(f"order {tuple(order)} is not two or more of {seats} seats")
        if turn_cap < 1:
            raise ValueError(f"a turn cap of {turn_cap} leaves no turn to play")
        # The first discard and one card of stock: from then on stock and pile together never
        # fall below two cards, so a draw always finds one, reshuffled or not.
        if len(cards) < dealt + 2:
            raise ValueError(f"{len(cards)} cards are too few for {players} players")

        self._deck = deck
        self._turn_cap = turn_cap
        self._order = tuple(order)
        self._alone = tuple((seat,) for seat in order)
        self._after = (*range(1, players), 0)
        self._cards: list[list[int]] = [[] for _ in range(seats)]
        """All cards by seat and position, hidden ones included."""
        for place, seat in enumerate(order):
            self._cards[seat] = list(cards[place:dealt:players])
        self._pile = [cards[dealt]]
        self._hand: int | None = None
        """The card that the acting seat has drawn and not yet placed or discarded."""

        self._stock: list[int | None] = list(cards[dealt + 1 :])
        self._stock_left = len(self._stock)
        self._lowest = 0  # every slot below it has been drawn
        self._reshuffles = 0
        self._recycled: list[int] = []
        """The cards in the stock, ascending; kept only once the pile has been reshuffled."""

        self._acting: tuple[int, ...] = ()
        self._place = 0
        self._turns = [0] * seats  # turns begun on this hole
        self._turns_before = [0] * seats
        """Of those, the ones that do not count for the slots of the present stock."""
        self._ended_by: int | None = None
        self._reshuffled = False  # whether the stock was made anew in the present turn
        self._plays: list[Play] = []  # completed moves, with what all players may know of them

    def to_act(self) -> tuple[int, ...]:
        return self._acting

    def drawn(self, seat: int) -> int | None:
        return self._hand if seat in self._acting else None

    def grids(self) -> tuple[tuple[int, ...], ...]:
        if self._acting:
            raise RuntimeError("the hole is not over: its cards are still hidden")
        return tuple(map(tuple, self._cards))

    def _illegal(self, seat: int, move: str) -> IllegalMoveError:
        if seat not in self._acting:
            return IllegalMoveError(f"seat {seat} is not to act")
        return IllegalMoveError(f"{move!r} is not legal for seat {seat} now")

    def _begin_turn(self, place: int) -> None:
        self._place = place
        self._acting = self._alone[place]
        self._turns[self._order[place]] += 1

    def _finish(self, play: Play) -> None:
        """Log the turn that `play` completes; the next seat's begins, or the hole is over."""
        self._plays.append(play)
        self._hand = None
        self._reshuffled = False
        place = self._after[self._place]
        seat = self._order[place]
        ended_by = self._ended_by
        if ended_by is not None:
            over = seat == ended_by
        else:
            # The dealer, last in the order of play, is the last to reach the cap.
            over = place == 0 and self._turns[self._order[-1]] >= self._turn_cap
        if over:
            self._acting = ()
        else:
            self._place = place
            self._acting = self._alone[place]
            self._turns[seat] += 1

    def _draw(self, seat: int) -> None:
        """Take the card of the seat's slot into the hand; past the end or gone, the lowest."""
        if not self._stock_left:
            self._reshuffle(seat)
        stock = self._stock
        turn = self._turns[seat] - self._turns_before[seat]
        slot = (turn - 1) * len(self._order) + self._place
        card = stock[slot] if slot < len(stock) else None
        if card is None:
            slot = self._lowest
            while (card := stock[slot]) is None:
                slot += 1
            self._lowest = slot + 1
        stock[slot] = None
        self._stock_left -= 1
        self._hand = card
        if self._reshuffles:
            del self._recycled[bisect_left(self._recycled, card)]

    def _reshuffle(self, drawing: int) -> None:
        """Make all of the pile but its top the new stock.

        Slots count from turn 1 again: for the drawing seat that is its present turn, for the
        others their next.
        """
        *rest, top = self._pile
        rest.sort()
        self._pile = [top]
        self._reshuffles += 1
        self._reshuffled = True
        self._recycled = rest
        self._stock = list(self._deck.reshuffle(self._reshuffles, tuple(rest)))
        self._stock_left = len(self._stock)
        self._lowest = 0
        self._turns_before = self._turns.copy()
        self._turns_before[drawing] -= 1

    def _recycled_for(self, seat: int, elsewhere: Sequence[int] = ()) -> tuple[int, ...]:
        """The stock once reshuffled, another's card in hand, and the cards `elsewhere`, as one."""
        if not self._reshuffles:
            return ()
        unseen = [*self._recycled, *elsewhere]
        if self._hand is not None and self._acting[0] != seat:
            unseen.append(self._hand)
        unseen.sort()
        return tuple(unseen)


def turns(hole: HoleRecord) -> Iterator[tuple[int, str, str]]:
    """(seat, first move, last move) for each completed turn of a recorded hole, without dealing it
    again. A turn is one move, or `draw` and the move that uses the card; a tee-off is a turn. Moves
    that no rules would allow raise no error; `arena verify` is for them.
    """
    order = hole.order
    place = 0
    moves = iter(hole.moves.split(",") if order else ())
    for first in moves:
        last = next(moves, "") if first == "draw" else first
        if last:
            yield order[place], first, last
            place = (place + 1) % len(order)
