"""Print what a ladder's commands have found."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from arena.event.commands import command_line
from arena.ladder.operations import LadderStatus, ladder_status, ladder_table, ladder_total
from arena.ladder.submissions import Handled
from arena.ladder.total import TotalRow
from arena.ladder.verify import LadderVerdict
from arena.reports.escape import plain
from arena.terminal.screen import echo_json, say, show
from arena.terminal.table import print_table


def created_lines(folder: Path, status: LadderStatus) -> Iterator[str]:
    yield f"{plain(status.name)}: a ladder in {folder}"
    yield f"  change its rules    {folder}/ladder.toml"
    yield f"  hand in a bot       {command_line('ladder submit', folder)} AUTHOR BOT"
    yield f"  or put it there     {folder}/inbox/AUTHOR.zip, then:"
    yield f"                      {command_line('ladder intake', folder)}"
    yield f"  play a round        {command_line('ladder round', folder)}"
    yield f"  head of the chain   {status.head}"


def status_lines(folder: Path, status: LadderStatus) -> Iterator[str]:
    active = len(status.active)
    yield (
        f"{plain(status.name)}: {_many(status.authors, 'author')}, {_many(active, 'active bot')}, "
        f"{_many(status.submissions, 'submission')}, {_many(status.rounds, 'round')}, "
        f"{status.matches:,} matches"
    )
    if status.frozen:
        yield "frozen: nothing is accepted any more"
    if status.unfinished:
        yield f"not finished: {status.unfinished}; go on: {command_line('ladder round', folder)}"
    yield f"head {status.head}"


def show_handled(found: Sequence[Handled], nothing: str, *, as_json: bool) -> int:
    """Exit code 3 if a submission was refused."""
    for each in found:
        if as_json:
            echo_json(each)
            continue
        name = plain(each.author or each.name)
        if each.waits:
            line = f"{name}: waits: {plain(each.why)}"
        elif each.entrant:
            same = f" (the same content as {', '.join(each.same_as)})" if each.same_as else ""
            line = f"{name}: accepted as {each.entrant.id}{same}"
        else:
            line = f"{name}: refused: {plain(each.why)}"
        click.echo(line)
    if not found and not as_json:
        say(nothing)
    return 3 if any(not each.entrant and not each.waits for each in found) else 0


def show_rankings(folder: Path, games: Sequence[str]) -> None:
    for game in games:
        print_table(
            ladder_table(folder, game), more=f"{command_line('ladder table', folder)} --details"
        )
    say(f"head of the chain: {ladder_status(folder).head}")


def show_tables(folder: Path, game: str | None, *, retired: bool, **shown: Any) -> None:  # noqa: ANN401
    games = [game] if game else ladder_status(folder).games
    for number, each in enumerate(games):
        if number:
            click.echo()
        print_table(ladder_table(folder, each, retired=retired), **shown, more="--details")
    rows = [] if game or shown["report"] != "text" else ladder_total(folder)
    if rows:
        show(_total_lines(rows))


def _total_lines(rows: Sequence[TotalRow]) -> Iterator[str]:
    yield ""
    yield "total: the mean of the skills in all games"
    games = list(rows[0].games)
    heads = ["rank", "bot", "total", *games]
    cells = [
        [
            f"{row.rank}" if row.rank == row.rank_last else f"{row.rank}-{row.rank_last}",
            plain(row.entrant),
            f"{row.skill:.1f}",
            *(f"{row.games[game]:.1f}" for game in games),
        ]
        for row in rows
    ]
    wide = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for row in [heads, *cells]:
        first, name, *rest = (cell.ljust(width) for cell, width in zip(row, wide, strict=True))
        yield "  ".join([first, name, *(each.strip().rjust(len(each)) for each in rest)]).rstrip()


def show_ladder_verdict(found: LadderVerdict, *, as_json: bool) -> int:
    if as_json:
        echo_json(found)
        return 0 if found.verified else 5
    for each in found.findings:
        click.echo(f"differs: {plain(str(each))}")
    if found.verified:
        absent = f", {found.absent} not in the folder" if found.absent else ""
        click.echo(
            f"verified: {_many(found.lines, 'line')} of the chain, {_many(found.rounds, 'round')}, "
            f"{found.matches:,} matches, {_many(found.versions, 'version')}{absent}"
        )
        if found.unfinished:
            click.echo(f"not finished: {found.unfinished}")
        click.echo(f"head {found.head}: compare it with the one that was published")
    return 0 if found.verified else 5


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
