"""The simulator finds defects: each that is planted, by the seed that is named with it."""

from pathlib import Path

import pytest

from tests.simulator.planted import DEFECTS, plant, run
from tests.simulator.simulate import simulate

QUICK = "half-written"


@pytest.mark.long("defects planted into a copy of the package", quick=(QUICK,))
@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_found(name, tmp_path):
    defect = DEFECTS[name]
    plant(defect, tmp_path)
    seed, text = run(tmp_path, first=defect.seed, seeds=1)
    assert seed == defect.seed
    assert "BROKEN" in text


@pytest.mark.long("defects planted into a copy of the package")
def test_without_them_the_same_seeds_break_nothing():
    for seed in sorted({defect.seed for defect in DEFECTS.values()}):
        found = simulate(seed)
        assert not found.violations, str(found)


def test_every_defect_fits_the_package_as_it_is():
    root = Path(__file__).parents[2]
    for defect in DEFECTS.values():
        assert (root / defect.file).read_text().count(defect.old) == 1, defect.name
