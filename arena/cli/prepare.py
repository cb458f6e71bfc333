"""`arena prepare`: write an event into a folder, to be played later or elsewhere."""

from typing import Any

import click

from arena.cli.flags import EventCommand, event_options, option, sandbox_option
from arena.cli.usage import need_linux


@click.command(
    cls=EventCommand, short_help="Prepare a tournament between BOTS, to be played later."
)
@event_options
@sandbox_option()
@option("--beacon-from SOURCE", text="Source of a public value that is not known yet.")
def prepare(**options: Any) -> None:  # noqa: ANN401 - click's flags
    need_linux()
    import sys

    import arena
    from arena.cli.options import event_options_of
    from arena.terminal.progress import LineProgress
    from arena.terminal.screen import command_line, plain, say

    out, sandbox = options["out"], options["sandbox"]
    if out is None:
        raise arena.UserError("say which folder to prepare: --out FOLDER")
    prepared = arena.prepare(
        options["bots"],
        out,
        event=event_options_of(options),
        options=arena.RunOptions(sandbox=sandbox),
        progress=LineProgress(sys.stderr),
        skip_broken=options["skip_broken"],
        beacon_from=options["beacon_from"],
    )
    event = prepared.event
    # A folder can't choose to run without a sandbox: the command that plays it has to.
    shown = command_line("run", out) + (" --sandbox none" if sandbox == "none" else "")
    say(f"{len(event.entrants)} bots, {prepared.matches} matches; prepared in {out}")
    say("the secret and the bots are in it, for you alone; publish the commitment:")
    click.echo(event.commitment)
    if event.settings.beacon:
        say(f"when {plain(event.settings.beacon)} is known: {shown} --beacon VALUE")
    else:
        say(f"play it: {shown}")
