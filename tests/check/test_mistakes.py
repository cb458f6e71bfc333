# ruff: noqa: E501, ISC004, Q003 - programs as text
"""Every mistake gets its own name: a good bot with one thing wrong, and small wrong bots.

What is wrong with a line alone is found by a function: `test_diagnosis.py`.
"""

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from arena.bots.interpreters import MissingToolError, Toolbox
from arena.check.checks import CHECKS
from arena.check.matches import DEALS
from arena.check.mistakes import Mistake
from arena.check.packages import imports
from arena.check.report import Status
from arena.model import Limits

pytestmark = pytest.mark.process

FOLDER = Path(__file__).with_name("broken")
BROKEN = sorted(path for path in FOLDER.glob("*.*") if path.is_file() and path.suffix != ".toml")
READY = "print(json.dumps(ready), flush=True)"
ANSWER = "print(json.dumps(answer), flush=True)"
LOOP = "for line in sys.stdin:"
DONE = 'elif kind == "match_end":\n        pass'
HOLE = 'elif kind == "hole_end":\n        pass'
MATCH = 'draw.seed(message["seed"])'

MISTAKES = {
    # what is wrong: (changes, the mistake, words of the report)
    "not flushed": ([(ANSWER, "print(json.dumps(answer))")], Mistake.BUFFERED, "flush=True"),
    "never ready": ([(READY, "pass")], Mistake.NO_ANSWER, "recognises"),
    "wrong type": ([('kind == "act"', 'kind == "ACT"')], Mistake.NO_ANSWER, "without an answer"),
    "reads blocks": (
        [(LOOP, "for line in iter(lambda: sys.stdin.read(8192).split('\\n')[0], ''):")],
        Mistake.READS_AHEAD,
        "reads ahead",
    ),
    "a line late": (
        [(LOOP, "lines = iter(sys.stdin)\nold = next(lines)\nfor new in lines:\n    line, old = old, new")],
        Mistake.WANTS_LINE,
        "one more line",
    ),
    "reads all": ([(LOOP, "for line in sys.stdin.readlines():")], Mistake.BUFFERED, "to its end"),
    "no newline": (
        [(ANSWER, "sys.stdout.write(json.dumps(answer)); sys.stdout.flush()")],
        Mistake.NO_NEWLINE,
        "newline at the end",
    ),
    "thinks": (
        [("        answer =", "        import time\n        t = time.time()\n"
          "        while time.time() < t + 0.6: pass\n        answer =")],
        Mistake.TOO_SLOW,
        "too late",
    ),
    "slow as if it waited for a line": (
        [("        answer =", "        import time; time.sleep(0.7)\n        answer =")],
        Mistake.TOO_SLOW,
        "s after its time was over",
    ),
    "slow as if it didn't flush": (
        [("        answer =", "        import time; time.sleep(1.3)\n        answer =")],
        Mistake.TOO_SLOW,
        "s after its time was over",
    ),
    "slow as if it did nothing": (
        [("        answer =", "        import time; time.sleep(2.4)\n        answer =")],
        Mistake.TOO_SLOW,
        "s after its time was over",
    ),
    "loops at the start": ([("draw = ", "while True: pass\ndraw = ")], Mistake.ENDLESS, "endless loop"),
    "loops at a later question": (
        [("        answer =", "        while message['turn'].startswith('2-'): pass\n        answer =")],
        Mistake.ENDLESS,
        "endless loop",
    ),
    "banner": ([("draw = ", "print('Hi!', flush=True)\ndraw = ")], Mistake.BANNER, "standard error"),
    "debug print": (
        [("        answer =", "        print('thinking', flush=True)\n        answer =")],
        Mistake.PRINT,
        "print(text, file=sys.stderr)",
    ),
    "repr": ([(ANSWER, "print(answer, flush=True)")], Mistake.SINGLE_QUOTES, "json.dumps"),
    "indented": (
        [(ANSWER, "print(json.dumps(answer, indent=2), flush=True)")],
        Mistake.PRETTY_PRINTED,
        "no indent",
    ),
    "empty line": (
        [(ANSWER, "print(json.dumps(answer) + '\\n', flush=True)")],
        Mistake.EMPTY_LINE,
        "empty line",
    ),
    "bare": ([(ANSWER, "print(answer['move'], flush=True)")], Mistake.BARE_MOVE, "move alone"),
    "not a number": (
        [("answer = {", "answer = {'score': float('nan'), ")],
        Mistake.NOT_A_NUMBER,
        "allow_nan=False",
    ),
    "no data": ([("draw = ", "open('weights.json')\ndraw = ")], Mistake.NO_FILE, "weights.json"),
    "status": ([('"type": "ready"', '"status": "ready"')], Mistake.NOT_READY, "`type` is null"),
    "plays at once": (
        [('"type": "ready"', '"turn": "1", "move": "draw"')],
        Mistake.NOT_READY,
        "asked for a move",
    ),
    "flood": ([(ANSWER, "print('x' * 99999, flush=True)")], Mistake.FLOOD, "line_bytes"),
    "old": (
        [("draw = ", "first = []\ndraw = "), ('"turn": turn', '"turn": (first.append(turn), first)[1][0]')],
        Mistake.TURN_OLD,
        "the question has",
    ),
    "no move": ([('"move": ', '"action": ')], Mistake.MOVE_MISSING, "Is `action` meant"),
    "index": ([("draw.choice(legal)", "0")], Mistake.MOVE_INDEX, 'legal[0] is "take 0"'),
    "other phase": (
        [("draw.choice(legal)", "'draw'")],
        Mistake.ILLEGAL,
        'legal were "swap 0"',
    ),
    "twice": ([(ANSWER, f"{ANSWER}\n        {ANSWER}")], Mistake.TWO_ANSWERS, "Write one line"),
    "answers match": (
        [(MATCH, "print('{}', flush=True)")],
        Mistake.UNASKED,
        "after `match`",
    ),
    "says bye": (
        [(HOLE, HOLE.replace("pass", "print('{\"ok\":1}', flush=True)"))],
        Mistake.UNASKED,
        "after `hole_end`",
    ),
    "logs matches": (
        [(DONE, DONE.replace("pass", "print('done', flush=True)"))],
        Mistake.PRINT,
        "standard error",
    ),
    "answers all": (
        [('elif kind == "bye"', 'elif kind not in ("bye",):\n        print("{}", flush=True)\n    elif kind == "bye"')],
        Mistake.UNASKED,
        "after `weather`",
    ),
    "raises": ([("message[\"turn\"]", "message[\"trun\"]")], Mistake.EXCEPTION, "KeyError: 'trun'"),
    "no playoff": (
        [("        answer =", "        board = [[0] * 4] * (9 if message['hole'] < 10 else 0)\n"
          "        board[message['hole'] - 1]\n        answer =")],
        Mistake.EXCEPTION,
        "IndexError",
    ),
    "dies": (
        [("        answer =", "        import os; os.kill(os.getpid(), 11)\n        answer =")],
        Mistake.SIGNAL,
        "SIGSEGV",
    ),
    "status 3": ([("        answer =", "        sys.exit(3)\n        answer =")], Mistake.STATUS, "status 3"),
    "one answer": (
        [(ANSWER, f"{ANSWER}\n        break")],
        Mistake.LEFT_EARLY,
        "read one line only",
    ),
    "one hole": ([(HOLE, HOLE.replace("pass", "break"))], Mistake.LEFT_AFTER_HOLE, "hole is over"),
    "one match": (
        [(DONE, DONE.replace("pass", "sys.exit(0)"))],
        Mistake.LEFT_AFTER_MATCH,
        "match is over",
    ),
    "closes": (
        [("        answer =", "        import os, time; os.close(1); time.sleep(60)\n        answer =")],
        Mistake.CLOSED_OUTPUT,
        "closed its standard output",
    ),
    "allocates": (
        [("        answer =", "        held = bytearray(1 << 40)\n        answer =")],
        Mistake.NO_MEMORY,
        "MemoryError",
    ),
}  # fmt: skip

