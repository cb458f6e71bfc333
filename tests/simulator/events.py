"""Events that are simulated: a scenario for each number, played by the product's own commands.

A scenario is played to its end however often it is struck: as a person would, by the command that
begins it, and from then on by the one that goes on.
"""

import functools
import itertools
from dataclasses import dataclass
from pathlib import Path

from arena.event.add_bots import run_into
from arena.event.compare import compare_bots
from arena.event.epochs import next_epoch
from arena.event.merge import merge_shards
from arena.event.options import ClusterOptions, EventOptions, RunOptions, TrialOptions
from arena.event.prepare import Entry, open_event, prepare_event
from arena.event.progress import Outcome, Progress
from arena.event.results import table_of
from arena.event.resume import resume_event, run_prepared
from arena.event.session import Session, play
from arena.model import HostError, UserError
from arena.store import (
    DamagedError,
    is_results_folder,
    read_event,
    read_private,
    read_records,
    records_of_match,
)
from tests.simulator.loop import KilledError

SHARDS = 3
FIELD = ("ann", "bad", "cid", "loud", "eve", "bad-2", "gil", "hal")
NEWCOMER = "new"
PLANS = {
    "pairs": {"bots": 5, "deals": 10, "series": 5},
    "tables": {"bots": 5, "deals": 4, "series": 4, "seats": 3},
    "four cards": {"bots": 4, "game": "four-card-golf", "deals": 12, "series": 6},
    "gauntlet": {"bots": 6, "deals": 10, "series": 5, "gauntlet": ("ann", "bad")},
    "race": {"bots": 4, "deals": 8, "series": 4, "until_resolved": True, "budget": 260},
    "trial": {"bots": 2},
    "long": {"bots": 4, "deals": 60, "series": 25},
    "single": {"bots": 4, "deals": 6, "series": 1},
    "small": {"bots": ("ann", "cid"), "deals": 4, "series": 2},
}
KINDS = {
    "plain": ("pairs", "tables", "four cards", "gauntlet", "race", "trial", "long", "single"),
    "shards": ("pairs", "tables"),
    "prepared": ("pairs",),
    "epoch": ("pairs", "four cards"),
}


@dataclass(frozen=True)
class Scenario:
    kind: str
    """plain, prepared, shards (prepared, played in parts, merged), or epoch (a bot is added)."""
    plan: str
    cluster: bool = False

    def __str__(self) -> str:
        return f"{self.kind}, {self.plan}, {'on a cluster' if self.cluster else 'here'}"


SCENARIOS = tuple(
    itertools.chain.from_iterable(
        (Scenario(kind, plan), Scenario(kind, plan), Scenario(kind, plan, cluster=True))
        for kind, plans in KINDS.items()
        for plan in plans
    )
)


def scenario(number: int) -> Scenario:
    return SCENARIOS[number % len(SCENARIOS)]


class _Progress(Progress):
    def __init__(self, world) -> None:
        super().__init__()
        self._world = world

    def tick(self) -> None:
        self._world.count("tick")

    def end(self) -> None:
        self._world.closing = True


