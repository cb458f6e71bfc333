"""The moments of a match: at each a picture of the table, and what was played until then.

There is a moment when a hole has been dealt, one after each move, one at each fault, and one when
all cards are revealed. Those of a recorded match (`Album`) follow from `MatchSteps` alone, without
rules; `arena.terminal.watch` takes those of a live one from the game. Both are drawn by
`table_picture`.

Invariant: a picture for a watching seat shows nothing that this seat could not know.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Self

import msgspec

from arena import registry
from arena.games.descriptor import Descriptor
from arena.games.observer import ObservedMove
from arena.model import Fault
from arena.replay.steps import ALL, NOBODY, OWNER, HoleSteps, MatchSteps, Step, TableState
from arena.reports.cards import Card, Face, Picture, Player
from arena.reports.escape import plain

SHOWN = 50  # thousandths of a stroke below which a move's luck or regret is not mentioned

_FACES = {NOBODY: Face.NOBODY, OWNER: Face.OWNER, ALL: Face.ALL}


class Moment(TableState, frozen=True, kw_only=True):
    """The table at one moment; `hole` 0 is before the first."""

    hole: int
    moves: int = 0  # how many of the hole's moves have been played
    drawn: int | None = None  # in the hand of the seat that is to act
    teeing: bool = False
    """Some seats have still to tee off: until then no seat sees what the others have turned."""
    over: bool = False  # all cards are revealed and scored
    fault: Fault | None = None  # the fault that happens at this moment, instead of a move
    fallen: frozenset[int] = frozenset()
    luck: tuple[int, ...] = ()
    """By seat, thousandths of strokes of the match so far; empty without a ledger."""

    def after(self, step: Step, *, teeing: bool) -> Self:
        cards, known = list(self.cards), list(self.known)
        if step.cards:
            cards[step.seat] = step.cards
        for seat, letters in step.known:
            known[seat] = letters
        return msgspec.structs.replace(
            self,
            moves=self.moves + 1,
            cards=tuple(cards),
            known=tuple(known),
            discard=self.discard if step.discard is None else step.discard,
            pile=self.pile if step.pile is None else step.pile,
            stock=self.stock if step.stock is None else step.stock,
            drawn=step.drawn if step.move == "draw" else None,
            ended_by=step.seat if step.ends else self.ended_by,
            teeing=teeing,
            fault=None,
            luck=_more(self.luck, step.luck),
        )

    def at(self, fault: Fault) -> Self:
        return msgspec.structs.replace(self, fault=fault, fallen=self.fallen | {fault.seat})

    def revealed(self) -> Self:
        known = tuple(ALL * len(letters) for letters in self.known)
        return msgspec.structs.replace(self, known=known, fault=None, over=True)


def moments(match: MatchSteps) -> Iterator[Moment]:
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
    return "luck " + " / ".join(f"{each / 1000:+.1f}" for each in thousandths)


def _more(luck: tuple[int, ...], change: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(luck, change, strict=True)) if change else luck


def words(about: Descriptor, name: str, moved: ObservedMove) -> str:
    """A move in plain words. Without `drawn`: for a reader who doesn't see the drawn card."""
    word, *places = moved.move.split(" ")
    move = about.move(word)
    does = move.now.format(
        at=places[0] if places else "",
        two=places[-1] if places else "",
        drawn=move.unseen if moved.drawn is None else f"the {about.label(moved.drawn)}",
        top=about.label(moved.top),
        before=about.label(moved.before),
    )
    return f"{name} {does}"


def table_picture(
    moment: Moment,
    about: Descriptor,
    names: Sequence[str],
    *,
    acting: Collection[int],
    totals: Sequence[int],
    watcher: int | None = None,
    **told: Any,  # noqa: ANN401 - title, news and scores of the picture
) -> Picture:
    """The table at a moment, as it lies, or as far as the watching seat could know it."""
    drawn = moment.drawn if watcher is None or watcher in acting else None
    players = []
    for seat, name in enumerate(names):
        seen = _FACES if watcher is None else {ALL: Face.ALL}
        if seat == watcher:
            seen = {**seen, OWNER: Face.OWNER}
        cards = zip(
            moment.cards[seat] if moment.cards else (),
            moment.known[seat] if moment.known else "",
            strict=True,
        )
        shown = tuple(Card(about.label(card), seen.get(who, Face.HIDDEN)) for card, who in cards)
        fallen = seat in moment.fallen
        player = Player(
            name=name,
            rows=tuple(shown[at : at + about.across] for at in range(0, len(shown), about.across)),
            total=totals[seat],
            note="failed" if fallen else about.ended if moment.ended_by == seat else "",
            fallen=fallen,
        )
        players.append(player)
    return Picture(
        players=tuple(players),
        acting=frozenset(acting),
        pile=about.label(moment.discard) if moment.hole else "",
        piled=moment.pile,
        stock=moment.stock,
        drawn=about.label(drawn),
        **told,
    )


def strokes_of(order: Collection[int], scores: Sequence[int]) -> tuple[int | None, ...]:
    """The strokes of a hole by seat; None for a seat that did not play it."""
    return tuple(score if seat in order else None for seat, score in enumerate(scores))


