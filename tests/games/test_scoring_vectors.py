"""Scores of whole hands, as the tests of three public implementations of Play Nine state them.

Only the numbers are from there. A hand is its upper row, then its lower row. A fourth one,
dpenning/PlayNineTerminal, gives -20 for three equal columns and -40 for four; the printed rules
give -15 and -20, as these three do.
"""

import pytest

from arena.games.play_nine import score_grid

RYAN_C_LEWIS = "ryan-c-lewis/play-nine-ai, Tests.cs"
EVERTRAS = "Evertras/play-nine-bot, playnine/score_test.go"
TSEITZIN = "tseitzin/golf-card-game, src/utils/score.test.js"

VECTORS = (
    (RYAN_C_LEWIS, (1, 2, 3, 4), (5, 6, 7, 8), 36),
    (RYAN_C_LEWIS, (1, 2, 3, 4), (1, 2, 3, 4), 0),
    (RYAN_C_LEWIS, (1, 2, 3, 4), (1, 5, 3, 4), 7),
    (RYAN_C_LEWIS, (8, 2, 3, 3), (7, 5, 3, 3), 12),
    (RYAN_C_LEWIS, (1, 2, 3, 1), (1, 2, 3, 1), -10),
    (RYAN_C_LEWIS, (1, 1, 3, 1), (1, 1, 3, 1), -15),
    (RYAN_C_LEWIS, (1, 1, 1, 1), (1, 1, 1, 1), -20),
    (RYAN_C_LEWIS, (1, 3, 3, 1), (1, 3, 3, 1), -20),
    (RYAN_C_LEWIS, (-5, 2, 3, 4), (-5, 2, 3, 4), -10),
    (RYAN_C_LEWIS, (-5, -5, 3, 4), (-5, -5, 3, 4), -30),
    (EVERTRAS, (1, 2, 3, 4), (5, 6, 7, 8), 36),
    (EVERTRAS, (1, 2, 3, 4), (1, 6, 7, 8), 30),
    (EVERTRAS, (1, 2, 3, 4), (1, 6, 7, 4), 18),
    (EVERTRAS, (1, 2, 4, 4), (2, 1, 4, 4), -4),
    (EVERTRAS, (1, 2, -5, 4), (2, 1, -5, 5), 5),
    (TSEITZIN, (3, 7, 5, 1), (4, 2, 8, 0), 30),
    (TSEITZIN, (4, 7, 5, 1), (4, 2, 8, 0), 23),
    (TSEITZIN, (4, 7, 5, 1), (4, 7, 8, 0), 14),
    (TSEITZIN, (4, 7, 5, 1), (4, 7, 5, 9), 10),
    (TSEITZIN, (4, 4, 4, 4), (4, 4, 4, 4), -20),
    (TSEITZIN, (7, 1, 2, 3), (7, 4, 5, 6), 21),
    (TSEITZIN, (-5, 3, -5, 7), (-5, 6, -5, 4), -10),
    (TSEITZIN, (4, 8, 8, 3), (4, 8, 8, 11), 4),
    (TSEITZIN, (0, 1, 6, 6), (0, 0, 12, 6), 19),
)


@pytest.mark.parametrize(("source", "upper", "lower", "strokes"), VECTORS)
def test_a_hand_scores_what_others_say(source, upper, lower, strokes):
    """Equal columns cancel, all but -5; two to four columns of one value take off 10, 15, 20."""
    assert strokes == score_grid((*upper, *lower)), source
