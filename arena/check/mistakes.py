"""Every mistake that `arena check` can name: title, the rule it breaks, advice. Pure data.

To add one: a member of `Mistake` here, and the place in `diagnosis.py`, `lines.py` or `checks.py`
that recognises it. {flush}, {log} and {read} in advice are replaced by how the bot's language does
it (`languages.py`).
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple, Self


class Section(enum.StrEnum):
    """Headings of protocol/SPEC.md, without their numbers."""

    CONVERSATION = "The conversation"
    MESSAGES = "Messages"
    HELLO = "`hello`"
    READY = "`ready`"
    ACT = "`act`"
    LIMITS = "Limits and time"
    FAULTS = "Faults"
    WHERE = "Where your program runs"
    CHANGE = "What may change"


class Rule(NamedTuple):
    text: str
    section: Section


class Words(NamedTuple):
    name: str
    """In `--json`."""
    title: str
    """What is wrong, as the end of a sentence that begins with the bot."""
    rule: Rule
    advice: str


_S = Section
_FLUSH = Rule("Each answer must leave the program at once: flush after every line.", _S.FAULTS)
_NO_READ_AHEAD = Rule("A bot must not read ahead of the line that it has to answer.", _S.FAULTS)
_ALIVE = Rule("The process must run, and answer, until `bye` or the end of its input.", _S.FAULTS)
_ONE = Rule(
    "`hello` and each `act` want exactly one line; nothing else may go to standard output.",
    _S.CONVERSATION,
)
_LINES = Rule("Every line is one JSON object in UTF-8, with a newline at its end.", _S.CONVERSATION)
_SERIES = Rule("One process plays a series of matches; the next `match` follows.", _S.CONVERSATION)
_LEAVE = Rule(
    "After `bye`, or when standard input ends, a bot exits within a second.", _S.CONVERSATION
)
_FIRST = Rule(
    'The first line that a bot writes is {"type":"ready"}, after it has read `hello`.', _S.READY
)
_ANSWER = Rule(
    'An answer is {"turn":"…","move":"…"}: both strings, in one object, on one line.', _S.ACT
)
_TURN = Rule(
    "`turn` is copied into the answer as it was received, a string with all its letters.", _S.ACT
)
_MOVE = Rule("`move` is one of the strings in `legal`, letter by letter.", _S.ACT)
_TIME = Rule("An answer must be complete within the time that `hello` states.", _S.LIMITS)
_BANK = Rule("All answers of a match must come within `match_ms`, the bank.", _S.LIMITS)
_MEMORY = Rule("A bot has `memory_mb` of memory, all its processes together.", _S.LIMITS)
_MODULES = Rule(
    "A bot sees its own folder, the language's own modules, and what `lock` names.", _S.WHERE
)
_RUN = Rule("`run` names a program that this machine can run.", _S.WHERE)
_BOT = Rule(
    "A bot is a folder with a bot.toml or an obvious entry file, a script or a program.", _S.WHERE
)


class Mistake(enum.Enum):
    """A mistake; its value is its name in `--json`."""

    title: str
    rule: Rule
    advice: str

    def __new__(cls, *words: Any) -> Self:  # noqa: ANN401 - the fields of `Words`
        member = object.__new__(cls)
        member._value_, member.title, member.rule, member.advice = words
        return member

    # No answer arrives.
    BUFFERED = Words(
        "buffered",
        "its answers came only after its input had ended: it does not flush, or reads all of its "
        "input to its end first",
        _FLUSH,
        "{flush} If it does flush, it reads standard input to its end before it answers. {read}",
    )
    READS_AHEAD = Words(
        "reads-ahead",
        "it reads ahead: it answered only after a block of further input",
        _NO_READ_AHEAD,
        "{read}",
    )
    WANTS_LINE = Words(
        "wants-line",
        "it waits for one more line before it answers",
        _NO_READ_AHEAD,
        "Answer as soon as a line is complete; do not wait for the next line, or for what follows "
        "the newline.",
    )
    NO_NEWLINE = Words(
        "no-newline",
        "the newline at the end of its line is missing",
        _LINES,
        'Write "\\n" after the JSON, then flush. {flush}',
    )
    NO_ANSWER = Words(
        "no-answer",
        "it read the message and went on reading, without an answer",
        _ONE,
        'Check that it recognises the message by its "type", and that it writes to standard '
        "output, not to standard error.",
    )
    TOO_SLOW = Words(
        "too-slow",
        "it answers too late",
        _TIME,
        "Stop thinking before the time of the question (`move_ms`, `bank_ms`) is over. Do slow "
        "preparation before `ready`.",
    )
    SPENT = Words(
        "spent",
        "it has used up its time for the match",
        _BANK,
        "Read `bank_ms` in each question, and think less when little is left.",
    )
    ENDLESS = Words(
        "endless",
        "it computes without an end: an endless loop?",
        _TIME,
        "Find the loop that it cannot leave with the line shown here as its input; at the end of "
        "the input every read returns nothing. Or it thinks for far too long.",
    )
    STUCK = Words(
        "stuck",
        "it does nothing, and does not read its input either",
        _TIME,
        "It waits for something that never comes: a lock, a child process, a sleep, or a "
        "terminal instead of standard input?",
    )
    # Something else arrives in place of an answer.
    BANNER = Words(
        "banner",
        "it writes something else before `ready`",
        _FIRST,
        "Write greetings, prompts and logs to standard error. {log}",
    )
    PRINT = Words(
        "print",
        "a prompt, a log or a debug print is on standard output",
        _ONE,
        "Write everything but answers to standard error. {log}",
    )
    BYTE_ORDER_MARK = Words(
        "byte-order-mark",
        "its output begins with a byte-order mark",
        _LINES,
        "Set standard output to UTF-8 without a mark (in .NET: new UTF8Encoding(false)).",
    )
    UTF_16 = Words(
        "utf-16",
        "its output is UTF-16",
        _LINES,
        "Set standard output to UTF-8 without a byte-order mark.",
    )
    NOT_UTF_8 = Words(
        "not-utf-8",
        "its line is not UTF-8",
        _LINES,
        "Write text as UTF-8; turn ids and moves are plain ASCII.",
    )
    SINGLE_QUOTES = Words(
        "single-quotes",
        "it writes a Python dict, not JSON: single quotes",
        _LINES,
        "print(json.dumps(answer), flush=True) instead of print(answer).",
    )
    PRETTY_PRINTED = Words(
        "pretty-printed",
        "its JSON is spread over several lines",
        _LINES,
        "Write compact JSON: no indent, no pretty-printer.",
    )
    ECHO = Words(
        "echo",
        "it writes back what it reads",
        _ONE,
        "Remove the line that prints its input (`set -v`, `perl -p`, `sed` without -n?).",
    )
    EMPTY_LINE = Words(
        "empty-line",
        "it writes an empty line",
        _ONE,
        "One newline ends an answer: does it add one to a print that adds its own?",
    )
    BARE_MOVE = Words(
        "bare-move",
        "it writes the move alone, without turn and JSON",
        _ANSWER,
        "Put the move into an object, with `turn` as it was received.",
    )
    NOT_AN_OBJECT = Words(
        "not-an-object",
        "its line is JSON, but not an object",
        _ANSWER,
        "Write an object with `turn` and `move`, not encoded a second time.",
    )
    TWO_ON_A_LINE = Words(
        "two-on-a-line",
        "there is more than one JSON value on its line",
        _LINES,
        "Write one object, then a newline.",
    )
    BROKEN_JSON = Words(
        "broken-json",
        "its line is not valid JSON",
        _LINES,
        'Build it with a JSON library, or exactly as printf \'{"turn":"%s","move":"%s"}\\n\'.',
    )
    NOT_A_NUMBER = Words(
        "not-a-number",
        "it writes NaN or Infinity, which JSON does not have",
        _LINES,
        "Leave the field out, or write null; an answer needs no other fields than `turn` and "
        "`move`. (In Python json.dumps(answer, allow_nan=False) raises where it comes from.)",
    )
    BYTES = Words(
        "bytes",
        "it prints Python bytes: b'…'",
        _LINES,
        "Print text, print(answer.decode(), flush=True), or write the bytes themselves: "
        'sys.stdout.buffer.write(answer + b"\\n"), then sys.stdout.buffer.flush().',
    )
    NOT_ENCODED = Words(
        "not-encoded",
        "it prints an object or a string as its language shows it, not as JSON",
        _LINES,
        "Encode the answer once, and write what the encoder returns: JSON.stringify(answer), "
        "json.dumps(answer), json.Marshal(answer).",
    )
    NOT_READY = Words(
        "not-ready",
        "its answer to `hello` is not `ready`",
        _FIRST,
        'Write {"type":"ready"} when a message of the type "hello" arrives.',
    )
    NESTED = Words(
        "nested",
        "its line has more than 64 opening brackets",
        Rule("A line may hold at most 64 [ and {, counted anywhere in it.", _S.LIMITS),
        "Answer with `turn` and `move` alone.",
    )
    FLOOD = Words(
        "flood",
        "its line is longer than `line_bytes`",
        Rule("A line has at most `line_bytes` bytes.", _S.LIMITS),
        "Does it forget the newline, or print in a loop? An answer has about forty bytes.",
    )
    # The answer is wrong.
    TURN_MISSING = Words(
        "turn-missing",
        "its answer has no `turn`",
        _ANSWER,
        "Copy the field `turn` of the question into the answer.",
    )
    TURN_TYPE = Words(
        "turn-type",
        "`turn` in its answer is not a string",
        _TURN,
        "Write `turn` in double quotes, as it was received; do not turn it into a number.",
    )
    TURN_CUT = Words(
        "turn-cut",
        "`turn` in its answer is only a part of what was sent",
        _TURN,
        "Copy the whole string, with what follows the hyphen.",
    )
    TURN_OLD = Words(
        "turn-old",
        "`turn` in its answer is that of an earlier question",
        _TURN,
        "Read `turn` from each question again, and answer each question once.",
    )
    TURN_WRONG = Words(
        "turn-wrong",
        "`turn` in its answer is none that was sent",
        _TURN,
        "Copy it from the question; it cannot be known or counted in advance.",
    )
    MOVE_MISSING = Words(
        "move-missing",
        "its answer has no `move`",
        _ANSWER,
        "Write one string of `legal` as `move`.",
    )
    MOVE_TYPE = Words(
        "move-type",
        "`move` in its answer is not a string",
        _ANSWER,
        'Write the move as one string, with its position in it: "take 3".',
    )
    MOVE_INDEX = Words(
        "move-index",
        "`move` in its answer is a number, not the move itself",
        _ANSWER,
        "Write the string legal[i], not i.",
    )
    ILLEGAL = Words(
        "illegal",
        "its move is not in `legal`",
        _MOVE,
        "Choose from `legal`; it holds every legal move, in every phase.",
    )
    # An answer arrives that nothing asked for.
    TWO_ANSWERS = Words(
        "two-answers",
        "it answers one question twice",
        _ONE,
        "Write one line for each question: is there a second print, or a missing continue or else?",
    )
    UNASKED = Words(
        "unasked",
        "it answers a message that wants no answer",
        _ONE,
        "Answer only `hello` and `act`; read `match`, `hole_end`, `match_end` and unknown messages "
        "without a word.",
    )
    # The process ends, or never starts.
    NO_MODULE = Words(
        "no-module",
        "a module that it needs is missing",
        _MODULES,
        "Put a module of its own into the bot's folder. Pin a package in a lock file, and name "
        "that file in bot.toml as `lock`.",
    )
    WINDOWS_LINES = Words(
        "windows-lines",
        "its script has Windows line ends",
        _RUN,
        "Save the script with Unix line ends (LF, not CR LF): sed -i 's/\\r$//' SCRIPT.",
    )
    OTHER_GAME = Words(
        "other-game",
        "it does not play this game",
        Rule(
            "A bot that does not play the game in `hello` exits with status 1 and says so.",
            _S.HELLO,
        ),
        "Check what it plays",
    )
    NOT_FOUND = Words(
        "not-found",
        "its command, or a program that it starts, is missing",
        Rule("`run` names a program of the bot's folder or of this machine.", _S.WHERE),
        "See what standard error names: a path outside the folder, or a missing interpreter or "
        "library.",
    )
    NO_FILE = Words(
        "no-file",
        "a file that it opens is missing",
        Rule(
            "A bot's working directory is its folder; it sees none of your other files.", _S.WHERE
        ),
        "Put the file into the bot's folder and open it by a path relative to that. Caches, "
        "virtual environments and compiled Python files are not copied into an event.",
    )
    NOT_EXECUTABLE = Words(
        "not-executable",
        "its program cannot be executed",
        _RUN,
        "chmod +x it; check that it is built for this machine, and that the interpreter in its "
        "#! line exists.",
    )
    EXCEPTION = Words(
        "exception",
        "it died of an exception",
        _ALIVE,
        "Fix the error that standard error shows. The message that it had read is shown here.",
    )
    SIGNAL = Words(
        "signal",
        "it crashed",
        _ALIVE,
        "Run it by hand with the line shown as its input, under a debugger or sanitizer.",
    )
    STATUS = Words(
        "status",
        "it exited with an error status",
        _ALIVE,
        "Find out why it exits after it has read the line shown here.",
    )
    READ_ONLY = Words(
        "read-only",
        "it writes a file where nothing can be written",
        Rule("The bot's folder is read-only; there is scratch space only on request.", _S.WHERE),
        "Log to standard error. If it needs files: scratch_mb = 16 under [limits] in bot.toml, and "
        "write below $TMPDIR.",
    )
    NETWORK = Words(
        "network",
        "it uses the network",
        Rule("There is no network: every socket is refused.", _S.WHERE),
        "Put what it needs into its folder; for packages there is `lock` in bot.toml.",
    )
    THREADS = Words(
        "threads",
        "it starts too many threads or processes",
        Rule("A bot has at most `tasks` processes and threads together.", _S.LIMITS),
        "Make its thread pool smaller; it has one processor core in any case.",
    )
    SHARED_MEMORY = Words(
        "shared-memory",
        "it uses memory or semaphores that processes share, and they are refused",
        Rule("Shared memory fails; threads, child processes and pipes work.", _S.WHERE),
        "multiprocessing.Pool, Queue and Lock, and ProcessPoolExecutor, need them. Compute in one "
        "process: there is one processor core in any case. Or talk to child processes through "
        "pipes (subprocess, multiprocessing.Pipe).",
    )
    FILES = Words(
        "files",
        "it opens too many files",
        Rule("A process may have at most 256 files open.", _S.WHERE),
        "Close what it opens: with open(…) as file, or the like.",
    )
    NO_MEMORY = Words(
        "no-memory",
        "it asked for memory and did not get it",
        _MEMORY,
        "Use less: smaller tables or caches; a runtime may have a heap size to set.",
    )
    MEMORY = Words(
        "memory",
        "it was killed for using too much memory",
        _MEMORY,
        "Use less: does it keep every message, or a cache without a limit?",
    )
    DISK = Words(
        "disk",
        "it was killed for filling its scratch space",
        Rule("A bot has at most the scratch space that it asked for.", _S.LIMITS),
        "Write less, or ask for more: scratch_mb under [limits] in bot.toml.",
    )
    LEFT_EARLY = Words(
        "left-early",
        "it exited, with status 0, when it should have answered",
        _ALIVE,
        "Read in a loop until the input ends: does it read one line only?",
    )
    LEFT_AFTER_HOLE = Words(
        "left-after-hole",
        "it exits when a hole is over",
        Rule("`hole_end` ends nothing: the next hole follows.", _S.CONVERSATION),
        "Go on reading after `hole_end`; exit after `bye` or at the end of the input.",
    )
    LEFT_AFTER_MATCH = Words(
        "left-after-match",
        "it exits when a match is over",
        _SERIES,
        "Go on reading after `match_end`; exit after `bye` or at the end of the input.",
    )
    CLOSED_OUTPUT = Words(
        "closed-output",
        "it closed its standard output",
        _ALIVE,
        "Keep standard output open; has a thread or a child process the answer left?",
    )
    # Warnings.
    NEARLY_SLOW = Words(
        "nearly-slow",
        "some of its answers take more than half of their time",
        _TIME,
        "On a slower machine it is a fault: leave a reserve.",
    )
    NEARLY_SPENT = Words(
        "nearly-spent",
        "it uses more than half of its time for a match",
        _BANK,
        "In a longer match, or on a slower machine, it is a fault: read `bank_ms`, and think less "
        "when little is left.",
    )
    HOST_PACKAGE = Words(
        "host-package",
        "it uses a package of this machine that it does not declare",
        _MODULES,
        "Where an event is played the package may be missing, or another version: pin it in a "
        'requirements.txt, name that in bot.toml, lock = "requirements.txt", and run arena fetch.',
    )
    NEARLY_FULL = Words(
        "nearly-full",
        "it uses nearly all of its memory",
        _MEMORY,
        "On another machine it may use more: leave a reserve.",
    )
    NOT_REPEATABLE = Words(
        "not-repeatable",
        "it plays differently when the same messages come again",
        Rule(
            "Random numbers that are seeded with the match's `seed` make games repeatable.",
            _S.MESSAGES,
        ),
        "Seed its generator with `seed` at each `match`; do not use the time, addresses or the "
        "order of hashes. `--seed` events can't be verified otherwise.",
    )
    BUSY_WAIT = Words(
        "busy-wait",
        "it uses the processor while it waits for a message",
        Rule(
            "What a bot computes while it is not asked is measured, and shown in the table.",
            _S.LIMITS,
        ),
        "Wait for input with a read that blocks instead of polling for it in a loop.",
    )
    STAYS = Words(
        "stays",
        "it does not exit within a second",
        _LEAVE,
        "End the read loop at `bye` and at the end of the input; let no thread run on.",
    )
    NO_CRLF = Words(
        "no-crlf",
        "it cannot read lines that end in CR LF",
        Rule(
            "The referee ends lines with a newline alone; files and terminals may add a carriage "
            "return before it.",
            _S.CONVERSATION,
        ),
        "Strip white space from the end of a line before you parse it.",
    )
    LEAVES_BADLY = Words(
        "leaves-badly",
        "it does not exit with status 0",
        _LEAVE,
        "Treat the end of the input as the end of the loop, not as an error.",
    )
    # Nothing could be run.
    NOT_ENTERED = Words(
        "not-entered",
        "it cannot take part as it is",
        _BOT,
        "Fix what the lines above name.",
    )
    NO_SUCH_PATH = Words(
        "no-such-path",
        "it does not exist",
        _BOT,
        "Name a path that exists.",
    )
