"""The rules of Play Nine, one by one."""

import random
from collections import Counter

import pytest

from arena.games import IllegalMoveError, play_nine

GAME = play_nine.GAME
score_grid = play_nine.score_grid

# Two hands without any match; position p of the first holds p, of the second p + 20.
LOW, HIGH = range(8), range(20, 28)


def teed(lab, *, up=0, stock=range(50, 80), hands=(LOW, HIGH), turn_cap=60):
    """Two seats after `tee 0 1`, the first with `up` more cards turned from the left."""
    deck = lab.lay(hands, 40, stock)
    hole = lab.start(GAME, deck, seats=len(hands), turn_cap=turn_cap)
    lab.moves(hole, *["tee 0 1"] * len(hands))
    for at in range(2, 2 + up):
        lab.moves(hole, "draw", f"flip {at}")
        for _ in hands[1:]:
            lab.moves(hole, "draw", "swap 0")
    return hole


def told(hole, number=-1):
    """One event as everybody reads it."""
    play = hole.events(0, 0)[number]
    return play.seat, play.move, play.card, play.out


def test_the_pack_has_108_cards():
    """Four Hole-in-One and eight each of Mulligan to Out of Bounds, for any table."""
    assert Counter({-5: 4} | dict.fromkeys(range(13), 8)) == Counter(GAME.pack(2))
    assert GAME.pack(2) == GAME.pack(6)


def test_everybody_tees_off_at_once(lab):
    """All seats are asked in the order of play; 28 choices, the smaller position first."""
    hole = lab.start(GAME, lab.ListDeck(range(60)), seats=3, order=(1, 2, 0))
    assert hole.to_act() == (1, 2, 0)
    assert len(hole.legal(0)) == 28
    assert (hole.legal(0)[0], hole.legal(0)[-1]) == ("tee 0 1", "tee 6 7")
    assert hole.fallback(2) == "tee 0 1"
    assert hole.view(1).phase == "tee"
    assert hole.view(1).discard == 24
    with pytest.raises(IllegalMoveError):
        hole.apply(1, "draw")


def test_a_tee_off_stays_hidden_until_all_have_made_theirs(lab):
    """Nothing of a tee-off shows to anybody before the last one, then all in order of play."""
    hole = lab.start(GAME, lab.ListDeck(range(60)), seats=3, order=(1, 2, 0))
    before = [hole.view(seat) for seat in range(3)]
    hole.apply(0, "tee 2 7")
    hole.apply(1, "tee 0 5")
    assert hole.to_act() == (2,)
    assert before == [hole.view(seat) for seat in range(3)]
    assert hole.events(0, 0) == []
    hole.apply(2, "tee 3 4")
    # The card at position k of the seat in place p of the order is 3k + p.
    tees = [(play.seat, play.move, play.cards) for play in hole.events(0, 0)]
    assert tees == [(1, "tee 0 5", (0, 15)), (2, "tee 3 4", (10, 13)), (0, "tee 2 7", (8, 23))]
    assert hole.to_act() == (1,)
    assert hole.view(0).turns == (0, 1, 0)


def test_taking_the_discard_lays_it_face_up_anywhere(lab):
    """The replaced card, face down or up, goes onto the pile and is seen by all."""
    hole = teed(lab)
    lab.moves(hole, "take 7")
    assert told(hole) == (0, "take 7", 40, 7)
    assert hole.view(1).pile == (7,)
    assert hole.view(1).grids[0] == (0, 1, None, None, None, None, None, 40)
    lab.moves(hole, "take 0")
    assert told(hole) == (1, "take 0", 7, 20)
    assert hole.view(0).grids[1][:2] == (7, 21)


def test_a_drawn_card_may_replace_any_card(lab):
    """The drawn card goes face up; the replaced card is discarded."""
    hole = teed(lab)
    lab.moves(hole, "draw")
    assert hole.view(0).drawn == 50
    assert hole.view(1).drawn is None
    assert hole.view(1).phase == hole.view(0).phase == "drawn"
    lab.moves(hole, "swap 2")
    assert told(hole) == (0, "swap 2", 50, 2)
    assert hole.view(1).pile == (40, 2)


def test_a_drawn_card_may_be_discarded_for_a_flip(lab):
    """The drawn card is discarded and a face-down card is turned; only a face-down one."""
    hole = teed(lab)
    lab.moves(hole, "draw")
    assert [f"flip {at}" for at in range(2, 8)] == [m for m in hole.legal(0) if m[0] == "f"]
    with pytest.raises(IllegalMoveError):
        hole.apply(0, "flip 0")
    lab.moves(hole, "flip 5")
    assert told(hole) == (0, "flip 5", 5, 50)
    assert hole.view(1).grids[0] == (0, 1, None, None, None, 5, None, None)
    assert hole.view(1).pile == (40, 50)


