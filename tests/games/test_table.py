"""The deal, the slots of the stock, the reshuffle, the turn cap: examples worked by hand.

Cards here are just numbers that say where they came from.
"""

import pytest

from arena import registry
from arena.games import four_card_golf, play_nine


def test_cards_are_dealt_one_at_a_time_from_the_left_of_the_dealer(game, lab):
    """The k-th card that a seat gets goes to its position k; then comes the first discard."""
    size = game.about.cards
    hole = lab.start(game, lab.ListDeck(range(60)), seats=3, order=(2, 0, 1))
    first_seats = [hole._cards[2], hole._cards[0], hole._cards[1]]
    assert [[3 * k + p for k in range(size)] for p in range(3)] == first_seats
    view = hole.view(0)
    assert 3 * size == view.discard
    assert (3 * size,) == view.pile
    assert 60 - 3 * size - 1 == view.stock


def test_a_seat_draws_the_card_of_its_slot(lab):
    """Slot (t - 1) * m + p: what others do instead of drawing leaves their cards lying."""
    # Two seats, stock 17 18 19 20 21 in slots 0 to 4.
    hole = lab.start(play_nine.GAME, lab.ListDeck(range(22)))
    lab.moves(hole, "tee 0 1", "tee 0 1")
    drawn = []
    for move in ("draw", "take 0", "draw", "draw", "draw", "draw"):
        seat = hole.to_act()[0]
        hole.apply(seat, move)
        if move == "draw":
            drawn.append((seat, hole.view(seat).drawn))
            hole.apply(seat, "swap 0")
    # Seat 0 in turns 1, 2, 3: slots 0, 2, 4. Seat 1 took in turn 1; turn 2 is slot 3, turn 3
    # slot 5, past the end: the lowest undrawn, slot 1.
    assert drawn == [(0, 17), (0, 19), (1, 20), (0, 21), (1, 18)]


def test_taking_instead_of_drawing_changes_no_later_card(lab):
    """The same deal gives a seat the same draws whatever the other seat did before."""
    drawn = []
    for other in ("take 0", "draw"):
        hole = lab.start(four_card_golf.GAME, lab.ListDeck(range(40)))
        lab.moves(hole, "draw", "discard", other)
        if other == "draw":
            lab.moves(hole, "swap 1")
        lab.moves(hole, "draw")
        drawn.append(hole.view(0).drawn)
    assert drawn == [11, 11]  # the stock begins with 9; slot (2 - 1) * 2 + 0


def three_seats(lab, *, second=None):
    """Three seats of four-card golf, discard 12, stock 13 to 17; all but seat 2 have drawn."""
    deck = lab.ListDeck(range(18), {1: (16, 12, 14, 13, 15)} | ({2: second} if second else {}))
    hole = lab.start(four_card_golf.GAME, deck, seats=3)
    drawn = []
    for _ in range(5):
        lab.moves(hole, "draw")
        drawn.append(hole.view(hole.to_act()[0]).drawn)
        lab.moves(hole, "discard")
    assert drawn == [13, 14, 15, 16, 17]
    return hole, deck


def test_the_pile_is_reshuffled_only_when_somebody_draws(lab):
    """An empty stock stays empty until a draw; then the top discard stays, the rest goes in."""
    hole, deck = three_seats(lab)
    assert hole.view(2).stock == 0
    assert hole.view(2).pile == (12, 13, 14, 15, 16, 17)
    lab.moves(hole, "take 0")
    assert deck.asked == []
    lab.moves(hole, "draw")
    assert deck.asked == [(1, (12, 13, 14, 15, 16))]
    assert hole.view(0).pile == (2,)  # what lay there: the third card dealt


def test_slots_restart_at_a_reshuffle(lab):
    """The drawing seat's present turn and the others' next turns count as the first."""
    hole, deck = three_seats(lab, second=(12, 13, 14, 15, 16))
    drawn = []
    for _ in range(6):
        lab.moves(hole, "draw")
        seat = hole.to_act()[0]
        drawn.append((seat, hole.view(seat).drawn))
        lab.moves(hole, "discard")
    # New stock 16 12 14 13 15. Seat 2, t = 1: slot 2. Seats 0 and 1, t = 1: slots 0 and 1.
    # Seat 2, t = 2: slot 5, past the end, so the lowest undrawn, slot 3. Seat 0, t = 2: slot 3,
    # already drawn, so slot 4. Seat 1 finds the stock empty: reshuffle 2, t = 1: slot 1.
    assert drawn == [(2, 14), (0, 16), (1, 12), (2, 13), (0, 15), (1, 13)]
    assert deck.asked == [(1, (12, 13, 14, 15, 16)), (2, (12, 13, 14, 16, 17))]


def test_the_turn_of_the_reshuffle_is_marked(lab):
    """`reshuffled` is on the event of the turn in which it happened and on no other."""
    hole, _ = three_seats(lab)
    lab.moves(hole, "draw", "discard", "draw", "discard")
    assert [play.reshuffled for play in hole.events(1, 0)] == [False] * 5 + [True, False]


def test_recycled_lists_what_went_in_less_what_the_seat_saw_leave(lab):
    """Empty at first; a card in another's hand is still among the unseen."""
    hole, _ = three_seats(lab)
    assert hole.view(0).recycled == ()
    lab.moves(hole, "draw")  # seat 2 holds 14
    assert hole.view(2).recycled == (12, 13, 15, 16)
    assert hole.view(0).recycled == (12, 13, 14, 15, 16)
    lab.moves(hole, "discard")
    assert hole.view(0).recycled == hole.view(2).recycled == (12, 13, 15, 16)


@pytest.mark.parametrize("cap", [1, 2, 5])
def test_the_cap_ends_a_hole_that_nobody_ended(game, lab, cap):
    """After the cap's turns of every seat the hole is over, without last turns."""
    hole = lab.start(game, lab.shuffled(game, 3, 5), seats=3, turn_cap=cap)
    while acting := hole.to_act():
        hole.apply(acting[0], hole.legal(acting[0])[0])  # tee 0 1, then take 0 for ever
    assert hole.view(0).turns == (cap,) * 3
    assert hole.view(0).ended_by is None
    assert len(hole.scores()) == 3


def test_ending_the_hole_with_the_last_capped_turn_still_gives_last_turns(lab):
    """The dealer knocks in the very last turn under the cap: the hole was ended in time."""
    hole = lab.start(four_card_golf.GAME, lab.shuffled(four_card_golf.GAME, 2, 5), turn_cap=1)
    lab.moves(hole, "take 0", "knock")
    assert hole.to_act() == (0,)
    lab.moves(hole, "take 0")
    assert hole.to_act() == ()
    assert hole.view(0).turns == (2, 1)


def test_a_sheet_is_there_in_the_languages_that_it_is_written_in():
    """And None says that there is none."""
    about = registry.game("play-nine").about
    assert "<h" in about.sheet("en")
    assert about.sheet("xx") is None
