"""Every new bot as a program: what the protocol asks of it, whatever the lines look like."""

import fcntl
import json
import os
import select
import struct
import subprocess
import termios
import time

import pytest

from arena import registry
from arena.deals import Deals, secret_from_seed
from arena.engine.match import MatchContext, play_series
from arena.engine.pipes import open_pipes
from arena.model import MatchSpec, Series, Settings
from arena.scaffolds import SCAFFOLDS

pytestmark = pytest.mark.process

LANGUAGES = sorted(SCAFFOLDS)
OTHERS = ("bash", "c", "java", "javascript")
FIRST = tuple(language for language in LANGUAGES if language not in OTHERS)
"""Half of the languages: what is shown of each of them is shown with either game and table."""
EITHER_GAME = pytest.mark.parametrize(
    ("short", "language"),
    [
        (f"{game}.2.good.txt", each)
        for each, game in zip(LANGUAGES, 4 * ("play-nine", "four-card-golf"), strict=True)
    ],
    indirect=["short"],
)
WAIT_S = 20
"""For an answer on a busy machine; a right bot never takes that long."""

# What a later version may add. Bash looks for text, so it gets what the protocol promises: names
# that are nowhere in use.
PLAIN_NEWS = {"news": 5, "more": [1, 2], "note": "é", "deep": {"a": [[], {}]}}
# For readers of JSON: the names of other fields, where a careless one trips.
NEWS = {
    "news": {
        "type": "bye",
        "turn": 'a "quote" ] } \\',
        "legal": ["no", ["take 0", {"grids": [[7]]}]],
        "grids": [[7]],
        "é": "\u20ac \U0001f600 \u2028 \x7f \b\f\n\r\t / \u0001",
        "numbers": [1.5e3, -0.25, 2e-7, 0, True, False, None, {}, [], ""],
    }
}


def answers(start, lines):
    """All answers to these lines, which end the input; the bot must leave with status 0."""
    done = subprocess.run(
        **start, check=False, input=b"".join(lines), capture_output=True, timeout=60
    )
    assert b"" == done.stderr
    assert 0 == done.returncode
    return [json.loads(line) for line in done.stdout.splitlines()]


def compact(message):
    """A line as the referee writes it."""
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def with_news(message, news):
    """A message with unknown fields before and after its own, and in its view."""
    inner = {"view": news | message["view"] | {"later": news}} if "view" in message else {}
    return {"type": message["type"], **news, **message, **inner, "later": news}


def spacious(message):
    """The same with white space wherever JSON allows it, but a newline, and all escaped."""
    news = NEWS | {"halves": ["\ud83d", "\ude00", "\ud83d\u0041"]}
    text = json.dumps(with_news(message, news), separators=("\t , ", " :\t "))
    for name in ("type", "legal", "view", "drawn"):
        text = text.replace(f'"{name}"', f'"\\u{ord(name[0]):04X}{name[1:]}"')
    return f"  {text} \t\n".encode()


@pytest.mark.parametrize(
    ("heard", "language"),
    [
        *(
            (name, each)
            for each in FIRST
            for name in ("play-nine.2.good.txt", "four-card-golf.8.good.txt")
        ),
        *(
            (name, each)
            for each in OTHERS
            for name in ("play-nine.6.good.txt", "four-card-golf.2.good.txt")
        ),
    ],
    indirect=["heard"],
)
@pytest.mark.long(
    "every scaffold",
    quick=(
        "four-card-golf.2.good.txt-bash",
        "four-card-golf.2.good.txt-c",
        "four-card-golf.2.good.txt-javascript",
        "play-nine.2.good.txt-python",
    ),
)
def test_plays_the_transcripts_by_its_policy(command, heard, policy, language):
    """Every question of a whole match gets one legal answer: the same policy in all languages."""
    ready, *given = answers(command(language), map(compact, heard))
    asked = [message for message in heard if message["type"] == "act"]
    assert {"type": "ready"} == ready
    assert [question["turn"] for question in asked] == [answer["turn"] for answer in given]
    for question, answer in zip(asked, given, strict=True):
        assert answer["move"] in question["legal"]
        assert answer["move"] in policy(heard[0]["game"], question)


@EITHER_GAME
@pytest.mark.long(
    "every scaffold", quick=("play-nine.2.good.txt-python", "four-card-golf.2.good.txt-c")
)
def test_lines_that_mean_the_same_get_the_same_answers(command, short, language):
    """Again; with CR LF; with unknown fields and messages; in any JSON, where it has a reader."""
    start = command(language)
    plain = answers(start, map(compact, short))
    assert plain == answers(start, map(compact, short))
    assert plain == answers(start, [compact(message)[:-1] + b"\r\n" for message in short])
    news = PLAIN_NEWS if language == "bash" else NEWS
    changed = [compact(with_news(message, news)) for message in short]
    changed[1:1] = [compact({"type": "surprise", "turn": 5, "view": "none", "act": ["act"]})]
    assert plain == answers(start, changed)
    if language != "bash":
        assert plain == answers(start, map(spacious, short))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.long("every scaffold", quick=("play-nine.2.good.txt-python",))
