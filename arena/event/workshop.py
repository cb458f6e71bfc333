"""Make bots ready for an event: find a sandbox that works, build the bots, start each one once.

The problems of all bots are raised together, as one UserError or StartError.
"""

import os
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from itertools import product
from pathlib import Path

import trio
from msgspec.structs import replace

from arena import registry
from arena.bots import Candidate, Problem, Roster, build, default_cache, load, printable
from arena.bots.starts import has_started, note_start, start_key
from arena.check.diagnosis import diagnose_start
from arena.deals import Deals
from arena.engine.match import FailedStart, MatchContext, try_start
from arena.engine.pipes import open_pipes
from arena.event.commands import check_line, command_line
from arena.executors.cores import fair_jobs
from arena.exhaustion import ran_out_in
from arena.machine import Notify
from arena.machine.preflight import SETTINGS, judged, keep_promises
from arena.model import (
    Bot,
    Entrant,
    HostError,
    Limits,
    NotRun,
    Settings,
    StartError,
    UserError,
    canonical,
)
from arena.referee import hello
from arena.sandbox import Backend, wheel
from arena.sandbox.client import Spawner
from arena.sandbox.host_problems import OTHER, of_backend
from arena.sandbox.visible import public_folder_of
from arena.scaffolds import is_example

ALONE_S = 0.15  # a few quick bots are started sooner by one spawner than another takes to start
QUIET_S = 2.0  # what takes longer than this is worth a line
WIDTH = 68  # of advice in an error, so that with its margin it fits 80 columns
SKIP = "mend what can't take part, or go on without: --skip-broken"
_ASKED = (
    ("memory_mb", "MB of memory (--memory)"),
    ("tasks", "tasks (--tasks)"),
    ("start_ms", "ms to start (--start-time)"),
    ("scratch_mb", "MB of scratch space (--scratch)"),
)
"""What a bot may ask for in its manifest, and the limit on it, by one name."""


def with_heroes(settings: Settings, named: Sequence[str], bots: Sequence[Bot]) -> Settings:
    """The settings of a gauntlet that the bots named so run: by path, name or name@version."""
    heroes = []
    for name in named:
        path = Path(name).absolute()
        found = [
            bot.entrant.id
            for bot in bots
            if name in {bot.entrant.id, bot.entrant.name} or path == Path(bot.source).absolute()
        ]
        if len(found) != 1:
            known = sorted({bot.entrant.name for bot in bots})
            near = get_close_matches(name, known, n=3) or known[:3]
            what = f"none of the bots is called so; there are {', '.join(map(printable, near))}"
            if found:
                what = "several of the bots are called so; name its path"
            raise UserError(f"--gauntlet {printable(name)}: {what}")
        heroes += found
    return replace(settings, heroes=tuple(sorted(set(heroes))))


def join_rosters(rosters: Iterable[Roster], candidates: Iterable[Candidate]) -> Roster:
    """One roster of these candidates, with all that was found beside them."""
    found = list(rosters)
    return Roster(
        candidates=tuple(candidates),
        notes=tuple(dict.fromkeys(note for each in found for note in each.notes)),
        problems=tuple(dict.fromkeys(problem for each in found for problem in each.problems)),
        skipped=tuple(dict.fromkeys(out for each in found for out in each.skipped)),
    )


def seat_bots(
    paths: Sequence[Path],
    cache: Path,
    renamed: Callable[[Entrant, int], Entrant],
    others: Iterable[Entrant] = (),
) -> Roster:
    """The bots of one match by seat; who comes twice is `renamed` by the number of appearance."""
    rosters = {path: load([path], cache=cache) for path in dict.fromkeys(paths)}
    appearances = Counter(entrant.id for entrant in others)
    unique = []
    for candidate in (each for path in paths for each in rosters[path].candidates):
        entrant = candidate.entrant
        appearances[entrant.id] += 1
        if (number := appearances[entrant.id]) > 1:
            entrant = renamed(entrant, number)
        unique.append(replace(candidate, entrant=entrant))
    return join_rosters(rosters.values(), unique)


