"""A match as a row of moments, each a picture of the table and what was played until then.

The moments follow from `MatchSteps` alone: no rules are needed to look at a match. There is one
when a hole has been dealt, one after each move, one at each fault, and one when all cards are
revealed.

Invariant: what a watcher's seat could not know is in none of its pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from arena import registry
from arena.games.observer import ObservedMove
from arena.model import Fault, Frozen
from arena.replay.steps import ALL, OWNER, HoleSteps, MatchSteps, Step
from arena.reports.cards import Face, Picture
from arena.reports.escape import plain
from arena.terminal.watch import player, words

SHOWN = 50
"""Thousandths of a stroke below which a move's luck isn't worth a word."""

_FACES = {"n": Face.NOBODY, "o": Face.OWNER, "a": Face.ALL}


class Moment(Frozen, frozen=True, kw_only=True):
    """The table at one moment; `hole` 0 is before the first."""

    hole: int
    moves: int = 0
    """How many of the hole's moves have been played."""
    cards: tuple[tuple[int, ...], ...] = ()
    known: tuple[str, ...] = ()
    discard: int = 0
    pile: int = 0
    stock: int = 0
    drawn: int | None = None
    """In the hand of the seat that is to act."""
    ended_by: int | None = None
    teeing: bool = False
    """Some seats have still to tee off: nobody sees what the others have turned."""
    over: bool = False
    """All cards are revealed and scored."""
    fault: Fault | None = None
    """What happens at this moment, instead of a move."""
    fallen: frozenset[int] = frozenset()
    luck: tuple[int, ...] = ()
    """By seat, thousandths of strokes of the match so far; empty without a ledger."""

    def after(self, step: Step, *, teeing: bool) -> Self:
        """The moment that a step leads to."""
        cards, known = list(self.cards), list(self.known)
        if step.cards:
            cards[step.seat] = step.cards
        for seat, letters in step.known:
            known[seat] = letters
        return type(self)(
            hole=self.hole,
            moves=self.moves + 1,
            cards=tuple(cards),
            known=tuple(known),
            discard=self.discard if step.discard is None else step.discard,
            pile=self.pile if step.pile is None else step.pile,
            stock=self.stock if step.stock is None else step.stock,
            drawn=step.drawn if step.move == "draw" else None,
            ended_by=step.seat if step.ends else self.ended_by,
            teeing=teeing,
            fallen=self.fallen,
            luck=_more(self.luck, step.luck),
        )

    def at(self, fault: Fault) -> Self:
        """The same moment, when a fault has come."""
        kept = {name: getattr(self, name) for name in self.__struct_fields__}
        return type(self)(**kept | {"fault": fault, "fallen": self.fallen | {fault.seat}})

    def revealed(self) -> Self:
        """The end of the hole."""
        kept = {name: getattr(self, name) for name in self.__struct_fields__}
        known = tuple(ALL * len(letters) for letters in self.known)
        return type(self)(**kept | {"known": known, "fault": None, "over": True})


def moments(match: MatchSteps) -> Iterator[Moment]:
    """Every moment of a match, in order."""
    waiting = list(match.faults)
    now = Moment(hole=0, luck=(0,) * len(match.seats) if match.settings.evaluator else ())
    while waiting and waiting[0].turn == 0:
        now = now.at(waiting.pop(0))
        yield now
    for hole in match.holes:
        tees = sum(step.move.startswith("tee ") for step in hole.steps)
        now = Moment(
            hole=hole.hole,
            cards=hole.cards,
            known=hole.known,
            discard=hole.discard,
            pile=1,
            stock=hole.stock,
            teeing=tees > 0,
            fallen=now.fallen,
            luck=_more(now.luck, hole.luck),
        )
        yield now
        for number, step in enumerate(hole.steps, 1):
            while waiting and waiting[0].hole == hole.hole and waiting[0].turn <= step.turn:
                now = now.at(waiting.pop(0))
                yield now
            now = now.after(step, teeing=number < tees)
            yield now
        while waiting and waiting[0].hole == hole.hole:
            now = now.at(waiting.pop(0))
            yield now
        if hole.scores:
            now = now.revealed()
            yield now


def _luck(thousandths: Sequence[int]) -> str:
    """What chance cost, in strokes."""
    return "luck " + " / ".join(f"{each / 1000:+.1f}" for each in thousandths)


def _more(luck: tuple[int, ...], change: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(luck, change, strict=True)) if change else luck


