"""Wait for a bot's answer; charge only the time that was the bot's own.

Where the decision's `Stopwatch` wants proof that a wait was one, `hear` first reads what the other
bots of the match have used. If that isn't enough it tries whether the core is overloaded: the bot's
tree is stopped meanwhile, its output so far is read, and no bot is charged.

Invariant: None, for being late, is only ever returned for time that was the bot's.
"""

import trio

from arena.engine.contestant import Contestant
from arena.engine.pipes import Pipes
from arena.engine.stopwatch import RETRY_S, Stopwatch, TimeVerdict
from arena.model import HostError
from arena.system import clock
from arena.wire.messages import Answer
from arena.wire.session import Pending, WireEvent

STIRRED_S = 0.001  # a stopped tree that uses more CPU than that wasn't: a trial proves nothing then


def stopwatch(pipes: Pipes, contestant: Contestant, limit: float) -> Stopwatch:
    taken = pipes.taken(contestant)
    first, core = pipes.reading(contestant), pipes.core
    return Stopwatch(limit, first.at, first, taken=taken, counted=core.counted, alone=core.alone)


async def hear(
    pipes: Pipes, contestant: Contestant, watch: Stopwatch, event: WireEvent
) -> WireEvent | None:
    """Wait until there is an event; None: it came, or would come, too late."""
    session = contestant.session
    while True:
        event = await _waited(pipes, contestant, watch, event)
        answered = event is not Pending.NEED_DATA
        # An answer that was read in time is in time, however late it is judged.
        at = contestant.heard if answered else None
        verdict = watch.look(pipes.reading(contestant, at), answered=answered)
        if verdict is TimeVerdict.UNPROVEN or (answered and watch.unproven):
            verdict = watch.credit(pipes.taken(contestant))
        if verdict is TimeVerdict.UNPROVEN:
            verdict = _try_core(pipes, contestant, watch)
            if not answered:
                event = session.next_event()
        while answered and verdict is TimeVerdict.UNPROVEN:
            await trio.sleep(RETRY_S)
            verdict = _try_core(pipes, contestant, watch)
        if verdict is TimeVerdict.LATE:
            return None
        if verdict is TimeVerdict.STUCK:
            raise HostError(
                f"the machine is too loaded: a bot was given {watch.charge:.1f} of "
                f"{watch.wall:.1f} seconds for a decision; end what else is running"
            )
        if answered:
            if watch.unproven:  # nothing but the bank hangs on it
                _try_core(pipes, contestant, watch, lately=True)
            return event


async def _waited(
    pipes: Pipes, contestant: Contestant, watch: Stopwatch, event: WireEvent
) -> WireEvent:
    """Wait until there is an event, or a reading is due. The overseer's work meanwhile is left out
    of the bot's time. A bot that rests off turn is stopped: what it does until then is on its turn.
    """
    aside = pipes.aside
    while event is Pending.NEED_DATA and (left := watch.due - clock.monotonic()) > 0:
        await pipes.wait(left)
        event = contestant.session.next_event()
    watch.leave_out(pipes.aside - aside)
    if contestant.rests and isinstance(event, Answer):
        contestant.freeze()
    return event


def _try_core(
    pipes: Pipes, contestant: Contestant, watch: Stopwatch, *, lately: bool = False
) -> TimeVerdict:
    """Have it tried whether the core is overloaded; `lately`: what was found lately will do."""
    overloaded = pipes.core.recent if lately else None
    if overloaded is None:
        stood = contestant.frozen
        contestant.freeze()
        try:
            pipes.look(0)  # what it had said
            used = contestant.cpu()
            found = pipes.core.overloaded()
            overloaded = found and contestant.cpu() - used <= STIRRED_S
        finally:
            if not stood:
                contestant.thaw()
    now, taken = pipes.reading(contestant), pipes.taken(contestant)
    return watch.record_trial(now, overloaded=overloaded, taken=taken)
