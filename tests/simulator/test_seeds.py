"""Events under faults from seeds: whatever strikes, they come to what they come to undisturbed."""

import os
import subprocess
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from arena.store import log_reader
from tests.simulator.disk import WAYS
from tests.simulator.events import FIRST_LARGE, LARGE, LATER, SCENARIOS, Scenario, scenario
from tests.simulator.faults import AFTERWARDS, CLUSTER, EVERYWHERE, LOCAL, PEOPLE, Fault, draw
from tests.simulator.shrink import shrink
from tests.simulator.simulate import simulate

ROOT = Path(__file__).parents[2]
SMALL = Scenario("plain", "small")


@pytest.mark.parametrize("first", range(0, 100, 10))
def test_a_hundred_seeds_keep_every_promise(first):
    for seed in range(first, first + 10):
        run = simulate(seed, computed=False)
        assert not run.violations, str(run)


@pytest.mark.long("events under faults whose matches are played by the rules")
@pytest.mark.parametrize("first", range(100, 112, 6))
def test_seeds_by_the_rules_keep_every_promise(first):
    for seed in range(first, first + 6):
        run = simulate(seed, computed=True)
        assert not run.violations, str(run)


@pytest.mark.long("events of thousands of matches under faults")
@pytest.mark.parametrize("event", dict.fromkeys(replace(each, cluster=False) for each in LARGE))
def test_large_events_keep_every_promise(event):
    seed = next(seed for seed in count(FIRST_LARGE) if scenario(seed) == event)
    run = simulate(seed)
    assert run.matches > 1_500
    assert not run.violations, str(run)


def test_a_seed_repeats_exactly_in_every_process():
    program = (
        "from tests.simulator.simulate import simulate\n"
        "for seed in (5, 17, 23, 32):\n"
        "    run = simulate(seed)\n"
        "    print(run, run.seconds)\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "77")
    }
    assert len(found) == 1
    assert "BROKEN" not in found.pop()


def small(*faults, seed=1):
    return simulate(seed, faults, found=SMALL)


def test_power_cuts_at_every_tenth_operation_of_a_small_event():
    _cut_at(range(1, small().operations + 1, 10), draws=1)


@pytest.mark.long("power cuts at every operation of a small event's life")
@pytest.mark.parametrize("part", range(4))
def test_power_cuts_at_every_operation_of_a_small_event(part):
    _cut_at(range(1 + part, small().operations + 1, 4), draws=2)


def _cut_at(operations, draws):
    struck = []
    for at in operations:
        for way in WAYS:
            for seed in range(draws if way in {"first", "any"} else 1):
                run = small(Fault("power cut", "disk", at, way), seed=seed)
                assert not run.violations, str(run)
                struck.append(bool(run.struck))
    # How many operations there are depends on when the thread that syncs comes to it.
    assert sum(struck) > 0.9 * len(struck)


def test_every_kind_of_event_and_of_fault_is_among_the_first_seeds():
    every = {*SCENARIOS, *LATER}
    assert {each.cluster for each in every} == {each.cluster for each in LARGE} == {True, False}
    assert {scenario(number) for number in range(FIRST_LARGE)} == every
    later = range(FIRST_LARGE, 2 * FIRST_LARGE)
    assert {scenario(number) for number in later} == {*every, *LARGE}
    kinds = [
        {fault.kind for seed in range(1000) for fault in draw(seed, cluster=cluster)}
        for cluster in (False, True)
    ]
    everywhere = {kind.kind for kind in (*EVERYWHERE, *PEOPLE, *AFTERWARDS)}
    assert kinds[0] == everywhere | {kind.kind for kind in LOCAL}
    assert kinds[1] == everywhere | {kind.kind for kind in CLUSTER}


def test_a_reader_before_the_command_that_goes_on_is_told_what_a_power_cut_damaged(monkeypatch):
    drawn = (
        Fault("stop", "tick", 7, "term"),
        Fault("power cut", "tick", 1, "any"),
        Fault("look", "life", 2, "rate"),
    )
    event = Scenario("plain", "pairs")
    run = simulate(7255, drawn, found=event)
    assert len(run.struck) == 3
    assert not run.violations, str(run)
    damage = log_reader.damage
    monkeypatch.setattr(log_reader, "damage", lambda folder, start: damage(folder, start + 1))
    run = simulate(7255, drawn, found=event)
    assert "somebody else met UserError" in run.violations[0]
    assert "is damaged" in run.violations[0]


def test_a_failing_seed_shrinks_to_the_fault_that_matters(monkeypatch):
    from arena.store import log_writer

    monkeypatch.setattr(log_writer, "GROUP_S", 1e9)
    drawn = (
        Fault("kill worker", "match", 5),
        Fault("late pipe", "line", 3, "0.3"),
        Fault("power cut", "tick", 14, "none"),
        Fault("clock jumps", "tick", 2, "3600"),
    )
    failing = simulate(0, drawn)
    assert "not durable" in failing.violations[0]
    found = shrink(failing)
    assert [fault.kind for fault in found.drawn] == ["power cut"]
    assert found.drawn[0].at < 14
    assert found.violations
