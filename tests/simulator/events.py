"""Events that are simulated: a scenario for each number, played by the product's own commands.

A scenario is played to its end however often it is struck: as a person would, by the command that
begins it, and from then on by the one that goes on.
"""

import functools
import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from arena.deals import commitment
from arena.event.add_bots import Newcomers, run_into
from arena.event.compare import compare_bots
from arena.event.epochs import next_epoch
from arena.event.merge import merge_shards
from arena.event.options import ClusterOptions, EventOptions, RunOptions, TrialOptions
from arena.event.prepare import Entry, open_event, prepare_event
from arena.event.progress import Outcome, Progress
from arena.event.resume import resume_event, run_prepared
from arena.event.session import Session, play
from arena.model import STATED, Event, HostError, UserError, canonical
from arena.store import DamagedError, is_results_folder, read_event, read_private, secret_of
from arena.store.folder import write_atomically, write_event
from tests.simulator import looks, tunings, wrong
from tests.simulator.cluster import ADDRESS
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
    "trial of a name": {"bots": ("ann", "other/ann")},
    "lame": {
        "bots": ("ann", "cid", "hungry", "unbuilt", "unstarted", "optional", "gone"),
        "deals": 6,
        "series": 3,
        "skip": True,
    },
    "unseeded": {"bots": 4, "deals": 6, "series": 3, "seed": None},
    "few tables": {"bots": 5, "deals": 4, "series": 4, "seats": 3, "tables": 5},
    "many pairs": {"bots": 5, "deals": 140, "series": 25},
    "many tables": {"bots": 5, "deals": 60, "series": 25, "seats": 3},
    "long race": {"bots": 4, "deals": 50, "series": 25, "until_resolved": True, "budget": 2_400},
    **{name: {"bots": 4, "tuned": tuned} for name, tuned in tunings.PLANS.items()},
}
KINDS = {
    "plain": ("pairs", "tables", "four cards", "gauntlet", "race", "trial", "long", "single"),
    "shards": ("pairs", "tables"),
    "prepared": ("pairs",),
    "epoch": ("pairs", "four cards"),
}
LATER_KINDS = {
    "plain": ("trial of a name", "lame", "few tables", "unseeded"),
    "beacon": ("small",),
    "older": ("pairs", "race"),
    "tuning": tuple(tunings.PLANS),
}
"""Kinds and plans that came later: every fifth seed plays one of these."""
SHARE_LATER = 5
LARGE_KINDS = {
    "plain": ("many pairs", "many tables", "long race"),
    "shards": ("many pairs",),
    "epoch": ("many pairs",),
}
"""Events of some two thousand matches: one in 20 of the later seeds plays one of these."""
SHARE_LARGE, _LARGE, FIRST_LARGE = 20, 7, 1_000
"""No seed of a planted defect is among these, nor any that quick tests play."""
PLACES = (f"tcp://{ADDRESS}", ADDRESS, "file", f"tls://{ADDRESS}", "local:2")
"""Where a cluster is: an address, a scheduler's file, or this machine."""


@dataclass(frozen=True)
class Scenario:
    kind: str
    """plain, prepared, beacon (prepared, its deals wait for a public value), shards (prepared,
    played in parts, merged), epoch (a bot is added), older (prepared by an arena of the first
    rule, played by this one; a bot is added), or tuning (a bot's parameters, in several events)."""
    plan: str
    cluster: bool = False

    @property
    def large(self) -> bool:
        return self.plan in LARGE_KINDS.get(self.kind, ())

    def __str__(self) -> str:
        return f"{self.kind}, {self.plan}, {'on a cluster' if self.cluster else 'here'}"


def _scenarios(kinds) -> tuple[Scenario, ...]:
    each = ((kind, plan) for kind, plans in kinds.items() for plan in plans)
    return tuple(
        itertools.chain.from_iterable(
            (Scenario(*one), Scenario(*one), Scenario(*one, cluster=True)) for one in each
        )
    )


SCENARIOS, LATER, LARGE = map(_scenarios, (KINDS, LATER_KINDS, LARGE_KINDS))


