"""`arena log`: print records as JSON lines, faults, or the transcript of a bot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.flags import FOLDER, NATURAL, option, switch
from arena.cli.paths import bots_of, matches_of

if TYPE_CHECKING:
    from arena.model import Event
    from arena.store import Head


@click.command(
    epilog="""\b
Examples:
  arena log arena-results/20260102-150405 | jq .totals
  arena log results --canonical | sha256sum
  arena log results --faults
  arena log results --transcript 4f2c01ab99de-000003-1 --bot foo > foo.txt
"""
)
@click.argument("folder", type=FOLDER)
@switch("--canonical", "Sorted by id, without timings and other facts of the host.")
@switch("--all", "Also the records that don't count.", to="everything")
@switch("--faults", "The faults of all records, for people.")
@switch("--json", "With --faults: a JSON line a fault.", to="as_json")
@option(
    "--transcript MATCH",
    text="The conversation with a bot, up to that match.",
    shell_complete=matches_of,
)
@option("--bot NAME", text="With --transcript: the bot.", shell_complete=bots_of)
@switch("--lean", "With --transcript: of a bot that asks for `next`.")
@option("--attempt N", NATURAL, "With --transcript: of a series that was played again.")
def log(
    folder: Path,
    *,
    canonical: bool,
    everything: bool,
    faults: bool,
    as_json: bool,
    transcript: str | None,
    bot: str | None,
    lean: bool,
    attempt: int | None,
) -> None:
    """Print the counted records of the event in FOLDER.

    Records that don't count are those of series that were cut short and played again, and of
    bots that were withdrawn. A transcript begins where the bot's process did, and is made from
    the log: it needs the event's secret, which is revealed when the event is over.
    """
    import sys

    from arena.event.results import Counts
    from arena.model import UserError
    from arena.reports.escape import json_line
    from arena.store import canonical_line, read_by_id, read_event, read_some, record_line
    from arena.terminal.notes import tell_long_read

    event = read_event(folder)
    if transcript is None and (bot is not None or lean or attempt is not None):
        raise UserError("--bot, --lean and --attempt go with --transcript MATCH")
    if as_json and not faults:
        raise UserError("--json goes with --faults; the records are JSON as they are")
    if len([flag for flag in (canonical, faults, transcript) if flag]) > 1:
        raise UserError("--canonical, --faults and --transcript print different things: take one")
    if transcript is not None:
        from arena.event.transcript import BotMatches
        from arena.terminal.screen import say

        found = BotMatches.find(folder, transcript, bot, attempt, say, event=event)
        sys.stdout.buffer.write(found.transcript(lean=lean))
        sys.stdout.buffer.flush()
        return
    tell_long_read([folder])
    if faults:
        _print_faults(folder, event, as_json=as_json)
        return
    counts = _all if everything else Counts(folder, event=event)
    if canonical:
        lines = map(canonical_line, read_by_id(folder, counts, event))
    else:
        lines = map(record_line, read_some(folder, counts, event))
    for line in lines:
        sys.stdout.buffer.write(json_line(line))
    sys.stdout.buffer.flush()


def _all(_: Head) -> bool:
    return True


def _print_faults(folder: Path, event: Event, *, as_json: bool) -> None:
    import msgspec

    from arena.reports.escape import json_line
    from arena.reports.faults import again, fault_lines
    from arena.store import read_records
    from arena.terminal.screen import say

    limits = event.settings.limits
    found = False
    for record in read_records(folder, event):
        found = found or bool(record.faults)
        if not as_json:
            for text in fault_lines(record, str(folder), limits):
                click.echo(text)
            continue
        for fault in record.faults:
            line = {
                "match": record.id,
                "bot": record.seats[fault.seat],
                **msgspec.to_builtins(fault),
                "again": again(record, fault, str(folder), limits),
            }
            click.echo(json_line(msgspec.json.encode(line)))
    if not found:
        say(f"no faults in {folder}")
