"""The knowledge of a person in a seat: what a bot there would be sent, kept for display.

Pure. Invariant: a desk gets the messages to its own seat, its own view and the plays that it may
see; never a hole in play, a deck or another seat's view.
"""

from collections.abc import Sequence
from typing import Any

from arena import registry
from arena.model import FaultKind, Play
from arena.wire.messages import Act, HoleEnd, MatchEnd, MatchStart


class Desk:
    def __init__(self, game: str, names: Sequence[str], seat: int) -> None:
        self.game = game
        self.about = registry.game(game).about
        self.names = names  # by seat, as they are to be shown
        self.seat = seat
        self.hole = 0  # the number of the one that is shown; 0 before the first
        self.view: Any = None  # of the seat, from the last message
        self.plays: list[Play] = []  # of the hole, as the seat may see them
        self.turn = ""  # the id of the question that is open, or was last
        self.legal: Sequence[str] = ()  # legal moves; empty while others are to move
        self.grids: Sequence[Sequence[int]] = ()  # all cards of all seats, once the hole is over
        self.scores: list[tuple[int | None, ...]] = []
        """By finished hole and seat; None: it had no part in that hole."""
        self.totals: Sequence[int] = (0,) * len(names)
        self.fallen: dict[int, FaultKind] = {}
        """Seats that have forfeited, and by what kind of fault."""
        self.places: Sequence[int] = ()  # by seat, once the match is over
        self._asked = 0  # plays of the hole that were known at its last question

    def take_message(self, message: MatchStart | HoleEnd | MatchEnd) -> None:
        if isinstance(message, HoleEnd):
            self._at(message.hole)
            self.plays = [*self.plays[: self._asked], *message.events]
            self.grids, self.totals, self.legal = message.grids, message.totals, ()
            plays = self.order
            self.scores.append(
                tuple(score if s in plays else None for s, score in enumerate(message.scores))
            )
        elif isinstance(message, MatchEnd):
            self.totals, self.places, self.legal = message.totals, message.places, ()

    def ask(self, question: Act) -> None:
        self._at(question.hole)
        self.plays = [*self.plays[: self._asked], *question.events]
        self._asked = len(self.plays)
        self.view, self.totals = question.view, question.totals
        self.turn, self.legal = question.turn, question.legal

    def close_question(self) -> None:
        self.legal = ()

    def update(self, hole: int, view: Any, plays: Sequence[Play]) -> None:  # noqa: ANN401 - each game's own
        """Others have moved; the next question would say so."""
        self._at(hole)
        self.view, self.plays = view, list(plays)

    def add_fault(self, seat: int, kind: FaultKind) -> None:
        self.fallen[seat] = kind

    def _at(self, hole: int) -> None:
        if hole != self.hole:
            self.hole, self._asked = hole, 0
            self.plays, self.grids, self.legal = [], (), ()

    @property
    def order(self) -> Sequence[int]:
        """The seats that play the hole, in the order of play; the dealer is the last."""
        return self.view.order if self.view is not None else range(len(self.names))

    @property
    def phase(self) -> str:
        return str(self.view.phase)

    @property
    def down(self) -> list[int]:
        """The seat's own cards that are face down, by position, in a game that turns cards up."""
        return [at for at, card in enumerate(self.view.grids[self.seat]) if card is None]

    def acting(self) -> Sequence[int]:
        """The seats that are to move, as far as the desk can tell."""
        if self.grids or self.places or self.view is None:
            return ()
        if self.legal:
            return (self.seat,)
        if self.view.phase == "tee":
            return ()
        turns = [play.seat for play in self.plays if not play.move.startswith("tee")]
        order = list(self.order)
        return (order[(order.index(turns[-1]) + 1) % len(order)] if turns else order[0],)

    def cards(self, seat: int) -> list[tuple[int | None, bool]]:
        """A seat's cards by position: (value or None, whether the others know it too)."""
        if self.grids:
            return [(card, True) for card in self.grids[seat]]
        if self.view is None:
            return []
        known: Sequence[str] | None = getattr(self.view, "known", None)
        grid = self.view.grids[seat]
        if known is None:
            return [(card, True) for card in grid]
        return [(card, letter == "a") for card, letter in zip(grid, known[seat], strict=True)]

    @property
    def drawn(self) -> int | None:
        return self.view.drawn if self.view is not None and self.legal else None


def play_in_words(desk: Desk, play: Play, *, brief: bool = False) -> str:
    word, *places = play.move.split(" ")
    move, label = desk.about.move(word), desk.about.label
    card, out, *cards = (
        label(each, "a card" if brief else "?") for each in (play.card, play.out, *play.cards)
    )
    does = (move.brief if brief else move.past).format(
        at=places[0] if places else "",
        two=places[-1] if places else "",
        drawn="a card" if play.card is None else f"the {card}",
        card=card,
        out=out,
        cards=", ".join(cards),
    )
    anew = " (the pile was shuffled anew)" if play.reshuffled and not brief else ""
    return f"{desk.names[play.seat]} {does}{anew}"
