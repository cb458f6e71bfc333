"""docs/training.md: every block of code on the page does what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "training.md"
BLOCKS = re.findall(
    r"^```(\w*)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
TRAINING = next(at for at, (_, code) in enumerate(BLOCKS) if "my-bot" in code)


def ready(code):
    """Skip what wants the extra where it is missing."""
    if "arena.rl" in code:
        for name in ("numpy", "gymnasium", "pettingzoo"):
            pytest.importorskip(name, reason="the extra is missing: pip install 'nine-arena[rl]'")


def test_the_page_has_blocks_of_the_two_kinds_that_are_run():
    """A block in another language would not be."""
    assert {"python", "sh"} == {language for language, _ in BLOCKS}


@pytest.mark.parametrize("at", range(TRAINING))
def test_a_block_of_python_runs_by_itself(at):
    """With no name from another block."""
    language, code = BLOCKS[at]
    assert language == "python"
    ready(code)
    exec(compile(code, f"{PAGE.name}, block {at + 1}", "exec"), {"__name__": "page"})


@pytest.mark.process
@pytest.mark.long("training with the library")
def test_what_was_trained_plays_in_an_event(tmp_path, monkeypatch, capsys):
    """The last section, from training to table, in an empty folder; the ranks are as told."""
    for _, code in BLOCKS[TRAINING:]:
        ready(code)
    (tmp_path / "my-bot").mkdir()
    (tmp_path / "example_bots").symlink_to(REPOSITORY / "example_bots")
    monkeypatch.chdir(tmp_path)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": programs, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    said = ""
    for language, code in BLOCKS[TRAINING:]:
        first = code.splitlines()[0]
        if first.startswith("# my-bot/"):
            Path(first.removeprefix("# ")).write_text(code, encoding="utf-8")
        elif language == "python":
            exec(compile(code, PAGE.name, "exec"), {"__name__": "page"})
        else:
            done = subprocess.run(
                ["sh", "-ec", code],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
            assert done.returncode == 0, done.stderr
            said = done.stdout
    strokes = float(capsys.readouterr().out.split()[0])
    assert strokes < 9
    ranks = [line.split()[1].partition("@")[0] for line in said.splitlines()[2:5]]
    assert ["greedy", "my-bot", "random"] == ranks, said
