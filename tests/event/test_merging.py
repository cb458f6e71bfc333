"""Shards and their merging, with matches that are made up: no process is started."""

import os
import random
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec import structs

from arena import registry
from arena.deals import commitment, secret_from_seed
from arena.event import merge
from arena.event.progress import Progress
from arena.event.results import first_wave, schedule_of, table_of
from arena.event.tournament import Tournament
from arena.formats.round_robin import RoundRobin
from arena.formats.shards import Shard
from arena.model import (
    FAULTS_IN_A_ROW,
    Entrant,
    Event,
    Fault,
    FaultKind,
    HoleRecord,
    HostError,
    Machine,
    Settings,
    canonical,
)
from arena.store import (
    Private,
    Store,
    add_checksum,
    prepare,
    read_event,
    read_private,
)
from tests.records import match_record

SECRET = secret_from_seed("shards")


def settings(**changes):
    """Two seats, small series: an event of many blocks."""
    return Settings(**{"game": "play-nine", "deals": 12, "series": 2} | changes)


def made_up(spec, attempt, failing):
    """A record that follows from the spec; some bots fail in some matches."""
    draw = random.Random(spec.id)
    totals = tuple(draw.randrange(40, 90) for _ in spec.seats)
    faults = tuple(
        Fault(kind=FaultKind.CRASH, seat=seat, hole=1, turn=seat + 1, message="gone")
        for seat, entrant in enumerate(spec.seats)
        if failing(entrant, spec)
    )[: len(spec.seats) - 1]
    return match_record(
        spec,
        digest=True,
        holes=(HoleRecord(order=(0, 1), moves="draw", scores=totals),) * 9,
        totals=totals,
        faults=faults,
        attempt=attempt,
        ended=draw.random(),
    )


def play(folder, shard="", failing=lambda entrant, spec: False, most=None):
    """Play a prepared folder as workers do: a series ends after three faulted matches in a row."""
    event = read_event(folder)
    with Store.open(folder) as store:
        machine = Machine(system=f"machine of {shard or 'all'}")
        store.restate(structs.replace(event, shard=shard, sandbox="none", machine=machine))
        tournament = Tournament(store, SECRET, Progress())
        while tournament.left and most != 0:
            for block in tournament.counting.ahead():
                for series in block.series:
                    attempt = tournament.counting.wanted(series)
                    if attempt is None or most == 0:
                        continue
                    most = None if most is None else most - 1
                    row = dict.fromkeys(series.entrants, 0)
                    for spec in series.matches:
                        record = made_up(spec, attempt, failing)
                        tournament.take_in(record)
                        store.add_stderr(spec.seats[0], spec.id, f"in {spec.id}")
                        fallen = {spec.seats[seat] for seat in record.forfeits}
                        row = {e: row[e] + 1 if e in fallen else 0 for e in row}
                        if len(row) == 2 and max(row.values()) == FAULTS_IN_A_ROW:
                            break
        if most is None and not shard:
            tournament.conclude()
    return folder


@pytest.fixture
def prepared(tmp_path):
    """Prepare an event of the given bots and settings."""

    def make(name="prepared", secret=SECRET, entrants=("ann", "bob", "cyd"), **changes):
        chosen = settings(**changes)
        bots = tuple(
            Entrant(id=f"{bot}@1", name=bot, version="1", hash=bot * 20) for bot in entrants
        )
        event = Event(settings=chosen, entrants=bots, commitment=commitment(secret, chosen, bots))
        private = Private(secret=secret.hex(), sources={}, cache="", entered=event)
        prepare(tmp_path / name, event, private)
        return tmp_path / name

    return make


