"""`arena tune`: search a bot's parameters for a better setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import click

from arena.cli import flags
from arena.cli.compare import SAME
from arena.cli.paths import BotPath
from arena.cli.usage import need_linux

if TYPE_CHECKING:
    from arena import Progress, Tuning


@click.command(cls=flags.EventCommand)
@click.argument("bot", type=BotPath())
@flags.game_option
@flags.option("--budget N", flags.POSITIVE, "Matches of the search at most.", default=2000)
@flags.option("--stages N", click.IntRange(1, 50), "Steps of the search.", default=10)
@flags.option(
    "--against BOT", BotPath(), "Every setting meets BOT too; can be given again.", multiple=True
)
@flags.option(
    "--close STROKES",
    flags.Finite(0, 1000, min_open=True),
    "A difference a match that doesn't matter, where it is said how flat the optimum is.",
    default=0.5,
)
@flags.trial_options
@flags.option(
    "--rate-on",
    ["results", "adjusted"],
    "Strokes less luck need a fraction of the matches.  [default: adjusted, if the game's luck "
    "is measured]",
)
@flags.option("--seed", text="Settings and deals from this seed: repeatable.")
@flags.limit_options
@flags.freeze_option
@flags.option("--out", flags.FOLDER, "Folder for its events.  [default: arena-results/tune-…]")
@flags.sandbox_option()
@flags.run_options
def tune(**options: Any) -> None:  # noqa: ANN401 - click's flags
    need_linux()
    import arena
    from arena.cli.options import limits_of, playing_of

    for flag in ("beacon", "live"):
        if options[flag] is not None:
            raise arena.UserError(f"--{flag} goes with a single event; leave it out")
    names = ("game", "rate_on", "seed", "turn_cap", "freeze")
    event = arena.EventOptions(limits=limits_of(options), **{name: options[name] for name in names})
    search = {name: options[name] for name in ("budget", "stages", "close")}
    trial = {name: options[name] for name in ("effect", "alpha", "beta")}
    playing = playing_of(options)
    found = arena.tune(
        options["bot"],
        options["out"],
        against=options["against"],
        search=arena.TuneOptions(**search),
        trial=arena.TrialOptions(**trial),
        event=event,
        **playing,
    )
    finish(found, playing["progress"])


def finish(found: Tuning, display: Progress) -> NoReturn:
    from arena.cli.options import exit_code
    from arena.terminal.tuned import show_tuning

    show_tuning(found, display)
    raise SystemExit(SAME if found.outcome is None else exit_code(found.outcome))
