"""`arena prepare`, and `arena run` of what it has prepared: real processes, real folders."""

import json
import shutil
import signal

import pytest
from msgspec import structs

from arena.model import Limits, canonical
from arena.store import add_checksum, read_event, read_records

from .clusters import ForkedCommand, until

pytestmark = pytest.mark.process

GOLF = ("--game", "four-card-golf")
SMALL = (*GOLF, "--deals", "2", "--seed", "s")


@pytest.fixture
def prepared(arena, bot, sandbox):
    """Prepare an event of two bots."""

    def prepare(*flags, names=("ann", "bob"), how=("fine",), out="prepared", **options):
        bots = [bot(name, *how) for name in names]
        return arena("prepare", *bots, *flags, "--sandbox", sandbox, "--out", out, **options)

    return prepare


def test_a_prepared_event_is_the_event_that_is_run_at_once(
    arena, prepared, comparable, tmp_path, environment
):
    """The same bytes; the commitment is on stdout before, the secret is private until the end, and
    a copy has all that another machine needs.
    """
    told = prepared(*SMALL, "--name", "Cup 2026")
    folder = tmp_path / "prepared"
    assert read_event(folder).commitment + "\n" == told.stdout
    assert "arena run prepared" in told.stderr
    assert not read_event(folder).secret
    assert 0o600 == (folder / "private.json").stat().st_mode & 0o777
    assert 0o700 == (folder / "bots").stat().st_mode & 0o777
    bots = [tmp_path / "bots" / name for name in ("ann", "bob")]
    done = arena("run", *bots, *SMALL, "--name", " Cup 2026", "--out", "whole")
    assert "\nname: Cup 2026\n" in done.stdout
    shutil.copytree(folder, tmp_path / "copy")
    shutil.rmtree(tmp_path / "bots")
    elsewhere = {**environment, "XDG_CACHE_HOME": str(tmp_path / "elsewhere")}
    arena("run", "copy", "--sandbox", "none", env=elsewhere)
    assert comparable("whole") == comparable("copy")
    event = read_event(tmp_path / "copy")
    assert event.finished
    assert event.predictable
    assert "none" == event.sandbox
    assert {entrant.hash for entrant in event.entrants} < {
        path.name for path in (tmp_path / "copy" / "bots").iterdir()
    }
    assert not (tmp_path / "copy" / "private.json").exists()


@pytest.mark.long("prepared events")
def test_what_was_fixed_is_not_said_again(arena, prepared, refused):
    """Settings are refused by name, what concerns the machine is not; the event begins once."""
    prepared(*SMALL)
    told = refused("run", "prepared", "--deals", "3", "--move-time", "1s", "--jobs", "1")
    assert "--deals, --move-time: a prepared event is played as it was fixed" in told
    assert "--jobs" not in told
    assert "not begun; begin: arena run prepared" in refused("resume", "prepared")
    assert "none was announced" in refused("run", "prepared", "--beacon", "7")
    arena("run", "prepared", "--sandbox", "none", "--jobs", "1", "--quiet")
    assert "is finished" in refused("run", "prepared")


def test_what_prepare_and_a_beacon_need(refused):
    """A folder to prepare, and one to play."""
    assert "--out FOLDER" in refused("prepare", "ann")
    assert "name the bots" in refused("prepare", "--out", "x")
    assert "--beacon goes with a prepared folder" in refused("run", "--beacon", "7")


@pytest.mark.long("prepared events")
def test_the_deals_follow_from_the_beacon(arena, prepared, refused, tmp_path):
    """Announced, it must be given, once and for all; another value makes other deals of the same
    secret, and the table states both.
    """
    told = prepared("--deals", "1", "--seed", "s", "--beacon-from", "drand round 7")
    assert "arena run prepared --beacon VALUE" in told.stderr
    assert "drand round 7: give it" in refused("run", "prepared")
    assert "one printable line" in refused("run", "prepared", "--beacon", " ")
    decks = {}
    for value in ("one", "two"):
        shutil.copytree(tmp_path / "prepared", tmp_path / value)
        done = arena("run", value, "--beacon", f"{value} ", "--sandbox", "none")
        decks[value] = {record.deck for record in read_records(tmp_path / value)}
        assert f"beacon {value} (drand round 7)" in " ".join(done.stdout.split())
    assert decks["one"].isdisjoint(decks["two"])


