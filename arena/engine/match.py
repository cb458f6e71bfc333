"""Play one match, and series of them, against real bot processes.

Theory of operation. A decision has one budget, from the moment its question is written to the
moment its line is read, and no byte restarts it. For decisions that take longer than `PATIENCE_S` a
`Stopwatch` says what of that time is the bot's. Bots are started, and simultaneous questions asked,
one after another: they share a core, and none may be charged for another's thinking.

CPU time off turn is what a bot's tree used in a match less what it may have used on its turns.
After a brisk decision the tree isn't read: the bot may have had one core all the time. So a bot
that idles through its own time can hide `BRISK_S` a decision, and `PATIENCE_S` now and then; the
error is always in its favour. With `freeze` a bot runs from just before its question to its answer,
and at no other time; without it, so does a bot that has exceeded its `Allowance` off turn.

A seat without a bot belongs to a person, or to a function of this process: it has no process and no
clock, and commits no fault. Bots beside it are frozen.

Invariant: a bot's fault never leaves here as an exception; the host's trouble always does, as
HostError, and then no record of the match at hand exists.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from arena.deals import Deals
from arena.engine.contestant import Contestant, Took
from arena.engine.listener import hear, stopwatch
from arena.engine.pipes import Pipes
from arena.engine.stopwatch import Stopwatch
from arena.engine.time_account import TimeAccount
from arena.games import Game
from arena.games.observer import Observer
from arena.luck import sums
from arena.model import Bot, FaultHost, FaultKind, MatchRecord, MatchSpec, Series, Settings
from arena.referee import Failure, Referee, hello
from arena.sandbox import Backend
from arena.sandbox.delays import Reading
from arena.system import clock
from arena.wire.messages import Answer, HoleEnd, MatchEnd, MatchStart
from arena.wire.session import Pending, SessionState, WireEvent, WireFault

# After a decision that took longer, the next one is read from its start: a few per cent of its
# time.
BRISK_S = 0.001


class MatchContext(msgspec.Struct, frozen=True, kw_only=True):
    settings: Settings
    game: Game
    deals: Deals
    bots: Mapping[str, Bot]  # by entrant; other entrants are asked by `Match.ask_other`
    backend: Backend
    onlooker: Observer | None = None  # follows the match, but not what is computed afterwards


class FinishedMatch(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a match, and what its bots wrote to stderr meanwhile, by entrant."""

    record: MatchRecord
    stderr: Mapping[str, str] = {}
    encoded: bytes = b""  # the record's JSON as a worker of this machine sent it, for the log


async def start_bot(
    pipes: Pipes, context: MatchContext, entrant: str
) -> tuple[Contestant, Failure | None]:
    limits = context.settings.limits
    contestant = pipes.start(
        context.bots[entrant], context.backend, limits, freeze=context.settings.freeze
    )
    session = contestant.session
    pipes.ask(contestant, session.hello(hello(context.settings)))
    await pipes.started(contestant)  # no bot is charged for the sandbox's start
    watch = stopwatch(pipes, contestant, limits.start_ms / 1000)
    event = await hear(pipes, contestant, watch, session.next_event())
    contestant.took = Took(watch.elapsed, watch.charged)
    if event is None:
        message = f"not ready within {limits.start_ms} ms: {contestant.silence()}"
        session.close()
        return contestant, contestant.failure(FaultKind.START, message)
    if event is Pending.END:
        await pipes.status(contestant)
        return contestant, contestant.end(starting=True)
    if isinstance(event, WireFault):
        return contestant, contestant.failure(event.kind, event.message, event.line)
    return contestant, None


class FailedStart(msgspec.Struct, frozen=True, kw_only=True):
    failure: Failure
    stderr: str
    ended: bool  # whether it ended its output; else it was silent for too long
    unheard: bytes  # its output to stdout after the timeout, when its input was closed


async def try_start(pipes: Pipes, context: MatchContext, entrant: str) -> FailedStart | None:
    """Start a bot and dismiss it; None if it can start."""
    contestant, failure = await start_bot(pipes, context, entrant)
    session = contestant.session
    ended, held = session.ended, len(session.held)
    await pipes.dismiss([contestant])
    if failure is None:
        return None
    stderr, unheard = contestant.last_words(), session.held[held:]
    return FailedStart(failure=failure, stderr=stderr, ended=ended, unheard=unheard)


async def start_bots(
    pipes: Pipes, context: MatchContext, entrants: Iterable[str]
) -> tuple[dict[str, Contestant], dict[str, Failure]]:
    """Start the bots of a match. Why some of them can't start comes second."""
    contestants: dict[str, Contestant] = {}
    unready: dict[str, Failure] = {}

    def oversee() -> None:
        for entrant, contestant in contestants.items():
            if entrant not in unready:
                contestant.oversee(contestant.used(), clock.monotonic())

    pipes.overseer = None if context.settings.freeze else oversee
    for entrant in entrants:
        contestant, failure = await start_bot(pipes, context, entrant)
        contestant.cpu()
        contestant.book()  # the CPU time of its start doesn't count
        contestants[entrant] = contestant
        if failure is not None:
            unready[entrant] = failure
    pipes.overseer = None
    for entrant, contestant in contestants.items():
        if context.settings.freeze and entrant not in unready:
            contestant.freeze()
        contestant.cpu()
        contestant.book()
    return contestants, unready


