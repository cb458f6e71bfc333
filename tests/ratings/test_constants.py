"""Rating constants at the ends of their ranges: a folder may come from a stranger."""

from __future__ import annotations

import itertools
import math
import random
from typing import get_args, get_type_hints

import pytest
from msgspec import Meta
from msgspec.structs import fields, replace

from arena.model import ADJUSTED, RESULTS, RatingSettings, Settings
from arena.ratings.fit import fit
from arena.ratings.incremental import Counting
from arena.ratings.intervals import Moments
from arena.ratings.online import OnlineRatings
from arena.ratings.outcomes import PairCount, RatedOutcome
from arena.ratings.standings import table
from arena.ratings.stroke_fit import fit_strokes
from arena.registry import REPORTS, render
from arena.schedule import at_once, wave_of
from arena.validate import event_fault

MOST = 5_000_000
"""More matches than an event may have."""


def ends(hint):
    """The least and the greatest value of a constant, from its type."""
    meta = next(each for each in get_args(hint) if isinstance(each, Meta))
    kind = get_args(hint)[0]
    return kind(meta.ge), kind(meta.le)


HINTS = get_type_hints(RatingSettings, include_extras=True)
CORNERS = {
    field.name: (*ends(HINTS[field.name]), field.default) for field in fields(RatingSettings)
}
# Close to where sound constants end, so that the border itself is tried.
CORNERS["sigma"] += (1.0, 4_000.0)
CORNERS["beta"] += (1.0, 0.01)
CORNERS["tau"] += (1e-3,)


def sound_and_not(lab, number):
    """Some of all combinations, drawn once and for all: those that are taken, those that aren't."""
    dice = random.Random("constants")
    found: tuple[list[RatingSettings], list[RatingSettings]] = ([], [])
    while len(found[0]) < number:
        chosen = RatingSettings(**{name: dice.choice(values) for name, values in CORNERS.items()})
        found[bool(event_fault(event(lab, chosen)))].append(chosen)
    return found


def event(lab, rating, **changes):
    """An event whose entrants have ids as an arena gives them."""
    made = lab.event("abc", rating=rating, evaluator="x/1-ab", **changes)
    entrants = tuple(replace(each, id=f"{each.name}@1") for each in made.entrants)
    return replace(made, entrants=entrants)


def test_constants_that_no_float_can_carry_are_refused_in_a_line(lab):
    """An arena's own are taken, those of a stranger named with their values."""
    assert event_fault(event(lab, RatingSettings())) == ""
    for changes, words in (
        ({"sigma": 1e6, "beta": 1e-3}, "sigma 1e+06 is more than 1000 times beta 0.001"),
        ({"least_spread": 1e-4}, "sigma 8.33333 is more than 10000 times beta times least_spread"),
        ({"tau": 9.0}, "tau 9 is not between 0 and sigma 8.33333"),
        ({"tau": -1e6}, "tau -1e+06 is not between"),
    ):
        assert words in event_fault(event(lab, RatingSettings(**changes)))


@pytest.mark.no_cover
def test_every_sound_constant_has_a_table(lab):
    """Whatever was played: nothing but ties, one above all, a forfeit; in every format."""
    sound, refused = sound_and_not(lab, 60)
    assert refused
    blocks = lab.round_robin(("a@1", "b@1", "c@1"), deals=2)
    kinds = {
        "ties": {},
        "apart": {"totals": {"a@1": 60, "b@1": 90, "c@1": 500}},
        "failed": {"fell": {"c@1": (1, 1)}},
    }
    for rating, rate_on, how in itertools.product(sound, (RESULTS, ADJUSTED), kinds.values()):
        counting = Counting(
            at_once(wave_of(lambda: blocks)), Settings(game="play-nine", rating=rating)
        )
        for spec in lab.specs(blocks):
            counting.add(lab.record(spec, **(how if "c@1" in spec.seats else {})))
        found = table(event(lab, rating, rate_on=rate_on), counting.counted())
        for kind in REPORTS:
            render(found, kind)  # the JSON refuses what is no number


@pytest.mark.parametrize(
    "pairs",
    [
        {("a", "b"): PairCount(ties=MOST)},
        {("a", "b"): PairCount(first=MOST)},
        {("a", "b"): PairCount(ties=MOST), ("b", "c"): PairCount(first=1)},
        {("a", "b"): PairCount(first=MOST, second=1), ("b", "c"): PairCount(second=MOST)},
    ],
)
def test_results_of_the_largest_event_can_be_fitted(lab, pairs):
    """Differences, their errors and probabilities are numbers."""
    for rating in sound_and_not(lab, 60)[0]:
        believable(fit("abc", pairs, seats=2, settings=rating))


def test_strokes_of_the_largest_event_can_be_fitted(lab):
    """Also where a pair always tied, and another differed by as much as a record may say."""
    always = Moments(events=MOST, weight=2 * MOST, weight2=4 * MOST)
    far = Moments()
    far.add(2_000_000_000, 2)
    near = Moments()
    for value in (3_000, -2_000, 7_000):
        near.add(value, 2)
    for rating in sound_and_not(lab, 60)[0]:
        for gaps in (
            {("a", "b"): always},
            {("a", "b"): always, ("b", "c"): far},
            {("a", "b"): always, ("a", "c"): near, ("b", "c"): far},
        ):
            believable(fit_strokes("abc", gaps, seats=2, settings=rating))


@pytest.mark.no_cover
def test_the_progress_display_can_rate_with_every_sound_constant(lab):
    """Long rows of wins, upsets after them, ties, at tables of two and three."""
    for rating in sound_and_not(lab, 60)[0]:
        live = OnlineRatings(rating)
        for places in [(1, 2)] * 20 + [(2, 1)] * 3 + [(1, 1)] * 5:
            live.update(RatedOutcome(("a", "b"), places))
        for places in [(1, 2, 3)] * 5 + [(3, 1, 1)] * 2 + [(1, 1, 1)]:
            live.update(RatedOutcome(("a", "b", "c"), places))
        assert all(math.isfinite(mu) and sigma > 0 for _, mu, sigma in live.ranking())


def believable(found):
    """Every number is one."""
    assert all(map(math.isfinite, found.mu))
    for one, two in itertools.permutations(range(len(found.mu)), 2):
        assert found.sigma(one) > 0
        assert 0 <= found.better(one, two) <= 1
