"""`arena check` from the command line: exit codes, the report, JSON."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.bots import load
from arena.check.mistakes import Mistake
from arena.check.report import CheckResult, Finding, Report, Status
from arena.terminal.check_report import CheckDisplay

ROOT = Path(__file__).parents[2]
GOOD = Path(__file__).with_name("good.py")
BROKEN = Path(__file__).with_name("broken")
SNAPSHOT = Path(__file__).with_name("report.txt")

pytestmark = pytest.mark.process


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A cache of these tests' own."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def check(warm, tmp_path, home):
    """`check("bot", …)`: the finished command, its exit code as expected."""

    def run(*words, code, sandbox="none"):
        environment = {**os.environ, "XDG_CACHE_HOME": str(home), "COLUMNS": "80"}
        words = ("check", "--sandbox", sandbox, *words)
        done = warm(*words, cwd=tmp_path, env=environment)
        assert code == done.returncode, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def bot(tmp_path):
    """`bot("name", (old, new), …)`: a folder with the good bot, these words replaced."""

    def make(name, *changes, run='["python3", "-S", "bot.py"]'):
        folder = tmp_path / name
        folder.mkdir()
        text = GOOD.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (folder / "bot.py").write_text(text)
        shutil.copy(GOOD.with_name("light_json.py"), folder / "json.py")
        (folder / "bot.toml").write_text(f'version = "1"\nrun = {run}\n')
        return name

    return make


def test_a_good_bot_passes(check, bot):
    """Exit 0, a tick for each check, a verdict."""
    out = check(bot("good"), "--quick", "--game", "four-card-golf", code=0).stdout
    assert 18 == out.count("✓")
    assert "✗" not in out
    assert "✓ good@1: 17 passed;" in out.splitlines()[-1]


def test_the_report_of_a_mistake(check, bot):
    """Word for word; `UPDATE_SNAPSHOTS=1` writes it anew."""
    mute = ("print(json.dumps(answer), flush=True)", "print(answer, flush=True)")
    words = (bot("quotes", mute), "--game", "four-card-golf")
    lines = check(*words, code=3).stdout.splitlines()
    text = re.sub(r"after \d+ ms", "after 9 ms", "\n".join(lines)) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(text)
    assert SNAPSHOT.read_text() == text


def test_each_check_is_shown_when_it_is_done(bot, tmp_path, home):
    """Into a pipe, too: the next one has only begun."""
    os.mkfifo(tmp_path / "gate")
    gate = tmp_path / "gate"
    wait = (
        "    kind =",
        f'    if line.startswith(\'{{"type":"act\'): open({str(gate)!r})\n    kind =',
    )
    words = ["--quick", "--game", "four-card-golf", "--move-time", "60s", "--sandbox", "none"]
    checking = subprocess.Popen(
        [sys.executable, "-m", "arena", "check", bot("gated", wait), *words],
        cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with checking:
        assert "gated@1  (gated)\n" == checking.stdout.readline()
        assert "✓ starts, and answers hello" in checking.stdout.readline()
        checking.kill()


def test_where_no_terminal_is_nothing_is_cut(check, bot):
    """What was sent and what was written to stderr are there to the letter."""
    long = "  ".join(["word"] * 400)
    name = bot("raises", ('message["turn"]', f"(_ for _ in ()).throw(ValueError({long!r}))"))
    out = check(name, "--game", "play-nine", code=3).stdout
    assert f"    error     ValueError: {long}\n" in out
    assert f"              | ValueError: {long}\n" in out
    (sent,) = re.findall(r"^    sent      (.*)$", out, re.MULTILINE)
    assert json.loads(sent)["type"] == "act"


def test_a_terminal_s_width_breaks_what_is_quoted_anywhere():
    """And changes no letter of it; our own words are broken between words."""
    shown = []
    lines = CheckDisplay(shown.append, width=60, verbose=False, several=False)
    finding = Finding(
        cause=Mistake.ECHO,
        title="it writes back what it reads",
        rule="Each act (and hello) wants exactly one line.",
        section="The conversation",
        advice="Take it out.",
        sent="a  b   " * 30,
    )
    checked = CheckResult(name="x", title="t", section="s", status=Status.FAILED, finding=finding)
    lines.begin("bot@1", "bot", ["t"])
    lines.checked(checked)
    lines.report(Report(bot="bot@1", path="bot", status=Status.FAILED, checks=(checked,)))
    assert max(map(len, shown)) <= 60
    at = next(number for number, line in enumerate(shown) if line.startswith("    sent"))
    assert finding.sent == "".join(line[14:] for line in shown[at : at + 5])


@pytest.mark.parametrize("width", [10, 60])
def test_no_figure_of_a_check_is_cut(width):
    """What doesn't fit beside the title stands below, also where hardly anything fits."""
    shown = []
    lines = CheckDisplay(shown.append, width=width, verbose=False, several=False)
    title = "leaves after bye and at the end of its input"
    detail = "p50 0.0, p99 1.9, max 8.0 ms; 47.0 of 60 s a match"
    lines.begin("bot@1", "bot", [title])
    lines.checked(
        CheckResult(name="x", title="t", section="s", status=Status.PASSED, detail=detail)
    )
    assert detail == " ".join(line[50:] for line in shown[1:])


