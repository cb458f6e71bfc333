"""Numbers that remember what they were made of, so that a walk can be differentiated.

The trainer lets the arena's own walk run on tables of these instead of whole numbers. Each is a
value and, to be asked for later, how it depends on the coefficients.
"""

from __future__ import annotations

from typing import Any

Number = "Linear | int"


class Linear:
    """A value, and the sum of (factor, part) that it is; or the coefficient number `leaf`."""

    __slots__ = ("flat", "parts", "value")

    def __init__(
        self,
        value: int,
        parts: tuple[tuple[float, Any], ...] = (),
        flat: dict[int, float] | None = None,
    ) -> None:
        self.value = value
        self.parts = parts
        self.flat = flat

    def flattened(self) -> Linear:
        """The same, by coefficients alone."""
        into: dict[int, float] = {}
        expand(self, 1.0, into)
        return Linear(self.value, (), into)

    def __add__(self, other: Any) -> Linear:
        if isinstance(other, Linear):
            return Linear(self.value + other.value, ((1.0, self), (1.0, other)))
        return Linear(self.value + other, ((1.0, self),)) if other else self

    __radd__ = __add__

    def __sub__(self, other: Any) -> Linear:
        if isinstance(other, Linear):
            return Linear(self.value - other.value, ((1.0, self), (-1.0, other)))
        return Linear(self.value - other, ((1.0, self),)) if other else self

    def __neg__(self) -> Linear:
        return Linear(-self.value, ((-1.0, self),))

    def __mul__(self, factor: int) -> Linear:
        return Linear(self.value * factor, ((float(factor), self),))

    def __floordiv__(self, by: int) -> Linear:
        return Linear(self.value // by, ((1 / by, self),))

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < value_of(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > value_of(other))

    def __eq__(self, other: object) -> bool:
        return bool(self.value == value_of(other))

    __hash__ = None  # type: ignore[assignment]


def value_of(number: Any) -> int:
    """The value, whatever it was made of."""
    return int(number.value if isinstance(number, Linear) else number)


def expand(number: Any, factor: float, into: dict[int, float]) -> None:
    """Add `factor` times what the number is made of, by coefficient."""
    if not isinstance(number, Linear):
        return
    if number.flat is not None:
        for leaf, part in number.flat.items():
            into[leaf] = into.get(leaf, 0.0) + factor * part
    for part_factor, part in number.parts:
        expand(part, factor * part_factor, into)
