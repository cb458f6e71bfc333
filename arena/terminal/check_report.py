"""Print the reports of `arena check`: each check when it is done, then each mistake.

Where there is no terminal no line is cut or broken: programs read what is quoted there, or people
paste it.
"""

import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence

import click

from arena.api.check import CheckProgress
from arena.check.diagnosis import last_exception
from arena.check.mistakes import Mistake
from arena.check.report import CheckResult, Finding, Report
from arena.terminal.screen import colour, columns, say

SPEC = "protocol/SPEC.md"
MARKS = {"passed": "✓", "warned": "!", "failed": "✗", "skipped": "\u2013"}
COLOURS = {"failed": "red", "warned": "yellow", "passed": "green", "skipped": "bright_black"}
WORDS = {"warned": "passed with a warning"}
# Of a line that was sent or received, without --verbose: its beginning and its end, unless
# nearly all of it would be shown anyway.
SHOWN, SHOWN_END, WHOLE = 300, 60, 500
# Of stderr: its first lines often say what the error is, the last ones where it was.
FIRST_LINES, LAST_LINES = 3, 6
_LABEL = 14
_NARROWEST = 16


class CheckDisplay(CheckProgress):
    """Prints each check of one bot when it is done; of several a line for each that passes."""

    def __init__(
        self, out: Callable[[str], None] | None, *, width: int | None, verbose: bool, several: bool
    ) -> None:
        """`out`: None prints no report. `width`: of the terminal, None where there is none."""
        self._print = out or (lambda _: None)
        self._width = width
        self._verbose = verbose or width is None
        self._all = verbose
        self._several = several
        self._longest = 0
        self._skipped: list[CheckResult] = []
        self._reports = 0

    def note(self, text: str) -> None:
        say(text)

    def status(self, text: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text[: columns() - 1]}")
            sys.stderr.flush()

    def begin(self, bot: str, path: str, titles: Sequence[str]) -> None:
        self._longest = max(map(len, titles), default=0)
        if not self._several:
            self._print(f"{bot}  ({path})")

    def checked(self, checked: CheckResult) -> None:
        if not self._several:
            self._checked(checked)

    def report(self, report: Report) -> None:
        self._reports += 1
        entry = report.checks[0].finding
        if entry and entry.cause is Mistake.NO_SUCH_PATH:
            self._mark("failed", entry.title)
        elif self._several and report.status == "passed" and not self._all:
            self._sentence("passed", f"{report.bot}: {_verdict(report)}")
        else:
            if self._several or entry:
                self._whole(report)
            self._print_skipped()
            self._findings(report)

    def _whole(self, report: Report) -> None:
        """Print the checks of a report, which were not printed one by one."""
        if self._reports > 1:
            self._print("")
        self._longest = max(len(checked.title) for checked in report.checks)
        if self._several:
            self._print(f"{report.bot}  ({report.path})")
            for checked in report.checks:
                self._checked(checked)

    def _checked(self, checked: CheckResult) -> None:
        first = self._skipped[0] if self._skipped else None
        if first and (checked.status != "skipped" or checked.detail != first.detail):
            self._print_skipped()
        if checked.status == "skipped" and not self._all:
            self._skipped.append(checked)  # those of one reason are one line
        else:
            self._line(checked)

    def _print_skipped(self) -> None:
        skipped, self._skipped = self._skipped, []
        if len(skipped) > 1:
            self._mark("skipped", f"{len(skipped)} more, skipped: {skipped[0].detail}", "  ")
        elif skipped:
            self._line(skipped[0])

    def _line(self, checked: CheckResult) -> None:
        head = f"{checked.title:<{self._longest}}  "
        self._sentence(checked.status, checked.detail, head=head, left="  ")

    def _findings(self, report: Report) -> None:
        for checked in report.checks:
            if checked.finding:
                self._print("")
                self._sentence(checked.status, f"{checked.title}: {checked.finding.title}")
                self._finding(checked.finding)
        self._print("")
        self._sentence(report.status, f"{report.bot}: {_verdict(report)}")

    def _sentence(self, status: str, text: str, *, head: str = "", left: str = "") -> None:
        """Behind a mark and `head`; what is broken begins below the text."""
        margin = len(left) + 2 + len(head)
        first, *rest = self._wrapped(text, margin)
        self._mark(status, f"{head}{first}".rstrip(), left)
        for line in rest:
            self._print(f"{'':<{margin}}{line}")

    def _finding(self, finding: Finding) -> None:
        says = [line for line in finding.stderr.splitlines() if line.strip()]
        last = last_exception(finding.stderr)
        found = "" if last and finding.found == last else finding.found
        received = self._capped(finding.received) or "nothing" * bool(finding.sent)
        room = None if self._verbose else self._room(_LABEL)
        for label, lines in (
            ("error", self._quoted(last)),
            ("found", found.split("\n") if "\n" in found else self._words(found)),
            ("sent", self._quoted(self._capped(finding.sent))),
            ("received", self._quoted(received)),
            ("ended", self._words(finding.status)),
            ("rule", self._words(f'{finding.rule} ({SPEC}, "{finding.section}")')),
            ("do", self._words(finding.advice)),
            ("stderr", [f"| {line}"[:room] for line in (says if self._verbose else _ends(says))]),
        ):
            for number, line in enumerate(lines):
                self._print(f"    {'' if number else label:<9} {line}")

    def _words(self, text: str) -> list[str]:
        return self._wrapped(text, _LABEL) if text else []

    def _wrapped(self, text: str, indent: int) -> list[str]:
        if self._width is None:
            return [text]
        return textwrap.wrap(text, self._room(indent), break_on_hyphens=False) or [""]

    def _quoted(self, text: str) -> list[str]:
        """Quote text to the letter: a terminal's width breaks it anywhere."""
        if self._width is None or not text:
            return [text] if text else []
        room = self._room(_LABEL)
        return [text[at : at + room] for at in range(0, len(text), room)]

    def _room(self, indent: int) -> int:
        """Columns behind an indent: a few even on a terminal that has none left."""
        assert self._width is not None
        return max(_NARROWEST, self._width - indent)

    def _capped(self, text: str) -> str:
        if self._verbose or len(text) <= WHOLE:
            return text
        return f"{text[:SHOWN]} …({len(text) - SHOWN - SHOWN_END} more)… {text[-SHOWN_END:]}"

    def _mark(self, status: str, text: str, indent: str = "") -> None:
        mark = click.style(MARKS[status], fg=COLOURS[status]) if colour() else MARKS[status]
        self._print(f"{indent}{mark} {text}")


def _ends(lines: Sequence[str]) -> Sequence[str]:
    left_out = len(lines) - FIRST_LINES - LAST_LINES
    if left_out <= 1:
        return lines
    return [*lines[:FIRST_LINES], f"…({left_out} more lines)…", *lines[-LAST_LINES:]]


def _verdict(report: Report) -> str:
    counts = Counter[str](checked.status for checked in report.checks)
    shown = ((counts[status], WORDS.get(status, status)) for status in COLOURS)
    text = ", ".join(f"{count} {word}" for count, word in shown if count)
    if report.status != "failed":
        text += f"; {report.times.p99_ms:.1f} ms an answer (p99), {report.memory_mb:.0f} MB"
    return text
