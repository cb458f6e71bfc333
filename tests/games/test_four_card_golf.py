"""The rules of four-card golf, one by one."""

from collections import Counter
from itertools import product

import pytest

from arena.games import IllegalMoveError, four_card_golf

GAME = four_card_golf.GAME
score_grid = four_card_golf.score_grid

HANDS = ((1, 2, 3, 4), (5, 6, 7, 8))


def begin(lab, *, hands=HANDS, discard=9, stock=(10, 11, 12, 13) * 5, **rest):
    """A hole with known hands, in the order of play."""
    return lab.start(GAME, lab.lay(hands, discard, stock), seats=len(hands), **rest)


def told(hole, reader):
    """The last event as `reader` may know it."""
    play = hole.events(reader, 0)[-1]
    return play.seat, play.move, play.card, play.out


def test_the_pack_doubles_from_five_players_on():
    """One pack of 52 for two to four players, two for five to eight."""
    one = dict.fromkeys(range(1, 14), 4)
    for seats in range(2, 9):
        times = 1 if seats <= 4 else 2
        assert Counter({rank: n * times for rank, n in one.items()}) == Counter(GAME.pack(seats))


def test_everybody_knows_their_own_near_two(lab):
    """At the start the owner knows positions 2 and 3, nobody knows 0 and 1."""
    hole = begin(lab)
    assert hole.view(0).grids == ((None, None, 3, 4), (None,) * 4)
    assert hole.view(1).grids == ((None,) * 4, (None, None, 7, 8))
    assert hole.view(0).known == hole.view(1).known == ("nnoo", "nnoo")
    assert hole.to_act() == (0,)
    assert hole.view(0).phase == "turn"
    assert hole.view(0).turns == (1, 0)
    assert hole.legal(0) == ("take 0", "take 1", "take 2", "take 3", "draw", "knock")


def test_a_taken_discard_is_known_to_all(lab):
    """It lies face down, but everybody saw what was taken; the old card is discarded."""
    hole = begin(lab)
    lab.moves(hole, "take 3")
    assert hole.view(1).grids[0] == (None, None, None, 9)
    assert hole.view(1).known[0] == "nnoa"
    assert hole.view(1).pile == (4,)
    assert told(hole, 0) == told(hole, 1) == (0, "take 3", 9, 4)


def test_a_card_placed_from_the_stock_is_known_to_its_owner(lab):
    """Others see that a card was placed and what it replaced, not what it is."""
    hole = begin(lab)
    lab.moves(hole, "draw")
    assert (hole.view(0).drawn, hole.view(1).drawn) == (10, None)
    assert hole.view(1).phase == "drawn"
    assert hole.legal(0) == ("swap 0", "swap 1", "swap 2", "swap 3", "discard")
    lab.moves(hole, "swap 0")
    assert hole.view(0).grids[0] == (10, None, 3, 4)
    assert hole.view(1).grids[0] == (None,) * 4
    assert hole.view(1).known[0] == "onoo"
    assert told(hole, 0) == (0, "swap 0", 10, 1)
    assert told(hole, 1) == (0, "swap 0", None, 1)
    assert hole.view(1).pile == (9, 1)


def test_replacing_a_publicly_known_card_makes_it_private_again(lab):
    """Known to all until replaced."""
    hole = begin(lab)
    lab.moves(hole, "take 3", "draw", "discard", "draw", "swap 3")
    assert hole.view(1).grids[0] == (None,) * 4
    assert hole.view(1).known[0] == "nnoo"
    assert hole.view(0).grids[0][3] == 12


def test_a_discarded_draw_is_seen_by_all(lab):
    """The turn is over and the card lies on the pile."""
    hole = begin(lab)
    lab.moves(hole, "draw", "discard")
    assert told(hole, 0) == told(hole, 1) == (0, "discard", None, 10)
    assert hole.view(1).pile == (9, 10)
    assert hole.to_act() == (1,)


def test_positions_are_chosen_without_looking(lab):
    """Nothing but the two near cards is known to the owner before a card is replaced."""
    hole = begin(lab)
    lab.moves(hole, "draw")
    assert hole.view(0).grids[0][:2] == (None, None)


