"""The golden transcripts: their lines are valid, and each ends with the fault that it names.

They are read here as transcripts/README.md says, apart from the code that writes them; the bad ones
are also played by real processes.
"""

import json
import re
import sys
from pathlib import Path

import msgspec
import pytest
import trio

from arena import registry
from arena.deals import Deals, secret_from_seed
from arena.engine.match import MatchContext, play_series
from arena.engine.pipes import open_pipes
from arena.model import Bot, Entrant, FaultKind, Limits, MatchSpec, Series, Settings
from arena.wire.messages import Act, Answer, Hello, Next
from arena.wire.session import BotSession, Pending, WireFault

PROTOCOL = Path(__file__).parents[2] / "protocol"
NAMES = sorted(path.stem for path in (PROTOCOL / "transcripts").glob("*.txt"))
BAD = [name for name in NAMES if ".bad." in name]
MARKS = ("# ", "> ", "< ", "- ", ". ", "! ")

# What processes do is the same in both games. No line of a program has the sandbox kill it; what
# is wrong with the text of a line alone is no process's doing.
TEXTS = ("array", "byte-order-mark", "nested", "no-json", "no-move", "single-quotes")
TEXTS += ("two-on-a-line", "upper-case", "wrong-type")
PLAYED = [
    name
    for name in BAD
    if not name.startswith("four-card-golf") and not name.endswith(("memory", "tasks", *TEXTS))
]

# Plays a transcript's part, with the processes' part in it.
ACTOR = """
import os, signal, sys, time

lines = open(sys.argv[1], encoding="utf-8").read().split("\\n")
for line in lines:
    mark, text = line[:2], line[2:]
    if mark == "> ":
        sys.stdin.readline()
    elif mark in ("< ", "- "):
        os.write(1, text.encode() + (b"\\n" if mark == "< " else b""))
    elif mark != ". ":
        continue
    elif text.endswith(" ms"):
        time.sleep(int(text[:-3]) / 1000)
    elif text.startswith("exit"):
        sys.exit(int(text[5:]))
    elif text.startswith("signal"):
        os.kill(os.getpid(), signal.Signals[text[7:]])
    elif text == "closed":
        os.close(1)
time.sleep(60)
"""

# The other seat: the first legal move.
OTHER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "act":
        print(json.dumps({"turn": message["turn"], "move": message["legal"][0]}), flush=True)
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_transcript_has_the_format_and_its_lines_fit_their_schemas(name, transcripts, schema):
    """Every line has a mark, every line to the bot is valid; so is every line of a good bot."""
    lines = transcripts[name]
    assert lines[0].startswith("# ")
    assert lines[1].startswith('> {"type":"hello"')
    game = json.loads(lines[1][2:])["game"]
    assert name.startswith((game, "start"))
    for line in lines:
        assert line[:2] in MARKS
        if line.startswith("> "):
            message = json.loads(line[2:])
            kind = message["type"]
            schema(f"act.{game}" if kind == "act" else kind).validate(message)
            assert line[2:] == json.dumps(message, separators=(",", ":"))
        elif line.startswith("< ") and ".bad." not in name:
            message = json.loads(line[2:])
            schema("ready" if message.get("type") == "ready" else "answer").validate(message)
    faults = [line for line in lines if line.startswith("! ")]
    assert (lines[-1:] if ".bad." in name else []) == faults
    if ".bad." not in name:
        assert lines[-1] == '> {"type":"bye"}'


class Hearing:
    """A referee that hears one bot, as the README has it; what it has heard is a fault or none."""

    def __init__(self):
        self.session = BotSession(65_536)
        self.fault = None
        self.limits = None
        self.legal = None
        self.budget = 0
        self.bank = 0
        self.late = FaultKind.START

    def sent(self, text):
        message = json.loads(text)
        kind = message["type"]
        if kind == "hello":
            self.limits = message["limits"]
            self.session = BotSession(self.limits["line_bytes"])
            self.session.hello(msgspec.convert(message, Hello))
            self.budget = self.limits["start_ms"]
        elif kind in ("act", "next"):
            self.legal = message.get("legal")
            self.session.ask(msgspec.convert(message, Act if kind == "act" else Next))
            self.budget = min(message["bank_ms"], self.limits["move_ms"])
            enough = message["bank_ms"] >= self.limits["move_ms"]
            self.late = FaultKind.TIMEOUT if enough else FaultKind.BANK
            self.listen()

    def said(self, text):
        self.session.receive(text.encode())
        self.listen()

    def happened(self, text):
        starting = self.late is FaultKind.START
        if text.endswith(" ms"):
            self.budget -= int(text.removesuffix(" ms"))
            self.fault = self.late if self.budget <= 0 else None
        elif text.startswith("killed"):
            self.fault = FaultKind.MEMORY if text == "killed memory" else FaultKind.LIMIT
        else:
            self.session.end()
            assert self.session.next_event() is Pending.END
            left = FaultKind.EXIT if text in ("exit 0", "closed") else FaultKind.CRASH
            self.fault = FaultKind.START if starting else left

    def listen(self):
        event = self.session.next_event()
        if isinstance(event, WireFault):
            self.fault = event.kind
        elif isinstance(event, Answer) and self.legal and event.move not in self.legal:
            self.fault = FaultKind.ILLEGAL


