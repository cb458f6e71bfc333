"""`arena compare`: test whether a new bot is better than the old one."""

from pathlib import Path
from typing import Any

import click

from arena import registry
from arena.cli import flags
from arena.cli.paths import BotPath, PathName
from arena.cli.usage import need_linux
from arena.registry import GAMES

SAME = 8  # the exit code where both bots have the same content


class CompareCommand(flags.EventCommand):
    """Help that asks the games what a forfeit counts."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        margins = {name: registry.game(name).about.rating.forfeit_margin for name in GAMES}
        shown = ", ".join(f"{name} {margin:g}" for name, margin in margins.items())
        self.help = (self.help or "").replace("MARGINS", shown)
        super().format_help_text(ctx, formatter)


@click.command(cls=CompareCommand)
@click.argument("old", type=BotPath())
@click.argument("new", type=BotPath())
@flags.game_option
@flags.trial_options
@flags.option(
    "--no-worse MARGIN",
    flags.Finite(0, 1000, min_open=True),
    "Ask instead whether NEW is weaker by so many strokes.",
)
@flags.option("--budget N", flags.POSITIVE, "Matches at most.", default=4000)
@flags.option(
    "--rate-on",
    ["results", "adjusted"],
    "Strokes less luck need a fraction of the matches.  [default: adjusted, if the game's luck "
    "is measured]",
)
@flags.schedule_option
@flags.option("--seed", text="Deals from this seed: repeatable.")
@flags.limit_options
@flags.freeze_option
@flags.option("--out", flags.FOLDER, "Results folder.  [default: arena-results/…]")
@flags.option(
    "--summary FILE", PathName(path_type=Path), "Append the answer in Markdown, as for a CI job."
)
@flags.sandbox_option()
@flags.run_options
@click.pass_context
def compare(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - click's flags
    need_linux()
    import arena
    from arena.cli.options import exit_code, limits_of, playing_of
    from arena.terminal.outcome import comparison_summary
    from arena.terminal.progress import show_same

    if options["beacon"] is not None:
        raise arena.UserError("--beacon goes with a prepared folder; leave it out")
    asked = context.get_parameter_source("effect") != click.core.ParameterSource.DEFAULT
    if options["no_worse"] is not None and asked:
        raise arena.UserError(
            "--no-worse MARGIN asks another question than --effect: leave one out"
        )
    _append(summary := options["summary"], "")
    chosen = arena.EventOptions(
        limits=limits_of(options),
        schedule_options=dict(options["schedule_options"]),
        **{name: options[name] for name in ("game", "rate_on", "seed", "turn_cap", "freeze")},
    )
    tested = {name: options[name] for name in ("effect", "alpha", "beta", "budget", "no_worse")}
    playing, bots = playing_of(options), (options["old"], options["new"])
    trial = arena.TrialOptions(**tested)
    found = arena.compare(*bots, options["out"], event=chosen, trial=trial, **playing)
    _append(summary, comparison_summary(found))
    if found.outcome is None:
        show_same(found, playing["progress"])
        raise SystemExit(SAME)
    raise SystemExit(exit_code(found.outcome))


def _append(path: Path | None, text: str) -> None:
    """Also before play, so that a path that can't be written is not found at its end."""
    if path is not None:
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            import arena

            raise arena.UserError(f"--summary {path}: {error.strerror}") from None
