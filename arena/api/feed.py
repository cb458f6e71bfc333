"""Feed a recorded transcript to a bot, and compare its answers (`arena feed`)."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import trio
from msgspec.structs import replace

from arena.bots import Roster, default_cache, in_use, load, restore
from arena.check.playback import Feeder, FeedOutput
from arena.event.search import BotMatches
from arena.event.workshop import Workshop
from arena.executors.cores import one_core
from arena.machine import Notify
from arena.model import Bot, Frozen, Limits, UserError
from arena.replay.transcripts import Script, read_script
from arena.sandbox import Launch, SpawnPlan, TreeLimits
from arena.sandbox.none import Unconfined
from arena.store import is_results_folder

FOREVER_S = 1e9


class _Unlimited(Unconfined):
    """Runs a tool of the user's: it may need more than a bot, and writes logs and core files."""

    def plan(self, launch: Launch) -> SpawnPlan:
        """Without limits; what the bot's own environment sets holds."""
        plan = super().plan(launch)
        env = {**os.environ, **plan.env}
        return replace(plan, rlimits={}, share=TreeLimits(), env=env)


class FeedOptions(Frozen, frozen=True, kw_only=True):
    match: str | None = None  # a match of the event whose folder is the transcript
    bot: str | None = None  # with `match`: which of the event's bots
    attempt: int | None = None
    lean: bool = False  # with `match`: as to a bot that asks for `next`
    go_on: bool = False  # don't stop at an answer that is another move
    timeout: float | None = None  # seconds for an answer; None: as long as it takes
    command: str | None = None
    """Run this in the bot's folder instead, without limits; {} is the bot's own command."""
    sandbox: str = "auto"


def transcript_lines(
    bot: str, transcript: str, options: FeedOptions, notify: Notify
) -> Iterator[bytes]:
    """The lines to the bot. `transcript` is a path, or `-` for standard input."""
    with in_use(default_cache()) as cache:
        _, script_of = _sources(bot, transcript, options, cache, notify)
    for step in script_of(lean=options.lean).steps:
        yield step.line


def feed_bot(
    bot: str, transcript: str, options: FeedOptions, echo: FeedOutput, notify: Notify
) -> bool:
    """Feed a transcript to a bot; returns whether it answered as recorded."""
    with in_use(default_cache()) as cache:
        roster, script_of = _sources(bot, transcript, options, cache, notify)
        spoken = script_of(lean=options.lean).hello.limits
        kept = ("memory_mb", "tasks", "scratch_mb", "line_bytes")  # but for time
        limits = Limits(**{name: getattr(spoken, name) for name in kept})
        folder = Path(transcript) if options.match is not None else None
        own, way_out = options.command is None, f"more: arena check {bot}"
        sandbox = options.sandbox if own else "none"
        workshop = Workshop(  # a tool of the user's has no limits
            limits, notify, folder, sandbox=sandbox, jobs=1, judge=own, way_out=way_out
        )
        ready, _ = workshop.enter(roster)
        if not ready:
            raise UserError(f"{bot} can't be started here")
        [one], backend = ready, workshop.backend
        if options.command is not None:
            one, backend = _under(one, options.command), _Unlimited()
        seconds = FOREVER_S if options.timeout is None else options.timeout
        feeder = Feeder(
            script_of, echo, notify, seconds=seconds, go_on=options.go_on, trusted=not own
        )
        with one_core():
            return trio.run(feeder.run, one, backend, limits)


def _sources(
    bot: str, transcript: str, options: FeedOptions, cache: Path, notify: Notify
) -> tuple[Roster, Callable[..., Script]]:
    """The bot, and a function that makes the transcript for one that is lean or not."""
    if options.match is None:
        if options.bot is not None or options.attempt is not None or options.lean:
            raise UserError("--bot, --attempt and --lean go with --match")
        roster = load([Path(bot)], cache=cache)
        content = _content(transcript)
        return roster, lambda **_: read_script(content, transcript)
    found, roster = _from_event(bot, Path(transcript), options, cache, notify)
    name = f"{transcript}, {options.match}"
    return roster, lambda *, lean: read_script(found.transcript(lean=lean), name)


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
    bot: str, folder: Path, options: FeedOptions, cache: Path, notify: Notify
) -> tuple[BotMatches, Roster]:
    """The matches up to the one that is meant, and the bot: from its path, or as it was entered."""
    path, match, attempt = Path(bot), options.match or "", options.attempt
    if path.exists():
        roster = load([path], cache=cache)
        entered = [candidate.entrant for candidate in roster.candidates]
        name = options.bot or (entered[0].id if entered else path.name)
        content = entered[0].hash if entered and options.bot is None else ""
        found = BotMatches(folder, match, name, attempt, notify, content=content)
        if entered and entered[0].hash != found.entrant.hash:
            was = f"what was entered as {found.entrant.id}"
            notify(f"note: {bot} is not {was}; its content differs")
        return found, roster
    found = BotMatches(folder, match, options.bot or bot, attempt, notify)
    roster = restore([(found.entrant, "")], cache=cache, folder=folder)
    if roster.problems:
        raise UserError(
            f"there is no path {bot}, and {found.entrant.id} as it was entered is no longer in the "
            f"cache ({cache}): name the bot's folder"
        )
    return found, roster


def _under(bot: Bot, command: str) -> Bot:
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
    return replace(bot, run=tuple(run))
