"""`arena audit`: report what is unusual in an event's log."""

from pathlib import Path

import click

from arena.cli.flags import FOLDER, Helped, switch

STRANGE = 6


@click.command(cls=Helped, short_help="Report what is unusual in the event in FOLDER.")
@click.argument("folder", type=FOLDER)
@switch("--strict", "Exit with 6 if something is that chance shows in 1 of 100.")
@switch("--all", "Every bot, however many there are.", to="everything")
@switch("--json", "One JSON object, for programs.", to="as_json")
def audit(folder: Path, *, strict: bool, everything: bool, as_json: bool) -> int:
    import arena
    from arena.terminal.audit_report import audit_lines
    from arena.terminal.screen import colour, echo_json, say, show

    report = arena.audit_results(folder, notify=say)
    if as_json:
        echo_json(report)
    else:
        show(audit_lines(report, str(folder), paint=colour(), everything=everything))
    return STRANGE if strict and report.strange else 0
