import itertools

import pytest

from arena.tuner.surface import Gap, Surface, fit

BEST = (0.3, 0.7)


def strokes(point):
    x, y = (a - b for a, b in zip(point, BEST, strict=True))
    return -(30 * x * x + 60 * y * y + 20 * x * y)


def points(number):
    """So many, spread over the square."""
    return {f"p{n}": ((n * 0.618) % 1, (n * 0.755) % 1) for n in range(number)}


def gaps(known, value=strokes, deals=4, spread=0.0):
    return [
        Gap(
            one=one,
            two=two,
            deals=deals,
            strokes=value(known[one]) - value(known[two]),
            squares=spread,
        )
        for one, two in itertools.combinations(known, 2)
    ]


def test_an_exact_quadratic_is_found():
    """Differences without noise give the surface, and its highest point."""
    known = points(9)
    surface = fit(gaps(known), known, (0.5, 0.5), 10.0)
    for point in [(0.0, 0.0), (1.0, 0.2), (0.4, 0.9)]:
        assert surface.strokes(point) == pytest.approx(
            strokes(point) - strokes((0.5, 0.5)), abs=0.1
        )
    assert surface.highest((0.5, 0.5), (0.0, 0.0), (1.0, 1.0)) == pytest.approx(BEST, abs=0.01)
    assert surface.highest((0.5, 0.5), (0.4, 0.4), (0.6, 0.6)) == pytest.approx((0.4, 0.6))


def test_a_valley_is_left_by_its_better_end():
    """Where the surface bends upwards, the best point is at an end of the box."""
    known = points(9)
    surface = fit(gaps(known, lambda p: 30 * (p[0] - 0.4) ** 2), known, (0.5, 0.5), 10.0)
    assert surface.highest((0.5, 0.5), (0.0, 0.0), (1.0, 1.0))[0] == 1.0


def test_nothing_shown_is_nothing_known():
    """Settings that all tie leave every coefficient near nothing, within a wide prior."""
    known = points(5)
    surface = fit(gaps(known, lambda _: 0.0), known, (0.5, 0.5), 0.3)
    assert surface.coefficients == pytest.approx([0.0] * 5)
    assert fit([], known, (0.5, 0.5), 0.3).coefficients == pytest.approx([0.0] * 5)


def test_a_panel_bot_is_a_constant():
    """Differences from a bot of another strength show the same surface."""
    known = points(9)
    panel = [
        Gap(one=name, two="strong", deals=4, strokes=strokes(at) - 50.0, squares=0.0)
        for name, at in known.items()
    ]
    surface = fit(panel, known, (0.5, 0.5), 10.0)
    assert surface.highest((0.5, 0.5), (0.0, 0.0), (1.0, 1.0)) == pytest.approx(BEST, abs=0.02)


def test_noise_is_weighed():
    """A pair whose deals differ widely counts less than one whose deals agree."""
    known, false = points(9), points(4)
    off = []
    for spread in (1.0, 1e5):
        both = [*gaps(known), *gaps(false, lambda p: 80 * p[0], spread=spread)]
        found = fit(both, known, (0.5, 0.5), 10.0).highest((0.5, 0.5), (0.0, 0.0), (1.0, 1.0))
        off.append(abs(found[0] - BEST[0]))
    assert off[1] < 0.1 < off[0]


def test_one_deal_a_pair_is_enough():
    """Without a spread within pairs, noise is what the surface leaves over."""
    known = points(9)
    surface = fit(gaps(known, deals=1), known, (0.5, 0.5), 10.0)
    assert surface.highest((0.5, 0.5), (0.0, 0.0), (1.0, 1.0)) == pytest.approx(BEST, abs=0.05)


def test_far_settings_count_less():
    """A surface that is no quadratic far away is fitted where the centre is."""
    known = points(25)
    bent = gaps(known, lambda p: strokes(p) - (20 if p[0] > 0.7 else 0))
    near = fit(bent, known, BEST, 0.15)
    assert near.highest(BEST, (0.1, 0.5), (0.5, 0.9)) == pytest.approx(BEST, abs=0.15)


def test_samples_spread_as_the_posterior():
    """With more noise, samples lie further from the fitted coefficients; without any move, on
    them.
    """
    known = points(9)
    calm, loud = (fit(gaps(known, spread=s), known, (0.5, 0.5), 10.0) for s in (1.0, 1000.0))
    off = [
        max(
            abs(a - b)
            for a, b in zip(s.sampled([1.0] * 9).coefficients, s.coefficients, strict=True)
        )
        for s in (calm, loud)
    ]
    assert off[0] < off[1]
    assert calm.sampled([0.0] * 9).coefficients == pytest.approx(calm.coefficients)


def test_a_climb_ends():
    """A ridge across the parameters is climbed in small steps, and not for ever."""
    ridge = Surface((0.5, 0.5), [1.0, 1.0, -1000.0, 2000.0, -1001.0], [])
    found = ridge.highest((0.5, 0.5), (0.0, 0.0), (1.0, 1.0))
    assert ridge.strokes(found) > 0
    assert found < (1.0, 1.0)


def test_every_version_fits_the_same_surface():
    """With a panel and few deals: settings to come, which later arenas verify, follow from it."""
    known = {"a": (0.2, 0.4), "b": (0.7, 0.1), "c": (0.5, 0.5), "d": (0.9, 0.8)}
    shown = ["ab 1 4", "ac -2 1", "bd 0.5 2", "cd 3 6", "ap 2 3", "cp 3.5 2", "dq -1 5"]
    differences = []
    for (one, two), strokes_, squares in map(str.split, shown):
        sums = {"deals": 3, "strokes": float(strokes_), "squares": float(squares)}
        differences.append(Gap(one=one, two=two, **sums))
    surface = fit(differences, known, (0.5, 0.5), 0.35)
    wanted = [-0.152394, 2.647949, -13.850667, -5.483272, -7.828719]
    assert list(surface.coefficients) == pytest.approx(wanted, abs=1e-5)
    wanted = [-2.487862, 6.927792, -17.429485, -11.949852, 9.630587]
    drawn = surface.sampled([1, -1, 0.5, -0.5, 2.0])
    assert list(drawn.coefficients) == pytest.approx(wanted, abs=1e-5)
    highest = surface.highest((0.5, 0.5), (0.0, 0.0), (1.0, 1.0))
    assert highest == pytest.approx((0.458295, 0.683723), abs=1e-5)