async def play_series(
    pipes: Pipes,
    context: MatchContext,
    series: Series,
    attempt: int = 0,
    match: Callable[..., Match] | None = None,
) -> AsyncIterator[FinishedMatch]:
    """Play the matches of a series; after a fault the rest of it is played by fresh processes. With
    two seats it ends when a bot has faulted so many matches in a row that it is withdrawn: what
    would follow can't count. `match`: makes each match, a `Match` if None.
    """
    rest = list(series.matches)
    in_a_row = dict.fromkeys(series.entrants, 0)
    settings = context.settings
    while rest:
        bots = [entrant for entrant in rest[0].seats if entrant in context.bots]
        contestants, unready = await start_bots(pipes, context, bots)
        clean = True
        while rest and clean:
            spec = rest.pop(0)
            seated = {s: contestants[e] for s, e in enumerate(spec.seats) if e in contestants}
            early = [(s, unready[e]) for s, e in enumerate(spec.seats) if e in unready]
            record = await (match or Match)(pipes, context, spec, seated).play(early)
            clean = not record.faults
            if not clean or not rest:
                await pipes.dismiss(list(contestants.values()))
            else:
                pipes.look(0)  # brisk answers are read past what was written to stderr before
            if settings.evaluator:  # now, as no bot's time runs
                luck = sums(record, game=context.game, deals=context.deals, settings=settings)
                record = replace(record, luck=luck)
            digest, ended = record.computed_digest(), clock.unix()
            record = replace(record, attempt=attempt, digest=digest, ended=ended)
            stderr = {e: text for e, c in contestants.items() if (text := c.take_stderr())}
            yield FinishedMatch(record=record, stderr=stderr)
            fallen = record.fallen
            for entrant in in_a_row:
                in_a_row[entrant] = in_a_row[entrant] + 1 if entrant in fallen else 0
            if len(in_a_row) == 2 and max(in_a_row.values()) >= settings.withdrawn_after:
                return


