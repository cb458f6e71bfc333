"""What a bot may compute off turn: seconds that are made up."""

from arena.engine.time_account import BURST_S, SHARE, Allowance


def test_a_burst_is_allowed_and_no_more():
    """A compiler at work in a program's first seconds."""
    allowance = Allowance(100.0)
    assert not allowance.spend(BURST_S, 100.0)
    assert allowance.spend(BURST_S + 0.001, 100.0)


def test_a_share_of_the_time_is_allowed_for_ever():
    """A collector that is at work again and again, match after match."""
    allowance, at = Allowance(0.0), 0.0
    for _ in range(100):
        allowance.begin()
        for second in range(1, 11):
            at += 1.0
            assert not allowance.spend(0.9 * SHARE * second, at)


def test_more_than_that_is_noticed_in_the_end():
    """However it is spread over matches that are over in a moment."""
    allowance, at, matches = Allowance(0.0), 0.0, 0
    while not allowance.spend(2 * SHARE * 0.05, at):
        allowance.begin()
        at += 0.05
        matches += 1
    assert BURST_S / (SHARE * 0.05) - 2 <= matches <= BURST_S / (SHARE * 0.05) + 2


def test_what_was_not_used_is_not_saved():
    """An hour of peace is no licence for minutes of war."""
    allowance = Allowance(0.0)
    assert not allowance.spend(0.0, 3600.0)
    assert allowance.spend(BURST_S + 0.001, 3600.0)


def test_a_figure_that_falls_gives_nothing_back():
    """Of a turn that was longer than the CPU that was used in it."""
    allowance = Allowance(0.0)
    assert not allowance.spend(0.8, 0.0)
    assert not allowance.spend(0.3, 0.0)
    assert not allowance.spend(0.8, 0.0)
    assert allowance.spend(1.1, 0.0)