@pytest.mark.long("prepared events")
def test_an_unfinished_event_keeps_its_beacon(arena, prepared, refused, sandbox, tmp_path):
    """`run` names `resume`, which takes the beacon that was given and no other; another sandbox is
    no drift, but recorded. A secret that others can read is worth a line.
    """
    prepared("--deals", "4", "--series", "1", "--beacon-from", "the weather")
    (tmp_path / "prepared" / "private.json").chmod(0o644)
    flags = ("--max-time", "1ms", "--sandbox", "none")
    done = arena("run", "prepared", "--beacon", "sun", *flags)
    assert "others can read prepared/private.json" in done.stderr
    assert not read_event(tmp_path / "prepared").finished
    assert "arena resume prepared" in refused("run", "prepared", "--beacon", "sun")
    assert "the beacon sun, not rain" in refused("resume", "prepared", "--beacon", "rain")
    assert "--sandbox none" in refused("resume", "prepared", "--beacon", "sun")
    done = arena("resume", "prepared", "--beacon", "sun", "--sandbox", sandbox)
    event = read_event(tmp_path / "prepared")
    assert ("sun", "none", True) == (event.beacon, event.sandbox, event.finished)
    if sandbox != "none":
        assert f"the event records that it goes on in {sandbox}" in done.stderr
        assert f" and {sandbox}" in event.confinement.detail


def test_a_bot_that_was_changed_on_the_way_is_refused(arena, prepared, tmp_path, environment):
    """A copy with another bot in it is not played; both hashes are shown."""
    prepared(*SMALL)
    entrant = read_event(tmp_path / "prepared").entrants[0]
    program = tmp_path / "prepared" / "bots" / entrant.hash / "bot.py"
    program.chmod(0o644)
    program.write_text(program.read_text() + "\n")
    elsewhere = {**environment, "XDG_CACHE_HOME": str(tmp_path / "elsewhere")}
    done = arena("run", "prepared", "--sandbox", "none", env=elsewhere, code=2)
    assert f"entered {entrant.hash}, now " in done.stderr


def test_settings_that_drifted_are_shown(prepared, refused, tmp_path):
    """What an event was entered with can't be changed under way, nor can the rules of its game."""
    prepared(*SMALL)
    event = read_event(tmp_path / "prepared")
    settings = structs.replace(
        event.settings, game_version=99, turn_cap=9, limits=Limits(move_ms=500)
    )
    changed = add_checksum(canonical(structs.replace(event, settings=settings))) + b"\n"
    (tmp_path / "prepared" / "event.json").write_bytes(changed)
    told = refused("run", "prepared")
    assert "game: four-card-golf rules 99, this arena plays 1" in told
    assert "turn_cap: 30 → 9" in told
    assert "limits.move_ms: 1000 → 500" in told


@pytest.mark.long("prepared events")
def test_shards_on_machines_of_their_own_make_the_same_bytes(
    arena, forks, prepared, refused, comparable, tmp_path, environment
):
    """Three copies, played at the same time by three processes, each with a cache of its own; one
    is killed and goes on.
    """
    names = ("ann", "bob", "cyd")
    flags = (*GOLF, "--deals", "4", "--series", "2", "--seed", "s")
    prepared(*flags, names=names, how=("slow", 8))
    folders = [f"s{number}" for number in (1, 2, 3)]
    running = []
    for number, folder in enumerate(folders, 1):
        shutil.copytree(tmp_path / "prepared", tmp_path / folder)
        words = ["run", folder, "--shard", f"{number}/3", "--sandbox", "none", "--json"]
        own = {**environment, "XDG_CACHE_HOME": str(tmp_path / f"cache{number}")}
        words += ["--jobs", "1"]
        running.append(ForkedCommand(forks, words, cwd=tmp_path, env=own, constants={}))
    until(running[1], "match")
    running[1].kill()
    ends = [process.communicate(timeout=120)[0].splitlines() for process in running]
    assert [0, -signal.SIGKILL, 0] == [process.returncode for process in running]
    last = json.loads(ends[0][-1])
    assert ("shard", "1/3", "s1") == (last["event"], last["shard"], last["folder"])
    assert "shard 2/3 is not finished" in refused("merge", *folders, "--out", "merged")
    done = arena("resume", "s2")
    assert "shard 2/3 is played, in s2" in done.stderr
    assert not done.stdout
    done = arena("merge", "s3", "s1", "s2", "--out", "merged")
    assert "24 of 24 counted" in " ".join(done.stdout.split())
    bots = [tmp_path / "bots" / name for name in names]
    arena("run", *bots, *flags, "--sandbox", "none", "--out", "whole")
    assert comparable("whole") == comparable("merged")
    assert (tmp_path / "merged" / "bots" / "sources.json").exists()
