"""A race: who plays on, from where, and when it is over."""

import contextlib

import pytest

from arena.formats import race as formats_race
from arena.formats.race import Race, refuse_small_budget
from arena.model import RaceSettings, Settings, UserError, pairing_id
from arena.schedule import NoResults, Wave


@pytest.fixture
def race(drawn, entered):
    """Makes a race."""

    def make(names="abcd", authors=None, racing=None, close=2.0, budget=None, **settings):
        settings = Settings(
            game="play-nine",
            format="racing",
            racing=racing or RaceSettings(close=close, budget=budget, growth=0.5),
            **{"deals": 10, **settings},
        )
        return Race(settings, entered(names, authors), drawn)

    return make


def met(wave):
    """The pairs of a wave, and how many deals each plays."""
    pairs = {}
    for block in wave.blocks():
        specs = block.series[0].matches
        pair = "".join(sorted(specs[0].seats))
        pairs[pair] = pairs.get(pair, 0) + len(specs)
    return pairs


def dealt(wave, pair):
    """The deals of a pair in a wave."""
    return wave.deals[pairing_id(pair)]


def test_the_warm_up_is_everybody(race):
    """Every pair plays the event's deals, whatever is known."""
    first = race().wave((), NoResults())
    assert dict.fromkeys(["ab", "ac", "ad", "bc", "bd", "cd"], 10) == met(first)
    assert "warm-up: every pair" == first.note
    assert race().adaptive


