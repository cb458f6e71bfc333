"""Play events: prepare, run, resume, add bots, compare, merge shards, forecast; play one match."""

import os
import signal
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from arena.api.paths import PathName, bot_path, bot_paths, folder_paths
from arena.api.threads import call, call_async, in_loop
from arena.engine.in_process import Policy
from arena.event import single_match
from arena.event.add_bots import Newcomers, forecast_epoch, run_into
from arena.event.compare import Comparison, compare_bots
from arena.event.merge import merge_shards
from arena.event.options import EventOptions, MatchOptions, RunOptions, TrialOptions, TuneOptions
from arena.event.prepare import Entry, Forecast, Prepared, forecast_event, open_event, prepare_event
from arena.event.progress import Outcome, Progress
from arena.event.resume import resume_event
from arena.event.resume import run_prepared as run_prepared_folder
from arena.event.session import AT_ONCE, Session, play
from arena.event.single_match import SingleMatch, Watch
from arena.event.tune import TuneEntry, Tuning, events_of, tune_bot
from arena.event.tune import is_tuning as holds_tuning
from arena.event.tune import resume_tuning as continue_tuning
from arena.live import open_page
from arena.machine import Notify, ignore_notes
from arena.model import Event, UserError
from arena.store import await_writer, read_event, writer

T = TypeVar("T")

_ANY_EVENT = EventOptions()
_ANY_RUN = RunOptions()
_ANY_TRIAL = TrialOptions()
_ANY_TUNE = TuneOptions()
_ANY_MATCH = MatchOptions()