@pytest.mark.long("mistakes in nine languages")
def test_several_bots_have_a_line_each_and_details_where_one_fails(check, bot):
    """The good ones don't hide the bad one."""
    bad = bot("bad", ('"move": draw', '"action": draw'))
    words = (bot("ann"), bad, bot("bob"), "--quick", "--game", "four-card-golf")
    out = check(*words, "--jobs", "2", code=3).stdout
    said = ["✓ ann@1: 17 passed", "its answer has no `move`", "✗ bad@1: 1 f", "✓ bob@1: 17 p"]
    assert sorted(map(out.index, said)) == list(map(out.index, said))  # as they were named


@pytest.mark.long("mistakes in nine languages")
def test_strict_makes_a_warning_fail(check, bot):
    """Exit 0 without, 3 with it; the warning is told either way."""
    name = bot("dice", ('draw.seed(message["seed"])', "draw.seed()"))
    for flags, code in ((["--quick"], 0), (["--quick", "--strict"], 3)):
        out = check(name, "--game", "four-card-golf", *flags, code=code).stdout
        assert "! plays the same again with the same seed" in out


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ("run = 'python3 bot.py'", "bad/bot.toml:1: run: must be an array"),
        ('nmae = "x"', "did you mean 'name'?"),
        ("run = [", "bad/bot.toml:2:"),
        ('run = ["./bot.py"]', "chmod +x bot.py"),
        ('run = ["python3", "bto.py"]', "did you mean 'bot.py'?"),
        ('run = ["python3 bot.py"]', 'write ["python3", "bot.py"]'),
        ('version = "1', "bad/bot.toml:1:11: the string that begins here is never closed"),
        ("run = []", "bad/bot.toml:1: run: names no program"),
    ],
)
def test_what_can_t_be_entered_is_told_beside_the_others(check, bot, manifest, words, tmp_path):
    """Exit 2, with the file, the line and the field."""
    bad = bot("bad")
    (tmp_path / bad / "bot.toml").write_text(manifest + "\n")
    out = " ".join(check(bad, code=2).stdout.split())
    assert words in out


