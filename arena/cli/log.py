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
@switch("--regret", "Where the bots lost strokes by their own decisions.")
@option(
    "--newest N",
    NATURAL,
    "With --regret: in how many, with --bot of its own; 0: all.  [default: 200]",
)
@switch("--json", "With --faults: a JSON line a fault. With --regret: as JSON.", to="as_json")
@option(
    "--transcript MATCH",
    text="The conversation with a bot, up to that match.",
    shell_complete=matches_of,
)
@option(
    "--bot NAME",
    text="With --transcript or --regret: the bot. With --faults: also a pattern.",
    shell_complete=bots_of,
)
@switch("--lean", "With --transcript: of a bot that asks for `next`.")
@option("--attempt N", NATURAL, "With --transcript: of a series that was played again.")
def log(folder: Path, **options: Any) -> None:  # noqa: ANN401 - click's flags
    import sys

    import arena
    from arena.terminal.regret_report import show_regret
    from arena.terminal.replay import show_faults
    from arena.terminal.screen import json_line, say

    results = arena.open_results(folder, notify=say)
    canonical, faults, transcript = (options[n] for n in ("canonical", "faults", "transcript"))
    regret, newest = options["regret"], options["newest"]
    of_one = {name: options[name] for name in ("bot", "attempt", "lean")}
    given = [name for name, value in of_one.items() if value not in (None, False)]
    if transcript is None and given and not ((regret or faults) and given == ["bot"]):
        raise arena.UserError(
            "--bot, --lean and --attempt go with --transcript MATCH, --bot also with --faults or "
            "--regret"
        )
    if newest is not None and not regret:
        raise arena.UserError("--newest goes with --regret")
    if options["as_json"] and not (faults or regret):
        raise arena.UserError(
            "--json goes with --faults or --regret; the records are JSON as they are"
        )
    if len([flag for flag in (canonical, faults, transcript, regret) if flag]) > 1:
        raise arena.UserError(
            "--canonical, --faults, --regret and --transcript print different things: take one"
        )
    if regret:
        show_regret(results, newest, options["bot"], as_json=options["as_json"])
    elif transcript is not None:
        sys.stdout.buffer.write(results.transcript(transcript, **of_one))
    elif faults:
        show_faults(results, options["bot"], as_json=options["as_json"])
    else:
        for line in results.lines(canonical=canonical, everything=options["everything"]):
            sys.stdout.buffer.write(json_line(line))
    sys.stdout.buffer.flush()