CONFINED = {
    "opens a log": ([("draw = ", "open('log', 'w')\ndraw = ")], Mistake.READ_ONLY, "TMPDIR"),
    "calls home": (
        [("draw = ", "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')\ndraw = ")],
        Mistake.NETWORK,
        "no network",
    ),
    "a pool": (
        [("draw = ", "import multiprocessing\nmultiprocessing.Pool(2)\ndraw = ")],
        Mistake.SHARED_MEMORY,
        "one processor core",
    ),
    "threads": (
        [("draw = ", "import threading, time\nfor _ in range(99):\n"
          "    threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\ndraw = ")],
        Mistake.THREADS,
        "`tasks`",
    ),
}  # fmt: skip

WARNINGS = {
    "line ends": (
        [("draw = ", "sys.stdin.reconfigure(newline='\\n')\ndraw = "),
         (LOOP, LOOP + "\n    assert '\\r' not in line")],
        Mistake.NO_CRLF,
        "With them it died of an exception.",
    ),
    "not seeded": (
        [(MATCH, "draw.seed()")],
        Mistake.NOT_REPEATABLE,
        "the second time",
    ),
    "spins": (
        [("draw = ", "import threading\ndef spin():\n    while True: pass\n"
          "threading.Thread(target=spin, daemon=True).start()\ndraw = ")],
        Mistake.BUSY_WAIT,
        "while it waited",
    ),
    "stays": (
        [("        break", "        import time; time.sleep(60)")],
        Mistake.STAYS,
        "a second after `bye`",
    ),
    "leaves badly": (
        [("        break", "        sys.exit(7)")],
        Mistake.LEAVES_BADLY,
        "exit 7",
    ),
    "nearly slow": (
        [("        answer =", "        import time; time.sleep(0.8 * turn.startswith('1-'))\n        answer =")],
        Mistake.NEARLY_SLOW,
        "of their time",
    ),
}  # fmt: skip


