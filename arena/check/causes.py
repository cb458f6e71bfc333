"""Every mistake that has a name: what it is called, the rule it breaks, what to do. Pure data.

Invariant: each member of `Cause` has an entry in `CAUSES`. {flush}, {log} and {read} in advice
stand for how it is done in the bot's language.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType

import msgspec


class Section(enum.StrEnum):
    """The headings of protocol/SPEC.md that rules stand under, without their numbers."""

    CONVERSATION = "The conversation"
    MESSAGES = "Messages"
    HELLO = "`hello`"
    READY = "`ready`"
    ACT = "`act`"
    LIMITS = "Limits and time"
    FAULTS = "Faults"
    WHERE = "Where your program runs"
    CHANGE = "What may change"


class Cause(enum.StrEnum):
    """A mistake. For machines; `CAUSES` has the words for people."""

    # What keeps an answer from arriving.
    BUFFERED = "buffered"
    READS_AHEAD = "reads-ahead"
    WANTS_LINE = "wants-line"
    NO_NEWLINE = "no-newline"
    NO_ANSWER = "no-answer"
    TOO_SLOW = "too-slow"
    SPENT = "spent"
    ENDLESS = "endless"
    STUCK = "stuck"
    # What is in place of an answer.
    BANNER = "banner"
    PRINT = "print"
    BYTE_ORDER_MARK = "byte-order-mark"
    UTF_16 = "utf-16"
    NOT_UTF_8 = "not-utf-8"
    SINGLE_QUOTES = "single-quotes"
    PRETTY_PRINTED = "pretty-printed"
    ECHO = "echo"
    EMPTY_LINE = "empty-line"
    BARE_MOVE = "bare-move"
    NOT_AN_OBJECT = "not-an-object"
    TWO_ON_A_LINE = "two-on-a-line"
    BROKEN_JSON = "broken-json"
    NOT_A_NUMBER = "not-a-number"
    BYTES = "bytes"
    NOT_ENCODED = "not-encoded"
    NOT_READY = "not-ready"
    NESTED = "nested"
    FLOOD = "flood"
    # Answers that are wrong.
    TURN_MISSING = "turn-missing"
    TURN_TYPE = "turn-type"
    TURN_CUT = "turn-cut"
    TURN_OLD = "turn-old"
    TURN_WRONG = "turn-wrong"
    MOVE_MISSING = "move-missing"
    MOVE_TYPE = "move-type"
    MOVE_INDEX = "move-index"
    ILLEGAL = "illegal"
    # Answers that nobody wanted.
    TWO_ANSWERS = "two-answers"
    UNASKED = "unasked"
    # How it ended.
    NO_MODULE = "no-module"
    WINDOWS_LINES = "windows-lines"
    OTHER_GAME = "other-game"
    NOT_FOUND = "not-found"
    NO_FILE = "no-file"
    NOT_EXECUTABLE = "not-executable"
    EXCEPTION = "exception"
    SIGNAL = "signal"
    STATUS = "status"
    READ_ONLY = "read-only"
    NETWORK = "network"
    THREADS = "threads"
    SHARED_MEMORY = "shared-memory"
    FILES = "files"
    NO_MEMORY = "no-memory"
    MEMORY = "memory"
    DISK = "disk"
    LEFT_EARLY = "left-early"
    LEFT_AFTER_HOLE = "left-after-hole"
    LEFT_AFTER_MATCH = "left-after-match"
    CLOSED_OUTPUT = "closed-output"
    # Warnings.
    NEARLY_SLOW = "nearly-slow"
    NEARLY_SPENT = "nearly-spent"
    HOST_PACKAGE = "host-package"
    NEARLY_FULL = "nearly-full"
    NOT_REPEATABLE = "not-repeatable"
    BUSY_WAIT = "busy-wait"
    STAYS = "stays"
    NO_CRLF = "no-crlf"
    LEAVES_BADLY = "leaves-badly"
    # Before anything ran.
    NOT_ENTERED = "not-entered"
    NO_SUCH_PATH = "no-such-path"


class Words(msgspec.Struct, frozen=True):
    """A mistake, for people."""

    title: str
    """What it is, as the end of a sentence that began with the bot."""
    rule: str
    section: Section
    advice: str


_ANSWER = 'An answer is {"turn":"…","move":"…"}: both strings, in one object, on one line.'
_ONE = "Each act (and hello) wants exactly one line; nothing else may go to standard output."
_LINES = "Every line is one JSON object in UTF-8, with a newline at its end."
_TURN = "`turn` is copied into the answer as it was received, a string with all its letters."
_ASKED = "The process must be there, and answer, until `bye` or the end of its input."
_S = Section

CAUSES: Mapping[Cause, Words] = MappingProxyType(
    {
        Cause.BUFFERED: Words(
            "its answers came only when its input had ended: output not flushed, or input read "
            "to its end first",
            "Each answer must leave the program at once: flush after every line.",
            _S.FAULTS,
            "{flush} If it does flush: it reads standard input to its end before it answers. "
            "{read}",
        ),
        Cause.READS_AHEAD: Words(
            "it reads ahead: it answered only after a block of further input",
            "Nothing may read ahead of the line that is to be answered.",
            _S.FAULTS,
            "{read}",
        ),
        Cause.WANTS_LINE: Words(
            "it waits for one line more before it answers",
            "Nothing may read ahead of the line that is to be answered.",
            _S.FAULTS,
            "Answer as soon as a line is complete: don't look for the next one (or for what "
            "follows the newline) first.",
        ),
        Cause.NO_NEWLINE: Words(
            "the newline at the end of its line is missing",
            _LINES,
            _S.CONVERSATION,
            'Write "\\n" after the JSON, then flush. {flush}',
        ),
        Cause.NO_ANSWER: Words(
            "it read the message and went on reading, without an answer",
            "`hello` and each `act` want exactly one line.",
            _S.CONVERSATION,
            'See that it recognises the message by its "type", and that it writes to standard '
            "output, not to standard error.",
        ),
        Cause.TOO_SLOW: Words(
            "it answers too late",
            "An answer must be complete within the time that `hello` states.",
            _S.LIMITS,
            "Think less: stop when the time of the question (`move_ms`, `bank_ms`) nears its "
            "end. What takes long once belongs before `ready`.",
        ),
        Cause.SPENT: Words(
            "it has used up its time for the match",
            "All answers of a match must come within `match_ms`, the bank.",
            _S.LIMITS,
            "Look at `bank_ms` in each question, and think less when it gets short.",
        ),
        Cause.ENDLESS: Words(
            "it computes without an end: an endless loop?",
            "An answer must be complete within the time that `hello` states.",
            _S.LIMITS,
            "See which loop it can't leave with the line shown as its input; at the end of the "
            "input a read gives nothing for ever. Or it thinks for far too long.",
        ),
        Cause.STUCK: Words(
            "it does nothing, and doesn't read its input either",
            "An answer must be complete within the time that `hello` states.",
            _S.LIMITS,
            "It waits for something that never comes: a lock, a child process, a sleep, or a "
            "terminal instead of standard input?",
        ),
        Cause.BANNER: Words(
            "it writes something else before `ready`",
            'The first line that a bot writes is {"type":"ready"}, after it has read `hello`.',
            _S.READY,
            "Write greetings, prompts and logs to standard error. {log}",
        ),
        Cause.PRINT: Words(
            "a prompt, a log or a debug print is on standard output",
            _ONE,
            _S.CONVERSATION,
            "Write everything but answers to standard error. {log}",
        ),
        Cause.BYTE_ORDER_MARK: Words(
            "its output begins with a byte-order mark",
            _LINES,
            _S.CONVERSATION,
            "Set standard output to UTF-8 without a mark (in .NET: new UTF8Encoding(false)).",
        ),
        Cause.UTF_16: Words(
            "its output is UTF-16",
            _LINES,
            _S.CONVERSATION,
            "Set standard output to UTF-8 without a byte-order mark.",
        ),
        Cause.NOT_UTF_8: Words(
            "its line is not UTF-8",
            _LINES,
            _S.CONVERSATION,
            "Write text as UTF-8; turn ids and moves are plain ASCII.",
        ),
        Cause.SINGLE_QUOTES: Words(
            "it writes a Python dict, not JSON: single quotes",
            _LINES,
            _S.CONVERSATION,
            "print(json.dumps(answer), flush=True) instead of print(answer).",
        ),
        Cause.PRETTY_PRINTED: Words(
            "its JSON is spread over several lines",
            _LINES,
            _S.CONVERSATION,
            "Write compact JSON: no indent, no pretty-printer.",
        ),
        Cause.ECHO: Words(
            "it writes back what it reads",
            _ONE,
            _S.CONVERSATION,
            "Take out the line that prints its input (`set -v`, `perl -p`, `sed` without -n?).",
        ),
        Cause.EMPTY_LINE: Words(
            "it writes an empty line",
            _ONE,
            _S.CONVERSATION,
            "One newline ends an answer: does it add one to a print that adds its own?",
        ),
        Cause.BARE_MOVE: Words(
            "it writes the move alone, without turn and JSON",
            _ANSWER,
            _S.ACT,
            "Put it into an object, with `turn` as it was received.",
        ),
        Cause.NOT_AN_OBJECT: Words(
            "its line is JSON, but no object",
            _ANSWER,
            _S.ACT,
            "Write an object with `turn` and `move`, not encoded a second time.",
        ),
        Cause.TWO_ON_A_LINE: Words(
            "there is more than one JSON value on its line",
            _LINES,
            _S.CONVERSATION,
            "Write one object, then a newline.",
        ),
        Cause.BROKEN_JSON: Words(
            "its line is not valid JSON",
            _LINES,
            _S.CONVERSATION,
            'Build it with a JSON library, or exactly as printf \'{"turn":"%s","move":"%s"}\\n\'.',
        ),
        Cause.NOT_A_NUMBER: Words(
            "it writes NaN or Infinity, which JSON doesn't have",
            _LINES,
            _S.CONVERSATION,
            "Leave the field out, or write null; an answer needs no other fields than `turn` and "
            "`move`. (In Python json.dumps(answer, allow_nan=False) raises where it comes from.)",
        ),
        Cause.BYTES: Words(
            "it prints Python bytes: b'…'",
            _LINES,
            _S.CONVERSATION,
            "Print text, print(answer.decode(), flush=True), or write the bytes themselves: "
            'sys.stdout.buffer.write(answer + b"\\n"), then sys.stdout.buffer.flush().',
        ),
        Cause.NOT_ENCODED: Words(
            "it prints an object or a string as its language shows it, not as JSON",
            _LINES,
            _S.CONVERSATION,
            "Encode the answer once, and write what the encoder gives: JSON.stringify(answer), "
            "json.dumps(answer), json.Marshal(answer).",
        ),
        Cause.NOT_READY: Words(
            "its answer to `hello` is not `ready`",
            'The answer to `hello` is {"type":"ready"}.',
            _S.READY,
            'Write {"type":"ready"} when a message of the type "hello" comes.',
        ),
        Cause.NESTED: Words(
            "its line has more than 64 opening brackets",
            "A line may hold at most 64 [ and {, counted anywhere in it.",
            _S.LIMITS,
            "Answer with `turn` and `move` alone.",
        ),
        Cause.FLOOD: Words(
            "its line is longer than `line_bytes`",
            "A line has at most `line_bytes` bytes.",
            _S.LIMITS,
            "Does it forget the newline, or print in a loop? An answer has some forty bytes.",
        ),
        Cause.TURN_MISSING: Words(
            "its answer has no `turn`",
            _ANSWER,
            _S.ACT,
            "Copy the field `turn` of the question into the answer.",
        ),
        Cause.TURN_TYPE: Words(
            "`turn` in its answer is not a string",
            _TURN,
            _S.ACT,
            "Write it in double quotes, as it came; don't turn it into a number.",
        ),
        Cause.TURN_CUT: Words(
            "`turn` in its answer is only a part of what was sent",
            _TURN,
            _S.ACT,
            "Copy the whole string, with what follows the hyphen.",
        ),
        Cause.TURN_OLD: Words(
            "`turn` in its answer is that of an earlier question",
            _TURN,
            _S.ACT,
            "Read `turn` anew from each question, and answer each only once.",
        ),
        Cause.TURN_WRONG: Words(
            "`turn` in its answer is none that was sent",
            _TURN,
            _S.ACT,
            "Copy it from the question; it can't be known or counted in advance.",
        ),
        Cause.MOVE_MISSING: Words(
            "its answer has no `move`", _ANSWER, _S.ACT, "Put one string of `legal` there."
        ),
        Cause.MOVE_TYPE: Words(
            "`move` in its answer is not a string",
            _ANSWER,
            _S.ACT,
            'Write the move as one string, with its position in it: "take 3".',
        ),
        Cause.MOVE_INDEX: Words(
            "`move` in its answer is a number, not the move itself",
            _ANSWER,
            _S.ACT,
            "Write the string legal[i], not i.",
        ),
        Cause.ILLEGAL: Words(
            "its move is not in `legal`",
            "`move` is one of the strings in `legal`, letter by letter.",
            _S.ACT,
            "Choose from `legal`; it holds every legal move, in every phase.",
        ),
        Cause.TWO_ANSWERS: Words(
            "it answers one question twice",
            _ONE,
            _S.CONVERSATION,
            "Write one line a question: is there a second print, or a missing continue or else?",
        ),
        Cause.UNASKED: Words(
            "it answers a message that wants no answer",
            _ONE,
            _S.CONVERSATION,
            "Answer only to `hello` and `act`; read `match`, `hole_end`, `match_end` and what it "
            "doesn't know in silence.",
        ),
        Cause.NO_MODULE: Words(
            "a module that it needs isn't there",
            "A bot sees its own folder and the language's own modules, and what `lock` names.",
            _S.WHERE,
            "A module of its own must be in the bot's folder; a package must be named in a lock "
            "file that `lock` in bot.toml names.",
        ),
        Cause.WINDOWS_LINES: Words(
            "its script has the line ends of Windows",
            "`run` names a program that may be run on this machine.",
            _S.WHERE,
            "Save the script with Unix line ends (LF, not CR LF): sed -i 's/\\r$//' SCRIPT.",
        ),
        Cause.OTHER_GAME: Words(
            "it doesn't play this game",
            "A bot that doesn't play the game that `hello` names exits with status 1 and says so.",
            _S.HELLO,
            "Check what it plays",
        ),
        Cause.NOT_FOUND: Words(
            "its command, or a program that it starts, isn't there",
            "`run` names a program of the bot's folder or of this machine.",
            _S.WHERE,
            "See what standard error names: a path outside the folder, or a missing "
            "interpreter or library.",
        ),
        Cause.NO_FILE: Words(
            "a file that it opens isn't there",
            "A bot's folder is its working directory; nothing else of yours is there.",
            _S.WHERE,
            "Put the file into the bot's folder and open it by a path relative to that. Caches, "
            "virtual environments and compiled Python files are not taken along.",
        ),
        Cause.NOT_EXECUTABLE: Words(
            "its program can't be executed",
            "`run` names a program that may be run on this machine.",
            _S.WHERE,
            "chmod +x it; see that it is built for this machine, and that the interpreter in "
            "its #! line is there.",
        ),
        Cause.EXCEPTION: Words(
            "it died of an exception",
            _ASKED,
            _S.FAULTS,
            "Mend what standard error tells. The message that it had read is shown here.",
        ),
        Cause.SIGNAL: Words(
            "it crashed",
            _ASKED,
            _S.FAULTS,
            "Run it by hand with the line shown as its input, under a debugger or sanitizer.",
        ),
        Cause.STATUS: Words(
            "it left with an error status",
            _ASKED,
            _S.FAULTS,
            "See why it left when it had read the line shown here.",
        ),
        Cause.READ_ONLY: Words(
            "it writes a file where nothing can be written",
            "The bot's folder is read-only; there is scratch space only on request.",
            _S.WHERE,
            "Log to standard error. If it needs files: scratch_mb = 16 under [limits] in "
            "bot.toml, and write below $TMPDIR.",
        ),
        Cause.NETWORK: Words(
            "it uses the network",
            "There is no network: every socket is refused.",
            _S.WHERE,
            "Put what it needs into its folder; for packages there is `lock` in bot.toml.",
        ),
        Cause.THREADS: Words(
            "it starts too many threads or processes",
            "A bot has at most `tasks` processes and threads together.",
            _S.LIMITS,
            "Make its thread pool smaller; there is one processor core in any case.",
        ),
        Cause.SHARED_MEMORY: Words(
            "it uses memory or semaphores that processes share, and they are refused",
            "Shared memory fails; threads, child processes and pipes work.",
            _S.WHERE,
            "multiprocessing.Pool, Queue and Lock, and ProcessPoolExecutor, need them. Compute in "
            "one process: there is one processor core in any case. Or talk to child processes "
            "through pipes (subprocess, multiprocessing.Pipe).",
        ),
        Cause.FILES: Words(
            "it opens too many files",
            "At most 256 files are open in a process.",
            _S.WHERE,
            "Close what it opens: with open(…) as file, or its like.",
        ),
        Cause.NO_MEMORY: Words(
            "memory was refused to it",
            "A bot has `memory_mb` of memory, all its processes together.",
            _S.LIMITS,
            "Use less: smaller tables or caches; a runtime may have a heap size to set.",
        ),
        Cause.MEMORY: Words(
            "it was killed for using too much memory",
            "A bot has `memory_mb` of memory, all its processes together.",
            _S.LIMITS,
            "Use less: does it keep every message, or a cache without a limit?",
        ),
        Cause.DISK: Words(
            "it was killed for filling its scratch space",
            "A bot has at most the scratch space that it asked for.",
            _S.LIMITS,
            "Write less, or ask for more: scratch_mb under [limits] in bot.toml.",
        ),
        Cause.LEFT_EARLY: Words(
            "it left, with status 0, while it was to answer",
            _ASKED,
            _S.FAULTS,
            "Read in a loop until the input ends: does it read one line only?",
        ),
        Cause.LEFT_AFTER_HOLE: Words(
            "it leaves when a hole is over",
            "`hole_end` ends nothing: the next hole follows.",
            _S.CONVERSATION,
            "Go on reading after `hole_end`; leave after `bye` or at the end of the input.",
        ),
        Cause.LEFT_AFTER_MATCH: Words(
            "it leaves when a match is over",
            "One process plays a series of matches; the next `match` follows.",
            _S.CONVERSATION,
            "Go on reading after `match_end`; leave after `bye` or at the end of the input.",
        ),
        Cause.CLOSED_OUTPUT: Words(
            "it closed its standard output",
            _ASKED,
            _S.FAULTS,
            "Keep standard output open; has a thread or a child process the answer left?",
        ),
        Cause.NEARLY_SLOW: Words(
            "some of its answers take more than half of their time",
            "An answer must be complete within `move_ms`.",
            _S.LIMITS,
            "On a slower machine it is a fault: leave a reserve.",
        ),
        Cause.NEARLY_SPENT: Words(
            "it uses more than half of its time for a match",
            "All answers of a match must come within `match_ms`, the bank.",
            _S.LIMITS,
            "A longer match, or a slower machine, makes it a fault: look at `bank_ms`, and think "
            "less when it gets short.",
        ),
        Cause.HOST_PACKAGE: Words(
            "it uses a package of this machine that nobody gives it",
            "A bot sees its own folder and the language's own modules, and what `lock` names.",
            _S.WHERE,
            "Where an event is played the package may be missing, or another one: pin it in a "
            'requirements.txt and name that in bot.toml, lock = "requirements.txt"; then arena '
            "fetch.",
        ),
        Cause.NEARLY_FULL: Words(
            "it uses nearly all of its memory",
            "A bot has `memory_mb` of memory, all its processes together.",
            _S.LIMITS,
            "On another machine it may be more: leave a reserve.",
        ),
        Cause.NOT_REPEATABLE: Words(
            "it plays otherwise when the same happens again",
            "Random numbers that are seeded with the match's `seed` make games repeatable.",
            _S.MESSAGES,
            "Seed its generator with `seed` at each `match`; don't use the time, addresses or "
            "the order of hashes. `--seed` events can't be verified otherwise.",
        ),
        Cause.BUSY_WAIT: Words(
            "it uses the processor while it waits for a message",
            "What a bot computes while it isn't asked is seen, and is in the table.",
            _S.LIMITS,
            "Wait for input with a read that blocks instead of looking for it in a loop.",
        ),
        Cause.NO_CRLF: Words(
            "it can't read lines that end in CR LF",
            "The referee ends lines with a newline alone; files and terminals may add a carriage "
            "return before it.",
            _S.CONVERSATION,
            "Drop white space from the end of a line before you look at it.",
        ),
        Cause.STAYS: Words(
            "it doesn't leave within a second",
            "After `bye`, or when standard input ends, a bot exits within a second.",
            _S.CONVERSATION,
            "End the read loop at `bye` and at the end of the input; let no thread go on.",
        ),
        Cause.LEAVES_BADLY: Words(
            "it doesn't leave with status 0",
            "After `bye`, or when standard input ends, a bot exits.",
            _S.CONVERSATION,
            "Take the end of the input as the end of the loop, not as an error.",
        ),
        Cause.NOT_ENTERED: Words(
            "it can't take part as it is",
            "A bot is a folder with a bot.toml or an obvious entry file, a script or a program.",
            _S.WHERE,
            "Mend what the lines above name.",
        ),
        Cause.NO_SUCH_PATH: Words(
            "it isn't there",
            "A bot is a folder with a bot.toml or an obvious entry file, a script or a program.",
            _S.WHERE,
            "Name a path that exists.",
        ),
    }
)
