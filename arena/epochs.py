"""Bots that come to an event when it is over: each time an epoch, an event of its own.

Theory of operation. The secret of an event that is over is public, so bots that come later play on
deals from a secret of their own, with a commitment of its own: an *epoch*. It lies in the event's
folder as `epoch-1`, `epoch-2` and so on, and is a results folder like any other, so it is played,
resumed and verified as such. Its format is a gauntlet of the newcomers through the field; its bots
are all that were there before it, and them. What all of it together shows is `arena.rerating`'s
business.

Invariant: an epoch's field is that of the event and of all epochs before it, with the same
content, and its heroes; so an epoch that is missing, or another event's, is noticed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import msgspec

from arena.model import Entrant, Event, Settings
from arena.store import is_results_folder

FORMAT = "gauntlet"
_NAME = re.compile(r"epoch-([1-9][0-9]{0,3})")
# What every event of this kind has for itself.
_OWN = {"format": FORMAT, "heroes": (), "tables": None, "racing": None, "trial": None, "beacon": ""}


def epochs_of(folder: Path) -> list[Path]:
    """The folders of an event's epochs, in their order. Links are none: they may lead anywhere."""
    try:
        names = [path.name for path in folder.iterdir() if not path.is_symlink()]
    except OSError:  # whoever reads the event itself says why
        return []
    numbers = sorted(int(found[1]) for name in names if (found := _NAME.fullmatch(name)))
    paths = [folder / f"epoch-{number}" for number in numbers]
    return [path for path in paths if is_results_folder(path)]


def next_epoch(folder: Path) -> Path:
    """Where the next epoch of an event belongs."""
    last = epochs_of(folder)[-1:]
    return folder / f"epoch-{1 + sum(int(path.name.partition('-')[2]) for path in last)}"


def whose_epoch(folder: Path) -> Path | None:
    """The event that a folder is an epoch of, if it is one."""
    whole = folder.absolute()
    epoch = _NAME.fullmatch(whole.name) and is_results_folder(whole.parent)
    return folder.parent if epoch else None


def settings_of_epoch(settings: Settings, heroes: Collection[str]) -> Settings:
    """What an epoch of an event with these settings is played by."""
    own = {**_OWN, "heroes": tuple(sorted(heroes))}
    return msgspec.structs.replace(settings, **own)


def field_before(events: Sequence[Event]) -> tuple[Entrant, ...]:
    """Who is in an event and its epochs so far, by their ids."""
    return tuple(sorted(_newcomers(events), key=lambda entrant: entrant.id))


def _newcomers(events: Sequence[Event]) -> Iterator[Entrant]:
    yield from events[0].entrants
    for epoch in events[1:]:
        yield from (entrant for entrant in epoch.entrants if entrant.id in epoch.settings.heroes)


def epoch_fault(before: Sequence[Event], epoch: Event) -> str:
    """Why an event is no epoch after these, the first of which is the event itself; or nothing."""
    settings = settings_of_epoch(before[0].settings, epoch.settings.heroes)
    for name in settings.__struct_fields__:
        if getattr(settings, name) != getattr(epoch.settings, name):
            return f"its {name} is not that of the event"
    known = {entrant.id: entrant.hash for entrant in field_before(before)}
    here = {entrant.id: entrant.hash for entrant in epoch.entrants}
    heroes = set(epoch.settings.heroes)
    if again := sorted(heroes & known.keys()):
        return f"{again[0]} was in the event before it"
    if absent := sorted((known.keys() | heroes) - here.keys()):
        return f"{absent[0]} was in the event before it, and is not in it"
    if strange := sorted(here.keys() - known.keys() - heroes):
        return f"{strange[0]} was not in the event before it"
    if other := sorted(name for name, content in known.items() if here[name] != content):
        return f"{other[0]} has another content in it"
    return ""
