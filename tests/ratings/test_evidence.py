"""What formats decide from."""

import math

import pytest

from arena.model import ADJUSTED, RESULTS, RatingSettings, Withdrawal
from arena.ratings.evidence import Evidence
from arena.ratings.outcomes import PairCount, Tally
from arena.ratings.separation import separation


def tally(lab, names, strokes, deals=4, out=()):
    """Each plays each; who needs how many strokes, give or take one."""
    found = Tally(margin=100.0)
    for number, spec in enumerate(lab.specs(lab.round_robin(names, deals=deals))):
        gone = frozenset(out).intersection(spec.seats)
        if gone and spec.deal >= 2:
            found.void(spec, gone)
            continue
        totals = {name: strokes[name] + (number + place) % 3 for place, name in enumerate(names)}
        played = lab.record(spec, totals)
        found.match(spec, summarize(played))
    return found


def summarize(record):
    from arena.ratings.archive import summarize

    return summarize(record)


@pytest.mark.parametrize("rate_on", [RESULTS, ADJUSTED])
def test_order_and_leads_are_those_of_what_the_event_rates_on(lab, rate_on):
    """In strokes a match, by either."""
    event = lab.event("abc", rate_on=rate_on)
    evidence = Evidence(event, tally(lab, "abc", {"a": 90, "b": 80, "c": 85}), {})
    assert ["b", "c", "a"] == evidence.order()
    assert evidence.lead("b", "a").strokes > evidence.lead("b", "c").strokes > 0
    assert evidence.lead("a", "b").strokes == -evidence.lead("b", "a").strokes
    assert evidence.lead("a", "b").error == evidence.lead("b", "a").error
    if rate_on == ADJUSTED:
        assert evidence.lead("b", "a").strokes == pytest.approx(10, abs=1)


def test_equals_are_in_the_order_of_their_ids(lab):
    """Never in that of a list."""
    evidence = Evidence(lab.event("cab"), Tally(margin=0.0), {})
    assert ["a", "b", "c"] == evidence.order()


@pytest.mark.parametrize(("a", "b", "d"), [(0, 7, 6), (1, 3, 3), (2, 5, 3), (4, 9, 6), (7, 0, 4)])
def test_equals_by_their_results_are_in_the_order_of_their_ids(lab, a, b, d):
    """Though sums that run otherwise leave them ratings that differ in the last bits."""
    found = Tally(margin=0.0)
    for pair, won in {"ab": a, "ac": a, "ad": d, "bc": 5, "bd": b, "cd": b}.items():
        found.pairs[pair[0], pair[1]] = PairCount(first=won, second=10 - won)
    order = Evidence(lab.event("abcd"), found, {}).order()
    assert order.index("b") < order.index("c")


def test_it_is_as_sure_as_the_event_asks(lab):
    event = lab.event("ab", rating=RatingSettings(error_rate=0.01))
    evidence = Evidence(event, Tally(margin=0.0), {})
    assert separation(event.settings, 7, 4.0) == evidence.separation(7, 4.0)


def test_what_the_annulled_have_shown_is_left_out(lab):
    """As in the table; what the withdrawn have is not."""
    event = lab.event("abc", rate_on=ADJUSTED)
    whole = tally(lab, "abc", {"a": 90, "b": 80, "c": 85})
    for annulled in (False, True):
        out = {"c": Withdrawal(entrant="c", after="x", annulled=annulled)}
        evidence = Evidence(event, whole, out)
        assert {"c"} == evidence.withdrawn
        far = evidence.lead("c", "a").error
        assert (far > 10) == annulled
        assert evidence.lead("b", "a").strokes == pytest.approx(10, abs=1)


def fallen(lab, fell, names="ab", deals=3):
    """All need 90 strokes, the first 80; `fell` says who forfeits, by deal and rotation."""
    found = Tally(margin=100.0)
    for spec in lab.specs(lab.round_robin(names, deals=deals)):
        who = fell.get((spec.deal, spec.rotation), "") if set(spec.seats) == set("ab") else ""
        totals = dict.fromkeys(names, 90) | {"a": 80}
        found.match(spec, summarize(lab.record(spec, totals, fell=dict.fromkeys(who, (2, 9)))))
    return found


def test_forfeits_are_apart_from_strokes(lab):
    """Forfeited matches by bot, and the lead in all others; both at once are nobody's."""
    event = lab.event("ab", rate_on=ADJUSTED)
    found = fallen(lab, {(0, 0): "a", (0, 1): "a", (1, 0): "b", (2, 1): "ab"}, deals=4)
    shown = Evidence(event, found, {}).forfeits("a", "b")
    assert (8, 2, 1) == shown[:3]
    assert shown.lead.strokes == pytest.approx(10, abs=0.1)
    back = Evidence(event, found, {}).forfeits("b", "a")
    assert (8, 1, 2, -shown.lead.strokes) == (*back[:3], back.lead.strokes)
    assert Evidence(event, found, {}).lead("a", "b").strokes < 0


def test_without_a_match_that_nobody_forfeited_no_lead_is_known(lab):
    """Nor is one of two who haven't met."""
    event = lab.event("ab", rate_on=ADJUSTED)
    all_lost = fallen(lab, dict.fromkeys([(0, 0), (0, 1)], "a"), deals=1)
    assert (2, 2, 0, (0.0, math.inf, 0.0)) == Evidence(event, all_lost, {}).forfeits("a", "b")
    unmet = Evidence(event, Tally(margin=1.0), {}).forfeits("a", "b")
    assert (0, 0, 0, (0.0, math.inf, 0.0)) == unmet


def test_forfeits_of_the_annulled_are_left_out_and_a_copy_is_a_copy(lab):
    """As what else they have shown."""
    event = lab.event("abc", rate_on=ADJUSTED)
    found = fallen(lab, {(0, 0): "a"}, "abc")
    out = {"a": Withdrawal(entrant="a", after="x", annulled=True)}
    assert (0, 0, 0) == Evidence(event, found, out).forfeits("a", "b")[:3]
    copied = found.copied()
    assert found.forfeited == copied.forfeited
    copied.forfeited["a", "b"].rest.add(1, 1)
    assert found.forfeited != copied.forfeited


def test_the_skewness_of_a_lead_is_of_who_is_ahead(lab):
    """One large loss among many equal results is skewed to the loser's disadvantage."""
    event = lab.event("ab", rate_on=ADJUSTED)
    evidence = Evidence(event, fallen(lab, {(0, 0): "a"}), {})
    assert evidence.lead("a", "b").skew == -evidence.lead("b", "a").skew < 0
    by_results = Evidence(lab.event("ab"), fallen(lab, {(0, 0): "a"}), {})
    assert by_results.lead("a", "b").skew == 0.0


def test_what_was_not_played_any_more_tells_nothing_of_who_would_have(lab):
    """The withdrawn bot's forfeits are in everybody's Δ, but in no skill by strokes."""
    strokes = {"a": 90, "b": 90, "c": 90}
    event = lab.event("abc", rate_on=ADJUSTED)
    found = tally(lab, "abc", strokes, out="c")
    assert (4, 2) == (found.gaps["a", "b"].events, found.gaps["a", "c"].events)
    assert 4 == next(iter(found.accounts["a"].margin.values())).events
    assert abs(Evidence(event, found, {}).lead("a", "c").strokes) < 2
