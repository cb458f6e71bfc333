"""How fast a match is shown."""

import pytest

from arena.terminal.display import Pace


def test_held_it_goes_on_by_a_key_alone():
    """However long it is held; `n` is one move and holds it too."""
    pace = Pace(0.5)
    assert [False, True] == [pace.over(0.4), pace.over(0.5)]
    pace.press("n")
    assert [True, False] == [pace.over(0.0), pace.over(60.0)]
    assert "paused" == pace.says()
    pace.press("space")
    assert pace.over(0.5)


def test_faster_ends_at_no_delay_and_slower_begins_from_there():
    """Between none and some seconds."""
    pace = Pace(0.2)
    for _ in range(5):
        pace.press("+")
    assert (0.0, "as fast as they play") == (pace.delay, pace.says())
    pace.press("-")
    assert "a move every 0.05 s" == pace.says()
    for _ in range(20):
        pace.press("-")
    assert pace.delay == pytest.approx(8.0)


def test_q_leaves():
    """As Ctrl-C does."""
    with pytest.raises(KeyboardInterrupt):
        Pace(1.0).press("q")