def test_after_drawing_there_is_no_way_back_to_the_pile(lab):
    """A drawn card has to be used: no take, no second draw."""
    hole = teed(lab)
    lab.moves(hole, "draw")
    for move in ("take 0", "draw"):
        with pytest.raises(IllegalMoveError):
            hole.apply(0, move)


@pytest.mark.parametrize("up", range(6))
def test_skipping_needs_exactly_one_card_face_down(lab, up):
    """With two or more face down, discarding means flipping; with one, skipping is allowed."""
    hole = teed(lab, up=up)
    lab.moves(hole, "draw")
    assert ("skip" in hole.legal(0)) == (up == 5)
    if up < 5:
        with pytest.raises(IllegalMoveError, match="'skip' is not legal"):
            hole.apply(0, "skip")


def test_skipping_turns_nothing_and_may_be_repeated(lab):
    """The drawn card is discarded; the one face-down card stays."""
    hole = teed(lab, up=5)
    for _ in range(3):
        lab.moves(hole, "draw")
        drawn = hole.view(0).drawn
        lab.moves(hole, "skip")
        assert told(hole) == (0, "skip", None, drawn)
        assert hole.view(0).grids[0] == (*range(7), None)
        lab.moves(hole, "draw", "swap 0")


def test_face_up_cards_may_be_replaced_turn_after_turn(lab):
    """Replacing does not end the hole while one card stays face down."""
    hole = teed(lab, up=5)
    for _ in range(9):
        lab.moves(hole, "take 3", "take 0")
    assert hole.view(0).ended_by is None
    assert hole.view(0).grids[0][7] is None


@pytest.mark.parametrize("last", [("take 7",), ("draw", "swap 7"), ("draw", "flip 7")])
def test_eight_cards_face_up_end_the_hole_after_one_turn_of_every_other(lab, last):
    """Every other player, clockwise, has exactly one last turn."""
    hole = teed(lab, up=5, hands=(LOW, HIGH, range(30, 38)))
    lab.moves(hole, *last)
    assert hole.view(1).ended_by == 0
    assert hole.to_act() == (1,)
    lab.moves(hole, "take 0")
    assert hole.to_act() == (2,)
    lab.moves(hole, "draw", "flip 4")
    assert hole.to_act() == ()
    assert hole.view(0).turns == (6, 6, 6)


def test_last_turns_go_round_past_the_dealer(lab):
    """When the second of three puts out, the third and then the first have a last turn."""
    hole = lab.start(GAME, lab.shuffled(GAME, 3, 1), seats=3)
    lab.moves(hole, *["tee 0 1"] * 3)
    for at in range(2, 8):
        lab.moves(hole, "take 0", f"take {at}")
        if at < 7:
            lab.moves(hole, "take 0")
    assert hole.view(0).ended_by == 1
    assert hole.to_act() == (2,)
    lab.moves(hole, "take 0")
    assert hole.to_act() == (0,)
    lab.moves(hole, "take 0")
    assert hole.to_act() == ()
    assert hole.view(0).turns == (7, 6, 6)


def test_a_last_turn_is_an_ordinary_turn(lab):
    """With two or more face down a last draw can't be skipped, with one it can."""
    for more, may in ((0, False), (5, True)):
        hole = lab.start(GAME, lab.lay((LOW, HIGH), 40, range(50, 80)))
        lab.moves(hole, "tee 0 1", "tee 0 1")
        for at in range(2, 8):
            lab.moves(hole, "draw", f"flip {at}")
            if at < 7:
                lab.moves(hole, *(("draw", f"flip {at}") if more else ("take 0",)))
        assert hole.view(1).ended_by == 0
        lab.moves(hole, "draw")
        assert ("skip" in hole.legal(1)) == may


def test_putting_out_in_a_last_turn_triggers_nothing(lab):
    """The hole stays ended by the first; nobody gets another turn."""
    hole = lab.start(GAME, lab.lay((LOW, HIGH), 40, range(50, 80)))
    lab.moves(hole, "tee 0 1", "tee 0 1")
    for at in range(2, 8):
        lab.moves(hole, "draw", f"flip {at}", "draw", f"flip {at}")
    assert hole.view(0).ended_by == 0
    assert hole.to_act() == ()


