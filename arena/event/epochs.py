"""Epochs: bots that are added to a finished event play an event of their own beside it.

Theory of operation. The secret of an event that is over is public, so bots that come later play on
deals from a secret of their own, with a commitment of its own: an *epoch*. It lies in the event's
folder as `epoch-1`, `epoch-2` and so on, and is a results folder like any other, so it is played,
resumed and verified as such. Its format is a gauntlet of the newcomers through the field, which is
all bots that were there before. `arena.event.rerate` rates an event together with its epochs.

A bot that was withdrawn is no opponent in a later epoch: newcomers would gain by its forfeits what
no bot of the event gained, and a bot whose results were annulled would be ranked again. An epoch's
settings list the bots left out for that reason, under its commitment; `arena verify` compares the
list with the earlier logs. In epochs of the first rule such bots played, and those results don't
count.

Where it is asked for, former versions of newcomers are retired (`retired`, under the commitment):
they are nobody's opponents in that epoch and in later ones, and what they played counts on. A
version of a bot has its author, name and setting, so nobody else can be left out in that way.

Invariant: an epoch's field is that of the event and of all epochs before it, with the same content,
less those who were withdrawn or retired, and its heroes; so an epoch that is missing, or another
event's, is noticed.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from arena.model import STATED, Entrant, Event, Settings
from arena.ratings.versions import bot_of
from arena.store import is_results_folder

FORMAT = "gauntlet"
_NAME = re.compile(r"epoch-([1-9][0-9]{0,3})")
# What every event of this kind has for itself.
_OWN = {
    "format": FORMAT,
    "tables": None,
    "racing": None,
    "trial": None,
    "options": UNSET,
    "beacon": "",
}
# What follows from when and how an epoch was entered, not from the event.
_WHEN_ENTERED = frozenset({"derivation", "deal_order", "predictable", "withdrawn", "retired"})


def epochs_of(folder: Path) -> list[Path]:
    """The folders of an event's epochs, in their order. Links are none: they may lead anywhere."""
    try:
        names = [path.name for path in folder.iterdir() if not path.is_symlink()]
    except OSError:  # reading the event itself says why
        return []
    numbers = sorted(int(found[1]) for name in names if (found := _NAME.fullmatch(name)))
    paths = [folder / f"epoch-{number}" for number in numbers]
    return [path for path in paths if is_results_folder(path)]


def next_epoch(folder: Path) -> Path:
    last = epochs_of(folder)[-1:]
    return folder / f"epoch-{1 + sum(int(path.name.partition('-')[2]) for path in last)}"


def event_of_epoch(folder: Path) -> Path | None:
    whole = folder.absolute()
    epoch = _NAME.fullmatch(whole.name) and is_results_folder(whole.parent)
    return folder.parent if epoch else None


def settings_of_epoch(
    settings: Settings,
    heroes: Collection[str],
    withdrawn: Collection[str] = (),
    retired: Collection[str] = (),
) -> Settings:
    """The settings of an epoch of an event with these settings. `withdrawn`: bots, before it."""
    stated = {name: STATED[name] for name in _WHEN_ENTERED & STATED.keys()}
    bots = {"heroes": tuple(sorted(heroes)), "withdrawn": tuple(sorted(withdrawn))}
    if retired:
        bots["retired"] = tuple(sorted(retired))
    return replace(settings, **_OWN, predictable=False, **stated, **bots)


def former_versions_of(newcomers: Iterable[Entrant], field: Iterable[Entrant]) -> frozenset[str]:
    """The ids of those in the field that are versions of the newcomers' bots."""
    bots = set(map(bot_of, newcomers))
    return frozenset(each.id for each in field if bot_of(each) in bots)


def field_before(events: Sequence[Event]) -> tuple[Entrant, ...]:
    """The entrants of an event, and the heroes of its epochs."""
    field = [*events[0].entrants]
    for epoch in events[1:]:
        field += [each for each in epoch.entrants if each.id in epoch.settings.heroes]
    return tuple(sorted(field, key=lambda entrant: entrant.id))


def epoch_fault(
    before: Sequence[Event], epoch: Event, withdrawn: Collection[str] | None = None
) -> str:
    """Why an event is no epoch after these; or nothing. `withdrawn`: in these, if it is known."""
    return next(_faults(before, epoch, withdrawn), "")


def _faults(
    before: Sequence[Event], epoch: Event, withdrawn: Collection[str] | None
) -> Iterator[str]:
    settings = settings_of_epoch(before[0].settings, epoch.settings.heroes)
    for name in settings.__struct_fields__:
        if name not in _WHEN_ENTERED and getattr(settings, name) != getattr(epoch.settings, name):
            yield f"its {name} is not that of the event"
    gone = frozenset(epoch.settings.withdrawn or ())
    yield from _retired_faults(before, epoch)
    # Epochs of the first rule were played by all.
    if withdrawn is not None and epoch.settings.rule > 1:
        for name in sorted(gone - set(withdrawn)):
            yield f"{name} was not withdrawn before it, and is left out of it as if it were"
        for name in sorted(set(withdrawn) - gone):
            yield f"{name} was withdrawn before it, and is not left out of it"
    known = {entrant.id: entrant.hash for entrant in field_before(before)}
    here = {entrant.id: entrant.hash for entrant in epoch.entrants}
    heroes = set(epoch.settings.heroes)
    out = frozenset(epoch.settings.retired or ())
    absent = ((known.keys() - gone - out) | heroes) - here.keys()
    changed = {name for name in known.keys() & here.keys() if known[name] != here[name]}
    for names, what in (
        (gone - known.keys(), "is left out of it, and was not in the event before it"),
        (gone & here.keys(), "was withdrawn before it, as its settings say, and is in it"),
        (out - known.keys(), "is retired in it, and was not in the event before it"),
        (out & here.keys(), "is retired in it, as its settings say, and is in it"),
        (heroes & known.keys(), "was in the event before it"),
        (absent, "was in the event before it, and is not in it"),
        (here.keys() - known.keys() - heroes, "was not in the event before it"),
        (changed, "has another content in it"),
    ):
        for name in sorted(names):
            yield f"{name} {what}"


def _retired_faults(before: Sequence[Event], epoch: Event) -> Iterator[str]:
    out = frozenset(epoch.settings.retired or ())
    earlier = frozenset(before[-1].settings.retired or ())
    for name in sorted(earlier - out - frozenset(epoch.settings.withdrawn or ())):
        yield f"{name} was retired before it, and is not left out of it"
    newcomers = [each for each in epoch.entrants if each.id in epoch.settings.heroes]
    for name in sorted(out - earlier - former_versions_of(newcomers, field_before(before))):
        yield f"{name} is retired in it, and no newcomer is a version of that bot"
