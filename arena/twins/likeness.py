"""Measure how alike two bots decide on the same recorded views, beyond strength and recipes.

Theory of operation. Every bot has answered the same questions twice, with different seeds; what it
decides by lot is left out. A decision is *telling* for two bots against a recipe if at least one of
them departs from that recipe; the game's evaluator is a recipe too, so that what strength demands
tells nothing. `alike` is the share of the telling decisions that both take alike, against the
recipe that leaves the smallest share. It is counted by move and by kind of move alone (take, draw,
flip, ...), and the mean of the two is taken. Moves of a kind that the evaluator finds equally good
are one move, so that a port may break ties otherwise.

Two bots of one origin differ in little, whatever they depart from. Two that were written apart,
from the same recipe even, depart from it at different places. How far honest pairs get is measured
for each game (bench/twins.py): `Bars`.

Invariant: pure; the same answers give the same report, whatever the order of the bots.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import fsum
from typing import Final, NamedTuple

import msgspec

from arena.twins.questions import RecordedTurn

EVALUATOR: Final = "the evaluator"
TELLING: Final = 30  # with fewer telling decisions two bots are too near a recipe
COMPARED: Final = 500  # decisions that two bots must have in common
BY_LOT: Final = 0.1
"""If more of a bot's moves of a kind differ between the seeds, it takes all of that kind by lot."""
MOMENTS: Final = 3  # that are kept of a pair where it decides alike, and as many where not

_EQUAL = 6  # decimals of a stroke

Bits = int  # a set of questions
Bars = Sequence[tuple[float, int]]
"""(alike, N), rising: about one honest pair in N, or fewer, is as much alike."""


class BotAnswers(NamedTuple):
    """What a bot decided, question by question, with each of two seeds; empty: no answer."""

    first: Sequence[str]
    second: Sequence[str]


class TellingMove(msgspec.Struct, frozen=True, kw_only=True):
    """A telling decision, and where to look at it."""

    match: str  # its id
    hole: int  # from 1
    move: int  # of the hole, from 1
    moves: tuple[str, str]  # what the two decide; decided alike they are equal or equally good
    recipe: str  # what the recipe decides
    others: int  # how many of the other bots and recipes make the move of one of the two


class TwinPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two bots, and how alike they decide."""

    bots: tuple[str, str]
    alike: float  # 0 to 1: the mean of same / telling and same_kinds / telling_kinds
    rare: int  # about one honest pair in so many, or fewer, is as much alike; 0: nothing rare
    recipe: str  # the recipe that explains most of what they share
    compared: int  # decisions that both took, neither by lot
    telling: int  # of these, how many at least one takes otherwise than the recipe
    same: int  # of the telling ones, how many they take alike
    # mean over the other bots and recipes: telling decisions in which it agrees with one of the two
    expected: float
    telling_kinds: int  # as `telling`, by kind of move
    same_kinds: int
    same_files: bool  # whether they are the same program
    moments: tuple[TellingMove, ...]  # where they decide alike, the rarest first
    differences: tuple[TellingMove, ...]  # where they don't


class TwinBot(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that was asked."""

    bot: str
    answered: int  # how many questions it answered by a legal move
    settled: int  # how many of its decisions it doesn't take by lot
    as_recorded: float | None  # share of its own recorded decisions that it takes again
    recipe: str  # the recipe that is nearest to it
    like_recipe: float  # share of the settled decisions that are the recipe's
    near: bool  # whether fewer than `TELLING` aren't: two such bots are too near a recipe to tell


