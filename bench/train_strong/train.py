"""Makes the tables of the example bot strong again: compiles train.c, runs it, writes JSON.

    python bench/train_strong/train.py               # example_bots/strong/tables.json
    python bench/train_strong/train.py --check       # compares instead of writing

The same bytes every time and on every machine: see the README beside this file.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TABLES = HERE.parents[1] / "example_bots" / "strong" / "tables.json"
FLAGS = ["-std=c11", "-O2", "-ffp-contract=off"]
HOLES = 60_000
"""In each of the six rounds: what the tables in the repository were made with."""

ABOUT = (
    "Rows: own face-down cards 1, 2, 3+; within each the other's 1, 2, 3+. moved, to_move: tenths "
    "of a stroke for the 120 unordered pairs of cards 0..12, 13 = Hole-in-One, 14 = face down, "
    "(0,0), (0,1), ... (14,14). lead: tenths, at -33, -27, ... 33 strokes. live, feed: hundredths. "
    "Made by bench/train_strong."
)
SQUARE = 15 * 15
PAIRS = [15 * a + b for a in range(15) for b in range(a, 15)]
"""Squares are symmetric: one half is written."""


def train(holes: int) -> str:
    """What the trainer prints: a line for each row, its table's name first."""
    compiler = os.environ.get("CC", "cc").split()
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/train"
        subprocess.run([*compiler, *FLAGS, "-o", program, HERE / "train.c"], check=True)
        return subprocess.run(
            [program, str(holes)], check=True, capture_output=True, text=True
        ).stdout


def tables(printed: str) -> str:
    """The text of tables.json."""
    rows: dict[str, list[str]] = {}
    for line in printed.splitlines():
        name, *numbers = line.split()
        if len(numbers) == SQUARE:
            numbers = [numbers[index] for index in PAIRS]
        row = ",".join(numbers)
        rows.setdefault(name, []).append(row if len(numbers) == 1 else f"[{row}]")
    parts = [f'"{name}":[\n' + ",\n".join(lines) + "]" for name, lines in rows.items()]
    return ",\n".join([f'{{"about": "{ABOUT}"', *parts]) + "}\n"


def main() -> int:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--holes", type=int, default=HOLES, help="in each of six rounds")
    parser.add_argument("--output", type=Path, default=TABLES)
    parser.add_argument("--check", action="store_true", help="compare: 1 if it differs")
    asked = parser.parse_args()
    text = tables(train(asked.holes))
    if asked.check:
        same = asked.output.read_text(encoding="ascii") == text
        sys.stdout.write(f"{asked.output}: {'the same' if same else 'differs'}\n")
        return 0 if same else 1
    asked.output.write_text(text, encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
