"""From the paths and flags of a command to bots that are built, in a sandbox that holds.

What is wrong with any of them is told at once, as a UserError or a StartError; notes go to stderr.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec
import trio

from arena import registry
from arena.bots import Problem, Roster, build, printable
from arena.check.diagnosis import diagnose_start
from arena.deals import Deals
from arena.engine.match import FailedStart, MatchContext, try_start
from arena.engine.pipes import open_pipes
from arena.event.secrecy import refuse_shown_bots, refuse_shown_places
from arena.executors.cores import fair_jobs
from arena.exhaustion import ran_out_in
from arena.games import Game
from arena.luck import evaluator_name
from arena.model import (
    ADJUSTED,
    RESULTS,
    STATED,
    Bot,
    HostError,
    Limits,
    NotRun,
    Racing,
    RateOn,
    Settings,
    StartError,
    Trial,
    UserError,
)
from arena.sandbox import Backend, wheel
from arena.sandbox.client import Spawner
from arena.sandbox.host_problems import HostCause, of_backend
from arena.terminal.screen import command_line, say

# What takes longer than this is worth a line.
QUIET_S = 2.0
# Of advice in an error, so that with its margin it fits 80 columns.
WIDTH = 68
SKIP = "mend what can't take part, or go on without: --skip-broken"

Broken = dict[str, FailedStart]
"""Entrants that can't start."""


def settings_of(
    *,
    game: str,
    seats: int,
    tables: int | None,
    deals: int,
    series: int,
    fresh: str,
    playoff: bool,
    freeze: bool,
    turn_cap: int | None,
    no_same_author: bool,
    move_time: int,
    match_time: int,
    start_time: int,
    memory: int,
    tasks: int,
    scratch: int,
    gauntlet: Sequence[str] = (),
    until_resolved: bool = False,
    budget: int | None = None,
    close: float | None = None,
    rate_on: RateOn | None = None,
    no_luck: bool = False,
    trial: Trial | None = None,
) -> Settings:
    """What is played, from the flags of a command. Who runs a gauntlet is known only when the
    bots are: see `with_heroes`.
    """
    if gauntlet and until_resolved:
        raise UserError("--gauntlet and --until-resolved are two ways to run an event; choose one")
    if budget is not None and not until_resolved:
        raise UserError("--budget is a race's; add --until-resolved, or choose --deals")
    if close is not None and not until_resolved:
        raise UserError("--close is a race's; add --until-resolved")
    race = Racing(budget=budget) if until_resolved else None
    if race and close is not None:
        race = msgspec.structs.replace(race, close=close)
    rules = registry.game(game)
    measured = _measured(rules, no_luck=no_luck, rate_on=rate_on)
    if race and not measured:
        say("note: without its luck measured, a race rates on results and needs many more matches")
    by_results = race or trial
    if move_time > match_time:
        raise UserError(
            f"--move-time {move_time} ms is more than --match-time {match_time} ms, "
            "the time for all of a bot's decisions in a match"
        )
    if not rules.min_seats <= seats <= rules.max_seats:
        raise UserError(
            f"--seats {seats}: {game} is for {rules.min_seats} to {rules.max_seats} players"
        )
    return Settings(
        game=game,
        game_version=rules.version,
        seats=seats,
        deals=deals,
        tables=tables,
        same_author=not no_same_author,
        series=1 if fresh == "match" else series,
        turn_cap=turn_cap or rules.turn_cap,
        playoff=playoff,
        freeze=freeze,
        format="trial"
        if trial
        else "racing"
        if race
        else "gauntlet"
        if gauntlet
        else "round-robin",
        rate_on=rate_on or (ADJUSTED if by_results and measured else RESULTS),
        evaluator=measured,
        racing=race,
        trial=trial,
        limits=Limits(
            move_ms=move_time,
            match_ms=match_time,
            start_ms=start_time,
            memory_mb=memory,
            tasks=tasks,
            scratch_mb=scratch,
        ),
        rating=rules.about.rating,
        **STATED,
        predictable=False,
    )


def _measured(game: Game, *, no_luck: bool, rate_on: RateOn | None) -> str:
    """The evaluator that is to measure the luck of an event; empty: its luck isn't measured."""
    found = "" if no_luck else evaluator_name(game)
    if not found and rate_on == ADJUSTED:
        what = "--no-luck doesn't measure it" if no_luck else f"{game.name} has no measure of it"
        raise UserError(f"--rate-on adjusted takes the luck off, and {what}")
    if not found and not no_luck:
        say(f"note: {game.name} has no measure of luck: strokes stay as they are played")
    return found


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
            if found:
                what = "several of the bots are called so; name its path"
            else:
                known = sorted({bot.entrant.name for bot in bots})
                near = get_close_matches(name, known, n=3) or known[:3]
                what = f"none of the bots is called so; there are {', '.join(map(printable, near))}"
            raise UserError(f"--gauntlet {printable(name)}: {what}")
        heroes += found
    return msgspec.structs.replace(settings, heroes=tuple(sorted(set(heroes))))


