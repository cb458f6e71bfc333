"""The bench's own modules, and a stage with bots that answer at once."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# bench/ is no package: its programs find their modules beside them, and so do these tests.
sys.path.insert(0, str(ROOT / "bench"))


@pytest.fixture(scope="session")
def instant_bots(tmp_path_factory):
    """Two C bots that answer at once, ready to run."""
    from measures import SkippedError
    from measures.stage import Stage

    stage = Stage(tmp_path_factory.mktemp("stage"))
    try:
        return stage.field("instant", 2)
    except SkippedError as reason:
        pytest.skip(str(reason))
