"""Print the outcome of an event or a match for people: table, verdict, forecast, scorecard.

`show_...` print; `..._lines` return lines that a command prints beside its results.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from arena.bots import printable
from arena.event.commands import MERGE, check_line, command_line
from arena.event.compare import Comparison
from arena.event.epochs import event_of_epoch
from arena.event.prepare import Forecast
from arena.event.progress import Outcome
from arena.event.single_match import SingleMatch
from arena.machine import Notify
from arena.model import ADJUSTED, Event, Table
from arena.ratings.intervals import most_likely_share
from arena.referee import HOLES
from arena.registry import render
from arena.reports.cards import scorecard
from arena.reports.escape import markdown, markdown_name, plain
from arena.reports.faults import match_fault_lines
from arena.terminal.moments import strokes_of
from arena.terminal.screen import colour, columns, echo_json, picked, say, show
from arena.terminal.table import print_table

JSON_VERSION = 1  # the version of the JSON lines
_NAMED = 20  # bots of a forecast that are named


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


# ------------------------------------------------------------------------------------- events


def show_result(outcome: Outcome, say: Notify) -> None:
    """Print the table and what a trial has shown; of a shard, how to merge it."""
    if outcome.table is None:
        shard = outcome.event.shard
        say(f"shard {shard} is played, in {outcome.folder}; when all are: {MERGE}")
        return
    folder = event_of_epoch(outcome.folder) or outcome.folder
    print_table(outcome.table, more=f"{command_line('table', folder)} --details")
    if outcome.table.verdict:
        click.echo(verdict_line(outcome.table))


def comparison_summary(found: Comparison) -> str:
    """The answer of `arena compare` in Markdown, with the table folded; names are no markup."""
    outcome, bots = found.outcome, [markdown_name(one.id) for one in (found.new, found.old)]
    against = " against ".join(bots)
    if outcome is None:
        return f"### Same content\n\n{against}: the same content, nothing played.\n\n"
    table = outcome.table
    if found.verdict is None or table is None:
        return f"### Not finished\n\n{against}: stopped before there was an answer.\n\n"
    answer = f"{verdict_line(table, markdown_name, markdown)}."
    details = f"<details><summary>Table</summary>\n\n{render(table, 'md')}\n</details>"
    return f"### {found.verdict.capitalize()}\n\n{answer}\n\n{details}\n\n"


def verdict_line(
    table: Table, name: Callable[[str], str] = plain, text: Callable[[str], str] = plain
) -> str:
    """`name` escapes names, `text` a sentence with names in it."""
    trial = table.event.settings.trial
    assert trial is not None
    row, other = sorted(table.rows, key=lambda row: row.entrant != trial.new)
    line = f"{name(trial.new)} against {name(other.entrant)}: {table.verdict}"
    if trial.no_worse is True:
        line += f" (margin {trial.effect:g})"
    if table.withdrawn:  # what it did may count for nothing, and it is not what decided
        return f"{line}, since {text(table.ended)}"
    above, error = row.delta, row.delta_ci
    if row.adjusted is not None and table.event.settings.rate_on == ADJUSTED:
        above, error = row.adjusted, row.adjusted_ci
    if above is None or error is None:  # no deal was played in both seatings
        return line
    where = "ahead" if above < 0 else "behind"
    line = f"{line}, {where} by {abs(above):.1f} ± {error:.1f} strokes a match in {table.matches}"
    counts = [sum(count for _, count in each.faults) for each in (row, other)]
    most = [
        100 * most_likely_share(min(count, each.matches), each.matches)
        for count, each in zip(counts, (row, other), strict=True)
    ]
    # In a match of two each fault is a forfeit.
    return (
        f"{line}; forfeits: new {counts[0]}, old {counts[1]} "
        f"(at most {most[0]:.1f} and {most[1]:.1f} % of matches, at 95 %)"
    )


def cut_lines(outcome: Outcome) -> Iterator[str]:
    """Which finished matches don't count, since their series was cut short."""
    series, matches = outcome.cut
    if not series or outcome.complete:
        return
    kept = "1 finished match" if matches == 1 else f"{matches:,} finished matches"
    cut = "a series that was cut short" if series == 1 else f"{series:,} series that were cut short"
    stays = "stays in the log but doesn't" if matches == 1 else "stay in the log but don't"
    yield (
        f"{kept} of {cut} {stays} count: a series counts whole, and is played again from its "
        "first match"
    )
    if not outcome.series:
        yield (
            "no series has come to its end: where one takes longer than there is time, allow more "
            "of it, or play an event of shorter series (--series)"
        )


