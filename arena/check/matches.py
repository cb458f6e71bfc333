"""Matches between one real bot and opponents in this process, refereed as in an event.

The deals come from a fixed secret, so a check of the same bot is the same every time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from arena import registry
from arena.check.talk import Talk
from arena.deals import Deals, Deck, secret_from_seed
from arena.model import Limits, MatchSpec, Settings
from arena.referee import HOLES, Referee
from arena.wire.messages import Act
from arena.wire.session import encode

DEALS = Deals(secret_from_seed("arena check"))

Policy = Callable[[Sequence[str]], str]
"""An opponent: a move from the legal ones."""


def aimless(seed: int) -> Policy:
    """Any legal move."""
    return random.Random(seed).choice  # noqa: S311 - an opponent, not a secret


def dawdling(legal: Sequence[str]) -> str:
    """Draw and replace the same card for ever: only others, or the turn cap, end a hole."""
    return "draw" if "draw" in legal else legal[0]


def hasty(legal: Sequence[str]) -> str:
    """Draw and turn cards over as fast as it goes."""
    return "draw" if "draw" in legal else legal[-1]


class _Ascending(Deals):
    """Every pack in its order, lowest cards first: the best grids there are, negative scores."""

    def _deck(self, pairing: str, deal: int, hole: int, pack: tuple[int, ...]) -> Deck:
        deck = super()._deck(pairing, deal, hole, pack)
        deck.cards = pack
        return deck


ASCENDING = _Ascending(secret_from_seed("arena check"))


class PlayedOff(Referee):
    """A match that is played off whoever has won: by all but the last seat, then without the
    first one. So both kinds of playoff holes come up.
    """

    def _playoff(self, scores: tuple[int, ...]) -> bool:  # noqa: ARG002 - whatever they are
        if self._number == HOLES + 2:
            return False
        everybody = self._everybody
        self._tied = everybody[:-1] if self._number == HOLES else everybody[1:-1]
        self._deal(self._number + 1, self._tied)
        return True


def settings_for(game: str, seats: int, limits: Limits, *, playoff: bool = False) -> Settings:
    """What `hello` tells."""
    rules = registry.game(game)
    return Settings(game=game, seats=seats, turn_cap=rules.turn_cap, playoff=playoff, limits=limits)


async def play(
    talk: Talk,
    settings: Settings,
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
    """Play match `number` of a series with the bot in that seat; how many decisions it made.

    `pause`: how long after each notice it has to be silent. `at_most`: so many decisions, then
    no more. `steady`: it is told the same bank each time.
    """
    spec = MatchSpec(
        id=f"check-{settings.game}-{settings.seats}-{number}",
        series="check",
        pairing=f"check-{settings.seats}",
        deal=number,
        rotation=0,
        seats=tuple(
            "bot" if place == seat else f"built-in-{place}" for place in range(settings.seats)
        ),
    )
    match = referee(spec, game=registry.game(settings.game), deals=deals, settings=settings)
    choose = opponents or aimless(number)
    decisions = 0
    talk.new_match()
    match.begin()
    while True:
        for to, notice in match.take_notices():
            if to == seat:
                await talk.tell(encode(notice))
                if pause:
                    await talk.silence(pause)
        if not match.asked or (at_most and decisions >= at_most):
            await talk.flush()
            if not match.asked:
                talk.match_over()
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