def test_the_json_report_has_its_documented_fields(check, bot, tmp_path):
    """One object, version 1: what programs may rely on."""
    name = bot("wrong", ('"move": draw', '"action": draw'))
    done = check(name, "--json", code=3)
    report = json.loads(done.stdout)
    assert {"v", "passed", "sandbox", "bots"} == set(report)
    assert (1, False, "none") == (report["v"], report["passed"], report["sandbox"])
    (one,) = report["bots"]
    assert {"bot", "path", "status", "checks", "times", "memory_mb"} == set(one)
    assert {"answers", "p50_ms", "p99_ms", "max_ms"} == set(one["times"])
    failed = [each for each in one["checks"] if each["status"] == "failed"]
    for each in one["checks"]:
        assert {"name", "title", "section", "status", "detail", "finding"} == set(each)
    assert ["answer"] == [each["name"] for each in failed]
    assert {
        "cause", "title", "found", "rule", "section", "advice",
        "sent", "received", "status", "stderr",
    } == set(failed[0]["finding"])  # fmt: skip
    assert "move-missing" == failed[0]["finding"]["cause"]
    assert json.loads(failed[0]["finding"]["sent"])["type"] == "act"


def test_no_bot_and_no_such_path_are_wrong_input(check):
    """Exit 2, and what to do."""
    assert "BOTS" in check(code=2).stderr
    assert ["✗ nowhere: does not exist"] == check("nowhere", code=2).stdout.splitlines()


def test_what_is_no_bot_is_named(check, tmp_path):
    """The file, and what would be a bot."""
    (tmp_path / "junk.txt").write_text("hello")
    done = check("junk.txt", code=2)
    assert "not bots: junk.txt (A bot is a folder with" in " ".join(done.stderr.split())


def test_the_lines_of_a_compiler_stay_as_they_are(check, bot, tmp_path):
    """It points at columns."""
    name = bot("built")
    (tmp_path / name / "bot.toml").write_text('build = ["python3", "bot.py"]\nrun = ["./x"]\n')
    (tmp_path / name / "bot.py").write_text("x = 1\nlong = [  1, 2  ; 3]\n")
    lines = check(name, code=2).stdout.splitlines()
    at = lines.index("              |     long = [  1, 2  ; 3]")
    assert re.fullmatch(r" {14}\|  +\^+", lines[at + 1])


def test_verbose_shows_lines_whole(check, bot):
    """And every check that was skipped."""
    name = bot("raises", ('message["turn"]', 'message["trun"]'))
    short = check(name, code=3).stdout
    long = check(name, "--verbose", code=3).stdout
    assert "more)…" not in short + long
    assert "KeyError: 'trun'" in short
    assert "18 more, skipped: it can't play yet" in short
    assert "it can't play yet" in long


OTHERS = ("beginner", "column-js", "quick")


@pytest.mark.parametrize("names", [("greedy",), OTHERS], ids=["whole", "quick"])
@pytest.mark.long("every example bot", quick=("whole",))
def test_example_bots_in_several_languages_pass_without_a_warning(check, names, tmp_path):
    """All checks, of those whose toolchain is here."""
    folders = [ROOT / "example_bots" / name for name in names]
    found = load(folders, cache=tmp_path / "cache").candidates
    words = ["--json", *(["--quick"] if len(names) > 1 else [])]
    reports = json.loads(check(*(bot.source for bot in found), *words, code=0).stdout)["bots"]
    assert len(found) == len(reports) > 0
    for report in reports:
        assert [] == [each for each in report["checks"] if each["status"] != "passed"]


@pytest.mark.parametrize(
    ("kind", "name", "passed"),
    [("python", "bot.py", 20), ("bash", "bot.sh", 19), ("python decent", "bot.py", 17)],
)
@pytest.mark.long("every bot of the page", quick=("python-bot.py-20",))
def test_the_page_s_own_bots_pass_without_a_warning(check, tmp_path, kind, name, passed):
    """A copied program of the specification has nothing to be mended."""
    page = (ROOT / "protocol" / "SPEC.md").read_text(encoding="utf-8")
    (tmp_path / "mine").mkdir()
    program = re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL)[1]
    (tmp_path / "mine" / name).write_text(program)
    game = ["--game", "play-nine"] if "decent" in kind else []
    done = check("mine", "--strict", "--quick", *game, code=0)
    assert f"{passed} passed" in done.stdout
