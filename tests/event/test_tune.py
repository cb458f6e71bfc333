"""Tuning a bot from the command line, with processes."""

import json
import shutil
from pathlib import Path

import pytest

import arena as library
from arena.event.progress import Progress
from arena.event.results import count_folder
from arena.event.tune import gaps_of
from arena.store import canonical_line, read_event, read_records

pytestmark = pytest.mark.process

LIGHT_JSON = Path(__file__).parents[1] / "check" / "light_json.py"
TOML = """
name = "knocker"
version = "1"
run = ["python3", "-S", "bot.py"]
[tune]
knock = { default = 5, min = 1, max = 6 }
"""

# To knock early is best among these; nothing else is decided.
BOT = """
import json, os, sys
knock = int(os.environ["ARENA_PARAM_knock"])
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "act":
        view, legal = message["view"], message["legal"]
        late = view["turns"][view["seat"]] > knock
        move = "knock" if late and "knock" in legal else "draw" if "draw" in legal else "swap 0"
        print(json.dumps({"turn": message["turn"], "move": move}), flush=True)
    elif message["type"] == "bye":
        break
"""
BRIEF = ["--game", "four-card-golf", "--sandbox", "none", "--stages", "2", "--budget", "160"]


@pytest.fixture
def knocker(tmp_path):
    folder = tmp_path / "knocker"
    folder.mkdir()
    (folder / "bot.toml").write_text(TOML)
    (folder / "bot.py").write_text(BOT)
    shutil.copy(LIGHT_JSON, folder / "json.py")
    return folder


@pytest.fixture
def tuned(arena, knocker, once, tmp_path):
    """A tuning, played once for all tests: what it printed; `copy` copies its folder."""

    def play():
        out = tmp_path / "tuned"
        words = ["tune", knocker, *BRIEF, "--seed", "3", "--effect", "20", "--out", out]
        done = arena(*words, code=6)
        return {"out": str(out), "knocker": str(knocker), "said": [done.stdout, done.stderr]}

    return once("tuned", play)


def logs(folder):
    """The canonical log of each event of a tuning."""
    return [
        sorted(canonical_line(record) for record in read_records(place, read_event(place)))
        for place in library.tuning_events(folder)
    ]


def cut_short(place):
    """Make an event one whose command was killed before it wrote the tables."""
    private = {"secret": read_event(place).secret, "sources": {}, "cache": ""}
    (place / "private.json").write_text(json.dumps(private))
    (place / "table.txt").unlink()


def test_a_tuning_ends_with_a_comparison(arena, tuned, tmp_path):
    """Stages, then a comparison whose verdict is the exit code; the setting, and how flat it is.
    Every event is verified; another start in tuning.json would have had other settings.
    """
    out, knocker = shutil.copytree(tuned["out"], tmp_path / "out"), tuned["knocker"]
    printed, told = tuned["said"]
    assert "stage-02 of 2" in told
    lines = printed.splitlines()
    (head,) = (number for number, line in enumerate(lines) if line.startswith("parameter"))
    assert lines[head].split()[:4] == ["parameter", "was", "best", "likely"]
    assert lines[head + 1].split()[:2] == ["knock", "5"]
    assert lines[-1].startswith(f"the setting: {knocker}:knock=")
    assert all(len(line) <= 80 for line in lines[head:] if not line.startswith("the setting"))

    stages = library.tuning_events(out)
    assert [place.name for place in stages] == ["stage-01", "stage-02", "comparison"]
    for entrant in read_event(stages[0]).entrants:
        assert entrant.snapshot == read_event(stages[0]).entrants[0].snapshot
    assert arena("verify", out).stdout.count("verified: ") == 3

    again = arena("resume", out, "--json", code=6)
    found = json.loads(again.stdout.splitlines()[-1])
    assert found["event"] == "tuned"
    assert lines[-1] == f"the setting: {knocker}:knock={found['setting']['knock']}"
    assert "a tuning; name one of its events" in arena("table", out, code=2).stderr

    assert (
        "holds a tuning; go on with it: arena resume"
        in arena("tune", knocker, "--out", out, code=2).stderr
    )
    cut_short(stages[0])
    log = stages[1] / "matches.jsonl"
    before, lines = logs(out), log.read_bytes()
    log.write_bytes(lines.replace(b"1", b"2", 1))
    assert "damaged" in arena("resume", out, code=2).stderr
    assert (stages[0] / "table.txt").exists()
    arena("resume", out, "--repair", code=6)
    assert logs(out) == before
    assert arena("verify", out).stdout.count("verified: ") == 3

    asked = out / "tuning.json"
    asked.write_text(asked.read_text().replace('"start":{}', '"start":{"knock":"1"}'))
    assert "its bots are not those that follow" in arena("verify", out, code=2).stderr


def test_a_bot_that_is_as_good_as_it_gets(arena, knocker, tmp_path):
    """If the best setting found is the old one, nothing is compared; the exit code says so."""
    words = ["tune", knocker, *BRIEF, "--seed", "4", "--out", tmp_path / "out"]
    done = arena(*words, code=8)
    last = "the best setting found is that of knocker@1: nothing to compare"
    assert done.stdout.splitlines()[-1] == last
    assert not (tmp_path / "out" / "comparison").exists()


