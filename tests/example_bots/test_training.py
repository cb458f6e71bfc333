"""The trainer of strong: the same bytes from every run, in the shape that bot.py reads."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.model import Settings

ROOT = Path(__file__).parents[2]
TRAINER = ROOT / "bench" / "train_strong"
HOLES = 1000
COMPILER = os.environ.get("CC", "cc").split()

# Of the tables that HOLES holes a round give. When train.c computes something else on purpose, the
# tables in the repository are made again, and then this is renewed.
DIGEST = "976bb605359a227c45900a34752e78848bf79ca19b7ead1797e09cfcb8d7f363"

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="no C compiler"),
]


def run(output: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """A short training into that file."""
    command = [sys.executable, TRAINER / "train.py", "--holes", str(HOLES), "--output", output]
    return subprocess.run(
        [*command, *more], check=False, capture_output=True, text=True, timeout=60
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A copy of the bot with tables from a short training."""
    folder = tmp_path_factory.mktemp("trained") / "strong"
    shutil.copytree(ROOT / "example_bots" / "strong", folder)
    done = run(folder / "tables.json")
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    return folder


@pytest.mark.long("training of the champion")
def test_the_same_bytes_on_every_machine(trained):
    """The short training gives the tables that it gave when the long one was made."""
    assert DIGEST == hashlib.sha256((trained / "tables.json").read_bytes()).hexdigest()


@pytest.mark.long("training of the champion")
def test_check_tells_whether_a_file_would_be_written_again(trained, tmp_path):
    """A second training equals the first; --check says 1 for other tables, and writes nothing."""
    assert 0 == run(trained / "tables.json", "--check").returncode
    other = tmp_path / "tables.json"
    other.write_text("{}\n")
    assert 1 == run(other, "--check").returncode
    assert "{}\n" == other.read_text()


@pytest.mark.long("training of the champion")
def test_the_optimiser_changes_nothing(tmp_path):
    """Compiled at -O0 and at -O3, the trainer prints the same."""
    printed = set()
    for level in ("-O0", "-O3"):
        program = tmp_path / f"train{level}"
        source = TRAINER / "train.c"
        flags = ["-std=c11", level, "-ffp-contract=off"]
        subprocess.run([*COMPILER, *flags, "-o", program, source], check=True)
        printed.add(subprocess.run([program, "100"], check=True, capture_output=True).stdout)
    assert 1 == len(printed)


@pytest.mark.parametrize("arguments", [[], ["0"], ["-5"], ["many"], ["1", "2"]])
def test_a_number_of_holes_is_needed(tmp_path, arguments):
    """Without a positive number, the program trains nothing and says how it is called."""
    program = tmp_path / "train"
    subprocess.run([*COMPILER, "-ffp-contract=off", "-o", program, TRAINER / "train.c"], check=True)
    done = subprocess.run([program, *arguments], check=False, capture_output=True, text=True)
    assert (2, "", "usage: train HOLES\n") == (done.returncode, done.stdout, done.stderr)


def test_the_published_tables_have_the_shape_of_trained_ones(trained):
    """tables.json in the repository has the names and sizes that the trainer writes."""

    def shape(folder: Path) -> dict[str, object]:
        tables = json.loads((folder / "tables.json").read_text())
        about = tables.pop("about")
        sizes = {
            name: [len(row) if isinstance(row, list) else 1 for row in rows]
            for name, rows in tables.items()
        }
        return {"about": about} | sizes

    assert shape(ROOT / "example_bots" / "strong") == shape(trained)
    assert [120] * 9 == shape(trained)["moved"]
    assert [12] * 9 == shape(trained)["lead"]
    assert [1] * 9 == shape(trained)["feed"]


def test_bot_reads_them(trained, self_play):
    """bot.py finds every weight: by own face-down cards and the other's, 1 to 3."""
    module = self_play.Imported(trained).module
    for table in (module.MOVED, module.TO_MOVE, module.LEAD):
        for own in (1, 2, 3):
            for other in (1, 2, 3):
                assert any(table[own][other])
    assert module.MOVED[1][1][15 * 3 + 7] == module.MOVED[1][1][15 * 7 + 3]


def test_what_is_learned_is_plausible(trained, self_play):
    """Knowledge that needs no opponent: chances are worth something, high pairs most of all."""
    module = self_play.Imported(trained).module
    for own in (1, 2, 3):
        for other in (1, 2, 3):
            # A column that may still be matched is worth more, so the factor lowers strokes.
            assert module.LIVE_MOVED[own][other] < 0
            assert module.LIVE_TO_MOVE[own][other] < 0
            # What is fed to the other costs part of its strokes.
            assert 0 < module.FEED[own][other] < 1.5
            # An unmatched pair of high cards will be improved, one of low cards not.
            assert module.MOVED[own][other][15 * 12 + 11] < module.MOVED[own][other][15 * 1 + 2]


@pytest.mark.long("training of the champion")
def test_a_short_training_beats_matcher(trained, self_play, bots):
    """A sixtieth of the training is enough to win most matches against matcher."""
    players = [self_play.Imported(trained), self_play.Imported(bots / "matcher")]
    tally = self_play.play(Settings(game="play-nine"), players, 20, "short training")
    assert tally.beaten[0] / tally.matches > 0.65
