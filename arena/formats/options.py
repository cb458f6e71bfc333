"""Options of a format's own: from texts or an event file into settings, and out of them again.

A format names the type of its options (`Format.Options`). They are stored in `Settings.options`,
under the commitment, so that the same matches can be planned again from event.json. The options of
`racing` and `trial` are older: each has a member of the settings for itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from arena.formats import Format
from arena.model import Frozen, Settings, UserError

T = TypeVar("T", bound=Frozen)


def settings_members(kind: type[Format], name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an event's settings that hold a format's options, checked and complete.

    Numbers may be texts, as they come from a command line.
    """
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
    try:
        options = msgspec.convert(dict(given), kind.Options, strict=False)
    except msgspec.ValidationError as error:
        raise UserError(f"options of the schedule {name}: {error}") from None
    if kind.options_member == "options":
        return {"options": msgspec.to_builtins(options)}
    return {kind.options_member: options}


def options_of(settings: Settings, kind: type[T]) -> T:
    """The options that an event states; what it leaves out has its default."""
    try:
        return msgspec.convert({} if settings.options is UNSET else settings.options, kind)
    except msgspec.ValidationError as error:
        raise UserError(f"options of the schedule {settings.format}: {error}") from None
