"""Regret of many matches, by bot: how much, in what phase, by which mistakes, the dearest moves.

Strokes against the table are a seat's own less the mean of the others'. With luck and regret
counted alike, `strokes = luck + regret - others + rest`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum, sqrt
from typing import Final

import msgspec

from arena.deals import Deals
from arena.games import Game
from arena.luck import sums
from arena.model import MatchRecord, Settings
from arena.regret import PHASES, Decision, MistakeKind, Phase, decisions, judge_name

DEAREST: Final = 10  # moves that are kept of a bot


class DearMove(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that cost much, and where to look at it."""

    match: str  # its id
    hole: int  # from 1
    move: int  # of the hole, from 1
    played: str  # in the protocol's notation
    best: str  # the move that was worth most
    mistake: MistakeKind  # what kind of mistake it was
    regret: float  # strokes that it cost


class BotRegret(msgspec.Struct, frozen=True, kw_only=True):
    """Strokes a match, in the mean over a bot's matches."""

    bot: str  # name@version, or its alias
    matches: int  # how many of its matches were judged
    strokes: float  # above the mean of the others at the table
    luck: float | None = None  # the same of the ledger's luck, if all these matches have it
    regret: float  # of its own decisions
    others: float  # the mean of the others' regret
    rest: float | None = None  # strokes - luck - regret + others
    rest_error: float | None = None  # its standard error, over deals
    phases: dict[Phase, float]  # `regret` by phase
    mistakes: dict[MistakeKind, float]  # `regret` by mistake, the dearest first
    times: dict[MistakeKind, float]  # how often a match
    dearest: tuple[DearMove, ...]  # the dearest first


class RegretReport(msgspec.Struct, frozen=True, kw_only=True):
    """Where the bots of an event lost strokes."""

    judge: str  # the evaluator: game, version and digest
    matches: int  # how many were judged
    of: int  # how many count
    bots: tuple[BotRegret, ...]  # the most regret first


def report(
    records: Iterable[MatchRecord], of: int, *, game: Game, deals: Deals, settings: Settings
) -> RegretReport:
    """Of some matches, `of` so many. UserError for a game without a judge, UntrueError as
    `decisions`.
    """
    summary, matches = RegretSummary(), 0
    for record in records:
        matches += 1
        found = decisions(record, game=game, deals=deals, settings=settings)
        luck = record.luck
        if not luck and game.about.luck:
            luck = sums(record, game=game, deals=deals, settings=settings)
        summary.add(record, found, luck)
    return RegretReport(judge=judge_name(game), matches=matches, of=of, bots=tuple(summary.bots()))


class _Tally:
    def __init__(self) -> None:
        self.matches = 0
        self.strokes: list[float] = []
        self.luck: list[float] = []
        self.regret: list[float] = []
        self.others: list[float] = []
        self.rests: dict[tuple[str, int], list[float]] = defaultdict(list)
        self.mistakes = dict.fromkeys(MistakeKind, 0)
        self.times = dict.fromkeys(MistakeKind, 0)
        self.dearest: list[DearMove] = []


class RegretSummary:
    """Matches go in, in any order; what comes out doesn't depend on it."""

    def __init__(self) -> None:
        self._bots: dict[str, _Tally] = defaultdict(_Tally)

    def add(
        self, record: MatchRecord, found: Sequence[Decision], lucks: Sequence[int] = ()
    ) -> None:
        """A match with its decisions, and its luck by seat in thousandths of a stroke."""
        seats = len(record.seats)
        regrets = [0] * seats
        for each in found:
            regrets[each.seat] += each.regret
            if each.mistake:
                tally = self._bots[record.seats[each.seat]]
                tally.mistakes[each.mistake] += each.regret
                tally.times[each.mistake] += 1
                self._remember(tally, record.id, each)
        for seat, bot in enumerate(record.seats):
            tally = self._bots[bot]
            tally.matches += 1
            strokes = _margin(record.totals, seat)
            mine = regrets[seat] / 1000
            others = (sum(regrets) - regrets[seat]) / 1000 / (seats - 1)
            tally.strokes.append(strokes)
            tally.regret.append(mine)
            tally.others.append(others)
            if lucks:
                luck = _margin(lucks, seat) / 1000
                tally.luck.append(luck)
                rest = strokes - luck - mine + others
                tally.rests[record.pairing, record.deal].append(rest)

    @staticmethod
    def _remember(tally: _Tally, match: str, each: Decision) -> None:
        assert each.mistake is not None
        dear = DearMove(
            match=match,
            hole=each.hole,
            move=each.move,
            played=each.played,
            best=each.best,
            mistake=each.mistake,
            regret=each.regret / 1000,
        )
        held = tally.dearest
        if len(held) == DEAREST and dear.regret < held[-1].regret:
            return
        held.append(dear)
        held.sort(key=lambda one: (-one.regret, one.match, one.hole, one.move))
        del held[DEAREST:]

    def bots(self) -> list[BotRegret]:
        """The most regret first."""
        found = [_told(bot, tally) for bot, tally in self._bots.items()]
        return sorted(found, key=lambda each: (-each.regret, each.bot))


def _margin(strokes: Sequence[int], seat: int) -> float:
    """Of a seat, above the mean of the others."""
    return strokes[seat] - (sum(strokes) - strokes[seat]) / (len(strokes) - 1)


def _told(bot: str, tally: _Tally) -> BotRegret:
    matches = tally.matches
    mistakes = {each: cost for each, cost in tally.mistakes.items() if cost}
    dearest_first = sorted(mistakes, key=lambda each: -mistakes[each])
    phases = dict.fromkeys(Phase, 0)
    for each, cost in mistakes.items():
        phases[PHASES[each]] += cost
    measured = BotRegret(
        bot=bot,
        matches=matches,
        strokes=_mean(tally.strokes),
        regret=_mean(tally.regret),
        others=_mean(tally.others),
        phases={phase: cost / 1000 / matches for phase, cost in phases.items()},
        mistakes={each: mistakes[each] / 1000 / matches for each in dearest_first},
        times={each: tally.times[each] / matches for each in dearest_first},
        dearest=tuple(tally.dearest),
    )
    if len(tally.luck) < matches:
        return measured
    rests = [each for deal in tally.rests.values() for each in deal]
    mean = _mean(rests)
    squares = [fsum(rest - mean for rest in deal) ** 2 for deal in tally.rests.values()]
    deals = len(squares)
    error = sqrt(fsum(squares) * deals / (deals - 1)) / len(rests) if deals > 1 else None
    return msgspec.structs.replace(measured, luck=_mean(tally.luck), rest=mean, rest_error=error)


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
