"""A match in which some seats belong to no bot: a person's, or functions of this process.

Such a seat has no process and no clock, and commits no fault. Bots are frozen whenever they aren't
asked, so that none computes while the others take their time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence

from arena.engine.contestant import Contestant
from arena.engine.match import FinishedMatch, Match, MatchContext, finished, start_bots
from arena.engine.pipes import Pipes
from arena.model import MatchRecord, MatchSpec
from arena.referee import Failure
from arena.wire.messages import HoleEnd, MatchEnd, MatchStart


class MixedMatch(Match, ABC):
    """`seated` has the seats of the bots; all others are asked by `ask_other`."""

    async def play(self, early: Sequence[tuple[int, Failure]]) -> MatchRecord:
        """`early`: seats whose bots could not be started."""
        referee = self._referee
        referee.begin(early)
        while True:
            if referee.news:
                await self._pass_on()
            if not referee.asked:
                return self._record()
            for seat in referee.asked:
                await (self._ask_bot(seat) if seat in self._seated else self.ask_other(seat))

    @abstractmethod
    async def ask_other(self, seat: int) -> None:
        """Have the referee answered for a seat that is no bot's."""

    def tell_other(self, seat: int, message: MatchStart | HoleEnd | MatchEnd) -> None:
        """A notice for a seat that is no bot's."""

    async def _ask_bot(self, seat: int) -> None:
        referee, contestant, account = self._referee, self._seated[seat], self._accounts[seat]
        session = contestant.session
        bank_ms = int(account.bank * 1000)
        line = session.ask(referee.question(seat, bank_ms=bank_ms, lean=session.lean))
        outcome = await self._ask(contestant, account, line)
        if isinstance(outcome, str):
            referee.answer(seat, outcome)
        else:
            session.close()
            referee.fail(seat, outcome)

    def _tell(self, seat: int, message: MatchStart | HoleEnd | MatchEnd) -> None:
        if seat in self._seated:
            super()._tell(seat, message)
        else:
            self.tell_other(seat, message)


async def play_mixed(
    pipes: Pipes,
    context: MatchContext,
    spec: MatchSpec,
    others: Container[int],
    match: Callable[[Mapping[int, Contestant]], MixedMatch],
) -> FinishedMatch:
    """Start the bots, play the match that `match` makes of them, and dismiss them.

    `others`: the seats that are no bot's.
    """
    bots = {seat: entrant for seat, entrant in enumerate(spec.seats) if seat not in others}
    contestants, unready = await start_bots(pipes, context, bots.values())
    seated = {seat: contestants[entrant] for seat, entrant in bots.items()}
    early = [(seat, unready[entrant]) for seat, entrant in bots.items() if entrant in unready]
    record = await match(seated).play(early)
    await pipes.dismiss(list(contestants.values()))
    return finished(record, context, contestants)
