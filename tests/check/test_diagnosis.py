"""From facts to the mistake, without a process: what real bots can't be made to do at will."""

import re
import time
from pathlib import Path

import pytest

from arena.check.checks import CHECKS
from arena.check.diagnosis import diagnose, diagnose_start, last_exception
from arena.check.mistakes import (
    Expected,
    Facts,
    Mistake,
    Trigger,
    in_language,
    language,
)
from arena.check.report import escaped
from arena.model import FaultKind
from arena.referee import Failure
from arena.tables import table

SPEC = Path(__file__).parents[2] / "protocol" / "SPEC.md"


def of(line=None, **facts):
    """The diagnosis of a bot that was to answer turn 7-abcd, after 5-xyzw."""
    stated = {
        "expected": Expected.MOVE,
        "turn": "7-abcd",
        "earlier": ["3-rrrr", "5-xyzw"],
        "legal": ["take 0", "take 1", "draw"],
    }
    return diagnose(Facts(line=line, **(stated | facts)))


@pytest.mark.parametrize(
    ("line", "cause", "words"),
    [
        (b'{"turn":"3-rrrr","move":"draw"}', Mistake.TURN_OLD, "3-rrrr"),
        (b'{"turn":"5-xyzw","move":"draw"}', Mistake.TURN_OLD, "the question has"),
        (b'{"turn":"abcd","move":"draw"}', Mistake.TURN_CUT, "7-abcd"),
        (b'{"turn":null,"move":"draw"}', Mistake.TURN_TYPE, "null"),
        (b'{"turn":"7-abcd","move":null}', Mistake.MOVE_TYPE, "null"),
        (b'{"turn":"7-abcd","move":9}', Mistake.MOVE_INDEX, "9"),
        (b'{"turn":"7-abcd","move":true}', Mistake.MOVE_TYPE, "true"),
        (b'{"turn":"7-abcd","move":"zzzz"}', Mistake.ILLEGAL, "legal were"),
        (b'{"turn":"7-abcd","Move":"draw"}', Mistake.MOVE_MISSING, "`Move`"),
        (b'{"type":"ready"}', Mistake.UNASKED, "second time"),
        (b'"take 0"', Mistake.BARE_MOVE, ""),
        (b"take 0", Mistake.BARE_MOVE, ""),
        (b"[1]", Mistake.NOT_AN_OBJECT, ""),
        (b"\xfe\xff\x00{", Mistake.UTF_16, ""),
        (b'\xef\xbb\xbf{"turn":"7-abcd","move":"draw"}', Mistake.BYTE_ORDER_MARK, ""),
        (b"  ", Mistake.EMPTY_LINE, ""),
        (b"[" * 70, Mistake.NESTED, ""),
        (b'{"turn":"7-abcd","move":"draw","score":NaN}', Mistake.NOT_A_NUMBER, ""),
        (b'{"turn":"7-abcd","move":-Infinity}', Mistake.NOT_A_NUMBER, ""),
        (b'{"turn":"7-abcd","x": -nan, "y":[1,+Inf],"move":"draw"}', Mistake.NOT_A_NUMBER, ""),
        (b'{"turn":"7-abcd","move":":nan,",}', Mistake.BROKEN_JSON, ""),
        (b'{"turn":"7-abcd","move":"draw","x":NaN', Mistake.BROKEN_JSON, ""),
        (b'b\'{"turn": "7-abcd"}\'', Mistake.BYTES, ""),
        (b"b'{", Mistake.PRINT, ""),
        (b'\'{"turn": "7-abcd"}\'', Mistake.NOT_ENCODED, ""),
        (b"'draw'", Mistake.PRINT, ""),
        (b"[object Object]", Mistake.NOT_ENCODED, ""),
        (b"map[move:draw turn:7-abcd]", Mistake.NOT_ENCODED, ""),
        (b"{turn=7-abcd, move=draw}", Mistake.NOT_ENCODED, ""),
        (b'{"turn"=>"7-abcd"}', Mistake.NOT_ENCODED, ""),
        (b"HASH(0x55d0c8a1)", Mistake.NOT_ENCODED, ""),
        (b"{'" + b"(" * 900, Mistake.PRINT, ""),
        (b"{" + b"'a':" * 900, Mistake.PRINT, ""),
        (b"caf\xe9", Mistake.NOT_UTF_8, "not UTF-8"),
        (b'{\0"\0t\0u\0r\0n\0"\0:\0', Mistake.UTF_16, "UTF-16"),
        (b'"{\\"turn\\": \\"7-abcd\\"}"', Mistake.NOT_AN_OBJECT, "not an object"),
        (b'{"turn":"7-abcd","move":"draw"}' * 2, Mistake.TWO_ON_A_LINE, "more than one"),
        (b'{"turn":"7-abcd","move":"draw"', Mistake.BROKEN_JSON, "not valid JSON"),
        (b'{"plan":[' + b"[[]]," * 50 + b"[]]}", Mistake.NESTED, "opening brackets"),
        (b'{"move":"draw"}', Mistake.TURN_MISSING, "no `turn`"),
        (b'{"turns":"7-abcd","move":"draw"}', Mistake.TURN_MISSING, "Is `turns` meant"),
        (b'{"turn":7,"move":"draw"}', Mistake.TURN_TYPE, "not a string"),
        (b'{"turn":"7","move":"draw"}', Mistake.TURN_CUT, "part of what"),
        (b'{"turn":"1-aaaa","move":"draw"}', Mistake.TURN_WRONG, "none that was sent"),
        (b'{"turn":"7-abcd","move":{"kind":"take"}}', Mistake.MOVE_TYPE, '{"kind": "take"}'),
        (b'{"turn":"7-abcd","move":0}', Mistake.MOVE_INDEX, 'legal[0] is "take 0"'),
        (b'{"turn":"7-abcd","move":"Take 1"}', Mistake.ILLEGAL, 'The nearest is "take 1"'),
    ],
)
def test_a_line_is_told_by_what_is_wrong_with_it(line, cause, words):
    """Each kind of wrong answer has its name and its particulars."""
    found = of(line)
    assert cause is found.mistake
    assert words in f"{found.mistake.title}. {found.detail}"