def test_depends_on_the_seed(command, short, language):
    """Another seed, other lots: the seed is really used."""
    start = command(language)

    def moves(seed):
        lines = [message | {"seed": seed} if "seed" in message else message for message in short]
        return [answer.get("move") for answer in answers(start, map(compact, lines))]

    if short[0]["game"] == "four-card-golf":
        assert moves(1) == moves(2**31 - 1)  # nothing there is left to chance
    else:
        assert moves(1) != moves(2**31 - 1)


@EITHER_GAME
@pytest.mark.long(
    "every scaffold", quick=("play-nine.2.good.txt-python", "play-nine.2.good.txt-bash")
)
def test_leaves_at_the_end_of_input(command, short, language):
    """Without bye, a bot leaves with status 0 when its input ends, even before it has begun."""
    assert [] == answers(command(language), [])
    assert [{"type": "ready"}] == answers(command(language), [compact(short[0])])


def write_in_pieces(pipe, data, deadline):
    """Write a line in three parts, each after the bot has read what came before."""
    for piece in (data[:1], data[1 : len(data) // 2], data[len(data) // 2 :]):
        pipe.write(piece)
        pipe.flush()
        while struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4)) != (0,):
            assert time.monotonic() < deadline
            os.sched_yield()


@EITHER_GAME
@pytest.mark.long(
    "every scaffold", quick=("play-nine.2.good.txt-python", "play-nine.2.good.txt-bash")
)
def test_answers_at_once_lines_that_come_in_pieces(command, short, language):
    """A bot reads no further than the line, puts pieces together, and flushes every answer."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(**command(language), **pipes, bufsize=0) as process:
        for message in short[:12]:
            deadline = time.monotonic() + WAIT_S
            write_in_pieces(process.stdin, compact(message), deadline)
            if message["type"] in {"hello", "act"}:
                line = b""
                while not line.endswith(b"\n"):
                    left = deadline - time.monotonic()
                    assert select.select([process.stdout], [], [], max(0, left))[0], "no answer"
                    line += os.read(process.stdout.fileno(), 4096)
                assert message.get("turn") == json.loads(line).get("turn")
        process.stdin.write(compact({"type": "bye"}))
        assert b"" == process.stdout.read()
        assert 0 == process.wait(WAIT_S)


async def played(bots, sandbox, game, seats):
    """The record of one match between them."""
    settings = Settings(game=game, seats=seats, turn_cap=registry.game(game).turn_cap)
    context = MatchContext(
        settings=settings,
        game=registry.game(game),
        deals=Deals(secret_from_seed("scaffolds")),
        bots=bots,
        backend=registry.backend(sandbox),
    )
    spec = MatchSpec(id="m", series="s", pairing="p", deal=1, rotation=0, seats=tuple(bots))
    async with open_pipes() as table:
        series = Series(id="s", matches=(spec,))
        records = [played async for played in play_series(table, context, series)]
    (one,) = records
    return one.record


@pytest.mark.parametrize(
    ("language", "game", "seats"),
    [
        *((each, "play-nine", 6) for each in ("bash", "c")),
        *((each, "play-nine", 2) for each in ("java", "javascript")),  # which take long to start
        *((each, "four-card-golf", 2) for each in OTHERS),
        *((each, *table) for each in FIRST for table in (("play-nine", 2), ("four-card-golf", 8))),
    ],
)
@pytest.mark.long(
    "every scaffold", quick=("bash-four-card-golf-2", "python-play-nine-2", "c-play-nine-6")
)
async def test_plays_whole_matches_in_the_sandbox(seated, sandbox, language, game, seats):
    """Built and run as in an event, within the default limits; either game's largest table, too."""
    record = await played(seated(language, sandbox, seats), sandbox, game, seats)
    assert () == record.faults
    assert 9 == len(record.holes)


@pytest.mark.parametrize("language", ["bash", "c", "go", "python"])
@pytest.mark.long("every scaffold", quick=("python", "c"))
async def test_is_built_and_plays_without_namespaces(seated, backend, language):
    """The same where the machine refuses them."""
    backend("landlock")
    record = await played(seated(language, "landlock", 2), "landlock", "play-nine", 2)
    assert () == record.faults


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.long("every scaffold", quick=("play-nine.2.good.txt-python",))
def test_is_better_than_random(command, short, policy, language):
    """It takes what saves strokes: a low card is never drawn past, a high one never taken."""
    game = short[0]["game"]
    view = {"seat": 0, "phase": "turn", "discard": 1, "drawn": None, "ended_by": None, "stock": 60}
    view |= {"order": [1, 0], "pile": [1], "recycled": [], "turns": [1, 1]}
    size = 8 if game == "play-nine" else 4
    view["grids"] = [[12] * (size // 2) + [None] * (size // 2)] * 2
    view |= {} if game == "play-nine" else {"known": ["oonn"] * 2}
    legal = [f"take {place}" for place in range(size)] + ["draw"]
    question = {"type": "act", "turn": "1-a", "hole": 1, "view": view, "legal": legal}
    dear = question | {"view": view | {"discard": 12 if size == 4 else 11}}
    lines = [short[0], short[1], question, dear, {"type": "bye"}]
    _, low, high = answers(command(language), map(compact, lines))
    assert "take 0" == low["move"]
    assert "draw" == high["move"]
    assert {"take 0"} == policy(game, question)
