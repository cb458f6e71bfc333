import itertools

import pytest

from arena.model import Parameter
from arena.tuner.search import ParameterSearch, Stage
from arena.tuner.surface import Gap

RISK = Parameter(name="risk", low=0.0, high=3.0, default=1.0)
STEP = Parameter(name="step", low=0.001, high=1.0, default=0.1, log=True)
DEPTH = Parameter(name="depth", low=1, high=9, default=2, whole=True)
START = {"risk": "1", "step": "0.1", "depth": "2"}


def strokes(setting):
    """The best: risk 2, step 0.01, depth 7."""
    off = RISK.place(setting["risk"]) - 2 / 3
    return -(
        60 * off**2
        + 40 * (STEP.place(setting["step"]) - 1 / 3) ** 2
        + (float(setting["depth"]) - 7) ** 2 / 2
    )


def searched(stages, *, seed="a", value=strokes, parameters=(RISK, STEP, DEPTH), start=START):
    """A search, and all its stages, played without noise."""
    search = ParameterSearch(parameters, start, seed=seed, stages=stages)
    before = []
    for number in range(stages):
        named = {f"{number}-{n}": each for n, each in enumerate(search.next_settings())}
        gaps = [
            Gap(
                one=one,
                two=two,
                deals=2,
                strokes=value(named[one]) - value(named[two]),
                squares=2.0,
            )
            for one, two in itertools.combinations(named, 2)
        ]
        before.append(Stage(settings=named, gaps=gaps))
        search.add(before[-1])
    return search, before


def test_it_finds_the_best_setting():
    """Real, logarithmic and whole parameters come to their best values."""
    search, _ = searched(6)
    best = search.best()
    assert strokes(best) > -0.5
    assert best["depth"] in {"6", "7", "8"}


def test_the_settings_are_values_of_their_ranges():
    """All settings can be played; the first is where the search stands, and none is there twice."""
    search, before = searched(3)
    assert next(iter(before[0].settings.values())) == START
    for stage in before:
        found = [tuple(sorted(each.items())) for each in stage.settings.values()]
        assert len(set(found)) == len(found) <= search.settings == 9
        for setting in stage.settings.values():
            for each in (RISK, STEP, DEPTH):
                assert each.read(setting[each.name]) == setting[each.name]


def test_the_same_seed_gives_the_same_settings():
    """Settings follow from the seed and what was shown; another seed tries others."""
    one, two, other = (searched(3, seed=seed)[1] for seed in ("a", "a", "b"))
    assert one == two
    assert one[0].settings != other[0].settings


def test_every_version_tries_the_same_settings():
    """A tuning is verified, and goes on, by whichever arena comes later."""
    search, before = searched(3)
    settings = [[" ".join(each.values()) for each in stage.settings.values()] for stage in before]
    assert settings[0][:5] == ["1 0.1 2", "1.412 0.0326 3", "0.588 0.307 1", "0.22 0.548 2",
                               "1.78 0.0182 2"]  # fmt: skip
    assert settings[1][:3] == ["1.942 0.013 5", "2.695 0.0301 7", "1.189 0.0056 3"]
    assert settings[2][:3] == ["1.992 0.00986 7", "2.585 0.00846 7", "1.398 0.0115 6"]
    assert search.best() == {"risk": "1.999", "step": "0.01", "depth": "7"}
    assert [(each.likely, each.flat) for each in search.optima(0.5)] == [
        (("1.96", "2.032"), ("1.724", "2.275")),
        (("0.00883", "0.0114"), ("0.0046", "0.0217")),
        (("7", "7"), ("6", "8")),
    ]


def test_a_bot_with_many_parameters_has_at_most_eight_pairs():
    """Four to eight, one for each parameter in between."""
    for many, settings in ((1, 9), (6, 13), (8, 17), (12, 17)):
        every = [Parameter(name=f"p{n}", low=0.0, high=1.0, default=0.5) for n in range(many)]
        search = ParameterSearch(every, {each.name: "0.5" for each in every}, seed="a", stages=2)
        assert search.settings == settings


def test_an_optimum_says_how_much_it_matters():
    """Of a parameter without effect all values do; of one with effect those near the best."""

    def value(setting):
        return -200 * (RISK.place(setting["risk"]) - 0.5) ** 2

    search, _ = searched(5, value=value)
    risk, step, depth = search.optima(0.5)
    assert (risk.was, step.was, depth.was) == ("1", "0.1", "2")
    low, high = map(float, risk.flat)
    assert 1.2 < low < 1.5 < high < 1.8
    assert float(risk.likely[0]) <= float(risk.value) <= float(risk.likely[1])
    assert step.flat == STEP.ends
    assert depth.flat == DEPTH.ends


def test_a_best_value_at_an_end():
    """A parameter whose best value is the end of its range stays within it."""
    search, _ = searched(5, value=lambda s: 60 * RISK.place(s["risk"]))
    (risk, *_) = search.optima(0.5)
    assert risk.value == risk.flat[1] == "3"
    assert float(risk.flat[0]) == pytest.approx(3 - 3 / 120, abs=0.05)


def test_whole_parameters_may_leave_nothing_to_try():
    """Settings that are the same after rounding are one."""
    switch = Parameter(name="on", low=0, high=1, default=0, whole=True)
    search = ParameterSearch((switch,), {"on": "0"}, seed="a", stages=9)
    assert {each["on"] for each in search.next_settings()} <= {"0", "1"}
