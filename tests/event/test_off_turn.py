"""What bots compute while it isn't their turn: seen, and with --freeze impossible."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

# A match has nine decisions a bot: who may knock knocks.
BOT = """
import json, os, sys, threading, time

how, pause = sys.argv[1], float(sys.argv[2])
mine = threading.Event()


def spin():
    while True:
        pass


def spin_off_turn():
    while True:
        while mine.is_set():
            time.sleep(0.001)


def continue_myself():
    # A timer of the kernel's that is to send SIGCONT, always a moment ahead.
    import ctypes
    libc = ctypes.CDLL(None)
    told = (ctypes.c_int * 16)(0, 0, 18, 0)
    timer = ctypes.c_void_p()
    libc.timer_create(1, told, ctypes.byref(timer))
    soon = (ctypes.c_long * 4)(0, 0, 0, 5000000)
    while True:
        libc.timer_settime(timer, 0, soon, None)


def fork_and_spin():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            spin()
        os._exit(0)
    os.wait()


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        if how == "child":
            fork_and_spin()
        elif how in ("thread", "sleeper", "timer"):
            works = {"thread": spin, "sleeper": spin_off_turn, "timer": continue_myself}
            threading.Thread(target=works[how], daemon=True).start()
        os.write(1, b'{"type":"ready"}\\n')
    elif message["type"] == "match":
        asked = 0
    elif message["type"] == "act":
        mine.set()
        asked += 1
        if how != "ponder" or asked == 3:
            time.sleep(pause)
        if how == "faulty" and asked == 3:
            sys.exit("enough")
        move = "knock" if "knock" in message["legal"] else message["legal"][0]
        answer = json.dumps({"turn": message["turn"], "move": move})
        mine.clear()
        os.write(1, answer.encode() + b"\\n")
"""

SLOW_MS = 40
DECISIONS = 9
MUCH_MS = SLOW_MS * DECISIONS / 4
"""A quarter of the time in which a slow opponent thinks, should others use this machine too."""
LITTLE_MS = 15.0
UNHELD = ("--sandbox", "none")


@pytest.fixture
def bot(tmp_path):
    """Make a bot that computes off turn as told, and pauses at each question."""

    def make(how, /, pause_ms=0, token=""):
        folder = tmp_path / "bots" / how
        folder.mkdir(parents=True)
        (folder / "bot.py").write_text(BOT)
        run = json.dumps(["python3", "-S", "bot.py", how, str(pause_ms / 1000), token])
        (folder / "bot.toml").write_text(f'version = "1"\nrun = {run}\n')
        return folder

    return make


@pytest.fixture
def use(arena, records, tmp_path):
    """Play a short event; what each bot used in its matches."""

    def play(*words):
        flags = ["--game", "four-card-golf", "--deals", "1", "--out", "out"]
        arena("run", *words, *flags)
        found = {}
        for record in records(tmp_path / "out"):
            for entrant, used in zip(record["seats"], record["use"], strict=True):
                found.setdefault(entrant.partition("@")[0], []).append(used)
        return found

    return play


def off_turn(used):
    """Milliseconds a match."""
    return [match["off_turn_ms"] for match in used]


@pytest.mark.parametrize(
    ("hows", "held"),
    [(("thread", "child", "sleeper"), ()), (("child",), UNHELD)],
    ids=["confined", "none"],
)
@pytest.mark.long("computing off turn")
@pytest.mark.alone
def test_who_computes_off_turn_is_seen_and_with_freeze_can_not(
    arena, use, bot, tmp_path, hows, held
):
    """In the record, in the table, by name; and standing still costs no decision. Three at a table
    of four share what time the last one leaves them.
    """
    bots = [*(bot(how, 5 if how == "sleeper" else 0) for how in hows), bot("honest", SLOW_MS)]
    flags = *held, "--seats", str(len(bots))
    used = use(*bots, *flags)
    for how in hows:
        assert min(off_turn(used[how])) > MUCH_MS / len(hows)
    assert max(off_turn(used["honest"])) < LITTLE_MS
    table = arena("table", "out", "--format", "md").stdout
    assert "off-turn ms/match" in table
    assert len(hows) == table.count("ms of CPU a match while it wasn't asked")
    canonical = arena("table", "out", "--format", "md", "--canonical").stdout
    assert "off-turn" not in canonical
    assert "off turn" not in canonical

    (tmp_path / "out").rename(tmp_path / "loose")
    used = use(*bots, *flags, "--freeze")
    for matches in used.values():
        assert max(off_turn(matches)) < LITTLE_MS
        assert {DECISIONS} == {match["decisions"] for match in matches}
    table = arena("table", "out", "--format", "md", "--canonical").stdout
    assert "bots stand still while it isn't their turn" in table


@pytest.mark.long("computing off turn")
@pytest.mark.alone
def test_an_honest_field_has_no_column_for_it(arena, use, bot):
    """Nothing is shown where nothing is to be seen."""
    used = use(bot("honest"), bot("ponder"))
    assert max(off_turn(used["honest"] + used["ponder"])) < LITTLE_MS
    rows = json.loads(arena("table", "out", "--format", "json").stdout)["rows"]
    assert max(row["off_turn_ms"] for row in rows) < 1
    assert "off-turn" not in arena("table", "out", "--format", "md").stdout


@pytest.mark.long("computing off turn")
@pytest.mark.alone
def test_the_frozen_are_not_charged_for_the_time_they_stand_still(use, bot):
    """An opponent ponders longer than anybody else needs."""
    used = use(bot("honest"), bot("ponder", 600), "--freeze")
    assert min(match["max_ms"] for match in used["ponder"]) >= 590
    assert max(match["max_ms"] for match in used["honest"]) < 590


@pytest.mark.long("computing off turn")
@pytest.mark.alone
def test_who_has_itself_continued_is_named(arena, use, bot):
    """Outside a sandbox a timer may wake a stopped bot; what it does then is seen all the same."""
    used = use(bot("timer"), bot("honest", SLOW_MS), "--sandbox", "none", "--freeze")
    assert max(off_turn(used["timer"])) > 2 * LITTLE_MS  # of a loaded core it gets little
    assert "although it was to stand still" in arena("table", "out", "--format", "md").stdout


@pytest.mark.parametrize("held", [(), UNHELD], ids=["confined", "none"])
@pytest.mark.long("computing off turn")
def test_another_s_fault_while_it_is_frozen_ends_it_as_always(use, bot, records, held):
    """Let go on for `bye`, and killed when it doesn't leave."""
    token = uuid.uuid4().hex
    used = use(bot("child", token=token), bot("faulty", token=token), *held, "--freeze")
    assert 2 == len(used["child"])
    for record in records("out"):
        (fault,) = record["faults"]
        assert "faulty@1" == record["seats"][fault["seat"]]
    assert [] == alive(token)


