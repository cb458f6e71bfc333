"""`arena run` from end to end: real processes, real sandbox, real log."""

import csv
import json
from pathlib import Path

import pytest

from arena.model import Entrant, Event, Settings
from arena.terminal.outcome import bot_lines

pytestmark = pytest.mark.process


def test_an_event_ends_in_a_ranked_table(arena, bot, records, tmp_path):
    """Every pairing, every deal, both seatings; the table on stdout, everything in the folder."""
    bots = [bot(name) for name in ("ann", "bob", "cyd")]
    done = arena("run", *bots, "--deals", "2", "--out", "out")
    assert "ann@1" in done.stdout
    assert "commitment" in done.stderr
    assert 3 * 2 * 2 == len(records(tmp_path / "out"))
    assert {
        "bots",
        "event.json",
        "matches.jsonl",
        "matches.index",
        "lock",
        "table.txt",
        "table.md",
        "table.csv",
        "table.json",
    } == {path.name for path in (tmp_path / "out").iterdir()}
    rows = list(csv.reader((tmp_path / "out" / "table.csv").read_text().splitlines()))
    assert 1 + 3 == len(rows)
    event = json.loads((tmp_path / "out" / "event.json").read_text())
    assert event["finished"]
    assert 64 == len(event["secret"])


def test_the_same_seed_gives_the_same_bytes_whatever_the_concurrency(arena, bot, comparable):
    """Digests, canonical log and canonical tables, with one job and with two, pinned or not."""
    bots = [bot("ann"), bot("bob"), bot("cyd", "illegal", 40)]
    flags = ["--deals", "2", "--series", "2"]
    arena("run", *bots, *flags, "--seed", "same", "--jobs", "1", "--out", "one")
    arena("run", *bots[::-1], *flags, "--seed", "same", "--jobs", "2", "--no-pin", "--out", "two")
    one, two = comparable("one"), comparable("two")
    assert one == two
    assert "predictable" in one[1][1].lower()
    arena("run", *bots[:2], "--deals", "1", "--seed", "other", "--jobs", "2", "--out", "three")
    same, other = (json.loads(comparable(folder)[0][0]) for folder in ("one", "three"))
    assert same["id"] == other["id"]
    assert same["deck"] != other["deck"]


@pytest.mark.parametrize(
    ("how", "kind", "status"),
    [
        ("crash", "crash", "signal SIGSEGV"),
        ("raise", "crash", "exit 1"),
        ("exit", "exit", "exit 0"),
        ("close", "exit", ""),
        ("hang", "timeout", ""),
        ("flood", "flood", ""),
        ("nonsense", "malformed", ""),
        ("illegal", "illegal", ""),
        ("stale", "stale", ""),
    ],
)
def test_a_fault_is_recorded_by_kind_while_all_other_matches_finish(
    arena, faults, records, how, kind, status
):
    """The bad bot forfeits with its kind, its stderr and its status; the others just play."""
    folder, bad = faults["folder"], f"{how}@1"
    played = records(folder, "--all")
    by_bad = [record for record in played if bad in record["seats"]]
    others = [record for record in played if set(record["seats"]) == {"ann@1", "bob@1"}]
    assert 2 == len(others)
    assert not any(record["faults"] for record in others)
    assert 2 == len(by_bad)
    for record in by_bad:
        (fault,) = record["faults"]
        assert kind == fault["kind"]
        assert bad == record["seats"][fault["seat"]]
        assert 2 == record["places"][fault["seat"]]
        assert "about to " in fault["stderr"]
        assert 5 <= fault["turn"]
        if status:
            assert status == fault["status"]
    assert f"{kind}" in arena("table", folder, "--format", "md").stdout
    assert f"{bad}: {kind} in " in faults["stderr"]
    told = arena("log", folder, "--faults").stdout
    assert len(by_bad) == told.count(f"{bad}: {kind} in ")
    assert "    stderr: " in told
    assert bad in faults["stdout"]
    assert "about to " in Path(folder, "stderr", f"{bad}.log").read_text()


