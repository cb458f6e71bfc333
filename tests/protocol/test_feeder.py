"""The feeder of protocol/transcripts, in Perl, as its README shows it."""

import re
import shutil
import subprocess
import sys

import pytest

PERL = shutil.which("perl")
pytestmark = pytest.mark.skipif(PERL is None, reason="no perl here")

BOT = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print({ready}, flush=True)
    elif message["type"] in ("act", "next"):
        turn, move = message["turn"], message.get("legal", ["draw"])[0]
        print(json.dumps({answer}), flush=True)
"""


@pytest.fixture
def feed(protocol, tmp_path):
    """Feed a transcript to a bot that is made from its answers; exit status and output."""

    def run(name, *, ready='\'{"type":"ready"}\'', answer='{"turn": turn, "move": move}'):
        bot = tmp_path / "bot.py"
        bot.write_text(BOT.replace("{ready}", ready).replace("{answer}", answer))
        path = protocol / "transcripts" / f"{name}.txt"
        done = subprocess.run(
            [PERL, protocol / "transcripts" / "feed.pl", path, sys.executable, bot],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stderr == ""
        return done.returncode, done.stdout.replace(f"{path} ", "")

    return run


@pytest.mark.parametrize("game", ["play-nine", "four-card-golf"])
@pytest.mark.parametrize("what", ["2.good", "2.lean", "2.forfeit", "3.playoff", "2.series"])
def test_a_right_bot_is_fed_to_the_end(feed, transcripts, game, what):
    """Every question is answered, whatever the recorded moves were."""
    name = f"{game}.{what}"
    questions = sum('"turn":' in line for line in transcripts[name] if line.startswith("> "))
    assert (0, f"{questions} answers, all legal\n") == feed(name)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"ready": "'My bot 1.0'"}, "line 2: not ready: My bot 1.0\n"),
        ({"answer": '{"turn": "0-0000", "move": move}'}, "line 5: not an answer to turn 1-td9m: "),
        ({"answer": '{"turn": turn}'}, "line 5: no move: "),
        ({"answer": '{"turn": turn, "move": "fly 1"}'}, "line 5: not legal: fly 1\n"),
        ({"answer": "sys.exit(0)"}, "line 5: no answer: its output has ended\n"),
    ],
)
def test_the_first_wrong_answer_is_named(feed, how, told):
    """It says in which line of the transcript, and what was wrong."""
    status, output = feed("play-nine.2.good", **how)
    assert status == 1
    assert output.startswith(told)


def test_the_readme_shows_what_it_says(feed, protocol):
    """The number of answers that the README shows is that of the transcript that it feeds."""
    text = (protocol / "transcripts" / "README.md").read_text(encoding="utf-8")
    (name,) = re.findall(r"perl \S+/feed\.pl \S+/(\S+)\.txt", text)
    (line,) = re.findall(r"`(\d+ answers, all legal)`", text)
    assert (0, line + "\n") == feed(name)


def test_the_feeder_is_short(protocol):
    """It is to be read, and to be written anew in another language."""
    assert len((protocol / "transcripts" / "feed.pl").read_text().splitlines()) <= 40
