"""The checks of `arena check`: what each tries, in their order.

A check is a coroutine that starts fresh processes of the bot and returns figures to be shown. It
raises `MistakeError` for a mistake, `CheckWarning` for a weakness, `CheckSkipped` if it cannot run.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from arena import registry
from arena.bots import manifest
from arena.check.conversation import Conversation, MistakeError
from arena.check.examination import CheckSkipped, CheckWarning, Examination
from arena.check.matches import ASCENDING, AlwaysPlayoff, fastest, play, slowest
from arena.check.mistakes import Mistake, unnamed_lock
from arena.check.packages import host_packages, is_python
from arena.model import Bot, Parameter
from arena.model.parameters import chosen, shown
from arena.system import clock
from arena.tables import table
from arena.wire.messages import Bye
from arena.wire.session import encode

QUIET_S = 0.03  # unasked output follows within this time after a message that wants no answer
# Time for a runtime's housekeeping, then the time in which processor use is measured.
SETTLES_S, IDLE_S = 0.3, 0.3
IDLE = 0.15  # share of a core: a bot that spins gets only a part of it on a busy machine
LEAVES_S = 1.0  # after `bye`, and after the end of its input, by the specification
PLAYS_S = 20.0  # a check begins no further match of a slow bot after this
LONG_LINE = 32_000  # "Well under 32 KiB" is promised; lines are padded to this
REPEATED = 60  # decisions that are compared with their repetition
IN_PIECES = 30  # lines written in pieces before the rest is written whole
NEARLY_SLOW, NEARLY_FULL = 0.5, 0.9
QUIET = 1  # the number of the match in which the bot has to be quiet
UNPLAYED = "it couldn't play a match to its end"

_Run = Callable[[Examination, str], Awaitable[str]]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    run: _Run
    title: str  # this and the next three: see checks.toml
    section: str
    rule: str = ""
    unusual: str = ""
    each_game: bool = False  # in every game, else in the first one
    first_steps: bool = False  # a bot that fails it can pass none of the checks after it
    warns: Mistake | None = None
    """The warning for a bot that fails only because of how lines are delivered."""
    applies: Callable[[Bot], bool] = lambda _: True


CHECKS: list[Check] = []


def _check(name: str, **more: Any) -> Callable[[_Run], _Run]:  # noqa: ANN401 - fields of `Check`
    def listed(run: _Run) -> _Run:
        CHECKS.append(Check(name=name, run=run, **table("check/checks")[name], **more))
        return run

    return listed


@_check("start", first_steps=True)
async def starts(exam: Examination, game: str) -> str:
    async with exam.talk(game) as talk:
        await talk.expect_silence(QUIET_S)
        return f"after {exam.ready_s * 1000:.0f} ms"


@_check("answer", first_steps=True)
async def answers(exam: Examination, game: str) -> str:
    async with exam.talk(game) as talk:
        await play(talk, at_most=3, pause=QUIET_S)
        return f"the first after {talk.times[0] * 1000:.1f} ms"


@_check("quiet")
async def keeps_quiet(exam: Examination, game: str) -> str:
    """A whole match, with pauses in which nothing may be written; then idle processor use."""
    async with exam.talk(game) as talk:
        try:
            await play(talk, number=QUIET, pause=QUIET_S)
        except MistakeError as error:
            if error.unwanted:
                raise
            exam.unplayed = game, error
            raise CheckSkipped(UNPLAYED) from None
        await talk.expect_silence(SETTLES_S)
        before, began = talk.solo.bot.cpu(), clock.monotonic()
        await talk.expect_silence(IDLE_S)
        exam.idle = (talk.solo.bot.cpu() - before) / (clock.monotonic() - began)
        return ""


async def _series(
    exam: Examination, process: AbstractAsyncContextManager[Conversation], *matches: dict[str, Any]
) -> str:
    """Matches in one process, as many as there is time for."""
    began = clock.monotonic()
    decisions = played = 0
    async with process as talk:
        for number, options in enumerate(matches):
            if played and (exam.quick or clock.monotonic() - began > PLAYS_S):
                break
            decisions += await play(talk, number=number, **options)
            played += 1
        await talk.expect_silence(QUIET_S)
    of = f" of {len(matches)}" if played < len(matches) else ""
    return f"{played}{of} matches, {decisions} decisions"


@_check("few", each_game=True)
async def plays_few(exam: Examination, game: str) -> str:
    """The fewest players: any moves; up to the turn cap; a sorted pack (negative scores)."""
    if exam.unplayed and exam.unplayed[0] == game:
        async with exam.talk(game) as talk:
            decisions = await play(talk, number=QUIET)
        if exam.alone_s:
            return f"1 match, {decisions} decisions"
        raise exam.unplayed[1]
    negative = {"seat": 0, "opponents": fastest, "deals": ASCENDING}
    return await _series(
        exam, exam.talk(game), {"seat": 0}, {"seat": 1, "opponents": slowest}, negative
    )


@_check("many", each_game=True)
async def plays_many(exam: Examination, game: str) -> str:
    """The most players: long lists, reshuffles; at the last seat and at the first."""
    seats = registry.game(game).max_seats
    last = {"seat": seats - 1, "opponents": slowest}
    return await _series(exam, exam.talk(game, seats), last, {"seat": 0})


@_check("playoff", each_game=True)
async def plays_off(exam: Examination, game: str) -> str:
    """Holes 10 and 11: with the bot and without it."""
    matches = ({"seat": seat, "referee": AlwaysPlayoff} for seat in (2, 0))
    return await _series(exam, exam.talk(game, 4, playoff=True), *matches)


_NEW = (
    '"x-list":[1,-2,[3,{"x-deep":null}]],'
    '"x-text":"\\u00e9\\u2028\\"\\\\ \\u00fc]}","x-number":1500.0'
)


def _with_unknown(line: bytes) -> bytes:
    """Add fields that protocol 1 doesn't have, to the message and to the objects in it."""
    # After `type`, which stays first; and in every object below.
    text = re.sub(r'^(\{"type":"[a-z_]+")', lambda found: f"{found[1]},{_NEW}", line.decode())
    below = r'(?<=[:,\[])\{(?="(seat|seats|move_ms)":)'
    return re.sub(below, lambda _: f"{{{_NEW},", text).encode()


