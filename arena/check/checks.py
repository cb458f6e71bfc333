"""The checks themselves, in their order: what each tries, and the section that it stands on.

A check is a coroutine that gives its figures, or a `Warned`; a bot that goes wrong leaves it by
`Stumble`. Each has fresh processes.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from arena import registry
from arena.check.causes import Cause, Section
from arena.check.examination import Examination, Unfinished, Warned
from arena.check.facts import unnamed_lock
from arena.check.matches import ASCENDING, PlayedOff, dawdling, hasty, play, settings_for
from arena.check.packages import is_python
from arena.check.talk import Stumble
from arena.model import Bot, Settings
from arena.wire.messages import Bye
from arena.wire.session import encode

# What comes right after something that wants no answer comes within this.
QUIET_S = 0.03
# As long has a runtime for its housekeeping, and then the processor use is measured.
SETTLES_S, IDLE_S = 0.3, 0.3
# Of a core; of a machine that others use too, a bot that spins gets only a part.
IDLE = 0.15
# After `bye`, and after the end of its input, as the specification says.
LEAVES_S = 1.0
# Between matches: what a check plays at most of a slow bot.
PLAYS_S = 20.0
# "Well under 32 KiB" is promised; lines are padded to this.
LONG_LINE = 32_000
# Decisions of a game that is compared with its repetition.
REPEATED = 60
# Lines that are written in pieces; after that the point is made.
IN_PIECES = 30
NEARLY_SLOW, NEARLY_FULL = 0.5, 0.9
# The match in which a bot has to be quiet.
QUIET = 1
UNPLAYED = "it couldn't play a match to its end"


# ------------------------------------------------------------------------------- the first steps


async def starts(exam: Examination, game: str) -> str:
    """`hello`, and nothing but `ready`."""
    async with exam.talk(exam.settings(game)) as talk:
        await talk.silence(QUIET_S)
        return f"after {exam.ready_s * 1000:.0f} ms"


async def answers(exam: Examination, game: str) -> str:
    """`match`, then the first questions."""
    settings = exam.settings(game)
    async with exam.talk(settings) as talk:
        await play(talk, settings, at_most=3, pause=QUIET_S)
        return f"the first after {talk.times[0] * 1000:.1f} ms"


async def keeps_quiet(exam: Examination, game: str) -> str:
    """A whole match with pauses in which nothing may come."""
    settings = exam.settings(game)
    async with exam.talk(settings) as talk:
        try:
            await play(talk, settings, number=QUIET, pause=QUIET_S)
        except Stumble as stumble:
            if stumble.spoke:
                raise
            exam.fell = game, stumble
            raise Unfinished(UNPLAYED) from None
        await talk.silence(SETTLES_S)
        before, began = talk.solo.cpu(), time.monotonic()
        await talk.silence(IDLE_S)
        exam.idle = (talk.solo.cpu() - before) / (time.monotonic() - began)
        return ""


# ------------------------------------------------------------------------------------- matches

_SeriesOf = Sequence[dict[str, Any]]


async def _series(exam: Examination, settings: Settings, matches: _SeriesOf) -> str:
    """Matches in one process, as many as there is time for."""
    began = time.monotonic()
    decisions = played = 0
    async with exam.talk(settings) as talk:
        for number, options in enumerate(matches):
            if played and (exam.quick or time.monotonic() - began > PLAYS_S):
                break
            decisions += await play(talk, settings, number=number, **options)
            played += 1
        await talk.silence(QUIET_S)
    of = f" of {len(matches)}" if played < len(matches) else ""
    return f"{played}{of} matches, {decisions} decisions"


async def plays_few(exam: Examination, game: str) -> str:
    """The fewest players: any moves; up to the turn cap; an ascending pack (negative scores)."""
    if exam.fell and exam.fell[0] == game:
        async with exam.talk(exam.settings(game)) as talk:
            await play(talk, exam.settings(game), number=QUIET)
        raise exam.fell[1]
    return await _series(
        exam,
        exam.settings(game),
        [
            {"seat": 0},
            {"seat": 1, "opponents": dawdling},
            {"seat": 0, "opponents": hasty, "deals": ASCENDING},
        ],
    )


async def plays_many(exam: Examination, game: str) -> str:
    """The most players: long lists, reshuffles; at the first seat and at the last."""
    seats = registry.game(game).max_seats
    return await _series(
        exam,
        exam.settings(game, seats),
        [{"seat": seats - 1, "opponents": dawdling}, {"seat": 0}],
    )


async def plays_off(exam: Examination, game: str) -> str:
    """Holes 10 and 11: with the bot and without it."""
    settings = settings_for(game, 4, exam.limits, playoff=True)
    return await _series(
        exam,
        settings,
        [{"seat": 2, "referee": PlayedOff}, {"seat": 0, "referee": PlayedOff}],
    )


# ----------------------------------------------------------------------- what version 1 may become

_NEW = {
    "x-list": [1, -2, [3, {"x-deep": None}]],
    "x-text": 'é\u2028"\\ \u00fc]}',
    "x-number": 1.5e3,
}
_NEW_ASCII = json.dumps(_NEW, separators=(",", ":"))


def _with_unknown(line: bytes) -> bytes:
    """The same message with fields that version 1 doesn't have (yet): in it and in its objects."""
    text = line.decode()
    inner = _NEW_ASCII[1:-1]
    # After `type`, which stays first; and in every object below.
    text = re.sub(r'^(\{"type":"[a-z_]+")', lambda found: f"{found[1]},{inner}", text)
    return re.sub(
        r'(?<=[:,\[])\{(?="(seat|seats|move_ms)":)', lambda _: f"{{{inner},", text
    ).encode()


