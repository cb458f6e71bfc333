"""Whether the time that a bot is charged depends on who else plays.

A bot does the same work before each answer, against an opponent that answers at once, and every
single charge of the referee's is noted. Beside them: none; workers on all other cores, whose bots
answer at once or compute for 5 ms each time; twice as many workers as cores, pinned to none; an
opponent that goes on computing when it has answered, with and without `--freeze`; or, on the same
core, the starts of bots for other matches, which is what starting a series early would be.

While all cores are busy this process, which hears of each match as an event's parent does, may run
on any of them.
"""

from __future__ import annotations

import array
import contextlib
import functools
import statistics
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence

from arena.model import Bot
from measures import Measure, Row
from measures.conversation import series_of
from measures.stage import BENCH, Stage, staying_on
from measures.worker import Worker

WORK = "220000"
"""What the bot does for a decision: 0.2 ms where that is measured that stands in README.md."""
BURN = "5500000"
"""25 times that."""
NOTHING = "0"
MATCHES = 31
"""Some 150 decisions each; the first match is left out."""
FEW = 11
"""Where a decision takes long."""
LONG_S = 0.001
AT_A_TIME = {NOTHING: 1_000, BURN: 3}
"""Matches in a series of those beside it, about a second's worth. They play series after series
until the measured one is over, and are never killed: the CPU of a killed process is in no account.
"""
TIMED_WORKER = BENCH / "programs" / "timed_worker.py"


def charged(
    stage: Stage,
    *,
    key: str,
    beside: str = "",
    crowd: bool = False,
    starts: bool = False,
    opponent: Sequence[str] = (NOTHING,),
    freeze: bool = False,
    matches: int = MATCHES,
) -> Mapping[str, float]:
    """The charges for the same work. `beside`: what the bots of other workers do, if there are any.
    `crowd`: these are many, and none has a core to itself. `starts`: others start on this core.
    """
    bots = (_bot(stage, 0, WORK), _bot(stage, 1, *opponent))
    file = stage.empty()
    command = (sys.executable, "-P", str(TIMED_WORKER), str(file))
    core = None if crowd else stage.core
    with contextlib.ExitStack() as stack:
        if beside:
            cores = [None] * (2 * len(stage.cores) - 1) if crowd else stage.cores[:-1]
            for other in cores:
                stack.enter_context(_playing(stage, beside, other))
        else:
            stack.enter_context(staying_on(stage.others))
        if starts:
            stack.enter_context(_playing(stage, NOTHING, stage.core, at_a_time=1))
        worker = Worker(bots, core=core, sandbox=stage.sandbox, freeze=freeze, command=command)
        stack.callback(worker.close)
        first = decisions = 0
        for seen in worker.play(series_of(worker.names, matches)):
            decisions += seen.record.use[0].decisions
            first = first or decisions
    times = array.array("d", file.read_bytes())
    file.unlink()
    if len(times) != decisions:
        raise RuntimeError(f"{len(times)} of {decisions} decisions were noted")
    return {f"{key}.{name}": value for name, value in _distribution(times[first:]).items()}


def _distribution(times: Sequence[float]) -> dict[str, float]:
    """In microseconds; the share in per cent."""
    in_order = sorted(times)
    return {
        "median": statistics.median(in_order) * 1e6,
        **{
            name: in_order[int(share * (len(in_order) - 1))] * 1e6
            for name, share in (("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("most", 1.0))
        },
        "long": 100 * sum(each > LONG_S for each in in_order) / len(in_order),
    }


def _bot(stage: Stage, number: int, *words: str) -> Bot:
    return stage.field("steady", number + 1, *words)[number]


@contextlib.contextmanager
def _playing(stage: Stage, work: str, core: int | None, at_a_time: int = 0) -> Iterator[None]:
    """A worker that plays two bots all the while."""
    bots = (_bot(stage, 0, work), _bot(stage, 1, work))
    worker = Worker(bots, core=core, sandbox=stage.sandbox, game="four-card-golf")
    series = series_of(worker.names, at_a_time or AT_A_TIME[work])
    at_work, enough = threading.Event(), threading.Event()
    trouble: list[str] = []

    def play() -> None:
        try:
            while not enough.is_set():
                for _ in worker.play(series):
                    at_work.set()
        except RuntimeError as error:
            trouble.append(str(error))
            at_work.set()

    reading = threading.Thread(target=play)
    reading.start()
    at_work.wait()
    try:
        yield
    finally:
        enough.set()
        reading.join()
        worker.close()
    if trouble:
        raise RuntimeError(f"a neighbour: {trouble[0]}")


ALONE = "charge.alone"


def _situation(name: str, about: str, **how: object) -> Measure:
    key = f"charge.{name}"
    of = "" if key == ALONE else ALONE
    texts = {
        "median": "median",
        "p90": "9 of 10 are below",
        "p99": "99 of 100",
        "p999": "999 of 1,000",
        "most": "longest",
    }
    return Measure(
        name=key.replace(".", "-"),
        about=about,
        run=functools.partial(charged, key=key, **how),
        rows=(
            *(
                Row(key=f"{key}.{at}", text=text, unit="µs", of=of and f"{of}.{at}")
                for at, text in texts.items()
            ),
            Row(key=f"{key}.long", text="longer than 1 ms", unit="%"),
        ),
        most=3,
        warm=False,
    )


MEASURES = (
    _situation("alone", "0.2 ms of work as it is charged: one worker, the other cores at rest"),
    _situation("all", "the same on all cores, beside bots that answer at once", beside=NOTHING),
    _situation("burning", "the same on all cores, beside bots that compute 5 ms", beside=BURN),
    _situation(
        "crowd",
        "the same with two workers a core, pinned to none, bots that compute 5 ms",
        beside=BURN,
        crowd=True,
        matches=FEW,
    ),
    _situation(
        "starts",
        "the same while bots of other matches start on this core",
        starts=True,
        matches=FEW,
    ),
    _situation(
        "thread",
        "the same against an opponent with a thread that computes off turn",
        opponent=(NOTHING, "thread"),
        matches=FEW,
    ),
    _situation(
        "child",
        "the same against an opponent with a child that computes off turn",
        opponent=(NOTHING, "child"),
        matches=FEW,
    ),
    _situation(
        "frozen-alone",
        "the same with --freeze, against an opponent that has nothing to compute",
        freeze=True,
    ),
    _situation(
        "frozen-thread",
        "the same with --freeze, against the opponent with the thread",
        opponent=(NOTHING, "thread"),
        freeze=True,
    ),
    _situation(
        "frozen-child",
        "the same with --freeze, against the opponent with the child",
        opponent=(NOTHING, "child"),
        freeze=True,
    ),
)