@_check("fields")
async def ignores_fields(exam: Examination, game: str) -> str:
    async with exam.talk(game) as talk:
        exam.deliver(talk, lambda line: (_with_unknown(line),))
        return f"{await play(talk, number=2)} decisions"


@_check("messages")
async def ignores_messages(exam: Examination, game: str) -> str:
    unknown = b'{"type":"weather","text":"sunny","x":[1,{"y":2}]}\n'
    async with exam.talk(game) as talk:
        if not exam.ordinary:
            await talk.notify(unknown)
            await talk.expect_silence(QUIET_S)
        exam.deliver(talk, lambda line: (unknown + line,))
        return f"{await play(talk, number=3)} decisions"


@_check("pieces")
async def reads_pieces(exam: Examination, game: str) -> str:
    """Lines in three pieces, cut anywhere; then several lines at a time."""
    written = 0

    def in_pieces(line: bytes) -> Sequence[bytes]:
        nonlocal written
        written += 1
        if written > IN_PIECES:
            return (line,)
        third, two = len(line) // 3, len(line) - (written % 4)
        pieces = (line[:third], line[third:two], line[two:])
        return pieces if two < len(line) else (line[:third], line[third:])

    async with exam.talk(game) as talk:
        exam.deliver(talk, in_pieces)
        await play(talk, number=4, at_most=IN_PIECES)
        talk.batch = not exam.ordinary
        await play(talk, number=5)
    return f"{IN_PIECES} in pieces, then in bundles"


@_check("crlf", warns=Mistake.NO_CRLF)
async def reads_windows(exam: Examination, game: str) -> str:
    """A warning only: no referee writes CR LF, but an author who tests by hand may."""
    async with exam.talk(game) as talk:
        exam.deliver(talk, lambda line: (line.removesuffix(b"\n") + b"\r\n",))
        return f"{await play(talk, number=9, at_most=IN_PIECES)} decisions"


