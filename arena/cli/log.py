"""`arena log`: print records as JSON lines, faults, or the transcript of a bot."""

from pathlib import Path
from typing import Any

import click

from arena.cli.flags import FOLDER, NATURAL, Helped, option, switch
from arena.cli.paths import bots_of, matches_of


@click.command(cls=Helped)
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
def log(folder: Path, **options: Any) -> None:  # noqa: ANN401 - click's flags
    import sys

    import arena
    from arena.terminal.replay import show_faults
    from arena.terminal.screen import json_line, say

    results = arena.open_results(folder, notify=say)
    canonical, faults, transcript = (options[n] for n in ("canonical", "faults", "transcript"))
    of_one = {name: options[name] for name in ("bot", "attempt", "lean")}
    if transcript is None and any(value not in (None, False) for value in of_one.values()):
        raise arena.UserError("--bot, --lean and --attempt go with --transcript MATCH")
    if options["as_json"] and not faults:
        raise arena.UserError("--json goes with --faults; the records are JSON as they are")
    if len([flag for flag in (canonical, faults, transcript) if flag]) > 1:
        raise arena.UserError(
            "--canonical, --faults and --transcript print different things: take one"
        )
    if transcript is not None:
        sys.stdout.buffer.write(results.transcript(transcript, **of_one))
    elif faults:
        show_faults(results, as_json=options["as_json"])
    else:
        for line in results.lines(canonical=canonical, everything=options["everything"]):
            sys.stdout.buffer.write(json_line(line))
    sys.stdout.buffer.flush()
