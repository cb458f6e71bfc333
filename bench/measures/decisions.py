"""What a decision costs, and its two floors: ping-pong in C, and a referee in C without rules.

All of it on one core, with this process on another. The worker plays the matches whose conversation
the C referee replays: the same lines to the same bots.
"""

from __future__ import annotations

import functools
import json
import subprocess
import time
from collections.abc import Mapping

from measures import UNIT, Measure, Row
from measures.conversation import Conversation, series_of, settings_of
from measures.stage import Stage, staying_on
from measures.worker import Worker, cpu_us

EXCHANGES = 40_000
REPLAYS = 1
MATCHES = 121
"""In a series, of which the first is left out. More than decks are kept of: every round plays the
same matches, and none is to find its decks shuffled.
"""


def ping_pong(stage: Stage) -> Mapping[str, float]:
    """The unit: two C programs, a request of 400 bytes, an answer of 40."""
    found = _printed(stage, stage.program("pingpong"), str(EXCHANGES), "400", "40")
    return {UNIT: found["wall_us"], "ping-pong.cpu": found["cpu_us"]}


def c_referee(stage: Stage) -> Mapping[str, float]:
    """Epoll, deadlines and whole lines in C: replays the worker's own conversation."""
    path = stage.folder / "conversation"
    if not path.exists():
        lines: list[bytes] = []
        settings = settings_of()
        conversation = Conversation(
            settings, lambda seat, line: lines.append(b"%d%b" % (seat, line))
        )
        for spec in series_of(("a", "b"), MATCHES).matches[1:]:
            conversation.play(spec)
        path.write_bytes(b"".join(lines))
    bot = stage.bot("instant")
    program = bot.run[0].replace("/bot/", f"{bot.root}/")
    found = _printed(stage, stage.program("referee"), str(path), str(REPLAYS), program)
    return {"c-referee.wall": found["wall_us"], "c-referee.cpu": found["cpu_us"]}


def _printed(stage: Stage, *command: str) -> dict[str, float]:
    with staying_on({stage.core}):
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def worker(
    stage: Stage,
    *,
    key: str,
    bot: str,
    words: tuple[str, ...] = (),
    game: str = "play-nine",
    seats: int = 2,
    sandbox: str = "",
    matches: int = MATCHES,
) -> Mapping[str, float]:
    """A decision by a real worker: its CPU, and the wall time of everything on its core."""
    found = stage.worker(bot, *words, game=game, seats=seats, sandbox=sandbox)
    short, long = (_played(stage, found, number) for number in (1, matches))
    used, wall, decisions, thought = (more - less for less, more in zip(short, long, strict=True))
    return {
        f"{key}.wall": wall / decisions,
        f"{key}.cpu": used / decisions,
        f"{key}.waits": thought / decisions,
    }


def _played(stage: Stage, found: Worker, matches: int) -> tuple[float, float, int, float]:
    """(CPU, wall time, decisions, time between questions and answers) of a series."""
    pid = found.process.pid
    with staying_on(stage.others):
        begun, before = time.monotonic(), cpu_us(pid)
        seen = list(found.play(series_of(found.names, matches)))
        used, wall = cpu_us(pid) - before, (time.monotonic() - begun) * 1e6
    thought = sum(use.think_ms for each in seen for use in each.record.use)
    return used, wall, sum(each.decisions for each in seen), thought * 1e3


def _worker(key: str, text: str, *rows: Row, **how: str | int | tuple[str, ...]) -> Measure:
    return Measure(
        name=key,
        about=text,
        run=functools.partial(worker, key=key, **how),
        rows=rows
        or (
            Row(key=f"{key}.cpu", text="referee's CPU", unit="µs", of="ping-pong.cpu"),
            Row(key=f"{key}.wall", text="wall", unit="µs", of=UNIT),
        ),
    )


MEASURES = (
    Measure(
        name="ping-pong",
        about="the unit: ping-pong between two C programs, one exchange",
        run=ping_pong,
        rows=(
            Row(key=UNIT, text="wall", unit="µs"),
            Row(key="ping-pong.cpu", text="CPU of one side", unit="µs"),
        ),
    ),
    Measure(
        name="c-referee",
        about="the floor: an epoll referee in C without rules, a decision",
        run=c_referee,
        rows=(
            Row(key="c-referee.cpu", text="referee's CPU", unit="µs", of="ping-pong.cpu"),
            Row(key="c-referee.wall", text="wall", unit="µs", of=UNIT),
        ),
    ),
    _worker(
        "worker",
        "a worker and C bots that answer at once, a decision",
        Row(
            key="worker.cpu",
            text="referee's CPU / ping-pong side's",
            unit="µs",
            of="ping-pong.cpu",
            goal=3.5,
        ),
        Row(
            key="worker.wall",
            text="wall / C referee's",
            unit="µs",
            of="c-referee.wall",
            goal=1.7,
        ),
        Row(
            key="worker.waits",
            text="question written to answer read",
            unit="µs",
            of="c-referee.wall",
        ),
        bot="instant",
    ),
    _worker("worker-none", "the same with --sandbox none", bot="instant", sandbox="none"),
    _worker("worker-lean", "the same with lean Python bots", bot="lean"),
    _worker(
        "worker-full",
        "Python bots that read JSON, draw and swap, asked in full",
        bot="follower",
        matches=21,
    ),
    _worker(
        "worker-next",
        "the same bots and moves, lean questions",
        Row(
            key="worker-next.cpu",
            text="referee's CPU / asked in full",
            unit="µs",
            of="worker-full.cpu",
        ),
        Row(key="worker-next.wall", text="wall / asked in full", unit="µs", of="worker-full.wall"),
        bot="follower",
        words=("lean",),
        matches=21,
    ),
    _worker("worker-quick", "the same with example_bots/quick", bot="quick"),
    _worker("worker-golf", "the same in four-card-golf", bot="instant", game="four-card-golf"),
    _worker("worker-seats", "the same at 4 seats", bot="instant", seats=4),
)
