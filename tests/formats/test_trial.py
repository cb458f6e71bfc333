"""A trial: its looks, its bounds and its verdicts."""

import math

import msgspec
import pytest

from arena.formats import trial
from arena.formats.trial import FORFEITS, SKEW, Bounds, SequentialTrial, bounds
from arena.model import ADJUSTED, RESULTS, Settings, TrialSettings, TrialVerdict, UserError
from arena.schedule import Lead, NoResults, ScheduleEnd, Wave


@pytest.fixture
def made(drawn, entered):
    """Makes a trial of "new" against "old"."""

    def make(names=("new", "old"), authors=None, test=None, **settings):
        settings = Settings(
            game="play-nine",
            format="trial",
            trial=TrialSettings(new="new") if test is None else test or None,
            **{"deals": 5, "rate_on": ADJUSTED, **settings},
        )
        return SequentialTrial(settings, entered(names, authors), drawn)

    return make


def test_the_bounds_are_wald_s():
    """And the ratio is that of two Gaussians."""
    test = TrialSettings(new="new", effect=2.0, alpha=0.05, beta=0.1)
    found = bounds(test, Lead(1.7, 0.8))
    assert (math.log(0.1 / 0.95), math.log(0.9 / 0.05)) == (found.lower, found.upper)
    gaussians = (-((1.7 - 2.0) ** 2) + 1.7**2) / (2 * 0.8**2)
    assert found.ratio == pytest.approx(gaussians)
    assert found.verdict is TrialVerdict.UNDECIDED
    assert bounds(test, Lead(4.0, 0.8)).verdict is TrialVerdict.BETTER
    assert bounds(test, Lead(-1.0, 0.8)).verdict is TrialVerdict.NOT_BETTER


def test_a_bound_that_is_reached_is_a_verdict():
    """Reached, not passed."""
    assert Bounds(-1.0, -1.0, 1.0).verdict is TrialVerdict.NOT_BETTER
    assert Bounds(-1.0, 1.0, 1.0).verdict is TrialVerdict.BETTER


@pytest.mark.parametrize(
    ("strokes", "errors"), [(1.7, 1.7 / 0.8), (0.9, 1.1 / 0.8), (50.0, 3.0), (-9.0, 3.0)]
)
def test_the_correction_for_skewness_is_johnson_s(strokes, errors):
    """By the distance from what would be rejected, in errors, and no further than is asked."""
    test = TrialSettings(new="new", effect=2.0, skew=3.0)
    corrected = strokes + 0.8 * -0.3 / 6 * (1 + 2 * errors**2)
    found = bounds(test, Lead(strokes, 0.8, -0.3)).ratio
    assert found == pytest.approx(2.0 * (corrected - 1.0) / 0.8**2)


def test_it_goes_on_until_it_is_known(made, shown, checked):
    """So many deals before the first look, so many before each other, in whole series."""
    format_ = made()
    waves = [format_.wave((), NoResults())]
    unsure = shown({"new": 1.1, "old": 0.0}, error=1.0)
    waves.append(format_.wave(waves, unsure))
    waves.append(format_.wave(waves, unsure))
    (pairing,) = waves[0].deals
    assert [range(20), range(20, 40), range(40, 60)] == [wave.deals[pairing] for wave in waves]
    assert {5} == {len(b.series[0].matches) for wave in waves for b in wave.blocks()}
    assert "20 deals before the first look" == waves[0].note
    ahead = "not better -2.94 < +0.20 < +2.94 better; ahead by 1.1 ± 3.0 strokes"
    assert ahead == waves[1].note
    behind = format_.wave(waves, shown({"new": 0.0, "old": 0.5}, error=2.0))
    assert behind.note.endswith("; behind by 0.5 ± 6.0 strokes")
    checked(format_, waves)
    better = format_.wave(waves, shown({"new": 3.0, "old": 0.0}, error=0.5))
    assert ScheduleEnd("new is better", TrialVerdict.BETTER) == better
    worse = format_.wave(waves, shown({"new": 0.0, "old": 3.0}, error=0.5))
    assert ScheduleEnd("new is not better", TrialVerdict.NOT_BETTER) == worse
    assert format_.adaptive


def apart(**more):
    """What `arena compare` asks."""
    return TrialSettings(new="new", forfeits=FORFEITS, skew=SKEW, **more)


