"""What a bot was told: recorded, made again from the log, and said to it once more."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from arena.engine.recorder import Recorder
from arena.replay.transcripts import Mark, parse_transcript, read_script
from arena.wire.messages import Act, Answer, Next

pytestmark = pytest.mark.process

FOLLOWER = Path(__file__).parents[2] / "bench" / "bots" / "follower"
BANK = re.compile(rb'"bank_ms":\d+')

FAULTS = {
    "crash": "crash",
    "raise": "crash",
    "exit": "exit",
    "hang": "timeout",
    "close": "exit",
    "flood": "flood",
    "nonsense": "malformed",
    "illegal": "illegal",
    "stale": "stale",
}


def told(transcript):
    """The lines to the bot, whatever time it had left."""
    entries = parse_transcript(transcript.encode(), "t")
    return [BANK.sub(b"", entry.data) for entry in entries if entry.mark is Mark.TO_BOT]


def outcomes(transcript):
    """What came of each question, and the fault."""
    read = read_script(transcript.encode(), "t")
    said = [
        step.said.move if isinstance(step.said, Answer) else None
        for step in read.steps
        if isinstance(step.message, Act | Next)
    ]
    return said, read.kind, read.status


@pytest.mark.parametrize("how", FAULTS)
@pytest.mark.long("every kind of fault", quick=("crash",))
def test_the_command_in_the_log_reproduces_the_fault(arena, environment, faults, how):
    """Every kind of fault: the line `again:` is a command that shows the same one."""
    lines = arena("log", faults["folder"], "--faults").stdout.splitlines()
    begin = f"    again: arena feed {how}@1 {faults['folder']} "
    again = [line for line in lines if line.startswith(begin)]
    assert 2 == len(again)
    words = shlex.split(again[0].removeprefix("    again: "))
    done = arena(*words[1:], env={**environment, "XDG_CACHE_HOME": faults["cache"]})
    assert f"reproduced: {FAULTS[how]}, after 4 answers as recorded" in done.stdout
    if how in ("crash", "raise"):
        assert ("signal SIGSEGV" if how == "crash" else "exit 1") in done.stdout
    if how == "raise":
        assert "my own mistake" in done.stderr


def test_the_faults_of_some_bots_alone(arena, faults):
    """By a pattern; one that fits no bot is refused."""
    for flags, of in (((), {*FAULTS}), (("--bot", "cra*"), {"crash"})):
        shown = arena("log", faults["folder"], "--faults", *flags).stdout.splitlines()
        assert of == {line.partition("@")[0] for line in shown if line[0] != " "}
    refused = arena("log", faults["folder"], "--faults", "--bot", "zed*", code=2).stderr
    assert "--bot zed*: no bot is called so" in refused


def test_a_fault_as_json_has_the_command_too(arena, faults):
    """A line a fault, with everything that the record has of it."""
    told = arena("log", faults["folder"], "--faults", "--json").stdout
    found = [json.loads(line) for line in told.split("\n") if line]
    assert sorted([*FAULTS.values()] * 2) == sorted(fault["kind"] for fault in found)
    (illegal, _) = (fault for fault in found if fault["kind"] == "illegal")
    assert illegal["again"].startswith("arena feed illegal@1 ")
    assert "again" not in arena("log", faults["folder"]).stdout


@pytest.mark.long("replays of one bot")
def test_a_mended_bot_does_not_reproduce_it(arena, faults, bot):
    """Its author's folder in place of what was entered: a note, and exit code 5."""
    records = map(json.loads, arena("log", faults["folder"]).stdout.splitlines())
    match = next(record["id"] for record in records if "raise@1" in record["seats"])
    mended = bot("raise2", name="raise")
    done = arena("feed", mended, faults["folder"], "--match", match, code=5)
    assert "is not what was entered as raise@1" in done.stderr
    assert "it answered" in done.stdout
    assert "not as recorded: there it was crash (exit 1)" in done.stdout


