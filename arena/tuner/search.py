"""Search: which settings to play next, and where the best one is.

Theory of operation. A tuning has stages. In each, the settings around a centre play each other, all
pairs on the same deals in all seats; settings that decide alike tie exactly, so what is left is
what the parameters change. The settings are the centre and pairs that lie opposite to each other,
spread over each parameter's range around it like a Latin square. Then a surface is fitted to all
differences so far, and its highest point within reach is the next centre. The reach shrinks from
stage to stage.

Invariant: pure. A stage's settings follow from the seed, the start and the stages before it.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from arena.model import Frozen, Parameter
from arena.ratings.normal import quantile
from arena.tuner.surface import Gap, Point, Surface, fit

Setting = Mapping[str, str]
"""The value of every parameter, by name."""

_FIRST, _LAST = 0.35, 0.2  # reach, in parts of a range
_MOVES, _SAMPLES = 40, 200  # surfaces drawn for a move of the centre, and for the optima
_MOST_PAIRS = 8
_OUTER = 0.025


class Stage(Frozen, frozen=True, kw_only=True):
    """A stage that is over."""

    settings: Mapping[str, Setting]
    """By the ids of their entrants."""
    gaps: Sequence[Gap]


class Optimum(Frozen, frozen=True, kw_only=True):
    """Of one parameter: its best value, and how far it matters."""

    name: str
    was: str
    value: str
    likely: tuple[str, str]
    """The best value is between these, with 95 % probability; no further than the search looks."""
    flat: tuple[str, str]
    """Between these, the others as they are, it costs less than `close` strokes a match."""


class ParameterSearch:
    def __init__(
        self, parameters: Sequence[Parameter], start: Setting, *, seed: str, stages: int
    ) -> None:
        self._parameters = parameters
        self._was = start
        self._centre = self._point(start)
        self._before: list[Stage] = []
        self._seed = seed
        self._stages = stages
        self.settings = 1 + 2 * min(_MOST_PAIRS, max(4, len(parameters)))
        """Of a stage, at most: those that are the same after rounding are one."""

    def add(self, stage: Stage) -> None:
        """Take in the next stage that is over, and move the centre."""
        self._before.append(stage)
        self._centre = self._highest()

    def next_settings(self) -> list[Setting]:
        """The settings of the next stage."""
        centre, number = self._centre, len(self._before)
        reach = self._reach(number)
        columns = [self._column(number, axis) for axis in range(len(self._parameters))]
        found = [self._setting(centre)]
        for offsets in zip(*columns, strict=True):
            for side in (1, -1):
                point = (
                    _folded(x + side * reach * off) for x, off in zip(centre, offsets, strict=True)
                )
                found.append(self._setting(tuple(point)))
        return list({tuple(sorted(each.items())): each for each in found}.values())

    def best(self) -> Setting:
        return self._setting(self._centre)

    def optima(self, close: float) -> list[Optimum]:
        """The best value of each parameter, after a stage or more."""
        best, surface, box = self._centre, self._surface(), self._box()
        found = [each.highest(best, *box) for each in self._samples(surface, _SAMPLES)]
        outer = round(_OUTER * _SAMPLES)
        optima = []
        for axis, parameter in enumerate(self._parameters):
            places = sorted(point[axis] for point in found)
            likely = parameter.at(places[outer]), parameter.at(places[-1 - outer])
            ends = (_end(surface, best, axis, side, close) for side in (-1, 1))
            less, more = map(parameter.at, ends)
            was = self._was[parameter.name]
            value = parameter.at(best[axis])
            optima.append(
                Optimum(
                    name=parameter.name,
                    was=was,
                    value=value,
                    likely=likely,
                    flat=(less, more),
                )
            )
        return optima

    def _highest(self) -> Point:
        surface, box = self._surface(), self._box()
        found = [each.highest(self._centre, *box) for each in self._samples(surface, _MOVES)]
        return tuple(math.fsum(places) / _MOVES for places in zip(*found, strict=True))

    def _surface(self) -> Surface:
        points = {
            entrant: self._point(setting)
            for stage in self._before
            for entrant, setting in stage.settings.items()
        }
        gaps = [gap for stage in self._before for gap in stage.gaps]
        return fit(gaps, points, self._centre, self._reach(len(self._before) - 1))

    def _samples(self, surface: Surface, many: int) -> Iterator[Surface]:
        size = len(surface.coefficients)
        for number in range(many):
            lots = self._uniform(f"sample/{len(self._before)}/{number}", size)
            yield surface.sampled([quantile(each) for each in lots])

    def _reach(self, stage: int) -> float:
        return float(_FIRST * (_LAST / _FIRST) ** (stage / max(1, self._stages - 1)))

    def _box(self) -> tuple[Point, Point]:
        """Where the centre may move to."""
        reach = self._reach(len(self._before) - 1)
        low = tuple(max(0.0, x - reach) for x in self._centre)
        return low, tuple(min(1.0, x + reach) for x in self._centre)

    def _column(self, stage: int, axis: int) -> Iterator[float]:
        """Of one parameter: a distance from the centre for each pair, one from each layer."""
        pairs = (self.settings - 1) // 2
        lots = list(self._uniform(f"stage/{stage}/{axis}", 3 * pairs))
        layers = sorted(range(pairs), key=lambda pair: lots[pair])
        for layer, place, side in zip(layers, lots[pairs:], lots[2 * pairs :], strict=False):
            yield (layer + place) / pairs * (1 if side < 0.5 else -1)

    def _uniform(self, label: str, size: int) -> Iterator[float]:
        stream = hashlib.shake_256(f"{self._seed}/{label}".encode()).digest(4 * size)
        for begin, end in pairwise(range(0, 4 * size + 1, 4)):
            yield (int.from_bytes(stream[begin:end], "big") + 0.5) / 2**32

    def _point(self, setting: Setting) -> Point:
        return tuple(each.place(setting[each.name]) for each in self._parameters)

    def _setting(self, point: Point) -> Setting:
        return {each.name: each.at(x) for each, x in zip(self._parameters, point, strict=True)}


def _folded(place: float) -> float:
    """A place beyond an end, reflected: settings there would all be the same."""
    return 2 - place if place > 1 else abs(place)


def _end(surface: Surface, best: Point, axis: int, side: int, close: float) -> float:
    """The place on one side of the best from which on a parameter costs `close` strokes."""
    slope, bend = surface.along(best, axis)
    slope *= side
    # close = -(slope t + bend t²): the first t > 0.
    root = slope * slope - 4 * bend * close
    steep = root**0.5 - slope if root >= 0 else 0.0
    reach = 2 * close / steep if steep > 0 else 2.0
    return best[axis] + side * reach
