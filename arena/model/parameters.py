"""Parameters that a bot names in its manifest, and settings: the values that are chosen for them.

A value is a text, as the process gets it: one spelling for each number, so that equal settings are
equal texts on every machine and in every language that reads event.json.
"""

import math
import re
from collections.abc import Mapping

from arena.model.errors import UserError
from arena.model.fields import Frozen, canonical, sha256_hex

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,23}", re.ASCII)
VALUE = re.compile(r"-?[0-9][0-9.e+-]{0,23}", re.ASCII)
MOST = 16
"""Parameters of a bot: with more of them a tuning needs more matches than anybody plays."""
LARGEST = 1e9
_STEPS = 1_000  # of a range: finer ones can't be told apart
_VARIABLE = "ARENA_PARAM_"


class Parameter(Frozen, frozen=True, kw_only=True):
    name: str
    low: float
    high: float
    default: float
    whole: bool = False
    log: bool = False

    def text(self, value: float) -> str:
        """The one spelling of a value."""
        return str(round(value)) if self.whole else f"{value + 0.0:.6g}"

    def read(self, text: str) -> str:
        """The spelling of a value that a user gave; ValueError says what is wrong with it."""
        try:
            value = float(text)
        except ValueError:
            raise ValueError(f"{text!r} is not a number") from None
        if self.whole and value != round(value, 0):
            raise ValueError(f"{text} is not a whole number, as its default, min and max are")
        if not self.low <= value <= self.high:
            raise ValueError(f"{text} is not between {self.text(self.low)} and {self.ends[1]}")
        return self.text(value)

    @property
    def ends(self) -> tuple[str, str]:
        return self.text(self.low), self.text(self.high)

    def place(self, text: str) -> float:
        """Where a value is in the range: from 0, the low end, to 1."""
        value = float(text)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def at(self, place: float) -> str:
        """The value at a place of the range, rounded to what can be told apart."""
        place = min(1.0, max(0.0, place))
        if self.log:
            value = self.low * (self.high / self.low) ** place
            digits = 2 - math.floor(math.log10(value))
        else:
            value = self.low + place * (self.high - self.low)
            digits = -math.floor(math.log10((self.high - self.low) / _STEPS))
        # Rounding leads out of a range whose ends have more digits.
        return self.text(min(self.high, max(self.low, round(value, digits))))


def settled(parameters: tuple[Parameter, ...], given: Mapping[str, str]) -> dict[str, str]:
    """The values that differ from the defaults, each in its one spelling, by name. UserError for an
    unknown name, or a value outside of its range.
    """
    known = {each.name: each for each in parameters}
    found = {}
    for name, text in sorted(given.items()):
        if not known:
            raise UserError(f"{name}={text}: its bot.toml names no parameters ([tune])")
        if name not in known:
            raise UserError(f"{name}={text}: it has no such parameter; it has: {', '.join(known)}")
        try:
            value = known[name].read(text)
        except ValueError as error:
            raise UserError(f"{name}: {error}") from None
        if value != known[name].text(known[name].default):
            found[name] = value
    return found


def variables(
    parameters: tuple[Parameter, ...], params: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """The environment from which a process learns all of its parameters, the defaults too."""
    return chosen({each.name: each.text(each.default) for each in parameters} | dict(params))


def chosen(values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((f"{_VARIABLE}{name}", value) for name, value in values.items())


def shown(params: Mapping[str, str]) -> str:
    """As a user writes them behind a bot's path."""
    return ",".join(f"{name}={value}" for name, value in sorted(params.items()))


def setting_hash(content: str, params: Mapping[str, str]) -> str:
    """The hash of an entrant that doesn't play by its defaults: content and setting."""
    return sha256_hex(canonical({"content": content, "params": dict(params)}))


def setting_version(version: str, params: Mapping[str, str], most: int) -> str:
    """A version that tells a setting from others: its values, or a part of their hash."""
    values = "-".join(f"{name}_{value}" for name, value in sorted(params.items()))
    whole = f"{version}-{values.replace('+', '')}"
    if len(whole) <= most:
        return whole
    digest = sha256_hex(canonical(dict(params)))[:8]
    return f"{version[: most - len(digest) - 1]}-{digest}"
