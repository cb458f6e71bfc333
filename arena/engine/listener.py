"""Waiting for what a bot says, at the cost of the bot's own time.

Theory of operation. `hear` waits for an event and looks at its `Stopwatch` when that wants it.
Where the stopwatch wants proof that a wait was one, `hear` first reads what the other bots at the
table have used. If that isn't enough it tries whether the core is overloaded: the bot's tree is
stopped meanwhile, what it had said by then is read, and that time is nobody's.

Invariant: None, for being late, is only ever returned for time that was the bot's.
"""

from __future__ import annotations

import time

import trio

from arena.engine.contestant import Contestant
from arena.engine.pipes import Table
from arena.engine.stopwatch import RETRY_S, Stopwatch, Verdict
from arena.model import HostError
from arena.wire.messages import Answer
from arena.wire.session import BotSession, Event, Pending

STIRRED_S = 0.001
"""A tree that uses more CPU than that while it is stopped wasn't; then a trial proves nothing."""


def stopwatch(table: Table, contestant: Contestant, limit: float) -> Stopwatch:
    """One that begins now."""
    taken = table.taken(contestant)
    first, core = table.reading(contestant), table.core
    return Stopwatch(
        limit, first.at, first, taken=taken, counted=core.own.counted, alone=core.alone
    )


async def hear(
    table: Table, contestant: Contestant, watch: Stopwatch, event: Event
) -> Event | None:
    """Wait until there is an event; None: it has come, or would come, too late."""
    session = contestant.session
    while True:
        event = await _waited(table, session, watch, event)
        answered = _answered(contestant, event)
        # What was read in time is in time, however late it is looked at.
        at = contestant.heard if answered else None
        verdict = watch.look(table.reading(contestant, at), answered=answered)
        if verdict is Verdict.UNPROVEN or (answered and watch.unproven):
            verdict = watch.credit(table.taken(contestant))
        if verdict is Verdict.UNPROVEN:
            verdict = _tried(table, contestant, watch)
            if not answered:
                event = session.next_event()
        while answered and verdict is Verdict.UNPROVEN:
            await trio.sleep(RETRY_S)
            verdict = _tried(table, contestant, watch)
        if verdict is Verdict.LATE:
            return None
        if verdict is Verdict.STUCK:
            raise HostError(
                f"the machine is too loaded: a bot was given {watch.charge:.1f} of "
                f"{watch.wall:.1f} seconds for a decision; end what else is running"
            )
        if answered:
            if watch.unproven:  # nothing but the bank hangs on it
                _tried(table, contestant, watch, lately=True)
            return event


async def _waited(table: Table, session: BotSession, watch: Stopwatch, event: Event) -> Event:
    """Wait until there is an event, or it is time for a look; the table's own work meanwhile is
    nobody's time.
    """
    aside = table.aside
    while event is Pending.NEED_DATA and (left := watch.due - time.monotonic()) > 0:
        await table.wait(left)
        event = session.next_event()
    watch.leave_out(table.aside - aside)
    return event


def _answered(contestant: Contestant, event: Event) -> bool:
    """Whether nothing more is waited for. Who is to stand still from then on is stopped before its
    time is read: what it does until it stands isn't done off turn.
    """
    if contestant.rests and isinstance(event, Answer):
        contestant.freeze()
    return event is not Pending.NEED_DATA


def _tried(
    table: Table, contestant: Contestant, watch: Stopwatch, *, lately: bool = False
) -> Verdict:
    """Have it tried whether the core is overloaded; `lately`: what was found lately will do."""
    known = table.core.known if lately else None
    overloaded = _overloaded(table, contestant) if known is None else known
    return watch.tried(
        table.reading(contestant), overloaded=overloaded, taken=table.taken(contestant)
    )


def _overloaded(table: Table, contestant: Contestant) -> bool:
    """Try the core while the bot stands still."""
    stood = contestant.frozen
    contestant.freeze()
    try:
        table.look(0)  # what it had said
        used = contestant.cpu()
        overloaded = table.core.overloaded()
        stirred = contestant.cpu() - used
    finally:
        if not stood:
            contestant.thaw()
    return overloaded and stirred <= STIRRED_S
