"""The modules of this folder, and one stage for all of its tests."""

import sys
from pathlib import Path

import pytest

# The programs here share modules, also when they are run as scripts.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module")
def runner():
    """Starts programs on a stage with all its victims."""
    import run
    from stage import Stage

    with Stage() as stage:
        yield run.Runner(stage)
