"""The simulator finds bugs: each planted defect breaks a promise at its seed, today's code none."""

import re

import pytest

from tests.simulator.planted import DEFECTS, ROOT, plant, run
from tests.simulator.simulate import simulate


@pytest.mark.long("each planted defect found by the simulator", quick=("half-written",))
@pytest.mark.parametrize("name", [name for name in DEFECTS if DEFECTS[name].seed is not None])
def test_a_planted_defect_is_found_by_its_seed(tmp_path, name):
    defect = DEFECTS[name]
    plant(defect, tmp_path)
    seed, _ = run(tmp_path, first=defect.seed, seeds=1)
    assert seed == defect.seed, f"{name} is not found"
    if defect.seed >= 100:  # those below are played in test_seeds.py
        assert not simulate(defect.seed).violations


def test_every_planted_defect_fits_and_is_on_the_page():
    page = (ROOT / "docs/design/simulator.md").read_text()
    for defect in DEFECTS.values():
        seed = "not known" if defect.seed is None else f"{defect.seed:,}"
        assert re.search(rf"^\| `{defect.name}` .* \| {seed} \|$", page, re.MULTILINE)
        assert (ROOT / defect.file).read_text().count(defect.old) == 1, defect.name
