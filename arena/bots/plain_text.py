"""Make untrusted text (paths, names, build output) fit for a terminal. Pure.

Invariant: the result is one line of printable characters, so that no bot's name or compiler message
can move a cursor, hide text or forge a second line.
"""

import difflib
import json
import re
import shlex
from collections.abc import Iterable

LINE = 300  # characters shown of any foreign text: a few lines of a screen
OUTPUT_LINES = 20  # lines shown of a program's output

_WORD, _WORDS = 80, 500  # longest and most words that are compared: each pair takes up to 1 ms

# CSI, OSC and two-byte escapes, removed whole so that their letters don't stay behind.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


class BotError(Exception):
    """Why a bot can't take part: lines fit for a terminal, the most important one first."""

    def __init__(self, *lines: str) -> None:
        super().__init__(lines[0])
        self.lines = lines


def printable(text: object, limit: int = LINE) -> str:
    """Strip escape sequences, replace unprintable characters by `?`, shorten."""
    line = _ESCAPE.sub("", str(text)[: 16 * limit])
    line = "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def last_lines(output: bytes) -> tuple[str, ...]:
    """The end of a program's output, fit for a terminal."""
    shown = [printable(text) for text in output.decode("utf-8", "replace").splitlines()]
    return tuple(f"| {text}" for text in shown if text.strip())[-OUTPUT_LINES:]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the nearest of the known words, or nothing."""
    short = [each for each in sorted(known)[:_WORDS] if len(each) <= _WORD]
    near = difflib.get_close_matches(word, short, n=1) if len(word) <= _WORD else []
    return f" (did you mean '{printable(near[0])}'?)" if near else ""


def split_words(command: str) -> list[str]:
    """The words of a command line, as a shell would split it if it can."""
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def toml_array(words: Iterable[str]) -> str:
    return printable(json.dumps([*words], ensure_ascii=False))
