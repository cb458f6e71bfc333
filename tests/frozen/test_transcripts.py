"""Transcripts of protocol 1, as an earlier arena wrote them: they are read, heard and fed."""

import pytest

from arena.replay.transcripts import Mark, parse_transcript, read_script
from arena.wire.messages import Act, Answer
from arena.wire.session import WireFault

from .conftest import HERE

PLACE = HERE / "transcripts"
FILES = sorted(
    path for path in PLACE.rglob("*.txt") if path.parent == PLACE or path.name[:1] != "."
)
RECORDED = [path for path in FILES if not path.name.endswith(".stderr.txt")]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.removesuffix(".txt"))
def test_a_transcript_is_read_and_heard_as_it_says(path):
    """Each line to the bot is a step; what was heard is the fault that it names, if one."""
    content = path.read_bytes()
    lines = content.decode().split("\n")
    entries = parse_transcript(content, path.name)
    to_bot = [entry.data.decode() for entry in entries if entry.mark is Mark.TO_BOT]
    assert [line[2:] + "\n" for line in lines if line.startswith("> ")] == to_bot
    read = read_script(content, path.name)
    assert len(to_bot) == len(read.steps)
    named = [line[2:] for line in lines if line.startswith("! ")]
    assert named == ([] if read.kind is None else [read.kind.value])
    for step in read.steps:
        is_last = step is read.steps[-1]
        if isinstance(step.said, WireFault):
            assert is_last
            assert read.kind is not None
        if isinstance(step.said, Answer) and isinstance(step.message, Act):
            assert (step.said.move in step.message.legal) or read.kind == "illegal"


@pytest.mark.process
@pytest.mark.parametrize(
    ("bot", "name"),
    [
        ("ann", "nine-2.seat0-ann"),
        ("bob", "golf-3.seat1-bob"),
        ("cheats", "nine-2-cheats.seat1-cheats"),
        ("crashes", "golf-2-crashes.seat0-crashes"),
        ("dice", "nine-4.seat3-dice"),
    ],
)
def test_a_recording_is_fed_to_its_bot(arena, bot, name):
    """Which answers as it did, and fails as it did."""
    arena("feed", HERE / "bots" / bot, PLACE / f"{name}.txt", "--sandbox", "none")