def scenario(number: int) -> Scenario:
    if number >= FIRST_LARGE and number % SHARE_LARGE == _LARGE:
        return LARGE[number // SHARE_LARGE % len(LARGE)]
    turn, later = divmod(number, SHARE_LATER)
    if later == SHARE_LATER - 1:
        return LATER[turn % len(LATER)]
    return SCENARIOS[number % len(SCENARIOS)]


class Page:
    """Live pages of an event, which note when they were called."""

    url = "http://127.0.0.1:1/"

    def __init__(self, world) -> None:
        self._world, self._calls = world, []

    def join(self, watcher, event, folder, secret):
        del event, folder, secret
        self._called("join")
        return watcher

    async def serve(self, tournament, progress, nursery) -> None:
        del tournament, progress, nursery
        self._called("serve")

    async def finish(self, tournament) -> None:
        del tournament
        self._called("finish")

    def stay(self, tournament, progress, event) -> None:
        del progress
        self._called("stay")
        if tournament.left or (not event.finished and not event.shard):
            self._world.broken("the page stays, and the event isn't over")

    def _called(self, what: str) -> None:
        self._calls.append(what)
        if self._calls != ["join", "serve", "finish", "stay"][: len(self._calls)]:
            self._world.broken(f"the page was called: {', '.join(self._calls)}")


class _Progress(Progress):
    def __init__(self, world) -> None:
        super().__init__()
        self._world = world

        self.warned = ""

    def warn(self, text: str) -> None:
        self.warned = text

    def tick(self) -> None:
        self._world.count("tick")

    def end(self) -> None:
        self._world.closing = True


class Played:
    """A scenario on its way through a world."""

    def __init__(self, world, scenario: Scenario) -> None:
        self.world = world
        self._scenario = scenario
        self._folder = self._now = world.disk.root / "event"
        self.draw = random.Random(f"others {world.seed}")
        self.progress = None
        self.parts = []
        self.merged = False
        self.mends = False
        """Whether the log has rotted when the event was over."""
        world.player = self
        world.repairable = scenario.kind in {"plain", "prepared", "beacon", "tuning"}
        self._jobs = world.random.choice((1, 2, 2, 3, 4))
        plan = dict(PLANS[scenario.plan])
        bots = plan.pop("bots")
        names = FIELD[:bots] if isinstance(bots, int) else bots
        self._bots = [Path(name) for name in names]
        self.tuned = plan.pop("tuned", None)
        self.answer = None
        """What a tuning has found."""
        self._skip = world.skips_broken = plan.pop("skip", False)
        self._options = EventOptions(luck=False, **{"seed": "simulated", **plan})
        self.folders = []
        """Of events that are finished, in which nothing may be missing."""

    def play(self) -> bool:
        """All of it; whether it came to its end."""
        done = self._play_all()
        if done:
            while self.world.faults.waits_for("over"):
                self.world.count("over")
        if done and self.mends:
            repair = self._tune if self.tuned else self._resume
            done = self._to_the_end(
                self._folder, lambda: repair(repair=True), over=_never, again=True
            )
        return done and not self.world.violations

    def _play_all(self) -> bool:
        kind = self._scenario.kind
        if self.tuned:
            done = self._to_the_end(self._folder, self._tune, over=_never, again=True)
            self.folders = tunings.events_of(self._folder) if done else []
            return done
        if kind in {"shards", "prepared", "beacon", "older"}:
            done = self._prepared()
        else:
            begin = self._trial if self._scenario.plan.startswith("trial") else self._begin
            done = self._play(self._folder, begin)
        grows = kind == "epoch" or (kind == "older" and self._scenario.plan == "pairs")
        if not done or not grows:
            return done
        epoch = next_epoch(self._folder)
        done = self._play(epoch, self._into)
        self._now = self._folder
        return done

    def session(self) -> Session:
        """For a command of another person."""
        return Session(RunOptions(jobs=2), Progress())

    def _session(self) -> Session:
        world = self.world
        asks = world.asks
        sandbox = "bwrap" if "sandbox" in asks else None
        options = RunOptions(
            jobs=None if "no jobs" in asks else self._jobs,
            cluster=self._place() if self._scenario.cluster else None,
            max_seconds=world.max_seconds,
            pin="no pin" not in asks,
            sandbox="landlock" if "another sandbox" in asks else sandbox,
        )
        self.progress = _Progress(world)
        return Session(options, self.progress, Page(world) if "page" in asks else None)

    def _place(self) -> ClusterOptions:
        world = self.world
        place = PLACES[world.seed % len(PLACES)]
        if place == "file":
            path = world.disk.root / "scheduler.json"
            path.write_text(f'{{"address": "tcp://{ADDRESS}"}}')
            place = str(path)
        if not place.startswith("tls"):
            return ClusterOptions(place=place)
        files = [world.disk.root / name for name in ("ca.pem", "own.pem")]
        for path in files:
            path.write_text("certificate")
        return ClusterOptions(place=place, tls_ca=files[0], tls_cert=files[1])

    def _begin(self) -> Outcome:
        session = self._session()
        with open_event(self.entry(self._folder), session) as event:
            return play(*event, session)

    def entry(self, folder: Path) -> Entry:
        return Entry(self._bots, self._options, folder, skip_broken=self._skip)

    def _trial(self) -> Outcome:
        trial = TrialOptions(budget=240, effect=4.0)
        options = EventOptions(luck=False, seed="simulated")
        found = compare_bots(self._bots, options, trial, self._folder, self._session())
        if (found.verdict is None) == found.outcome.complete or found.old == found.new:
            self.world.broken(f"a comparison of {found.old.id} has no verdict")
        return found.outcome

    def _tune(self, *, repair: bool = False) -> Outcome:
        session = self._session()
        found = tunings.go_on(self.tuned, self._folder, session, repair=repair or self._repair)
        self.answer = tunings.answer_of(found)
        return tunings.outcome_of(found, self.world)

    def _into(self) -> Outcome:
        return run_into(self._folder, Newcomers([Path(NEWCOMER)], "epoch"), self._session())

    def _prepared(self) -> bool:
        kind, beacon = self._scenario.kind, None
        source = "drand round 7" if kind == "beacon" else None
        first = self._folder.with_name("part-1") if kind == "shards" else self._folder

        def prepare() -> Outcome:
            prepare_event(self.entry(first), first, source, self._session())
            return Outcome(folder=first, event=read_event(first), complete=True)

        if not self._to_the_end(first, prepare, over=is_results_folder):
            return False
        if kind == "older":
            _make_older(first)
        if kind != "shards":
            beacon = "4711" if source else None
            return self._play(first, lambda: run_prepared(first, self._session(), beacon=beacon))
        self.parts = [first.with_name(f"part-{number}") for number in range(1, SHARDS + 1)]
        for part in self.parts[1:]:
            self.world.disk.copy(first, part)
        for number, part in enumerate(self.parts, 1):
            begin = functools.partial(self._run_shard, part, f"{number}/{SHARDS}")
            if not self._to_the_end(part, begin, over=_never):
                return False
        self.folders.append(self._folder)
        self.merged = self._to_the_end(
            self._folder, lambda: merge_shards(self.parts, self._folder), over=_over, again=True
        )
        return self.merged

    def _run_shard(self, part: Path, number: str) -> Outcome:
        return run_prepared(part, self._session(), shard=number)

    def _play(self, folder: Path, begin) -> bool:
        self.folders.append(folder)
        return self._to_the_end(folder, begin, over=_over)

    def _to_the_end(self, folder: Path, begin, *, over, again=False) -> bool:
        """Begin an event, and go on with it until it is over. `again`: by the same command."""
        world = self.world
        self._now = folder
        self._repair = False
        for _ in range(2 * len(world.faults.left) + 8):
            trouble = world.faults.trouble
            command = begin if again or not _begun(folder) else self._resume
            found = world.live(command)
            world.restore()
            trouble = world.faults.trouble - trouble
            self._repair = isinstance(found, UserError) and "resume --repair" in str(found)
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

    @property
    def whole(self) -> Path:
        """The folder of a tuning."""
        return self._folder

    @property
    def now(self) -> Path:
        """The folder of the event that is played."""
        return tunings.begun(self._now) if self.tuned else self._now

    @property
    def computed(self) -> bool:
        return self.world.computed

    @property
    def busy(self) -> bool:
        """Whether a command runs."""
        return self.world.loop.nursery is not None

    @contextmanager
    def fresh(self) -> Iterator[Path]:
        """A folder that isn't there yet, for another event."""
        path = self.world.disk.root / "fresh"
        try:
            yield path
        finally:
            self.world.disk.forget(path)

    def lose_bots(self, *names: str) -> None:
        self.world.lost_bots = names

    def found_bots(self) -> None:
        self.world.lost_bots = ()

    def event_of(self, folder: Path) -> Event | None:
        if not is_results_folder(folder):
            return None
        try:
            return read_event(folder)
        except UserError:  # rotten
            return None

    def may_add(self, folder: Path) -> bool:
        return not self.merged and read_private(folder) is None and not self.world.rotten

    def one_bot(self, folder: Path) -> str:
        return read_event(folder).entrants[0].id

    def look(self, how: str) -> None:
        """Another command reads the event that is played."""
        if tunings.is_tuning(self._folder) and (what := tunings.look(self._folder)):
            self.world.broken(what)
        folder = self.now
        if not is_results_folder(folder) or not read_event(folder).sandbox:
            return
        if not read_event(folder).shard:
            for what in looks.look(self, how, folder):
                self.world.broken(f"{how}: {what}")

    def wrong(self, how: str) -> None:
        """Another command meets a copy of the event, and has to be refused."""
        if self.busy or self.world.rotten:
            return
        if what := wrong.refuse(self, how, self.now):
            self.world.broken(what)

    def intrude(self, how: str) -> None:
        """Another command meets the event itself, has to be refused, and must change nothing."""
        folder = self.now
        if not _begun(folder) or read_event(folder).finished:
            return
        before = self._content(folder)
        try:
            if how == "begin" and self.tuned:
                tunings.tune_bot(self.tuned.entry(), self._folder, self._session())
            elif how == "begin":
                with open_event(self.entry(folder), self._session()):
                    pass
            elif how == "add":
                run_into(folder, Newcomers([Path(NEWCOMER)], "epoch"), self._session())
            else:
                {"resume": resume_event, "run": run_prepared}[how](folder, self._session())
        except UserError:
            if before != self._content(folder):
                self.world.broken(f"{how}: refused, but something has changed")
            return
        self.world.broken(f"{how}: not refused in the midst of an event")

    def _content(self, folder: Path) -> dict:
        """What a command that is refused must not change; nothing while the event is played."""
        if self.world.loop.nursery is not None:
            return {}
        return {path: path.read_bytes() for path in folder.rglob("*.*")}

    def _is(self, over, folder: Path) -> bool:
        try:
            return over(folder)
        except UserError as error:
            self.world.broken(f"what is left can't be read: {error}")
            return False

    def _judge_stop(self, outcome: Outcome, trouble: int) -> None:
        if not outcome.resume:
            self.world.broken("play stopped, and no command goes on")
        if not trouble:
            self.world.broken("play stopped, and nothing had struck")

    def _resume(self, *, repair: bool = False) -> Outcome:
        return resume_event(self._now, self._session(), repair=repair or self._repair)

    def _judge(self, error: BaseException, trouble: int) -> None:
        world = self.world
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            (error,) = error.exceptions
        tuned = self.tuned and isinstance(error, KeyboardInterrupt)
        if tuned and not self.progress.warned.endswith(f"arena resume {self._folder}"):
            world.broken(f"Ctrl-C, and no command goes on: {self.progress.warned}")
        expected = isinstance(error, HostError | UserError | KeyboardInterrupt)
        if not expected or (isinstance(error, DamagedError) and not world.rotten):
            world.broken(f"{type(error).__name__}: {error}")
        elif not trouble and not world.rotten:
            world.broken(f"nothing has struck: {error}")


def _never(_: Path) -> bool:
    return False


def _begun(folder: Path) -> bool:
    return is_results_folder(folder) and bool(read_event(folder).sandbox)


def _over(folder: Path) -> bool:
    return (
        is_results_folder(folder) and read_event(folder).finished and read_private(folder) is None
    )


def _make_older(folder: Path) -> None:
    """A prepared event as an arena of the first rule has written it."""
    event, private = read_event(folder), read_private(folder)
    if event.settings.derivation is UNSET:
        return
    no_rule = dict.fromkeys((*STATED, "predictable"), UNSET)
    settings = replace(event.settings, **no_rule)
    secret = secret_of(folder, event)
    older = replace(
        event, settings=settings, commitment=commitment(secret, settings, event.entrants)
    )
    write_event(folder, older)
    private = replace(private, entered=older)
    write_atomically(folder / "private.json", canonical(private), mode=0o600)
