"""Watching a match: from the game as it is followed to pictures of the table, or plain lines.

`Onlooker` keeps what has been played as a `Picture`; it knows neither whether the match is live or
recorded, nor where it is shown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from arena.games.descriptor import Descriptor
from arena.games.observer import ObservedGame, ObservedMove
from arena.reports.cards import Card, Face, Picture, Player
from arena.reports.escape import plain

TOLD = 12
"""Moves that are kept in words: more than a screen has room for beside the cards."""
_FACES = {"n": Face.NOBODY, "o": Face.OWNER, "r": Face.OWNER, "a": Face.ALL}


def words(about: Descriptor, name: str, moved: ObservedMove) -> str:
    """A move in plain words; without a drawn card as it looks to somebody who doesn't see that."""
    word, *places = moved.move.split(" ")
    move = about.move(word)

    def card(value: int | None) -> str:
        return "" if value is None else about.label(value)

    does = move.now.format(
        at=places[0] if places else "",
        two=places[-1] if places else "",
        drawn=move.unseen if moved.drawn is None else f"the {card(moved.drawn)}",
        top=card(moved.top),
        before=card(moved.before),
    )
    return f"{name} {does}"


def player(
    about: Descriptor,
    name: str,
    cards: Sequence[int],
    faces: Sequence[Face],
    *,
    total: int,
    fallen: bool,
    ended: bool,
) -> Player:
    """A seat, as it lies on the table; `ended`: it has ended the hole."""
    row = about.across
    shown = [Card(about.label(c), f) for c, f in zip(cards, faces, strict=True)]
    note = "failed" if fallen else ""
    if not note and ended:
        note = about.ended
    return Player(
        name=name,
        rows=tuple(tuple(shown[at : at + row]) for at in range(0, len(shown), row)),
        total=total,
        note=note,
        fallen=fallen,
    )


class Display(Protocol):
    """Where a match is shown."""

    def show(self, shown: Picture, news: Sequence[str]) -> None:
        """The table has changed: how it is now, and what has happened."""


class Onlooker:
    """What somebody knows who sees everything; `moved` and `fallen` say what has happened.

    `rest` is called after each move that has been shown.
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
        self._followed: ObservedGame | None = None
        self._told: deque[str] = deque(maxlen=TOLD)
        self._news: list[str] = []
        self._scores: list[tuple[int | None, ...]] = []
        self._totals = [0] * len(names)
        self._fallen: set[int] = set()
        self._hole = 0

    def moved(self, followed: ObservedGame, moved: ObservedMove) -> None:
        """A move has been played."""
        self._followed = followed
        self._hole = followed.holes
        self._tell(words(self._about, self._names[moved.seat], moved))
        hole = followed.hole
        assert hole is not None
        if not hole.to_act():
            scores = hole.scores()
            plays = followed.order
            self._scores.append(
                tuple(score if seat in plays else None for seat, score in enumerate(scores))
            )
            if self._hole <= 9:
                self._totals = [a + b for a, b in zip(self._totals, scores, strict=True)]
            listed = ", ".join(f"{self._names[seat]} {scores[seat]}" for seat in sorted(plays))
            self._tell(f"hole {self._hole} is over: {listed}")
        self._show(followed)
        self._rest()

    def fallen(self, seat: int) -> None:
        """A bot has failed."""
        self._fallen.add(seat)
        followed = self._followed
        players = range(len(self._names)) if followed is None else followed.order
        goes_on = len(set(players) - self._fallen) > 1
        self._tell(f"{self._names[seat]} has failed{', and is played on for' if goes_on else ''}")
        if followed is not None:
            self._show(followed)

    def _show(self, followed: ObservedGame) -> None:
        news, self._news = self._news, []
        self._display.show(self._picture(followed), news)

    def _tell(self, text: str) -> None:
        self._told.append(text)
        self._news.append(text)

    def _picture(self, followed: ObservedGame) -> Picture:
        hole = followed.hole
        assert hole is not None
        acting = hole.to_act()
        order = followed.order
        view = hole.view(order[0])
        players = [
            player(
                self._about,
                name,
                followed.cards[seat],
                self._faces(view, seat, over=not acting),
                total=self._totals[seat],
                fallen=seat in self._fallen,
                ended=view.ended_by == seat,
            )
            for seat, name in enumerate(self._names)
        ]
        drawn = hole.drawn(acting[0]) if len(acting) == 1 else None
        return Picture(
            title=f"{self._title}, hole {self._hole}",
            players=tuple(players),
            acting=frozenset(acting),
            pile=self._about.label(view.discard),
            piled=len(view.pile),
            stock=view.stock,
            drawn="" if drawn is None else self._about.label(drawn),
            told=tuple(self._told),
            scores=tuple(self._scores),
        )

    def _faces(self, view: object, seat: int, *, over: bool) -> list[Face]:
        grid: Sequence[int | None] = view.grids[seat]  # type: ignore[attr-defined] # each game's own
        if over:
            return [Face.ALL] * len(grid)
        known: Sequence[str] | None = getattr(view, "known", None)
        if known is not None:
            return [_FACES[letter] for letter in known[seat]]
        return [Face.NOBODY if card is None else Face.ALL for card in grid]
