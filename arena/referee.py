"""The referee of one match, as a pure state machine: questions out, answers and faults in.

Theory of operation. `asked` lists the seats that owe a decision; `question(seat)` is the message
for each. For every one of them the caller reports exactly one outcome: `answer(seat, move)` or
`fail(seat, failure)`. When the last outcome is in, all are judged at once (so that in a
simultaneous tee-off one seat's fault doesn't excuse another's answer), the game moves on, and
`asked` lists the next seats. When it is empty the match is over and `record()` is its record.

A seat that failed has forfeited: the game's fallback plays for it, without questions, as long as at
least two other seats are left; else the match ends.

Invariant: no clock, no process, no input but the outcomes; the same outcomes give the same
record.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import asdict

from arena.deals import Deals, fingerprint
from arena.games import Game, Hole, IllegalMoveError
from arena.games.observer import ObservedGame, Observer
from arena.model import Fault, FaultKind, HoleRecord, MatchRecord, MatchSpec, Play, Settings
from arena.wire.messages import (
    PROTOCOL,
    Act,
    BotLimits,
    Hello,
    HoleEnd,
    MatchEnd,
    MatchStart,
    Next,
    Question,
    Rules,
)

HOLES = 9
LAST_PLAYOFF_HOLE = 18


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A fault as the caller reports it; the referee adds seat, hole and turn."""

    kind: FaultKind
    message: str
    line: str = ""
    status: str = ""


def hello(settings: Settings) -> Hello:
    rules = Rules(
        seats=settings.seats, holes=HOLES, turn_cap=settings.turn_cap, playoff=settings.playoff
    )
    limits = BotLimits(**asdict(settings.limits), series=settings.series)
    return Hello(protocol=PROTOCOL, game=settings.game, rules=rules, limits=limits)


