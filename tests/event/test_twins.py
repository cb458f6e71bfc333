"""`arena twins` with real programs: what they are asked again, and which pairs are listed."""

import json
import shutil
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.bots import default_cache, load
from arena.cli import commands
from arena.event.poll import TRIES, PollTerms, choose_courses, poll_bots
from arena.event.workshop import Workshop
from arena.model import Limits
from arena.store import read_event

pytestmark = pytest.mark.process

DESIGNED = Path(__file__).parents[2] / "bench" / "bots" / "designed"

BOT = """
import json, os, sys, time

how = sys.argv[1]
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        if how == "mute":
            time.sleep(60)
        print(json.dumps({"type": "ready", "lean": how == "lean"}), flush=True)
    elif kind == "match":
        seed = message["seed"]
    elif kind in ("act", "next"):
        asked += 1
        legal = message.get("legal", ["draw"])
        move = legal[seed % len(legal) if how == "lot" else 0]
        if how == "illegal" and asked == 3:
            move = "fly 3"
        if how == "crash" and asked == 5:
            os.kill(os.getpid(), 11)
        if how == "hang" and asked == 5:
            time.sleep(60)
        print(json.dumps({"turn": message["turn"], "move": move}), flush=True)
"""


def bot(folder, how, source=BOT, **files):
    """A program, and what lies beside it."""
    place = folder / how
    place.mkdir(parents=True)
    (place / "bot.py").write_text(source)
    for name, text in files.items():
        (place / f"{name}.json").write_text(text)
    (place / "bot.toml").write_text(f'version = "1"\nrun = ["python3", "-S", "bot.py", "{how}"]\n')
    return place


@pytest.mark.long("bots that say nothing", quick=("brisk",))
@pytest.mark.parametrize(
    ("names", "limits"),
    [
        (("steady", "lean", "lot", "illegal", "crash"), Limits(move_ms=10_000, start_ms=20_000)),
        (("hang", "mute"), Limits(move_ms=2_000, start_ms=4_000)),
    ],
    ids=["brisk", "silent"],
)
def test_every_question_has_an_answer_or_none(names, limits, tmp_path, play_event, monkeypatch):
    """Of a bot that fails the rest of a match is empty; it is given up after some failures."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = play_event(tmp_path / "event", turn_cap=3, limits=limits)
    event, notes = read_event(folder), []
    courses = choose_courses(folder, event, notes.append)
    assert 2 == len(courses)
    roster = load([bot(tmp_path / "bots", name) for name in names], cache=default_cache())
    workshop = Workshop(event.settings, notes.append, folder, sandbox="none")
    bots, _ = workshop.enter(roster)
    given = poll_bots(bots, PollTerms(event.settings, courses, "none", 30.0), 2)
    found = dict(zip(names, given, strict=True))
    numbers = [len(course.turns) for course in courses]
    for answers in found.values():
        assert {sum(numbers)} == {len(answers.first), len(answers.second)}
    first = [next(iter(turn.regrets)) for course in courses for turn in course.turns]
    if "steady" in names:
        assert (first, first) == found["steady"]
        assert found["steady"].first.count("draw") < found["lean"].first.count("draw")
        assert found["lot"].first != found["lot"].second
        assert [*first[:2], "", *first[3:]] == found["illegal"].first
    else:
        assert not any(found["mute"].first)
    one, two = found["crash" if "crash" in names else "hang"]
    # The first match of both askings, and the first of the second match; then it is given up.
    begun = (one[: numbers[0]], two[: numbers[0]], one[numbers[0] :], two[numbers[0] :])
    assert TRIES == sum(bool(part[0]) for part in begun)
    assert [*first[:4], *[""] * (numbers[0] - 4)] == begun[0] == begun[1]


def test_of_a_bot_whose_time_is_over_little_is_known(tmp_path, play_event, monkeypatch):
    """What it has answered by then counts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = play_event(tmp_path / "event", turn_cap=3)
    event = read_event(folder)
    courses = choose_courses(folder, event, print)
    workshop = Workshop(event.settings, print, folder, sandbox="none")
    bots, _ = workshop.enter(load([bot(tmp_path / "bots", "steady")], cache=default_cache()))
    [answers] = poll_bots(bots, PollTerms(event.settings, courses, "none", 0.0), 1)
    assert sum(len(course.turns) for course in courses) == len(answers.first)
    assert not any(answers.second)