class TwinReport(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence of bots that decide alike, not a verdict."""

    questions: int  # that each bot was asked, with each of two seeds
    recipes: tuple[str, ...]
    others: int  # how many bots and recipes there are besides a pair
    compared: int  # pairs of bots
    near: int  # of these, how many are too near a recipe to tell
    skipped: int  # pairs with fewer than `COMPARED` decisions in common
    first_bar: int | None  # the lowest `rare`; None: not measured for the game
    # expected number of honest pairs at the lowest bar; None: not measured for the game
    chance: float | None
    bots: tuple[TwinBot, ...]
    pairs: tuple[TwinPair, ...]  # the most alike first


class _Decisions(NamedTuple):
    """A bot's decisions on one level: questions by decision, and those that count."""

    by: Mapping[str, Bits]
    counts: Bits

    def same(self, other: "_Decisions") -> Bits:
        found = 0
        for decision, questions in self.by.items():
            found |= questions & other.by.get(decision, 0)
        return found


class Share(NamedTuple):
    """Of the telling decisions of two bots those that are taken alike."""

    share: float
    recipe: str
    telling: Bits
    same: Bits


class Likeness(NamedTuple):
    moves: Share
    kinds: Share

    @property
    def alike(self) -> float:
        return (self.moves.share + self.kinds.share) / 2

    @property
    def near(self) -> bool:
        """Whether they are too near a recipe to tell."""
        return self.moves.telling.bit_count() < TELLING

    def rare(self, bars: Bars) -> int:
        """About one honest pair in so many, or fewer, is as much alike; 0: nothing rare."""
        return 0 if self.near else max((n for bar, n in bars if self.alike >= bar), default=0)


class _Level:
    """The decisions of all by move, or by kind of move."""

    def __init__(
        self, bots: Mapping[str, _Decisions], recipes: Collection[str], best: Sequence[set[str]]
    ) -> None:
        """`best`: by question what the evaluator finds best; empty without an evaluator."""
        self.bots = bots
        self.like = {
            recipe: {bot: each.same(bots[recipe]) for bot, each in bots.items()}
            for recipe in recipes
        }
        if best:
            good: dict[str, Bits] = {}
            for at, decisions in enumerate(best):
                for decision in decisions:
                    good[decision] = good.get(decision, 0) | 1 << at
            evaluator = _Decisions(good, 0)
            self.like[EVALUATOR] = {bot: each.same(evaluator) for bot, each in bots.items()}

    def common(self, one: str, two: str) -> Bits:
        return self.bots[one].counts & self.bots[two].counts

    def share(self, one: str, two: str, least: int) -> Share:
        """Against the recipe that leaves the smallest share: 0 where fewer than `least` tell."""
        common, same = self.common(one, two), self.bots[one].same(self.bots[two])
        found = []
        for recipe, like in self.like.items():
            telling = common & ~(like[one] & like[two])
            alike = telling & same
            number = telling.bit_count()
            share = alike.bit_count() / number if number >= least else 0.0
            found.append(Share(share, recipe, telling, alike))
        return min(found)


class TwinSearch:
    """All answers to the same questions; every bot and recipe has one for each turn."""

    def __init__(
        self,
        turns: Sequence[RecordedTurn],
        bots: Mapping[str, BotAnswers],
        recipes: Mapping[str, BotAnswers],
        bars: Bars,
    ) -> None:
        """A recipe's name is no bot's. There is a recipe, or a game with an evaluator."""
        self._turns, self._bots, self._all, self._bars = turns, bots, {**recipes, **bots}, bars
        judged = any(any(turn.regrets.values()) for turn in turns)
        one_move = [_equals(turn, judged=judged) for turn in turns]
        best = [
            {same[m] for m, lost in t.regrets.items() if not lost}
            for t, same in zip(turns, one_move, strict=True)
            if judged
        ]
        moves, kinds, phases = {}, {}, [turn.phase for turn in turns]
        self._first: dict[str, list[str]] = {}
        """By bot the first answers, each as the first of its equals."""
        for bot, answers in self._all.items():
            first, second = (
                [same.get(move, "") for move, same in zip(run, one_move, strict=True)]
                for run in answers
            )
            self._first[bot] = first
            moves[bot] = _decisions(first, second, map(kind_of, first))
            kinds[bot] = _decisions(map(kind_of, first), map(kind_of, second), phases)
        self._moves = _Level(moves, recipes, best)
        self._kinds = _Level(kinds, recipes, [set(map(kind_of, moves)) for moves in best])

    def report(
        self, programs: Mapping[str, str], *, of: Collection[str] = (), every: bool = False
    ) -> TwinReport:
        """`programs`: each bot's content hash; `of`: only pairs with one of these bots; `every`:
        not only pairs that are rarely as much alike.
        """
        pairs, compared, skipped, near = [], 0, 0, 0
        for one, two in combinations(sorted(self._bots), 2):
            if of and one not in of and two not in of:
                continue
            if self._moves.common(one, two).bit_count() < COMPARED:
                skipped += 1
                continue
            compared += 1
            likeness = self.likeness(one, two)
            near += likeness.near
            rare = likeness.rare(self._bars)
            if rare or every:
                pairs.append((not rare, -likeness.alike, one, two, likeness))
        pairs.sort(key=lambda pair: pair[:4])
        first_bar = self._bars[0][1] if self._bars else None
        return TwinReport(
            questions=len(self._turns),
            recipes=tuple(sorted(self._moves.like)),
            others=max(0, len(self._all) - 2),
            compared=compared,
            near=near,
            skipped=skipped,
            first_bar=first_bar,
            chance=(compared - near) / first_bar if first_bar else None,
            bots=tuple(map(self._bot, sorted(self._bots))),
            pairs=tuple(
                self._pair(one, two, likeness, same_files=programs[one] == programs[two])
                for _, _, one, two, likeness in pairs
            ),
        )

    def likeness(self, one: str, two: str) -> Likeness:
        return Likeness(self._moves.share(one, two, TELLING), self._kinds.share(one, two, 1))

    def _bot(self, bot: str) -> TwinBot:
        settled = self._moves.bots[bot].counts.bit_count()
        answers = self._bots[bot].first
        own = [
            turn.played == move
            for turn, move in zip(self._turns, answers, strict=True)
            if turn.bot == bot and move
        ]
        most, recipe = self._nearest(bot)
        return TwinBot(
            bot=bot,
            answered=sum(map(bool, answers)),
            settled=settled,
            as_recorded=sum(own) / len(own) if own else None,
            recipe=recipe,
            like_recipe=most / settled if settled else 0.0,
            near=self.near(bot),
        )

    def near(self, bot: str) -> bool:
        """Whether a bot plays a recipe, or nearly."""
        settled = self._moves.bots[bot].counts.bit_count()
        return COMPARED <= settled < self._nearest(bot)[0] + TELLING

    def _nearest(self, bot: str) -> tuple[int, str]:
        """How many decisions a bot shares with the nearest recipe, and its name."""
        counts, likes = self._moves.bots[bot].counts, self._moves.like.items()
        return max(((like[bot] & counts).bit_count(), recipe) for recipe, like in likes)

    def _pair(self, one: str, two: str, likeness: Likeness, *, same_files: bool) -> TwinPair:
        moves, kinds = likeness
        votes = {at: self._others(at, one, two) for at in _questions(moves.telling)}
        alike = list(_questions(moves.same))
        otherwise = list(_questions(moves.telling & ~moves.same))
        others = fsum(votes[at] for at in alike) + fsum(votes[at] for at in otherwise) / 2
        return TwinPair(
            bots=(one, two),
            alike=likeness.alike,
            rare=likeness.rare(self._bars),
            recipe=moves.recipe,
            compared=self._moves.common(one, two).bit_count(),
            telling=len(votes),
            same=len(alike),
            expected=others / max(1, len(self._all) - 2),
            telling_kinds=kinds.telling.bit_count(),
            same_kinds=kinds.same.bit_count(),
            same_files=same_files,
            moments=self._rarest(alike, votes, one, two, moves.recipe),
            differences=self._rarest(otherwise, votes, one, two, moves.recipe),
        )

    def _others(self, at: int, one: str, two: str) -> int:
        """How many others make the move of one of the two."""
        votes, moves = self._votes[at], {self._first[one][at], self._first[two][at]}
        return sum(votes[move] for move in moves) - 2

    def _rarest(
        self, found: list[int], votes: Mapping[int, int], one: str, two: str, recipe: str
    ) -> tuple[TellingMove, ...]:
        """One of a hole at most."""
        kept: dict[tuple[str, int], TellingMove] = {}
        for at in sorted(found, key=lambda at: (votes[at], at)):
            turn = self._turns[at]
            if len(kept) == MOMENTS or (turn.match, turn.hole) in kept:
                continue
            best = min(turn.regrets, key=lambda move: turn.regrets[move])
            kept[turn.match, turn.hole] = TellingMove(
                match=turn.match,
                hole=turn.hole,
                move=turn.move,
                moves=(self._all[one].first[at], self._all[two].first[at]),
                recipe=best if recipe == EVALUATOR else self._all[recipe].first[at],
                others=votes[at],
            )
        return tuple(kept.values())

    @cached_property
    def _votes(self) -> list[Counter[str]]:
        """By question, how many make each move, or one as good."""
        return [Counter(moves) for moves in zip(*self._first.values(), strict=True)]


def kind_of(move: str) -> str:
    return move.partition(" ")[0]


def _equals(turn: RecordedTurn, *, judged: bool) -> dict[str, str]:
    """By legal move the first one of its kind that the evaluator finds as good."""
    if not judged:
        return {move: move for move in turn.regrets}
    first: dict[tuple[str, float], str] = {}
    return {
        move: first.setdefault((kind_of(move), round(lost, _EQUAL)), move)
        for move, lost in turn.regrets.items()
    }


def _decisions(first: Iterable[str], second: Iterable[str], groups: Iterable[str]) -> _Decisions:
    """Those of a group count unless more than `BY_LOT` of them are taken by lot."""
    by: dict[str, Bits] = {}
    steady: dict[str, Bits] = {}
    asked, lots = Counter[str](), Counter[str]()
    for at, (move, again, group) in enumerate(zip(first, second, groups, strict=True)):
        if move and again:
            asked[group] += 1
            if move != again:
                lots[group] += 1
                continue
            by[move] = by.get(move, 0) | 1 << at
            steady[group] = steady.get(group, 0) | 1 << at
    counts = 0
    for group, questions in steady.items():
        if lots[group] <= BY_LOT * asked[group]:
            counts |= questions
    return _Decisions(by, counts)


def _questions(found: Bits) -> Iterator[int]:
    while found:
        lowest = found & -found
        yield lowest.bit_length() - 1
        found ^= lowest
