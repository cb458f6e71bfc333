"""`arena resume`: resume an event that was stopped."""

from pathlib import Path
from typing import Any, NoReturn

import click

from arena.cli import flags
from arena.cli.usage import need_linux


@click.command(cls=flags.EventCommand)
@click.argument("folder", type=flags.FOLDER)
@flags.switch("--repair", "Set damaged lines of the log aside, and play their matches again.")
@flags.sandbox_option(None)
@flags.run_options
def resume(folder: Path, **options: Any) -> None:  # noqa: ANN401 - click's flags
    need_linux()
    import arena
    from arena.cli.options import exit_code, playing_of

    if arena.is_tuning(folder):
        _resume_tuning(folder, options)
    repair, beacon = options["repair"], options["beacon"]
    outcome = arena.resume(folder, repair=repair, beacon=beacon, **playing_of(options))
    raise SystemExit(exit_code(outcome))


def _resume_tuning(folder: Path, options: dict[str, Any]) -> NoReturn:
    import arena
    from arena.cli.options import playing_of
    from arena.cli.tune import finish

    for flag in ("beacon", "live"):
        if options[flag] is not None:
            raise arena.UserError(f"--{flag} goes with a single event; leave it out")
    playing = playing_of(options)
    finish(arena.resume_tuning(folder, repair=options["repair"], **playing), playing["progress"])