def find_sandbox(wanted: str, notify: Notify, folder: Path | None = None) -> Backend:
    """The backend asked for, or the first that works. `folder`: of results, unseen by bots."""
    if wanted == "none":
        return registry.backend(wanted)
    refuse_shown_places(folder)
    reasons, odd = [], ""
    for name in registry.SANDBOXES if wanted == "auto" else [wanted]:
        if name == "none":
            continue
        backend = registry.backend(name)
        found = backend.probe()
        if found.works:
            if odd:
                notify(f"note: {odd}")
            return backend
        finding = of_backend(name, found.detail)
        if finding.cause == OTHER and (what := ran_out_in(found.detail)):
            raise HostError(f"the sandbox {name} could not be tried: {what}")
        if wheel.UNKNOWN in found.detail:
            odd = found.detail
        reasons += [f"  {name}: {finding.text}", *(f"    {line}" for line in finding.remedy(WIDTH))]
    missing = "no sandbox works" if wanted == "auto" else f"the sandbox {wanted} does not work"
    lines = [
        f"{missing} on this machine:",
        *reasons,
        "all that was tried: arena doctor",
        "to run bots that you trust without any: --sandbox none",
    ]
    raise UserError("\n".join(lines))


def context_of(
    settings: Settings, secret: bytes, bots: Sequence[Bot], backend: Backend
) -> MatchContext:
    return MatchContext(
        settings=settings,
        game=registry.game(settings.game),
        deals=Deals(secret),
        bots={bot.entrant.id: bot for bot in bots},
        backend=backend,
    )


class Workshop:
    """Where bots are made ready: built into the cache, and started once in a sandbox."""

    def __init__(
        self,
        terms: Settings | Limits,
        notify: Notify,
        folder: Path | None = None,
        *,
        sandbox: str | None = None,
        seats: int = 1,
        jobs: int | None = None,
        flags: Collection[str] = (),
        judge: bool = True,
        skip_broken: bool = False,
        way_out: str = SKIP,
    ) -> None:
        """HostError if this machine can't keep what bots are promised. `folder`: of the results."""
        series = 1
        self.limits = terms if isinstance(terms, Limits) else terms.limits
        if isinstance(terms, Settings):
            seats, series = terms.seats, terms.series
        self.room = 1  # matches at a time that have all that their bots are promised
        if judge:
            found = judged(self.limits, seats=seats, series=series, jobs=jobs, flags=flags)
            self.room = keep_promises(found, notify)
        self.cache = default_cache()
        self.notify = notify
        self.folder = folder
        self.way_out = way_out
        self._seats = seats
        self._sandbox = sandbox or "auto"
        self._skip_broken = skip_broken

    @cached_property
    def backend(self) -> Backend:
        return find_sandbox(self._sandbox, self.notify, self.folder)

    def build(self, roster: Roster) -> tuple[list[Bot], tuple[Problem, ...], tuple[NotRun, ...]]:
        """Build what was found: the bots, problems of others, and bots that are left out."""
        limits = self.limits
        if self.backend.name != "none":
            refuse_shown_bots(roster.candidates)
        for note in roster.notes:
            self.notify(f"note: {note}")
        for candidate, (name, what) in product(roster.candidates, _ASKED):
            needs, allowed = getattr(candidate.stated.asked, name), getattr(limits, name)
            if (needs or 0) > allowed:
                who = candidate.entrant.id
                self.notify(f"note: {who} asks for {needs}, gets {allowed} {what}")
        built = build(
            roster.candidates,
            cache=self.cache,
            backend=self.backend,
            spawners=Spawner,
            scratch_mb=limits.scratch_mb,
            results=self.folder,
            report=self.notify,
        )
        skipped = (*roster.skipped, *built.skipped)
        for left_out in skipped:
            self.notify(f"note: {left_out.name} is left out: {left_out.reason}")
        return list(built.bots), (*roster.problems, *built.problems), skipped

    def enter(self, roster: Roster) -> tuple[list[Bot], tuple[NotRun, ...]]:
        """The same; UserError for all problems at once unless such bots are skipped."""
        bots, problems, skipped = self.build(roster)
        if problems and not self._skip_broken:
            raise UserError("\n".join([*map(str, problems), self.way_out]))
        for problem in problems:
            same = Path(problem.path).name == problem.name
            who = problem.path if same else f"{problem.name} ({problem.path})"
            self.notify(f"note: {who} is left out: {problem.lines[0]}")
        return bots, (*skipped, *(problem.not_run for problem in problems))

    def start(self, context: MatchContext) -> tuple[NotRun, ...]:
        """Start every bot once that has not started here lately: those that can't, if they are
        skipped; else StartError says why.
        """
        lines, gone = [], []
        first = canonical(hello(context.settings))
        keys = {
            name: start_key(bot, context.backend.name, first) for name, bot in context.bots.items()
        }
        untried = sorted(name for name in keys if not has_started(self.cache, keys[name]))
        found = trio.run(self._try_starts, context, untried) if untried else {}
        for entrant in set(untried) - found.keys():
            note_start(self.cache, keys[entrant])
        for entrant, failed in sorted(found.items()):
            bot, failure = context.bots[entrant], failed.failure
            status = f" ({failure.status})" if failure.status else ""
            reason = f"can't start: {failure.message}{status}"
            gone.append(NotRun(name=entrant, reason=reason))
            lines += [f"{entrant}: {printable(reason)}", *_cause_lines(failed, bot)]
        if lines and not self._skip_broken:
            raise StartError("\n".join([*lines, self.way_out]))
        for line in lines:
            self.notify(f"note: {line}")
        return tuple(gone)

    async def _try_starts(
        self, context: MatchContext, untried: Sequence[str]
    ) -> dict[str, FailedStart]:
        broken: dict[str, FailedStart] = {}
        entrants = deque(untried)

        async def work(number: int) -> None:
            if number:
                await trio.sleep(ALONE_S)
            if not entrants:
                return
            async with open_pipes() as table:
                while entrants:
                    entrant = entrants.popleft()
                    if failed := await try_start(table, context, entrant):
                        broken[entrant] = failed

        async def announce() -> None:
            await trio.sleep(QUIET_S)
            self.notify(f"starting each of {len(untried)} bots once, to see that it can")

        async with trio.open_nursery() as outer:
            outer.start_soon(announce)
            async with trio.open_nursery() as nursery:
                for number in range(min(fair_jobs(), self.room * self._seats, len(untried))):
                    nursery.start_soon(work, number)
            outer.cancel_scope.cancel()
        return broken