CRLF_MATCH = DEALS.opaque("check-four-card-golf-2-9")
"""As the match is called that is played with lines that end in CR LF."""
UNLUCKY = f"{MATCH}\n        unlucky = message['match'] == '{CRLF_MATCH}'"
NOT_LEGAL = ("draw.choice(legal)", "'none' if unlucky else draw.choice(legal)")


def test_what_goes_wrong_in_one_match_is_no_matter_of_how_lines_come(spoilt):
    """The same match with ordinary lines tells."""
    finding, _ = worst(spoilt((MATCH, UNLUCKY), NOT_LEGAL), Status.FAILED)
    assert Mistake.ILLEGAL is finding.cause
    assert finding.found.endswith("It happens with ordinary lines, too.")


def test_a_true_finding_is_not_followed_by_untrue_ones(spoilt):
    """Two mistakes: the one that is met later isn't blamed on what was tried then."""
    report = spoilt(
        (MATCH, UNLUCKY),
        ("draw.choice(legal)", "legal[99] if unlucky else draw.choice(legal)"),
        ("        answer =", "        if message['hole'] == 9: print('nine')\n        answer ="),
    )
    finding, _ = worst(report, Status.FAILED)
    assert Mistake.PRINT is finding.cause
    assert [] == [check for check in report.checks if check.status is Status.WARNED]
    (skipped,) = (check for check in report.checks if check.name == "crlf")
    assert "it fails with ordinary lines, too" == skipped.detail


@pytest.mark.long("mistakes in nine languages")
def test_the_bank_counts_as_well_as_each_decision(spoilt):
    """What is brisk for one move may be too much for a match."""
    slow = ("        answer =", "        import time; time.sleep(0.03)\n        answer =")
    report = spoilt(slow, limits=Limits(move_ms=2_000, match_ms=2_400, start_ms=1_000))
    finding, text = worst(report, Status.WARNED)
    assert Mistake.NEARLY_SPENT is finding.cause, text
    assert re.search(r"In one match its answers took 1\.\d of 2 s together", text)


def test_a_package_of_this_machine_is_no_part_of_the_bot(tmp_path, examined):
    """Its interpreter is asked; what the bot's own folder has is its own."""
    root = tmp_path / "bot"
    root.mkdir()
    text = Path(__file__).with_name("good.py").read_text()
    (root / "bot.py").write_text(f"import helper, msgspec\n{text}")
    (root / "helper.py").write_text("")
    (root / "requirements.txt").write_text("msgspec==1.0\n")
    report = examined(root, [sys.executable, "/bot/bot.py"])
    finding, text = worst(report, Status.WARNED)
    assert Mistake.HOST_PACKAGE is finding.cause, text
    assert finding.found.startswith("msgspec (imported in bot.py:1) is /")
    assert "There is a requirements.txt beside it" in finding.found


