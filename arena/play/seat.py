"""Play a match with a person in one seat; for the bots it is a match like any other.

Theory of operation. `PersonMatch` puts the questions of one seat to a `Person`. While a person
decides, the pipes are polled, so that the sandbox's watchdog is heard.

A `Person` decides by what is on the desk, and is asked again until the move is legal. A person who
leaves raises `PersonLeft`, and there is no record.

Invariant: a person can't commit a fault; what a bot is asked, and when, depends on the moves alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import trio

from arena.engine.contestant import Contestant
from arena.engine.match import Match, MatchContext
from arena.engine.pipes import Pipes
from arena.model import MatchRecord, MatchSpec
from arena.play.desk import Desk
from arena.referee import Failure
from arena.wire.messages import Act, HoleEnd, MatchEnd, MatchStart

MINDED_S = 60.0  # how long the pipes are left alone when nothing comes while a person thinks


class PersonLeft(Exception):  # noqa: N818 - no error
    """The person has left; the match does not count."""


class Person(Protocol):
    """Is shown a desk and decides."""

    async def begin(self, desk: Desk, commitment: str) -> None:
        """A match begins. `commitment`: to its secret, before the first card."""

    async def decide(self, desk: Desk) -> str:
        """One of `desk.legal`; raises `PersonLeft`."""

    async def follow(self, desk: Desk) -> None:
        """Another seat has moved, or failed."""

    async def hole_over(self, desk: Desk) -> None:
        """All cards are turned; returns when the person has seen them."""

    async def over(self, desk: Desk, record: MatchRecord, kept: Path) -> bool:
        """The match is over and logged; whether another one is wanted. `kept`: its folder."""


class PersonMatch(Match):
    def __init__(
        self,
        table: Pipes,
        context: MatchContext,
        spec: MatchSpec,
        seated: Mapping[int, Contestant],
        *,
        person: Person,
        desk: Desk,
    ) -> None:
        super().__init__(table, context, spec, seated)
        self._person = person
        self._desk = desk
        self._ended: list[HoleEnd] = []

    async def _settle(self, seat: int, outcome: str | Failure) -> None:
        await super()._settle(seat, outcome)
        if not self._referee.news:
            await self._show()

    async def _show(self) -> None:
        self._desk.update(*self._referee.sight(self._desk.seat))
        await self._person.follow(self._desk)

    async def ask_other(self, seat: int) -> str:
        desk = self._desk
        question = self._referee.question(seat, bank_ms=0)  # a person has no bank
        assert isinstance(question, Act)
        desk.ask(question)
        move = ""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._mind)
            while move not in question.legal:
                move = await self._person.decide(desk)
            nursery.cancel_scope.cancel()
        desk.close_question()
        self._accounts[seat].charge(0.0)
        return move

    async def _pass_on(self) -> None:
        """Bots first; then the person, who has time at each hole's end."""
        known = len(self._desk.fallen)
        await super()._pass_on()
        for fault in self._referee.faults[known:]:
            self._desk.add_fault(fault.seat, fault.kind)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._mind)
            for end in self._ended:
                self._desk.take_message(end)
                await self._person.hole_over(self._desk)
            nursery.cancel_scope.cancel()
        self._ended.clear()
        if self._referee.asked:
            await self._show()

    def tell_other(self, seat: int, message: MatchStart | HoleEnd | MatchEnd) -> None:
        assert seat == self._desk.seat
        if isinstance(message, HoleEnd):
            self._ended.append(message)
        else:
            self._desk.take_message(message)

    async def _mind(self) -> None:
        while True:
            await self._pipes.wait(MINDED_S)
