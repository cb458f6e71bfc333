"""The yardsticks measure the same as ever: strokes and turns against themselves."""

from __future__ import annotations

import pytest

from arena.model import Settings


@pytest.mark.parametrize(
    ("name", "game", "seats", "deals", "strokes", "turns"),
    [
        # Of mirror matches, rotations repeat each other: one seating a deal. The tolerances are
        # some three standard errors of so many holes.
        ("greedy", "play-nine", 2, 90, 9.4, 8.0),
        ("matcher", "play-nine", 2, 90, 7.9, 8.0),
        ("greedy", "four-card-golf", 4, 60, 9.7, 6.4),
    ],
)
@pytest.mark.long("the bots against themselves")
def test_strokes_and_turns(self_play, bots, *, name, game, seats, deals, strokes, turns):
    """Against itself a yardstick needs about its published strokes and turns a hole."""
    settings = Settings(game=game, seats=seats, turn_cap=60 if game == "play-nine" else 30)
    players = [self_play.Imported(bots / name) for _ in range(seats)]
    tally = self_play.mirror(settings, players, deals, "yardstick")
    assert sum(map(tally.strokes, range(seats))) / seats == pytest.approx(strokes, abs=0.6)
    assert tally.turns_each() == pytest.approx(turns, abs=0.6)


def test_strong_beats_matcher(self_play, bots):
    """The bot `strong` wins most matches of play-nine against matcher."""
    settings = Settings(game="play-nine")
    players = [self_play.Imported(bots / name) for name in ("strong", "matcher")]
    tally = self_play.play(settings, players, 12, "strength")
    assert tally.beaten[0] / tally.matches > 0.65
