"""The normal distribution in the tails."""

from __future__ import annotations

import math

import pytest

from arena.ratings import normal

# log Φ(x) to 16 digits, from arbitrary-precision arithmetic.
KNOWN = {
    0.0: -0.6931471805599453,
    -1.0: -1.8410216450092635,
    -5.0: -15.064998393988726,
    -6.5: -23.93814949516184,
    -10.0: -53.23128515051247,
    -40.0: -804.6084420137538,
    -1000.0: -500007.82669481176,
    3.0: -0.0013508099647481938,
    10.0: -7.619853024160527e-24,
}


@pytest.mark.parametrize(("x", "expected"), KNOWN.items())
def test_log_cdf_against_known_values(x, expected):
    """Thirteen digits everywhere."""
    assert normal.log_cdf(x) == pytest.approx(expected, rel=1e-13)


def test_log_cdf_is_smooth_where_the_formulas_meet():
    """No step at the seam: the slope is the hazard on both sides."""
    for x in (-6.001, -6.0, -5.999, 0.0):
        slope = (normal.log_cdf(x + 1e-5) - normal.log_cdf(x - 1e-5)) / 2e-5
        assert slope == pytest.approx(normal.hazard(x), rel=1e-8)


def test_log_between_in_the_far_tail():
    """A difference of two numbers that are both zero in floating point."""
    assert normal.log_between(-41.0, -40.0) == pytest.approx(normal.log_cdf(-40.0), abs=1e-15)
    assert normal.log_between(40.0, 41.0) == normal.log_between(-41.0, -40.0)
    assert normal.log_between(-1.0, 1.0) == pytest.approx(math.log(math.erf(1 / math.sqrt(2))))


def test_quantile_inverts_cdf():
    """The quantile of the distribution function is where it was taken."""
    for x in (-3.0, 0.0, 0.01253, 2.5):
        assert normal.quantile(normal.cdf(x)) == pytest.approx(x, abs=1e-12)