def find_sandbox(wanted: str, folder: Path | None = None) -> Backend:
    """The backend asked for, or the first whose live canary passes.

    `folder`: of the results, which every bot would see if they lay among the system's.
    """
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
                say(f"note: {odd}")
            return backend
        finding = of_backend(name, found.detail)
        if finding.cause is HostCause.OTHER and (what := ran_out_in(found.detail)):
            raise HostError(f"the sandbox {name} could not be tried: {what}")
        if wheel.UNKNOWN in found.detail:
            odd = found.detail
        reasons += [f"  {name}: {finding.text}", *(f"    {line}" for line in finding.remedy(WIDTH))]
    missing = "no sandbox works" if wanted == "auto" else f"the sandbox {wanted} does not work"
    raise UserError(
        "\n".join(
            [
                f"{missing} on this machine:",
                *reasons,
                "all that was tried: arena doctor",
                "to run bots that you trust without any: --sandbox none",
            ]
        )
    )


def prepare(
    roster: Roster, backend: Backend, limits: Limits, cache: Path, folder: Path | None = None
) -> tuple[list[Bot], tuple[Problem, ...], tuple[NotRun, ...]]:
    """Build what was found: the bots, what is wrong with others, and who is left out.

    `folder`: of the results.
    """
    if backend.name != "none":
        refuse_shown_bots(roster.candidates)
    for note in roster.notes:
        say(f"note: {note}")
    for candidate in roster.candidates:
        asked = candidate.asked
        for needs, allowed, flag in (
            (asked.memory_mb, limits.memory_mb, "MB of memory (--memory)"),
            (asked.tasks, limits.tasks, "tasks (--tasks)"),
            (asked.start_ms, limits.start_ms, "ms to start (--start-time)"),
            (asked.scratch_mb, limits.scratch_mb, "MB of scratch space (--scratch)"),
        ):
            if (needs or 0) > allowed:
                say(f"note: {candidate.entrant.id} asks for {needs}, gets {allowed} {flag}")
    with Spawner() as spawner:
        built = build(
            roster.candidates,
            cache=cache,
            backend=backend,
            spawner=spawner,
            scratch_mb=limits.scratch_mb,
            results=folder,
            report=say,
        )
    skipped = (*roster.skipped, *built.skipped)
    for left_out in skipped:
        say(f"note: {left_out.name} is left out: {left_out.reason}")
    return list(built.bots), (*roster.problems, *built.problems), skipped


def enter(
    roster: Roster,
    backend: Backend,
    settings: Settings,
    cache: Path,
    *,
    folder: Path | None = None,
    skip_broken: bool,
    way_out: str = SKIP,
) -> tuple[list[Bot], tuple[NotRun, ...]]:
    """Build what was found; every problem is told before anything is given up.

    `folder`: of the results; `way_out`: what to do about problems, for people.
    """
    bots, problems, skipped = prepare(roster, backend, settings.limits, cache, folder)
    if problems and not skip_broken:
        raise UserError("\n".join([*map(str, problems), way_out]))
    for problem in problems:
        say(f"note: {problem.name} is left out: {problem.lines[0]}")
    return bots, (*skipped, *(problem.not_run for problem in problems))


def without(
    bots: Sequence[Bot], broken: Broken, *, skip_broken: bool, way_out: str = SKIP
) -> tuple[list[Bot], tuple[NotRun, ...]]:
    """Leave out the bots that can't start, or say why each one can't."""
    told, gone = [], []
    by_id = {bot.entrant.id: bot for bot in bots}
    for entrant, start in sorted(broken.items()):
        failure, bot = start.failure, by_id[entrant]
        found = diagnose_start(
            failure, ended=start.ended, stderr=start.stderr, unheard=start.unheard, run=bot.run
        )
        status = f" ({failure.status})" if failure.status else ""
        reason = f"can't start: {failure.message}{status}"
        gone.append(NotRun(name=entrant, reason=reason))
        told.append(f"{entrant}: {printable(reason)}")
        told.append(
            f"  likely: {found.mistake.title}"
            + (f" ({printable(found.detail)})" if found.detail else "")
        )
        if failure.line:
            told.append(f"  its line: {printable(failure.line)}")
        tail = [line for line in start.stderr.splitlines() if line.strip()][-10:]
        told += [f"  | {printable(line)}" for line in tail]
        told.append(f"  what to do: {command_line('check', Path(bot.source))}")
    if not skip_broken:
        raise StartError("\n".join([*told, way_out]))
    for line in told:
        say(f"note: {line}")
    rest = [bot for bot in bots if bot.entrant.id not in broken]
    return rest, tuple(gone)


def context_of(
    settings: Settings, secret: bytes, bots: Sequence[Bot], backend: Backend
) -> MatchContext:
    """What every series of an event shares."""
    return MatchContext(
        settings=settings,
        game=registry.game(settings.game),
        deals=Deals(secret),
        bots={bot.entrant.id: bot for bot in bots},
        backend=backend,
    )


async def try_starts(context: MatchContext, room: int) -> Broken:
    """Start every bot once, as many at a time as there are cores and `room`."""
    broken: Broken = {}
    entrants = iter(sorted(context.bots))

    async def work() -> None:
        async with open_pipes() as table:
            for entrant in entrants:
                if found := await try_start(table, context, entrant):
                    broken[entrant] = found

    async def tell() -> None:
        await trio.sleep(QUIET_S)
        say(f"starting each of {len(context.bots)} bots once, to see that it can")

    async with trio.open_nursery() as outer:
        outer.start_soon(tell)
        async with trio.open_nursery() as nursery:
            for _ in range(min(fair_jobs(), room, len(context.bots))):
                nursery.start_soon(work)
        outer.cancel_scope.cancel()
    return broken