def strokes_line(names: Sequence[str], strokes: Sequence[int | None]) -> str:
    played = zip(names, strokes, strict=True)
    return ", ".join(f"{name} {number}" for name, number in played if number is not None)


def places_line(names: Sequence[str], places: Sequence[int], ends: Sequence[int | str]) -> str:
    return ", ".join(
        f"{place}. {name} {end}"
        for place, _, name, end in sorted(zip(places, range(len(places)), names, ends, strict=True))
    )


class Album:
    def __init__(self, match: MatchSteps) -> None:
        self.match = match
        self.moments = list(moments(match))
        self._about = registry.game(match.settings.game).about
        self.names = [plain(entrant.id) for entrant in match.seats]

    def first_of(self, hole: int) -> int:
        return next(n for n, moment in enumerate(self.moments) if moment.hole == hole)

    def fault_after(self, at: int) -> int | None:
        """The number of the next moment with a fault; after the last one the first."""
        faults = [n for n, moment in enumerate(self.moments) if moment.fault is not None]
        return next((n for n in faults if n > at), faults[0] if faults else None)

    def where(self, at: int) -> str:
        moment = self.moments[at]
        if not moment.hole:
            return "before hole 1"
        steps = self.match.holes[moment.hole - 1].steps
        return f"hole {moment.hole} of {len(self.match.holes)}, move {moment.moves} of {len(steps)}"

    def picture(self, at: int, watcher: int | None = None) -> Picture:
        moment = self.moments[at]
        title = f"{self.match.id}, hole {moment.hole}" if moment.hole else self.match.id
        if moment.hole and moment.luck and watcher is None:  # else it tells of hidden cards
            title += f", {_luck(moment.luck)}"
        played = self.match.holes[: max(0, moment.hole if moment.over else moment.hole - 1)]
        return table_picture(
            moment,
            self._about,
            self.names,
            title=title,
            acting=self._acting(moment),
            totals=played[-1].totals if played else (0,) * len(self.names),
            news=tuple(self.news(at, watcher)),
            scores=tuple(strokes_of(hole.order, hole.scores) for hole in played),
            watcher=watcher,
        )

    def news(self, at: int, watcher: int | None = None) -> Iterator[str]:
        """What has happened on the hole until a moment, a line each."""
        hole = self.moments[at].hole
        for number in range(self.first_of(hole), at + 1):
            moment = self.moments[number]
            if moment.fault is not None:
                yield f"  !  {self.names[moment.fault.seat]} has failed: {moment.fault.kind}"
            elif moment.over:
                done = self.match.holes[hole - 1]
                strokes = strokes_of(done.order, done.scores)
                yield f"Hole {hole} is over: {strokes_line(self.names, strokes)}"
                if moment.luck and watcher is None:
                    yield f"{_luck(moment.luck)} strokes so far, by seat"
            elif moment.moves:
                yield f"{moment.moves:>3}. {self._move(number, self.moments[at], watcher)}"
        if at == len(self.moments) - 1:
            yield f"The match is over: {self.result()}."

    def opening(self, hole: HoleSteps) -> str:
        first, dealer = self.names[hole.order[0]], self.names[hole.order[-1]]
        text = f"Hole {hole.hole}: {dealer} deals, {first} begins"
        return f"{text} (playoff)" if hole.hole > 9 else text

    def result(self) -> str:
        fell = {fault.seat for fault in self.match.faults}
        totals = enumerate(self.match.totals)
        ends = ["failed" if seat in fell else total for seat, total in totals]
        return places_line(self.names, self.match.places, ends)

    def _move(self, number: int, now: Moment, watcher: int | None) -> str:
        """The move that led to a moment, as far as the watcher may know it."""
        before, after = self.moments[number - 1], self.moments[number]
        step = self.match.holes[after.hole - 1].steps[after.moves - 1]
        name = self.names[step.seat]
        theirs = watcher not in (None, step.seat)
        word, *places = step.move.split(" ")
        if word == "tee" and theirs and now.teeing:
            return f"{name} tees off"
        gone, secret = None, word == "draw"
        if len(places) == 1:
            at = int(places[0])
            gone = before.cards[step.seat][at]
            secret = word == "swap" and after.known[step.seat][at] != ALL
        moved = ObservedMove(
            seat=step.seat,
            move=step.move,
            drawn=None if theirs and secret else step.drawn,
            top=before.discard,
            before=gone,
        )
        text = words(self._about, name, moved)
        if watcher is None and step.luck and abs(step.luck[step.seat]) >= SHOWN:
            text += f"  ({_luck([step.luck[step.seat]])})"
        if not theirs and step.regret >= SHOWN:
            text += f"  (regret {step.regret / 1000:.1f}: {step.best} was best)"
        if step.reshuffled:
            text += ", from the pile shuffled anew"
        return f"{text} (played for it)" if step.unasked else text

    def _acting(self, moment: Moment) -> Sequence[int]:
        if not moment.hole or moment.over:
            return ()
        hole = self.match.holes[moment.hole - 1]
        if moment.teeing:
            done = {step.seat for step in hole.steps[: moment.moves]}
            return [seat for seat in hole.order if seat not in done]
        if moment.moves < len(hole.steps):
            return (hole.steps[moment.moves].seat,)
        return [fault.seat for fault in self.match.faults if fault.hole == hole.hole][-1:]