async def ignores_fields(exam: Examination, game: str) -> str:
    """A whole match."""
    settings = exam.settings(game)
    async with exam.talk(settings) as talk:
        exam.dress(talk, lambda line: (_with_unknown(line),))
        return f"{await play(talk, settings, number=2)} decisions"


async def ignores_messages(exam: Examination, game: str) -> str:
    """A whole match with messages in between that version 1 doesn't have (yet)."""
    settings = exam.settings(game)
    unknown = b'{"type":"weather","text":"sunny","x":[1,{"y":2}]}\n'
    async with exam.talk(settings) as talk:
        if not exam.plain:
            await talk.tell(unknown)
            await talk.silence(QUIET_S)
        exam.dress(talk, lambda line: (unknown + line,))
        return f"{await play(talk, settings, number=3)} decisions"


# ------------------------------------------------------------------------------ how lines arrive


async def reads_pieces(exam: Examination, game: str) -> str:
    """Lines in three pieces, cut anywhere; then several lines at a time."""
    settings = exam.settings(game)
    written = 0

    def in_pieces(line: bytes) -> Sequence[bytes]:
        nonlocal written
        written += 1
        if written > IN_PIECES:
            return (line,)
        third, two = len(line) // 3, len(line) - (written % 4)
        return (
            (line[:third], line[third:two], line[two:])
            if two < len(line)
            else (line[:third], line[third:])
        )

    async with exam.talk(settings) as talk:
        exam.dress(talk, in_pieces)
        await play(talk, settings, number=4, at_most=IN_PIECES)
        talk.join = not exam.plain
        await play(talk, settings, number=5)
    return f"{IN_PIECES} in pieces, then in bundles"


async def reads_windows(exam: Examination, game: str) -> str:
    """No referee writes CR LF, but who tries a bot by hand may: so it is no fault."""
    settings = exam.settings(game)
    async with exam.talk(settings) as talk:
        exam.dress(talk, lambda line: (line.removesuffix(b"\n") + b"\r\n",))
        return f"{await play(talk, settings, number=9, at_most=IN_PIECES)} decisions"


