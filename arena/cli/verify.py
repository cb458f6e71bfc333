"""`arena verify`: derive a results folder again, and report the first difference."""

import re
from pathlib import Path
from typing import Any

import click

from arena.cli.flags import FOLDER, POSITIVE, Command, json_option, option, sandbox_option
from arena.cli.paths import BotPath
from arena.cli.usage import need_linux


@click.command(cls=Command, short_help="Derive the results in FOLDER again, from the folder alone.")
@click.argument("folder", type=FOLDER)
@click.argument("bots", nargs=-1, type=BotPath())
@option("--commitment HEX", text="The one that was published beforehand.")
@option("--jobs N", POSITIVE, "Processes.  [default: the cores]")
@option("--rerun N", POSITIVE, "Have the bots play N matches again too.", to="matches")
@option("--seed TEXT", text="With --rerun: draws them.  [default: random]")
@sandbox_option(text="With --rerun; `none` confines nothing.")
@json_option
def verify(folder: Path, *, matches: int | None, **options: Any) -> None:  # noqa: ANN401 - flags
    """Derive everything in the results folder FOLDER again, from the folder alone.

    The commitment from the revealed secret, every deal, every move by the rules, scores, places,
    the schedule with what was left out, the ratings and the tables. It needs no bots and no
    sandbox, and uses all cores.

    Only --rerun shows that a bot made its moves itself: matches drawn at random are played
    again, each with those before it in its series, and must come out as recorded. The bots are
    those of the event: as they lie in the cache or the folder, or BOTS with the same content.

    The epochs in FOLDER are verified with it, each against a commitment of its own; by
    --commitment and --rerun each is verified alone: arena verify FOLDER/epoch-1 --rerun 5.
    """
    import arena
    from arena.terminal.screen import say
    from arena.terminal.verify_report import log_bar, show_verification

    published = options["commitment"]
    if published is not None and not re.fullmatch(r"\s*[0-9a-fA-F]{64}\s*", published):
        raise arena.UserError(f"--commitment: {published!r} is none: it has 64 hex digits")
    bots, seed = options["bots"], options["seed"]
    rerun = None
    if matches is not None:
        need_linux()
        sandbox = options["sandbox"]
        rerun = arena.RerunOptions(matches=matches, seed=seed, bots=bots, sandbox=sandbox)
    elif bots or seed is not None:
        raise arena.UserError("BOTS and --seed go with --rerun N")
    with log_bar() as bar:
        found = arena.verify_results(
            folder,
            commitment=published,
            jobs=options["jobs"],
            rerun=rerun,
            notify=say,
            progress=bar,
        )
    raise SystemExit(show_verification(found, as_json=options["as_json"]))