class _Stops(Progress):
    """Stops the second event after some matches."""

    def open_event(self, event, folder):
        super().open_event(event, folder)
        self.second = folder.name == "stage-02"

    def match(self, record):
        super().match(record)
        if self.second:
            self.stop(at_once=True)

    def finish(self, outcome):
        self.resume = outcome.resume


@pytest.mark.long("tunings that are stopped")
def test_a_stopped_tuning_goes_on_as_if_it_had_not_been(knocker, tuned, tmp_path):
    """The command names the tuning; what follows is what would have followed."""
    search = library.TuneOptions(budget=160, stages=2)
    event = library.EventOptions(game="four-card-golf", seed="3")
    trial = library.TrialOptions(effect=20.0)
    options = library.RunOptions(sandbox="none", jobs=1)
    progress = _Stops()
    cut = library.tune(
        knocker,
        tmp_path / "cut",
        search=search,
        event=event,
        trial=trial,
        options=options,
        progress=progress,
    )
    assert (cut.new, cut.outcome.complete) == (None, False)
    assert progress.resume == f"arena resume {tmp_path / 'cut'} --sandbox none"
    assert len(library.tuning_events(tmp_path / "cut")) == 2
    ended = library.resume_tuning(tmp_path / "cut", options=options)
    found = f":knock={ended.new.setting['knock']}"
    assert tuned["said"][0].endswith(f"the setting: {tuned['knocker']}{found}\n")
    assert logs(tmp_path / "cut") == logs(Path(tuned["out"]))


def test_a_panel_meets_every_setting(knocker, bot, tmp_path):
    """Its bots play the settings and not each other; wins and losses do, too."""
    found = library.tune(
        knocker,
        tmp_path / "out",
        against=[bot("one", name="one"), bot("two", name="two")],
        search=library.TuneOptions(budget=110, stages=1),
        event=library.EventOptions(game="four-card-golf", seed="1", rate_on="results"),
        trial=library.TrialOptions(effect=20.0, budget=40),
        options=library.RunOptions(sandbox="none"),
    )
    assert found.new is not None
    event, counting = count_folder(tmp_path / "out" / "stage-01")
    gaps = gaps_of(event, counting.counted().tally)
    pairs = [{gap.one, gap.two} for gap in gaps]
    assert {"one@1", "two@1"} not in pairs
    assert sum("one@1" in pair for pair in pairs) == len(event.entrants) - 2
    assert all(abs(gap.strokes) <= 1.2533 * event.settings.rating.event_sd for gap in gaps)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["greedy"], "its bot.toml names no parameters; write a [tune] there"),
        (["knocker:knok=1"], "it has no such parameter; it has: knock"),
        (["knocker:knock=9"], "knock: 9 is not between 1 and 6"),
        (["knocker", "--budget", "20"], "a deal for each pair in all 10 stages has 720 matches"),
        (["knocker", "--against", "knocker:knock=1"], "its settings meet the bot anyway"),
        (["knocker", "--stages", "0"], "--stages"),
        (["knocker", "--live"], "--live goes with a single event"),
        (["knocker", "--beacon", "x"], "--beacon goes with a single event"),
        (["nowhere"], "does not exist"),
    ],
)
def test_wrong_input_is_one_line(arena, knocker, monkeypatch, words, what):
    """What was wrong, and what to do; no folder is left."""
    monkeypatch.chdir(knocker.parent)
    done = arena("tune", *words, code=2)
    assert what in done.stderr
    assert not (knocker.parent / "arena-results").exists()


def test_what_a_killed_tune_has_left_is_no_obstacle(arena, knocker, tmp_path):
    """It was killed while it wrote tuning.json: the same command begins."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".tuning.json.new").write_text('{"format":')
    words = ["tune", knocker, "--budget", "20", "--out", tmp_path / "out"]
    assert "choose a larger budget" in arena(*words, code=2).stderr


def test_a_damaged_tuning_is_named(arena, tmp_path):
    """As every damaged file; also one that some other program wrote."""
    asked = tmp_path / "tuning.json"
    asked.write_text("{}")
    assert "damaged, or of a newer arena" in arena("resume", tmp_path, code=2).stderr
    one = {"name": "x", "low": 0, "high": 0, "default": 0}
    bot = {"id": "x@1", "name": "x", "version": "1", "hash": "0" * 64}
    rest = {"panel": [], "sources": {}, "event": {}, "trial": {}, "tune": {}, "seed": "s"}
    whole = {"bot": bot, "parameters": [one], "start": {}, **rest}
    asked.write_text(json.dumps(whole))
    assert "x needs low < high" in arena("resume", tmp_path, code=2).stderr
    asked.write_text(json.dumps({**whole, "parameters": [], "start": {"y": "1"}}))
    assert "tuning.json: y=1: its bot.toml names no parameters" in (
        arena("verify", tmp_path, code=2).stderr
    )
    assert "--live goes with" in arena("resume", tmp_path, "--live", code=2).stderr