@pytest.mark.parametrize(
    ("game", "seats"), [("play-nine", 2), ("play-nine", 6), ("four-card-golf", 8)]
)
@pytest.mark.long("tables of every size", quick=("play-nine-2",))
def test_what_the_log_tells_is_what_was_said(arena, bot, tmp_path, game, seats):
    """A transcript from the log, fed to its bot, is answered as it was; two matches of a series."""
    bots = [bot(f"bot{n}") for n in range(seats - 2)]
    followers = {"follower": [], "lean": ["lean"]}
    for name, asks in followers.items():
        follower = tmp_path / name
        shutil.copytree(FOLLOWER, follower)
        run = ["python3", "-S", "bot.py", game, *asks]
        (follower / "bot.toml").write_text(f'version = "1"\nrun = {json.dumps(run)}\n')
    out = tmp_path / "friday"
    arena(
        *("run", *(tmp_path / name for name in followers), *bots, "--seats", seats),
        *("--game", game, "--deals", "2", "--seed", "1", "--out", out),
        *(("--sandbox", "none") if seats > 2 else ()),
    )
    records = [json.loads(line) for line in arena("log", out).stdout.splitlines()]
    assert 2 * seats == len(records)
    assert seats == len({record["seats"][0] for record in records})
    assert not any(record["faults"] for record in records)
    series = max(record["series"] for record in records)
    # As they were played: a block's deals come in another order in each of its series.
    last = [record["id"] for record in records if record["series"] == series][-1]
    for name, asks in followers.items():
        done = arena("feed", f"{name}@1", out, "--match", last)
        same, asked = re.search(r"(\d+) of (\d+) answers as recorded", done.stdout).groups()
        assert same == asked
        flags = [f"--{asked_for}" for asked_for in asks]
        text = arena("log", out, "--transcript", last, "--bot", name, *flags).stdout
        assert 2 == text.count('{"type":"match",')
        assert bool(asks) == ('"type":"next"' in text)
        if seats != 2:
            continue  # a file is a file
        file = tmp_path / "t.txt"
        file.write_text(text)
        assert arena("feed", tmp_path / name, file).stdout.startswith(f"{asked} of {asked} answers")
        lines = arena("feed", tmp_path / name, file, "--print").stdout
        assert [line for line in text.splitlines() if line.startswith("> ")] == [
            f"> {line}" for line in lines.splitlines()
        ]


@pytest.mark.parametrize(
    ("game", "how"),
    [
        *(("play-nine", how) for how in ("crash", "hang", "nonsense", "stale", "fine")),
        *(("four-card-golf", how) for how in ("raise", "exit", "close", "flood", "illegal")),
        ("four-card-golf", "fine"),
    ],
)
@pytest.mark.long(
    "every kind of fault", quick=("play-nine-crash", "play-nine-fine", "four-card-golf-fine")
)
async def test_a_recording_is_what_the_log_tells(tmp_path, built_ways, how, game):
    """Line by line, but for the time left: what passed the pipes, and what the referee repeats."""
    recorded, retold = await built_ways(how, game)
    for seat in (0, 1):
        assert told(recorded[seat]) == told(retold[seat])
        moves, kind, status = outcomes(recorded[seat])
        assert (moves, kind, status) == outcomes(retold[seat]) or how in ("flood", "stale")
        assert kind == (FAULTS.get(how) if seat == 0 else None)


