"""The examples of docs/python.md run, in their order, with real bots in the sandbox."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import arena

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


def examples():
    """The blocks of the page."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) > 10
    return blocks


def test_the_examples_call_what_there_is():
    """Each `arena.NAME` is public, and takes what it is called with."""
    called = set()
    for node in ast.walk(ast.parse("\n".join(examples()))):
        match node:
            case ast.Call(func=ast.Attribute(ast.Name("arena"), name)):
                words = [object()] * len(node.args)
                options = {each.arg: object() for each in node.keywords}
                inspect.signature(getattr(arena, name)).bind(*words, **options)
                called.add(name)
            case ast.Attribute(ast.Name("arena"), name):
                assert name in arena.__all__
    assert {"run", "compare", "open_results", "EventOptions"} < called


@pytest.mark.process
@pytest.mark.long("examples of the Python page")
def test_the_examples_run(tmp_path):
    """As one script in an empty folder."""
    (tmp_path / "example_bots").symlink_to(REPOSITORY / "example_bots")
    (tmp_path / "page.py").write_text("\n".join(examples()))
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
