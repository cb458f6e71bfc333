"""`arena table`: print the table of a results folder, derived from its log."""

from pathlib import Path
from typing import Any

import click

from arena.cli.flags import (
    FOLDER,
    POSITIVE,
    Helped,
    option,
    report_options,
    selection_options,
    sources_option,
)
from arena.cli.paths import rated_bots_of


@click.command(cls=Helped, short_help="Print the ranked table of the event in FOLDER.")
@click.argument("folder", type=FOLDER)
@option("--top N", POSITIVE, "The first N rows alone.")
@option(
    "--bot NAME",
    text="Its row alone, by name, id or pattern; can be given again.",
    to="bots",
    multiple=True,
    shell_complete=rated_bots_of,
)
@selection_options
@sources_option
@report_options
def table(
    folder: Path,
    *,
    top: int | None,
    bots: tuple[str, ...],
    sources: bool,
    **shown: Any,  # noqa: ANN401 - click's flags
) -> None:
    import sys

    import arena
    from arena.terminal.screen import say, show
    from arena.terminal.table import (
        duel_lines,
        part_of,
        print_table,
        with_sources,
        withdrawal_lines,
    )

    names = ("only", "without", "latest")
    wanted = arena.RateOptions(**{name: shown.pop(name) for name in names})
    if wanted.selects:
        whole = arena.rate(folder, wanted, notify=say)
    else:
        whole = arena.open_results(folder, notify=say).table
    if sources:
        whole = with_sources(whole, [folder])
        shown["details"] = True
    found = part_of(whole, top=top, bots=bots) if top or bots else whole
    print_table(found, **shown, more="--details")
    if shown["report"] != "text":
        return
    show(duel_lines(found) if bots else ())
    if not shown["canonical"] and (shown["details"] or not sys.stdout.isatty()):
        show(withdrawal_lines(folder, found.withdrawn))