@pytest.fixture
def built_ways(bot, tmp_path, tmp_path_factory):
    """A series of three matches between `how` and a calm bot, recorded; and from its records."""
    from arena import registry
    from arena.bots import build, load
    from arena.deals import Deals, secret_from_seed
    from arena.engine.match import MatchContext, play_series
    from arena.engine.recorder import open_tapped_pipes
    from arena.model import Limits, MatchSpec, Series, Settings
    from arena.replay.rebuild import rebuild_lines
    from arena.sandbox.client import Spawner

    async def play(how, game):
        cache = tmp_path_factory.mktemp("cache")
        # Its questions are counted in each match anew: only the third is long enough to fail in.
        folders = [bot("bad", how, 5), bot("calm")]
        roster = load(folders, cache=cache)
        backend = registry.backend("none")
        bots = build(roster.candidates, cache=cache, backend=backend, spawners=Spawner).bots
        settings = Settings(
            game=game, turn_cap=registry.game(game).turn_cap, limits=Limits(move_ms=300)
        )
        context = MatchContext(
            settings=settings,
            game=registry.game(game),
            deals=Deals(secret_from_seed("feed")),
            bots={each.entrant.id: each for each in bots},
            backend=backend,
        )
        ids = tuple(each.entrant.id for each in bots)
        matches = 3 if how == "fine" else 1
        series = Series(
            id="s",
            matches=tuple(
                MatchSpec(id=f"m-{n}", series="s", pairing="p", deal=n, rotation=0, seats=ids)
                for n in range(matches)
            ),
        )
        recorder = Recorder(
            tmp_path / "talk", {name: f"seat{n}-x" for n, name in enumerate(ids)}, ""
        )
        async with open_tapped_pipes(recorder.of.__getitem__) as table:
            played = [each async for each in play_series(table, context, series)]
        records = [each.record for each in played]
        for fault in records[-1].faults:
            recorder.of[ids[fault.seat]].fault(fault)
        recorder.close()
        recorded = [(tmp_path / "talk" / f"seat{n}-x.txt").read_text() for n in (0, 1)]
        again = [
            "\n".join(
                rebuild_lines(
                    records,
                    entrant,
                    settings=settings,
                    game=registry.game(game),
                    deals=context.deals,
                    lean=False,
                )
            )
            for entrant in ids
        ]
        return recorded, again

    return play


def test_another_move_is_told_and_ends_it(arena, bot, tmp_path):
    """A legal answer is no fault; what follows no longer follows from it, so it stops."""
    arena("match", bot("ann"), bot("bob"), "--record", "talk", "--sandbox", "none")
    file = tmp_path / "talk" / "seat0-ann.txt"
    text = file.read_text()
    file.write_text(re.sub(r'"seed":\d+', '"seed":1', text))
    done = arena("feed", tmp_path / "bots" / "ann", file, code=5)
    assert re.match(r"line \d+, match 1, hole 1, turn \S+: another answer: recorded '", done.stdout)
    assert "stopped (--go-on goes on)" in done.stdout


@pytest.mark.long("replays of one bot")
def test_a_command_takes_the_place_of_the_bots_own(arena, bot, tmp_path):
    """It runs in the bot's folder, and {} is the bot's own command."""
    ann = bot("ann")
    arena("match", ann, bot("bob"), "--record", "talk", "--sandbox", "none")
    done = arena("feed", ann, "talk/seat0-ann.txt", "--command", f"{sys.executable} bot.py fine 5")
    assert "answers as recorded" in done.stdout
    script = tmp_path / "tool"
    script.write_text('#!/bin/sh\nulimit -f > "$1"\nshift\nexec "$@"\n')
    script.chmod(0o755)
    done = arena("feed", ann, "talk/seat0-ann.txt", "--command", f"{script} {tmp_path}/log {{}}")
    assert "answers as recorded" in done.stdout
    assert "unlimited\n" == (tmp_path / "log").read_text()
    done = arena("feed", ann, "talk/seat0-ann.txt", "--command", "nonesuch {}", code=2)
    assert "there is no program nonesuch" in done.stderr