def test_a_poll_that_is_interrupted_asks_nobody_to_the_end(tmp_path, play_event, monkeypatch):
    """A bot that is silent would have 50 s to start."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = play_event(tmp_path / "event", turn_cap=3, limits=Limits(start_ms=50_000))
    event = read_event(folder)
    courses = choose_courses(folder, event, print)
    workshop = Workshop(event.settings, print, folder, sandbox="none")
    roster = load([bot(tmp_path / "bots", how) for how in ("mute", "steady")], cache=workshop.cache)
    mute, steady = workshop.enter(roster)[0]
    given = poll_bots([steady, mute], PollTerms(event.settings, courses, "none", 60.0), 2)
    assert any(next(given).first)
    begun = time.monotonic()
    given.close()
    assert time.monotonic() - begun < 20


def refused(*words):
    """The line of a command with wrong input."""
    done = CliRunner().invoke(commands, ["twins", *map(str, words)])
    assert (2, "") == (done.exit_code, done.stdout), done.output
    return done.stderr


def test_wrong_input_is_a_line(tmp_path, play_event, monkeypatch):
    """What was wrong, where, what to do."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = play_event(tmp_path / "event", turn_cap=3)
    assert "nowhere" in refused(tmp_path / "nowhere")
    assert "no bot 'zoe' takes part" in refused(folder, "--bot", "zoe")
    lost = refused(folder, "--sandbox", "none")
    assert f"has lost them, name their folders: arena twins {folder} BOTS..." in lost
    stranger = refused(folder, bot(tmp_path, "steady"), "--sandbox", "none")
    assert "its content is no bot's of this event" in stranger
    assert "--max-time" in refused(folder, "--max-time", "5")
    empty = play_event(tmp_path / "empty", turn_cap=3)
    (empty / "matches.jsonl").write_bytes(b"")
    (empty / "matches.index").unlink(missing_ok=True)
    assert "no match has been played there yet" in refused(empty)


@pytest.fixture(scope="module")
def students(tmp_path_factory):
    """Programs of four: one, the same in other words, one of its own design, a plain scaffold."""
    import sys

    sys.path.insert(0, str(DESIGNED))
    try:
        import designs
    finally:
        sys.path.remove(str(DESIGNED))
    own = designs.scaffold() | {
        "tee": "3 7", "take": "ahead", "counts": True, "hope": 2.0, "ties": "column",
        "flip": "beside-low", "skip": ("above", 8),
    }  # fmt: skip
    other = designs.scaffold() | {
        "tee": "0 4", "take": "card", "limit": 4, "place": "rules", "above": 2, "flip": "last",
        "skip": ("behind", 1),
    }  # fmt: skip
    folder = tmp_path_factory.mktemp("students")
    source = (DESIGNED / "bot.py").read_text()
    reworded = (
        source.replace("saving", "gain").replace("hidden", "closed").replace("'closed", "'hidden")
    )
    reworded = reworded.replace('"closed"', '"hidden"').replace("beside-closed", "beside-hidden")
    small = {**own, "ties": "open"}
    return [
        bot(folder, "ann", source, design=json.dumps(own)),
        bot(folder, "bob", reworded, design=json.dumps(small)),
        bot(folder, "cyd", source, design=json.dumps(other)),
        bot(folder, "dan", source, design=json.dumps(designs.scaffold())),
    ]


@pytest.mark.long("twins among real programs")
def test_a_reworded_copy_is_listed_with_its_evidence(
    arena, environment, students, tmp_path, monkeypatch
):
    """And nobody else; each moment's command works, and the text says what it can't tell."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("arena.api.twins.EXAMPLES", ("beginner",))
    answers = {}

    def ask_once(bots, terms, jobs):
        new = {bot.entrant.hash: bot for bot in bots if bot.entrant.hash not in answers}
        given = poll_bots(list(new.values()), terms, jobs) if new else ()
        answers.update(zip(new, given, strict=True))
        return [answers[bot.entrant.hash] for bot in bots]

    monkeypatch.setattr("arena.api.twins.poll_bots", ask_once)

    def twins(*flags):
        words = ["twins", "out", "--sandbox", "none", "--max-time", "10m", *map(str, flags)]
        done = CliRunner(env=environment).invoke(commands, words)
        assert not done.exit_code, done.output
        return done.stdout

    arena("run", *students, "--deals", 1, "--seed", "a", "--out", "out")
    found = json.loads(twins("--json"))
    [pair] = found["pairs"]
    assert ["ann@1", "bob@1"] == pair["bots"]
    assert pair["same"] > 0.9 * pair["telling"] > 2 * pair["expected"]
    assert 6 == found["compared"]
    assert {1.0} == {each["as_recorded"] for each in found["bots"]}
    dan = found["bots"][3]
    assert ("arena's scaffold", True) == (dan["recipe"], dan["near"])
    text = twins()
    assert "ann@1 + bob@1" in text
    assert "These bots play a recipe, or nearly: dan@1 (arena's scaffold" in text
    assert "evidence, not a verdict" in text
    assert max(map(len, text.splitlines())) <= 80
    moment = pair["moments"][0]
    where = (moment["match"], "--hole", moment["hole"], "--move", moment["move"])
    assert f"arena replay out {' '.join(map(str, where))}" in text
    arena("replay", "out", *where, "--print")
    starter = tmp_path / "starter"
    shutil.copytree(students[0], starter)
    assert [] == json.loads(twins("--json", "--recipe", starter))["pairs"]
