"""Every check with one bot, and what became of each.

Invariant: a mistake is told once. What can't be tried because of it, or fails by it again, is
skipped, and says why.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from arena import registry
from arena.check.causes import CAUSES, Cause, Section
from arena.check.checks import CHECKS, Check, percentiles
from arena.check.evidence import warning_of
from arena.check.examination import Examination, Unfinished, Warned
from arena.check.report import Checked, Finding, Report, Status, Times, worst
from arena.check.talk import Stumble
from arena.engine.pipes import Pipes
from arena.model import Bot, Limits
from arena.sandbox import Backend

_ONE = (
    "With time after each line it did not happen: does it take all that it reads at once for one "
    "line?"
)
_CHANGE = "A bot ignores fields and messages that it doesn't know."
# Names of a bot's files that are looked at, to guess its language.
FILES = 200


async def examine(
    table: Pipes,
    bot: Bot,
    backend: Backend,
    limits: Limits,
    *,
    games: Sequence[str],
    quick: bool = False,
    path: str,
    told: Callable[[str], None] = lambda _: None,
    seen: Callable[[Checked], None] = lambda _: None,
) -> Report:
    """Try everything; `told` gets the title of each check before it begins, `seen` the outcome."""
    exam = Examination(table, bot, backend, limits, files=_files(bot.root), quick=quick)
    done: list[Checked] = []
    failed = exam.known
    stop = False
    for step in planned(games, bot):
        title = step.title
        if stop:
            done.append(_skipped(step, "it can't play yet"))
            seen(done[-1])
            continue
        told(title)
        checked = await _one(exam, step)
        if checked.finding and checked.status is Status.FAILED:
            earlier = failed.setdefault(checked.finding.cause, title)
            if earlier != title:
                why = "stopped by the same mistake"
                checked = _skipped(step, why)
            elif step.check.first_steps:
                stop = True
        done.append(checked)
        seen(checked)
    p50, p99, most = percentiles(exam.times)
    return Report(
        bot=bot.entrant.id,
        path=path,
        status=worst([checked.status for checked in done]),
        checks=tuple(done),
        times=Times(
            answers=len(exam.times),
            p50_ms=round(p50, 3),
            p99_ms=round(p99, 3),
            max_ms=round(most, 3),
        ),
        memory_mb=round(exam.memory_mb, 1),
    )


class Planned(NamedTuple):
    """A check to be made."""

    check: Check
    game: str
    name: str
    title: str


def planned(games: Sequence[str], bot: Bot) -> Iterator[Planned]:
    """All checks of a bot, in the order of play."""
    for check in (check for check in CHECKS if check.applies(bot)):
        for game in games if check.each_game else games[:1]:
            rules = registry.game(game)
            title = check.title.format(game=game, fewest=rules.min_seats, most=rules.max_seats)
            name = f"{check.name}-{game}" if check.each_game else check.name
            yield Planned(check, game, name, title)


async def _one(exam: Examination, step: Planned) -> Checked:
    check, game, name, title = step
    status, detail, finding, known = Status.PASSED, "", None, exam.known
    if game in exam.not_played:
        return _skipped(step, f"it doesn't play {game}")
    try:
        detail = await check.run(exam, game)
    except Stumble as stumble:
        status, finding = Status.FAILED, stumble.finding
        if stumble.declined and (other := await _other_game(exam, game)):
            exam.not_played.add(game)
            finding = _of_the_game(finding, game, other)
        elif Cause.TOO_SLOW in known and stumble.again and not finding.status:
            # Silent again: to be proven each time, that would take minutes.
            finding = msgspec.structs.replace(finding, cause=Cause.TOO_SLOW)
        elif finding.cause not in known:
            finding = (await _again(exam, check, game, stumble)).finding
            if check.dresses:
                return await _of_the_dress(exam, step, finding)
    except Unfinished as unfinished:
        status, detail = Status.SKIPPED, str(unfinished)
    except Warned as warned:
        status, detail = Status.WARNED, warned.detail
        finding = warning_of(warned.cause, warned.found)
    return Checked(
        name=name,
        title=title,
        section=check.section,
        status=status,
        detail=detail,
        finding=finding,
    )


async def _of_the_dress(exam: Examination, step: Planned, finding: Finding) -> Checked:
    """What a bot that stumbles over lines that came otherwise is told.

    They are the cause only if it doesn't stumble in the same match over lines as they come
    ordinarily, and does again over these: what goes wrong now and then is no matter of lines.
    """
    check, game, name, title = step
    plainly = ""
    exam.plain = True
    try:
        for _ in range(2):
            await check.run(exam, game)
    except Stumble as stumble:
        finding, plainly = stumble.finding, "It happens with ordinary lines, too."
    finally:
        exam.plain = False
    if not plainly:
        try:
            await check.run(exam, game)
            plainly = "It happens now and then: the second time it did not."
        except Stumble:
            pass
    if plainly and exam.known:
        return _skipped(step, "it fails with ordinary lines, too")
    if plainly:
        found = f"{finding.found} {plainly}".strip()
        finding = msgspec.structs.replace(finding, found=found)
    elif check.warns:
        finding = warning_of(check.warns, f"With them {finding.title}.")
    else:
        rule = f"A bot {check.title}." if check.section is not Section.CHANGE else _CHANGE
        finding = msgspec.structs.replace(
            finding,
            rule=rule,
            section=check.section,
            advice=f"It works {check.works}: mend how it reads them.",
        )
    return Checked(
        name=name,
        title=title,
        section=check.section,
        status=Status.WARNED if check.warns and not plainly else Status.FAILED,
        finding=finding,
    )


async def _again(exam: Examination, check: Check, game: str, stumble: Stumble) -> Stumble:
    """The same in another process: whether it speaks by itself what it seemed to be made to."""
    if not stumble.again:
        return stumble
    exam.alone = stumble.again
    try:
        await check.run(exam, game)
    except Stumble as second:
        return second
    except (Warned, Unfinished):
        pass
    finally:
        exam.alone = 0.0
    if stumble.finding.status:
        finding = msgspec.structs.replace(
            stumble.finding, advice=f"{stumble.finding.advice} {_ONE}"
        )
        return Stumble(finding)
    return stumble


async def _other_game(exam: Examination, game: str) -> str:
    """One that it is ready to play; empty: none."""
    for other in registry.GAMES:
        if other != game and other not in exam.not_played:
            with suppress(Stumble):
                async with exam.talk(exam.settings(other)):
                    return other
    return ""


def _of_the_game(finding: Finding, game: str, other: str) -> Finding:
    """It left at `hello`, but not at that of another game."""
    words = CAUSES[Cause.OTHER_GAME]
    said = finding.stderr.strip().rpartition("\n")[2]
    return msgspec.structs.replace(
        finding,
        cause=Cause.OTHER_GAME,
        title=f"it doesn't play {game}",
        found=f"Its words: {said}" if said else "",
        rule=words.rule,
        section=words.section,
        advice=f"{words.advice} with --game {other}.",
    )


def _skipped(step: Planned, why: str) -> Checked:
    return Checked(
        name=step.name,
        title=step.title,
        section=step.check.section,
        status=Status.SKIPPED,
        detail=why,
    )


def _files(root: str) -> list[str]:
    """What a program of the bot's own may be compiled from."""
    names: list[str] = []
    for _, folders, files in os.walk(root):
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        names += files
        if len(names) > FILES:
            break
    return names[:FILES]
