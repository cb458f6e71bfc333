"""Play matches between one bot process and built-in opponents, with the referee of an event.

The deals come from a fixed secret, so that each check of the same bot is the same.
"""

import random
from collections.abc import Callable, Sequence

from arena import registry
from arena.check.conversation import Conversation
from arena.deals import Deals, Deck, secret_from_seed
from arena.model import MatchSpec
from arena.referee import HOLES, Referee
from arena.wire.messages import Act
from arena.wire.session import encode

DEALS = Deals(secret_from_seed("arena check"))

Policy = Callable[[Sequence[str]], str]  # an opponent: from the legal moves to one of them


def slowest(legal: Sequence[str]) -> str:
    """Draw and replace the same card for ever: only others, or the turn cap, end a hole."""
    return "draw" if "draw" in legal else legal[0]


def fastest(legal: Sequence[str]) -> str:
    """Draw, and turn a card over in each turn."""
    return "draw" if "draw" in legal else legal[-1]


class _Ascending(Deals):
    """Every pack sorted, lowest cards first: the best grids, with negative scores."""

    def _deck(self, pairing: str, deal: int, hole: int, pack: tuple[int, ...]) -> Deck:
        deck = super()._deck(pairing, deal, hole, pack)
        deck.cards = pack
        return deck


ASCENDING = _Ascending(secret_from_seed("arena check"))


class AlwaysPlayoff(Referee):
    """Two playoff holes, without the last seat and without both ends: some without the bot."""

    def _playoff(self, scores: tuple[int, ...]) -> bool:  # noqa: ARG002 - always
        if self.hole == HOLES + 2:
            return False
        everybody = self._everybody
        self._tied = everybody[:-1] if self.hole == HOLES else everybody[1:-1]
        self._deal(self.hole + 1, self._tied)
        return True


async def play(
    talk: Conversation,
    *,
    number: int = 0,
    seat: int = 0,
    opponents: Policy | None = None,
    deals: Deals = DEALS,
    referee: type[Referee] = Referee,
    pause: float = 0.0,
    at_most: int = 0,
    steady: bool = False,
) -> int:
    """Play match `number` of a series with the bot in `seat`; return the number of its decisions.

    `pause`: seconds of silence expected after each notice. `at_most`: stop after so many decisions.
    `steady`: every question states the full bank.
    """
    settings = talk.settings
    seats = [f"built-in-{place}" for place in range(settings.seats)]
    seats[seat] = "bot"
    spec = MatchSpec(
        id=f"check-{settings.game}-{settings.seats}-{number}",
        series="check",
        pairing=f"check-{settings.seats}",
        deal=number,
        rotation=0,
        seats=tuple(seats),
    )
    match = referee(spec, game=registry.game(settings.game), deals=deals, settings=settings)
    choose = opponents or random.Random(number).choice  # noqa: S311 - no secret
    decisions = 0
    talk.used = 0.0
    match.begin()
    while True:
        for to, notice in match.take_notices():
            if to == seat:
                await talk.notify(encode(notice))
                if pause:
                    await talk.expect_silence(pause)
        if not match.asked or (at_most and decisions >= at_most):
            talk.flush()
            if not match.asked:
                talk.spent.append(talk.used)
            return decisions
        for asked in match.asked:
            if asked != seat:
                question = match.question(asked, bank_ms=0)
                assert isinstance(question, Act)
                match.answer(asked, choose(question.legal))
                continue
            bank_ms = settings.limits.match_ms if steady else talk.bank_ms
            question = match.question(seat, bank_ms=bank_ms, lean=talk.lean)
            full = question if isinstance(question, Act) else match.question(seat, bank_ms=0)
            assert isinstance(full, Act)
            match.answer(seat, await talk.ask(question, full.legal))
            decisions += 1
