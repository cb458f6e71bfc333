"""`arena replay`: the list, the text, the export, and what is said of wrong input."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from arena.cli import commands
from arena.cli.replay import SORTS
from arena.event.search import ANY
from arena.event.search import SORTS as SORTED
from arena.model import FaultKind
from arena.referee import Failure
from arena.reports.layout import width
from arena.store import read_records
from arena.terminal.replay import KINDS

SNAPSHOTS = Path(__file__).parent / "snapshots"
SCHEMA = Path(__file__).parents[2] / "protocol" / "schema" / "match-steps.json"


@pytest.fixture
def replay(monkeypatch):
    """Run the command in this process, away from any terminal."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words, code=0):
        done = CliRunner().invoke(commands, ["replay", *map(str, words)])
        assert code == done.exit_code, (done.output, done.exception)
        return done

    return run


@pytest.fixture
def friday(events, folder):
    """Three seats of four-card golf; bob crashes in one rotation."""
    done = []

    def how(spec):
        done.append(spec)
        return {"fails": events.failing("bob@1", 7)} if len(done) == 2 else {}

    return folder(events.event_of("four-card-golf", seats=3, turn_cap=4), how)


def same(name, text):
    """Compare a text with the snapshot of that name."""
    path = SNAPSHOTS / name
    if os.environ.get("ARENA_UPDATE_SNAPSHOTS"):
        SNAPSHOTS.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    assert text == path.read_bytes().decode(), f"{name} differs; see ARENA_UPDATE_SNAPSHOTS"


def test_flags_know_every_fault_and_order():
    """Orders are written out there, so that --help imports nothing."""
    assert (ANY, *FaultKind) == KINDS
    assert tuple(SORTED) == SORTS


def test_the_list_and_a_match_look_like_this(replay, friday, tmp_path):
    """Snapshots: the list, a match with a fault, a moment, a seat's own view."""
    faulty = next(record for record in read_records(friday) if record.faults)
    shown = {
        "list.txt": [],
        "match.txt": [faulty.id],
        "moment.txt": [faulty.id, "--hole", "1", "--move", "7"],
        "own.txt": [faulty.id, "--hole", "2", "--move", "9", "--as", "bob"],
    }
    for name, words in shown.items():
        text = replay(friday, *words).stdout.replace(str(friday), "friday")
        same(name, text)
        assert "\x1b" not in text
        for line in text.splitlines():
            assert width(line) < 80 or line.startswith(("    ", "bob@1: crash in "))


def test_the_list_is_narrowed(replay, friday):
    """To those with a fault, and to so many; what is left out is said."""
    faulty = next(record for record in read_records(friday) if record.faults)
    assert f"{faulty.id}: four-card-golf" in replay(friday, "--fault").stdout
    assert f"{faulty.id}: " in replay(friday, "--fault", "crash", "--bot", "bob").stdout
    two = replay(friday, "--limit", "2")
    assert 3 == len(two.stdout.splitlines())
    assert "2 of 3 matches; --limit 0 lists all" in two.stderr
    assert 4 == len(replay(friday, "--limit", "0").stdout.splitlines())
    best = replay(friday, "--sort", "best", "--limit", "1").stdout
    totals = [min(r.totals) for r in read_records(friday)]
    assert f" {min(totals)}, 2. " in best
    assert f"{faulty.id}: " in replay(friday, "--fault", "crash", "--sort", "best").stdout
    assert f"{faulty.id}: " in replay(friday, faulty.id, "--fault", "--all").stdout


def test_the_list_as_json_has_the_command_for_each_fault(replay, friday):
    """One line a match."""
    lines = [json.loads(line) for line in replay(friday, "--json").stdout.splitlines()]
    assert [record.id for record in read_records(friday)] == [line["id"] for line in lines]
    (fault,) = [fault for line in lines for fault in line["faults"]]
    assert ["arena", "feed", "bob@1", str(friday)] == shlex.split(fault["again"])[:4]
    assert all(line["counts"] for line in lines)


def test_a_match_is_exported(replay, friday, tmp_path):
    """To a file and to standard output, the same bytes, as the schema says and the log has it."""
    for record in read_records(friday):
        out = tmp_path / "match.json"
        replay(friday, record.id, "--export", out)
        text = replay(friday, record.id, "--json").stdout
        assert text == out.read_text() == replay(friday, record.id, "--export", "-").stdout
        match = json.loads(text)
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(match)
        assert [1, record.digest] == [match["format"], match["digest"]]
        assert list(record.totals) == match["totals"]
        assert [hole.moves for hole in record.holes] == [
            ",".join(step["move"] for step in hole["steps"]) for hole in match["holes"]
        ]