@pytest.fixture
def played(arena, bot, once, tmp_path):
    """An event that is played once; nobody changes it."""

    def play():
        out = tmp_path / "friday"
        bots = [bot("played-ann", name="ann"), bot("played-bob", name="bob")]
        arena("run", *bots, "--deals", "1", "--out", out, "--seed", "1")
        (match, *_) = arena("log", out).stdout.splitlines()
        return {"OUT": str(out), "ID": json.loads(match)["id"]}

    return once("played", play)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["feed", "ANN", "nowhere.txt"], "nowhere.txt: No such file"),
        (["feed", "ANN", "OUT"], "say which match: --match ID"),
        (["feed", "ANN", "bots/ann/bot.py"], "bot.py: line 2: no line of a transcript"),
        (["feed", "nobody@1", "OUT", "--match", "ID"], "nobody@1 was not in match"),
        (["feed", "ANN", "OUT", "--match", "IX"], "there is no match 'IX'; near it: "),
        (
            ["feed", "ANN", "OUT", "--match", "ID", "--attempt", "7"],
            "has no attempt 7; there are: 0",
        ),
        (["feed", "ANN", "t", "--bot", "ann"], "go with --match"),
        (["log", "OUT", "--transcript", "ID"], "--bot with one of: "),
        (["log", "OUT", "--bot", "ann"], "go with --transcript"),
        (["log", "OUT", "--json"], "--json goes with --faults"),
        (["match", "ANN"], "against itself: arena match "),
        (["match"], "name the bots"),
        (["match", "ANN", "ANN", "--deal", "0"], "--deal"),
        (["match", *["ANN"] * 7], "7 bots: play-nine is for 2 to 6"),
        (["match", "ANN", "nothere"], "nothere"),
        (["match", "ANN", "ANN", "--watch", "--json"], "both want standard output"),
        (["match", "ANN", "ANN", "--record", "bots/ann"], "it isn't empty; name a new folder"),
        (["match", "ANN", "ANN", "--hidden"], "go with --watch"),
        (["match", "nothere"], "nothere: does not exist"),
        (["log", "OUT", "--canonical", "--faults"], "take one"),
        (["log", "nowhere", "--faults"], "nowhere: there is no such folder"),
        (["feed", "ANN", "LEAN"], "of a bot that asks for `next`, and this one doesn't"),
    ],
)
def test_wrong_inputs(arena, bot, played, words, said):
    """One line that says what was wrong, and what there is."""
    lean = Path(__file__).parents[2] / "protocol" / "transcripts" / "play-nine.2.lean.txt"
    names = {"ANN": bot("ann"), "LEAN": lean, **played}
    done = arena(*(names.get(word, word) for word in words), code=2)
    assert said in done.stderr
    assert "--skip-broken" not in done.stderr
    assert all(line.startswith("arena: ") for line in done.stderr.splitlines())


def test_golden_transcripts_can_be_fed(arena, bot):
    """A bot plays otherwise than the recorded one; told to go on, feed says that all was legal."""
    golden = Path(__file__).parents[2] / "protocol" / "transcripts" / "four-card-golf.2.good.txt"
    done = arena("feed", bot("ann"), golden, "--go-on", code=5)
    assert re.search(
        r"^\d+ of \d+ answers as recorded, \d+ others, none illegal", done.stdout, re.MULTILINE
    )


def test_a_full_disk_is_one_line(arena, bot):
    """What can't be written is the machine's trouble, not a traceback."""
    words = ("match", bot("ann"), bot("bob"), "--sandbox", "none")
    done = arena(*words, code=4, stdout="/dev/full")
    assert "arena: can't go on: no space left on the disk\n" == done.stderr


@pytest.mark.long("replays of one bot")
def test_a_secret_that_is_not_there(arena, bot, tmp_path):
    """Before it is revealed only its owner can have a transcript."""
    out = tmp_path / "friday"
    arena("run", bot("ann"), bot("bob"), "--out", out, "--max-time", "1ms")
    match = json.loads((out / "matches.jsonl").read_text().splitlines()[0])["id"]
    assert "> " in arena("log", out, "--transcript", match, "--bot", "ann").stdout
    (out / "private.json").unlink()
    done = arena("log", out, "--transcript", match, "--bot", "ann", code=2)
    assert "the secret has not been revealed yet" in done.stderr


