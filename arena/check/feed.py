"""From the words of `arena feed` to a transcript and a bot to say it to."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import msgspec
import trio

from arena.bots import Roster, default_cache, in_use, load, restore
from arena.check.playback import AS_RECORDED, Feeder
from arena.event.enter import enter, find_sandbox
from arena.event.transcript import Told
from arena.executors.cores import one_core
from arena.machine.preflight import keep_promises
from arena.model import Bot, Entrant, Limits, Settings, UserError
from arena.replay.transcripts import Script, read_script
from arena.sandbox import Backend, Launch, SpawnPlan, TreeLimits
from arena.store import is_results_folder
from arena.terminal.screen import say

FOREVER_S = 1e9


class _Unlimited:
    """Runs a tool of the user's: it may need more than a bot, and writes logs and core files."""

    def __init__(self, plain: Backend) -> None:
        self.name = plain.name
        self.probe = plain.probe
        self._plan = plain.plan

    def plan(self, launch: Launch) -> SpawnPlan:
        """As without a sandbox, and without limits; what the bot's own environment sets holds."""
        plan = self._plan(launch)
        env = {**os.environ, **plan.env}
        return msgspec.structs.replace(plan, rlimits={}, share=TreeLimits(), env=env)


def feed_bot(
    *,
    bot: str,
    transcript: str,
    match: str | None,
    whose: str | None,
    attempt: int | None,
    go_on: bool,
    timeout: int | None,
    command: str | None,
    only_print: bool,
    lean: bool,
    sandbox: str,
) -> int:
    """`arena feed`; its exit code."""
    if match is None and (whose is not None or attempt is not None or lean):
        raise UserError("--bot, --attempt and --lean go with --match")
    cache = default_cache()
    with in_use(cache):
        if match is None:
            roster = load([Path(bot)], cache=cache)
            content = _content(transcript)

            def spoken(*, lean: bool) -> Script:  # noqa: ARG001 - it is as it was recorded
                return read_script(content, transcript)
        else:
            told, roster = _from_event(
                bot, Path(transcript), match=match, whose=whose, attempt=attempt, cache=cache
            )

            def spoken(*, lean: bool) -> Script:
                return read_script(told.transcript(lean=lean), f"{transcript}, {match}")

        first = spoken(lean=lean)
        if only_print:
            for step in first.steps:
                sys.stdout.buffer.write(step.line)
            sys.stdout.buffer.flush()
            return AS_RECORDED
        limits = _limits(first)
        settings = Settings(game=first.hello.game, limits=limits)
        if command is None:  # else it has no limits, and nobody is judged
            keep_promises(limits, jobs=1)
        folder = Path(transcript) if match is not None else None
        backend = find_sandbox("none" if command is not None else sandbox, folder)
        ready, _ = enter(
            roster,
            backend,
            settings,
            cache,
            folder=folder,
            skip_broken=False,
            way_out=f"more: arena check {bot}",
        )
        if not ready:
            raise UserError(f"{bot} can't be started here")
        [one] = ready
        if command is not None:
            one, backend = _under(one, command), _Unlimited(backend)
        seconds = timeout / 1000 if timeout is not None else FOREVER_S
        feeder = Feeder(spoken, seconds=seconds, go_on=go_on, trusted=command is not None)
        with one_core():
            return trio.run(feeder.run, one, backend, limits)


def _content(transcript: str) -> bytes:
    if transcript == "-":
        return sys.stdin.buffer.read()
    path = Path(transcript)
    if is_results_folder(path):
        raise UserError(f"{path} is an event; say which match: --match ID (arena log {path})")
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None


def _from_event(
    bot: str, folder: Path, *, match: str, whose: str | None, attempt: int | None, cache: Path
) -> tuple[Told, Roster]:
    """What the bot was told, and the bot: from its path, or as it was entered."""
    path = Path(bot)
    if path.exists():
        roster = load([path], cache=cache)
        entered = [candidate.entrant for candidate in roster.candidates]
        name = whose or (entered[0].id if entered else path.name)
        content = entered[0].hash if entered and whose is None else ""
        told = Told.find(folder, match, name, attempt, content=content)
        if entered and entered[0].hash != told.entrant.hash:
            say(f"note: {bot} is not what was entered as {told.entrant.id}; its content differs")
        return told, roster
    told = Told.find(folder, match, whose or bot, attempt)
    entrant: Entrant = told.entrant
    roster = restore([(entrant, "")], cache=cache)
    if roster.problems:
        raise UserError(
            f"there is no path {bot}, and {entrant.id} as it was entered is no longer in the cache "
            f"({cache}): name the bot's folder"
        )
    return told, roster


def _limits(spoken: Script) -> Limits:
    """As when it was recorded, but for time."""
    limits = spoken.hello.limits
    return Limits(
        memory_mb=limits.memory_mb,
        tasks=limits.tasks,
        scratch_mb=limits.scratch_mb,
        line_bytes=limits.line_bytes,
    )


def _under(bot: Bot, command: str) -> Bot:
    """The bot, run by another command."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError(f"--command {command}: {error}") from None
    if not words:
        raise UserError("--command is empty")
    run = [own for word in words for own in (bot.run if word == "{}" else (word,))]
    if "/" not in run[0]:
        found = shutil.which(run[0])
        if found is None:
            raise UserError(f"--command: there is no program {run[0]}")
        run[0] = found
    return msgspec.structs.replace(bot, run=tuple(run))