def _number(count: int, one: str, more: str = "") -> str:
    return f"{count} {one if count == 1 else more or one + 's'}"


def forecast_lines(forecast: Forecast) -> Iterator[str]:
    event, settings = forecast.event, forecast.event.settings
    later = ""
    if forecast.adaptive:
        most = settings.racing.budget if settings.racing else None
        later = " to begin with; what follows depends on results"
        later += f", {most} matches at most" if most else ""
    yield (
        f"{len(event.entrants)} bots, {settings.game} at {settings.seats} seats: "
        f"{_number(forecast.tables, 'table')} x {_number(forecast.deals, 'deal')} x "
        f"{settings.seats} rotations = "
        f"{forecast.matches} matches{later}"
    )
    yield (
        f"about {duration(forecast.seconds)} with {forecast.workers} at a time "
        f"({forecast.match_seconds * 1000:.0f} ms a match, "
        f"{forecast.series_seconds * 1000:.0f} ms to start and end a series; "
        f"from {_number(forecast.samples, 'match', 'matches')} just played)"
    )
    yield from bot_lines(event)


def bot_lines(event: Event) -> Iterator[str]:
    for entrant in event.entrants[:_NAMED]:
        author = f" by {printable(entrant.author)}" if entrant.author else ""
        yield f"{entrant.id}{author}"
    if (more := len(event.entrants) - _NAMED) > 0:
        yield f"and {more} more; all of them: --dry-run --json"


# ------------------------------------------------------------------------------- single matches


def show_match(
    played: SingleMatch, bots: Sequence[Path], *, as_json: bool, talk: Path | None
) -> None:
    """Print a match. `bots`: as they were named; `talk`: where every line was recorded."""
    if as_json:
        echo_json(_match_as_json(played))
        return
    show(match_lines(played))
    if talk is not None:
        click.echo(f"every line: {plain(str(talk))}")
    if played.record.faults:
        seats = sorted({fault.seat for fault in played.record.faults})
        say(f"more: {check_line([bots[seat] for seat in seats])}")


def match_lines(played: SingleMatch) -> Iterator[str]:
    record, options, sandbox = played.record, played.options, played.sandbox
    shown = _red(sandbox) if sandbox == "none" else sandbox
    yield f"{options.game}, deal {options.deal} of the seed {options.seed!r}, sandbox {shown}"
    yield ""
    holes = [strokes_of(hole.order, hole.scores) for hole in record.holes if hole.scores]
    yield from scorecard(record.seats, holes, record.totals, room=columns())
    yield ""
    for seat in sorted(range(len(record.seats)), key=lambda seat: (record.places[seat], seat)):
        use = record.use[seat]
        each = use.think_ms / use.decisions if use.decisions else 0.0
        yield (
            f"{record.places[seat]}. {plain(record.seats[seat])}: {record.totals[seat]} strokes, "
            f"{each:.2f} ms a decision (longest {use.max_ms:.1f})"
            f"{', forfeited' if seat in record.forfeits else ''}"
        )
    if len(record.holes) > HOLES:
        more = f"s {HOLES + 1} to {last}" if (last := len(record.holes)) > HOLES + 1 else f" {last}"
        yield f"a tie for first after {HOLES} holes: played off on hole{more}"
    for text in match_fault_lines(record):
        yield _red(text)


def _match_as_json(played: SingleMatch) -> dict[str, Any]:
    record = played.record
    return {
        "v": JSON_VERSION,
        "event": "match",
        **picked(played.options, "game deal seed"),
        **picked(record, "id seats holes totals places"),
        "faults": [
            {"bot": record.seats[fault.seat], **msgspec.to_builtins(fault)}
            for fault in record.faults
        ],
        **picked(record, "use digest"),
        "sandbox": played.sandbox,
    }


def _red(text: str) -> str:
    return click.style(text, fg="red", bold=True) if colour() else text