def match_bots(
    paths: Sequence[Path],
    roster: Roster,
    settings: Settings,
    notify: Notify,
    folder: Path | None = None,
    *,
    sandbox: str,
) -> tuple[Workshop, list[Bot]]:
    """The bots of one match, built; UserError unless they all are."""
    workshop = Workshop(
        settings.limits,
        notify,
        folder,
        sandbox=sandbox,
        seats=len(paths),
        jobs=1,
        flags=SETTINGS,
        way_out=f"more: {check_line(paths)}",
    )
    ready, _ = workshop.enter(roster)
    if len(ready) < len(paths):
        raise UserError("a match needs all the bots that were named")
    return workshop, ready


def _cause_lines(failed: FailedStart, bot: Bot) -> Iterator[str]:
    """The likely cause, what the bot wrote, and the command that examines it."""
    failure = failed.failure
    found = diagnose_start(
        failure, ended=failed.ended, stderr=failed.stderr, unheard=failed.unheard, run=bot.run
    )
    detail = f" ({printable(found.detail)})" if found.detail else ""
    yield f"  likely: {found.mistake.title}{detail}"
    if failure.line:
        yield f"  its line: {printable(failure.line)}"
    tail = [line for line in failed.stderr.splitlines() if line.strip()][-10:]
    yield from (f"  | {printable(line)}" for line in tail)
    yield f"  what to do: {command_line('check', Path(bot.source))}"


def refuse_shown_places(results: Path | None) -> None:
    """UserError if the user's home, the cache or the folder of the results is shown to bots."""
    # Path.home() raises where the user has no entry; then nothing is kept there either.
    _refuse("your home", Path(os.path.expanduser("~")), "set HOME to another folder")  # noqa: PTH111
    _refuse("the cache", default_cache(), "set XDG_CACHE_HOME to another folder")
    if results is not None:
        _refuse("the results folder", results, "move it, or name another with --out")


def refuse_shown_bots(candidates: Iterable[Candidate]) -> None:
    for candidate in candidates:
        if candidate.source and not is_example(Path(candidate.source)):  # those are public
            _refuse("the bot", Path(candidate.source), "move it to another folder")


def _refuse(what: str, place: Path, remedy: str) -> None:
    if folder := public_folder_of(place):
        raise UserError(
            f"{what} {printable(place.absolute())} lies in {folder}, which every bot sees; {remedy}"
        )
