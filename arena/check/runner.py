"""Run every check on one bot; make its report.

Invariant: a mistake is reported once. A check that cannot run because of it, or fails by it again,
is skipped, and says why.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from arena import registry
from arena.check.checks import CHECKS, Check, percentiles
from arena.check.conversation import MistakeError
from arena.check.examination import CheckSkipped, CheckWarning, Examination, has_windows_lines
from arena.check.mistakes import Diagnosis, Facts, Mistake
from arena.check.report import CheckResult, Finding, Report, Status, Times, finding_of
from arena.engine.pipes import Pipes
from arena.engine.single_bot import open_solo
from arena.model import Bot, Limits
from arena.sandbox import Backend

_ONE = (
    "With time after each line it did not happen: does it take all that it reads at once for one "
    "line?"
)
FILES = 200  # names of a bot's files that are read, to guess its language


class PlannedCheck(NamedTuple):
    check: Check
    game: str
    blank: CheckResult  # its result as long as it has not been run


def planned(games: Sequence[str], bot: Bot) -> Iterator[PlannedCheck]:
    for check in (check for check in CHECKS if check.applies(bot)):
        for game in games if check.each_game else games[:1]:
            rules = registry.game(game)
            title = check.title.format(game=game, fewest=rules.min_seats, most=rules.max_seats)
            name = f"{check.name}-{game}" if check.each_game else check.name
            blank = CheckResult(
                name=name, title=title, section=check.section, status=Status.SKIPPED
            )
            yield PlannedCheck(check, game, blank)


async def check_bot(
    pipes: Pipes,
    bot: Bot,
    backend: Backend,
    limits: Limits,
    *,
    games: Sequence[str],
    quick: bool = False,
    path: str,
    begins: Callable[[str], None] = lambda _: None,
    ends: Callable[[CheckResult], None] = lambda _: None,
) -> Report:
    """Run all checks; `begins` gets the title of each before it runs, `ends` its result."""
    solo = partial(open_solo, pipes, backend=backend, limits=limits)
    facts = Facts(run=bot.run, files=_files(bot.root), windows=has_windows_lines(bot))
    exam = Examination(bot, limits, solo, facts, quick)
    results: list[CheckResult] = []
    stop = False
    for step in planned(games, bot):
        title = step.blank.title
        if stop:
            result = replace(step.blank, detail="it can't play yet")
        else:
            begins(title)
            result = await _run(exam, step)
        if result.finding and result.status is Status.FAILED:
            if exam.known.setdefault(result.finding.cause, title) != title:
                result = replace(step.blank, detail="stopped by the same mistake")
            elif step.check.first_steps:
                stop = True
        results.append(result)
        ends(result)
    bad = [each for each in (Status.FAILED, Status.WARNED) if each in {r.status for r in results}]
    worst = bad[0] if bad else Status.PASSED
    p50, p99, most = (round(ms, 3) for ms in percentiles(exam.times))
    return Report(
        bot=bot.entrant.id,
        path=path,
        status=worst,
        checks=tuple(results),
        times=Times(answers=len(exam.times), p50_ms=p50, p99_ms=p99, max_ms=most),
        memory_mb=round(exam.memory_mb, 1),
    )


async def _run(exam: Examination, step: PlannedCheck) -> CheckResult:
    check, game, blank = step
    known = exam.known
    if game in exam.not_played:
        return replace(blank, detail=f"it doesn't play {game}")
    try:
        return replace(blank, status=Status.PASSED, detail=await check.run(exam, game))
    except CheckSkipped as skipped:
        return replace(blank, detail=str(skipped))
    except CheckWarning as warning:
        finding = finding_of(Diagnosis(warning.mistake, warning.found))
        return replace(blank, status=Status.WARNED, detail=warning.detail, finding=finding)
    except MistakeError as error:
        finding = error.finding
        if error.declined and (other := await _other_game(exam, game)):
            exam.not_played.add(game)
            finding = _other_game_finding(finding, game, other)
        elif Mistake.TOO_SLOW in known and error.alone_s and not finding.status:
            # Silent again: to prove that each time would take minutes.
            finding = replace(finding, cause=Mistake.TOO_SLOW)
        elif finding.cause not in known:
            finding = await _second_run(exam, step, error)
            if check.unusual:
                return await _compare_deliveries(exam, step, finding)
    return replace(blank, status=Status.FAILED, finding=finding)


async def _compare_deliveries(
    exam: Examination, step: PlannedCheck, finding: Finding
) -> CheckResult:
    """Judge a bot that failed when lines were delivered in an unusual way.

    The delivery is the reason only if the bot plays the same match well with ordinary lines, and
    fails again with the unusual ones: a bot that fails now and then has another mistake.
    """
    check, game, blank = step
    otherwise = ""
    exam.ordinary = True
    try:
        for _ in range(2):
            await check.run(exam, game)
    except MistakeError as error:
        finding, otherwise = error.finding, "It happens with ordinary lines, too."
    finally:
        exam.ordinary = False
    if not otherwise:
        with suppress(MistakeError):
            await check.run(exam, game)
            otherwise = "It happens now and then: the second time it did not."
    if otherwise and exam.known:
        return replace(blank, detail="it fails with ordinary lines, too")
    if otherwise:
        finding = replace(finding, found=f"{finding.found} {otherwise}".strip())
    elif check.warns:
        finding = finding_of(Diagnosis(check.warns, f"With them {finding.title}."))
        return replace(blank, status=Status.WARNED, finding=finding)
    else:
        finding = replace(
            finding,
            rule=check.rule or f"A bot {check.title}.",
            section=check.section,
            advice=f"It works {check.unusual}: change how it reads them.",
        )
    return replace(blank, status=Status.FAILED, finding=finding)


async def _second_run(exam: Examination, step: PlannedCheck, error: MistakeError) -> Finding:
    """Run a check again without early probes, if the first finding is not proven."""
    if not error.alone_s:
        return error.finding
    exam.alone_s = error.alone_s
    try:
        await step.check.run(exam, step.game)
    except MistakeError as second:
        return second.finding
    except (CheckWarning, CheckSkipped):
        pass
    finally:
        exam.alone_s = 0.0
    finding = error.finding
    return replace(finding, advice=f"{finding.advice} {_ONE}") if finding.status else finding


async def _other_game(exam: Examination, game: str) -> str:
    """A game that it is ready to play; empty: none."""
    for other in registry.GAMES:
        if other != game and other not in exam.not_played:
            with suppress(MistakeError):
                async with exam.talk(other):
                    return other
    return ""


def _other_game_finding(finding: Finding, game: str, other: str) -> Finding:
    """The finding for a bot that exits at this game's `hello`, but not at another game's."""
    said = finding.stderr.strip().rpartition("\n")[2]
    words = finding_of(Diagnosis(Mistake.OTHER_GAME, f"Its words: {said}" if said else ""))
    return replace(
        finding,
        cause=words.cause,
        title=f"it doesn't play {game}",
        found=words.found,
        rule=words.rule,
        section=words.section,
        advice=f"{words.advice} with --game {other}.",
    )


def _files(root: str) -> list[str]:
    """Names of its files: the sources of a compiled program tell its language."""
    names: list[str] = []
    for _, folders, files in os.walk(root):
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        names += files
        if len(names) > FILES:
            break
    return names[:FILES]
