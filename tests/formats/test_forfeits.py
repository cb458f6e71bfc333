"""Evidence that strokes gain more than forfeits cost, against all points of a grid."""

import math

import pytest

from arena.formats.forfeits import evidence
from arena.schedule import Forfeits, Lead

MARGIN = 123.0


def fall(matches, count, share):
    """Of a binomial log-likelihood, from its maximum."""
    parts = ((count, share), (matches - count, 1 - share))
    return sum(part * math.log(part / (matches * at)) for part, at in parts if part)


def least(shown, margin, steps=150):
    """The least fall over all shares; the lead is as near to what was seen as they allow."""
    lead, error, matches = shown.lead.strokes, shown.lead.error, shown.matches
    found = math.inf
    dear, gained = margin + max(lead, 0), max(margin - max(lead, 0), 0)
    most = (lead + gained * shown.two / matches) / dear  # there it takes no luck
    for number in range(steps):
        q = shown.one / matches + (most - shown.one / matches) * number / steps
        for other in range(steps if shown.two else 1):
            r = shown.two / matches * (1 - other / steps)
            luck = max(0.0, lead - dear * q + gained * r) ** 2 / (2 * error**2)
            fell = fall(matches, shown.one, q) + fall(matches, shown.two, r)
            found = min(found, luck + fell)
    return found


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("matches", "one", "two", "lead", "error"),
    [
        (80, 0, 0, 2.0, 0.8),
        (400, 0, 0, 2.0, 0.4),
        (400, 1, 0, 2.0, 0.2),
        (400, 0, 3, 1.0, 0.5),
        (200, 2, 9, 1.5, 0.7),
        (60, 0, 20, -2.0, 1.0),
        (40, 0, 0, 9.0, 3.0),
    ],
)
def test_it_is_the_least_fall_of_the_likelihood_where_the_one_is_not_ahead(
    matches, one, two, lead, error
):
    """The least over all mixtures of luck and of forfeits that didn't happen."""
    shown = Forfeits(matches, one, two, Lead(lead, error))
    found = evidence(shown, MARGIN)
    assert found > 0.1
    assert found <= least(shown, MARGIN)
    assert found == pytest.approx(least(shown, MARGIN), rel=0.02)


def test_strokes_alone_prove_nothing_against_a_forfeit_that_was_never_seen():
    """A lead that is exact takes some 180 matches without a forfeit at 5 %: three in the mean
    would have been seen at a rate that costs it all.
    """
    sure = Lead(2.0, 0.001)
    enough = next(n for n in range(1, 1000) if evidence(Forfeits(n, 0, 0, sure), MARGIN) > 3.0)
    assert enough == pytest.approx(3 * (MARGIN + 2) / 2, abs=3)
    assert evidence(Forfeits(enough, 1, 0, sure), MARGIN) < 1.0


def test_a_sure_lead_of_half_a_stroke_costs_what_a_forfeit_costs():
    """Only a share of forfeits can take it back; each costs the margin and the lead."""
    found = evidence(Forfeits(1_000, 0, 0, Lead(0.5, 1e-6)), MARGIN)
    assert found == pytest.approx(-1_000 * math.log1p(-0.5 / (MARGIN + 0.5)), rel=1e-4)


def test_where_there_is_nothing_to_explain_there_is_no_evidence():
    """Behind, or ahead by less than its forfeits cost; or without a match that nobody forfeited."""
    assert evidence(Forfeits(100, 0, 0, Lead(-1.0, 0.5)), MARGIN) == 0.0
    assert evidence(Forfeits(100, 2, 0, Lead(2.0, 0.5)), MARGIN) == 0.0
    assert evidence(Forfeits(40, 0, 40, Lead(0.0, math.inf)), MARGIN) == 0.0


def test_a_lead_above_the_margin_gains_nothing_by_the_others_forfeits():
    """A match that the other forfeits would have been won by more."""
    none, some = (evidence(Forfeits(40, 0, n, Lead(150.0, 5.0)), MARGIN) for n in (0, 4))
    assert none == pytest.approx(some)