def test_better_takes_a_proof_that_forfeits_cost_less(made, shown):
    """Until then it goes on, and says why; an event that doesn't ask for it, ends."""
    ahead = shown({"new": 3.0, "old": 0.0}, error=0.5, fell=(40, 0, 0))
    wave, older = (f.wave([f.wave((), NoResults())], ahead) for f in (made(test=apart()), made()))
    assert ScheduleEnd("new is better", TrialVerdict.BETTER) == older
    assert "; 0 forfeits in 40 matches may yet cost that: 0.95 < 3.54" in wave.note
    assert wave.more > 0
    enough = shown({"new": 3.0, "old": 0.0}, error=0.5, fell=(160, 0, 0))
    assert ScheduleEnd("new is better", TrialVerdict.BETTER) == made(test=apart()).wave(
        [wave], enough
    )
    fell = shown({"new": 3.0, "old": 0.0}, error=0.5, fell=(160, 2, 0))
    assert "2 forfeits in 160" in made(test=apart()).wave([wave], fell).note


def test_other_verdicts_take_no_such_proof(made, shown):
    """Nor does an event that rates on results, where a forfeit is lost like any other match."""
    behind = shown({"new": 0.0, "old": 3.0}, error=0.5)
    format_ = made(test=apart())
    first = format_.wave((), NoResults())
    assert ScheduleEnd("new is not better", TrialVerdict.NOT_BETTER) == format_.wave(
        [first], behind
    )
    ahead = shown({"new": 3.0, "old": 0.0}, error=0.5)
    by_results = made(test=apart(), rate_on=RESULTS)
    assert ScheduleEnd("new is better", TrialVerdict.BETTER) == by_results.wave([first], ahead)


def weaker(**fields):
    """Settings of a trial that asks whether the new bot is weaker by two strokes."""
    return TrialSettings(new="new", no_worse=True, **fields)


def test_a_trial_of_non_inferiority_is_the_same_moved_by_the_margin(made, shown):
    """Two strokes behind is what none is otherwise; its note tells the lead as it is."""
    moved, plain = made(test=weaker()), made()
    first = plain.wave((), NoResults())
    note = moved.wave([first], shown({"new": 0.0, "old": 0.9}, error=1.0)).note
    assert "worse -2.94 < +0.20 < +2.94 no worse; behind by 0.9 ± 3.0 strokes" == note
    level = shown({"new": 0.0, "old": 0.0}, error=0.5)
    assert ScheduleEnd("new is no worse", TrialVerdict.NO_WORSE) == moved.wave([first], level)
    assert TrialVerdict.NOT_BETTER is plain.wave([first], level).verdict
    behind = shown({"new": 0.0, "old": 2.0}, error=0.5)
    assert ScheduleEnd("new is worse", TrialVerdict.WORSE) == moved.wave([first], behind)


def test_no_worse_takes_a_proof_that_forfeits_do_not_cost_the_margin(made, shown):
    """Level in strokes: no forfeit in few matches, in many, and one in 40, which costs three."""
    format_ = made(test=weaker(forfeits=FORFEITS, skew=SKEW))
    first = format_.wave((), NoResults())
    few = format_.wave([first], shown({"new": 0.0, "old": 0.0}, error=0.3, fell=(40, 0, 0)))
    assert "0 forfeits in 40 matches may yet cost that" in few.note
    many = format_.wave([first], shown({"new": 0.0, "old": 0.0}, error=0.3, fell=(400, 0, 0)))
    assert TrialVerdict.NO_WORSE is many.verdict
    dear = format_.wave([first], shown({"new": 0.0, "old": 0.0}, error=0.3, fell=(400, 10, 0)))
    assert "10 forfeits in 400 matches may yet cost that: 0.00" in dear.note


@pytest.mark.parametrize(
    ("withdrawn", "verdict"), [(["new"], TrialVerdict.WORSE), (["old"], TrialVerdict.NO_WORSE)]
)
def test_who_is_withdrawn_is_worse(made, shown, withdrawn, verdict):
    """As in any trial."""
    format_ = made(test=weaker())
    waves = [format_.wave((), NoResults())]
    assert verdict is format_.wave(waves, shown({"new": 3.0}, withdrawn=withdrawn)).verdict


def test_rare_large_losses_are_allowed_for():
    """A lead whose estimate is skewed is corrected on the side of what would be refused."""
    plain, asked = TrialSettings(new="new"), apart()
    for lead, side in (
        (Lead(2.5, 0.5, -0.3), 1),
        (Lead(-0.5, 0.5, -0.3), 1),
        (Lead(2.5, 0.5, 0.3), -1),
    ):
        assert side * (bounds(plain, lead).ratio - bounds(asked, lead).ratio) > 0
    even = Lead(2.5, 0.5)
    assert bounds(plain, even) == bounds(asked, even)
    # Far out the correction grows no more.
    near, far = (bounds(asked, Lead(strokes, 0.5, -0.3)).ratio for strokes in (5.0, 50.0))
    further = bounds(msgspec.structs.replace(asked, skew=2 * SKEW), Lead(50.0, 0.5, -0.3)).ratio
    uncorrected = [bounds(plain, Lead(strokes, 0.5)).ratio for strokes in (5.0, 50.0)]
    assert uncorrected[0] - near == pytest.approx(uncorrected[1] - far)
    assert further < far


