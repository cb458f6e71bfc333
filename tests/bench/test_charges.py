"""What the measures of fairness and of trio's tax rest on; never a time itself."""

import array
import sys

import pytest
from measures import SkippedError, loop
from measures.conversation import series_of
from measures.neighbours import NOTHING, TIMED_WORKER, WORK
from measures.stage import Stage
from measures.worker import Worker

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    """A stage with a C compiler."""
    made = Stage(tmp_path_factory.mktemp("stage"))
    try:
        made.bot("steady")
    except SkippedError as reason:
        pytest.skip(str(reason))
    yield made
    made.close()


def test_every_charge_of_one_seat_is_noted(stage, tmp_path):
    """As many as it had decisions, and together what its record says; nothing of the other's."""
    bots = (stage.field("steady", 1, WORK)[0], stage.field("steady", 2, NOTHING)[1])
    file = tmp_path / "charges"
    worker = Worker(bots, core=None, command=(sys.executable, "-P", str(TIMED_WORKER), str(file)))
    try:
        uses = [seen.record.use[0] for seen in worker.play(series_of(worker.names, 3))]
    finally:
        worker.close()
    charges = array.array("d", file.read_bytes())
    for use in uses:
        mine, charges = charges[: use.decisions], charges[use.decisions :]
        assert use.decisions == len(mine)
        assert use.think_ms == pytest.approx(sum(mine) * 1000, abs=0.001)
        assert use.max_ms == pytest.approx(max(mine) * 1000, abs=0.001)
    assert not charges


@pytest.mark.long("charges of the loop")
def test_the_bare_loop_plays_what_trio_plays(stage, monkeypatch):
    """As many decisions, without ever suspending."""
    monkeypatch.setattr(loop, "MATCHES", 3)
    *_, in_trio = loop._series(stage, loop.Pipes, loop.in_trio)
    *_, alone = loop._series(stage, loop.Bare, loop.alone)
    assert in_trio == alone > 0


def test_a_loop_that_suspends_is_no_bare_loop(stage, monkeypatch):
    """Played by a table that hands over to trio, the series says so instead of a number."""
    monkeypatch.setattr(loop, "MATCHES", 3)
    monkeypatch.setattr("arena.engine.pipes.CHECKPOINT_S", -1.0)
    with pytest.raises(RuntimeError):
        loop._series(stage, loop.Pipes, loop.alone)
