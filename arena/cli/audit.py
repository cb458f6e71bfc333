"""`arena audit`: report what is unusual in an event's log."""

from pathlib import Path

import click

from arena.cli.flags import FOLDER, Command, switch

STRANGE = 6


@click.command(cls=Command, short_help="Report what is unusual in the event in FOLDER.")
@click.argument("folder", type=FOLDER)
@switch("--strict", "Exit with 6 if something is that chance shows in 1 of 100.")
@switch("--all", "Every bot, however many there are.", to="everything")
@switch("--json", "One JSON object, for programs.", to="as_json")
def audit(folder: Path, *, strict: bool, everything: bool, as_json: bool) -> int:
    """Report what in the event in FOLDER is unusual, and how often chance alone shows as much.

    From the log alone: what seats are worth, ties, holes that only the turn cap ended, luck, who
    does better where a deal had been played before, pairs that do better together or feed each
    other discards, results that hang together within a series, which makes the table's intervals
    too narrow, time, faults and load. It shows what is unusual, never why: two styles that
    suit each other look like two bots that have agreed on something.
    """
    import arena
    from arena.terminal.audit_report import audit_lines
    from arena.terminal.screen import colour, echo_json, say, show

    report = arena.audit_results(folder, notify=say)
    if as_json:
        echo_json(report)
    else:
        show(audit_lines(report, str(folder), paint=colour(), everything=everything))
    return STRANGE if strict and report.strange else 0
