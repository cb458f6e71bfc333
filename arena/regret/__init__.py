"""Where a seat lost strokes by its own decisions, by the opinion of a frozen evaluator.

Theory of operation. The record is replayed through the referee. At each question that a bot was
asked, the game's judge gets what that seat knew (its view and the plays that it had seen) and says
what every legal move is worth: the strokes by which the seat will end the hole above the mean of
the others, if all go on as the judge would. The regret of a decision is what the played move is
worth, less the best and less the judge's doubt, but never below 0. It never depends on a card that
the seat could not know.

Strokes are counted against the table (a seat's own, less the mean of the others'): by its own
strokes alone nobody would ever end a hole. A seat's strokes against the table are its luck, its
regret less the mean of the others', and a rest: what the evaluator and the ledger don't see.

What counts: the finished holes among the nine, as in totals. The game's fallback decides nothing.

Invariant: pure; the same record, deals and coefficients give the same thousandths of a stroke.
"""

import enum
import functools
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from arena.deals import Deals
from arena.games import Game
from arena.games.descriptor import named
from arena.model import Fault, Frozen, MatchRecord, Play, Settings, UserError, sha256_hex
from arena.referee import HOLES, Referee
from arena.replay.moves import Witness, replay_for
from arena.replay.steps import MatchSteps

Tables = Any  # what a game makes of its coefficients: each has its own
View = Any  # a game's view


class Phase(enum.StrEnum):
    TEE = "tee"  # which cards to turn first
    SOURCE = "source"  # take the discard or draw
    PLACE = "place"  # what to do with the card
    END = "end"  # when to go out or knock


class MistakeKind(enum.StrEnum):
    """What was done, where another move was worth more."""

    TEE = "tee"
    TOOK = "took"
    DREW = "drew"
    MISPLACED = "misplaced"
    KEPT = "kept"
    DISCARDED = "discarded"
    EARLY = "early"
    LATE = "late"


PHASES: Final = {
    MistakeKind.TEE: Phase.TEE,
    MistakeKind.TOOK: Phase.SOURCE,
    MistakeKind.DREW: Phase.SOURCE,
    MistakeKind.MISPLACED: Phase.PLACE,
    MistakeKind.KEPT: Phase.PLACE,
    MistakeKind.DISCARDED: Phase.PLACE,
    MistakeKind.EARLY: Phase.END,
    MistakeKind.LATE: Phase.END,
}


class Judge(Frozen, frozen=True):
    """How a game's moves are judged: what `Descriptor.judge` names."""

    version: int  # increases with any change that alters a regret
    file: tuple[str, str]  # the package and the name of the file with its numbers
    tables: Callable[[], Tables]  # from that file
    worths: Callable[[Tables, View, Sequence[Play], Sequence[str]], Sequence[float]]
    """Of each legal move, in strokes; lower is better."""
    ends: Callable[[View, str], bool]  # whether a move goes out or knocks
    doubt: float = 0.0
    """Strokes that are taken off each difference: as much as roll-outs find less than the judge."""


class Decision(NamedTuple):
    """One decision of one seat."""

    hole: int  # from 1
    move: int  # the move of the hole, from 1
    seat: int
    played: str
    best: str  # the move that was worth most; the one that was played if none is worth more
    mistake: MistakeKind | None  # None where the regret is 0
    regret: int  # thousandths of a stroke

    @property
    def phase(self) -> Phase | None:
        return None if self.mistake is None else PHASES[self.mistake]


def judge_name(game: Game) -> str:
    """Which evaluator judges a game: name, version, digest; empty for a game that has none."""
    if not game.about.judge:
        return ""
    judge = _judge(game.about.judge)
    package, name = judge.file
    digest = sha256_hex((files(package) / name).read_bytes())
    return f"{game.name}/{judge.version}-{digest[:12]}"


def decisions(
    record: MatchRecord, *, game: Game, deals: Deals, settings: Settings
) -> tuple[Decision, ...]:
    """In the order of play. UntrueError if a record's moves make another record."""
    judging = _Judging(record, game)
    replay_for(record, game=game, deals=deals, settings=settings, witness=judging)
    return tuple(judging.found)


