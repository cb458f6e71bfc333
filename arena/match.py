"""Matches between real processes, and the clock that they are played by.

Theory of operation. `play_series` starts the bots of a series, plays its matches one after
another, and reports each record when it is finished. A decision has one absolute deadline,
from the moment its question is put to the moment its line is complete: writing counts as well
as reading, and nothing restarts it. Lateness is judged by the time of the read. Bots are
started, and simultaneous questions put, one after another: they share a core, and none may be
charged for another's thinking; the referee judges when all answers are in.

CPU time off turn is what a bot's tree used in a match less what it may have used on its turns. A
brisk decision costs no reading of the tree: the bot may have had one core all the time. A longer
one is read at `PATIENCE_S` and at its answer, the one after it also when it is asked. So a bot that
idles through its own time can hide `BRISK_S` a decision, and `PATIENCE_S` now and then; the error
is always in its favour. From the end of the start-up to the end of the last match every moment
belongs to some match. With `freeze` a bot runs from just before its question
to its answer, and at no other time.

Invariant: a bot's fault never leaves here as an exception; the host's trouble always does, as
HostError, and then no record of the match at hand exists.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from arena.deals import Deals
from arena.games import Game
from arena.model import (
    Bot,
    FaultKind,
    Limits,
    MatchRecord,
    MatchSpec,
    SeatUse,
    Series,
    Settings,
)
from arena.pipes import LOOK_S, Contestant, Table
from arena.ratings.counting import FAULTS_IN_A_ROW
from arena.referee import Failure, Referee, hello
from arena.sandbox import Backend
from arena.wire.messages import Answer
from arena.wire.session import Pending, State, WireFault

# A decision that takes longer has its CPU time read. The wait for an answer wakes there anyway.
PATIENCE_S = LOOK_S
# After one that took longer than this the next is read from its start: a few per cent of its time.
BRISK_S = 0.001


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What every series of an event shares."""

    settings: Settings
    game: Game
    deals: Deals
    bots: Mapping[str, Bot]
    backend: Backend


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """One finished match and what its bots wrote to stderr meanwhile."""

    record: MatchRecord
    stderr: Mapping[str, str]


# ---------------------------------------------------------------------------------- start-up


async def start_bot(
    table: Table, setting: Setting, entrant: str
) -> tuple[Contestant, Failure | None]:
    """Start a bot's process and hear that it is ready, or why it isn't."""
    limits = setting.settings.limits
    deadline = time.monotonic() + limits.start_ms / 1000
    contestant = table.start(
        setting.bots[entrant], setting.backend, limits, freeze=setting.settings.freeze
    )
    session = contestant.session
    table.ask(contestant, session.hello(hello(setting.settings)))
    while (event := session.next_event()) is Pending.NEED_DATA:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        await table.wait(left)
    if event is Pending.NEED_DATA or contestant.heard > deadline:
        message = f"not ready within {limits.start_ms} ms: {contestant.silence()}"
        session.close()
        return contestant, contestant.failure(FaultKind.START, message)
    if event is Pending.END:
        await table.status(contestant)
        return contestant, contestant.end(starting=True)
    if isinstance(event, WireFault):
        return contestant, contestant.failure(event.kind, event.message, event.line)
    await table.started(contestant)
    return contestant, None


async def try_start(table: Table, setting: Setting, entrant: str) -> tuple[Failure, str] | None:
    """Start a bot and dismiss it: None if it can, else why not, and the end of its stderr."""
    contestant, failure = await start_bot(table, setting, entrant)
    await table.dismiss([contestant])
    return (failure, contestant.last_words()) if failure else None


# -------------------------------------------------------------------------------------- play


async def play_series(
    table: Table,
    setting: Setting,
    series: Series,
    attempt: int,
    report: Callable[[Played], None],
) -> None:
    """Play a series; after a fault the rest of it is played by fresh processes.

    With two seats it ends early when a bot has faulted three matches in a row: what would follow
    can't count.
    """
    rest = list(series.matches)
    in_a_row = dict.fromkeys(series.entrants, 0)
    while rest:
        entrants = rest[0].seats
        at_table: dict[str, Contestant] = {}
        unready: dict[str, Failure] = {}
        for entrant in entrants:
            at_table[entrant], failure = await start_bot(table, setting, entrant)
            if failure is not None:
                unready[entrant] = failure
        for entrant, contestant in at_table.items():
            if setting.settings.freeze and entrant not in unready:
                contestant.freeze()
            contestant.used()  # what the start took is nobody's business
        clean = True
        while rest and clean:
            spec = rest.pop(0)
            seated = [at_table[entrant] for entrant in spec.seats]
            early = [(s, unready[e]) for s, e in enumerate(spec.seats) if e in unready]
            record = await _play_match(table, setting, spec, seated, early)
            clean = not record.faults
            if not clean or not rest:
                await table.dismiss(list(at_table.values()))
            stderr = {e: text for e, c in at_table.items() if (text := c.take_stderr())}
            record = msgspec.structs.replace(
                record, attempt=attempt, digest=record.computed_digest(), ended=time.time()
            )
            report(Played(record=record, stderr=stderr))
            fallen = {record.seats[seat] for seat in record.forfeits}
            for entrant in in_a_row:
                in_a_row[entrant] = in_a_row[entrant] + 1 if entrant in fallen else 0
            if len(in_a_row) == 2 and max(in_a_row.values()) >= FAULTS_IN_A_ROW:
                return