def test_face_down_cards_are_revealed_and_count_in_combinations(lab):
    """At the end everything is turned; a column that nobody saw cancels like any other."""
    second = [7, 1, 6, 6, 2, 3, 6, 6]  # the matched columns are never turned in play
    hole = teed(lab, up=5, hands=([9, 1, 2, 3, 4, 5, 6, 9], second))
    lab.moves(hole, "draw", "flip 7", "take 1")
    # Seat 1 swapped position 0 five times (slots 1, 3, 5, 7, 9) and took what seat 0 threw.
    assert hole.grids()[1] == (59, 60, 6, 6, 2, 3, 6, 6)
    assert hole.scores() == (39, 59 + 60 + 2 + 3 - 10)


X = [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("grid", "strokes", "why"),
    [
        (X, 36, "nothing matches: the sum"),
        ([1, 2, 2, 4, 5, 6, 7, 2], 29, "side by side and across is no match"),
        ([7, 1, 2, 3, 7, 4, 5, 6], 21, "one column: 0"),
        ([7, 7, 2, 3, 7, 7, 5, 6], 16 - 10, "two columns of a value: -10"),
        ([7, 2, 3, 7, 7, 5, 6, 7], 16 - 10, "they need not be neighbours"),
        ([7, 7, 7, 3, 7, 7, 7, 6], 9 - 15, "three columns: -15"),
        ([7] * 8, -20, "four columns: -20"),
        ([7, 7, 9, 9, 7, 7, 9, 9], -20, "two different doubles add"),
        ([7, 7, 7, 9, 7, 7, 7, 9], -15, "three of one and one of another"),
        ([7, 1, 2, 3, 7, 7, 5, 7], 25, "further cards of a matched value count"),
        ([7, 7, 7, 1, 7, 7, 2, 7], 7 + 1 + 2 + 7 - 10, "two columns and two more of the value"),
        ([0, 1, 2, 3, 0, 4, 5, 6], 21, "one column of Mulligans: 0"),
        ([0, 0, 2, 3, 0, 0, 5, 6], 16 - 10, "two columns of Mulligans: -10"),
        ([0, 0, 0, 3, 0, 0, 0, 6], 9 - 15, "three columns of Mulligans: -15"),
        ([0] * 8, -20, "four columns of Mulligans: -20"),
        ([-5, 1, 2, 3, 4, 5, 6, 7], 23, "a Hole-in-One is -5"),
        ([-5, 1, 2, 3, -5, 4, 5, 6], 11, "a column of Hole-in-One does not cancel: -10"),
        ([-5, -5, 2, 3, -5, -5, 5, 6], 16 - 30, "two columns of Hole-in-One: -30"),
        ([-5, -5, -5, 3, -5, 2, 5, 6], 16 - 20, "one column and two more: -20"),
        ([-5, -5, 2, 3, 4, 1, -5, -5], 10 - 20, "four in other places: -20"),
        ([-5, -5, 7, 7, -5, -5, 7, 7], -40, "the lowest"),
        ([12, 12, 12, 12, 11, 11, 11, 11], 92, "the highest"),
        ([12, 11, 12, 11, 11, 12, 11, 12], 92, "the highest, mixed"),
        ([], 0, "a seat that sat out"),
    ],
)
def test_score(grid, strokes, why):
    """Every row of the scoring table."""
    assert strokes == score_grid(grid), why
    assert strokes == score_grid(tuple(grid))


def second_scorer(grid):
    """The same rules by value instead of by column."""
    columns = [grid[c : c + 5 : 4] for c in range(4)]
    strokes = 0
    for value in set(grid):
        matched = columns.count([value, value])
        if value == -5:
            strokes += -5 * grid.count(value) + (-10 if matched == 2 else 0)
        else:
            strokes += value * (grid.count(value) - 2 * matched)
            strokes += {0: 0, 1: 0, 2: -10, 3: -15, 4: -20}[matched]
    return strokes


@pytest.mark.no_cover
def test_score_agrees_with_a_second_scorer_on_20_000_grids():
    """Random grids, half of them of few values so that columns match; within -40 to 92."""
    rng = random.Random(9)
    pack = list(GAME.pack(2))
    values = [-5, *range(13)]
    for number in range(20_000):
        cards = pack if number % 2 else [rng.choice(values) for _ in range(3)]
        grid = rng.choices(cards, k=8)
        if grid.count(-5) > 4:
            continue
        strokes = score_grid(grid)
        assert strokes == second_scorer(grid), grid
        assert -40 <= strokes <= 92, grid