def test_a_recording_of_a_match_shows_every_byte(arena, bot, tmp_path):
    """What is no UTF-8, a line that was never ended, and stderr, each where it belongs."""
    odd = bot("odd")
    (odd / "bot.py").write_text(
        "import os, sys\n"
        "for number, line in enumerate(sys.stdin):\n"
        '    if number == 0: print(\'{"type":"ready"}\', flush=True)\n'
        "    if '\"act\"' in line:\n"
        "        os.write(2, b'\\x1b[2Jgone\\n')\n"
        "        os.write(1, b'\\xff{\\\\')\n"
        "        sys.exit(4)\n"
    )
    done = arena("match", odd, bot("ann"), "--record", "talk", "--sandbox", "none", code=3)
    assert "odd@1: crash in match-000001-0, hole 1, turn 1: died while" in done.stdout
    assert "stderr: \\x1b[2Jgone" in done.stdout
    lines = (tmp_path / "talk" / "seat0-odd.txt").read_text().splitlines()
    assert ["<\\ \\xff{\\\\", "# died while it was asked", ". exit 4", "! crash"] == lines[-4:]
    assert "\\x1b[2Jgone\n" == (tmp_path / "talk" / "seat0-odd.stderr.txt").read_text()
    assert "reproduced: crash" in arena("feed", odd, "talk/seat0-odd.txt").stdout
    done = arena("match", odd, odd, "--record", "both", "--sandbox", "none", "--json", code=3)
    told = json.loads(done.stdout)
    assert ["odd@1", "odd@1#2"] == told["seats"]
    assert {"odd@1", "odd@1#2"} == {fault["bot"] for fault in told["faults"]}
    before = (tmp_path / "talk" / "seat1-ann.txt").read_bytes()
    again = arena("match", odd, odd, "--record", "talk", "--sandbox", "none", code=2)
    assert "it isn't empty" in again.stderr
    assert before == (tmp_path / "talk" / "seat1-ann.txt").read_bytes()


def test_a_recording_of_a_stderr_without_an_end_is_capped(monkeypatch, tmp_path):
    """Its beginning, how much is left out, and its last words."""
    monkeypatch.setattr("arena.engine.recorder.STDERR_BEGIN", 10)
    monkeypatch.setattr("arena.engine.recorder.STDERR_END", 4)
    recorder = Recorder(tmp_path / "talk", {"ann@1": "seat0-ann"}, "")
    for number in range(100):
        recorder.of["ann@1"].logged(b"%03d" % number)
    file = tmp_path / "talk" / "seat0-ann.stderr.txt"
    assert "0000010020" == file.read_text()
    recorder.close()
    assert "0000010020\n[286 bytes are left out here]\n8099" == file.read_text()


def test_a_fed_bot_can_t_repaint_the_terminal(arena, bot, environment, tmp_path):
    """Its stderr is passed on in escapes, to a terminal as to a file that is looked at later."""
    ann = bot("ann")
    arena("match", ann, bot("bob"), "--record", "talk", "--sandbox", "none")
    text = (ann / "bot.py").read_text()
    words = "import sys; sys.stderr.write('\\x1b[2J\\x07owned\\tby\\r\\n\\xe9')\n"
    (ann / "bot.py").write_text(words + text)
    feed = ("feed", ann, "talk/seat0-ann.txt", "--sandbox", "none")
    assert "\\x1b[2J\\x07owned\tby\n\xe9" in arena(*feed).stderr
    ours, its = os.openpty()
    with os.fdopen(ours, "rb", 0) as screen, os.fdopen(its, "wb", 0) as terminal:
        subprocess.run(
            [sys.executable, "-P", "-m", "arena", *map(str, feed)],
            check=True, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=terminal,
        )  # fmt: skip
        shown = screen.read(4096).decode()
    assert "\\x1b[2J\\x07owned\tby\r\n\xe9" in shown
    assert "\x1b" not in shown


@pytest.mark.long("replays of one bot")
def test_bots_have_one_core_as_in_an_event(arena, bot):
    """More threads are no faster, so what is in time here is in time there."""
    ann = bot("ann")
    text = (ann / "bot.py").read_text()
    (ann / "bot.py").write_text(f"import os\nassert len(os.sched_getaffinity(0)) == 1\n{text}")
    arena("check", ann, "--quick", "--game", "four-card-golf", "--sandbox", "none")
    arena("match", ann, ann, "--record", "talk", "--sandbox", "none")
    arena("feed", ann, "talk/seat0-ann.txt", "--sandbox", "none")


