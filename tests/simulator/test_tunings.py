"""A tuning under faults comes to the answer, and the bytes, of the one that nothing strikes."""

import pytest

from tests.simulator import tunings
from tests.simulator.events import Scenario
from tests.simulator.faults import Fault
from tests.simulator.simulate import simulate, undisturbed

TUNING, SMALL = (Scenario("tuning", plan) for plan in ("tuning", "tuning a switch"))


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        (SMALL, Fault("kill parent", "disk", 4)),
        (TUNING, Fault("power cut", "tick", 40, "none")),
        (SMALL, Fault("kill parent", "conclusion", 6)),
        (TUNING, Fault("stop", "tick", 90, "int int")),
        (SMALL, Fault("no start", "bot start", 5, "Ctrl-C")),
        (SMALL, Fault("rot afterwards", "over", 1, "40")),
    ],
    ids=str,
)
def test_a_tuning_that_is_struck_comes_to_the_same(found, fault):
    """In the midst of a stage, between two, at the end of one, while its folder is made."""
    run = simulate(1, [fault], found=found)
    assert run.struck, run
    assert not run.violations, run


def test_a_tuning_has_stages_and_a_comparison():
    expected = undisturbed("tuning", "tuning", computed=False)
    old, new, optima, matches = expected.answer
    assert expected.names == ["stage-01", "stage-02", "comparison"]
    assert (old.setting, [each.name for each in optima]) == ({}, ["risk", "edge"])
    assert new != old
    assert 0 < matches <= tunings.PLANS["tuning"].budget
