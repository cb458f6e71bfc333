"""Play whole matches in this process, between Python functions instead of bot processes.

Names, seats, decks and order of play follow from ids, deal, rotation and secret as in a round
robin, so the record has the digest that the same moves have in `arena run`.

Invariant: pure. A policy's mistake is an exception here: it is the caller's own code, not a
contestant's.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from arena.deals import Deals
from arena.games import Game, IllegalMoveError
from arena.model import MatchRecord, MatchSpec, Settings, match_id, pairing_id
from arena.referee import Referee
from arena.wire.messages import Act

Policy = Callable[[Any, Sequence[str]], str]  # from a view and its legal moves to one of them


def play_match(
    game: Game,
    policies: Mapping[str, Policy],
    *,
    deals: Deals,
    deal: int = 0,
    rotation: int = 0,
    turn_cap: int | None = None,
    playoff: bool = False,
) -> MatchRecord:
    """One match between `policies`, by entrant id; IllegalMoveError for a move of theirs."""
    entrants = sorted(policies)
    seats = len(entrants)
    least, most = game.min_seats, game.max_seats
    if not least <= seats <= most:
        what = f"{game.name} has {least} to {most} seats"
        raise ValueError(f"{what}: give as many policies, not {seats}")
    if not 0 <= rotation < seats:
        raise ValueError(f"rotation {rotation} is not one of 0 to {seats - 1}")
    pairing = pairing_id(entrants)
    circle = deals.circle(pairing, deal, entrants)
    spec = MatchSpec(
        id=match_id(pairing, deal, rotation),
        series="practice",
        pairing=pairing,
        deal=deal,
        rotation=rotation,
        seats=tuple(circle[(seat + rotation) % seats] for seat in range(seats)),
    )
    cap = game.turn_cap if turn_cap is None else turn_cap
    settings = Settings(game=game.name, seats=seats, turn_cap=cap, playoff=playoff)
    referee = Referee(spec, game=game, deals=deals, settings=settings)
    return play_out(referee, spec.seats, [policies[entrant] for entrant in spec.seats])


def play_out(referee: Referee, seats: Sequence[str], policies: Sequence[Policy]) -> MatchRecord:
    """Play a match between `policies`, by seat, that has not begun."""
    referee.begin()
    while referee.asked:
        for seat in referee.asked:
            referee.answer(seat, move_by_policy(referee, seat, seats[seat], policies[seat]))
    record = referee.record()
    return replace(record, digest=record.computed_digest())


def move_by_policy(referee: Referee, seat: int, entrant: str, policy: Policy) -> str:
    """What a policy decides for a seat. IllegalMoveError if that is not legal."""
    question = referee.question(seat, bank_ms=0)  # a policy has no clock
    assert isinstance(question, Act)  # a policy does not ask for less
    move = policy(question.view, question.legal)
    if move not in question.legal:
        legal = f"legal there: {', '.join(question.legal)}"
        raise IllegalMoveError(f"{entrant} answered {move!r} on hole {question.hole}; {legal}")
    return move