async def reads_long(exam: Examination, game: str) -> str:
    """Questions of nearly 32 KiB."""
    settings = exam.settings(game)

    def padded(line: bytes) -> Sequence[bytes]:
        rest = b'","'.join([b"abcdefgh"] * ((LONG_LINE - len(line)) // 11))
        return (line.replace(b'",', b'","x-long":["' + rest + b'"],', 1),)

    async with exam.talk(settings) as talk:
        exam.dress(talk, padded)
        decisions = await play(talk, settings, number=6, at_most=IN_PIECES)
        return f"{decisions} of {LONG_LINE} bytes"


# --------------------------------------------------------------------------------- time, memory


async def in_time(exam: Examination, _: str) -> str:
    """Nothing is played for it: what was measured until now."""
    _not_told(exam, Cause.TOO_SLOW, Cause.SPENT, Cause.ENDLESS)
    ms = percentiles(exam.times)
    bank = exam.limits.match_ms / 1000
    detail = f"p50 {ms[0]:.1f}, p99 {ms[1]:.1f}, max {ms[2]:.1f} ms"
    if exam.spent:
        detail += f"; {exam.spent:.1f} of {bank:.0f} s a match"
    # Once may be the machine's doing; what is slow in a bot is slow in each process.
    slow = [t for t in exam.times if t * 1000 > NEARLY_SLOW * exam.limits.move_ms]
    if len(slow) > 1:
        found = f"{len(slow)} of {len(exam.times)} answers did, the slowest took {ms[2]:.0f} ms."
        raise Warned(Cause.NEARLY_SLOW, found, detail)
    if exam.spent > NEARLY_SLOW * bank:
        found = f"In one match its answers took {exam.spent:.1f} of {bank:.0f} s together."
        raise Warned(Cause.NEARLY_SPENT, found, detail)
    return detail


async def in_memory(exam: Examination, _: str) -> str:
    """The same for memory."""
    _not_told(exam, Cause.MEMORY, Cause.NO_MEMORY)
    detail = f"peak {exam.memory_mb:.0f} of {exam.limits.memory_mb} MB"
    if exam.memory_mb > NEARLY_FULL * exam.limits.memory_mb:
        raise Warned(Cause.NEARLY_FULL, f"At its peak it used {exam.memory_mb:.0f} MB.", detail)
    return detail


async def waits_idly(exam: Examination, _: str) -> str:
    """The same for what it does while it isn't asked."""
    if exam.fell:
        raise Unfinished(UNPLAYED)
    detail = f"{exam.idle * 100:.0f} % of a core"
    if exam.idle > IDLE:
        raise Warned(Cause.BUSY_WAIT, f"It used {detail} while it waited.", detail)
    return detail


def _not_told(exam: Examination, *causes: Cause) -> None:
    """A warning of what is a fault already says no more."""
    if known := [exam.known[cause] for cause in causes if cause in exam.known]:
        raise Unfinished(f"see: {known[0]}")


async def brings_packages(exam: Examination, _: str) -> str:
    """Nothing is played for it: its files are read, and its interpreter is asked."""
    found = await exam.borrowed()
    if not found:
        return ""
    listed = [f"{each.name} (imported in {each.imported}) is {each.place}" for each in found]
    raise Warned(Cause.HOST_PACKAGE, f"{'; '.join(listed)}.{unnamed_lock(exam.files)}")


def percentiles(seconds: Sequence[float]) -> tuple[float, float, float]:
    """p50, p99 and the largest, in milliseconds."""
    ordered = sorted(seconds) or [0.0]
    last = len(ordered) - 1
    p50, p99, most = (ordered[round(last * share)] * 1000 for share in (0.5, 0.99, 1.0))
    return p50, p99, most


async def repeats(exam: Examination, game: str) -> str:
    """The same lines to two processes; what an answer holds beside the move may differ."""
    settings = exam.settings(game)
    moves = []
    for _ in range(2):
        async with exam.talk(settings) as talk:
            await play(talk, settings, number=7, at_most=REPEATED, steady=True)
            moves.append(talk.moves)
    for number, (one, two) in enumerate(zip(*moves, strict=False), 1):
        if one != two:
            found = f'At decision {number} it wrote "{one}", the second time "{two}".'
            raise Warned(Cause.NOT_REPEATABLE, found)
    return f"{len(moves[0])} decisions, twice"


# --------------------------------------------------------------------------------------- the end


async def leaves(exam: Examination, game: str) -> str:
    """`bye` in one process, the end of the input in another one."""
    settings = exam.settings(game)
    for what in ("`bye`", "the end of its input"):
        async with exam.talk(settings) as talk:
            await play(talk, settings, number=8, at_most=3)
            if what == "`bye`":
                await talk.tell(encode(Bye()))
            else:
                talk.solo.close_input()
            ended = await talk.solo.left(LEAVES_S)
            status = talk.solo.status
            await talk.solo.kill()
            if ended is None:
                raise Warned(Cause.STAYS, f"It was there a second after {what}, and was killed.")
            if ended.code != 0:
                last = talk.solo.stderr.strip().rpartition("\n")[2]
                found = f"After {what}: {status}" + (f" ({last[:100]})." if last else ".")
                raise Warned(Cause.LEAVES_BADLY, found)
    return ""


class Check(msgspec.Struct, frozen=True):
    """One of the list."""

    name: str
    title: str
    """What a bot that passes does."""
    section: Section
    run: Callable[[Examination, str], Awaitable[str]]
    each_game: bool = False
    """In every game, else in the first one."""
    first_steps: bool = False
    """Whether nothing after it makes sense if it fails."""
    works: str = ""
    """How a bot that plays but fails here does work: a part of the advice."""
    dresses: bool = False
    """Whether lines come otherwise in it than a referee writes them."""
    warns: Cause | None = None
    """What a bot is warned of that fails by lines that no referee writes."""
    applies: Callable[[Bot], bool] = lambda _: True
    """To which bots."""


_S = Section

CHECKS: tuple[Check, ...] = (
    Check("start", "starts, and answers hello with ready", _S.HELLO, starts, first_steps=True),
    Check("answer", "answers its first questions", _S.ACT, answers, first_steps=True),
    Check("quiet", "says nothing unasked", _S.CONVERSATION, keeps_quiet),
    Check("few", "plays {game}, {fewest} players", _S.CONVERSATION, plays_few, each_game=True),
    Check("many", "plays {game}, {most} players", _S.CONVERSATION, plays_many, each_game=True),
    Check("playoff", "plays {game}, playoff holes", _S.HELLO, plays_off, each_game=True),
    Check(
        "fields",
        "ignores fields that it doesn't know",
        _S.CHANGE,
        ignores_fields,
        works="without the unknown fields",
        dresses=True,
    ),
    Check(
        "messages",
        "ignores messages that it doesn't know",
        _S.CHANGE,
        ignores_messages,
        works="without the unknown messages",
        dresses=True,
    ),
    Check(
        "pieces",
        "reads lines however they arrive",
        _S.CONVERSATION,
        reads_pieces,
        works="with lines that come one by one, in one piece",
        dresses=True,
    ),
    Check(
        "crlf",
        "reads lines that end in CR LF",
        _S.CONVERSATION,
        reads_windows,
        dresses=True,
        warns=Cause.NO_CRLF,
    ),
    Check(
        "long",
        "reads long lines",
        _S.MESSAGES,
        reads_long,
        works="with short lines",
        dresses=True,
    ),
    Check("packages", "brings its packages along", _S.WHERE, brings_packages, applies=is_python),
    Check("time", "keeps well within its time", _S.LIMITS, in_time),
    Check("memory", "keeps within its memory", _S.LIMITS, in_memory),
    Check("idle", "waits without computing", _S.LIMITS, waits_idly),
    Check("repeat", "plays the same again with the same seed", _S.MESSAGES, repeats),
    Check("leave", "leaves after bye and at the end of its input", _S.CONVERSATION, leaves),
)
