"""Formats decide which matches to play next: deterministic, pull-style, at the ends of waves only.

A format (a schedule) is a module here with a class that does what `Format` says, and a line of
`arena.registry.FORMATS`: then `--schedule` offers it, and its options with it. What several share:
`tables` (which bots sit together), `blocks` (from tables and deals to series).

A format names the type of its own options. They are stored in `Settings.options`, under the
commitment, so that the same matches can be planned again from event.json. The options of `racing`
and `trial` are older: each has a member of the settings for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec
from msgspec import UNSET

from arena.deals import Deals
from arena.model import Entrant, Frozen, MatchSpec, Settings, UserError
from arena.schedule import ScheduleEnd, Wave, WaveResults

if TYPE_CHECKING:
    from arena.formats.blocks import Dealing

T = TypeVar("T", bound=Frozen)
_WORDS = {
    " | null": "",
    "Expected `int`": "expected a whole number",
    "Expected `float`": "expected a number",
    "Expected `bool`": "expected true or false",
    "Expected `str`": "expected a text",
}


class Format:
    """A way to run an event. UserError from `__init__` if it can't be run so."""

    adaptive: ClassVar[bool] = False
    """Whether later waves follow from results: then its parts can't be played apart, and unless
    the event says otherwise it rates on strokes less luck, which tell sooner."""

    Options: ClassVar[type[Frozen] | None] = None
    """Type of its own options, with a default for each that may be left out."""

    options_member: ClassVar[str] = "options"
    """Where the settings hold them. If that is `options`, the format reads them by `options_of`."""

    @staticmethod
    def stated(options: Any) -> Any:  # noqa: ANN401 - of the type `Options`
        """Its options as new events state them."""
        return options

    _dealing: Dealing
    _all: Wave  # the only wave, if it is not adaptive
    _most_deals: int  # of a table

    def __init__(self, settings: Settings, entrants: Sequence[Entrant], deals: Deals) -> None: ...

    def wave(self, before: Sequence[Wave], results: WaveResults) -> Wave | ScheduleEnd:
        """The wave after those `before`, from what they have shown."""
        del results
        return ScheduleEnd() if before else self._all

    def find(self, pairing: str, deal: int, rotation: int) -> tuple[int, MatchSpec] | None:
        """A match that may be in the schedule, and a number that is its alone."""
        return self._dealing.find(pairing, deal, rotation, most=self._most_deals)


def settings_members(kind: type[Format], name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The members that hold a format's options, complete; numbers may be given as texts."""
    if kind.Options is None:
        if given:
            raise UserError(f"the schedule {name} has no option {min(given)!r}, and no other")
        return {}
    known = kind.Options.__struct_fields__
    for option in sorted(given):
        if option not in known:
            raise UserError(
                f"the schedule {name} has no option {option!r}; it has: {', '.join(known)}"
            )
    options = kind.stated(_converted(given, kind.Options, name, strict=False))
    if kind.options_member == "options":
        return {"options": msgspec.to_builtins(options)}
    return {kind.options_member: options}


def options_of(settings: Settings, kind: type[T]) -> T:
    """The options that an event states; what it leaves out has its default."""
    stated = {} if settings.options is UNSET else settings.options
    return _converted(stated, kind, settings.format, strict=True)


def _converted(given: Mapping[str, Any], kind: type[T], name: str, *, strict: bool) -> T:
    try:
        return msgspec.convert(dict(given), kind, strict=strict)
    except msgspec.ValidationError as error:
        raise UserError(f"options of the schedule {name}: {_plainly(str(error), given)}") from None


def _plainly(error: str, given: Mapping[str, Any]) -> str:
    """Msgspec's words without its types and path."""
    what, _, path = error.rpartition(" - at `$.")
    option = path.rstrip("`")
    if option not in given:
        return error
    for theirs, ours in _WORDS.items():
        what = what.replace(theirs, ours)
    return f"{option}={given[option]}: {what.partition(', got')[0]}"