def test_the_imports_of_a_bot_are_read_from_its_files(tmp_path):
    """Each module once, at its first place; what isn't Python is none."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "a.py").write_text(
        "import os.path, numpy as np\n  from torch.nn import x\n# import no"
    )
    (tmp_path / "lib" / "b.py").write_bytes(b"\xff\nimport numpy\nfrom . import a\nimport b1")
    (tmp_path / "notes.txt").write_text("import nothing")
    (tmp_path / "lib" / "play").write_text("#!/usr/bin/python3\ntry: import jax\nexcept E: pass")
    found = {"os": "a.py:1", "numpy": "a.py:1", "torch": "a.py:2", "b1": "lib/b.py:4"}
    assert found == imports(tmp_path)
    run = ("/usr/bin/python3", "/bot/lib/play")
    assert found | {"jax": "lib/play:2"} == imports(tmp_path, run)


AT_A_TIME = 4


def worst(report, status):
    """The one finding of that status, and the report in words."""
    found = [check.finding for check in report.checks if check.status is status]
    assert 1 == len(found), [(check.title, check.status, check.finding) for check in report.checks]
    return found[0], " ".join(map(str, msgspec.to_builtins(found[0]).values()))


@pytest.fixture(scope="module")
def together():
    """`together(request, one, param)`: what `one` makes of this test's parameter.

    The first test makes it of all parameters that were chosen, several at a time: most is waiting.
    """
    made = {}

    def results(request, one, param):
        name = request.node.originalname
        if name not in made:
            items = request.session.items
            chosen = [
                item.callspec.params[param]
                for item in items
                if getattr(item, "originalname", "") == name
            ]
            with ThreadPoolExecutor(AT_A_TIME) as pool:
                made[name] = dict(zip(chosen, pool.map(one, chosen), strict=True))
        return made[name][request.node.callspec.params[param]]

    return results


ONE_OF_EACH_KIND = (
    *("not flushed", "no newline", "banner", "repr", "bare", "not a number", "old", "raises"),
)


@pytest.mark.parametrize("what", MISTAKES)
@pytest.mark.long("mistakes in nine languages", quick=ONE_OF_EACH_KIND)
def test_a_mistake_has_one_finding_that_names_it(request, spoilt, together, what):
    """One thing wrong in a good bot is one failed check, however many it would fail."""
    report = together(request, lambda one: spoilt(*MISTAKES[one][0], name=one), "what")
    _, cause, words = MISTAKES[what]
    finding, text = worst(report, Status.FAILED)
    assert cause is finding.cause, text
    assert words in text


@pytest.mark.parametrize("what", CONFINED)
def test_what_the_sandbox_refuses_is_named(spoilt, confined, what):
    """Files, network and threads, as the bot's own error shows them."""
    if confined == "none":
        pytest.skip("no sandbox works here")
    changes, cause, words = CONFINED[what]
    finding, text = worst(spoilt(*changes, sandbox=confined), Status.FAILED)
    assert cause is finding.cause, text
    assert words in text


@pytest.mark.parametrize("what", WARNINGS)
@pytest.mark.long("mistakes in nine languages")
def test_what_is_no_fault_is_a_warning(spoilt, what):
    """The bot may play, and is told what it could do better."""
    changes, cause, words = WARNINGS[what]
    report = spoilt(*changes, limits=Limits(move_ms=1_500))
    finding, text = worst(report, Status.WARNED)
    assert Status.WARNED is report.status
    assert cause is finding.cause, text
    assert words in text


def stated(path):
    """What the top of a broken bot says of it."""
    return dict(re.findall(r"^\W*(mistake|names|run): (.*)$", path.read_text(), re.MULTILINE))