@pytest.mark.parametrize("name", NAMES)
def test_a_transcript_is_heard_as_it_says(name, transcripts):
    """The bot's lines are right answers; or the last that happens is the fault that is named."""
    hearing = Hearing()
    for at, line in enumerate(transcripts[name]):
        mark, text = line[:2], line[2:]
        if mark == "! ":
            assert text == hearing.fault
            return
        follows = [later[:2] for later in transcripts[name][at + 1 :]]
        if mark == "> ":
            hearing.sent(text)
        elif mark == "< ":
            hearing.said(text + "\n")
        elif mark == "- ":
            hearing.said(text)
        elif mark == ". ":
            hearing.happened(text)
        # After a fault come only lines that the bot wrote in the same breath.
        assert hearing.fault is None or set(follows) <= {"< ", "! "}
    assert hearing.fault is None


@pytest.mark.process
@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.long("every bad transcript", quick=("play-nine.bad.crash", "play-nine.bad.flood"))
async def test_a_bad_transcript_played_by_a_real_process(name, transcripts, tmp_path):
    """A program that behaves as the transcript says is found at the fault that it names."""
    lines = transcripts[name]
    said = json.loads(lines[1][2:])
    settings = Settings(
        game=said["game"],
        turn_cap=said["rules"]["turn_cap"],
        limits=msgspec.convert(
            {key: value for key, value in said["limits"].items() if key != "series"}, Limits
        ),
    )
    entrants = ("bot0@1", "bot1@1")
    programs = (("actor.py", ACTOR), ("other.py", OTHER))
    bots = {}
    for entrant, (file, text) in zip(entrants, programs, strict=True):
        (tmp_path / file).write_text(text)
        command = [sys.executable, str(tmp_path / file)]
        path = PROTOCOL / "transcripts" / f"{name}.txt"
        bots[entrant] = Bot(
            entrant=Entrant(id=entrant, name=entrant[:4], version="1", hash=""),
            root=str(tmp_path),
            run=(*command, *([str(path)] if file == "actor.py" else [])),
        )
    context = MatchContext(
        settings=settings,
        game=registry.game(said["game"]),
        deals=Deals(secret_from_seed("protocol")),
        bots=bots,
        backend=registry.backend("none"),
    )
    match = "0123456789ab-000000-0"
    spec = MatchSpec(
        id=match, series="s", pairing="0123456789ab", deal=0, rotation=0, seats=entrants
    )
    with trio.fail_after(60):
        async with open_pipes() as table:
            series = Series(id="s", matches=(spec,))
            records = [played async for played in play_series(table, context, series)]
    (fault,) = records[0].record.faults
    assert (0, lines[-1][2:]) == (fault.seat, fault.kind)


def test_every_kind_of_fault_has_a_transcript(transcripts):
    """Each fault is shown, and in both games if it isn't one at the start."""
    shown = {transcripts[name][-1][2:] for name in BAD}
    assert {kind.value for kind in FaultKind} == shown
    played = [name.split(".", 1) for name in BAD if not name.startswith("start.")]
    by_game = {game: {what for g, what in played if g == game} for game, _ in played}
    assert by_game["play-nine"] == by_game["four-card-golf"]


def test_the_good_transcripts_show_what_their_names_say(transcripts):
    """There is a playoff, a reshuffle, a forfeit, a second match, where the name says so."""
    for name, lines in transcripts.items():
        what = name.split(".")[-1]
        text = "\n".join(lines)
        ended = [int(hole) for hole in re.findall(r'"hole_end","hole":(\d+)', text)]
        if what == "playoff":
            assert '"hole_end","hole":10' in text
            assert re.search(r'"grids":\[(\[[^]]*\],)*\[\](,\[[^]]*\])*\]', text)
        elif what == "reshuffle":
            assert '"reshuffled":true' in text
            assert re.search(r'"recycled":\[-?\d', text)
        elif what == "series":
            seats = re.findall(r'"type":"match","match":"\w+","seat":(\d)', text)
            assert seats == ["0", "1"]
        elif what == "lean":
            assert '"type":"next"' in text
        elif what in ("forfeit", "alone") and ".2." in name:
            assert '"type":"match_end"' in text
            assert [2] * (what == "forfeit") == ended[-1:]


def test_the_readme_explains_every_mark_and_every_name(protocol, transcripts):
    """The README has every mark, every event and every name of a transcript, and no others."""
    text = (protocol / "transcripts" / "README.md").read_text(encoding="utf-8")
    assert list(MARKS) == re.findall(r"^\| `(\S )` \| [^w]", text, re.MULTILINE)
    told = set(re.findall(r"`\. ((?:\d|exit|signal|closed|killed)[^`\n]*)`", text))
    happened = {
        line[2:] for lines in transcripts.values() for line in lines if line.startswith(". ")
    }
    assert {re.sub(r"\d+ ms", "N ms", t) for t in told} == {
        re.sub(r"\d+ ms", "N ms", h) for h in happened
    }
    names = {name.split(".")[-1] for name in NAMES if ".bad." not in name}
    table = text.split("## The names")[1].split("## ")[0]
    assert names == set(re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE))
