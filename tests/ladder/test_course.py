"""The term of docs/course.md: each command of it, in its order."""

import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.process
PAGE = Path(__file__).parents[2] / "docs" / "course.md"


def commands():
    """Those of the page's first block."""
    (block,) = re.findall(r"```sh\n(arena ladder init.*?)```", PAGE.read_text(), re.DOTALL)
    return [line.partition("  #")[0].strip() for line in block.strip().splitlines()]


@pytest.mark.long("a term by the commands of the course's page", quick=())
def test_the_page_s_commands_run_a_term(tmp_path, bot):
    """From an export to the final; the last one verifies all of it."""
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as out:
        for number, name in enumerate(("Ann Lee", "Bob Ray", "Cyd Oh")):
            source = bot(tmp_path / name, skill=0.4 * number) / "bot.py"
            out.write(source, f"{name}_{number}_assignsubmission_file_/bot.py")
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as out:
        out.write(bot(tmp_path / "ada", skill=0.9) / "bot.py", "bot.py")
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for command in commands():
        words, _, target = command.partition(" > ")
        ran = [sys.executable, "-m", "arena", *shlex.split(words)[1:]]
        done = subprocess.run(
            ran, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stderr)
        if target:
            (tmp_path / target).write_text(done.stdout)
        rules = tmp_path / "cs101" / "ladder.toml"
        if " init " in command:
            text = rules.read_text().replace("[games.play-nine]\n", "")
            rules.write_text(text.replace("# matches = 3000", "matches = 60\nfinal-matches = 60"))
    assert "verified: " in done.stdout
    sheet = (tmp_path / "grades.csv").read_text().splitlines()
    assert len(sheet) == 5
    assert sheet[1].startswith("Ada Lovelace,,,ada-lovelace,1,1,ada-lovelace@1,0,")