def test_a_bot_that_keeps_failing_is_withdrawn(arena, bot, tmp_path):
    """After three faulted matches in a row, nothing of it counts any more."""
    bots = [bot("ann"), bot("bob"), bot("bad", "nonsense", 1)]
    done = arena("run", *bots, "--deals", "2", "--out", "out")
    assert "annulled" in done.stdout or "withdrawn" in done.stdout
    table = json.loads(arena("table", "out", "--format", "json").stdout)
    assert "bad@1" in json.dumps(table["withdrawn"])


def test_slow_bots_run_out_of_their_bank(arena, bot, records, tmp_path):
    """Many decisions within the move limit can still be too much for the match."""
    bots = [bot("ann"), bot("slow", "slow", 1)]
    flags = ["--deals", "1", "--match-time", "200ms", "--move-time", "200ms", "--out", "out"]
    arena("run", *bots, *flags)
    kinds = {fault["kind"] for record in records(tmp_path / "out") for fault in record["faults"]}
    assert {"bank"} == kinds


@pytest.mark.long("manners of answering")
def test_bots_that_flood_their_stderr_or_fill_their_lines_play_on(arena, bot, records, tmp_path):
    """Stderr is always drained, and capped. line_bytes is a limit, not a trap: a line of the full
    length is heard, and so is the next.
    """
    bots = [bot("ann"), bot("loud", "chatty"), bot("long", "longest", 1)]
    flags = ["--game", "four-card-golf", "--gauntlet", "ann", "--deals", "1"]
    arena("run", *bots, *flags, "--out", "out")
    played = records(tmp_path / "out")
    assert 4 == len(played)
    assert not any(record["faults"] for record in played)
    log = (tmp_path / "out" / "stderr" / "loud@1.log").stat().st_size
    assert 60_000 < log < 2 * 66_000 + 200


@pytest.mark.long("manners of answering")
def test_nobody_pays_for_another_s_fault_at_a_simultaneous_question(arena, bot, records, tmp_path):
    """One bot closes its output at the tee-off and lingers; a slow one still has its time."""
    bots = [bot("slow", "slow", 1), bot("bad", "close", 1)]
    arena("run", *bots, "--deals", "3", "--move-time", "5s", "--out", "out")
    played = records(tmp_path / "out", "--all")
    assert played
    for record in played:
        assert ["bad@1"] == [record["seats"][fault["seat"]] for fault in record["faults"]]


@pytest.mark.long("tables of every size")
def test_at_bigger_tables_a_bad_bot_costs_the_others_nothing(arena, bot, records, tmp_path):
    """They finish the match that it forfeits, in which it is last, with scores of all nine holes.
    It is withdrawn; everybody else's results against each other count, on every deal.
    """
    bots = [bot("ann"), bot("bob"), bot("cyd"), bot("bad", "raise", 7)]
    flags = ["--game", "four-card-golf", "--seats", "3", "--deals", "2"]
    arena("run", *bots, *flags, "--out", "out")
    played = records(tmp_path / "out")
    assert 4 * 3 * 2 == len(played)
    forfeited = [record for record in played if "bad@1" in record["seats"]]
    assert 3 * 3 * 2 == len(forfeited)
    for record in forfeited:
        assert 9 == len(record["holes"])
        assert 3 == record["places"][record["seats"].index("bad@1")]
    table = json.loads(arena("table", "out", "--format", "json").stdout)
    rows = {row["entrant"]: row for row in table["rows"]}
    assert "annulled" in rows["bad@1"]["note"]
    assert rows["bad@1"]["rank"] is None
    for name in ("ann@1", "bob@1", "cyd@1"):
        assert 18 == rows[name]["matches"]
        assert 6 == rows[name]["deals"]


