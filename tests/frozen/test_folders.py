"""Results folders of format 1, as an earlier arena wrote them: every command still reads them."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from arena.store import read_event

from .conftest import EXPECTED, HERE, contents
from .digests import digest

FINISHED = sorted(EXPECTED["folders"])
NODE = shutil.which("node")
SOME = pytest.mark.long(
    "every old folder",
    quick=(
        "beacon-nine-2",
        "epoch-faults-golf-2",
        "faults-golf-4",
        "compared-golf-worse",
        "merged-nine-2",
    ),
)
VERIFIER = Path(__file__).parents[2] / "protocol" / "verify_deals.js"


def test_nothing_was_made_anew():
    """Every frozen file has the bytes that it was frozen with."""
    root = HERE.parent
    sums = dict(
        reversed(line.split("  ", 1)) for line in (HERE / "SHA256SUMS").read_text().splitlines()
    )
    places = [HERE / "folders", HERE / "transcripts", HERE / "bots"]
    places += [root / "seeded" / "events", root / "seeded" / "bots"]
    files = {
        str(path.relative_to(root)): digest(path.read_bytes())
        for place in places
        for path in place.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert sums == files


@pytest.mark.parametrize("name", FINISHED)
@SOME
def test_a_finished_event_is_true_and_readable(name, frozen, told, tmp_path):
    """Verified, shown, rated, published; no file of it changes by that."""
    folder = frozen(name)
    before = contents(folder)
    expected = EXPECTED["folders"][name]
    assert f"verified: {folder}".encode() in told("verify", folder)
    assert expected["log"] == digest(told("log", folder, "--canonical"))
    bots = {entrant.id for entrant in read_event(folder).entrants}
    shown = told("table", folder, "--format", "json")
    assert bots <= {row["entrant"] for row in json.loads(shown)["rows"]}
    if not name.startswith("played"):
        rated = json.loads(told("rate", folder, "--format", "json"))
        assert bots <= {row["entrant"] for row in rated["rows"]}
    assert told("replay", folder, "--all")
    assert told("replay", folder, expected["match"], "--print")
    told("publish", folder, "--to", tmp_path / "site", "--regret", 3)
    assert (tmp_path / "site" / "index.html").exists()
    assert before == contents(folder)


@pytest.mark.parametrize("name", FINISHED)
def test_what_a_bot_was_told_can_be_told_again(name, frozen, told):
    """The transcript of a bot's process is made from the log with the same lines."""
    expected = EXPECTED["folders"][name]
    words = ("--transcript", expected["match"], "--bot", expected["bot"])
    lines = told("log", frozen(name), *words).splitlines(keepends=True)
    assert expected["transcript"] == digest(b"".join(line for line in lines if line[:1] != b"#"))


def test_a_table_over_epochs_says_one_thing_of_a_withdrawn_bot(frozen, told):
    """That it is annulled, and that nothing it did in the epoch counts."""
    footer = told("table", frozen("epoch-faults-golf-2"), "--format", "md").decode()
    assert 1 == footer.count("before half of its schedule: all its results are annulled")
    assert 1 == footer.count("was withdrawn before this epoch: nothing it did here counts")
    assert "the rest of its matches are forfeits" not in footer


@pytest.mark.process
@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("name", FINISHED)
@SOME
def test_the_second_verifier_agrees(name):
    """With a finished folder and its epochs."""
    folder = HERE / "folders" / name
    for each in (folder, *folder.glob("epoch-*")):
        done = subprocess.run([NODE, VERIFIER, each], capture_output=True, text=True, check=False)
        assert done.stdout.startswith("agrees: "), (each, done.stdout, done.stderr)


@pytest.mark.parametrize("name", sorted(EXPECTED["unfinished"]))
def test_an_unfinished_event_can_be_looked_at(name, frozen, told):
    """Before it goes on: its table, what counts of its log, its matches."""
    folder = frozen(name)
    before = contents(folder)
    assert b"THE EVENT IS NOT FINISHED" in told("table", folder)
    assert b"THE EVENT IS NOT FINISHED" in told("rate", folder)
    told("log", folder, "--canonical")
    assert told("replay", folder, "--all")
    assert before == contents(folder)


@pytest.mark.process
@pytest.mark.parametrize("name", sorted(EXPECTED["unfinished"]))
@pytest.mark.long("old folders played on", quick=("unfinished-faults-nine-2",))
def test_an_unfinished_event_goes_on(name, arena, told, frozen, outcome, tmp_path):
    """To the bytes that it would have had without being killed."""
    folder = frozen(name)
    if not (folder / "bots").exists():  # it finds them where they lay, or in the cache
        known = [HERE / "bots" / bot for bot in ("ann", "bob")]
        arena("prepare", *known, "--sandbox", "none", "--out", tmp_path / "cached")
    arena("resume", folder, "--sandbox", "none", "--quiet")
    assert EXPECTED["unfinished"][name] == outcome(folder)
    told("verify", folder)


@pytest.mark.process
@pytest.mark.parametrize("name", sorted(EXPECTED["prepared"]))
@pytest.mark.long("old folders played on", quick=("prepared-golf-2-beacon",))
def test_a_prepared_event_is_played(name, arena, told, frozen, outcome):
    """By the settings that it was prepared with, from the bots that it carries."""
    folder = frozen(name)
    expected = EXPECTED["prepared"][name]
    arena("run", folder, *expected["beacon"], "--sandbox", "none", "--quiet")
    assert expected == {"beacon": expected["beacon"], **outcome(folder)}
    told("verify", folder)


def test_shards_are_merged(frozen, told, outcome, tmp_path):
    """Into what they were merged into then."""
    shards = [frozen(f"shard-{number}-of-3") for number in (1, 2, 3)]
    told("merge", *shards, "--out", tmp_path / "merged")
    assert EXPECTED["merged"] == outcome(tmp_path / "merged")
    told("verify", tmp_path / "merged")


@pytest.mark.process
@pytest.mark.long("old folders played on")
def test_a_bot_comes_to_an_old_event(arena, told, frozen):
    """And the event with its new epoch is true."""
    folder = frozen("epoch-golf-2")
    before = contents(folder)
    bots = [HERE / "bots" / bot for bot in ("hal", "ann", "bob", "cyd", "dan", "fay")]
    arena("run", "--into", folder, *bots, "--sandbox", "none", "--quiet", "--seed", "new")
    assert (folder / "epoch-3" / "table.json").exists()
    assert before.items() <= contents(folder).items()
    assert 4 == told("verify", folder).count(b"verified: ")