@pytest.mark.long("replays of one bot")
def test_the_same_deal_has_the_same_cards_for_everybody(arena, bot):
    """The number and the seed decide, not who plays; watching and recording change nothing."""
    ann, bob = bot("ann"), bot("bob")
    first = json.loads(arena("match", ann, bob, "--json", "--deal", "7").stdout)
    again = json.loads(arena("match", ann, bob, "--json", "--deal", "7", "--record", "t").stdout)
    assert first["digest"] == again["digest"]
    other = json.loads(arena("match", ann, bob, "--json", "--deal", "7", "--seed", "x").stdout)
    assert first["holes"] != other["holes"]
    shown = arena("match", ann, bob, "--watch", "--delay", "0s", "--deal", "7").stdout
    assert shown.count(" is over: ") == len(first["holes"])
    assert "has failed" not in shown
    for seat, name in enumerate(first["seats"]):
        row = next(line for line in shown.splitlines() if re.match(rf"{name} +-?\d", line))
        assert [*[str(hole["scores"][seat]) for hole in first["holes"]]] == row.split()[1:-1]
    assert shown.count("\n  ann@1 ") == sum(
        1 for line in shown.splitlines() if line.startswith("  ann@1 ")
    )
    assert "\x1b" not in shown


@pytest.mark.long("replays of one bot")
def test_pauses_are_on_nobodys_time(arena, bot):
    """With a bank smaller than the pauses before its moves nobody runs out of time."""
    words = ["--watch", "--delay", "30ms", "--match-time", "1200ms", "--move-time", "1200ms"]
    done = arena("match", bot("ann"), bot("bob"), *words, "--game", "four-card-golf")
    moves = sum(line.startswith("  ann@1 ") for line in done.stdout.splitlines())
    assert moves * 30 > 1200
    assert "1. " in done.stdout


def test_a_failed_bot_is_played_on_for_before_the_watchers_eyes(arena, bot):
    """At a table of three the others finish."""
    bots = [bot("bad", "exit"), bot("ann"), bot("bob")]
    done = arena("match", *bots, "--watch", "--delay", "0", code=3)
    told = done.stdout.splitlines()
    fell = told.index("  bad@1 has failed, and is played on for")
    assert told[fell + 1].startswith("  bad@1 ")
    assert done.stdout.count("has failed") == 1
    assert "hole 9 is over" in done.stdout


def test_a_key_holds_the_match(bot, environment, tmp_path):
    """Held, it plays a move a key; q leaves, and the terminal is as it was."""
    words = ["match", str(bot("ann")), str(bot("bob")), "--watch", "--delay", "2s"]
    ours, its = os.openpty()
    termios.tcsetwinsize(its, (24, 80))
    before = termios.tcgetattr(its)
    watching = subprocess.Popen(
        [sys.executable, "-P", "-m", "arena", *words, "--sandbox", "none"],
        stdin=its,
        stdout=its,
        stderr=subprocess.DEVNULL,
        env={**environment, "TERM": "xterm"},
        cwd=tmp_path,
    )
    shown = b""

    def until(sign):
        nonlocal shown
        while sign not in shown:
            shown += os.read(ours, 65_536)
        shown = shown.partition(sign)[2]

    until(b"a move every 2 s")
    os.write(ours, b" ")
    until(b"paused")
    os.write(ours, b"n")
    until(b"bob@1 turns ")
    os.write(ours, b" ")
    until(b"a move every 2 s")
    os.write(ours, b"q")
    assert watching.wait(20) == 130
    assert termios.tcgetattr(its) == before
    os.close(ours)
    os.close(its)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_the_cursor_is_there_again_however_watching_ends(bot, environment, tmp_path, number):
    """Pictures hide it; Ctrl-C and a polite kill bring it back."""
    names = [str(bot("ann")), str(bot("bob"))]
    words = ["match", *names, "--watch", "--delay", "10s", "--sandbox", "none"]
    ours, its = os.openpty()
    watching = subprocess.Popen(
        [sys.executable, "-P", "-m", "arena", *words],
        stdout=its,
        stderr=subprocess.DEVNULL,
        env={**environment, "TERM": "xterm"},
        cwd=tmp_path,
    )
    os.close(its)
    shown = b""
    while b"\x1b[?25l" not in shown:
        shown += os.read(ours, 65_536)
    watching.send_signal(number)
    with suppress(OSError):  # how a terminal tells that nobody writes to it any more
        while data := os.read(ours, 65_536):
            shown += data
    os.close(ours)
    assert watching.wait(20) == (130 if number is signal.SIGINT else -number)
    assert shown.rfind(b"\x1b[?25l") < shown.rfind(b"\x1b[?25h")
