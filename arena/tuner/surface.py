"""Surface: strokes as a quadratic function of a bot's parameters, fitted to differences.

Theory of operation. A point is a setting: each parameter's place in its range, 0 to 1. Two settings
that play each other show f(one) - f(two), where f(x) is a quadratic around a centre. Coefficients
have a Gaussian prior, whose width is the one of a few that the differences make likeliest; so what
they don't show stays near nothing, and the posterior says how sure the rest is. Settings count less
the further they are from the centre: the surface need be no quadratic elsewhere. A bot of the panel
is a constant of its own.

Invariant: pure; a fixed order of operations.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import mul
from typing import NamedTuple

from arena.model import Frozen
from arena.ratings.cholesky import Matrix, factor, solve

Point = tuple[float, ...]

_WIDTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)  # strokes over a whole range
_PANEL = 1_000.0  # strokes: any bot is that near
_BORROWED = 4  # deals for which the median spread counts in a pair's own, as in ratings
_DECAY = 2.0  # of the weight of settings: so many squared distances, in reaches, are one e
_LEAST = 0.25  # strokes: the least deviation of a rated deal, since few deals may all tie
_ROUNDS, _STILL = 40, 1e-6
_CALM, _FITS = 1.0, 4
"""The first fit takes nearly all for signal, each other one the noise that the one before left: one
that begins with all for noise would end there."""


class Gap(Frozen, frozen=True, kw_only=True):
    """What two entrants have shown against each other."""

    one: str
    two: str
    deals: int
    strokes: float
    """By so many a match the first was ahead."""
    squares: float
    """The sum of squares of a deal's differences, about their mean."""


class Surface(NamedTuple):
    centre: Point
    coefficients: Sequence[float]
    root: Matrix
    """The lower root of the coefficients' precision."""

    def sampled(self, normal: Sequence[float]) -> "Surface":
        """One of those that may be true; `normal`: a normal value for each coefficient."""
        off = list(normal[: len(self.coefficients)])
        for number in range(len(off) - 1, -1, -1):  # the transposed root, backwards
            off[number] /= self.root[number][number]
            for column in range(number):
                off[column] -= self.root[number][column] * off[number]
        moved = [known + more for known, more in zip(self.coefficients, off, strict=True)]
        return self._replace(coefficients=moved)

    def strokes(self, point: Point) -> float:
        """Strokes a match that a setting is ahead of the centre."""
        return math.fsum(map(mul, _terms(point, self.centre), self.coefficients))

    def along(self, point: Point, axis: int) -> tuple[float, float]:
        """Slope and half the curvature at a point, along one parameter."""
        here = self.strokes(point)
        up, down = (
            self.strokes((*point[:axis], point[axis] + step, *point[axis + 1 :])) - here
            for step in (0.5, -0.5)
        )
        return up - down, 2 * (up + down)

    def highest(self, start: Point, low: Point, high: Point) -> Point:
        """The best point of a box, climbing along one parameter after the other."""
        point = start
        for _ in range(_ROUNDS):
            before = point
            for axis, (least, most) in enumerate(zip(low, high, strict=True)):
                slope, bend = self.along(point, axis)
                there = [least - point[axis], most - point[axis]]
                if bend < 0:
                    there.append(min(max(-slope / (2 * bend), there[0]), there[1]))
                step = max(there, key=lambda step: slope * step + bend * step * step)
                if slope * step + bend * step * step > _STILL:
                    point = (*point[:axis], point[axis] + step, *point[axis + 1 :])
            if point == before:
                break
        return point


def fit(gaps: Sequence[Gap], points: Mapping[str, Point], centre: Point, radius: float) -> Surface:
    """The surface around a centre; `points`: of all entrants that are settings, by their ids."""
    panel = sorted({each for gap in gaps for each in (gap.one, gap.two)} - set(points))
    first = len(panel)  # behind their constants, so that the end of the root is without them
    blank = [0.0] * (first + len(list(_terms(centre, centre))))

    def row(entrant: str) -> list[float]:
        found = blank[:]
        if entrant in points:
            found[first:] = _terms(points[entrant], centre)
        else:
            found[panel.index(entrant)] = 1.0
        return found

    def far(entrant: str) -> float:
        apart = points.get(entrant, centre)
        square = sum((x - y) ** 2 for x, y in zip(apart, centre, strict=True))
        return square / (len(centre) * radius * radius)

    shown = [
        _Shown(
            [x - y for x, y in zip(row(gap.one), row(gap.two), strict=True)],
            math.exp(-(far(gap.one) + far(gap.two)) / _DECAY),
            gap,
        )
        for gap in gaps
    ]
    usual = _CALM
    for _ in range(_FITS):
        found, root = _fitted(shown, usual, len(blank), first)
        usual = _misfit(shown, found)
    return Surface(centre, found[first:], [line[first:] for line in root[first:]])


class _Shown(NamedTuple):
    terms: Sequence[float]
    near: float
    gap: Gap

    def variance(self, usual: float) -> float:
        """Of the mean: by its own spread, and for a few deals by the usual one."""
        gap = self.gap
        return (gap.squares + _BORROWED * usual) / (gap.deals - 1 + _BORROWED) / gap.deals


def _fitted(
    shown: Sequence[_Shown], usual: float, size: int, first: int
) -> tuple[list[float], Matrix]:
    """The coefficients, and the root of their precision; the first ones are the panel's."""
    known = [[0.0] * size for _ in range(size)]
    pull, power = [0.0] * size, 0.0
    for each in shown:
        weight, strokes = each.near / each.variance(usual), each.gap.strokes
        power += weight * strokes**2
        for number, term in enumerate(each.terms):
            if term:
                pull[number] += weight * term * strokes
                line, scaled = known[number], weight * term
                for column in range(number + 1):
                    line[column] += scaled * each.terms[column]
    fits = [_posterior(known, pull, power, first, width) for width in _WIDTHS]
    _, found, root = max(fits, key=lambda each: each[0])
    return found, root


def _misfit(shown: Sequence[_Shown], found: Sequence[float]) -> float:
    """Variance of a deal by what the surface leaves over: noise, and where it is no quadratic."""
    near, over = 0.0, 0.0
    for each in shown:
        left = each.gap.strokes - sum(map(mul, each.terms, found))
        near += each.near
        over += each.near * each.gap.deals * left * left
    free = 1 - min(0.8, len(found) / max(1, len(shown)))
    return max(_LEAST**2, over / (near or 1.0) / free)


def _posterior(
    known: Matrix, pull: Sequence[float], power: float, first: int, width: float
) -> tuple[float, list[float], Matrix]:
    """Logarithm of how likely a prior is, the coefficients, and the root of their precision."""
    matrix = [line[:] for line in known]
    priors = [_PANEL if number < first else width for number in range(len(pull))]
    for number, sigma in enumerate(priors):
        matrix[number][number] += 1 / sigma**2
    root = factor(matrix)
    found = solve(root, pull)
    shrunk = math.fsum(2 * math.log(line[-1]) for line in root) + math.fsum(
        2 * math.log(sigma) for sigma in priors
    )
    return -(power - sum(map(mul, pull, found)) + shrunk) / 2, found, root


def _terms(point: Point, centre: Point) -> Iterator[float]:
    """Each parameter's distance from the centre; then their squares and products."""
    off = [x - y for x, y in zip(point, centre, strict=True)]
    yield from off
    for number, one in enumerate(off):
        for two in off[number:]:
            yield one * two
