"""The ledger of a record: what it adds up to, what it leaves out, and what it refuses."""

import random

import msgspec
import pytest

from arena import luck
from arena.deals import Deals, secret_from_seed
from arena.games.observer import ObservedGame
from arena.games.play_nine import COLUMNS, score_grid
from arena.luck import read
from arena.luck.play_nine import BONUS
from arena.luck.walk import LuckKind
from arena.model import FaultKind, MatchSpec, Settings, UserError
from arena.referee import Failure, Referee
from arena.registry import GAMES, game

from .conftest import lots, low

DEALS = Deals(secret_from_seed("ledger"))
PINNED = {
    "play-nine": (
        1,
        "a404a132d2724944f6a8b69114ba787b5b51b83349a6c97d0943fe9ab54bca04",
    ),
    "four-card-golf": (
        1,
        "c1953482444a559d458a0a4dd9ca6410829b953fe50e16aeba01b5cb5344258f",
    ),
}
"""Version and digest of the coefficients: who changes these, or how they are used, changes the
luck of every event; so the version goes up, and LUCK.md's figures are measured anew."""
SUMS = {
    "play-nine": ((12799, -19953), (48998, -1117, 8610)),
    "four-card-golf": ((-14491, 230), (-763, -9784, 4435)),
}
"""Of two matches, to the thousandth: the same on every machine."""
CARELESS = {
    "play-nine": ((-36141, 2466), (-1865, 13994, 11113)),
    "four-card-golf": ((-9810, 15290), (-3034, -12369, -1485)),
}
"""The same of players who move by lot, and so break up columns that they have matched."""


def match(name, seats=2, *, deal=0, rotation=0, fails=None, playoff=False, seed=0, play=low):
    """A match between players of one sort; `fails` is (question, seat) or None."""
    lot = random.Random(f"{name}/{seats}/{seed}")
    settings = Settings(game=name, seats=seats, turn_cap=game(name).turn_cap, playoff=playoff)
    spec = MatchSpec(
        id=f"p-{deal:06d}-{rotation}",
        series="s",
        pairing="p",
        deal=deal,
        rotation=rotation,
        seats=tuple(f"bot-{seat}" for seat in range(seats)),
    )
    referee = Referee(spec, game=game(name), deals=DEALS, settings=settings)
    referee.begin()
    turn = 0
    while referee.asked:
        turn += 1
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=1)
            if fails == (turn, seat):
                referee.fail(seat, Failure(kind=FaultKind.CRASH, message=""))
            else:
                referee.answer(seat, play(lot, question.view, question.legal))
    record = referee.record()
    record = msgspec.structs.replace(record, digest=record.computed_digest())
    return record, {"game": game(name), "deals": DEALS, "settings": settings}


@pytest.mark.parametrize("name", list(GAMES))
def test_every_game_has_an_evaluator_and_it_is_pinned(name):
    """Version and digest say by what luck was measured; both change only on purpose."""
    frozen, digest = read(f"{name.replace('-', '_')}.json")
    assert PINNED[name] == (frozen.version, digest)
    assert f"{name}/1-{digest[:12]}" == luck.evaluator_name(game(name))


def test_a_game_without_an_evaluator_has_no_ledger():
    """Its evaluator has no name, and a ledger is refused in one line."""
    record, named = match("play-nine")
    rules = named["game"]
    unmeasured = ObservedGame(rules)
    unmeasured.about = msgspec.structs.replace(rules.about, luck="")
    assert "" == luck.evaluator_name(unmeasured)
    with pytest.raises(UserError, match="there is no measure of luck for 'play-nine'"):
        luck.sums(record, **named | {"game": unmeasured})


@pytest.mark.parametrize("name", list(GAMES))
def test_sums_are_pinned(name):
    """The luck of matches, to the thousandth of a stroke."""
    for play, pinned in ((low, SUMS), (lots, CARELESS)):
        found = []
        for seats in (2, 3):
            record, named = match(name, seats, play=play)
            found.append(luck.sums(record, **named))
        assert pinned[name] == tuple(found)


