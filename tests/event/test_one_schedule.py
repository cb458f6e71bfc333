"""What a command makes once: the schedule of the event that it plays."""

from pathlib import Path

import pytest

import arena
from arena import registry

BOTS = Path(__file__).parents[2] / "example_bots"


@pytest.mark.process
def test_a_schedule_is_made_once(tmp_path, monkeypatch):
    """From the check before the bots are started to the table."""
    made, schedule = [], registry.schedule

    def counted(*words):
        made.append(words)
        return schedule(*words)

    monkeypatch.setattr(registry, "schedule", counted)
    outcome = arena.run(
        [BOTS / "greedy", BOTS / "random"],
        tmp_path / "event",
        event=arena.EventOptions(deals=1),
        options=arena.RunOptions(sandbox="none", jobs=1),
    )
    assert outcome.complete
    assert 1 == len(made)