def examined_in(root, examined, path):
    """The report of a broken bot; why there is none, where its language is missing."""
    root.mkdir()
    root.chmod(0o755)
    shutil.copy(path, root / path.name)
    default = "python3" if path.suffix == ".py" else "perl"
    program, *rest = stated(path).get("run", default).split()
    try:
        tool = Toolbox().find(program)
    except MissingToolError as missing:
        return missing
    run = [tool.path, *rest, f"/bot/{path.name}"]
    if path.suffix == ".c":
        subprocess.run([tool.path, "-o", root / "bot", path], check=True)
        run = ["/bot/bot"]
    return examined(root, run)


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.name)
@pytest.mark.long("mistakes in nine languages", quick=("banner.sh",))
def test_a_wrong_bot_in_any_language_is_told_in_that_language(
    request, examined, tmp_path, together, path
):
    """The mistake and the words are stated at the top of each."""
    report = together(request, lambda one: examined_in(tmp_path / one.name, examined, one), "path")
    if isinstance(report, MissingToolError):
        pytest.skip(str(report))
    finding, words = worst(report, Status.FAILED)
    assert stated(path)["mistake"] == finding.cause.value, words
    assert stated(path)["names"] in words


def test_a_good_bot_has_no_finding(spoilt):
    """Every check, both games, nothing to say."""
    report = spoilt(games=("play-nine", "four-card-golf"), quick=False, limits=Limits())
    assert Status.PASSED is report.status
    assert [] == [check for check in report.checks if check.status is not Status.PASSED]
    assert report.times.answers > 1000


def test_what_an_answer_holds_beside_the_move_need_not_repeat(spoilt):
    """The time that it took, or a count of nodes, is no other play."""
    report = spoilt(('"move": ', '"x": __import__("time").time(), "move": '))
    assert Status.PASSED is report.status


@pytest.mark.long("mistakes in nine languages")
def test_slow_starts_are_waited_for(spoilt, monkeypatch):
    """A bot that does nothing for a while at the start is looked into, and then let be."""
    monkeypatch.setattr("arena.check.runner.CHECKS", CHECKS[:1])
    monkeypatch.setattr("arena.check.examination.PATIENCE_S", 0.5)
    monkeypatch.setattr("arena.check.examination.SUSPECTS_S", 0.05)
    monkeypatch.setattr("arena.check.conversation.LEAVES_S", 0.3)
    report = spoilt(
        ("draw = ", "import time; time.sleep(1.0)\ndraw = "),
        limits=Limits(start_ms=8_000),
    )
    assert Status.PASSED is report.status


def test_a_bot_can_t_write_to_the_terminal(spoilt):
    """Whatever it says is shown in escapes, in every text of the report."""
    report = spoilt(
        ("        answer =", "        raise ValueError('\\x1b[2J\\x07')\n        answer ="),
    )
    finding, text = worst(report, Status.FAILED)
    assert Mistake.EXCEPTION is finding.cause
    assert "\x1b" not in text
    assert "\\x1b[2J\\x07" in finding.stderr


def failed(report):
    """The check that failed, and what it found."""
    (check,) = [each for each in report.checks if each.status is Status.FAILED]
    return check, check.finding


@pytest.mark.parametrize(
    ("changes", "name", "sent", "advice"),
    [
        (
            [(MATCH, "assert 'x-list' not in message")],
            "fields",
            r'\{"type":"match","x-list":[^\n]*',
            "It works without the unknown fields: change how it reads them.",
        ),
        (
            [(MATCH, "assert len(line) < 8000")],
            "long",
            r'\{"type":"match","x-long":.*',
            "It works with short lines: change how it reads them.",
        ),
        (
            [('elif kind == "bye"', "elif kind == 'weather' and len(sys.argv):\n        raise ValueError\n    elif kind == \"bye\"")],
            "messages",
            r'\{"type":"weather",.*',
            "It works without the unknown messages: change how it reads them.",
        ),
    ],
)  # fmt: skip
def test_the_line_that_a_bot_died_of_is_shown_as_it_was_written(
    spoilt, changes, name, sent, advice
):
    """Dressed as the check dresses it, though a plain question came after it."""
    check, finding = failed(spoilt(*changes))
    assert name == check.name
    assert Mistake.EXCEPTION is finding.cause
    assert re.fullmatch(sent, finding.sent)
    assert advice == finding.advice
    assert check.section == finding.section


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("assert message['hole'] != 5", Mistake.EXCEPTION),
        ("legal = legal if message['hole'] != 5 else ['x']", Mistake.ILLEGAL),
    ],
)
@pytest.mark.long(
    "mistakes in nine languages", quick=("assert message['hole'] != 5-Mistake.EXCEPTION",)
)
def test_a_fault_in_play_is_told_of_the_game_that_it_is_in(spoilt, fault, cause):
    """It has said nothing unasked."""
    report = spoilt(("        answer =", f"        {fault}\n        answer ="))
    check, finding = failed(report)
    assert ("few-four-card-golf", cause) == (check.name, finding.cause)
    quiet = next(each for each in report.checks if each.name == "quiet")
    assert (Status.SKIPPED, "it couldn't play a match to its end") == (quiet.status, quiet.detail)


