"""What results say of skills: a precision matrix, and what the skills are drawn to.

Bots that play no more are *eliminated*: the rest keeps all that it has learned from them, as the
marginal of the same Gaussian (a Schur complement). They leave in the order of their opponents'
number, so a season of a thousand retired versions costs less than the fit of those that play.

Invariant: a fixed order of operations.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from arena.model import LadderSettings, RatingSettings
from arena.ratings.cholesky import Matrix, add_difference, factor, prior, solve

_DIGITS = 9  # of what a round of a ladder states: more than results can say


class SkillGap(NamedTuple):
    """What is known of the skill of one bot above another's."""

    one: str
    two: str
    weight: float  # its precision
    pull: float  # that times the difference


class Information(NamedTuple):
    precision: Matrix
    shift: list[float]

    def stated(self) -> dict[str, tuple[float, ...]]:
        """As members of a round's settings."""
        skills = solve(factor(self.precision), self.shift)
        rows = (row[: number + 1] for number, row in enumerate(self.precision))
        return {"skills": _rounded(skills), "precision": _rounded(x for row in rows for x in row)}


def _rounded(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(f"{value:.{_DIGITS}g}") + 0.0 for value in values)


def begin(size: int, settings: RatingSettings, ladder: LadderSettings | None) -> Information:
    """What is known of so many bots before an event: by earlier rounds of a ladder, or nothing."""
    matrix, shift = prior(size, settings.sigma)
    if ladder and ladder.skills and ladder.precision:
        stated = iter(ladder.precision)
        for row in range(size):
            for column in range(row + 1):
                matrix[row][column] = matrix[column][row] = next(stated)
        skills = ladder.skills
        shift = [sum(map(float.__mul__, row, skills)) for row in matrix]
    return Information(matrix, shift)


def inform(
    known: Information, names: Sequence[str], found: Iterable[SkillGap], sigma: float
) -> Information:
    """Add differences to what is known of these bots. All others are eliminated."""
    index = {name: number for number, name in enumerate(names)}
    gone = _Gone(known, index, sigma)
    for each in found:
        one, two = index.get(each.one), index.get(each.two)
        if one is not None and two is not None:
            add_difference(
                known.precision, known.shift, (one, two), weight=each.weight, pull=each.pull
            )
        else:
            gone.add(each)
    gone.eliminate()
    return known


class _Gone:
    """Bots that are not in the matrix, and what ties them to it and to each other."""

    def __init__(self, known: Information, index: Mapping[str, int], sigma: float) -> None:
        self._known, self._index = known, index
        own = 1 / sigma**2
        self._own: dict[str, float] = defaultdict(lambda: own)
        self._shift: dict[str, float] = defaultdict(float)
        self._ties: dict[str, dict[str, float]] = defaultdict(dict)

    def add(self, found: SkillGap) -> None:
        one, two, weight, pull = found
        for each, sign in ((one, 1), (two, -1)):
            self._add_own(each, weight, sign * pull)
        self._tie(one, two, -weight)

    def _add_own(self, name: str, weight: float, pull: float) -> None:
        if (at := self._index.get(name)) is not None:
            self._known.precision[at][at] += weight
            self._known.shift[at] += pull
        else:
            self._own[name] += weight
            self._shift[name] += pull

    def _tie(self, one: str, two: str, weight: float) -> None:
        """Add to what is off the diagonal; one of them is in no matrix at least."""
        for name, other in ((one, two), (two, one)):
            if name not in self._index:
                self._ties[name][other] = self._ties[name].get(other, 0.0) + weight

    def eliminate(self) -> None:
        precision = self._known.precision
        queue = [(len(ties), name) for name, ties in self._ties.items()]
        heapq.heapify(queue)
        while queue:
            many, name = heapq.heappop(queue)
            ties, own, shift = self._ties.get(name), self._own[name], self._shift[name]
            if ties is None or len(ties) != many:
                continue  # it is gone already, or it waits with another number
            del self._ties[name]
            others = [
                (other, tie, self._index.get(other), self._ties.get(other, {}))
                for other, tie in sorted(ties.items())
            ]
            for number, (other, tie, at, row) in enumerate(others):
                row.pop(name, None)
                self._add_own(other, -tie * tie / own, -tie * shift / own)
                # As `_tie` does: most of what a season's fit costs.
                for third, another, place, column in others[:number]:
                    weight = -tie * another / own
                    if at is None:
                        row[third] = row.get(third, 0.0) + weight
                    if place is None:
                        column[other] = column.get(other, 0.0) + weight
                    elif at is not None:
                        precision[at][place] += weight
                        precision[place][at] += weight
            for other, _, at, row in others:
                if at is None:
                    heapq.heappush(queue, (len(row), other))