@pytest.fixture
def shards(prepared, tmp_path):
    """Play copies of a prepared event, each as its shard; the folders."""

    def make(of=3, failing=lambda entrant, spec: False, **changes):
        source = prepared(**changes)
        return [
            play(shutil.copytree(source, tmp_path / f"s{n}"), f"{n}/{of}", failing)
            for n in range(1, of + 1)
        ]

    return make


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"seats": 3, "entrants": ("ann", "bob", "cyd", "dan")},
        {"tables": 4, "entrants": ("ann", "bob", "cyd", "dan", "eve")},
        {"deals": 1},
    ],
)
def test_shards_make_what_one_machine_makes(
    prepared, shards, refused, comparable, tmp_path, changes
):
    """The same log and tables, whatever the order in which they are named; it is a finished event
    like any other, that says where it was played.
    """
    whole = play(prepared("whole", **changes))
    folders = shards(**changes)
    expected = comparable(whole)
    for number, order in enumerate(([0, 1, 2], [2, 0, 1])):
        out = tmp_path / f"merged{number}"
        refused("merge", *(folders[n] for n in order), "--out", out, code=0)
        assert expected == comparable(out)
        event = read_event(out)
        assert event.finished
        assert SECRET.hex() == event.secret
        assert not event.shard
        assert {f"machine of {n}/3" for n in (1, 2, 3)} == {m.system for m in event.machines}
        assert not (out / "private.json").exists()
        assert (out / "table.md").exists()
    for folder in folders:
        assert not read_event(folder).secret
        assert read_private(folder) is not None
        assert not list(folder.glob("table.*"))
    log = (out / "stderr" / "ann@1.log").read_text()
    assert sorted(log) == sorted((whole / "stderr" / "ann@1.log").read_text())


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("of", [2, 5])
@pytest.mark.long("tables of every size", quick=("2-True-3", "5-False-2"))
def test_who_is_withdrawn_is_decided_at_the_merge(
    prepared, shards, refused, comparable, tmp_path, of, late, seats
):
    """Bob has a row of three that no shard sees whole, early or late in the event: he is withdrawn,
    and annulled if early. Cyd's three matches stand in a row only in a shard: she goes on.
    """
    changes = {"seats": seats, "entrants": ("ann", "bob", "cyd", "dan")}
    folder = prepared("whole", **changes)
    bob, cyd = matches(folder, "bob@1", of), matches(folder, "cyd@1", of)
    straddling = [
        row
        for row in zip(bob, bob[1:], bob[2:], strict=False)
        if row[0].shard != row[1].shard == row[2].shard
    ]
    first = [match for match in cyd if match.shard == 1]
    fails = {match.spec for match in straddling[-1 if late else 0]}
    falls = next(
        row
        for at in range(len(first) - 2)
        if fails.isdisjoint(row := {match.spec for match in first[at : at + 3]})
        and cyd.index(first[at + 1]) > cyd.index(first[at]) + 1
    )

    def failing(entrant, spec):
        return spec.id in {"bob@1": fails, "cyd@1": falls}.get(entrant, ())

    play(folder, "", failing)
    assert [("bob@1", not late)] == [(o.entrant, o.annulled) for o in table_of(folder).withdrawn]
    folders = shards(of, failing, **changes)
    refused("merge", *folders, "--out", tmp_path / "merged", code=0)
    assert comparable(folder) == comparable(tmp_path / "merged")


class Match(NamedTuple):
    spec: str
    shard: int


def matches(folder, entrant, of):
    """The matches of an entrant in the order of the schedule, with their shards."""
    event = read_event(folder)
    home = {
        block.id: n
        for n in range(1, of + 1)
        for block in Shard(n, of).blocks(first_wave(schedule_of(event, SECRET)).blocks)
    }
    return [
        Match(spec.id, home[block.id])
        for block in first_wave(schedule_of(event, SECRET)).blocks()
        for series in block.series
        for spec in series.matches
        if entrant in spec.seats
    ]


