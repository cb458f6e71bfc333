"""Self-play gives the figures that independent simulations of these rules gave.

The figures: turns per seat and hole, decisions per match, strokes per hole (mean, 5th and 95th
percentile). Samples are small and seeded. Tolerance: four standard errors of the sample, plus
what the published figure leaves open: half a unit of its last digit for random play, and for
greedy play, which is described in words only, 0.5 turns, 5 % of the decisions, 0.5 strokes.
Percentiles may be 2 strokes off.

Random play chooses uniformly among the kinds of move, then among the positions.
"""

import random
from statistics import mean, quantiles, stdev

import pytest

from arena.games import four_card_golf, play_nine

UNSEEN_NINE = 604 / 108
"""The mean card of a pack: what a face-down card counts for the greedy player."""
UNSEEN_POINTS = 85 / 13
POINTS = (0, *range(1, 11), 10, 10, 0)


def expected_nine(grid):
    """The score of a grid where a face-down card matches nothing and counts the mean."""
    down = grid.count(None)
    # Large distinct numbers match nothing and are taken off again.
    filled = [1_000 + at if card is None else card for at, card in enumerate(grid)]
    added = sum(1_000 + at for at, card in enumerate(grid) if card is None)
    return play_nine.score_grid(filled) - added + down * UNSEEN_NINE


def greedy_nine(hole, seat, _):
    """Takes what lowers the score by more than 3, flips where a match may come, goes out."""
    view = hole.view(seat)
    if view.phase == "tee":
        return "tee 0 1"
    grid = list(view.grids[seat])
    card = view.discard if view.phase == "turn" else view.drawn
    after = [expected_nine([*grid[:at], card, *grid[at + 1 :]]) for at in range(8)]
    gain = expected_nine(grid) - min(after)
    if view.phase == "turn":
        return f"take {after.index(min(after))}" if gain > 3 else "draw"
    if gain > 0:
        return f"swap {after.index(min(after))}"
    down = [at for at in range(8) if grid[at] is None]
    beside_a_seen_card = [at for at in down if grid[(at + 4) % 8] is not None]
    return f"flip {(beside_a_seen_card or down)[0]}"


def greedy_four(hole, seat, _):
    """Replaces its worst card, from the pile for a gain of more than 3; knocks at 7."""
    view = hole.view(seat)
    grid = [UNSEEN_POINTS if card is None else POINTS[card] for card in view.grids[seat]]
    worst = max(grid)
    at = grid.index(worst)
    if view.phase == "drawn":
        return f"swap {at}" if POINTS[view.drawn] < worst else "discard"
    if sum(grid) <= 7 and view.ended_by is None:
        return "knock"
    return f"take {at}" if POINTS[view.discard] < worst - 3 else "draw"


NINE, FOUR = play_nine.GAME, four_card_golf.GAME


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("game", "seats", "policy", "matches", "figures"),
    [
        pytest.param(NINE, 2, None, 150, (10.3, 297, 41.7, (21, 62)), id="nine-2-random"),
        pytest.param(NINE, 6, None, 40, (8.4, 737, 41.7, (21, 62)), id="nine-6-random"),
        pytest.param(NINE, 2, greedy_nine, 60, (8.0, 267, 9.4, (-4, 25)), id="nine-2-greedy"),
        pytest.param(FOUR, 4, None, 150, (1.5, 76, 23.1, (12, 34)), id="four-4-random"),
        pytest.param(FOUR, 4, greedy_four, 60, (6.3, 424, 9.7, (4, 19)), id="four-4-greedy"),
    ],
)
def test_self_play(lab, game, *, seats, policy, matches, figures):
    """Holes last as long and cost as much as they did elsewhere."""
    turns, decisions, strokes, percentiles = figures
    rng = random.Random(2024)
    by_turns, by_decisions, by_strokes = [], [], []
    for _ in range(matches):
        made = 0
        for number in range(9):
            order = [(number + place) % seats for place in range(seats)]
            deck = lab.shuffled(game, seats, rng.getrandbits(64))
            hole = lab.start(game, deck, seats=seats, order=order)
            made += len(lab.play(hole, policy or lab.any_kind, rng))
            by_turns.append(mean(hole.view(0).turns))
            by_strokes += hole.scores()
        by_decisions.append(made)

    def off(expected, sample, freedom):
        error = stdev(sample) / len(sample) ** 0.5
        return abs(mean(sample) - expected) / (4 * error + freedom)

    greedy = policy is not None
    assert off(turns, by_turns, 0.5 if greedy else 0.05) < 1
    assert off(decisions, by_decisions, 0.05 * decisions if greedy else 0.5) < 1
    assert off(strokes, by_strokes, 0.5 if greedy else 0.05) < 1
    cuts = quantiles(by_strokes, n=20)
    assert abs(cuts[0] - percentiles[0]) <= 2
    assert abs(cuts[-1] - percentiles[1]) <= 2
