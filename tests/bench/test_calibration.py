"""How often a trial calls a bot better that isn't, simulated with the bench's own draws."""

import pytest

pytest.importorskip("numpy")
from calibration import BEFORE, COMPARED, Chance, Rare, Skewed, forfeited, tried, weaker_by
from numpy.random import default_rng

from arena.model import TrialVerdict

RUNS = 200


def better(trials):
    """The share of them that ended so."""
    return sum(trial.verdict is TrialVerdict.BETTER for trial in trials) / RUNS


def level(strokes):
    """Ahead by so many, which its forfeits take back."""
    return Rare(strokes, strokes / (123.0 + strokes), 0.0)


def test_rare_forfeits_that_cost_what_strokes_gain_are_not_let_through():
    """Two strokes ahead, one match in 62 forfeited: at most 5 %, where it was more than 20."""
    found = {
        test: better(forfeited(test, level(2.0), 5.0, default_rng((9, run))) for run in range(RUNS))
        for test in (COMPARED, BEFORE)
    }
    assert found[COMPARED] <= 0.05
    assert found[BEFORE] > 0.2


def test_a_bot_without_faults_takes_not_many_more_matches():
    """Two strokes ahead it takes a few hundred, not thousands."""
    honest = [
        forfeited(COMPARED, Rare(2.0, 0.0, 0.0), 5.0, default_rng((9, run))) for run in range(RUNS)
    ]
    assert better(honest) > 0.94
    assert sorted(one.matches for one in honest)[RUNS // 2] <= 300


def test_rare_large_losses_that_are_no_forfeits_are_allowed_for():
    """Differences as skewed as an exponential distribution."""
    found = {
        test: better(tried(test, 0.0, 15.0, Skewed((9, run), 2.0)) for run in range(RUNS))
        for test in (COMPARED, BEFORE)
    }
    assert found[COMPARED] <= 0.06
    assert found[COMPARED] < found[BEFORE]


def test_even_noise_is_as_it_was():
    """Nothing but forfeits and skewness is allowed for."""
    found = better(tried(COMPARED, 0.0, 15.0, Chance((9, run))) for run in range(RUNS))
    assert found <= 0.05


def test_a_bot_that_is_weaker_by_the_margin_seldom_passes():
    """Two strokes behind at most 5 % pass as no worse, by strokes or by forfeits; level most do."""
    test = weaker_by(2.0)
    by_strokes, level = (
        [tried(test, lead, 9.0, Chance((9, run))).verdict for run in range(RUNS)]
        for lead in (-2.0, 0.0)
    )
    by_forfeits = [
        forfeited(test, Rare(0.0, 2 / 123, 0.0), 9.0, default_rng((9, run))).verdict
        for run in range(RUNS // 2)
    ]
    assert by_strokes.count(TrialVerdict.NO_WORSE) <= 0.05 * RUNS
    assert by_forfeits.count(TrialVerdict.NO_WORSE) <= 0.05 * RUNS // 2
    assert level.count(TrialVerdict.NO_WORSE) >= 0.9 * RUNS
