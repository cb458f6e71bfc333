"""Print the faults of an event's matches, a line or a JSON object each."""

from __future__ import annotations

import click
import msgspec

from arena.api.results import EventResults
from arena.reports.escape import json_line
from arena.reports.faults import fault_lines, feed_command
from arena.terminal.screen import say


def show_faults(results: EventResults, *, as_json: bool) -> None:
    folder, limits = str(results.folder), results.settings.limits
    found = False
    for record in results.matches(everything=True):
        found = found or bool(record.faults)
        if not as_json:
            for text in fault_lines(record, folder, limits):
                click.echo(text)
            continue
        for fault in record.faults:
            line = {
                "match": record.id,
                "bot": record.seats[fault.seat],
                **msgspec.to_builtins(fault),
                "again": feed_command(record, fault, folder, limits),
            }
            click.echo(json_line(msgspec.json.encode(line)))
    if not found:
        say(f"no faults in {folder}")
