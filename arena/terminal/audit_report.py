"""The report of `arena audit`, for people: each figure with what it means, in 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from arena import registry
from arena.audit import discards as feeding_
from arena.audit import table_mates, trends
from arena.audit.auditor import audited
from arena.audit.luck import FEWEST
from arena.audit.report import (
    UNUSUAL,
    Audit,
    AuditPart,
    Capped,
    Effect,
    Feeding,
    Lift,
    Proportion,
    Question,
)
from arena.deals import Deals, with_beacon
from arena.event.results import Counts, incomplete
from arena.model import SHUFFLED, MatchRecord
from arena.reports.escape import plain
from arena.reports.layout import clip, width, wrap
from arena.store import read_by_id, read_event, secret_of

Row = TypeVar("Row", Capped, Lift, Feeding)

WIDTH = 80
_NAME = 20
_PLACES = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th")
MOST = 20
"""Bots of which a part of the report has a line, unless all are asked for."""
_FEW = 3
"""Pairs that are shown even if nothing is unusual about them."""

_TITLES = {
    AuditPart.CAPS: "pairs with capped holes",
    AuditPart.LUCK: "luck",
    AuditPart.LATER: "rotations played later",
    AuditPart.LIFT: "pairs that do better together",
    AuditPart.FEEDING: "discards for a neighbour",
    AuditPart.SERIES: "results that hang together within a series",
    AuditPart.TREND: "better or worse within a series",
}


def audit_folder(folder: Path) -> Audit:
    """The report of a results folder."""
    event = read_event(folder)
    deals = Deals(with_beacon(secret_of(folder, event), event.beacon))

    def order(pairing: str, deal: int) -> Sequence[int]:
        return deals.rotations(pairing, deal, event.settings.seats)

    def place(record: MatchRecord) -> object:
        return deals.place(record.id) if event.settings.deal_order == SHUFFLED else record.deal

    counts = Counts(folder, event=event)
    if event.finished and counts.missing:
        raise incomplete(folder, counts.missing, counts.planned)
    about = registry.game(event.settings.game).about
    return audited(event, about, order, place, read_by_id(folder, counts, event))


def told(audit: Audit, folder: str, *, paint: bool, everything: bool = False) -> Iterator[str]:
    """The report in lines; of many bots those that stand out, unless `everything` is asked for."""
    limit = None if everything else MOST
    yield from wrap(
        f"{plain(folder)}: {audit.game}, {audit.seats} seats, {audit.matches:,} matches that "
        f"count, {audit.events:,} rated events (a deal in all its rotations)",
        WIDTH,
        indent="  ",
    )
    if audit.left_out:
        yield from wrap(
            f"{audit.left_out:,} more rated events have a fault, or are not complete: only time "
            "and faults are about these too",
            WIDTH,
            indent="  ",
        )
    yield ""
    yield from _verdict(audit, paint=paint)
    for title, lines in (
        ("Seats", _seats(audit)),
        ("Ties and the turn cap", _ties(audit)),
        ("Luck", _luck(audit, limit)),
        ("Rotations played later", _later(audit, limit)),
        ("Pairs", _pairs(audit)),
        ("Series", _series(audit, limit)),
        ("Time", _time(audit, limit)),
        ("Faults", _faults(audit, limit)),
    ):
        yield ""
        yield click.style(title, bold=True) if paint else title
        yield from lines


def _verdict(audit: Audit, *, paint: bool) -> Iterator[str]:
    strange = [one for one in audit.tested if one.p <= audit.unusual]
    if not audit.tested:
        yield "Too little was played to say whether anything is unusual."
        return
    for one in strange:
        bots = " and ".join(plain(bot) for bot in one.bots)
        text = f"Unusual: {_TITLES[one.part]}: {bots} ({_odds(one.p)})"
        for line in wrap(text, WIDTH, indent="  "):
            yield click.style(line, fg="yellow") if paint else line
    if not strange:
        yield "Nothing is unusual."
    names = ", ".join(_TITLES[one.part] for one in _in_order(audit.tested))
    yield from wrap(
        f"Tested: {names}. Chance alone makes something in this list unusual in at most "
        f"{100 * audit.unusual:.0f} % of fair events, all bots and pairs taken together; p is so "
        "corrected. What is unusual has a reason, not necessarily a bad one.",
        WIDTH,
        indent="",
    )


def _in_order(tested: Sequence[Question]) -> list[Question]:
    return sorted(tested, key=lambda one: list(AuditPart).index(one.part))


def _odds(p: float) -> str:
    return f"chance alone shows it in {100 * p:.{0 if p >= 0.1 else 1}f} of 100 reports"


def _seats(audit: Audit) -> Iterator[str]:
    yield from _grid(
        ("", "order of play, strokes a hole", "seat, strokes a match"),
        [
            (name, _effect(place), _effect(seat))
            for name, place, seat in zip(_PLACES, audit.by_place, audit.by_seat, strict=False)
        ],
    )
    yield from _says(
        "Less the table's mean, with 95 % intervals: the game gives this to whoever sits there, "
        "whatever the bot. "
        + (
            "The rotation leaves nothing of it: each bot had each seat equally often."
            if not audit.rotation
            else f"The rotation leaves at most {audit.rotation:.3f} strokes a match of it to a "
            "bot: not every rotation of every deal counts. In rated events it leaves nothing."
        )
    )


def _effect(effect: Effect) -> str:
    if effect.low is None or effect.high is None:
        return f"{effect.strokes:+.2f}"
    return f"{effect.strokes:+.2f} ± {(effect.high - effect.low) / 2:.2f}"


def _ties(audit: Audit) -> Iterator[str]:
    yield from _grid(
        ("", "", "", "95 %"),
        [
            ("matches with more than one first", *_share(audit.tied_matches)),
            ("rated events with more than one first", *_share(audit.tied_events)),
            ("holes that only the turn cap ended", *_share(audit.capped)),
        ],
    )
    yield from _says(
        "A rated event adds up its rotations, so ties are rarer there. At the cap a hole ends "
        "because nobody ended it."
    )
    rows = _shown(audit.capped_pairs)
    if rows:
        yield from _grid(
            ("pair", "holes", "at the cap", "p"),
            [(_pair(*row.bots), f"{row.holes:,}", f"{row.capped:,}", _p(row.p)) for row in rows],
        )
        yield from _says(
            "Pairs that sat at one table, held against all: p is how often chance gives a pair so "
            "many. A bot that never ends a hole shows with whomever it meets."
        )


def _share(share: Proportion) -> tuple[str, str, str]:
    return (
        f"{share.count:,} of {share.of:,}",
        f"{share.share:.2%}",
        f"{100 * share.low:.2f} to {100 * share.high:.2f}",
    )


def _luck(audit: Audit, limit: int | None) -> Iterator[str]:
    if not audit.luck:
        yield from _says(
            f"Nothing to say: that takes {FEWEST} rated events of a bot with their luck in the "
            "log, where it is not if the event was played with --no-luck."
        )
        return
    yield from _grid(
        ("bot", "strokes a match", "z", "p"),
        [
            (_name(row.bot), f"{row.strokes:+.2f} ± {row.error:.2f}", f"{row.z:+.1f}", _p(row.p))
            for row in _standing_out(audit.luck, limit, lambda row: row.p)
        ],
    )
    yield from _left_out(audit.luck, limit)
    most = max(audit.luck, key=lambda row: abs(row.z))
    yield from _says(
        "What chance cost it, whatever it cost its opponents, with its standard error; 0 is "
        f"expected of everybody, however it plays. The largest |z| of {len(audit.luck)} bots is "
        f"{most.z:+.1f}: {_odds(most.p)}."
    )


def _later(audit: Audit, limit: int | None) -> Iterator[str]:
    if not audit.later:
        yield from _says("No deal was played in all rotations.")
        return
    yield from _grid(
        ("bot", "deals", "strokes a match", "p"),
        [
            (_name(row.bot), f"{row.deals:,}", f"{row.strokes:+.2f} ± {row.error:.2f}", _p(row.p))
            for row in _standing_out(audit.later, limit, lambda row: row.p)
        ],
    )
    yield from _left_out(audit.later, limit)
    luck = ", luck" if audit.adjusted else ""
    yield from _says(
        "Where the deal had been played before, less where it had not; less the opponents' "
        f"strokes{luck} and what the seats are worth; with the standard error. A bot that carries "
        "something from process to process would be below 0. Which rotation comes first was drawn "
        "by lot: p is how often another draw would have favoured a bot as much."
    )


def _pairs(audit: Audit) -> Iterator[str]:
    if audit.seats == 2:
        yield from _says("At tables of two nobody can play for somebody else.")
        return
    lift, feeding = _shown(audit.lift), _shown(audit.feeding)
    if lift:
        yield from _grid(
            ("at one table", "rated events", "strokes a match", "p"),
            [
                (_pair(*row.bots), f"{row.events:,}", f"{row.strokes:+.2f}", _p(row.p))
                for row in lift
            ],
        )
        yield from _says(
            "What each of the two gains (below 0) on its table when the other sits there, against "
            "tables without it; less what skills explain. Only what goes beyond "
            f"{table_mates.TOLERATED:.0f} is asked about: styles suit each other, a little."
        )
    else:
        yield from _says("Nobody sat both with and without somebody else.")
    if feeding:
        yield from _grid(
            ("leaves > takes", "discards", "taken", "expected", "p"),
            [
                (
                    _pair(row.giver, row.taker, " > "),
                    f"{row.left:,}",
                    f"{row.taken / max(1, row.left):.1%}",
                    f"{row.expected / max(1, row.left):.1%}",
                    _p(row.p),
                )
                for row in feeding
            ],
        )
        yield from _says(
            "How often the second takes what the first leaves it; expected is by what both do "
            f"with others. Up to {100 * feeding_.TOLERATED:.0f} % of the discards more is not "
            "asked about."
        )


def _series(audit: Audit, limit: int | None) -> Iterator[str]:
    if not audit.blocks:
        yield from _says("No deal was played in all rotations.")
        return
    counted = f"{audit.blocks:,} block{'s' * (audit.blocks > 1)} (the series that share deals)"
    yield from _together(audit, counted, limit)
    yield from _trends(audit, counted, limit)


def _together(audit: Audit, counted: str, limit: int | None) -> Iterator[str]:
    if not audit.together:
        yield from _says(
            f"Nobody could be asked whether results hang together: {counted}, but no pairing has "
            "several of which one has several deals. More --deals than --series would tell."
        )
        return
    yield from _grid(
        ("bot", "blocks", "correlation", "times as wide", "p"),
        [
            (
                _name(row.bot),
                f"{row.blocks:,}",
                f"{row.correlation:+.3f}",
                f"{row.wider:.1f}",
                _p(row.p),
            )
            for row in _standing_out(audit.together, limit, lambda row: row.p)
        ],
    )
    yield from _left_out(audit.together, limit)
    single = f", {audit.single:,} of them alone in a pairing and left out" if audit.single else ""
    yield from _says(
        f"How far rated events have something in common when the same processes played them: "
        f"{counted}{single}. The table's intervals take them to be independent; by series "
        "a bot's would be so many times as wide. p is how often chance makes blocks differ as "
        "much. Whoever meets such a bot has a part of it in its own results."
    )
    for row in audit.together:
        if row.p <= audit.unusual:
            yield from _says(
                f"The table's intervals of {plain(row.bot)} would be {row.wider:.1f} times as wide "
                "by series."
            )


def _trends(audit: Audit, counted: str, limit: int | None) -> Iterator[str]:
    if not audit.trends:
        yield from _says(
            "Nobody could be asked whether it gets better or worse within a series: "
            f"{counted}, but nobody has {trends.FEWEST} of several deals."
        )
        return
    yield from _grid(
        ("bot", "blocks", "first to last", "p"),
        [
            (_name(row.bot), f"{row.blocks:,}", f"{row.strokes:+.2f} ± {row.error:.2f}", _p(row.p))
            for row in _standing_out(audit.trends, limit, lambda row: row.p)
        ],
    )
    yield from _left_out(audit.trends, limit)
    yield from _says(
        "Strokes a match less the opponents', from the first match of a series to its last, along "
        "a line, with the standard error; below 0 a bot gets better. p is how often blocks played "
        "in reverse order would show as much."
    )


def _time(audit: Audit, limit: int | None) -> Iterator[str]:
    yield from _grid(
        ("bot", "ms", "max ms", "of limit", "of bank", "waited", "off turn"),
        [
            (
                _name(use.bot),
                f"{use.mean_ms:.3f}",
                f"{use.max_ms:.1f}",
                f"{use.share:.1%}",
                f"{use.bank_share:.1%}",
                f"{use.waited_ms:.1f}",
                f"{use.off_turn_ms:.1f}",
            )
            for use in _standing_out(audit.time, limit, lambda use: -max(use.share, use.bank_share))
        ],
    )
    yield from _left_out(audit.time, limit)
    yield from _says(
        "Milliseconds a decision, the longest, and what the longest decision and match used of "
        "their limits; then, a match, how long the machine kept it waiting, which is charged to "
        "nobody, and its CPU time while it wasn't asked. What comes close to its limit may have "
        "lost on time elsewhere."
    )


def _faults(audit: Audit, limit: int | None) -> Iterator[str]:
    if not audit.faults:
        yield "  None."
        return
    yield from _grid(
        ("bot", "fault", "early", "late"),
        [
            (_name(row.bot), row.kind, f"{row.early:,}", f"{row.late:,}")
            for row in _standing_out(audit.faults, limit, lambda row: -(row.early + row.late))
        ],
    )
    yield from _left_out(audit.faults, limit)
    yield from _says(
        "In the half of the matches that ended first, and in the other. Timeouts of many bots in "
        "one half are a sign that it was the machine; its load was at most "
        f"{audit.load:.1f} when something failed."
    )


def _shown(rows: Sequence[Row]) -> Sequence[Row]:
    """The most unusual ones, and all that are."""
    return [row for at, row in enumerate(rows) if at < _FEW or row.p <= UNUSUAL]


def _standing_out(rows: Sequence[Any], limit: int | None, by: Callable[[Any], float]) -> list[Any]:
    """The rows in their order; of too many those that come first `by` a number."""
    if limit is None or len(rows) <= limit:
        return list(rows)
    chosen = set(sorted(range(len(rows)), key=lambda at: by(rows[at]))[:limit])
    return [row for at, row in enumerate(rows) if at in chosen]


def _left_out(rows: Sequence[Any], limit: int | None) -> Iterator[str]:
    if limit is not None and (more := len(rows) - limit) > 0:
        yield f"  and {more:,} more that stand out less; all of them: --all"


def _name(bot: str) -> str:
    return clip(plain(bot), _NAME)


def _pair(one: str, other: str, between: str = ", ") -> str:
    return f"{_name(one)}{between}{_name(other)}"


def _p(p: float) -> str:
    return "1" if p >= 1 else f"{p:.2g}"


def _says(text: str) -> list[str]:
    """What figures mean, below them."""
    return wrap("  " + text, WIDTH, indent="  ")


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns, the first to the left and the others to the right."""
    if not rows:
        return
    whole = [head, *rows]
    wide = [max(width(row[at]) for row in whole) for at in range(len(head))]
    for row in whole:
        first, *rest = (
            cell + " " * gap if not at else " " * gap + cell
            for at, cell in enumerate(row)
            for gap in (wide[at] - width(cell),)
        )
        yield "  ".join(["", first, *rest]).rstrip()