class Referee:
    def __init__(
        self,
        spec: MatchSpec,
        *,
        game: Game,
        deals: Deals,
        settings: Settings,
        onlooker: Observer | None = None,
    ) -> None:
        self._spec = spec
        self._game = game if onlooker is None else ObservedGame(game, onlooker.moved)
        self._onlooker = onlooker
        self._deals = deals
        self._settings = settings
        self._move_ms = settings.limits.move_ms
        self._seats = len(spec.seats)
        self._everybody = tuple(range(self._seats))
        self._pack = game.pack(self._seats)
        self._turn_ids = deals.turn_ids(spec.id)
        self._turn = 0
        self.faults: list[Fault] = []
        self.failed: set[int] = set()  # seats that have forfeited: they get no more messages
        self.wanted: tuple[int, ...] = ()  # seats to move, forfeiters among them
        self._outcomes: dict[int, str | Failure] = {}
        self._seen = [0] * self._seats  # plays of this hole that each seat was sent
        self._briefed: set[int] = set()  # lean seats that have had a view of this hole
        self._notices: list[tuple[int, MatchStart | HoleEnd | MatchEnd]] = []
        self._holes: list[HoleRecord] = []
        self._decks: list[Sequence[int]] = []
        self._totals = (0,) * self._seats
        self._tied: tuple[int, ...] = ()  # seats still in a playoff
        self._survived = [0] * self._seats  # playoff holes survived
        self.hole = 0  # the number of the hole in play; 0 before the first
        self._order: tuple[int, ...] = ()
        self.moves: list[str] = []  # of the hole in play
        self._hole: Hole | None = None
        self._alone: Hole | None = None  # as long as one seat after another moves in it
        self.asked: tuple[int, ...] = ()
        self.news = True  # whether more than moves has happened since the notices were taken
        for seat in self._everybody:
            match, seed = deals.opaque(spec.id), deals.seed(spec.id, seat)
            start = MatchStart(match=match, seat=seat, seats=self._seats, seed=seed)
            self._notices.append((seat, start))

    def begin(self, failures: Sequence[tuple[int, Failure]] = ()) -> None:
        """Start play. `failures`: seats whose bots could not even be started."""
        for seat, failure in failures:
            self._forfeit(seat, failure)
        if self._decided():
            self._finish()
        else:
            self._deal(1, self._everybody)
            self._go_on()

    def question(self, seat: int, *, bank_ms: int, lean: bool = False) -> Question:
        """The message for a seat in `asked`; if `lean`, only what is new to it."""
        hole = self._hole
        assert hole is not None
        assert seat in self.asked
        seen = self._seen
        events = hole.events(seat, seen[seat])
        if events:
            seen[seat] += len(events)
        turn = self._turn_ids(self._turn)
        if lean:
            if seat in self._briefed:
                return Next(turn, bank_ms, events, hole.drawn(seat))
            self._briefed.add(seat)
        view, legal = hole.view(seat), hole.legal(seat)
        return Act(turn, self.hole, self._move_ms, bank_ms, self._totals, view, events, legal)

    def answer(self, seat: int, move: str) -> None:
        """Report an answer in time; its legality is judged here."""
        hole = self._alone
        if hole is None:
            self._settle(seat, move)
            return
        # No other outcome to wait for: the rules judge the move.
        try:
            hole.apply(seat, move)
        except IllegalMoveError:
            self._settle(seat, move)
            return
        self.moves.append(move)
        if wanted := hole.to_act():
            self.wanted = self.asked = wanted
            self._turn += 1
        else:
            self._go_on()

    def fail(self, seat: int, failure: Failure) -> None:
        self._settle(seat, failure)

    def take_notices(self) -> list[tuple[int, MatchStart | HoleEnd | MatchEnd]]:
        """(seat, message) for every one-way message since the last call, in order."""
        notices, self._notices = self._notices, []
        self.news = False
        return notices

    def sight(self, seat: int) -> tuple[int, Any, Sequence[Play]]:
        """(hole, view, all plays of the hole) as the seat may see them now, before it is asked."""
        assert self._hole is not None
        return self.hole, self._hole.view(seat), self._hole.events(seat, 0)

    def legal(self, seat: int) -> Sequence[str]:
        assert self._hole is not None
        return self._hole.legal(seat)

    def record(self) -> MatchRecord:
        """The finished match, without the host's fields and the digest."""
        assert not self.asked
        return MatchRecord(
            **asdict(self._spec),
            deck=fingerprint(self._decks),
            holes=tuple(self._holes),
            totals=self._totals,
            places=self._places(),
            faults=tuple(self.faults),
        )

    def _settle(self, seat: int, outcome: str | Failure) -> None:
        assert seat in self.asked
        assert seat not in self._outcomes
        self._outcomes[seat] = outcome
        if len(self._outcomes) == len(self.asked):
            self._judge()
            self._go_on()

    def _judge(self) -> None:
        """All outcomes are in: first the faults, then, if the match goes on, the moves."""
        hole = self._hole
        assert hole is not None
        outcomes, self._outcomes = self._outcomes, {}
        for seat, outcome in sorted(outcomes.items()):
            if isinstance(outcome, Failure):
                self._forfeit(seat, outcome)
            elif outcome not in (legal := hole.legal(seat)):
                some = ", ".join(legal[:3]) + (", …" if len(legal) > 3 else "")
                message = f"{outcome[:40]!r} is not in `legal`: {some} ({len(legal)} moves)"
                failure = Failure(kind=FaultKind.ILLEGAL, message=message, line=outcome[:200])
                self._forfeit(seat, failure)
        if not self._decided():
            for seat in self.wanted:
                self._play(hole, seat, None if seat in self.failed else outcomes.get(seat))

    def _play(self, hole: Hole, seat: int, move: str | Failure | None) -> None:
        chosen = move if isinstance(move, str) else hole.fallback(seat)
        hole.apply(seat, chosen)
        self.moves.append(chosen)

    def _forfeit(self, seat: int, failure: Failure) -> None:
        self.failed.add(seat)
        self.news = True
        if self._onlooker is not None:
            self._onlooker.fallen(seat)
        said = asdict(failure)
        self.faults.append(Fault(**said, seat=seat, hole=self.hole, turn=self._turn))

    def _decided(self) -> bool:
        """Whether fewer than two contenders are left."""
        contenders = self._tied or self._everybody
        return sum(seat not in self.failed for seat in contenders) < 2

    def _deal(self, number: int, players: tuple[int, ...]) -> None:
        """Start a hole; the deal goes clockwise among `players`."""
        dealer = self._next(self._order[-1], players) if self._order else self._seats - 1
        order = [self._next(dealer, players)]
        while order[-1] != dealer:
            order.append(self._next(order[-1], players))
        self.hole = number
        self._order = tuple(order)
        deck = self._deals.deck(self._spec.pairing, self._spec.deal, number, self._pack)
        self._decks.append(deck.cards)
        self.moves = []
        self._seen = [0] * self._seats
        self._briefed.clear()
        self._hole = self._game.start(
            seats=self._seats, order=self._order, deck=deck, turn_cap=self._settings.turn_cap
        )

    def _next(self, seat: int, players: tuple[int, ...]) -> int:
        """The first of `players` clockwise after `seat`."""
        return min(players, key=lambda player: (player - seat - 1) % self._seats)

    def _go_on(self) -> None:
        """Move the game on to the next question, or to the end."""
        self.asked = ()
        while not self.asked:
            hole = self._hole
            assert hole is not None
            if self._decided():
                self._holes.append(HoleRecord(order=self._order, moves=",".join(self.moves)))
                self._finish()
                return
            self.wanted = hole.to_act()
            if self.wanted:
                self.asked = tuple(seat for seat in self.wanted if seat not in self.failed)
                self._alone = None if self.failed or len(self.wanted) > 1 else hole
                if not self.asked:
                    for seat in self.wanted:
                        self._play(hole, seat, None)
            elif not self._hole_over(hole):
                self._finish()
                return
        self._turn += 1

    def _hole_over(self, hole: Hole) -> bool:
        """Score the hole; True when another one has been dealt."""
        scores = hole.scores()
        moves = ",".join(self.moves)
        self._holes.append(HoleRecord(order=self._order, moves=moves, scores=scores))
        if self.hole <= HOLES:
            both = zip(self._totals, scores, strict=True)  # as many scores as seats, in any game
            self._totals = tuple(total + score for total, score in both)
        totals, grids = self._totals, hole.grids()
        for seat in self._everybody:
            if seat not in self.failed:
                events = tuple(hole.events(seat, self._seen[seat]))
                self._notices.append((seat, HoleEnd(self.hole, scores, totals, grids, events)))
        self.news = True
        if self.hole < HOLES:
            self._deal(self.hole + 1, self._everybody)
            return True
        return self._settings.playoff and self._playoff(scores)

    def _playoff(self, scores: tuple[int, ...]) -> bool:
        """Sudden death among those tied for first; True when another hole has been dealt."""
        ninth = self.hole == HOLES
        strokes = self._totals if ninth else scores
        alive = [seat for seat in self._tied or self._everybody if seat not in self.failed]
        best = min(strokes[seat] for seat in alive)
        tied = tuple(seat for seat in alive if strokes[seat] == best)
        for seat in () if ninth else tied:
            self._survived[seat] += 1
        if len(tied) < 2 or self.hole == LAST_PLAYOFF_HOLE:
            return False
        self._tied = tied
        self._deal(self.hole + 1, tied)
        return True

    def _finish(self) -> None:
        self.asked = ()
        self._hole = self._alone = None
        places = self._places()
        for seat in self._everybody:
            if seat not in self.failed:
                self._notices.append((seat, MatchEnd(totals=self._totals, places=places)))
        self.news = True

    def _places(self) -> tuple[int, ...]:
        """Fewest strokes, then most playoff holes survived; forfeits last, the later the better."""
        fell = {fault.seat: fault.turn for fault in self.faults}
        keys = [
            (1, -fell[seat], 0) if seat in fell else (0, self._totals[seat], -self._survived[seat])
            for seat in self._everybody
        ]
        return tuple(1 + sum(other < mine for other in keys) for mine in keys)