@pytest.mark.parametrize(
    ("deals", "series", "chunk", "warm_up"),
    [(10, 25, 10, 10), (30, 25, 15, 30), (27, 25, 14, 28), (3, 1, 1, 3), (50, 25, 25, 50)],
)
def test_the_warm_up_is_cut_into_series_of_one_length(race, deals, series, chunk, warm_up):
    """So that later waves go on where series end, and it is hardly longer than was asked for."""
    made = race("ab", deals=deals, series=series)
    first = made.wave((), NoResults())
    assert {"ab": warm_up} == met(first)
    assert {chunk} == {len(b.series[0].matches) for b in first.blocks()}
    assert [chunk] * (warm_up // chunk) == list(map(len, made.chunks(dealt(first, "ab"))))


@pytest.mark.parametrize(
    ("bots", "deals", "series", "pairs", "warm_up"),
    [
        (2, 10, 25, 1, 10),
        (2, 4, 25, 1, 12),
        (2, 10, 1, 1, 10),
        (4, 10, 25, 6, 4),
        (11, 10, 25, 55, 2),
        (11, 10, 1, 55, 2),
        (14, 10, 25, 70, 2),
    ],
)
def test_a_warm_up_is_spread_over_the_field(
    race, shown, checked, bots, deals, series, pairs, warm_up
):
    """Ten deals a bot at least, against ten others where there are so many; then whole series."""
    names = "abcdefghijklmn"[:bots]
    made = race(names, deals=deals, series=series, racing=RaceSettings(spread=10))
    waves = [made.wave((), NoResults())]
    assert [warm_up] * pairs == list(met(waves[0]).values())
    assert all(len(s.matches) <= series for b in waves[0].blocks() for s in b.series)
    others = {name: sum(name in pair for pair in met(waves[0])) for name in names}
    assert {min(10, bots - 1)} == set(others.values())
    every = "every pair" if bots < 12 else "every bot against 10 others"
    assert f"warm-up: {every}" == waves[0].note
    for _ in range(3):
        waves.append(made.wave(waves, shown(dict.fromkeys(names, 0.0))))
        assert all(sum(name in pair for pair in met(waves[-1])) <= 10 for name in names)
    checked(made, waves)


def test_in_a_large_field_open_pairs_play_on_the_nearest_first(race, shown):
    """A bot meets so many others in a wave at most; those it hasn't met begin as in the warm-up."""
    made = race("abcdef", deals=6, racing=RaceSettings(spread=2))
    first = made.wave((), NoResults())
    assert {2} == {sum(name in pair for pair in met(first)) for name in "abcdef"}
    strengths = {name: -0.1 * place for place, name in enumerate("abcdef")}
    second = met(made.wave([first], shown(strengths)))
    assert set(second) == {"ab", "bc", "cd", "de", "ef", "af"}
    assert all(deals == (6 if pair in met(first) else 2) for pair, deals in second.items())


def test_only_groups_that_are_open_play_on(race, shown, checked):
    """Those who are cut off from all others by their results have met enough."""
    made = race("abcde")
    waves = [made.wave((), NoResults())]
    results = shown({"e": 20.0, "c": 11.0, "a": 10.5, "d": 3.0, "b": 2.0})
    waves.append(made.wave(waves, results))
    assert {"ac": 10, "bd": 10} == met(waves[1])
    assert range(10, 20) == dealt(waves[1], "ac")
    # Each has played 40 deals, worth 25 of the two alone. Three errors tell apart, so a lead of 1
    # takes nine times as many; the other two may be shown to be close.
    hardest = "d and b: about 200 more deals"
    assert f"open: c to a (2), d to b (2); {hardest}" == waves[1].note
    checked(made, waves)


def test_all_whose_order_is_open_in_a_group_play_on_not_only_neighbours(race, shown):
    """Neighbours aren't known yet; a pair that is apart or close needs no more."""
    made = race()
    first = made.wave((), NoResults())
    results = shown({"a": 4.0, "b": 2.5, "c": 1.0, "d": 0.5})
    results.errors = {frozenset("cd"): 0.1}
    assert {"ab": 10, "ac": 10, "bc": 10, "bd": 10} == met(made.wave([first], results))


@pytest.mark.parametrize(
    ("close", "error", "over"), [(2.0, 0.3, True), (2.0, 0.5, False), (0.0, 0.3, False)]
)
def test_who_is_shown_to_be_close_needs_no_order(race, shown, close, error, over):
    """The whole interval has to be within it."""
    made = race("abc", close=close)
    first = made.wave((), NoResults())
    results = shown({"a": 8.0, "b": 0.6, "c": 0.0}, error=error)
    end = made.wave([first], results)
    assert over == (not isinstance(end, Wave))
    if over:
        assert "all neighbours told apart or shown to be close, in one wave" == end.note


def test_those_who_are_told_apart_are_no_burden_for_the_others(race, shown):
    """The last pair that is open has to be sure for itself alone."""
    made = race("abcd", close=0.0)
    first = made.wave((), NoResults())
    results = shown({"a": 30.0, "b": 20.0, "c": 10.0, "d": 8.5})
    results.separation = lambda pairs, error: float(pairs)
    assert "all neighbours told apart" in made.wave([first], results).note
    results.strengths = {"a": 12.0, "b": 10.5, "c": 9.0, "d": 7.5}
    assert {"ab", "bc", "cd"} <= set(met(made.wave([first], results)))


def test_it_is_over_when_all_are_told_apart(race, shown):
    """However many waves it took."""
    made = race("abc")
    waves = [made.wave((), NoResults())]
    waves.append(made.wave(waves, shown(dict.fromkeys("abc", 0.0))))
    end = made.wave(waves, shown({"a": 9.0, "b": 5.0, "c": 0.0}))
    assert "all neighbours told apart or shown to be close, in 2 waves" == end.note
    assert end.verdict is None


def test_a_withdrawn_bot_plays_no_more(race, shown):
    """Its rank is nobody's question."""
    made = race("abcd")
    waves = [made.wave((), NoResults())]
    results = shown(dict.fromkeys("abcd", 0.0), withdrawn={"b"})
    assert {"ac": 10, "ad": 10, "cd": 10} == met(made.wave(waves, results))
    results.withdrawn = {"b", "c", "d"}
    assert "in one wave" in made.wave(waves, results).note


def test_waves_grow_in_whole_series_and_no_deal_comes_twice(race, shown, checked):
    """Each pair goes on where it has ended, a wave later or two."""
    made = race("abc", deals=4, series=2)
    open_ = shown({"a": 1.0, "b": 0.5, "c": 0.0})
    closed = shown({"a": 1.0, "b": 0.5, "c": -9.0})
    waves = [made.wave((), NoResults())]
    for results in (open_, closed, open_, closed, open_):
        waves.append(made.wave(waves, results))
    assert [4, 2, 4, 4, 8, 12] == [len(dealt(wave, "ab")) for wave in waves]
    assert [range(4), range(4, 6), range(6, 10)] == [
        dealt(waves[number], "ac") for number in (0, 1, 3)
    ]
    checked(made, waves)


@pytest.mark.parametrize(
    ("growth", "deals"), [(0.5, [10, 10, 10]), (1.0, [10, 10, 20]), (3.0, [10, 30, 120])]
)
def test_how_waves_grow_is_the_event_s(race, shown, growth, deals):
    """And how sure it has to be depends on the error of each lead."""
    made = race("abc", racing=RaceSettings(growth=growth))
    results = shown(dict.fromkeys("abc", 0.0))
    asked = []
    results.separation = lambda *of: asked.append(of) or 3.0
    waves = []
    for number in deals:
        waves.append(made.wave(waves, results))
        assert number == len(dealt(waves[-1], "ab"))
    assert (2, 1.0) == asked[0]
    assert {2} == {pairs for pairs, _ in asked}


def test_the_budget_ends_it_before_it_is_exceeded(race, shown):
    """Of the last wave what is left of it is played, in chunks of 20 matches of a pair."""
    results = shown(dict.fromkeys("abc", 0.0))
    for budget, waves in ((60, 1), (79, 1), (80, 2), (119, 2), (120, 2), (140, 3)):
        made = race("abc", budget=budget)
        played = []
        while isinstance(wave := made.wave(played, results), Wave):
            played.append(wave)
            if len(played) == 5:
                break
        assert waves == len(played)
        assert budget - 20 < sum(w.matches for w in played) <= budget
        assert [list(wave.deals) for wave in played] == [sorted(wave.deals) for wave in played]
        assert played[-1].more < 20
        if len(played) < 5:
            assert f"the budget of {budget} matches, with open: a to c (3)" == wave.note


def test_a_pair_has_an_end(race, shown, checked, monkeypatch):
    """After the last of its deals it doesn't play on, and a race of such pairs is over."""
    monkeypatch.setattr(formats_race, "MOST_DEALS", 25)
    made = race("abc", close=0.0)
    results = shown(dict.fromkeys("abc", 0.0))
    waves = []
    while isinstance(wave := made.wave(waves, results), Wave):
        waves.append(wave)
    assert [10, 10, 5] == [len(dealt(wave, "ab")) for wave in waves]
    assert "nobody can be told apart by playing on, with open: a to c (3)" == wave.note
    checked(made, waves)
    assert made.find(pairing_id("ab"), 25, 0) is None
    with pytest.raises(UserError, match="25 deals at most"):
        race("abc", deals=26)


def test_two_that_may_not_meet_are_compared_through_the_nearest_whom_both_may(race, shown):
    """Else their order would stay open for ever, or be told to be known."""
    made = race("abcde", authors="xxyzw", same_author=False)
    first = made.wave((), NoResults())
    assert "ab" not in met(first)
    results = shown({"d": 30.0, "c": 12.0, "a": 1.0, "b": 0.5, "e": -30.0})
    assert {"ac": 10, "bc": 10} == met(made.wave([first], results))


def test_two_with_nobody_between_them_stay_where_they_are(race, shown):
    """It is said that their order is open."""
    made = race("abc", authors="xxx", same_author=True)
    assert 3 == len(met(made.wave((), NoResults())))
    made = race("abc", authors=["x", "x", "y"], same_author=False)
    first = made.wave((), NoResults())
    results = shown({"a": 1.0, "b": 0.5, "c": -30.0}, withdrawn={"c"})
    end = made.wave([first], results)
    assert "nobody can be told apart by playing on, with open: a to b (2)" == end.note


def test_what_is_likely_to_come_follows_from_the_errors(race, shown):
    """An error falls with the root of the deals; the next wave is not counted again."""
    made = race("ab", close=0.0)
    first = made.wave((), NoResults())
    wave = made.wave([first], shown({"a": 3.0, "b": 0.0}, error=4.0))
    assert 2 * 10 * (16 - 1) - 20 == wave.more
    assert 0 == made.wave([first], shown({"a": 3.0, "b": 0.0}, error=1.1)).more


def test_pairs_that_never_met_have_deals_to_come_too(race, shown):
    """As many as pairs that met: what each of the two has played with others tells of both."""
    names = "abcdefghijklmn"
    strokes = dict.fromkeys(names, 0.0) | {"a": 3.0}
    wide, spread = race(names, deals=2), race(names, racing=RaceSettings(spread=10))
    more = []
    for made in (wide, spread):
        first = made.wave((), NoResults())
        wave = made.wave([first], shown(strokes, error=4.0))
        more.append((wave.more + wave.matches) / first.matches)  # the next wave is no part of it
    assert len(met(spread.wave((), NoResults()))) < len(met(wide.wave((), NoResults())))
    assert more[0] == pytest.approx(more[1], rel=0.01)


@pytest.mark.parametrize(
    ("names", "settings", "words"),
    [
        ("abc", {"seats": 3}, "leave --seats out"),
        ("abc", {"tables": 2}, "in a race every pair meets"),
        ("a", {}, "at least 2 bots"),
        ("abc", {"authors": "xxx", "same_author": False}, "none of these bots may meet"),
        ("abc", {"budget": 59}, "--budget 59: the warm-up alone, 10 deals for each pair, has 60"),
    ],
)
def test_a_race_that_can_t_be_is_refused(race, names, settings, words):
    """One line that says what to do."""
    with pytest.raises(UserError, match=words):
        race(names, **settings)


@pytest.mark.parametrize(
    ("budget", "bots", "same_author", "refused"),
    [(5999, 3, True, True), (6000, 3, True, False), (1, 3, False, False), (None, 9, True, False)],
)
def test_a_budget_is_held_against_the_number_of_bots(budget, bots, same_author, refused):
    """Before a field is known; where authors are kept apart, pairs can't be counted."""
    settings = Settings(
        game="play-nine", deals=1000, racing=RaceSettings(budget=budget), same_author=same_author
    )
    expected = (
        pytest.raises(UserError, match="1000 deals for each pair, has 6000 matches")
        if refused
        else contextlib.nullcontext()
    )
    with expected:
        refuse_small_budget(settings, bots)


def test_a_budget_is_held_against_a_warm_up_that_is_spread():
    settings = Settings(game="play-nine", racing=RaceSettings(budget=1199, spread=10))
    with pytest.raises(UserError, match="2 deals for each pair, has 1200 matches"):
        refuse_small_budget(settings, 60)
    refuse_small_budget(settings, 1)
    refuse_small_budget(settings, 59)
