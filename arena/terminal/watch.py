"""Watch a match as it is played: a picture of the table after each move, and the news in words."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import msgspec

from arena import registry
from arena.event.single_match import Watch
from arena.games.descriptor import Descriptor
from arena.games.observer import ObservedGame, ObservedMove
from arena.referee import HOLES
from arena.replay.steps import table_state
from arena.reports.cards import Picture
from arena.reports.escape import plain
from arena.terminal.display import Look, display
from arena.terminal.moments import Moment, strokes_line, strokes_of, table_picture, words

TOLD = 12
"""Moves that are kept in words: more than a screen has room for beside the cards."""


class Display(Protocol):
    """Where a match is shown."""

    def show(self, shown: Picture, news: Sequence[str]) -> None:
        """The table has changed."""


class WatchedMatch:
    """An `Observer` that shows everything, hidden cards too. `rest` is called after each move that
    has been shown.
    """

    def __init__(
        self,
        title: str,
        about: Descriptor,
        names: Sequence[str],
        display: Display,
        rest: Callable[[], None] = lambda: None,
    ) -> None:
        self._title = title
        self._about = about
        self._names = [plain(name) for name in names]
        self._display = display
        self._rest = rest
        self._game: ObservedGame | None = None
        self._told: deque[str] = deque(maxlen=TOLD)
        self._news: list[str] = []
        self._scores: list[tuple[int | None, ...]] = []
        self._totals = [0] * len(names)
        self._fallen: frozenset[int] = frozenset()

    def moved(self, game: ObservedGame, move: ObservedMove) -> None:
        self._game = game
        self._tell(words(self._about, self._names[move.seat], move))
        assert game.hole is not None
        if not game.hole.to_act():
            scores = game.hole.scores()
            self._scores.append(strokes_of(game.order, scores))
            if game.holes <= HOLES:
                self._totals = [a + b for a, b in zip(self._totals, scores, strict=True)]
            self._tell(
                f"hole {game.holes} is over: {strokes_line(self._names, game.order, scores)}"
            )
        self._show(game)
        self._rest()

    def fallen(self, seat: int) -> None:
        self._fallen |= {seat}
        game = self._game
        players = range(len(self._names)) if game is None else game.order
        goes_on = len(set(players) - self._fallen) > 1
        self._tell(f"{self._names[seat]} has failed{', and is played on for' if goes_on else ''}")
        if game is not None:
            self._show(game)

    def _tell(self, text: str) -> None:
        self._told.append(text)
        self._news.append(text)

    def _show(self, game: ObservedGame) -> None:
        news, self._news = self._news, []
        self._display.show(self._picture(game), news)

    def _picture(self, game: ObservedGame) -> Picture:
        assert game.hole is not None
        acting = game.hole.to_act()
        moment = Moment(
            hole=game.holes,
            drawn=game.hole.drawn(acting[0]) if len(acting) == 1 else None,
            fallen=self._fallen,
            **msgspec.structs.asdict(table_state(game)),
        )
        return table_picture(
            moment if acting else moment.revealed(),
            self._about,
            self._names,
            title=f"{self._title}, hole {game.holes}",
            acting=acting,
            totals=self._totals,
            news=tuple(self._told),
            scores=self._scores,
        )


def watching(game: str, deal: int, *, hidden: bool, delay: float | None) -> Watch:
    """A display of a match as it is played; `delay`: seconds after a move."""

    @contextmanager
    def watch(seats: tuple[str, ...], look: Look) -> Iterator[WatchedMatch]:
        with display(hidden=hidden, delay=delay) as shown:
            title, about = f"{game}, deal {deal}", registry.game(game).about
            yield WatchedMatch(title, about, seats, shown, rest=lambda: shown.rest(look))

    return watch