def test_an_interrupted_shard_goes_on(prepared, refused, comparable, tmp_path):
    """Unfinished it is refused with the command that goes on; played to its end it is merged."""
    whole, source = play(prepared("whole")), prepared()
    one, two = (shutil.copytree(source, tmp_path / name) for name in ("one", "two"))
    play(one, "1/2", most=2)
    play(two, "2/2")
    told = refused("merge", two, one, "--out", "merged")
    assert f"{one}: shard 1/2 is not finished, " in told
    unfinished = f"{one}: shard 1/2 of the event is unfinished; go on with it: arena resume {one}"
    assert unfinished in refused("run", one)
    with Store.open(one):
        played = f"the event is being played right now, by process {os.getpid()}; to stop it: "
        assert played in refused("run", one)
    assert f"arena resume {one}" in told
    assert 1 == len(told.splitlines())
    three, four = (shutil.copytree(source, tmp_path / name) for name in ("three", "four"))
    play(three, "1/2", most=1)
    play(four, "2/2", most=1)
    told = refused("merge", three, four, "--out", "merged").splitlines()
    assert [f"{three}: shard 1/2 is not f", f"{four}: shard 2/2 is not f"] == [
        line.removeprefix("arena: ").partition("inished")[0] for line in told
    ]
    play(one, "1/2")
    assert "shard 1/2 is played" in refused("resume", one, code=0)
    assert "shard 1/2 of the event is played; when all are: arena merge" in refused("run", one)
    assert "'0/4' is no shard" in refused("run", one, "--shard", "0/4")
    refused("merge", two, one, "--out", "merged", code=0)
    assert comparable(whole) == comparable(tmp_path / "merged")


def test_what_is_not_all_of_one_event_is_refused_by_name(shards, prepared, refused, tmp_path):
    """Missing, twice, a copy, a whole event, a prepared one, none, without its secret, damaged;
    nothing is written.
    """
    a, b, c = shards()

    def told(*folders):
        message = refused("merge", *folders, "--out", "merged")
        assert not (tmp_path / "merged").exists()
        return message

    assert "missing: shard 2/3; name all 3 folders" in told(a, c)
    assert "missing: shard 2/3, 3/3; name" in told(a)
    assert f"{b} is named twice" in told(a, b, c, tmp_path / "s1" / ".." / "s2")
    copy = shutil.copytree(b, tmp_path / "copy")
    assert f"{copy} and {b} are both shard 2/3" in told(a, b, c, copy)
    assert "a whole event, not a shard" in told(a, play(prepared("whole")), c)
    assert "a prepared event; play its shard" in told(a, tmp_path / "prepared", c)
    assert "there is no such folder" in told(a, b, tmp_path / "nowhere")
    with Store.open(b):
        assert f"{b}: is being played right now" in told(a, b, c)
    restated(format=2)(copy)
    assert "written in format 2, this arena reads format 1" in told(a, copy, c)
    shutil.copy(b / "event.json", copy / "event.json")
    (copy / "private.json").unlink()
    assert "private.json is missing" in told(a, copy, c)
    log = bytearray((b / "matches.jsonl").read_bytes())
    log[100] ^= 1
    (b / "matches.jsonl").write_bytes(log)
    assert "damaged" in told(a, b, c)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    shutil.copy(c / "matches.jsonl", b / "matches.jsonl")
    assert f"shard 2/3, {b}: the log has matches of a series" in told(a, b, c)


def test_a_target_that_is_not_empty_is_left_alone(shards, refused, tmp_path):
    """One file in it is enough."""
    folders = shards(2)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    assert "is not empty" in refused("merge", *folders, "--out", "full")
    assert "holds an unfinished event" in refused("merge", *folders, "--out", folders[0])
    assert (tmp_path / "full" / "mine").exists()


def other_secret(folder):
    private = read_private(folder)
    path = folder / "private.json"
    path.write_bytes(canonical(structs.replace(private, secret="00" * 32)))