@pytest.mark.parametrize(
    ("stderr", "status", "cause"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", "exit 1", Mistake.NO_MEMORY),
        ("terminate called\n  what():  std::bad_alloc", "signal SIGABRT", Mistake.NO_MEMORY),
        ("fatal error: pthread_create failed", "exit 2", Mistake.THREADS),
        ("OSError: [Errno 30] Read-only file system: 'log'", "exit 1", Mistake.READ_ONLY),
        ("Error: getaddrinfo EAI_AGAIN example.org", "exit 1", Mistake.NETWORK),
        ("panic: runtime error: index out of range", "exit 2", Mistake.EXCEPTION),
        ("thread 'main' panicked at src/main.rs:3:5", "exit 101", Mistake.EXCEPTION),
        ("  SemLock(\nFileNotFoundError: [Errno 2] No such file", "exit 1", Mistake.SHARED_MEMORY),
        ("OSError: [Errno 24] Too many open files: 'x'", "exit 1", Mistake.FILES),
        ("cat: weights: No such file or directory", "exit 1", Mistake.NO_FILE),
        ("bot.sh: line 3: ./helper: No such file or directory", "exit 127", Mistake.NOT_FOUND),
        (
            "  _execute_child\nE: No such file or directory: 'stockfish'",
            "exit 1",
            Mistake.NOT_FOUND,
        ),
        ("Error: spawn stockfish ENOENT", "exit 1", Mistake.NOT_FOUND),
        ('exec: "stockfish": executable file not found in $PATH', "exit 1", Mistake.NOT_FOUND),
        ("", "exit 126", Mistake.NOT_EXECUTABLE),
        ("", "exit 127", Mistake.NOT_FOUND),
        ("", "signal 34", Mistake.SIGNAL),
    ],
)
def test_the_end_is_told_by_the_last_words(stderr, status, cause):
    """What runtimes of many languages say when they die."""
    assert cause is of(ended=True, status=status, stderr=stderr).mistake


def test_an_old_turn_and_then_the_right_one_are_two_answers():
    """The question before was answered twice; one line alone keeps an old turn."""
    old, new = b'{"turn":"5-xyzw","move":"draw"}', b'{"turn":"7-abcd","move":"draw"}'
    assert Mistake.TWO_ANSWERS is of(old, more=[new]).mistake
    assert Mistake.TURN_OLD is of(old, more=[old]).mistake


@pytest.mark.parametrize(
    ("stderr", "module"),
    [
        ("ModuleNotFoundError: No module named 'util'", "util"),
        ("Error: Cannot find module './util'", "./util"),
        ("Can't locate Foo/Bar.pm in @INC (you may need to install Foo::Bar)", "Foo/Bar.pm"),
        ("cannot load such file -- util (LoadError)", "util"),
        ("lua: bot.lua:1: module 'util' not found:", "util"),
    ],
)
def test_a_missing_module_is_named(stderr, module):
    """It is another mistake than a command that isn't there."""
    found = of(ended=True, status="exit 1", stderr=stderr, expected=Expected.READY)
    assert (Mistake.NO_MODULE, f"The module {module} is missing.") == (found.mistake, found.detail)
    beside = of(ended=True, status="exit 1", stderr=stderr, files=["requirements.txt"])
    assert beside.detail.endswith('lock = "requirements.txt" to bot.toml.')