def test_how_often_it_looks_is_the_event_s(made, shown):
    """What a later arena would do is no matter."""
    format_ = made(test=TrialSettings(new="new", first=10, step=30))
    waves = [format_.wave((), NoResults())]
    waves.append(format_.wave(waves, shown({"new": 1.0, "old": 0.0})))
    assert [range(10), range(10, 40)] == [deals for w in waves for deals in w.deals.values()]


def test_looks_come_where_series_end(made):
    """A series of seven deals makes it 21 before the first."""
    format_ = made(deals=7, series=7)
    first = format_.wave((), NoResults())
    assert 42 == first.matches
    assert format_.find(next(iter(first.deals)), trial.MOST_DEALS, 0) is None


@pytest.mark.parametrize(
    ("budget", "waves"), [(40, 1), (79, 1), (80, 2), (100, 2), (10**6, 5), (5_000_000, 5)]
)
def test_the_budget_is_never_exceeded(made, shown, budget, waves):
    """Then nothing has been shown."""
    format_ = made(test=TrialSettings(new="new", budget=budget))
    results = shown({"new": 1.0, "old": 0.0})
    played = []
    while len(played) < 5 and isinstance(wave := format_.wave(played, results), Wave):
        played.append(wave)
    assert waves == len(played)
    if waves < 5:
        assert ScheduleEnd(f"the budget of {budget} matches", TrialVerdict.UNDECIDED) == wave


def test_a_pair_has_an_end(made, shown, monkeypatch):
    """However large the budget."""
    monkeypatch.setattr(trial, "MOST_DEALS", 50)
    format_ = made(test=TrialSettings(new="new", budget=10**6))
    results = shown({"new": 1.0, "old": 0.0})
    waves = [format_.wave((), results)]
    waves.append(format_.wave(waves, results))
    assert ScheduleEnd("the budget of 100 matches", TrialVerdict.UNDECIDED) == format_.wave(
        waves, results
    )


@pytest.mark.parametrize(
    ("withdrawn", "note", "verdict"),
    [
        (["new"], "new was withdrawn", TrialVerdict.NOT_BETTER),
        (["old"], "old was withdrawn", TrialVerdict.BETTER),
        (["new", "old"], "both were withdrawn", TrialVerdict.UNDECIDED),
    ],
)
def test_who_is_withdrawn_has_lost(made, shown, withdrawn, note, verdict):
    """Its strokes say nothing against that."""
    format_ = made()
    waves = [format_.wave((), NoResults())]
    results = shown({"new": 30.0, "old": 0.0}, withdrawn=withdrawn)
    assert ScheduleEnd(note, verdict) == format_.wave(waves, results)


def test_what_is_likely_to_come(made, shown):
    """To the bound it is heading for, at the pace so far, less the next wave; never over budget."""
    format_ = made()
    waves = [format_.wave((), NoResults())]
    bound = math.log(19)
    for lead in (2.0, 0.0):  # a ratio of 1 either way
        wave = format_.wave(waves, shown({"new": lead, "old": 0.0}, error=math.sqrt(2)))
        assert math.ceil(2 * (20 * (bound - 1) - 20)) == wave.more
    level = format_.wave(waves, shown({"new": 1.0, "old": 0.0}))
    assert math.ceil(2 * (20 * bound / 0.5 - 20)) == level.more
    small = made(test=TrialSettings(new="new", budget=90))
    assert 10 == small.wave(waves, shown({"new": 1.0, "old": 0.0})).more
    nearly = format_.wave(waves, shown({"new": 2.4, "old": 0.0}))
    assert 0 == nearly.more


def test_without_a_word_the_second_is_the_new_one(made, shown):
    """In the order of ids."""
    format_ = made(test=False)
    waves = [format_.wave((), NoResults())]
    end = format_.wave(waves, shown({"new": 0.0, "old": 9.0}, error=0.5))
    assert "old is better" == end.note


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"names": ("new", "old", "x")}, "between two bots"),
        ({"names": ("new", "old", "x"), "seats": 3}, "between two bots"),
        ({"names": ("new",)}, "at least 2 bots"),
        ({"test": TrialSettings(new="x")}, "x is not one of the two"),
        ({"authors": "xx", "same_author": False}, "leave --no-same-author out"),
        (
            {"test": TrialSettings(new="new", budget=39)},
            "39 matches are too few: 20 deals, 40 matches",
        ),
    ],
)
def test_a_trial_that_can_t_be_is_refused(made, changes, words):
    """One line that says why."""
    with pytest.raises(UserError, match=words):
        made(**changes)