def restated(**changes):
    def change(folder):
        event = structs.replace(read_event(folder), **changes)
        (folder / "event.json").write_bytes(add_checksum(canonical(event)) + b"\n")

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (other_secret, "the secrets differ"),
        (restated(shard="2/4"), "shard: 1/3 and 2/4"),
        (restated(beacon="7"), "beacon: none → 7"),
        (restated(settings=settings(deals=13)), "deals: 12 → 13"),
        (restated(settings=settings(game_version=2)), "game_version: 1 → 2"),
        (restated(commitment="c"), "commitment: "),
        (
            restated(entrants=(Entrant(id="ann@1", name="ann", version="1", hash="f" * 60),)),
            "bots: ann@1 was annannannann…, is ffffffffffff…",
        ),
    ],
)
def test_foreign_shards_are_refused_with_the_difference(shards, refused, change, words):
    """Other settings, bots, beacon, secret, another number of shards: line by line."""
    a, b, c = shards()
    change(b)
    told = refused("merge", a, b, c, "--out", "merged")
    assert f"{a} and {b} are not of one event" in told
    assert words in told


def test_an_adaptive_format_is_not_cut(prepared, refused, monkeypatch, tmp_path):
    """What is played next follows from all results: refused before anything is begun."""

    class Adaptive(RoundRobin):
        adaptive = True

    import sys
    import types

    module = types.ModuleType("an_adaptive_format")
    module.Adaptive = Adaptive
    monkeypatch.setitem(sys.modules, module.__name__, module)
    formats = {**registry.FORMATS, "adaptive": "an_adaptive_format:Adaptive"}
    monkeypatch.setattr(registry, "FORMATS", formats)
    folder = prepared(format="adaptive")
    assert "adaptive decides by results" in refused("run", folder, "--shard", "1/2")
    assert not read_event(folder).sandbox
    for number in (1, 2):
        copy = shutil.copytree(folder, tmp_path / f"s{number}")
        restated(shard=f"{number}/2", sandbox="none")(copy)
    told = refused("merge", tmp_path / "s1", tmp_path / "s2", "--out", "merged")
    assert "adaptive decides by results" in told


@pytest.mark.long("many shards")
def test_more_shards_than_files_may_be_open(shards, refused, comparable, tmp_path, prepared):
    """A hundred shards, of which most are empty, in a process that may open 80 files."""
    import resource

    whole, folders = play(prepared("whole", deals=2)), shards(100, deals=2)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_now = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_now + 60, hard))
    try:
        refused("merge", *folders, "--out", "merged", code=0)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert comparable(whole) == comparable(tmp_path / "merged")


def test_a_target_within_a_shard_is_refused(shards, refused):
    """Shards are only read."""
    one, two = shards(2)
    assert "lies in" in refused("merge", one, two, "--out", f"{one}/whole")


def test_a_merge_leaves_all_or_nothing(shards, refused, monkeypatch, tmp_path):
    """Killed or failed on the way there is no event; what was left behind is no obstacle."""
    folders = shards(2)
    stale = tmp_path / ".whole.new"
    stale.mkdir()
    (stale / "event.json").write_text("half of it")
    with monkeypatch.context() as patch:
        patch.setattr("arena.event.merge.join_stderr", broken)
        assert "the disk" in refused("merge", *folders, "--out", "whole", code=4)
    assert not stale.exists()
    assert not (tmp_path / "whole").exists()
    with monkeypatch.context() as patch:
        patch.setattr("arena.terminal.outcome.show_result", broken)
        refused("merge", *folders, "--out", "whole", code=4)
    assert read_event(tmp_path / "whole").finished
    assert not (tmp_path / "whole" / "private.json").exists()


def broken(*_):
    """Something that can't be done."""
    raise HostError("the disk is full")


@pytest.mark.parametrize("what", ["fifo", "folder", "link"])
def test_a_shards_stderr_that_is_no_file_is_passed_over(shards, tmp_path, what):
    """Nothing is waited for, and nothing of the reader's is copied."""
    folders = shards(2)
    path = folders[0] / "stderr" / "ann@1.log"
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    mine = tmp_path / "mine"
    mine.write_text("private")
    {"fifo": os.mkfifo, "folder": Path.mkdir, "link": lambda at: at.symlink_to(mine)}[what](path)
    merge.join_stderr(merge.read_shards(folders), tmp_path)
    joined = tmp_path / "stderr" / "ann@1.log"
    assert not joined.exists() or "private" not in joined.read_text()
