"""A record's moves, played again: a true one comes out as it was, any other is told from it."""

import random

import msgspec
import pytest

from arena import registry
from arena.deals import Deals, secret_from_seed
from arena.games.observer import ObservedGame
from arena.model import Fault, FaultKind, MatchSpec, SeatUse, Settings
from arena.referee import Failure, Referee
from arena.replay.moves import ReplayError, Witness, replay_moves, spec_of
from arena.wire.messages import MatchEnd

DEALS = Deals(secret_from_seed("replaying"))


def played(game, seats, faults=(), *, playoff=False, turn_cap=60):
    """A record of a match of random moves, but for `faults`: (question, seat)."""
    settings = Settings(game=game, seats=seats, playoff=playoff, turn_cap=turn_cap)
    spec = MatchSpec(
        id="p-000001-0",
        series="s",
        pairing="p",
        deal=1,
        rotation=0,
        seats=tuple(f"bot{seat}@1" for seat in range(seats)),
    )
    draw = random.Random(1)
    referee = Referee(spec, game=registry.game(game), deals=DEALS, settings=settings)
    failure = Failure(kind=FaultKind.CRASH, message="gone", status="exit 1")
    referee.begin([(seat, failure) for turn, seat in faults if turn == 0])
    turn, asked = 0, [0] * seats
    while referee.asked:
        turn += 1
        for seat in referee.asked:
            asked[seat] += 1
            if (turn, seat) in faults:
                referee.fail(seat, failure)
            else:
                referee.answer(seat, draw.choice(referee.legal(seat)))
    use = tuple(SeatUse(decisions=decisions) for decisions in asked)
    return msgspec.structs.replace(referee.record(), use=use), settings


def again(record, settings, game=None, deals=DEALS):
    """The record, played again."""
    rules = game or registry.game(settings.game)
    return replay_moves(record, game=rules, deals=deals, settings=settings)


CASES = [
    ("play-nine", 2, ()),
    ("play-nine", 6, ()),
    ("four-card-golf", 2, ()),
    ("four-card-golf", 8, ()),
    ("play-nine", 2, [(0, 1)]),
    ("play-nine", 2, [(0, 0), (0, 1)]),
    ("play-nine", 2, [(1, 0)]),
    ("play-nine", 2, [(77, 0), (77, 1)]),
    ("play-nine", 3, [(1, 1), (1, 2)]),
    ("play-nine", 4, [(0, 2), (1, 1), (30, 3)]),
    ("four-card-golf", 5, [(0, 4), (8, 3)]),
]


@pytest.mark.parametrize(("game", "seats", "faults"), CASES)
def test_a_true_record_comes_out_as_it_was(game, seats, faults):
    """Matches that end in every way, with an onlooker too."""
    asked = [(turn, seat) for turn, seat in faults if turn == 0]
    record, settings = played(game, seats, faults)
    assert len(record.faults) >= len(asked)
    assert record == again(record, settings)
    moves = []
    follower = ObservedGame(registry.game(game), lambda _, moved: moves.append(moved.move))
    assert record == again(record, settings, follower)
    assert ",".join(moves) == ",".join(hole.moves for hole in record.holes if hole.moves)


class Seen(Witness):
    """Keeps what it is called with."""

    def __init__(self):
        self.notices = []
        self.outcomes = []

    def round(self, referee):
        self.notices.append(referee.take_notices())

    def outcome(self, referee, seat, fault, move):
        self.outcomes.append((seat, fault, move))


def test_a_witness_sees_each_round_and_each_outcome():
    """The last question is a fault's; after it the other seat has a notice of the match's end."""
    record, settings = played("play-nine", 2, [(77, 0)])
    game, seen = registry.game("play-nine"), Seen()
    replay_moves(record, game=game, deals=DEALS, settings=settings, witness=seen)
    assert 77 + 1 == len(seen.notices)
    assert [1] == [seat for seat, notice in seen.notices[-1] if isinstance(notice, MatchEnd)]
    *before, last = seen.outcomes
    assert (0, *record.faults, None) == last
    moves = ",".join(hole.moves for hole in record.holes if hole.moves)
    assert moves == ",".join(move for _, _, move in before)


def test_a_playoff_comes_out_as_it_was():
    """All ties there are in some short matches."""
    record, settings = played("four-card-golf", 4, playoff=True, turn_cap=1)
    assert record == again(record, settings)
    assert spec_of(record).seats == record.seats


def with_hole(record, number, **fields):
    """A record with something else in one hole."""
    holes = list(record.holes)
    holes[number - 1] = msgspec.structs.replace(holes[number - 1], **fields)
    return msgspec.structs.replace(record, holes=tuple(holes))


def test_a_move_that_is_not_legal_is_named():
    """With hole, number and what was legal; the tee-off of two as well as a single turn."""
    record, settings = played("play-nine", 2)
    for number in (0, 1, 7):
        moves = record.holes[3].moves.split(",")
        moves[number] = "fly 3"
        with pytest.raises(ReplayError, match="'fly 3' is not in `legal`") as caught:
            again(with_hole(record, 4, moves=",".join(moves)), settings)
        assert (4, number + 1) == (caught.value.hole, caught.value.move)
        assert "a legal move" == caught.value.expected


def test_a_hole_that_ends_too_early_is_named():
    """The rules say whose move is missing; so too where all holes after it are."""
    record, settings = played("four-card-golf", 2)
    moves = record.holes[8].moves.split(",")
    cut = with_hole(record, 9, moves=",".join(moves[:-1]))
    with pytest.raises(ReplayError, match="expected a move of seat ., found none") as caught:
        again(cut, settings)
    assert (9, len(moves)) == (caught.value.hole, caught.value.move)
    with pytest.raises(ReplayError, match="hole 9, move 1: expected a move"):
        again(msgspec.structs.replace(record, holes=record.holes[:8]), settings)
    record, settings = played("play-nine", 3)
    with pytest.raises(ReplayError, match="hole 1, move 2: expected a move of seat 1, found none"):
        again(with_hole(record, 1, moves=record.holes[0].moves.split(",")[0]), settings)


def test_a_fault_that_nobody_can_have_made_is_not_believed():
    """One at a question that never came is not in what is played again; nor one of seat 9."""
    record, settings = played("play-nine", 2)
    fault = Fault(kind=FaultKind.CRASH, seat=1, hole=9, turn=100_000, message="")
    assert record == again(msgspec.structs.replace(record, faults=(fault,)), settings)
    strange = msgspec.structs.replace(fault, seat=9, turn=0)
    with pytest.raises(ReplayError, match="expected a fault of a seat, found one of seat 9"):
        again(msgspec.structs.replace(record, faults=(strange,)), settings)


def test_other_deals_give_another_record():
    """The moves may be legal there too; the cards are others."""
    record, settings = played("four-card-golf", 2)
    other = again(record, settings, deals=Deals(secret_from_seed("another")))
    assert record.deck != other.deck
    assert record.totals != other.totals
