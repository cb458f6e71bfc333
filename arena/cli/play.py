"""Playing an event that is prepared: the display, signals, the table, how to go on.

Whatever ends the playing, the command that goes on is printed if anything is left to play.
"""

from __future__ import annotations

import shlex
import signal

import click
import msgspec
import trio

from arena.cli.progress import JsonLines, Progress
from arena.cli.screen import colour, columns, say
from arena.executors.local import LocalExecutor
from arena.reports import render
from arena.store import Store
from arena.tournament import Tournament

# How often the display is drawn.
TICK_S = 0.2
# Signals that stop an event, and the exit codes that tell so.
AT_ONCE = signal.SIGUSR1
STOPPED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, AT_ONCE: 143}


def play(
    store: Store,
    secret: bytes,
    executor: LocalExecutor,
    watcher: Progress,
    *,
    max_time: int | None,
) -> int:
    """Play until the end or a stop; print the table, and how to go on if it isn't over."""
    tournament = Tournament(store, secret, watcher)
    planned, left = tournament.planned, tournament.left
    watcher.begin(planned, planned - left)
    event = store.event
    if isinstance(watcher, JsonLines):
        watcher.say(
            "start",
            folder=str(store.folder),
            commitment=event.commitment,
            predictable=event.predictable,
            bots=[entrant.id for entrant in event.entrants],
            planned=planned,
            done=planned - left,
            sandbox=event.sandbox,
        )
    else:
        watcher.note(
            f"{len(event.entrants)} bots, {left} matches to play, results in {store.folder}"
        )
        watcher.note(f"commitment {event.commitment}")
        if event.sandbox == "none":
            say("warning: --sandbox none: the bots can do whatever you can do")
    outcome: list[int] = []
    try:
        trio.run(_follow, tournament, executor, watcher, max_time, outcome)
        watcher.end()
        if tournament.left == 0:
            tournament.conclude()
        _publish(store, tournament, watcher)
    finally:
        watcher.end()
        _tell_trouble(store, tournament, watcher)
        if not store.event.finished:
            _tell_resume(store, watcher)
    return outcome[0] if outcome and not store.event.finished else 0


async def _follow(
    tournament: Tournament,
    executor: LocalExecutor,
    watcher: Progress,
    max_time: int | None,
    outcome: list[int],
) -> None:
    """Play, with a clock for the display and an ear for signals."""
    stop = trio.Event()

    async def tick() -> None:
        while True:
            watcher.tick()
            await trio.sleep(TICK_S)

    async def listen() -> None:
        with trio.open_signal_receiver(*STOPPED) as signals:
            async for number in signals:
                outcome.append(STOPPED[signal.Signals(number)])
                if len(outcome) > 1 or number == AT_ONCE:
                    nursery.cancel_scope.cancel()
                stop.set()
                if len(outcome) == 1:
                    watcher.note("stopping after the series in play; once more to stop at once")

    async def alarm(seconds: float) -> None:
        await trio.sleep(seconds)
        stop.set()
        watcher.note("the time is over: stopping after the series in play")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(tick)
        nursery.start_soon(listen)
        if max_time is not None:
            nursery.start_soon(alarm, max_time / 1000)
        await tournament.play(executor, stop)
        nursery.cancel_scope.cancel()


def _publish(store: Store, tournament: Tournament, watcher: Progress) -> None:
    """The table: on the screen, and beside the log in every form."""
    table = tournament.result()
    for name, kind in (("table.txt", "text"), ("table.md", "md"), ("table.csv", "csv")):
        store.write(name, render(table, kind, width=None))
    store.write("table.json", render(table, "json"))
    if isinstance(watcher, JsonLines):
        watcher.say("table", table=msgspec.json.decode(render(table, "json")))
        watcher.say("end", finished=store.event.finished, done=watcher.done)
        return
    click.echo(render(table, "text", width=columns(), color=colour()), nl=False)


def _tell_trouble(store: Store, tournament: Tournament, watcher: Progress) -> None:
    """What went wrong, a line for each bot: to be mended by its author, or by us."""
    if not isinstance(watcher, JsonLines):
        for _, line in sorted(watcher.first_faults.items()):
            say(line)
        if watcher.first_faults:
            say(f"all faults: arena log {shlex.quote(str(store.folder))} --faults")
    for entrant, times, voids in tournament.suspects():
        say(f"{entrant} was at the table in {times} of {voids} void series")


def _tell_resume(store: Store, watcher: Progress) -> None:
    folder = str(store.folder)
    command = f"arena resume {shlex.quote(f'./{folder}' if folder.startswith('-') else folder)}"
    if isinstance(watcher, JsonLines):
        try:
            watcher.say("resume", command=command)
        except OSError:  # whoever read our lines is gone: tell whoever started us
            pass
        else:
            return
    say(f"not finished; everything played is kept; go on with: {command}")
