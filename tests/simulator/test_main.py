"""The command that runs seeds: what it prints, what it returns, what it holds its workers to."""

import pytest

from tests.simulator import __main__ as command
from tests.simulator.events import SCENARIOS
from tests.simulator.faults import Fault
from tests.simulator.simulate import Run

FAULT = Fault("kill parent", "tick", 3)


@pytest.fixture
def seeds(monkeypatch):
    """Seeds that are not simulated: number 3 breaks a promise."""

    def simulate(seed, drawn=None, *, found=None, computed=None):
        del drawn, found
        broken = ["it is lost"] if seed == 3 else []
        run = Run(seed, SCENARIOS[0], [FAULT], bool(computed), [FAULT], broken)
        run.matches, run.lives, run.seconds = 10, 2, 86_400
        return run

    monkeypatch.setattr(command, "simulate", simulate)
    monkeypatch.setattr(command, "shrink", lambda run: run)
    monkeypatch.setattr(command, "MOST_MB", 1_000_000)  # other tests have left much behind

    def run(*words: str) -> int:
        monkeypatch.setattr(command.sys, "argv", ["simulator", "--jobs", "1", *words])
        return command.main()

    return run


def test_a_run_ends_with_its_figures(seeds, capsys):
    assert seeds("--seeds", "3") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "struck: kill parent 3"
    assert lines[1].startswith("3.0 days of virtual time; the last seed is 2; a worker held ")
    assert lines[2].startswith("3 seeds, 30 recorded and 0 computed matches, 3 faults, 6 lives in ")
    assert lines[2].endswith(" MB: 0 broke a promise")


def test_a_broken_promise_is_printed_with_its_faults_and_ends_the_run(seeds, capsys):
    assert seeds("--seeds", "9") == 1
    out = capsys.readouterr().out
    assert "  fault: kill parent at tick 3\n  BROKEN: it is lost\n" in out
    assert "  again: python -m tests.simulator --seed 3\n" in out
    assert out.endswith("4 seeds, 40 recorded and 0 computed matches, 4 faults, 8 lives in 0 s, "
                        f"{_memory(out)} MB: 1 broke a promise\nfailed: 3\n")  # fmt: skip


def test_a_night_goes_on_after_a_broken_promise(seeds, capsys):
    assert seeds("--seeds", "9", "--hours", "1") == 1
    assert "\n9 seeds, " in capsys.readouterr().out


def test_a_worker_that_holds_too_much_has_failed(seeds, capsys, monkeypatch):
    monkeypatch.setattr(command, "MOST_MB", 1)
    assert seeds("--seeds", "9") == 1
    assert "seed 0: the simulator itself holds " in capsys.readouterr().out


def test_a_worker_that_leaves_descriptors_open_has_failed(seeds, capsys, monkeypatch):
    numbers = iter(range(7, 99))
    monkeypatch.setattr(command, "open_descriptors", lambda: next(numbers))
    assert seeds("--seeds", "9") == 1
    assert "8 descriptors, 7 after the first seed" in capsys.readouterr().out


def _memory(out: str) -> str:
    return out.rpartition(" MB")[0].rpartition(" ")[2]
