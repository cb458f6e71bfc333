"""Check bots (`arena check`): prepared as for an event, each examined alone."""

import multiprocessing
import os
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, cycle
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

import trio
from msgspec import structs

from arena.api.paths import PathName, bot_paths
from arena.api.threads import call
from arena.bots import Problem, default_cache, in_use, load
from arena.check.mistakes import Diagnosis, Mistake
from arena.check.report import NOT_ENTERED, CheckReports, CheckResult, Report, Status, finding_of
from arena.check.runner import check_bot, planned
from arena.engine.pipes import open_pipes
from arena.event.workshop import Workshop
from arena.executors.cores import cores, one_core
from arena.model import Bot, Frozen, HostError, Limits, UserError
from arena.registry import GAMES
from arena.sandbox import Backend


class CheckOptions(Frozen, frozen=True, kw_only=True):
    """How bots are checked."""

    games: tuple[str, ...] = tuple(GAMES)
    quick: bool = False
    """One match of each kind."""
    limits: Limits = Limits()
    sandbox: str = "auto"
    jobs: int | None = None
    """Bots at a time; None: one a core."""


class CheckProgress:
    """Follows a check; a display overrides what it shows."""

    def note(self, text: str) -> None:
        """A line for people."""

    def status(self, text: str) -> None:
        """The check that runs now; empty when it is over."""

    def begin(self, bot: str, path: str, titles: Sequence[str]) -> None:
        """A bot is examined alone, by checks with these titles."""

    def checked(self, checked: CheckResult) -> None:
        """A check of it is done."""

    def report(self, report: Report) -> None:
        """A bot has been examined."""


_ANY_CHECK = CheckOptions()


def check_bots(
    bots: Sequence[PathName] | PathName,
    options: CheckOptions = _ANY_CHECK,
    *,
    progress: CheckProgress | None = None,
) -> CheckReports:
    """Try whether bots keep to the protocol. A path that can't be entered fails a check `enter`."""
    paths = bot_paths(bots)
    return call(lambda: _check(paths, options, progress or CheckProgress()))


def _check(paths: Sequence[Path], options: CheckOptions, progress: CheckProgress) -> CheckReports:
    limits = options.limits
    with in_use(default_cache()) as cache:
        roster = load(paths, cache=cache)
        bots: list[Bot] = []
        problems = roster.problems
        workshop = None
        if roster.candidates:
            sandbox, jobs, flags = options.sandbox, options.jobs, ("--memory",)
            workshop = Workshop(limits, progress.note, sandbox=sandbox, jobs=jobs, flags=flags)
            bots, problems, _ = workshop.build(roster)
        examined: Iterator[Report] = iter(())
        if workshop and bots:
            named = {each.entrant.id: each.path for each in roster.candidates}
            terms = _Terms(workshop.backend, options, named)
            at_a_time = min(workshop.room, len(bots))
            examined = _one_by_one(bots, terms, progress)
            if at_a_time > 1:
                examined = _side_by_side(bots, terms, at_a_time, progress)
        reports = []
        for report in chain(map(_not_entered, problems), examined):
            reports.append(report)
            progress.report(report)
    if not reports:
        left_out = "".join(f"; {note}" for note in roster.notes)
        words = Mistake.NOT_ENTERED.rule.text.rstrip(".")
        raise UserError(f"there is no bot to be checked{left_out} ({words})")
    passed = all(report.status is not Status.FAILED for report in reports)
    sandbox = workshop.backend.name if workshop else ""
    return CheckReports(passed=passed, sandbox=sandbox, bots=tuple(reports))


class _Terms(NamedTuple):
    backend: Backend
    options: CheckOptions
    paths: Mapping[str, str]  # by entrant, as it was named


def _one_by_one(bots: Sequence[Bot], terms: _Terms, progress: CheckProgress) -> Iterator[Report]:
    """Each bot in this process; each check is reported at once."""
    for bot in bots:
        titles = [step.blank.title for step in planned(terms.options.games, bot)]
        progress.begin(bot.entrant.id, terms.paths[bot.entrant.id], titles)
        with one_core():
            yield trio.run(_examine, bot, terms, progress)


async def _examine(bot: Bot, terms: _Terms, progress: CheckProgress) -> Report:
    def seen(checked: CheckResult) -> None:
        progress.status("")
        progress.checked(checked)

    options = terms.options
    async with open_pipes() as table:
        return await check_bot(
            table,
            bot,
            terms.backend,
            options.limits,
            games=options.games,
            quick=options.quick,
            path=terms.paths[bot.entrant.id],
            begins=lambda title: progress.status(f"{bot.entrant.id}: {title} …"),
            ends=seen,
        )


def _side_by_side(
    bots: Sequence[Bot], terms: _Terms, jobs: int, progress: CheckProgress
) -> Iterator[Report]:
    """Each bot in a forked process with a core to itself, which knows the sandbox already."""
    fork = multiprocessing.get_context("fork")
    free = [core for core, _ in zip(cycle(cores()), range(jobs), strict=False)]
    waiting, done = list(enumerate(bots)), dict[int, Report | Exception]()
    running: dict[Connection, tuple[int, int, BaseProcess]] = {}
    sys.stdout.flush()
    try:
        for number in range(len(bots)):
            while number not in done:
                over = len(bots) - len(waiting) - len(running)
                progress.status(f"{over} of {len(bots)} bots checked …")
                while waiting and free:
                    at, bot = waiting.pop(0)
                    core = free.pop()
                    ours, its = fork.Pipe(duplex=False)
                    process = fork.Process(target=_alone, args=(its, core, bot, terms))
                    process.start()
                    its.close()
                    running[ours] = at, core, process
                for ready in wait(list(running)):
                    assert isinstance(ready, Connection)
                    at, core, ended = running.pop(ready)
                    done[at] = _received(ready, ended)
                    free.append(core)
            report = done.pop(number)
            progress.status("")
            if isinstance(report, Exception):
                raise report
            yield report
    finally:
        progress.status("")
        for _, _, ended in running.values():
            ended.kill()  # its spawner ends the bot with it
            ended.join()


def _alone(out: Connection, core: int, bot: Bot, terms: _Terms) -> None:
    os.sched_setaffinity(0, {core})
    try:
        out.send(trio.run(_examine, bot, terms, CheckProgress()))
    except KeyboardInterrupt:
        pass  # the parent got the signal, too
    except (HostError, UserError) as error:
        out.send(error)


def _received(ready: Connection, ended: BaseProcess) -> Report | Exception:
    try:
        received = ready.recv()
    except EOFError:
        received = None
    ended.join()
    if received is None and (ended.exitcode or 0) < 0:
        return HostError("a process that examined a bot was killed")
    assert isinstance(received, Report | Exception), "its traceback is above"
    return received


def _not_entered(problem: Problem) -> Report:
    """Problems found before anything of the bot ran."""
    absent = problem.lines[0].startswith("does not exist")
    mistake = Mistake.NO_SUCH_PATH if absent else Mistake.NOT_ENTERED
    first, *rest = str(problem).splitlines()
    finding = structs.replace(
        finding_of(Diagnosis(mistake)), title=first, found=textwrap.dedent("\n".join(rest))
    )
    title, section, failed = "can be entered", finding.section, Status.FAILED
    entry = CheckResult(
        name=NOT_ENTERED, title=title, section=section, status=failed, finding=finding
    )
    return Report(bot=problem.name, path=problem.path, status=failed, checks=(entry,))
