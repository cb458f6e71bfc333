"""`arena verify`: derive a results folder again, and report the first difference."""

import re
from pathlib import Path
from typing import Any

import click

from arena.cli.flags import FOLDER, POSITIVE, Helped, json_option, option, sandbox_option
from arena.cli.paths import BotPath
from arena.cli.usage import need_linux


@click.command(cls=Helped, short_help="Derive the results in FOLDER again, from the folder alone.")
@click.argument("folder", type=FOLDER)
@click.argument("bots", nargs=-1, type=BotPath())
@option("--commitment HEX", text="The one that was published beforehand.")
@option("--jobs N", POSITIVE, "Processes.  [default: the cores]")
@option("--rerun N", POSITIVE, "Have the bots play N matches again too.", to="matches")
@option("--seed TEXT", text="With --rerun: draws them.  [default: random]")
@sandbox_option(text="With --rerun; `none` confines nothing.")
@json_option
def verify(folder: Path, *, matches: int | None, **options: Any) -> None:  # noqa: ANN401 - flags
    import arena
    from arena.terminal.screen import say
    from arena.terminal.verify_report import log_bar, show_verification

    published = options["commitment"]
    if published is not None and not re.fullmatch(r"\s*[0-9a-fA-F]{64}\s*", published):
        raise arena.UserError(f"--commitment: {published!r} is none: it has 64 hex digits")
    bots, seed, jobs = options["bots"], options["seed"], options["jobs"]
    rerun = None
    if matches is not None:
        need_linux()
        sandbox = options["sandbox"]
        rerun = arena.RerunOptions(matches=matches, seed=seed, bots=bots, sandbox=sandbox)
    elif bots or seed is not None:
        raise arena.UserError("BOTS and --seed go with --rerun N")
    events = arena.tuning_events(folder) if arena.is_tuning(folder) else [folder]
    if len(events) != 1 and published is not None:
        raise arena.UserError("--commitment goes with one event: name a stage of the tuning")
    codes = set()
    for event in events:
        with log_bar() as bar:
            found = arena.verify_results(
                event, commitment=published, jobs=jobs, rerun=rerun, notify=say, progress=bar
            )
        codes.add(show_verification(found, as_json=options["as_json"]))
    raise SystemExit(max(codes, default=0))
