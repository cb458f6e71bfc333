"""How fast a match is shown."""

import pytest

from arena.terminal.watch import Speed


def test_held_it_goes_on_by_a_key_alone():
    """However long it is held; `n` is one move and holds it too."""
    pace = Speed(0.5)
    assert [False, True] == [pace.is_due(0.4), pace.is_due(0.5)]
    pace.press("n")
    assert [True, False] == [pace.is_due(0.0), pace.is_due(60.0)]
    assert "paused" == pace.describe()
    pace.press("space")
    assert pace.is_due(0.5)


def test_faster_ends_at_no_delay_and_slower_begins_from_there():
    """Between none and some seconds."""
    pace = Speed(0.2)
    for _ in range(5):
        pace.press("+")
    assert (0.0, "as fast as they play") == (pace.delay, pace.describe())
    pace.press("-")
    assert "a move every 0.05 s" == pace.describe()
    for _ in range(20):
        pace.press("-")
    assert pace.delay == pytest.approx(8.0)


def test_q_leaves():
    """As Ctrl-C does."""
    with pytest.raises(KeyboardInterrupt):
        Speed(1.0).press("q")
