"""The examples of docs/python.md run, in their order, with real bots in the sandbox."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "python.md"

# Workers, of which the examples start dozens, are forks of the script that has loaded the package;
# on one core there is one at a time. Twins are compared with few recipes.
SCRIPT = """
import importlib.util, os, runpy, sys
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
spec = importlib.util.spec_from_file_location("warm", sys.argv.pop())
warm = importlib.util.module_from_spec(spec)
spec.loader.exec_module(warm)
warm.load()
warm.processes.start, warm.processes.run = warm.start, warm.run
sys.modules["arena.api.twins"].EXAMPLES = ("greedy",)
runpy.run_path("page.py", run_name="__main__")
"""


@pytest.mark.process
def test_the_examples_run(tmp_path):
    """As one script in an empty folder."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) > 10
    (tmp_path / "example_bots").symlink_to(REPOSITORY / "example_bots")
    (tmp_path / "page.py").write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, REPOSITORY / "tests" / "warm.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    assert "nowhere: there is no such folder" in done.stdout