@pytest.mark.parametrize(
    ("name", "seats"), [("play-nine", 2), ("play-nine", 6), ("four-card-golf", 8)]
)
def test_the_ledger_adds_up(name, seats):
    """Totals and entries are the same luck, of all kinds and holes."""
    record, named = match(name, seats)
    totals, found = luck.sums(record, **named), list(luck.entries(record, **named))
    kinds = {entry.kind for entry in found}
    own = {LuckKind.TEE, LuckKind.FLIP} if name == "play-nine" else {LuckKind.PEEK}
    assert {LuckKind.FIRST, LuckKind.DRAW, LuckKind.OUT, LuckKind.REVEAL} | own == kinds
    for seat in range(seats):
        mine = [entry for entry in found if entry.seat == seat]
        assert abs(sum(entry.luck for entry in mine) - totals[seat]) < len(mine) / 2
    order = [(entry.hole, entry.move) for entry in found]
    assert sorted(order) == order
    assert set(range(1, 10)) == {hole for hole, _ in order}
    assert (1, 0) == order[0]
    for hole, played in enumerate(record.holes, 1):
        moves = len(played.moves.split(","))
        assert max(move for of, move in order if of == hole) <= moves


def test_the_order_of_records_changes_nothing():
    """What was computed before leaves no trace."""
    matches = [match(name, deal=deal) for name in GAMES for deal in range(4)]
    there = [luck.sums(record, **named) for record, named in matches]
    back = [luck.sums(record, **named) for record, named in reversed(matches)]
    assert there == back[::-1]


def test_both_seatings_of_a_deal_differ_by_their_moves_alone():
    """Equal players have equal luck in equal seats: rotation cancels what is left."""
    first, named = match("play-nine", deal=2)
    second, _ = match("play-nine", deal=2, rotation=1)
    assert luck.sums(first, **named) == luck.sums(second, **named)


@pytest.mark.parametrize("name", list(GAMES))
def test_the_hole_that_a_forfeit_ended_does_not_count(name):
    """As in the totals: finished holes alone."""
    whole, named = match(name)
    cut, _ = match(name, fails=(60, 0))
    assert cut.faults
    finished = sum(bool(hole.scores) for hole in cut.holes)
    assert 0 < finished < 9
    assert finished == len(cut.holes) - 1
    before = [entry for entry in luck.entries(whole, **named) if entry.hole <= finished]
    assert before == list(luck.entries(cut, **named))


def test_a_match_that_never_began_has_no_luck():
    """Nobody's, and no entry."""
    record, named = match("play-nine")
    record = msgspec.structs.replace(record, holes=(), totals=(0, 0))
    assert ((0, 0), []) == (luck.sums(record, **named), list(luck.entries(record, **named)))


def test_a_seat_that_the_fallback_plays_is_a_seat_like_any_other():
    """At a larger table the others' holes count, and so does what chance did in them."""
    record, named = match("play-nine", 3, fails=(1, 1))
    assert record.faults
    assert 9 == max(entry.hole for entry in luck.entries(record, **named))
    assert all(luck.sums(record, **named))


def test_a_playoff_has_no_luck():
    """It adds nothing to the totals either."""
    for seed in range(200):  # pragma: no branch - one of them ties
        record, named = match("four-card-golf", deal=seed, playoff=True)
        if len(record.holes) > 9:
            break
    assert 9 == max(entry.hole for entry in luck.entries(record, **named))
    without = msgspec.structs.replace(record, holes=record.holes[:9])
    assert luck.sums(without, **named) == luck.sums(record, **named)


def changed(record, **fields):
    """The record with another first hole."""
    hole = msgspec.structs.replace(record.holes[0], **fields)
    return msgspec.structs.replace(record, holes=(hole, *record.holes[1:]))


@pytest.mark.parametrize("name", list(GAMES))
def test_a_record_that_is_not_true_is_refused(name):
    """Other scores, other moves, too few, too many, another order: one line for each."""
    record, named = match(name)
    hole = record.holes[0]
    for fields in (
        {"scores": (1, 99)},
        {"moves": hole.moves.rpartition(",")[0]},
        {"moves": hole.moves + ",draw"},
        {"moves": ""},
        {"moves": "nonsense," + hole.moves},
        {"order": (0, 0)},
    ):
        with pytest.raises(UserError, match="hole 1, played again, comes to another end"):
            luck.sums(changed(record, **fields), **named)


@pytest.mark.parametrize("many", range(4))
def test_one_more_matched_column_adds_what_the_game_says(many):
    """In hundredths of a stroke, beside columns that sum to 1 and don't match."""

    def scored(matched):
        beside = COLUMNS - matched
        return score_grid([7] * matched + [0] * beside + [7] * matched + [1] * beside)

    assert BONUS[many] == 100 * (scored(many + 1) - (scored(many) - 1))