@pytest.mark.parametrize(
    ("stderr", "found"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'w.json'", "It opens w.json."),
        ("Error: ENOENT: no such file or directory, open 'w.json'", "It opens w.json."),
        ("java.io.FileNotFoundException: w.json (No such file or directory)", "It opens w.json."),
        ("panic: open w.json: no such file or directory", "It opens w.json."),
        ("Can't open 'w.json': No such file or directory at bot.pl line 2.", "It opens w.json."),
        ("No such file or directory @ rb_sysopen - w.json (Errno::ENOENT)", ""),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: '/home/me/w'",
            "It opens /home/me/w, which lies outside its folder.",
        ),
    ],
)
@pytest.mark.parametrize("wanted", [Expected.READY, Expected.MOVE])
def test_a_missing_file_is_no_missing_program(stderr, found, wanted):
    """It is named as far as the language names it, whenever it is opened."""
    told = of(ended=True, status="exit 1", stderr=stderr, expected=wanted)
    assert (Mistake.NO_FILE, found) == (told.mistake, told.detail)


@pytest.mark.parametrize(
    ("stderr", "windows", "cause"),
    [
        ("bot.sh: line 2: $'\\r': command not found", True, Mistake.WINDOWS_LINES),
        ("bot.sh: 2: \r: not found", True, Mistake.WINDOWS_LINES),
        ("bot.sh: 2: \r: not found", False, Mistake.NOT_FOUND),
        ("bot.sh: 2: jq: not found", True, Mistake.NOT_FOUND),
    ],
)
def test_line_ends_of_windows_are_told_by_the_script_and_its_error(stderr, windows, cause):
    """Either alone proves nothing."""
    assert cause is of(ended=True, status="exit 127", stderr=stderr, windows=windows).mistake


@pytest.mark.parametrize(
    ("overstepped", "cause"),
    [("memory", Mistake.MEMORY), ("tasks", Mistake.THREADS), ("disk", Mistake.DISK)],
)
def test_the_watchdog_s_word_comes_first(overstepped, cause):
    """Whatever else is known of a bot that was killed for its share."""
    assert cause is of(b"x", overstepped=overstepped, status="signal SIGKILL").mistake


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        ({"rest": b"{"}, Mistake.PRETTY_PRINTED),
        ({"rest": b"> "}, Mistake.NO_NEWLINE),
        ({"rest": b'{"turn":"7-abcd","move":"draw"}'}, Mistake.NO_NEWLINE),
        ({"trigger": Trigger.END, "line": b"{}"}, Mistake.BUFFERED),
        ({"trigger": Trigger.END, "rest": b"{}"}, Mistake.NO_NEWLINE),
        ({"trigger": Trigger.END, "rest": b"{", "status": "signal SIGSEGV"}, Mistake.SIGNAL),
        ({"trigger": Trigger.LINE, "line": b"{}", "busy": 0.9}, Mistake.TOO_SLOW),
        ({"trigger": Trigger.TIME, "line": b"{}", "late": 2.0}, Mistake.TOO_SLOW),
        ({"trigger": Trigger.TIME, "line": b"{}", "late": 2.0, "spent": True}, Mistake.SPENT),
        ({"busy": 0.9}, Mistake.ENDLESS),
        ({"left": True}, Mistake.NO_ANSWER),
        ({}, Mistake.STUCK),
        ({"stderr": "RuntimeError: can't start new thread"}, Mistake.THREADS),
        ({"flood": True, "rest": b"x"}, Mistake.FLOOD),
        ({"ended": True}, Mistake.CLOSED_OUTPUT),
        ({"ended": True, "status": "exit 0", "after": "act"}, Mistake.LEFT_EARLY),
        ({"ended": True, "status": "exit 0", "after": "hole_end"}, Mistake.LEFT_AFTER_HOLE),
        ({"ended": True, "status": "exit 0", "after": "match"}, Mistake.LEFT_AFTER_MATCH),
        ({"ended": True, "status": "exit 0", "after": "match", "earlier": ()}, Mistake.LEFT_EARLY),
    ],
)
def test_silence_is_told_by_what_ended_it(facts, cause):
    """Buffered, reading ahead, computing, waiting: by experiment."""
    assert cause is of(**facts).mistake