def run(
    bots: Sequence[PathName] | PathName,
    out: PathName | None = None,
    *,
    event: EventOptions = _ANY_EVENT,
    options: RunOptions = _ANY_RUN,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Play an event between bots into a new folder; None: one of its own in `arena-results`.
    `skip_broken`: go on without the bots that can't take part.
    """
    act = partial(_run, Entry(bot_paths(bots), event, _path(out), skip_broken))
    return _blocking(act, options, progress)


async def run_async(
    bots: Sequence[PathName] | PathName,
    out: PathName | None = None,
    *,
    event: EventOptions = _ANY_EVENT,
    options: RunOptions = _ANY_RUN,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """The same for trio and asyncio. Cancellation stops the event at once; it can be resumed."""
    following = progress or Progress()
    act = partial(_run, Entry(bot_paths(bots), event, _path(out), skip_broken))
    return await call_async(lambda: _with_session(act, options, following), following)


def _run(entry: Entry, session: Session) -> Outcome:
    with open_event(entry, session) as begun:
        return play(*begun, session)


def dry_run(
    bots: Sequence[PathName] | PathName,
    *,
    into: PathName | None = None,
    out: PathName | None = None,
    retire: bool = False,
    event: EventOptions = _ANY_EVENT,
    options: RunOptions = _ANY_RUN,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> Forecast:
    """Find out what `run`, or `add_bots` to `into`, would play, and how long it takes."""

    def act(session: Session) -> Forecast:
        if into is not None:
            newcomers = Newcomers(bot_paths(bots), event.seed, skip_broken, retire)
            return forecast_epoch(Path(into), newcomers, session)
        return forecast_event(Entry(bot_paths(bots), event, _path(out), skip_broken), session)

    return _blocking(act, options, progress)


def prepare(
    bots: Sequence[PathName] | PathName,
    out: PathName,
    *,
    event: EventOptions = _ANY_EVENT,
    options: RunOptions = _ANY_RUN,
    skip_broken: bool = False,
    beacon_from: str | None = None,
    progress: Progress | None = None,
) -> Prepared:
    """Write secret, commitment and bots of an event into a folder that `run_prepared` plays.
    `beacon_from`: where a public value will come from on which the deals depend, too.
    """
    entry = Entry(bot_paths(bots), event, Path(out), skip_broken)
    act = partial(prepare_event, entry, Path(out), beacon_from)
    return _blocking(act, options, progress)


def run_prepared(
    folder: PathName,
    *,
    beacon: str | None = None,
    shard: str | None = None,
    options: RunOptions = _ANY_RUN,
    progress: Progress | None = None,
) -> Outcome:
    """Play a prepared event, or one shard of it ("2/5")."""
    act = partial(run_prepared_folder, Path(folder), beacon=beacon, shard=shard)
    return _blocking(act, options, progress)


def resume(
    folder: PathName,
    *,
    repair: bool = False,
    beacon: str | None = None,
    options: RunOptions = _ANY_RUN,
    progress: Progress | None = None,
) -> Outcome:
    """Play what an unfinished event lacks. `repair`: damaged lines are played again."""
    act = partial(resume_event, Path(folder), repair=repair, beacon=beacon)
    return _blocking(act, options, progress)


def add_bots(
    folder: PathName,
    bots: Sequence[PathName] | PathName,
    *,
    seed: str | None = None,
    skip_broken: bool = False,
    retire: bool = False,
    options: RunOptions = _ANY_RUN,
    progress: Progress | None = None,
) -> Outcome:
    """Add bots to a finished event: they meet all its bots and each other, in an epoch of it.
    `retire`: but for former versions of them, which play no more.
    """
    act = partial(run_into, Path(folder), Newcomers(bot_paths(bots), seed, skip_broken, retire))
    return _blocking(act, options, progress)


def compare(
    old: PathName,
    new: PathName,
    out: PathName | None = None,
    *,
    trial: TrialOptions = _ANY_TRIAL,
    event: EventOptions = _ANY_EVENT,
    options: RunOptions = _ANY_RUN,
    progress: Progress | None = None,
) -> Comparison:
    """Play `new` against `old` until it is known whether `new` is better."""
    act = partial(compare_bots, [bot_path(old), bot_path(new)], event, trial, _path(out))
    return _blocking(act, options, progress)


def tune(
    bot: PathName,
    out: PathName | None = None,
    *,
    against: Sequence[PathName] | PathName = (),
    search: TuneOptions = _ANY_TUNE,
    trial: TrialOptions = _ANY_TRIAL,
    event: EventOptions = _ANY_EVENT,
    options: RunOptions = _ANY_RUN,
    progress: Progress | None = None,
) -> Tuning:
    """Search the parameters of a bot for a better setting, and compare that with the bot."""
    entry = TuneEntry(bot_path(bot), bot_paths(against), event, search, trial)
    return _blocking(partial(tune_bot, entry, _path(out)), options, progress)


def resume_tuning(
    folder: PathName,
    *,
    repair: bool = False,
    options: RunOptions = _ANY_RUN,
    progress: Progress | None = None,
) -> Tuning:
    """Play what an unfinished tuning lacks; of a finished one, its result again."""
    act = partial(continue_tuning, Path(folder), repair=repair)
    return _blocking(act, options, progress)


def is_tuning(folder: PathName) -> bool:
    """Whether a folder holds the events of a tuning."""
    return holds_tuning(Path(folder))


def tuning_events(folder: PathName) -> list[Path]:
    """The events of a tuning that have begun, in their order; UserError if the settings of one
    don't follow from those before it.
    """
    return events_of(Path(folder))


def stop(folder: PathName, *, at_once: bool = False) -> Event:
    """Stop the event that another process is playing into a folder, and wait until it has stopped.
    `at_once`: don't wait for the series in play. Returns the event as it is then.
    """
    path = Path(folder)
    pid = writer(path)
    if not pid:
        read_event(path)  # it says so if there is no event
        raise UserError(f"{path}: no arena is playing there")
    try:
        # Two SIGTERMs in a row could arrive as one; "at once" has a signal of its own.
        os.kill(pid, AT_ONCE if at_once else signal.SIGTERM)
    except ProcessLookupError:
        pass  # it has just left
    except PermissionError:
        raise UserError(f"{path}: process {pid}, which plays there, is not yours") from None
    await_writer(path)
    return read_event(path)


def play_match(
    bots: Sequence[PathName | Policy],
    options: MatchOptions = _ANY_MATCH,
    *,
    sandbox: str = "auto",
    talk: PathName | None = None,
    watch: Watch | None = None,
    notify: Notify = ignore_notes,
) -> SingleMatch:
    """Play one match, the first bot in seat 0. A bot is a path, or a function of a view and the
    legal moves; functions alone start no process. `talk`: a folder for every line said.
    """
    seats = [bot if callable(bot) else bot_path(bot) for bot in bots]
    act = partial(single_match.play_match, seats, options, notify)
    return call(partial(act, sandbox=sandbox, talk=_path(talk), watch=watch))


def merge(shards: Sequence[PathName] | PathName, out: PathName) -> Outcome:
    """Put the shards of an event together in a new folder, and conclude the event."""
    return merge_shards(folder_paths(shards), Path(out))


def _blocking(act: Callable[[Session], T], options: RunOptions, progress: Progress | None) -> T:
    following = progress or Progress()
    if not in_loop():
        return _with_session(act, options, following)
    return call(lambda: _with_session(act, options, following), following)


def _with_session(act: Callable[[Session], T], options: RunOptions, progress: Progress) -> T:
    with open_page(options.live) as page:
        return act(Session(options, progress, page))


def _path(name: PathName | None) -> Path | None:
    return None if name is None else Path(name)