def test_json_events_are_lines_for_programs(arena, bot):
    """Versioned JSON lines and nothing else on stdout."""
    done = arena("run", bot("ann"), bot("bob"), "--deals", "1", "--json", "--out", "out")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {1} == {event["v"] for event in events}
    kinds = [event["event"] for event in events]
    assert ["start", "match", "match", "table", "end"] == kinds
    assert events[-1]["finished"]


def test_a_dry_run_says_what_would_be_played_and_plays_nothing(arena, bot, tmp_path):
    """Matches and an estimate first, then the bots, of many the first few; no folder. More jobs
    than cores are worth a line; as many as there are by default are not.
    """
    flags = [bot("ann"), bot("bob"), bot("cyd"), "--dry-run", "--out", "out"]
    assert 1 == arena("run", *flags, "--jobs", "999").stderr.count("note: 999 jobs on ")
    done = arena("run", *flags)
    assert "jobs" not in done.stderr
    first, second, *names = done.stdout.splitlines()
    assert "3 tables x 10 deals x 2 rotations = 60 matches" in first
    assert second.startswith("about ")
    assert ["ann@1", "bob@1", "cyd@1"] == names
    many = Event(
        settings=Settings(game="play-nine"),
        entrants=[Entrant(id=f"b{n}@1", name="b", version="1", hash="") for n in range(300)],
        commitment="",
    )
    named = list(bot_lines(many))
    assert len(named) < 30
    assert "and 280 more; all of them: --dry-run --json" == named[-1]
    assert not (tmp_path / "out").exists()


def test_an_event_file_holds_every_flag(arena, bot, records, tmp_path):
    """Paths are relative to the file; a flag on the command line wins."""
    bot("ann")
    bot("bob")
    (tmp_path / "friday.toml").write_text(
        'bots = ["bots/*"]\ngame = "four-card-golf"\ndeals = 3\nmove-time = "500ms"\n'
        'playoff = true\nseed = "friday"\nout = "from-file"\n'
    )
    arena("run", "--event", "friday.toml", "--deals", "2")
    event = json.loads((tmp_path / "from-file" / "event.json").read_text())
    assert "four-card-golf" == event["settings"]["game"]
    assert 500 == event["settings"]["limits"]["move_ms"]
    assert event["settings"]["playoff"]
    assert 4 == len(records(tmp_path / "from-file"))


@pytest.mark.long("flags of an event")
def test_authors_can_be_kept_apart_and_each_match_have_fresh_processes(
    arena, bot, records, tmp_path
):
    """--no-same-author: no match between two bots of one author. --fresh match is series of one:
    a fault costs no more than its match.
    """
    bots = [bot("a1", author="ann"), bot("a2", author="ann"), bot("b1", author="bob")]
    flags = ["--game", "four-card-golf", "--deals", "2"]
    arena("run", *bots, *flags, "--no-same-author", "--fresh", "match", "--out", "out")
    played = records(tmp_path / "out")
    assert 8 == len({record["series"] for record in played}) == len(played)
    assert not any({"a1@1", "a2@1"} == set(record["seats"]) for record in played)


def test_without_a_sandbox_the_table_says_so(arena, bot):
    """--sandbox none is asked for by name and shown."""
    done = arena("run", bot("ann"), bot("bob"), "--deals", "1", "--sandbox", "none", "--out", "o")
    assert "none" in done.stdout.lower()
    assert "warning" in done.stderr


def test_a_playoff_decides_ties(arena, bot, records, tmp_path):
    """With --playoff no two-seat match of four-card golf ends level."""
    bots = [bot("ann"), bot("bob")]
    flags = ["--game", "four-card-golf", "--deals", "20", "--playoff", "--seed", "p"]
    arena("run", *bots, *flags, "--out", "out")
    played = records(tmp_path / "out")
    extra = [record for record in played if len(record["holes"]) > 9]
    assert extra
    for record in extra:
        assert record["totals"][0] == record["totals"][1]
        assert [1, 2] == sorted(record["places"])
