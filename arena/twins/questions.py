"""A recorded seat's questions, to be put to any bot: each with what the evaluator thinks of it.

A bot is asked at each turn of a seat in a recorded match, and play goes on by the recorded move. So
every bot answers the same views, each behind the same history, and a bot that remembers its match
remembers the same one.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from arena.deals import Deals
from arena.games import Game
from arena.model import Fault, MatchRecord, Settings
from arena.referee import Referee
from arena.regret import Worths, regret_of, worths_of
from arena.replay.moves import Witness, replay_for
from arena.wire.messages import Act, HoleEnd, MatchEnd, MatchStart, Next

_SEED: Final = 0x5A5A5A5A
Told = MatchStart | HoleEnd | MatchEnd


class RecordedTurn(NamedTuple):
    """A decision that one seat had to take, and where it is in the event."""

    match: str
    hole: int  # from 1
    move: int  # of the hole, from 1, as `arena replay --move` counts
    bot: str  # who decided then
    played: str
    phase: str  # the view's
    regrets: dict[str, float]
    """By legal move, strokes that it is worth less than the best, by the game's evaluator; 0 for
    every move of a game without one."""


class SeatCourse(NamedTuple):
    """A match as one seat went through it."""

    lines: tuple[Told | Act, ...]  # all that the seat was sent, in order
    turns: tuple[RecordedTurn, ...]  # one for each `Act` of them

    def reseeded(self) -> "SeatCourse":
        """The same with another seed, so that what is decided by lot comes out otherwise."""
        lines = (
            replace(line, seed=line.seed ^ _SEED) if isinstance(line, MatchStart) else line
            for line in self.lines
        )
        return self._replace(lines=tuple(lines))

    def lean(self) -> list[Told | Act | Next]:
        """The same to a bot that asks for `next`."""
        hole, found = 0, list[Told | Act | Next]()
        for line in self.lines:
            if isinstance(line, Act):
                again, hole = line.hole == hole, line.hole
                if again:
                    found.append(Next(line.turn, line.bank_ms, line.events, line.view.drawn))
                    continue
            found.append(line)
        return found


def course_of(
    record: MatchRecord, seat: int, *, game: Game, deals: Deals, settings: Settings
) -> SeatCourse:
    """UntrueError if the record's moves make another record."""
    course = _Course(record, seat, game, settings)
    replay_for(record, game=game, deals=deals, settings=settings, witness=course)
    return SeatCourse(tuple(course.lines), tuple(course.turns))


class _Course(Witness):
    def __init__(self, record: MatchRecord, seat: int, game: Game, settings: Settings) -> None:
        self.lines: list[Told | Act] = []
        self.turns: list[RecordedTurn] = []
        self._record, self._seat, self._game = record, seat, game
        self._bank_ms = settings.limits.match_ms
        self._worths: Worths | None = worths_of(game) if game.about.judge else None

    def round(self, referee: Referee) -> None:
        self.lines += [line for to, line in referee.take_notices() if to == self._seat]

    def outcome(self, referee: Referee, seat: int, fault: Fault | None, move: str | None) -> None:
        if seat != self._seat or fault is not None or move is None:
            return
        _, view, plays = referee.sight(seat)
        legal = referee.legal(seat)
        regrets = dict.fromkeys(legal, 0.0)
        if self._worths is not None:
            worths: Sequence[float] = self._worths(view, plays, legal)
            regrets = {each: regret_of(self._game, worths, at) for at, each in enumerate(legal)}
        act = referee.question(seat, bank_ms=self._bank_ms)
        assert isinstance(act, Act)
        self.lines.append(act)
        self.turns.append(
            RecordedTurn(
                match=self._record.id,
                hole=referee.hole,
                move=len(referee.moves) + referee.wanted.index(seat) + 1,
                bot=self._record.seats[seat],
                played=move,
                phase=view.phase,
                regrets=regrets,
            )
        )