class Match:
    def __init__(
        self, pipes: Pipes, context: MatchContext, spec: MatchSpec, seated: Mapping[int, Contestant]
    ) -> None:
        self._pipes = pipes
        self._freeze = context.settings.freeze
        self._seated = seated
        self._names = spec.seats
        self._asked = -1  # the seat that is asked now; -1: none
        self._accounts = [TimeAccount(context.settings.limits) for _ in spec.seats]
        self._referee = Referee(
            spec,
            game=context.game,
            deals=context.deals,
            settings=context.settings,
            onlooker=context.onlooker,
        )
        self._fallen: dict[int, tuple[str, FaultHost]] = {}
        """By seat that has failed: the end of its stderr, and the host's state at that time."""
        if not self._freeze:
            for seat, contestant in seated.items():
                if contestant.rests:
                    self._accounts[seat].stop()
            pipes.overseer = self._oversee

    async def play(self, early: Sequence[tuple[int, Failure]]) -> MatchRecord:
        """`early`: seats whose bots could not be started. A brisk decision's path is inlined."""
        referee, pipes = self._referee, self._pipes
        seated, accounts = self._seated, self._accounts
        now, exchange = clock.monotonic, pipes.exchange
        referee.begin(early)
        while True:
            if referee.news:
                await self._pass_on()
            if not referee.asked:
                return self._record()
            for seat in referee.asked:
                if seat not in seated:
                    await self._settle(seat, await self.ask_other(seat))
                    continue
                contestant, account = seated[seat], accounts[seat]
                session = contestant.session
                bank_ms = int(account.bank * 1000)
                line = session.ask(referee.question(seat, bank_ms=bank_ms, lean=session.lean))
                if contestant.rests or account.last > BRISK_S:
                    self._asked = seat
                    outcome = await self._ask(contestant, account, line)
                else:
                    asked = now()
                    event = exchange(contestant, line)
                    seconds = contestant.heard - asked
                    if event.__class__ is Answer and 0.0 <= seconds <= account.patience:
                        account.charge(seconds)
                        referee.answer(seat, event.move)
                        if contestant.heard > pipes.due:
                            await pipes.checkpoint()
                        continue
                    self._asked = seat
                    outcome = await self._hear(contestant, account, event, asked, None)
                self._asked = -1
                await self._settle(seat, outcome)

    async def ask_other(self, seat: int) -> str:
        """The move of a seat that is no bot's."""
        raise AssertionError(f"seat {seat} has no bot, and this match nobody else to ask")

    def tell_other(self, seat: int, message: MatchStart | HoleEnd | MatchEnd) -> None:
        """A notice for a seat that is no bot's."""

    async def _settle(self, seat: int, outcome: str | Failure) -> None:
        if isinstance(outcome, str):
            self._referee.answer(seat, outcome)
        else:
            self._seated[seat].session.close()
            self._referee.fail(seat, outcome)

    async def _pass_on(self) -> None:
        """Send the notices, and kill the bots that have failed."""
        referee, seated = self._referee, self._seated
        for seat, message in referee.take_notices():
            if seat not in seated:
                self.tell_other(seat, message)
            elif (session := seated[seat].session).state is SessionState.IDLE:
                self._pipes.send(seated[seat], session.send(message))
        fallen = sorted(referee.failed - self._fallen.keys())
        if not fallen:
            return
        load = os.getloadavg()[0]
        for seat in fallen:
            self._accounts[seat].used = seated[seat].used()
            seated[seat].book()
        await self._pipes.kill([seated[seat] for seat in fallen])
        # Only now all their stderr has been read, and their peak of memory is known.
        for seat in fallen:
            bot, used = seated[seat], self._accounts[seat].used
            host = FaultHost(
                memory_mb=round(bot.exited.memory_mb, 1) if bot.exited else 0.0,
                cpu_ms=round((used or bot.known_cpu) * 1000, 3),  # of the start, if that failed
                wall_ms=round(bot.took.wall * 1000, 3),
                charged_ms=round(bot.took.charged * 1000, 3),
                load=round(load, 2),
            )
            self._fallen[seat] = bot.last_words(), host

    def _oversee(self) -> None:
        """Read the CPU time of the bots that aren't asked, and stop those over their allowance."""
        now = clock.monotonic()
        for seat, contestant in self._seated.items():
            if seat != self._asked and seat not in self._fallen:
                self._overseen(seat, contestant, contestant.used(), now)

    def _overseen(self, seat: int, contestant: Contestant, used: float, now: float) -> None:
        account = self._accounts[seat]
        if contestant.oversee(account.off_turn(used), now):
            account.stop()
        elif contestant.restless and contestant.exited is None:
            self._pipes.give_up(contestant)

    def _record(self) -> MatchRecord:
        self._pipes.overseer = None
        now = clock.monotonic()
        for seat, contestant in self._seated.items():
            if seat not in self._fallen:
                self._accounts[seat].used = used = contestant.used()
                if not self._freeze:
                    self._overseen(seat, contestant, used, now)
                contestant.book()
        record = self._referee.record()
        faults = tuple(
            replace(fault, stderr=words, host=host)
            for fault in record.faults
            for words, host in [self._fallen[fault.seat]]
        )
        use = tuple(account.use() for account in self._accounts)
        return replace(record, faults=faults, use=use)

    async def _ask(
        self, contestant: Contestant, account: TimeAccount, line: bytearray
    ) -> str | Failure:
        """Ask a bot whose tree is read, or that is stopped off turn."""
        pipes = self._pipes
        first = pipes.reading(contestant) if account.last > BRISK_S else None
        if contestant.frozen:
            # Continued after the question is written: else its other threads would run first.
            pipes.ask(contestant, line)
            asked = clock.monotonic()
            contestant.thaw()
        else:
            asked = clock.monotonic()
            pipes.ask(contestant, line)
        event = contestant.session.next_event()
        outcome = await self._hear(contestant, account, event, asked, first)
        if contestant.rests:
            contestant.freeze()
        return outcome

    async def _hear(
        self,
        contestant: Contestant,
        account: TimeAccount,
        event: WireEvent,
        asked: float,
        first: Reading | None,
    ) -> str | Failure:
        """Wait for the answer to a question that was `asked` at that time: a move or a fault."""
        pipes, own, used = self._pipes, self._pipes.waited, contestant.known_cpu
        taken = pipes.most_taken(contestant, asked)
        if first is None:
            aside = pipes.aside
            until = asked + account.patience
            while event is Pending.NEED_DATA and (left := until - clock.monotonic()) > 0:
                await pipes.wait(left)
                event = contestant.session.next_event()
            asked += pipes.aside - aside
            if event is not Pending.NEED_DATA and contestant.heard <= until:
                seconds = max(0.0, contestant.heard - asked)
                contestant.took = Took(seconds, seconds)
                account.charge(seconds)
                return await self._move(contestant, event)
        core = pipes.core
        watch = Stopwatch(
            account.allowance,
            asked,
            first,
            own=own,
            used=used,
            taken=taken,
            counted=core.counted,
            alone=core.alone,
        )
        heard = await hear(pipes, contestant, watch, event)
        contestant.took = took = Took(watch.elapsed, watch.charged)
        account.difference += watch.cpu - took.charged
        account.waited += took.wall - took.charged
        kind, limit = account.overrun()  # before it is charged
        account.charge(took.charged)
        if heard is None:
            return contestant.failure(kind, f"{limit}: {contestant.silence()}")
        return await self._move(contestant, heard)

    async def _move(self, contestant: Contestant, event: WireEvent) -> str | Failure:
        if isinstance(event, Answer):
            return event.move
        if isinstance(event, WireFault):
            return contestant.failure(event.kind, event.message, event.line)
        await self._pipes.status(contestant)
        return contestant.end(starting=False)