@_check("long")
async def reads_long(exam: Examination, game: str) -> str:
    """Questions of nearly 32 KiB."""

    def padded(line: bytes) -> Sequence[bytes]:
        rest = b'","'.join([b"abcdefgh"] * ((LONG_LINE - len(line)) // 11))
        return (line.replace(b'",', b'","x-long":["' + rest + b'"],', 1),)

    async with exam.talk(game) as talk:
        exam.deliver(talk, padded)
        return f"{await play(talk, number=6, at_most=IN_PIECES)} of {LONG_LINE} bytes"


@_check("packages", applies=is_python)
async def brings_packages(exam: Examination, _: str) -> str:
    found = await host_packages(exam)
    if not found:
        return ""
    text = f"{'; '.join(found)}.{unnamed_lock(exam.facts.files)}"
    raise CheckWarning(Mistake.HOST_PACKAGE, text)


def _parameters(bot: Bot) -> tuple[Parameter, ...]:
    return manifest.of_folder(Path(bot.root)).tune


@_check("parameters", applies=lambda bot: bool(_parameters(bot)))
async def plays_at_ends(exam: Examination, game: str) -> str:
    """A match at both ends of each parameter, the others as they are; then at all ends at once."""
    bot, parameters = exam.bot, _parameters(exam.bot)
    low, high = ({each.name: each.ends[end] for each in parameters} for end in (0, 1))
    settings = [{each.name: end} for each in parameters for end in each.ends]
    settings += [low, high] if len(parameters) > 1 else []
    try:
        for setting in settings:
            exam.bot = replace(bot, env=(*bot.env, *chosen(setting)))
            try:
                async with exam.talk(game) as talk:
                    await play(talk, number=10)
            except MistakeError as error:
                words = f"With {shown(setting)}: {error.finding.title}. {error.finding.found}"
                error.finding = replace(error.finding, found=words.strip())
                error.declined = False  # by its defaults it plays this game
                raise
    finally:
        exam.bot = bot
    return f"{len(settings)} settings"


@_check("time")
async def in_time(exam: Examination, _: str) -> str:
    _skip_after(exam, Mistake.TOO_SLOW, Mistake.SPENT, Mistake.ENDLESS)
    p50, p99, most = percentiles(exam.times)
    bank = exam.limits.match_ms / 1000
    detail = f"p50 {p50:.1f}, p99 {p99:.1f}, max {most:.1f} ms"
    if exam.spent:
        detail += f"; {exam.spent:.1f} of {bank:.0f} s a match"
    # One slow answer may be the machine's doing; a slow bot is slow in each process.
    slow = [t for t in exam.times if t * 1000 > NEARLY_SLOW * exam.limits.move_ms]
    if len(slow) > 1:
        found = f"{len(slow)} of {len(exam.times)} answers did, the slowest took {most:.0f} ms."
        raise CheckWarning(Mistake.NEARLY_SLOW, found, detail)
    if exam.spent > NEARLY_SLOW * bank:
        found = f"In one match its answers took {exam.spent:.1f} of {bank:.0f} s together."
        raise CheckWarning(Mistake.NEARLY_SPENT, found, detail)
    return detail


@_check("memory")
async def in_memory(exam: Examination, _: str) -> str:
    _skip_after(exam, Mistake.MEMORY, Mistake.NO_MEMORY)
    detail = f"peak {exam.memory_mb:.0f} of {exam.limits.memory_mb} MB"
    if exam.memory_mb > NEARLY_FULL * exam.limits.memory_mb:
        found = f"At its peak it used {exam.memory_mb:.0f} MB."
        raise CheckWarning(Mistake.NEARLY_FULL, found, detail)
    return detail


@_check("idle")
async def waits_idly(exam: Examination, _: str) -> str:
    if exam.unplayed:
        raise CheckSkipped(UNPLAYED)
    detail = f"{exam.idle * 100:.0f} % of a core"
    if exam.idle > IDLE:
        raise CheckWarning(Mistake.BUSY_WAIT, f"It used {detail} while it waited.", detail)
    return detail


def _skip_after(exam: Examination, *mistakes: Mistake) -> None:
    """A warning says nothing new about a bot that failed by these."""
    if known := [exam.known[mistake] for mistake in mistakes if mistake in exam.known]:
        raise CheckSkipped(f"see: {known[0]}")


def percentiles(seconds: Sequence[float]) -> tuple[float, float, float]:
    """p50, p99 and the largest, in milliseconds."""
    ordered = sorted(seconds) or [0.0]
    last = len(ordered) - 1
    p50, p99, most = (ordered[round(last * share)] * 1000 for share in (0.5, 0.99, 1.0))
    return p50, p99, most


@_check("repeat")
async def repeats(exam: Examination, game: str) -> str:
    """The same lines to two processes must give the same moves; other fields may differ."""
    moves = []
    for _ in range(2):
        async with exam.talk(game) as talk:
            await play(talk, number=7, at_most=REPEATED, steady=True)
            moves.append(talk.moves)
    for number, (one, two) in enumerate(zip(*moves, strict=False), 1):
        if one != two:
            found = f'At decision {number} it wrote "{one}", the second time "{two}".'
            raise CheckWarning(Mistake.NOT_REPEATABLE, found)
    return f"{len(moves[0])} decisions, twice"


@_check("leave")
async def leaves(exam: Examination, game: str) -> str:
    """`bye` in one process, the end of the input in another one."""
    for what in ("`bye`", "the end of its input"):
        async with exam.talk(game) as talk:
            await play(talk, number=8, at_most=3)
            if what == "`bye`":
                await talk.notify(encode(Bye()))
            else:
                talk.solo.close_input()
            ended = await talk.solo.left(LEAVES_S)
            status = talk.solo.bot.status()
            await talk.solo.kill()
            if ended is None:
                found = f"It was still running a second after {what}, and was killed."
                raise CheckWarning(Mistake.STAYS, found)
            if ended.code != 0:
                last = talk.solo.bot.log_tail().strip().rpartition("\n")[2]
                found = f"After {what}: {status}" + (f" ({last[:100]})." if last else ".")
                raise CheckWarning(Mistake.LEAVES_BADLY, found)
    return ""
