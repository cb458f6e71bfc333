"""What `arena check` does: bots prepared as for an event, each examined alone."""

from __future__ import annotations

import multiprocessing
import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, cycle
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import trio
from msgspec import structs

from arena.bots import Problem, default_cache, in_use, load
from arena.check.facts import Diagnosis
from arena.check.mistakes import Mistake
from arena.check.report import CheckResult, Report, Reports, Status, finding_of
from arena.check.runner import check_bot, planned
from arena.engine.pipes import open_pipes
from arena.event.enter import find_sandbox, prepare
from arena.executors.cores import cores, one_core
from arena.machine.preflight import keep_promises
from arena.model import Bot, HostError, Limits, UserError
from arena.sandbox import Backend
from arena.terminal.screen import columns

if TYPE_CHECKING:
    from arena.terminal.check_report import Lines


def check_bots(
    paths: Sequence[Path],
    *,
    games: Sequence[str],
    quick: bool,
    move_ms: int,
    start_ms: int,
    memory_mb: int,
    sandbox: str,
    jobs: int | None,
    shown: Lines | None,
) -> tuple[Reports, bool]:
    """The reports, and whether all of them could be entered at all; `shown` gets each at once."""
    limits = Limits(
        move_ms=move_ms,
        match_ms=max(Limits().match_ms, move_ms),
        start_ms=start_ms,
        memory_mb=memory_mb,
    )
    cache = default_cache()
    with in_use(cache):
        roster = load(paths, cache=cache)
        bots: list[Bot] = []
        problems = roster.problems
        backend, room = None, 1
        if roster.candidates:
            room = keep_promises(limits, jobs=jobs, flags=("--memory",))
            backend = find_sandbox(sandbox)
            bots, problems, _ = prepare(roster, backend, limits, cache)
        examined: Iterator[Report] = iter(())
        if backend and bots:
            named = {each.entrant.id: each.shown for each in roster.candidates}
            terms, at_a_time = _Terms(backend, limits, games, quick, named), min(room, len(bots))
            if at_a_time > 1:
                examined = _side_by_side(bots, terms, at_a_time)
            else:
                examined = _one_by_one(bots, terms, shown)
        reports = []
        for report in chain(map(_not_entered, problems), examined):
            reports.append(report)
            if shown:
                shown.report(report)
    if not reports:
        left_out = "".join(f"; {note}" for note in roster.notes)
        words = Mistake.NOT_ENTERED.rule.text.rstrip(".")
        raise UserError(f"there is no bot to be checked{left_out} ({words})")
    passed = all(report.status is not Status.FAILED for report in reports)
    return Reports(
        passed=passed, sandbox=backend.name if backend else "", bots=tuple(reports)
    ), not problems


class _Terms(NamedTuple):
    """How every bot is examined."""

    backend: Backend
    limits: Limits
    games: Sequence[str]
    quick: bool
    paths: Mapping[str, str]
    """By entrant, as it was named."""


def _one_by_one(bots: Sequence[Bot], terms: _Terms, shown: Lines | None) -> Iterator[Report]:
    """Each bot in this process; what is done of each is shown at once."""
    for bot in bots:
        titles = [step.title for step in planned(terms.games, bot)]
        if shown:
            shown.begin(bot.entrant.id, terms.paths[bot.entrant.id], titles)
        with one_core():
            yield trio.run(_examine, bot, terms, *_onlookers(bot, shown))


def _onlookers(
    bot: Bot, shown: Lines | None
) -> tuple[Callable[[str], None], Callable[[CheckResult], None]]:
    """Who is told of a check before it begins, and when it is done."""
    status = _status()

    def seen(checked: CheckResult) -> None:
        status("")
        if shown:
            shown.checked(checked)

    return lambda title: status(f"{bot.entrant.id}: {title} …"), seen


async def _examine(
    bot: Bot,
    terms: _Terms,
    trying: Callable[[str], None] = lambda _: None,
    seen: Callable[[CheckResult], None] = lambda _: None,
) -> Report:
    async with open_pipes() as table:
        return await check_bot(
            table,
            bot,
            terms.backend,
            terms.limits,
            games=terms.games,
            quick=terms.quick,
            path=terms.paths[bot.entrant.id],
            begins=trying,
            ends=seen,
        )


def _side_by_side(bots: Sequence[Bot], terms: _Terms, jobs: int) -> Iterator[Report]:
    """Each bot in a process of its own that has a core to itself; in the order of the bots.

    Processes are forked, so that they know what this one has found out of the sandbox.
    """
    fork = multiprocessing.get_context("fork")
    free = [core for core, _ in zip(cycle(cores()), range(jobs), strict=False)]
    waiting, done = list(enumerate(bots)), dict[int, Report | Exception]()
    running: dict[Connection, tuple[int, int, BaseProcess]] = {}
    told = _status()
    sys.stdout.flush()
    try:
        for number in range(len(bots)):
            while number not in done:
                over = len(bots) - len(waiting) - len(running)
                told(f"{over} of {len(bots)} bots checked …")
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
            told("")
            if isinstance(report, Exception):
                raise report
            yield report
    finally:
        told("")
        for _, _, ended in running.values():
            ended.kill()  # its spawner ends the bot with it
            ended.join()


def _alone(out: Connection, core: int, bot: Bot, terms: _Terms) -> None:
    os.sched_setaffinity(0, {core})
    try:
        out.send(trio.run(_examine, bot, terms))
    except KeyboardInterrupt:
        pass  # the parent has been told, too
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


def _status() -> Callable[[str], None]:
    """On a terminal, one line that says what is being tried; empty: none any more."""
    if not sys.stderr.isatty():
        return lambda _: None

    def told(title: str) -> None:
        text = title[: columns() - 1]
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    return told


def _not_entered(problem: Problem) -> Report:
    """What is wrong before anything of it has run."""
    absent = problem.lines[0].startswith("does not exist")
    mistake = Mistake.NO_SUCH_PATH if absent else Mistake.NOT_ENTERED
    first, *rest = str(problem).splitlines()
    finding = structs.replace(
        finding_of(Diagnosis(mistake)), title=first, found=textwrap.dedent("\n".join(rest))
    )
    entry = CheckResult(
        name="enter",
        title="can be entered",
        section=finding.section,
        status=Status.FAILED,
        finding=finding,
    )
    return Report(bot=problem.name, path=problem.path, status=Status.FAILED, checks=(entry,))
