"""Simulate an event from a seed: the faults that struck, and the promises that were broken."""

import functools
import itertools
import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.simulator import checks, faults
from tests.simulator.events import FIRST_LARGE, Played, Scenario, scenario
from tests.simulator.loop import HangError
from tests.simulator.world import MOST_STDERR, World

_numbers = itertools.count()
_MEMORY = "/dev/shm"
_SHOWN = 3
_SHARES_COMPUTED, _COMPUTED = (19, 11), 1
"""One seed in so many plays its matches by the rules, before FIRST_LARGE and from then on, if its
event is not large. Primes, so that all other scenarios are among these."""


@dataclass
class Run:
    seed: int
    scenario: Scenario
    drawn: list
    computed: bool
    """Whether its matches were played by the rules, not taken from records."""
    struck: list = field(default_factory=list)
    violations: list = field(default_factory=list)
    matches: int = 0
    lives: int = 0
    seconds: float = 0.0
    operations: int = 0
    """Of the disk."""
    trace: str = ""

    def in_short(self):
        """The run without its large fields."""
        return replace(self, drawn=(), violations=(), trace="")

    def __str__(self) -> str:
        lines = [f"seed {self.seed}: {self.scenario}; {self.lives} lives, {self.matches} matches"]
        lines += [f"  fault: {fault}" for fault in self.struck]
        lines += [f"  BROKEN: {what}" for what in self.violations[:_SHOWN]]
        return "\n".join(lines)


def _world(name: str, seed: int, drawn, *, cluster: bool, computed: bool):
    root = Path(_MEMORY if Path(_MEMORY).is_dir() else tempfile.gettempdir())
    nodes = ((1,), (1, 1), (2, 1), (1, 1, 1))[seed % 4] if cluster else ()
    folder = root / f"simulated-{os.getpid()}-{name}"
    return World(folder, seed, drawn, computed=computed, nodes=nodes)


@functools.cache
def undisturbed(kind: str, plan: str, *, computed: bool):
    """Play a scenario that nothing strikes: what it comes to."""
    world = _world(f"calm-{next(_numbers)}", 0, (), cluster=False, computed=computed)
    try:
        with world.around():
            played = Played(world, Scenario(kind, plan))
            assert played.play(), world.violations
            expected = checks.Expected(
                [folder.name for folder in played.folders],
                [checks.files_of(folder, *checks.counted(folder)) for folder in played.folders],
                played.answer,
            )
    finally:
        world.close()
    assert not world.violations, world.violations
    return expected


def simulate(seed: int, drawn=None, *, found=None, computed: bool | None = None) -> Run:
    """Play a seed's scenario under its faults. `drawn`, `found`: other faults, another scenario."""
    if computed is None:
        share = _SHARES_COMPUTED[seed >= FIRST_LARGE]
        computed = found is None and seed % share == _COMPUTED and not scenario(seed).large
    found = found or scenario(seed)
    if drawn is None:
        drawn = faults.draw(seed, cluster=found.cluster, large=found.large)
    expected = undisturbed(found.kind, found.plan, computed=computed)
    world = _world(f"{next(_numbers)}", seed, drawn, cluster=found.cluster, computed=computed)
    run = Run(seed, found, list(drawn), computed)
    try:
        with world.around():
            played = Played(world, found)
            try:
                if played.play():
                    world.violations += checks.faults_of(
                        world, played, expected, most_stderr=MOST_STDERR
                    )
            except HangError as error:
                world.broken(f"it hangs: {error}")
    finally:
        world.close()
    run.struck, run.violations = world.faults.struck, world.violations
    run.matches, run.lives, run.seconds = world.matches, world.lives, world.loop.now()
    run.operations = world.disk.operations
    run.trace = world.trace if run.violations else ""
    return run
