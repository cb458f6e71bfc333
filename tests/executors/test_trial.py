"""What cores give, found out by working on them."""

import contextlib
import subprocess
import sys

import pytest

from arena.executors import worker
from arena.executors.core_probe import CoreTrial, try_cores
from arena.executors.cores import cores
from arena.sandbox.delays import SHARE

BUSY = "import os; os.sched_setaffinity(0, {%d}); print(flush=True)\nwhile True: pass"


@contextlib.contextmanager
def busy(core, programs):
    """Programs that want all of a core."""
    command = [sys.executable, "-S", "-c", BUSY % core]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(programs)]
    try:
        for program in started:
            program.stdout.readline()
        yield
    finally:
        for program in started:
            program.kill()
            program.communicate()


def test_a_core_that_others_take_isn_t_free():
    """Three of them leave a quarter; how fast it is doesn't depend on that by much."""
    core = cores()[0]
    with busy(core, 3):
        (found,) = try_cores([core])
    assert core == found.core
    assert not found.free
    assert found.speed > 0


def test_a_free_core_gives_most_of_its_time():
    """As much as the constant says, exactly."""
    assert CoreTrial(core=0, speed=1, share=SHARE).free
    assert not CoreTrial(core=0, speed=1, share=SHARE - 0.01).free


def test_some_are_tried_at_once_and_told_in_their_order():
    """None is whichever core the system gives."""
    asked = [None, cores()[-1], cores()[0]]
    assert asked == [trial.core for trial in try_cores(asked)]


def test_a_core_that_isn_t_there_is_an_error():
    """The caller gets a reason."""
    with pytest.raises(OSError, match="could not be tried"):
        try_cores([max(cores()) + 4096])


class Table:
    """A table whose core is as told."""

    def __init__(self, *found):
        self.core = self
        self._found = list(found)

    def overloaded(self):
        """What is found next."""
        return self._found.pop(0)


@pytest.mark.parametrize(
    ("found", "crowded"),
    [((False,), False), ((True, False), False), ((True, True, False), False), ([True] * 3, True)],
)
def test_a_core_is_crowded_when_trials_in_a_row_find_it(found, crowded):
    """Others' work comes in bursts."""
    assert crowded == worker._crowded(Table(*found))
