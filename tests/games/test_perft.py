"""Exact counts of move sequences for small fixed decks: any change of the rules shows here.

The engine and the second referee count each on its own and have to find the pinned numbers:
sequences, different positions (what the two seats are shown), ended holes and the strokes in
those. Sequences to depth 3 are worked out by hand beside them.
"""

import msgspec
import pytest

from arena.games import four_card_golf, play_nine


def count(start, score_grid, depth):
    """Count what can be reached by `depth` moves, or by fewer where the hole ends."""
    sequences = ended = strokes = 0
    positions = set()
    paths = [()]
    while paths:
        path = paths.pop()
        hole = start()
        for move in path:
            hole.apply(hole.to_act()[0], move)
        acting = hole.to_act()
        if acting and len(path) < depth:
            paths += [(*path, move) for move in hole.legal(acting[0])]
            continue
        sequences += 1
        positions.add(b"".join(msgspec.json.encode(hole.view(seat)) for seat in (0, 1)))
        if not acting:
            ended += 1
            strokes += sum(map(score_grid, hole.grids()))
    return sequences, len(positions), ended, strokes


@pytest.fixture(params=["engine", "second referee"])
def dealer(request, lab):
    """Starts a hole of two seats with either of the two, after some moves."""

    def dealer(game, deck, *moves, turn_cap=None):
        cap = turn_cap or game.turn_cap
        start = game.start if request.param == "engine" else lab.second(game)

        def begin():
            hole = start(seats=2, order=(0, 1), deck=deck, turn_cap=cap)
            lab.moves(hole, *moves)
            return hole

        return begin

    return dealer


@pytest.fixture
def nine(lab, dealer):
    """Play Nine: two hands of eight, a discard 9, a stock of two, then the given moves."""
    hands = ((0, 1, 2, 3, 0, 1, 4, 5), (6, 6, 7, 7, 6, 8, 8, -5))

    def nine(*moves, turn_cap=60):
        deck = lab.lay(hands, 9, (1, 2))
        tees = ("tee 0 1", "tee 0 1")
        return dealer(play_nine.GAME, deck, *tees, *moves, turn_cap=turn_cap)

    return nine


TO_THE_LAST_CARD = [m for at in range(2, 7) for m in ("draw", f"flip {at}", "draw", f"flip {at}")]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (1, (9, 9, 0, 0)),  # 8 takes and draw
        (2, (86, 85, 0, 0)),  # 8 takes x 9, and 8 swaps and 6 flips
        (3, (814, 805, 0, 0)),  # 8 takes x 86, and 14 x 9
        # 8 takes x 814 and 14 x 86, less the flip that the seat's own take of one of its
        # 6 face-down cards, before 8 takes of the other seat, leaves it without: 48.
        (4, (7_668, 7_458, 0, 0)),
    ],
)
def test_play_nine_from_the_first_turn(nine, depth, expected):
    """Two seats with six cards face down each."""
    assert expected == count(nine(), play_nine.score_grid, depth)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (1, (9, 9, 0, 0)),
        # 8 takes x 9; a draw, then 8 swaps, 1 flip and skip. Out with take 7, the
        # other's 8 takes end the hole.
        (2, (82, 82, 8, 357)),
        (3, (682, 682, 90, 4_137)),
        (4, (5_484, 5_387, 748, 36_206)),
    ],
)
@pytest.mark.long(
    "deep counts",
    quick=(
        "engine-1-expected0",
        "engine-2-expected1",
        "engine-3-expected2",
        "second referee-1-expected0",
        "second referee-2-expected1",
        "second referee-3-expected2",
    ),
)
def test_play_nine_near_the_end(nine, depth, expected):
    """One card face down each: skips, putting out, last turns, reshuffles."""
    assert expected == count(nine(*TO_THE_LAST_CARD), play_nine.score_grid, depth)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("depth", "expected"), [(3, (290, 290, 251, 11_557)), (4, (619, 613, 581, 28_058))]
)
def test_play_nine_under_a_cap(nine, depth, expected):
    """The sixth turn is the last: whatever is done in it, the hole ends."""
    assert expected == count(nine(*TO_THE_LAST_CARD, turn_cap=6), play_nine.score_grid, depth)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (1, (6, 6, 0, 0)),  # 4 takes, draw, knock
        (2, (34, 34, 4, 154)),  # 4 takes x 6; a draw and 5 uses; a knock and 5 last moves
        # 4 takes x 34; 5 uses x 6; a knock, then 4 takes that end it and a draw with 5 uses.
        (3, (175, 175, 25, 962)),
        (4, (879, 879, 129, 4_954)),
        (5, (4_400, 4_304, 650, 24_418)),
    ],
)
def test_four_card_golf(lab, dealer, depth, expected):
    """Two seats from the deal, with a stock of one card: nearly every draw reshuffles."""
    deck = lab.lay(((1, 2, 3, 4), (5, 6, 7, 8)), 9, (13,))
    assert expected == count(dealer(four_card_golf.GAME, deck), four_card_golf.score_grid, depth)
