"""A match driver as anybody would write it first: slow, plain, to compare the real one with.

Bots are plain children, their pipes trio's own streams, each decision one `move_on_after`. With
`arena.engine.match` it shares the referee and the sessions, and nothing of what makes that
fast: no epoll,
no spawner, no short way for an answer that is whole. It reads a few bytes at a time on purpose.
"""

import contextlib

import msgspec
import trio

from arena.model import FaultKind, SeatUse
from arena.referee import Failure, Referee, hello
from arena.sandbox import Launch
from arena.sandbox.none import Unconfined
from arena.wire.messages import Answer, Bye
from arena.wire.session import BotSession, Pending, SessionState, WireFault

READ_BYTES = 100
LEAVE_S = 1.0


class PlainBot:
    """A child, its streams, its session."""

    def __init__(self, process, limits):
        self.process = process
        self.session = BotSession(limits.line_bytes)
        self.bank_s = limits.match_ms / 1000
        self.decisions = 0
        self._unsent = b""

    @classmethod
    async def start(cls, bot, limits):
        """Start it in its folder, with the environment that all bots have."""
        launch = Launch(run=bot.run, root=bot.root, expose=bot.expose, env=dict(bot.env))
        plan = Unconfined().plan(launch)
        process = await trio.lowlevel.open_process(
            list(plan.argv), cwd=plan.cwd, env=dict(plan.env), stdin=-1, stdout=-1, stderr=-3
        )
        return cls(process, limits)

    def tell(self, message):
        """Something that wants no answer: it goes with the next question."""
        if self.session.state is SessionState.IDLE:
            self._unsent += self.session.send(message)

    async def ask(self, line, seconds):
        """What the bot says within that time."""
        event = Pending.NEED_DATA
        with trio.move_on_after(seconds):
            with contextlib.suppress(trio.BrokenResourceError):  # the end of its output will tell
                await self.process.stdin.send_all(self._unsent + line)
            self._unsent = b""
            while (event := self.session.next_event()) is Pending.NEED_DATA:
                if data := await self.process.stdout.receive_some(READ_BYTES):
                    self.session.receive(data)
                else:
                    self.session.end()
        return event

    async def ended(self):
        """Why its output has ended."""
        with trio.move_on_after(LEAVE_S):
            await self.process.wait()
        return FaultKind.CRASH if self.process.returncode else FaultKind.EXIT

    async def dismiss(self):
        """Say `bye` to whom nothing is wrong with; kill who stays."""
        if self.session.state is SessionState.IDLE:
            self.tell(Bye())
            with trio.move_on_after(LEAVE_S), contextlib.suppress(trio.BrokenResourceError):
                await self.process.stdin.send_all(self._unsent)
                await self.process.wait()
        self.process.kill()
        await self.process.wait()
        await self.process.stdin.aclose()
        await self.process.stdout.aclose()


async def plain_series(context, series):
    """The records of a series; after a fault the rest is played by fresh processes."""
    settings, records, rest = context.settings, [], list(series.matches)
    while rest:
        bots, unready = {}, {}
        for entrant in rest[0].seats:
            bots[entrant] = await PlainBot.start(context.bots[entrant], settings.limits)
            line = bots[entrant].session.hello(hello(settings))
            event = await bots[entrant].ask(line, settings.limits.start_ms / 1000)
            if isinstance(event, WireFault):
                unready[entrant] = Failure(kind=event.kind, message="", line=event.line)
            elif isinstance(event, Pending):
                bots[entrant].session.close()
                unready[entrant] = Failure(kind=FaultKind.START, message="")
        clean = True
        while rest and clean:
            records.append(await _match(context, rest.pop(0), bots, unready))
            clean = not records[-1].faults
        for bot in bots.values():
            await bot.dismiss()
    return records


async def _match(context, spec, bots, unready):
    referee = Referee(spec, game=context.game, deals=context.deals, settings=context.settings)
    seated = [bots[entrant] for entrant in spec.seats]
    for bot in seated:
        bot.bank_s, bot.decisions = context.settings.limits.match_ms / 1000, 0
    referee.begin([(s, unready[e]) for s, e in enumerate(spec.seats) if e in unready])
    while True:
        for seat, message in referee.take_notices():
            seated[seat].tell(message)
        if not referee.asked:
            break
        for seat in referee.asked:
            outcome = await _decide(context.settings.limits, referee, seat, seated[seat])
            if isinstance(outcome, str):
                referee.answer(seat, outcome)
            else:
                seated[seat].session.close()
                referee.fail(seat, outcome)
    record = referee.record()
    use = tuple(SeatUse(decisions=bot.decisions) for bot in seated)
    return msgspec.structs.replace(record, use=use, digest=record.computed_digest())


async def _decide(limits, referee, seat, bot):
    """The move, or the fault."""
    session, bot.decisions = bot.session, bot.decisions + 1
    question = referee.question(seat, bank_ms=int(bot.bank_s * 1000), lean=session.lean)
    allowance = min(limits.move_ms / 1000, bot.bank_s)
    begun = trio.current_time()
    event = await bot.ask(session.ask(question), allowance)
    by_bank = bot.bank_s < limits.move_ms / 1000
    bot.bank_s -= min(trio.current_time() - begun, allowance)
    if isinstance(event, Answer):
        return event.move
    if isinstance(event, WireFault):
        return Failure(kind=event.kind, message="", line=event.line)
    if event is Pending.END:
        return Failure(kind=await bot.ended(), message="")
    return Failure(kind=FaultKind.BANK if by_bank else FaultKind.TIMEOUT, message="")
