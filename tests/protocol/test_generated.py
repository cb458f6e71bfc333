"""The contract's generated files are what the code says, and its transcripts hold."""

import importlib.util
import json
import re
from pathlib import Path

import jsonschema
import pytest

from arena.model import Limits
from arena.wire.messages import Act, Answer, Hello, Next, Ready
from arena.wire.session import BotSession, WireFault

PROTOCOL = Path(__file__).parents[2] / "protocol"


@pytest.fixture(scope="module")
def generate():
    """The generator, loaded from its path: the folder is no package."""
    spec = importlib.util.spec_from_file_location("generate", PROTOCOL / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def transcripts():
    """Every golden transcript."""
    return sorted((PROTOCOL / "transcripts").glob("*.txt"))


def schema(name):
    """A validator for one message."""
    return jsonschema.Draft202012Validator(
        json.loads((PROTOCOL / "schema" / f"{name}.json").read_text())
    )


def test_generated_files_have_not_drifted(generate):
    """What lies in the folder is what the generator writes, and nothing else lies there."""
    expected = generate.files()
    for name, text in expected.items():
        assert text == (PROTOCOL / name).read_text(encoding="utf-8"), name
    found = {
        str(path.relative_to(PROTOCOL))
        for folder in ("schema", "vectors", "transcripts")
        for path in (PROTOCOL / folder).iterdir()
    }
    assert set(expected) == found


@pytest.mark.parametrize("path", transcripts(), ids=lambda path: path.stem)
def test_a_transcript_s_lines_fit_their_schemas(path):
    """Every line to the bot is valid; so is every good answer."""
    lines = path.read_text(encoding="utf-8").splitlines()
    game = json.loads(next(line for line in lines if line.startswith("> "))[2:])["game"]
    for line in lines:
        if line.startswith("> "):
            message = json.loads(line[2:])
            kind = message["type"]
            schema(f"act.{game}" if kind == "act" else kind).validate(message)
        elif line.startswith("< ") and ".bad." not in path.name:
            message = json.loads(line[2:])
            schema("ready" if "type" in message else "answer").validate(message)


@pytest.mark.parametrize("path", transcripts(), ids=lambda path: path.stem)
def test_a_transcript_replays_through_the_session(path):
    """Feeding the bot's lines gives legal answers, or at the end the fault that is named."""
    session = BotSession(Limits().line_bytes)
    fault, legal, ended = None, (), ""
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, text = line[:2], line[2:]
        if mark == "> ":
            message = json.loads(text)
            if message["type"] == "hello":
                session.hello(_decode(Hello, message))
            elif message["type"] == "act":
                legal = message["legal"]
                session.ask(_decode(Act, message))
                # A line too many waits here for the next question.
                fault = _fault(session, legal) or fault
            elif message["type"] == "next":
                legal = None
                session.ask(_decode(Next, message))
        elif mark == "< ":
            session.receive(text.encode() + b"\n")
            fault = _fault(session, legal) or fault
        elif mark == "! ":
            ended = text
    assert ended == (fault or "")


def _decode(kind, message):
    import msgspec

    return msgspec.convert(message, kind)


def _fault(session, legal):
    event = session.next_event()
    if isinstance(event, WireFault):
        return event.kind.value
    if isinstance(event, Answer) and legal is not None and event.move not in legal:
        return "illegal"
    assert not isinstance(event, Ready) or not legal
    return None


def test_the_specification_s_limits_are_the_defaults():
    """The one table of limits states the values in force."""
    text = (PROTOCOL / "SPEC.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", text, re.MULTILINE))
    limits = Limits()
    for name in Limits.__struct_fields__:
        assert int(table[name]) == getattr(limits, name), name
    assert "25" == table["series"]


def test_the_specification_s_first_bot_plays_every_transcript(tmp_path):
    """The program on the page answers what a bot is asked, legally, and leaves at the end."""
    import subprocess
    import sys

    text = (PROTOCOL / "SPEC.md").read_text(encoding="utf-8")
    program = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    (tmp_path / "bot.py").write_text(program)
    for path in transcripts():
        if ".good." not in path.name:
            continue
        lines = [
            line[2:]
            for line in path.read_text(encoding="utf-8").splitlines()
            if line.startswith("> ")
        ]
        done = subprocess.run(
            [sys.executable, tmp_path / "bot.py"],
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        ready, *answers = map(json.loads, done.stdout.splitlines())
        questions = [m for m in map(json.loads, lines) if m["type"] == "act"]
        assert {"type": "ready"} == ready
        assert [q["turn"] for q in questions] == [a["turn"] for a in answers]
        assert all(a["move"] in q["legal"] for q, a in zip(questions, answers, strict=True))