@pytest.mark.parametrize(
    ("held", "end"),
    [((), signal.SIGKILL), (UNHELD, signal.SIGINT)],
    ids=["confined-SIGKILL", "none-SIGINT"],
)
@pytest.mark.long("computing off turn")
def test_the_frozen_die_with_their_event(environment, sandbox, bot, held, tmp_path, end):
    """Ctrl-C, or the kill of the whole event, in the middle of an opponent's thinking."""
    token = uuid.uuid4().hex
    bots = [bot("thread", token=token), bot("child", token=token), bot("ponder", 60_000, token)]
    words = ["run", *map(str, bots), *(held or ["--sandbox", sandbox])]
    words += ["--seats", "3", "--freeze", "--game", "four-card-golf", "--out", "out"]
    times = ["--move-time", "60s", "--match-time", "60s"]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "arena", *words, *times, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=tmp_path,
    )
    try:
        deadline = time.monotonic() + 60
        while not frozen(token, at_least=3):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        handles = [os.pidfd_open(pid) for pid in alive(token)]
        process.send_signal(end)
        if end == signal.SIGINT:
            # The first finishes the series in play, once it is heard; the second does not wait.
            while b'"note"' not in process.stdout.readline():
                assert process.poll() is None
            process.send_signal(end)
        for handle in handles:
            assert select.select([handle], [], [], 30)[0], "it survives"
            os.close(handle)
    finally:
        process.kill()
        process.communicate()
    assert [] == alive(token)


def alive(token):
    """The processes that have the token in their command line, the sandbox's own included."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if token.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
    return found


def frozen(token, at_least):
    """Whether so many processes of bots with the token are stopped while one isn't."""
    states = []
    for pid in alive(token):
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{pid}/stat").read_text()
            states.append(status.rpartition(")")[2].split()[0])
    return states.count("T") >= at_least and "S" in states
