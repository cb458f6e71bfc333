"""What `arena check` does: bots prepared as for an event, each examined alone."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import trio

from arena.check.causes import CAUSES, Cause
from arena.check.examine import examine
from arena.check.report import Checked, Finding, Report, Reports, Status
from arena.cli.entering import find_sandbox, prepare
from arena.cli.given import keep_promises
from arena.cli.screen import columns
from arena.executors.cores import one_core
from arena.model import Bot, Limits, UserError
from arena.pipes import open_table
from arena.roster import Problem, default_cache, in_use, load
from arena.sandbox import Backend


def check_bots(
    paths: Sequence[Path],
    *,
    games: Sequence[str],
    quick: bool,
    move_ms: int,
    start_ms: int,
    memory_mb: int,
    sandbox: str,
) -> tuple[Reports, bool]:
    """The reports, and whether all of them could be entered at all."""
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
        backend = None
        if roster.candidates:
            keep_promises(limits, jobs=1, flags=("--memory",))
            backend = find_sandbox(sandbox)
            bots, problems, _ = prepare(roster, backend, limits, cache)
        reports = [_not_entered(problem) for problem in problems]
        if backend and bots:
            shown = {each.entrant.id: each.shown for each in roster.candidates}
            with one_core():
                reports += trio.run(_examine, bots, shown, backend, limits, games, quick)
    if not reports:
        left_out = "".join(f"; {note}" for note in roster.notes)
        words = CAUSES[Cause.NOT_ENTERED].rule.rstrip(".")
        raise UserError(f"there is no bot to be checked{left_out} ({words})")
    passed = all(report.status is not Status.FAILED for report in reports)
    name = backend.name if backend else ""
    return Reports(passed=passed, sandbox=name, bots=tuple(reports)), not problems


async def _examine(  # noqa: PLR0917 - trio.run takes no names
    bots: Sequence[Bot],
    shown: Mapping[str, str],
    backend: Backend,
    limits: Limits,
    games: Sequence[str],
    quick: bool,  # noqa: FBT001 - the same
) -> list[Report]:
    reports = []
    async with open_table() as table:
        for bot in bots:
            told = _progress(bot)
            report = await examine(
                table,
                bot,
                backend,
                limits,
                games=games,
                quick=quick,
                path=shown[bot.entrant.id],
                told=told,
            )
            reports.append(report)
            told("")
    return reports


def _progress(bot: Bot) -> Callable[[str], None]:
    """On a terminal, one line that says what is being tried."""
    if not sys.stderr.isatty():
        return lambda _: None

    def told(title: str) -> None:
        text = f"{bot.entrant.id}: {title} …"[: columns() - 1] if title else ""
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    return told


def _not_entered(problem: Problem) -> Report:
    """What is wrong before anything of it has run."""
    absent = problem.lines[0].startswith("does not exist")
    cause = Cause.NO_SUCH_PATH if absent else Cause.NOT_ENTERED
    words = CAUSES[cause]
    first, *rest = str(problem).splitlines()
    finding = Finding(
        cause=cause,
        title=first,
        found=textwrap.dedent("\n".join(rest)),
        rule=words.rule,
        section=words.section,
        advice=words.advice,
    )
    entry = Checked(
        name="enter",
        title="can be entered",
        section=words.section,
        status=Status.FAILED,
        finding=finding,
    )
    return Report(bot=problem.name, path=problem.path, status=Status.FAILED, checks=(entry,))