def test_a_hole_is_shown_card_by_card(replay, friday):
    """A picture for the deal, for each move and for the end."""
    record = next(read_records(friday))
    text = replay(friday, record.id, "--hole", "2").stdout
    moves = record.holes[1].moves.count(",") + 1
    assert moves + 2 == text.count("pile of ")
    assert "Hole 2 is over: " in text


def test_without_the_secret_there_are_no_cards(replay, events, folder):
    """Neither revealed nor here: one line; with the owner's private.json it works."""
    path = folder(events.event_of(), finished=False)
    record = next(read_records(path))
    assert f"{record.id}: play-nine" in replay(path, record.id).stdout
    (path / "private.json").unlink()
    done = replay(path, record.id, code=2)
    assert "the secret has not been revealed yet and private.json is not here" in done.stderr
    assert 1 == done.stderr.count("\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nothing"], "there is no match 'nothing'; near it: "),
        (["--fault", "boredom"], "there is no fault 'boredom'; there are: any, start, "),
        (["--fault", "timeout"], "no such match; --all looks at matches that don't count too"),
        (["--bot", "zoe"], "no bot 'zoe' takes part; some: ann@1, bob@1, cyd@1"),
        (["--total", "few"], "'few' is no comparison: write it like '<60'"),
        (["--hole", "2"], "--hole: for one match, and there are 3: name it, or add --limit 1"),
        (["--as", "0", "--print"], "--as, --print: for one match"),
        (["--attempt", "1"], "--attempt goes with a match"),
        (["ID", "--bot", "ann", "--limit", "2"], "--bot, --limit: to search for a match, and one"),
        (["ID", "--move", "2"], "--move counts within a hole: add --hole N"),
        (["ID", "--hole", "10"], "has holes 1 to 9, not 10"),
        (["ID", "--hole", "1", "--move", "99"], "hole 1 has moves 1 to "),
        (["ID", "--as", "7"], "no bot '7' takes part; some: "),
        (["ID", "--attempt", "3"], "has no attempt 3; there are: 0"),
        (["ID", "--fault"], "no bot failed in it"),
        (["ID", "--json", "--export", "x"], "--json writes to standard output, --export to a file"),
        (["ID", "--export", "/nowhere/x"], "/nowhere/x: can't write there: No such file"),
    ],
)
def test_wrong_input_is_one_line(replay, friday, words, told):
    """What was wrong, and what to do."""
    known = next(read_records(friday)).id
    done = replay(friday, *(known if word == "ID" else word for word in words), code=2)
    said = done.stderr or str(done.exception)
    assert told in said
    assert said.count("\n") <= 1 or "Usage: " in said  # `main` makes one line of that


def test_a_folder_without_matches(replay, events, folder):
    """There is nothing to look at yet."""
    path = folder(events.event_of(), finished=False)
    (path / "matches.jsonl").write_bytes(b"")
    for index in path.glob("matches.i*"):
        index.unlink()
    for words in (["x"], [], ["--all"], ["--fault", "--sort", "best"]):
        assert "no match has been played there yet" in replay(path, *words, code=2).stderr


def test_strangers_words_do_nothing_to_a_terminal(replay, events, folder):
    """What a bot wrote is shown as escapes, wherever it is shown."""
    evil = Failure(
        kind=FaultKind.MALFORMED, message="\x1b[2Jno", line="\x1b]0;x\x07\u202e", status="\x9b31m"
    )
    path = folder(events.event_of(), lambda spec: {"fails": events.failing("ann@1", 20, evil)})
    record = next(read_records(path))
    for words in ([], ["--fault", "--limit", "1"], [record.id, "--hole", "1"]):
        shown = replay(path, *words).output
        assert "ann@1" in shown
        for acting in ("\x1b", "\x07", "\x9b", "\u202e"):
            assert acting not in shown
    assert "\x1b" not in replay(path, "--json").output


@pytest.mark.process
def test_a_reader_that_leaves_is_no_trouble(friday):
    """`arena replay … | head` ends quietly."""
    record = next(read_records(friday))
    program = [sys.executable, "-P", "-m", "arena", "replay", str(friday), record.id]
    script = f"{shlex.join(program)} --hole 1 | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode in (0, 141)
    assert done.stdout.startswith("Hole 1: ")
    assert "" == done.stderr