def test_after_drawing_there_is_no_way_back(lab):
    """A drawn card is placed or discarded: no take, no second draw, no knock."""
    hole = begin(lab)
    lab.moves(hole, "draw")
    for move in ("take 0", "draw", "knock"):
        with pytest.raises(IllegalMoveError):
            hole.apply(0, move)


def test_a_knock_gives_every_other_player_one_turn_without_knocking(lab):
    """Knocking on the first turn is legal; play goes on clockwise up to the knocker."""
    hole = begin(lab, hands=(*HANDS, (9, 9, 9, 9)), order=(1, 2, 0))
    lab.moves(hole, "draw", "discard", "knock")
    assert told(hole, 1) == (2, "knock", None, None)
    assert hole.view(0).ended_by == 2
    for seat in (0, 1):
        assert hole.to_act() == (seat,)
        assert "knock" not in hole.legal(seat)
        with pytest.raises(IllegalMoveError):
            hole.apply(seat, "knock")
        lab.moves(hole, "take 0")
    assert hole.to_act() == ()
    assert hole.view(0).turns == (1, 2, 1)


def test_the_knocker_has_no_bonus_and_no_penalty(lab):
    """Everybody's four cards are added up, whoever knocked."""
    hole = begin(lab)
    lab.moves(hole, "knock", "take 3")
    assert hole.grids() == ((1, 2, 3, 4), (5, 6, 7, 9))
    assert hole.scores() == (10, 27)


def recycled(lab):
    """The stock 10 11 12 13 is used up, seat 0 has kept the 10; the next is 12 11 9 1."""
    deck = lab.lay(HANDS, 9, (10, 11, 12, 13))
    deck.reshuffled[1] = (12, 11, 9, 1)
    hole = lab.start(GAME, deck)
    lab.moves(hole, "draw", "swap 0", *["draw", "discard"] * 3)
    assert hole.view(1).pile == (9, 1, 11, 12, 13)
    return hole


def test_a_card_placed_from_a_reshuffled_stock_is_marked(lab):
    """Letter r: its owner alone knows it, the others know which cards it may be."""
    hole = recycled(lab)
    lab.moves(hole, "draw", "swap 1")  # seat 0, slot 0: the 12
    assert hole.view(1).known[0] == "oroo"
    assert hole.view(0).recycled == (1, 9, 11)
    assert hole.view(1).recycled == (1, 9, 11, 12)
    lab.moves(hole, "draw", "discard")  # seat 1, slot 1: the 11, seen by all
    assert hole.view(0).recycled == (1, 9)
    assert hole.view(1).recycled == (1, 9, 12)
    lab.moves(hole, "take 1")  # out comes the 12
    assert hole.view(1).known[0] == "oaoo"
    assert hole.view(0).recycled == hole.view(1).recycled == (1, 9)


def test_an_older_mark_turns_into_plain_owner_at_the_next_reshuffle(lab):
    """Letter r is about the last reshuffle only, for every seat's cards."""
    hole = recycled(lab)
    lab.moves(hole, "draw", "swap 1", "draw", "swap 1", *["draw", "discard"] * 2)
    assert hole.view(0).stock == 0
    assert hole.view(0).known == ("oroo", "nroo")
    assert (hole.view(0).recycled, hole.view(1).recycled) == ((11,), (12,))
    lab.moves(hole, "draw")
    assert hole.view(1).known == ("oooo", "nooo")
    lab.moves(hole, "swap 3")
    assert hole.view(1).known == ("ooor", "nooo")


@pytest.mark.parametrize(
    ("rank", "points"),
    [(1, 1), *((rank, rank) for rank in range(2, 11)), (11, 10), (12, 10), (13, 0)],
)
def test_points_of_a_rank(rank, points):
    """Ace 1, two to ten their face value, jack and queen 10, king 0."""
    assert points == score_grid([rank, 13, 13, 13])
    assert 4 * points == score_grid((rank,) * 4)  # no pairs, columns or four of a kind


def test_score_agrees_with_a_second_scorer_on_every_grid():
    """All 28,561 grids; from 0 to 40 points."""
    names = "A23456789TJQK"
    points = dict(zip(names, [*range(1, 11), 10, 10, 0], strict=True))
    scores = set()
    for grid in product(range(1, 14), repeat=4):
        expected = 0
        for rank in grid:
            expected += points[names[rank - 1]]
        assert expected == score_grid(grid)
        scores.add(expected)
    assert set(range(41)) == scores