@pytest.mark.parametrize("games", [("play-nine", "four-card-golf"), ("four-card-golf",)])
@pytest.mark.long("mistakes in nine languages", quick=("games1",))
def test_a_bot_that_plays_one_game_alone_may_say_so(spoilt, games):
    """It is told which game to check it with, once."""
    leave = "message['game'] == 'play-nine' or sys.exit('I only play play-nine')"
    report = spoilt(("        ready =", f"        {leave}\n        ready ="), games=games)
    check, finding = failed(report)
    assert (Mistake.OTHER_GAME, "it doesn't play four-card-golf") == (finding.cause, finding.title)
    assert "Its words: I only play play-nine" == finding.found
    assert "Check what it plays with --game play-nine." == finding.advice
    assert ("few-four-card-golf" if len(games) > 1 else "start") == check.name


@pytest.mark.long("mistakes in nine languages")
def test_a_bot_that_takes_several_lines_for_one_is_told_so(spoilt):
    """It dies of none of them if each is read before the next is written, however long it takes."""
    loop = "import os\nfor line in iter(lambda: os.read(0, 65536).decode(), ''):"
    # The end of a hole and the next question come meanwhile; longer than the pause after a line.
    rest = f"{ANSWER}\n        if message['hole'] == 1: import time; time.sleep(0.15)"
    _, finding = failed(spoilt((LOOP, loop), (ANSWER, rest)))
    assert Mistake.EXCEPTION is finding.cause
    assert "does it take all that it reads at once for one line?" in finding.advice


@pytest.mark.long("mistakes in nine languages")
def test_a_slow_bot_is_found_slow_once(spoilt):
    """In whatever check it is silent later."""
    report = spoilt(
        (
            "        answer =",
            "        if message['hole'] == 3: import time; time.sleep(0.5)\n        answer =",
        )
    )
    check, finding = failed(report)
    assert ("few-four-card-golf", Mistake.TOO_SLOW) == (check.name, finding.cause)


def test_a_script_with_the_line_ends_of_windows_is_named(examined, tmp_path):
    """A shell only tells of a command that isn't there."""
    (tmp_path / "bot.sh").write_bytes(b"set -e\r\nwhile read -r line; do\r\n  :\r\ndone\r\n")
    bash = Toolbox().find("bash")
    _, finding = failed(examined(tmp_path, [bash.path, "/bot/bot.sh"]))
    assert Mistake.WINDOWS_LINES is finding.cause


def test_of_a_long_standard_error_both_ends_are_kept(spoilt):
    """The first line often says it."""
    noise = "sys.stderr.write('first words' + 'x\\n' * 25000 + 'last words')"
    _, finding = failed(
        spoilt(("        answer =", f"        {noise}; sys.exit(1)\n        answer ="))
    )
    assert finding.stderr.startswith("first words")
    assert " more)…" in finding.stderr
    assert finding.stderr.endswith("last words")


def test_ends_of_parameters(examined, tmp_path):
    """A bot that can't play at one end of a range is told which; one that can passes."""
    source = FOLDER.with_name("good.py").read_text()
    (tmp_path / "bot.toml").write_text("[tune]\ndepth = { default = 4, min = 1, max = 8 }\n")
    bot = tmp_path / "bot.py"
    for text, status in ((source, Status.PASSED), (f"{_DEEP}{source}", Status.FAILED)):
        bot.write_text(text)
        report = examined(tmp_path, [sys.executable, str(bot)])
        (found,) = (each for each in report.checks if each.name == "parameters")
        assert found.status is status
    assert found.finding.found.startswith("With depth=8: ")
    assert "ZeroDivisionError" in found.finding.stderr


_DEEP = "import os\n1 / (8 - float(os.environ.get('ARENA_PARAM_depth', '4')))\n"
