"""`arena ladder`: one ranking for months, from submissions to a frozen table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from arena.cli.flags import (
    FOLDER,
    POSITIVE,
    EventCommand,
    Helped,
    json_option,
    option,
    report_options,
    run_options,
    sandbox_option,
    switch,
)
from arena.cli.usage import need_linux
from arena.registry import GAMES


class LadderGroup(Helped, click.Group):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            click.echo(ctx.get_help())
            raise SystemExit(2)
        return super().parse_args(ctx, args)


@click.group(cls=LadderGroup, short_help="Run a standing ladder: one ranking for months.")
def ladder() -> None:
    """Hold the commands."""


class LadderCommand(Helped):
    below = "ladder"


class RoundCommand(EventCommand):
    below = "ladder"


_folder = click.argument("folder", metavar="LADDER", type=FOLDER)
_game = option("--game", list(GAMES), "Which game.  [default: all of the ladder]")


@ladder.command(cls=LadderCommand)
@_folder
@option("--name TEXT", text="What the ladder is called.  [default: the folder's name]")
def init(folder: Path, name: str | None) -> None:
    import arena
    from arena.terminal.ladder_report import created_lines
    from arena.terminal.screen import show

    show(created_lines(folder, arena.ladder_init(folder, name=name)))


@ladder.command(cls=LadderCommand)
@_folder
@click.argument("author")
@click.argument("bot", type=FOLDER)
@sandbox_option()
@json_option
def submit(folder: Path, author: str, bot: Path, **options: Any) -> None:  # noqa: ANN401 - flags
    need_linux()
    import arena

    arena.ladder_submit(folder, author, bot)
    _take_in(folder, options, nothing=f"{author} has handed in just this before: nothing changes")


@ladder.command(cls=LadderCommand)
@_folder
@option("--export FILE", FOLDER, "A course system's download of all submissions.")
@sandbox_option()
@json_option
@switch("--quiet -q", "Only what became of submissions.")
def intake(folder: Path, **options: Any) -> None:  # noqa: ANN401 - flags
    need_linux()
    _take_in(folder, options)


def _take_in(
    folder: Path, options: dict[str, Any], *, nothing: str = "nothing new in the inbox"
) -> None:
    import arena
    from arena.terminal.ladder_report import show_handled
    from arena.terminal.screen import say

    sandbox, export = options["sandbox"], options.get("export")
    found = arena.ladder_intake(folder, export=export, sandbox=sandbox, notify=say)
    raise SystemExit(show_handled(found, nothing, as_json=options["as_json"]))


@ladder.command(cls=RoundCommand)
@_folder
@_game
@switch("--final", "The last round, with a budget of its own; nothing is accepted any more.")
@sandbox_option()
@run_options
def round(folder: Path, game: str | None, *, final: bool, **options: Any) -> None:  # noqa: A001, ANN401
    need_linux()
    import arena
    from arena.cli.options import exit_code, playing_of
    from arena.terminal.ladder_report import show_rankings

    if options["beacon"] is not None:
        raise arena.UserError("--beacon goes with a prepared event; leave it out")
    if final:
        arena.ladder_freeze(folder)
    games = _games(folder, game, final=final)
    for each in games:
        outcome = arena.ladder_round(folder, each, final=final, **playing_of(options))
        if not outcome.complete:
            raise SystemExit(exit_code(outcome))
    if not (options["as_json"] or options["quiet"]):
        show_rankings(folder, [game] if game else arena.ladder_status(folder).games)


def _games(folder: Path, game: str | None, *, final: bool) -> Iterator[str]:
    """The games of the rounds to play; the first may be of the round that is not over. After that
    come those that have had fewer rounds.
    """
    import arena

    status = arena.ladder_status(folder)
    wanted = [game] if game else [*status.games]
    if status.unfinished:
        yield wanted[0]
        status = arena.ladder_status(folder)
        most = max(status.played.values())
        wanted = [each for each in wanted if status.played[each] < most]
    yield from (each for each in wanted if not (final and each in status.finals))


@ladder.command(cls=LadderCommand)
@_folder
@json_option
def status(folder: Path, *, as_json: bool) -> None:
    import arena
    from arena.terminal.ladder_report import status_lines
    from arena.terminal.screen import echo_json, show

    found = arena.ladder_status(folder)
    if as_json:
        echo_json(found)
    else:
        show(status_lines(folder, found))


@ladder.command(cls=LadderCommand)
@_folder
@_game
@switch("--retired", "Bots that play no more, too.")
@switch("--grades", "A CSV with a row for each author, for the organiser.")
@report_options
def table(folder: Path, game: str | None, *, grades: bool, retired: bool, **shown: Any) -> None:  # noqa: ANN401
    import arena
    from arena.terminal.ladder_report import show_tables

    if grades:
        click.echo(arena.ladder_grades(folder), nl=False)
        return
    show_tables(folder, game, retired=retired, **shown)


@ladder.command(cls=LadderCommand)
@_folder
@click.argument("author", required=False)
def feedback(folder: Path, author: str | None) -> None:
    import arena
    from arena.terminal.screen import say

    found = arena.ladder_feedback(folder, notify=say)
    if author is None:
        say(f"{len(found)} reports, in {folder / 'feedback'}")
        return
    wanted = [path for path in found if path.parent.name == author]
    if not wanted:
        known = ", ".join(path.parent.name for path in found) or "none"
        raise arena.UserError(f"{folder}: no author {author!r}; there are: {known}")
    click.echo(wanted[0].read_text("utf-8"), nl=False)


@ladder.command(cls=LadderCommand)
@_folder
def freeze(folder: Path) -> None:
    import arena
    from arena.terminal.ladder_report import status_lines
    from arena.terminal.screen import show

    show(status_lines(folder, arena.ladder_freeze(folder)))


@ladder.command(cls=LadderCommand)
@_folder
@option("--to SITE", FOLDER, "The site's folder: empty, or one of this ladder.", required=True)
@option("--rounds N", POSITIVE, "Only the newest N of each game with matches.  [default: all]")
def publish(folder: Path, to: Path, rounds: int | None) -> None:
    import arena
    from arena.terminal.published import PublishProgress, outcome_lines
    from arena.terminal.screen import say

    bar = PublishProgress()
    for outcome in arena.ladder_publish(folder, to, rounds=rounds, notify=say, progress=bar):
        for line in outcome_lines(outcome):
            say(line)
    click.echo(str(to / "index.html"))


@ladder.command(cls=LadderCommand)
@_folder
@option("--head HEX", text="The chain's head as it was published once.")
@option("--jobs N", POSITIVE, "Processes.  [default: the cores]")
@json_option
def verify(folder: Path, *, head: str | None, jobs: int | None, as_json: bool) -> None:
    import arena
    from arena.terminal.ladder_report import show_ladder_verdict

    found = arena.ladder_verify(folder, head=head, jobs=jobs)
    raise SystemExit(show_ladder_verdict(found, as_json=as_json))


@ladder.command(cls=LadderCommand, context_settings={"ignore_unknown_options": True})
@_folder
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def watch(folder: Path, flags: tuple[str, ...]) -> None:
    need_linux()
    import arena
    from arena.cli.options import code_of_signal
    from arena.terminal.screen import warn

    above = click.get_current_context().parent
    round.make_context("round", [str(folder), *flags], parent=above)  # what is wrong is said now
    raise SystemExit(code_of_signal(arena.ladder_watch(folder, flags, notify=warn)))