class Played:
    """A scenario on its way through a world."""

    def __init__(self, world, scenario: Scenario) -> None:
        self._world = world
        self._scenario = scenario
        self._folder = self._now = world.disk.root / "event"
        world.player = self
        world.repairable = scenario.kind in {"plain", "prepared"}
        self._jobs = world.random.choice((1, 2, 2, 3, 4))
        plan = dict(PLANS[scenario.plan])
        bots = plan.pop("bots")
        names = FIELD[:bots] if isinstance(bots, int) else bots
        self._bots = [Path(name) for name in names]
        self._options = EventOptions(luck=False, seed="simulated", **plan)
        self.folders = []
        """Of events that are finished, in which nothing may be missing."""

    def play(self) -> bool:
        """All of it; whether it came to its end."""
        if self._scenario.kind in {"shards", "prepared"}:
            return self._prepared()
        begin = self._trial if self._scenario.plan == "trial" else self._begin
        if not self._play(self._folder, begin):
            return False
        if self._scenario.kind != "epoch":
            return True
        epoch = next_epoch(self._folder)
        return self._play(epoch, self._into)

    def _session(self) -> Session:
        place = ClusterOptions(place="tcp://127.0.0.1:8786") if self._scenario.cluster else None
        options = RunOptions(jobs=self._jobs, cluster=place, max_seconds=self._world.max_seconds)
        return Session(options, _Progress(self._world))

    def _begin(self) -> Outcome:
        session = self._session()
        with open_event(self._entry(self._folder), session) as event:
            return play(*event, session)

    def _entry(self, folder: Path) -> Entry:
        return Entry(self._bots, self._options, folder, skip_broken=False)

    def _trial(self) -> Outcome:
        trial = TrialOptions(budget=240, effect=4.0)
        options = EventOptions(luck=False, seed="simulated")
        return compare_bots(self._bots, options, trial, self._folder, self._session()).outcome

    def _into(self) -> Outcome:
        return run_into(self._folder, [Path(NEWCOMER)], self._session(), seed="epoch")

    def _prepared(self) -> bool:
        def prepare() -> Outcome:
            prepare_event(self._entry(first), first, None, self._session())
            return Outcome(folder=first, event=read_event(first), complete=True)

        if self._scenario.kind == "prepared":
            first = self._folder
            if not self._to_the_end(first, prepare, over=is_results_folder):
                return False
            return self._play(first, lambda: run_prepared(first, self._session()))
        parts = [self._folder.with_name(f"part-{number}") for number in range(1, SHARDS + 1)]
        first = parts[0]
        if not self._to_the_end(first, prepare, over=is_results_folder):
            return False
        for part in parts[1:]:
            self._world.disk.copy(first, part)
        for number, part in enumerate(parts, 1):
            begin = functools.partial(self._run_shard, part, f"{number}/{SHARDS}")
            if not self._to_the_end(part, begin, over=lambda _: False):
                return False
        self.folders.append(self._folder)
        return self._to_the_end(
            self._folder, lambda: merge_shards(parts, self._folder), over=_over, again=True
        )

    def _run_shard(self, part: Path, number: str) -> Outcome:
        return run_prepared(part, self._session(), shard=number)

    def _play(self, folder: Path, begin) -> bool:
        self.folders.append(folder)
        return self._to_the_end(folder, begin, over=_over)

    def _to_the_end(self, folder: Path, begin, *, over, again=False) -> bool:
        """Begin an event, and go on with it until it is over. `again`: by the same command."""
        world = self._world
        self._now = folder
        repair = False
        for _ in range(2 * len(world.faults.left) + 8):
            trouble = world.faults.trouble
            if again or not _begun(folder):
                command = begin
            else:
                command = functools.partial(self._resume, folder, repair=repair)
            found = world.live(command)
            world.restore()
            trouble = world.faults.trouble - trouble
            repair = isinstance(found, DamagedError)
            if isinstance(found, Outcome):
                if found.complete:
                    return True
                self._judge_stop(found, trouble)
            elif not isinstance(found, KilledError):
                self._judge(found, trouble)
            if not world.violations and self._is(over, folder):
                return True
            if world.violations:
                return False
        world.broken("it never ends")
        return False

    def look(self, what: str) -> None:
        """Somebody reads the event that is played."""
        folder = self._now
        if not is_results_folder(folder) or not read_event(folder).sandbox:
            return
        if what == "table":
            table_of(folder)
        elif records := list(read_records(folder)):
            last = records[-1]
            found = records_of_match(folder, last.id)
            if last not in found or {record.id for record in found} != {last.id}:
                self._world.broken(f"the index doesn't lead to {last.id} while the event is played")

    def intrude(self, how: str) -> None:
        """Somebody gives a command that has to be refused, and must change nothing."""
        folder = self._now
        if not _begun(folder) or read_event(folder).finished:
            return
        before = self._content(folder)
        try:
            if how == "begin":
                with open_event(self._entry(folder), self._session()):
                    pass
            elif how == "add":
                run_into(folder, [Path(NEWCOMER)], self._session(), seed="epoch")
            else:
                {"resume": resume_event, "run": run_prepared}[how](folder, self._session())
        except UserError:
            if before != self._content(folder):
                self._world.broken(f"{how}: refused, but something has changed")
            return
        self._world.broken(f"{how}: not refused in the midst of an event")

    def _content(self, folder: Path) -> dict:
        """What a command that is refused must not change; nothing while the event is played."""
        if self._world.loop.nursery is not None:
            return {}
        return {path: path.read_bytes() for path in folder.rglob("*.*")}

    def _is(self, over, folder: Path) -> bool:
        try:
            return over(folder)
        except UserError as error:
            self._world.broken(f"what is left can't be read: {error}")
            return False

    def _judge_stop(self, outcome: Outcome, trouble: int) -> None:
        if not outcome.resume:
            self._world.broken("play stopped, and no command goes on")
        if not trouble:
            self._world.broken("play stopped, and nothing had struck")

    def _resume(self, folder: Path, *, repair: bool) -> Outcome:
        return resume_event(folder, self._session(), repair=repair)

    def _judge(self, error: BaseException, trouble: int) -> None:
        world = self._world
        while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
            (error,) = error.exceptions
        expected = isinstance(error, HostError | UserError)
        if not expected or (isinstance(error, DamagedError) and not world.rotten):
            world.broken(f"{type(error).__name__}: {error}")
        elif not trouble and not world.rotten:
            world.broken(f"nothing has struck: {error}")


def _begun(folder: Path) -> bool:
    return is_results_folder(folder) and bool(read_event(folder).sandbox)


def _over(folder: Path) -> bool:
    return (
        is_results_folder(folder) and read_event(folder).finished and read_private(folder) is None
    )
