"""Add bots to a finished event (`arena run --into`): they play an epoch of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from arena.bots import Roster, default_cache, in_use, load, printable, restore
from arena.event import epochs
from arena.event.commands import command_line
from arena.event.drift import refuse_drift
from arena.event.prepare import Forecast, NewEvent, forecast_new, new_event, play_new
from arena.event.progress import Outcome
from arena.event.results import withdrawn_in
from arena.event.session import Session
from arena.event.workshop import SKIP, Workshop
from arena.model import Bot, Entrant, Event, Settings, UserError
from arena.store import read_event_file, read_private, secret_of


class Newcomers(NamedTuple):
    """The bots that are added, and how."""

    bots: Sequence[Path]
    seed: str | None = None
    skip_broken: bool = False  # go on without those that can't take part
    retire: bool = False  # their former versions play no more


def run_into(folder: Path, newcomers: Newcomers, session: Session) -> Outcome:
    with _new_epoch(folder, newcomers, session) as new:
        return play_new(new, epochs.next_epoch(folder), session)


def forecast_epoch(folder: Path, newcomers: Newcomers, session: Session) -> Forecast:
    with _new_epoch(folder, newcomers, session) as new:
        return forecast_new(new, session)


@contextmanager
def _new_epoch(folder: Path, newcomers: Newcomers, session: Session) -> Iterator[NewEvent]:
    bots, seed, skip_broken, retire = newcomers
    events = _finished(folder)
    base, run, notify = events[folder].settings, session.options, session.progress.say
    if not bots:
        raise UserError(f"name the bots to add: {command_line('run', Path('BOT'))} --into {folder}")
    with in_use(default_cache()) as cache:
        field = epochs.field_before([*events.values()])
        given, again = _newcomers(bots, field, cache, skip_broken=skip_broken)
        withdrawn = frozenset[str]().union(*(withdrawn_in(*each) for each in events.items()))
        if withdrawn:
            gone = _listed(withdrawn)
            notify(f"note: withdrawn from the event, and no opponents any more: {gone}")
        retired = frozenset([*events.values()][-1].settings.retired or ()) - withdrawn
        if retire:
            new = (each.entrant for each in given.candidates)
            retired |= epochs.former_versions_of(new, field) - withdrawn
        if retired:
            notify(f"note: retired, and no opponents any more: {_listed(retired)}")
        old = [entrant for entrant in field if entrant.id not in withdrawn | retired]
        sources = [(each, again.get(each.hash, ("", ""))[0]) for each in old]
        roster = restore(sources, cache=cache, folder=folder)
        _refuse_missing(folder, old, roster)
        if again:
            notify(f"note: in the event already, and no newcomers: {_named(again)}")
        candidates, notes = (*roster.candidates, *given.candidates), (*given.notes, *roster.notes)
        every = replace(given, candidates=candidates, notes=notes)

        def settle(ready: Sequence[Bot]) -> Settings:
            ids = {bot.entrant.id for bot in ready}
            if absent := [each.id for each in old if each.id not in ids]:
                raise UserError(f"{folder}: bots of the event can't play: {', '.join(absent)}")
            heroes = ids & {each.entrant.id for each in given.candidates}
            if not heroes:
                raise UserError("no bot to add: those that are new can't play here")
            return epochs.settings_of_epoch(base, heroes, withdrawn, retired)

        workshop = Workshop(
            base, notify, folder, sandbox=run.sandbox, jobs=run.jobs, skip_broken=skip_broken
        )
        yield new_event(every, workshop, settle, seed=seed)


def _finished(folder: Path) -> dict[Path, Event]:
    """The event in a folder and its epochs; UserError if no bot can be added to it."""
    events: dict[Path, Event] = {}
    for path in (folder, *epochs.epochs_of(folder)):
        file = read_event_file(path)
        event = file.event
        if path == folder:
            _refuse_part(folder, event)
        if not event.finished or read_private(path) is not None:
            command = command_line("resume" if event.sandbox else "run", path)
            raise UserError(f"{path}: the event is not finished; first: {command}")
        if events and (fault := epochs.epoch_fault([*events.values()], event)):
            raise UserError(f"{path}: no epoch of the event in {folder}: {fault}")
        refuse_drift(path, event, file.announced, secret_of(path, event), None)
        events[path] = event
    return events


def _refuse_part(folder: Path, event: Event) -> None:
    """UserError for what is no event of several matches, or only a part of one."""
    if whole := epochs.event_of_epoch(folder):
        raise UserError(
            f"{folder} is an epoch of the event in {whole}; add to that: --into {whole}"
        )
    if event.settings.format == "single":
        raise UserError(f"{folder}: one match, to which no bot can come; play another: arena play")
    if event.shard:
        raise UserError(f"{folder}: a shard of an event; merge it first: arena merge")


def _newcomers(
    bots: Sequence[Path], field: Sequence[Entrant], cache: Path, *, skip_broken: bool
) -> tuple[Roster, Mapping[str, tuple[str, str]]]:
    """The bots that are new; of the others, by their content, the source and a name."""
    given = load(bots, cache=cache)
    if given.problems and not skip_broken:
        raise UserError("\n".join([*map(str, given.problems), SKIP]))
    known = {entrant.hash: entrant.id for entrant in reversed(field)}
    again = {
        each.entrant.hash: (each.source, f"{each.path} (as {known[each.entrant.hash]})")
        for each in given.candidates
        if each.entrant.hash in known
    }
    new = tuple(each for each in given.candidates if each.entrant.hash not in known)
    if not new:
        why = f"in the event already, with this content: {_named(again)}"
        raise UserError(f"no bot to add: {why if again else 'none of the paths is one'}")
    ids = {entrant.id for entrant in field}
    if namesakes := [each for each in new if each.entrant.id in ids]:
        for each in namesakes:
            what = "is in the event already, with different content; give it another version"
            given.add(each.entrant.id, each.path, f"{printable(each.entrant.id)} {what}")
        if not skip_broken:
            raise UserError("\n".join(map(str, given.problems)))
    new = tuple(each for each in new if each not in namesakes)
    return replace(given, candidates=new), again


def _listed(ids: Iterable[str]) -> str:
    return ", ".join(map(printable, sorted(ids)))


def _named(again: Mapping[str, tuple[str, str]]) -> str:
    return ", ".join(printable(name) for _, name in again.values())


def _refuse_missing(folder: Path, field: Sequence[Entrant], old: Roster) -> None:
    here = {candidate.entrant.id for candidate in old.candidates}
    names = {printable(entrant.id) for entrant in field if entrant.id not in here}
    # A problem with a path differs from a bot whose place is unknown.
    others = [problem for problem in old.problems if problem.path not in names]
    lost = sorted(names.intersection(problem.path for problem in old.problems))
    lines = [*map(str, others), *(f"{out.name}: {out.reason}" for out in old.skipped)]
    if lost:
        lines.append(
            f"{folder}: no longer in the cache, of the event's bots: {', '.join(lost)}; name them "
            f"too, as they were: {command_line('run')} --into {folder} NEW... OLD..."
        )
    if lines:
        raise UserError("\n".join(lines))