Worths = Callable[[View, Sequence[Play], Sequence[str]], Sequence[float]]


def worths_of(game: Game) -> Worths:
    """What each legal move is worth to a seat, by what it knows. UserError: no judge."""
    if not game.about.judge:
        raise UserError(f"{game.name} has no evaluator of moves, so there is no regret")
    judge = _judge(game.about.judge)
    return functools.partial(judge.worths, _tables(judge))


def regret_of(game: Game, worths: Sequence[float], played: int) -> float:
    """What the move with that number costs, in strokes."""
    doubt = _judge(game.about.judge).doubt
    return max(0.0, worths[played] - min(worths) - doubt)


def mistake_of(game: Game, view: View, played: str, best: str) -> MistakeKind:
    """What kind of mistake it is to play one move where another was best."""
    ends = _judge(game.about.judge).ends
    did, ought = played.partition(" ")[0], best.partition(" ")[0]
    if view.phase == "tee":
        return MistakeKind.TEE
    if ends(view, played) != ends(view, best):
        if ends(view, played):
            return MistakeKind.EARLY
        # A seat that draws may still go out by what it draws; it can't knock any more.
        if did != "draw" or ought == "knock":
            return MistakeKind.LATE
    if view.phase == "turn" and did != ought:
        return MistakeKind.DREW if did == "draw" else MistakeKind.TOOK
    if did != ought and "swap" in {did, ought}:
        return MistakeKind.KEPT if did == "swap" else MistakeKind.DISCARDED
    return MistakeKind.MISPLACED


def with_regret(match: MatchSteps, found: Sequence[Decision]) -> MatchSteps:
    """The steps of a match, each with its regret and the best move."""
    at = {(each.hole, each.move): each for each in found}
    holes = []
    for hole in match.holes:
        steps = [
            replace(step, best=each.best, regret=each.regret)
            if (each := at.get((hole.hole, number))) and each.regret
            else step
            for number, step in enumerate(hole.steps, 1)
        ]
        holes.append(replace(hole, steps=tuple(steps)))
    return replace(match, holes=tuple(holes))


class _Judging(Witness):
    def __init__(self, record: MatchRecord, game: Game) -> None:
        self.found: list[Decision] = []
        self._game, self._worths = game, worths_of(game)
        self._finished = sum(bool(hole.scores) for hole in record.holes[:HOLES])

    def outcome(self, referee: Referee, seat: int, fault: Fault | None, move: str | None) -> None:
        if fault is not None or move is None or referee.hole > self._finished:
            return
        _, view, plays = referee.sight(seat)
        legal = referee.legal(seat)
        if move not in legal:
            return  # the replay refuses it
        worths = self._worths(view, plays, legal)
        regret = round(1000 * regret_of(self._game, worths, legal.index(move)))
        best = legal[worths.index(min(worths))]
        self.found.append(
            Decision(
                hole=referee.hole,
                move=len(referee.moves) + referee.wanted.index(seat) + 1,
                seat=seat,
                played=move,
                best=best if regret else move,
                mistake=mistake_of(self._game, view, move, best) if regret else None,
                regret=regret,
            )
        )


def _judge(path: str) -> Judge:
    judge: Judge = named(path)
    return judge


def unseen_counts(
    view: View, kinds: Sequence[int], cards: Iterable[int]
) -> tuple[list[int], list[int]]:
    """By kind, of these cards those that no seat sees, and those of them that the stock may hold.
    After a reshuffle they are two.
    """
    down = list(cards)
    seen = [card for grid in view.grids for card in grid if card is not None]
    for card in (*seen, *view.pile, *(() if view.drawn is None else (view.drawn,))):
        down[kinds[card]] -= 1
    if not view.recycled:
        return down, down
    stock = [0] * len(down)
    for card in view.recycled:
        down[kinds[card]] -= 1
        stock[kinds[card]] += 1
    return down, stock


@functools.cache
def _tables(judge: Judge) -> Tables:
    return judge.tables()
