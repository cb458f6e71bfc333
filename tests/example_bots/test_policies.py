"""The yardsticks never change: greedy and matcher make the moves that their docstrings state."""

from __future__ import annotations

import pytest

H = None  # face down

TWO_UP = (8, 3, H, H, H, H, H, H)
PAIRED = (8, 3, H, H, 8, H, H, H)
ONE_DOWN_GOOD = (8, 3, 2, 1, 8, 3, 2, H)
ONE_DOWN_BAD = (8, 3, 5, 1, 9, 10, 7, H)

NINE = [
    # A 2 saves 6 on the 8; a 4 saves 4; a 5 saves 3, which is not more than 3.
    ("greedy", TWO_UP, {"discard": 2}, "take 0"),
    ("greedy", TWO_UP, {"discard": 4}, "take 0"),
    ("greedy", TWO_UP, {"discard": 5}, "draw"),
    # A match with the 8 saves 13.6; beside the matched column nothing more is saved by an 8.
    ("greedy", TWO_UP, {"discard": 8}, "take 4"),
    ("greedy", PAIRED, {"discard": 8}, "draw"),
    # Once drawn, whatever saves anything.
    ("greedy", TWO_UP, {"drawn": 7}, "swap 0"),
    ("greedy", TWO_UP, {"drawn": 9}, "flip 4"),
    ("greedy", PAIRED, {"drawn": 5}, "swap 2"),
    ("greedy", PAIRED, {"drawn": 12}, "flip 5"),
    ("greedy", PAIRED, {"drawn": 3}, "swap 5"),
    ("greedy", (H, H, H, H, H, H, H, H), {"drawn": 12}, "flip 0"),
    # A second pair of eights is worth 10 more.
    ("greedy", (8, 8, H, H, 8, H, H, H), {"discard": 8}, "take 5"),
    # The last card is flipped, whatever is known.
    ("greedy", ONE_DOWN_GOOD, {"drawn": 12}, "flip 7"),
    ("greedy", ONE_DOWN_BAD, {"drawn": 12}, "flip 7"),
    # matcher weighs the discard against the expectation of a draw.
    ("matcher", TWO_UP, {"discard": 2}, "take 0"),
    ("matcher", TWO_UP, {"discard": -5}, "take 0"),
    ("matcher", TWO_UP, {"discard": 8}, "take 4"),
    ("matcher", TWO_UP, {"discard": 7}, "draw"),
    ("matcher", PAIRED, {"drawn": 12}, "flip 2"),
    ("matcher", PAIRED, {"drawn": 3}, "swap 5"),
    ("matcher", (8, 8, H, H, 8, H, H, H), {"discard": 8}, "take 5"),
    # The last one is flipped at an expected 10 or less, else matcher waits.
    ("matcher", ONE_DOWN_GOOD, {"drawn": 12}, "flip 7"),
    ("matcher", ONE_DOWN_BAD, {"drawn": 12}, "skip"),
    ("matcher", ONE_DOWN_BAD, {"drawn": 9}, "swap 0"),
]

FOUR = [
    # Known cards sum to 7: the end. To 8: not yet. With one unknown: never.
    ("greedy", (1, 2, 3, 1), {}, "knock"),
    ("greedy", (1, 2, 3, 2), {}, "draw"),
    ("greedy", (13, 13, 13, H), {}, "draw"),
    ("greedy", (1, 2, 3, 1), {"ended_by": 1}, "draw"),
    # An ace saves 4.8 on an unknown card; a 4 saves 1.8; a 7 saves 3 on a queen.
    ("greedy", (H, H, 4, 5), {"discard": 1}, "take 0"),
    ("greedy", (H, H, 4, 5), {"discard": 4}, "draw"),
    ("greedy", (H, H, 4, 12), {"discard": 7}, "take 3"),
    ("greedy", (H, H, 4, 9), {"discard": 7}, "draw"),
    ("greedy", (H, H, 4, 5), {"drawn": 5}, "swap 0"),
    ("greedy", (H, H, 4, 5), {"drawn": 6}, "discard"),
    # The threshold of two players is 7; what is unknown counts the mean of the unseen cards.
    ("matcher", (1, 2, 3, 1), {}, "knock"),
    ("matcher", (1, 2, 3, 2), {}, "draw"),
    ("matcher", (13, 13, 13, H), {}, "knock"),
    ("matcher", (1, 2, 3, 1), {"ended_by": 1}, "draw"),
    ("matcher", (H, H, 4, 5), {"discard": 13}, "take 0"),
    ("matcher", (H, H, 4, 12), {"discard": 2}, "take 3"),
    ("matcher", (H, H, 4, 12), {"discard": 7}, "draw"),
    ("matcher", (H, H, 4, 5), {"drawn": 5}, "swap 0"),
    ("matcher", (H, H, 4, 5), {"drawn": 7}, "discard"),
]


@pytest.mark.parametrize(("name", "grid", "given", "move"), NINE)
def test_moves_in_play_nine(policy, nine_view, *, name, grid, given, move):
    """A yardstick's move in play-nine is the one that its docstring states."""
    assert move == policy(name)(nine_view(grid, **given))


@pytest.mark.parametrize(("name", "grid", "given", "move"), FOUR)
def test_moves_in_four_card_golf(policy, four_view, *, name, grid, given, move):
    """A yardstick's move in four-card-golf is the one that its docstring states."""
    assert move == policy(name)(four_view(grid, **given))


@pytest.mark.parametrize("name", ["greedy", "matcher", "strong"])
def test_tee_off(policy, nine_view, name):
    """All three turn two cards of the upper row."""
    view = nine_view((H,) * 8) | {"phase": "tee"}
    assert "tee 0 1" == policy(name)(view)


def test_matcher_counts_cards(policy, nine_view):
    """A 7 is better than an 8 while sevens are left to match it, and worse when they are gone."""
    grid = (8, H, H, H, H, H, H, H)
    fresh = nine_view(grid, drawn=7)
    gone = nine_view(grid, drawn=7) | {"pile": [7] * 7}
    assert "swap 0" == policy("matcher")(fresh)
    assert "flip 1" == policy("matcher")(gone)


def test_strong_goes_out_when_ahead(policy, nine_view):
    """With pairs on the table and a poor opponent, strong flips its last card."""
    poor = (12, 11, 10, 9, 8, 7, H, H)
    view = nine_view((8, 3, 2, 5, 8, 3, 2, H), drawn=12, other=poor)
    assert "flip 7" == policy("strong")(view)


def test_strong_waits_when_behind(policy, nine_view):
    """With high cards against a fine grid, strong leaves its last card face down."""
    fine = (8, 3, 2, 0, 8, 3, 2, H)
    view = nine_view((12, 11, 10, 9, 8, 7, 3, H), drawn=12, other=fine)
    assert "flip 7" != policy("strong")(view)
