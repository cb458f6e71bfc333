"""`arena resume`: resume an event that was stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arena.cli.flags import (
    FOLDER,
    EventCommand,
    cluster_options,
    live_options,
    run_options,
    sandbox_option,
    switch,
)
from arena.cli.usage import need_linux


@click.command(
    cls=EventCommand,
    epilog="""\b
Example:
  arena resume arena-results/20260102-150405
""",
)
@click.argument("folder", type=FOLDER)
@switch("--repair", "Set damaged lines of the log aside, and play their matches again.")
@sandbox_option(None)
@run_options
@cluster_options
@live_options
def resume(folder: Path, **options: Any) -> None:  # noqa: ANN401 - click's flags
    """Go on with the unfinished event in FOLDER."""
    need_linux()
    import arena
    from arena.cli.options import exit_code, playing_of

    repair, beacon = options["repair"], options["beacon"]
    outcome = arena.resume(folder, repair=repair, beacon=beacon, **playing_of(options))
    raise SystemExit(exit_code(outcome))