class _Clock:
    """What each seat has left of its match bank, and what it used; all in seconds."""

    def __init__(self, limits: Limits, seats: int) -> None:
        self._move = limits.move_ms / 1000
        self.bank = [limits.match_ms / 1000] * seats
        self._decisions = [0] * seats
        self._think = [0.0] * seats
        self._longest = [0.0] * seats
        self.last = [0.0] * seats  # what each one's last decision took
        self._difference = [0.0] * seats
        self._cpu = [0.0] * seats

    def allowance(self, seat: int) -> float:
        """Seconds for the decision at hand."""
        return min(self._move, self.bank[seat])

    def charge(self, seat: int, seconds: float) -> None:
        """Book a decision: time, of a core too unless it is corrected."""
        self.bank[seat] -= seconds
        self._decisions[seat] += 1
        self._think[seat] += seconds
        self.last[seat] = seconds
        self._longest[seat] = max(self._longest[seat], seconds)

    def correct(self, seat: int, seconds: float) -> None:
        """Book by how much the CPU time of the decision at hand differs from its time."""
        self._difference[seat] += seconds

    def meter(self, seat: int, seconds: float) -> None:
        """Book the CPU time of a seat's whole match."""
        self._cpu[seat] = seconds

    def overrun(self, seat: int) -> tuple[FaultKind, str]:
        """Which limit the decision at hand has run into; to be asked before it is charged."""
        if self.bank[seat] < self._move:
            return FaultKind.BANK, "the time for the match is used up"
        return FaultKind.TIMEOUT, f"no answer within {self._move * 1000:.0f} ms"

    def use(self) -> Iterator[SeatUse]:
        """For the record, by seat."""
        for decisions, think, longest, difference, cpu in zip(
            self._decisions, self._think, self._longest, self._difference, self._cpu, strict=True
        ):
            yield SeatUse(
                decisions=decisions,
                think_ms=round(think * 1000, 3),
                max_ms=round(longest * 1000, 3),
                off_turn_ms=round(max(0.0, cpu - think - difference) * 1000, 3),
            )


async def _play_match(
    table: Table,
    setting: Setting,
    spec: MatchSpec,
    seated: Sequence[Contestant],
    early: Sequence[tuple[int, Failure]],
) -> MatchRecord:
    referee = Referee(spec, game=setting.game, deals=setting.deals, settings=setting.settings)
    clock = _Clock(setting.settings.limits, len(seated))
    referee.begin(early)
    last_words: dict[int, str] = {}
    while True:
        for seat, message in referee.take_notices():
            contestant = seated[seat]
            if contestant.session.state is State.IDLE:
                table.send(contestant, contestant.session.send(message))
        fallen = sorted(referee.failed - last_words.keys())
        for seat in fallen:
            clock.meter(seat, seated[seat].used())
        if fallen:
            await table.kill([seated[seat] for seat in fallen])
        # Only now has all been read that they had to say.
        last_words.update((seat, seated[seat].last_words()) for seat in fallen)
        if not referee.asked:
            break
        await _decide(table, setting.settings, referee, clock, seated)
    for seat, contestant in enumerate(seated):
        if seat not in last_words:
            clock.meter(seat, contestant.used())
    record = referee.record()
    faults = tuple(
        msgspec.structs.replace(fault, stderr=last_words[fault.seat]) for fault in record.faults
    )
    return msgspec.structs.replace(record, faults=faults, use=tuple(clock.use()))


async def _decide(
    table: Table,
    settings: Settings,
    referee: Referee,
    clock: _Clock,
    seated: Sequence[Contestant],
) -> None:
    """Ask every seat that is wanted, one after another, and report each one's outcome."""
    for seat in referee.asked:
        contestant = seated[seat]
        question = referee.question(seat, bank_ms=int(clock.bank[seat] * 1000))
        line = contestant.session.ask(question)
        outcome = await _ask(table, clock, seat, contestant, line)
        if settings.freeze:
            contestant.freeze()
        if isinstance(outcome, str):
            referee.answer(seat, outcome)
        else:
            contestant.session.close()
            referee.fail(seat, outcome)


async def _ask(
    table: Table, clock: _Clock, seat: int, contestant: Contestant, line: bytes
) -> str | Failure:
    """Put the question; the move, or the fault, that it has come to."""
    session = contestant.session
    # Of a decision that is read: the time until then, less the reading.
    unread = -contestant.cpu() if clock.last[seat] > BRISK_S else None
    if contestant.frozen:
        # It reads when its clock runs: else its other threads would have the core first.
        table.ask(contestant, line)
        asked = time.monotonic()
        contestant.thaw()
    else:
        asked = time.monotonic()
        table.ask(contestant, line)
    deadline = asked + clock.allowance(seat)
    until = min(deadline, asked + PATIENCE_S) if unread is None else deadline
    while (event := session.next_event()) is Pending.NEED_DATA:
        left = until - time.monotonic()
        if left > 0:
            await table.wait(left)
        elif until == deadline:
            break
        else:
            until = deadline
            unread = time.monotonic() - asked - contestant.cpu()
    # What was read in time is in time, however late it is looked at.
    heard = max(asked, contestant.heard)
    late = event is Pending.NEED_DATA or heard > deadline
    seconds = (deadline if late else heard) - asked
    if unread is not None:
        clock.correct(seat, unread + contestant.cpu() - seconds)
    if late:
        kind, limit = clock.overrun(seat)
        clock.charge(seat, seconds)
        return contestant.failure(kind, f"{limit}: {contestant.silence()}")
    clock.charge(seat, seconds)
    if isinstance(event, Answer):
        return event.move
    if isinstance(event, WireFault):
        return contestant.failure(event.kind, event.message, event.line)
    await table.status(contestant)
    return contestant.end(starting=False)
