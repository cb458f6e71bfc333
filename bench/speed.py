"""How fast is the arena? Everything that is claimed of its speed, measured by one command.

    python bench/speed.py                           the default run
    python bench/speed.py --only worker,event       some of it, by name
    python bench/speed.py --list                    the names
    python bench/speed.py --long                    an event of 100,000 matches too
    python bench/speed.py --publish                 figures.json, speed.svg, README.md made anew

bench/README.md says what each row means and how to read a comparison.
"""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from measures import Measure, SkippedError
from measures.drawn import drawing
from measures.every import MEASURES, ROWS
from measures.figures import Figure, Published, compared, figure
from measures.shown import moves, table
from measures.stage import Bystanders, Stage

from arena.machine.facts import this_machine

BENCH = Path(__file__).parent
FIGURES, PICTURE, README = BENCH / "figures.json", BENCH / "speed.svg", BENCH / "README.md"
AT_REST = 0.1
"""Cores that others may use without a word."""
MARKS = ("<!-- figures -->\n", "<!-- end of the figures -->\n")


def chosen(only: str) -> list[Measure]:
    """The measures that are wanted, the unit always first."""
    names = {name for name in only.split(",") if name}
    known = {measure.name for measure in MEASURES}
    if unknown := names - known:
        sys.exit(f"no such measure: {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    unit, rest = MEASURES[0], MEASURES[1:]
    return [unit, *(each for each in rest if each.name in names or not names)]


def taken(
    stage: Stage, measures: Sequence[Measure], rounds: int
) -> tuple[list[dict[str, float]], dict[str, str]]:
    """The numbers of the rounds, and why some measures were left out."""
    skipped: dict[str, str] = {}
    seen: list[dict[str, float]] = []
    begun = time.monotonic()
    for number in range(rounds + 1):
        numbers: dict[str, float] = {}
        for measure in measures:
            if number > measure.most or (number == 0 and not measure.warm):
                continue
            if measure.name in skipped:
                continue
            _say(f"round {number} of {rounds}, {time.monotonic() - begun:.0f} s: {measure.name}")
            try:
                numbers |= measure.run(stage)
            except SkippedError as reason:
                skipped[measure.name] = str(reason)
                if measure is measures[0]:
                    sys.exit(f"the unit can't be measured: {reason}")
        seen.append(numbers)
    _say("")
    return seen[1:], skipped  # the first round has warmed up caches and workers


def _say(text: str) -> None:
    """Show progress on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def last_published() -> Published | None:
    """The figures as committed last; of a copy without history, those that are there."""
    done = subprocess.run(
        ["git", "show", "HEAD:./figures.json"], cwd=BENCH, capture_output=True, check=False
    )
    if done.returncode == 0:
        return msgspec.json.decode(done.stdout, type=Published)
    if FIGURES.exists():
        return msgspec.json.decode(FIGURES.read_bytes(), type=Published)
    return None


def machine(sandbox: str) -> dict[str, str | int]:
    """Where it was measured: no names, no paths."""
    here = this_machine()
    return {
        "cpu": here.cpu,
        "cores": here.cores,
        "system": here.system,
        "python": here.python,
        "sandbox": sandbox,
    }


def published_text(found: Published, shown: str) -> str:
    """What stands in README.md between the marks."""
    where = found.machine
    return (
        f"Measured on {where['cores']} cores of {where['cpu']}, {where['system']}, "
        f"Python {where['python']}, sandbox {where['sandbox']}, {found.rounds} rounds, "
        f"{found.others} cores busy with something else:\n\n"
        f"```text\n{shown}```\n"
    )


def publish(found: Published, shown: str) -> None:
    """Make figures.json, the picture and the table in README.md anew."""
    FIGURES.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    PICTURE.write_text(drawing(found.figures), encoding="utf-8")
    begin, end = map(re.escape, MARKS)
    text = re.sub(
        f"({begin}).*({end})",
        lambda match: match[1] + published_text(found, shown) + match[2],
        README.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    README.write_text(text, encoding="utf-8")


def figures_of(
    measures: Sequence[Measure], rounds: Sequence[Mapping[str, float]]
) -> dict[str, Figure]:
    """The figures of everything that was measured, in the order of the table."""
    rows = [row for measure in measures for row in measure.rows]
    found = {row.key: figure(row, rounds) for row in rows}
    return {key: each for key, each in found.items() if each is not None}


def main() -> None:
    """Measure, show, compare, and publish if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="NAMES", help="joined by commas")
    parser.add_argument("--rounds", type=int, default=7, help="7 by default")
    parser.add_argument("--long", action="store_true", help="100,000 matches in one event, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures and every round")
    parser.add_argument("--publish", action="store_true")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(f"{measure.name:<24}{measure.about}" for measure in MEASURES))
        return
    if asked.publish and asked.only:
        parser.error("what is published is a whole run: leave out --only")
    measures = chosen(asked.only)
    # An early end leaves no folder and no process behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    old = last_published()
    bystanders = Bystanders()
    with tempfile.TemporaryDirectory(prefix="speed-") as folder:
        stage = Stage(Path(folder), long=asked.long)
        try:
            rounds, skipped = taken(stage, measures, asked.rounds)
            sandbox = stage.sandbox
        finally:
            stage.close()
    found = Published(
        machine=machine(sandbox),
        rounds=asked.rounds,
        others=round(bystanders.cores(), 2),
        figures=figures_of(measures, rounds),
    )
    shown = table(measures, found.figures, skipped)
    print(shown)
    if found.others > AT_REST:
        print(f"other programs kept {found.others} cores busy: measure again, on a machine at rest")
    if old is not None:
        print(moves(measures, old, found, compared(ROWS, old, found)))
    if asked.json:
        whole = {"figures": found, "rounds": rounds, "skipped": skipped}
        asked.json.write_bytes(msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n")
    if asked.publish:
        publish(found, shown)


if __name__ == "__main__":
    main()