class Album:
    """The pictures of a match."""

    def __init__(self, match: MatchSteps) -> None:
        self.match = match
        self.moments = list(moments(match))
        self._about = registry.game(match.settings.game).about
        self.names = [plain(entrant.id) for entrant in match.seats]

    def first_of(self, hole: int) -> int:
        """The number of the moment at which a hole has been dealt."""
        return next(n for n, moment in enumerate(self.moments) if moment.hole == hole)

    def fault_after(self, at: int) -> int | None:
        """The number of the next moment with a fault, beginning anew behind the last."""
        faults = [n for n, moment in enumerate(self.moments) if moment.fault is not None]
        return next((n for n in faults if n > at), faults[0] if faults else None)

    def where(self, at: int) -> str:
        """Which moment it is."""
        moment = self.moments[at]
        if not moment.hole:
            return "before hole 1"
        steps = self.match.holes[moment.hole - 1].steps
        return f"hole {moment.hole} of {len(self.match.holes)}, move {moment.moves} of {len(steps)}"

    def picture(self, at: int, watcher: int | None = None) -> Picture:
        """The table at a moment, as it lies or as far as the watcher's seat could know it."""
        moment = self.moments[at]
        done = moment.hole if moment.over else moment.hole - 1
        played = self.match.holes[: max(0, done)]
        totals = played[-1].totals if played else (0,) * len(self.names)
        drawn = moment.drawn if watcher in (None, *self._acting(moment)) else None
        return Picture(
            title=self._title(moment, watcher),
            players=tuple(
                player(
                    self._about,
                    name,
                    moment.cards[seat] if moment.cards else (),
                    self._faces(moment, seat, watcher),
                    total=totals[seat],
                    fallen=seat in moment.fallen,
                    ended=moment.ended_by == seat,
                )
                for seat, name in enumerate(self.names)
            ),
            acting=frozenset(self._acting(moment)),
            pile=self._about.label(moment.discard) if moment.hole else "",
            piled=moment.pile,
            stock=moment.stock,
            drawn="" if drawn is None else self._about.label(drawn),
            told=tuple(self.told(at, watcher)),
            scores=tuple(
                tuple(
                    score if seat in hole.order else None for seat, score in enumerate(hole.scores)
                )
                for hole in played
            ),
        )

    def _title(self, moment: Moment, watcher: int | None) -> str:
        if not moment.hole:
            return self.match.id
        title = f"{self.match.id}, hole {moment.hole}"
        # It follows from cards that a seat can't know.
        return title if watcher is not None or not moment.luck else f"{title}, {_luck(moment.luck)}"

    def told(self, at: int, watcher: int | None = None) -> Iterator[str]:
        """What has happened on the hole until a moment, a line each."""
        hole = self.moments[at].hole
        first = self.first_of(hole)
        for number in range(first, at + 1):
            moment = self.moments[number]
            if moment.fault is not None:
                name = self.names[moment.fault.seat]
                yield f"  !  {name} has failed: {moment.fault.kind}"
            elif moment.over:
                yield self._scored(self.match.holes[hole - 1])
                if moment.luck and watcher is None:
                    yield f"{_luck(moment.luck)} strokes so far, by seat"
            elif moment.moves:
                yield f"{moment.moves:>3}. {self._move(number, self.moments[at], watcher)}"
        if at == len(self.moments) - 1:
            yield f"The match is over: {self.result()}."

    def opening(self, hole: HoleSteps) -> str:
        """How a hole begins."""
        first, dealer = self.names[hole.order[0]], self.names[hole.order[-1]]
        text = f"Hole {hole.hole}: {dealer} deals, {first} begins"
        return f"{text} (playoff)" if hole.hole > 9 else text

    def result(self) -> str:
        """Everybody's place and strokes, the best first."""
        match = self.match
        fell = {fault.seat for fault in match.faults}
        return ", ".join(
            f"{match.places[seat]}. {self.names[seat]} "
            + ("failed" if seat in fell else str(match.totals[seat]))
            for seat in sorted(range(len(self.names)), key=lambda seat: match.places[seat])
        )

    def _scored(self, hole: HoleSteps) -> str:
        listed = ", ".join(f"{self.names[seat]} {hole.scores[seat]}" for seat in sorted(hole.order))
        return f"Hole {hole.hole} is over: {listed}"

    def _move(self, number: int, now: Moment, watcher: int | None) -> str:
        """The move that led to a moment, in words, as far as it may be told."""
        before, after = self.moments[number - 1], self.moments[number]
        step = self.match.holes[after.hole - 1].steps[after.moves - 1]
        name = self.names[step.seat]
        theirs = watcher not in (None, step.seat)
        word, *places = step.move.split(" ")
        if word == "tee" and theirs and now.teeing:
            return f"{name} tees off"
        drawn, gone = step.drawn, None
        if len(places) == 1:
            at = int(places[0])
            gone = before.cards[step.seat][at]
            secret = word == "swap" and after.known[step.seat][at] != ALL
        else:
            secret = word == "draw"
        moved = ObservedMove(
            seat=step.seat,
            move=step.move,
            drawn=None if theirs and secret else drawn,
            top=before.discard,
            before=gone,
        )
        text = words(self._about, name, moved)
        if watcher is None and step.luck and abs(step.luck[step.seat]) >= SHOWN:
            text += f"  ({_luck([step.luck[step.seat]])})"
        if step.reshuffled:
            text += ", from the pile shuffled anew"
        return f"{text} (played for it)" if step.unasked else text

    def _faces(self, moment: Moment, seat: int, watcher: int | None) -> Sequence[Face]:
        letters = moment.known[seat] if moment.known else ""
        if watcher is None:
            return [_FACES[letter] for letter in letters]
        seen = {ALL: Face.ALL} | ({OWNER: Face.OWNER} if seat == watcher else {})
        return [seen.get(letter, Face.HIDDEN) for letter in letters]

    def _acting(self, moment: Moment) -> Sequence[int]:
        """Whose decision is wanted."""
        if not moment.hole or moment.over:
            return ()
        hole = self.match.holes[moment.hole - 1]
        if moment.teeing:
            done = {step.seat for step in hole.steps[: moment.moves]}
            return [seat for seat in hole.order if seat not in done]
        if moment.moves < len(hole.steps):
            return (hole.steps[moment.moves].seat,)
        return [fault.seat for fault in self.match.faults if fault.hole == hole.hole][-1:]
