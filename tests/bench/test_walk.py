"""How many stops a match makes from the command to the table."""

from pathlib import Path

import pytest
from walk import count

ROOT = Path(__file__).parents[2]


@pytest.mark.process
def test_a_match_makes_at_most_24_stops_and_3_turn_backs():
    """By a trace of a run; the stops are in the order in which they are entered."""
    lines, stops, back = count(ROOT)
    assert stops <= 24, "\n".join(lines)
    assert back <= 3, "\n".join(lines)
    assert "cli.run.run" in lines[0]
    assert "ratings.standings.table" in lines[-1]
