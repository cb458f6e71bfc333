"""`arena check`: the flags, and the report in lines; `arena.cli.checking` does the work."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import Duration
from arena.cli.paths import PathName
from arena.registry import GAMES, SANDBOXES

if TYPE_CHECKING:
    from arena.check.report import Checked, Finding, Report, Reports

WIDEST = 100
SPEC = "protocol/SPEC.md"
MARKS = {"passed": "✓", "warned": "!", "failed": "✗", "skipped": "\u2013"}
COLOURS = {"passed": "green", "warned": "yellow", "failed": "red", "skipped": "bright_black"}
# Of a line that was sent or received, without --verbose: its beginning and its end, unless
# nearly all of it would be shown anyway.
SHOWN, SHOWN_END, WHOLE = 300, 60, 500
# Of stderr: its first lines often say what the error is, the last ones where it was.
FIRST_LINES, LAST_LINES = 3, 6


@click.command(
    epilog="""\b
Examples:
  arena check my-bot
  arena check bots/*                        a line for each that passes
  arena check my-bot --game four-card-golf --quick
  arena check my-bot --json | jq '.bots[].checks[] | select(.finding)'

\b
Exit codes:
  0 passed (with --strict: and no warnings)    2 wrong input, or no bot
  3 a check failed                             4 the machine's trouble
"""
)
@click.argument("bots", nargs=-1, required=True, type=PathName(path_type=Path))
@click.option("--game", type=click.Choice(list(GAMES)), help="Only this game.  [default: all]")
@click.option("--quick", is_flag=True, help="One match of each kind.")
@click.option("--strict", is_flag=True, help="A warning fails, too.")
@click.option("--move-time", type=Duration(), default="1s", show_default=True)
@click.option("--start-time", type=Duration(), default="10s", show_default=True)
@click.option(
    "--memory", type=click.IntRange(1, 1 << 20), default=512, show_default=True, metavar="MB"
)
@click.option(
    "--sandbox",
    type=click.Choice(["auto", *SANDBOXES]),
    default="auto",
    show_default=True,
    help="As in arena run.",
)
@click.option("--verbose", "-v", is_flag=True, help="Lines and standard error whole.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
def check(
    bots: tuple[Path, ...],
    *,
    game: str | None,
    quick: bool,
    strict: bool,
    move_time: int,
    start_time: int,
    memory: int,
    sandbox: str,
    verbose: bool,
    as_json: bool,
) -> int:
    """Try whether BOTS keep to the protocol; of each mistake its name and what to do.

    Each bot is built and started as in an event, plays whole matches of every game against
    built-in opponents, and is tried with all that protocol/SPEC.md promises or demands.
    """
    from arena.check.report import Status
    from arena.cli.checking import check_bots
    from arena.cli.screen import colour, columns

    reports, entered = check_bots(
        bots,
        games=[game] if game else list(GAMES),
        quick=quick,
        move_ms=move_time,
        start_ms=start_time,
        memory_mb=memory,
        sandbox=sandbox,
    )
    if as_json:
        import msgspec

        from arena.reports.hostile import json_line

        click.echo(json_line(msgspec.json.encode(reports)))
    else:
        for line in told(reports, min(columns(), WIDEST), paint=colour(), verbose=verbose):
            click.echo(line)
    if not entered:
        return 2
    warned = any(report.status is Status.WARNED for report in reports.bots)
    return 3 if not reports.passed or (strict and warned) else 0


def told(reports: Reports, width: int, *, paint: bool, verbose: bool) -> Iterator[str]:
    """The report, in lines: of several bots those that pass have one each."""
    for number, report in enumerate(reports.bots):
        if len(reports.bots) > 1 and report.status == "passed" and not verbose:
            yield _mark("passed", f"{report.bot}: {_verdict(report)}", paint=paint)
            continue
        if number:
            yield ""
        yield from _report(report, width, paint=paint, verbose=verbose)


def _report(report: Report, width: int, *, paint: bool, verbose: bool) -> Iterator[str]:
    entry = report.checks[0].finding
    if entry and entry.cause == "no-such-path":
        yield _mark("failed", entry.title, paint=paint)
        return
    yield f"{report.bot}  ({report.path})"
    longest = max(len(checked.title) for checked in report.checks)
    for (status, why), group in groupby(report.checks, lambda c: (c.status, c.detail)):
        checks = list(group)
        if status == "skipped" and len(checks) > 1 and not verbose:
            yield "  " + _mark(status, f"{len(checks)} more, skipped: {why}", paint=paint)
            continue
        for checked in checks:
            yield "  " + _mark(status, _line(checked, longest, width - 4), paint=paint)
    for checked in report.checks:
        if checked.finding:
            yield ""
            heading = f"{checked.title}: {checked.finding.title}"
            first, *rest = textwrap.wrap(heading, width - 2) or [""]
            yield _mark(checked.status, first, paint=paint)
            yield from (f"  {line}" for line in rest)
            yield from _finding(checked.finding, width, verbose=verbose)
    yield ""
    yield _mark(report.status, f"{report.bot}: {_verdict(report)}", paint=paint)


def _line(checked: Checked, longest: int, width: int) -> str:
    text = f"{checked.title:<{longest}}  {checked.detail}".rstrip()
    return text if len(text) <= width else text[: width - 1] + "…"


def _finding(finding: Finding, width: int, *, verbose: bool) -> Iterator[str]:
    from arena.check.diagnosis import last_exception
    from arena.roster import printable

    says = [line for line in finding.stderr.splitlines() if line.strip()]
    shown = says if verbose else _ends(says)
    last = printable(last_exception(finding.stderr))
    found = "" if last and finding.found == last else finding.found
    for label, text in (
        ("error", last),
        ("found", found),
        ("sent", _capped(finding.sent, verbose=verbose)),
        ("received", _capped(finding.received, verbose=verbose) or "nothing" * bool(finding.sent)),
        ("ended", finding.status),
        ("rule", f'{finding.rule} ({SPEC}, "{finding.section}")'),
        ("do", finding.advice),
    ):
        if "\n" in text:  # a compiler's: it points at columns
            for number, line in enumerate(text.split("\n")):
                yield f"    {'' if number else label:<9} {line}"
        elif text:
            yield from textwrap.wrap(
                text,
                width,
                initial_indent=f"    {label:<9} ",
                subsequent_indent=" " * 14,
                break_on_hyphens=False,
            )
    for number, line in enumerate(shown):
        label = "stderr" if not number else ""
        yield f"    {label:<9} | {printable(line)}"[: None if verbose else width]


def _ends(lines: list[str]) -> list[str]:
    left_out = len(lines) - FIRST_LINES - LAST_LINES
    if left_out <= 1:
        return lines
    return [*lines[:FIRST_LINES], f"…({left_out} more lines)…", *lines[-LAST_LINES:]]


def _capped(text: str, *, verbose: bool) -> str:
    if verbose or len(text) <= WHOLE:
        return text
    left_out = len(text) - SHOWN - SHOWN_END
    return f"{text[:SHOWN]} …({left_out} more)… {text[-SHOWN_END:]}"


def _verdict(report: Report) -> str:
    counts = [
        (sum(checked.status == status for checked in report.checks), word)
        for status, word in (
            ("failed", "failed"),
            ("warned", "passed with a warning"),
            ("passed", "passed"),
            ("skipped", "skipped"),
        )
    ]
    text = ", ".join(f"{count} {word}" for count, word in counts if count)
    if report.status != "failed":
        text += f"; {report.times.p99_ms:.1f} ms an answer (p99), {report.memory_mb:.0f} MB"
    return text


def _mark(status: str, text: str, *, paint: bool) -> str:
    mark = MARKS[status]
    return f"{click.style(mark, fg=COLOURS[status]) if paint else mark} {text}"