@pytest.mark.parametrize(
    ("message", "line", "status", "unheard", "cause"),
    [
        ("not ready within 9 ms: …", "", "", b'{"type":"ready"}\n', Mistake.BUFFERED),
        ("not ready within 9 ms: …", "", "exit 0", b"", Mistake.NO_ANSWER),
        ("not ready within 9 ms: …", "", "", b"", Mistake.STUCK),
        ("the first line must be …", "Welcome!", "", b"", Mistake.BANNER),
        ("the first line must be …", '\ufeff{"type":"ready"}', "", b"", Mistake.BYTE_ORDER_MARK),
        ("the first line must be …", '\\xff\\xfe{\0"\0', "", b"", Mistake.UTF_16),
        ("the first line must be …", "{'type': 'ready'}", "", b"", Mistake.SINGLE_QUOTES),
        ("ended before it was ready", "", "exit 1", b"", Mistake.STATUS),
        ("ended before it was ready", "", "signal SIGSEGV", b"", Mistake.SIGNAL),
    ],
)
def test_an_event_s_start_has_the_same_names(message, line, status, unheard, cause):
    """`arena run` knows less, and calls it by the same name."""
    failure = Failure(kind=FaultKind.START, message=message, line=line, status=status)
    ended = message.startswith("ended")
    found = diagnose_start(failure, ended=ended, stderr="", unheard=unheard, run=["python3"])
    assert cause is found.mistake


def test_every_section_is_a_heading_of_the_specification():
    """A rule that is quoted can be found."""
    headings = re.findall(r"^#+ (?:[\d.]+ )?(.*?)(?: \(.*)?$", SPEC.read_text(), re.MULTILINE)
    sections = {section for section, _ in table("check/mistakes")["rules"].values()}
    assert sections | {check.section for check in CHECKS} <= set(headings)


def test_every_check_has_its_words():
    assert [check.name for check in CHECKS] == [*table("check/checks")]


def test_every_mistake_has_its_words():
    """No mistake lacks words, no words are of nothing, and no advice keeps a placeholder."""
    assert {mistake.value for mistake in Mistake} | {"rules", "signals"} == set(
        table("check/mistakes")
    )
    assert {mistake.rule.text for mistake in Mistake} == {
        text for _, text in table("check/mistakes")["rules"].values()
    }
    for mistake in Mistake:
        assert all((mistake.title, mistake.rule.text, mistake.advice))
        text = in_language(mistake.advice, ["bash"])
        assert text
        assert not re.search(r"\{(flush|log|read)\}", text)


@pytest.mark.parametrize(
    ("run", "files", "name"),
    [
        (["/usr/bin/python3.11", "-S", "/bot/bot.py"], [], "Python"),
        (["/opt/node/bin/node", "/bot/bot.js"], [], "JavaScript"),
        (["/usr/bin/mawk"], [], "awk"),
        (["/bot/bot"], ["bot", "bot.c"], "C"),
        (["/bot/bot"], ["main.rs", "bot.c"], "Rust"),
        (["/bot/bot"], ["bot"], ""),
        (["java", "-cp", ".", "Bot"], [], "Java"),
        ([], [], ""),
    ],
)
def test_the_language_is_that_of_the_interpreter_or_of_the_sources(run, files, name):
    """As far as a command and file names tell."""
    assert name == language(run, files).name


def test_the_last_line_of_a_traceback_is_found():
    """In the manner of several languages."""
    assert "ValueError: x" == last_exception("Traceback:\n  File\nValueError: x\n")
    assert "TypeError: y" == last_exception("bot.js:3\n\nTypeError: y\n    at f (bot.js:3)\n")
    assert not last_exception("just a log\n")


def test_bytes_are_shown_so_that_they_can_be_told_apart():
    """Control characters, marks and bytes that are no UTF-8."""
    assert r"a\r\n\t\x1b\ufeff\xff é" == escaped(b"a\r\n\t\x1b\xef\xbb\xbf\xff \xc3\xa9")


@pytest.mark.parametrize("text", ["\n", " \n", "\tat (", "a", "Error"])
def test_no_words_on_stderr_take_a_second(text):
    """However often they are repeated in what is kept of them."""
    stderr = text * ((1 << 16) // len(text))
    begun = time.process_time()
    diagnose(
        Facts(expected=Expected.READY, after="hello", ended=True, status="exit 1", stderr=stderr)
    )
    assert 1 > time.process_time() - begun
