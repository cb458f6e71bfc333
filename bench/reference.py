"""Makes results/ anew: a seeded event of the example bots for each game, its tables, a picture.

    python bench/reference.py

The README's table and picture come from it. Everything but the log can be derived again with
`arena table results/GAME`; the tests do so, byte for byte.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from picture import picture

from arena.registry import GAMES

REPOSITORY = Path(__file__).parents[1]
RESULTS = REPOSITORY / "results"
DEALS = 20
MARKS = ("<!-- reference table -->\n", "<!-- end of the reference table -->\n")


def arena(*words: str) -> str:
    """Run the command line of this checkout."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "arena", *words],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=REPOSITORY,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
    )
    return done.stdout


def main() -> None:
    """Play, publish, put the table into the README."""
    bots = sorted(
        str(manifest.parent.relative_to(REPOSITORY))
        for manifest in REPOSITORY.glob("example_bots/*/bot.toml")
    )
    for game in GAMES:
        out = RESULTS / game
        if out.exists():
            shutil.rmtree(out)
        flags = ["--game", game, "--deals", str(DEALS), "--seed", "reference"]
        arena("run", *bots, *flags, "--out", str(out.relative_to(REPOSITORY)))
        (out / "lock").unlink()
        shutil.rmtree(out / "stderr", ignore_errors=True)  # a JVM greets there, at each start
    text = arena("table", "results/play-nine")
    (RESULTS / "run.svg").write_text(picture("arena run example_bots/*", text), encoding="utf-8")
    table = arena("table", "results/play-nine", "--format", "md")
    readme = REPOSITORY / "README.md"
    begin, end = map(re.escape, MARKS)
    shown = table.split("\n\n")[0] + "\n"
    replaced = re.sub(
        f"({begin}).*({end})",
        lambda match: match[1] + shown + match[2],
        readme.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    readme.write_text(replaced, encoding="utf-8")


if __name__ == "__main__":
    main()
