"""List, line by line, why an event can't be resumed or merged here.

Invariant: every line is fit for a terminal, and none shows a secret.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from arena import registry
from arena.bots import printable
from arena.deals import commitment
from arena.event.options import public_line
from arena.luck import evaluator_name
from arena.model import Entrant, Event, Settings, UserError
from arena.referee import HOLES
from arena.store import Announced

_HASH_SHOWN = 12


def beacon_value(event: Event, given: str | None) -> str:
    source = printable(event.settings.beacon)
    if not source:
        if given is not None:
            raise UserError(
                "--beacon: none was announced when the event was prepared, so its deals are "
                "fixed; leave it out"
            )
        return ""
    if given is None:
        raise UserError(f"the deals wait for a public value, {source}: give it with --beacon VALUE")
    return public_line("--beacon", given)


def refuse_drift(
    folder: Path, event: Event, announced: Announced, secret: bytes, entered: Event | None
) -> None:
    """UserError if an event is not what was committed to, or this arena's rules are others."""
    lines = [*_unlike_here(event.settings)]
    if commitment(secret, announced.settings, event.entrants) != event.commitment:
        lines += list(differences(entered, event)) if entered else []
        lines.append("settings, entrants and secret don't fit the commitment")
    if lines:
        raise UserError("\n".join([f"{folder}: not as it was when the event was entered:", *lines]))


def _unlike_here(settings: Settings) -> Iterator[str]:
    game = registry.game(settings.game)
    if game.version != settings.game_version:
        theirs = f"{settings.game} rules {settings.game_version}"
        yield f"  game: {theirs}, this arena plays {game.version}"
    if settings.holes is not UNSET and settings.holes != HOLES:
        yield f"  holes: {settings.holes}, this arena plays {HOLES}"
    if settings.evaluator and settings.evaluator != (mine := evaluator_name(game)):
        theirs = printable(settings.evaluator)
        yield f"  luck: measured by {theirs}, this arena's is {mine or 'none'}"


def differences(one: Event, other: Event) -> Iterator[str]:
    yield from _unlike(_flat(one.settings), _flat(other.settings))
    yield from _entrants(one.entrants, other.entrants)
    names = ("commitment", "beacon", "format", "predictable")
    yield from _unlike(*({n: getattr(event, n) for n in names} for event in (one, other)))


def _unlike(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name in {**before, **after}:
        was, now = before.get(name), after.get(name)
        if was != now:
            yield f"  {name}: {_shown(was)} → {_shown(now)}"


def _flat(settings: Settings) -> Mapping[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in msgspec.to_builtins(settings).items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": each for inner, each in value.items()}
        else:
            flat[name] = value
    return flat


def _entrants(one: Sequence[Entrant], other: Sequence[Entrant]) -> Iterator[str]:
    before, after = ({entrant.id: entrant for entrant in each} for each in (one, other))
    for name in sorted(before | after):
        was, now = before.get(name), after.get(name)
        if was is None or now is None or was.hash != now.hash:
            yield f"  bots: {printable(name)} was {_short(was)}, is {_short(now)}"
        elif was.author != now.author:
            yield f"  author of {printable(name)}: {_shown(was.author)} → {_shown(now.author)}"


def _short(entrant: Entrant | None) -> str:
    return "not there" if entrant is None else f"{printable(entrant.hash[:_HASH_SHOWN])}…"


def _shown(value: Any) -> str:  # noqa: ANN401 - any of the settings
    return "none" if value in (None, "") else printable(value)
