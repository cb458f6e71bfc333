"""Print the report of `arena audit`: each figure with what it means, in 80 columns."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import click

from arena.audit import discards, series, table_mates, waits
from arena.audit.luck import FEWEST
from arena.audit.report import UNUSUAL, Audit, AuditPart, Effect, Proportion
from arena.reports.escape import plain
from arena.reports.layout import clip, width, wrap

Columns = Mapping[str, Callable[[Any], str]]  # of a table: a heading, and the cell of a row


class Listing(NamedTuple):
    """Rows in their order; of more than MOST those that come first `by` a number, or all."""

    rows: Sequence[Any]
    columns: Columns
    by: Callable[[Any], float] | None = lambda row: row.p


WIDTH = 80
_NAME = 20
_PLACES = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th")
MOST = 20  # bots that a section lists, unless all are asked for
_FEW = 3  # pairs that are shown even if nothing is unusual about them

_NOTES: Mapping[str, str] = json.loads((files("arena.terminal") / "audit_notes.json").read_bytes())
"""What the figures mean, by key."""
_TITLES = {
    AuditPart.CAPS: "pairs with capped holes",
    AuditPart.LUCK: "luck",
    AuditPart.LATER: "rotations played later",
    AuditPart.LIFT: "pairs that do better together",
    AuditPart.FEEDING: "discards for a neighbour",
    AuditPart.SERIES: "results that hang together within a series",
    AuditPart.TREND: "better or worse within a series",
    AuditPart.WAITS: "kept waiting by the machine",
}


def audit_lines(
    audit: Audit, folder: str, *, paint: bool, everything: bool = False
) -> Iterator[str]:
    """The report in lines; of many bots those that stand out, unless `everything` is asked for."""
    yield from wrap(
        f"{plain(folder)}: {audit.game}, {audit.seats} seats, {audit.matches:,} matches that "
        f"count, {audit.events:,} rated events (a deal in all its rotations)",
        WIDTH,
        indent="  ",
    )
    if audit.left_out:
        yield from wrap(_note("left_out", audit=audit), WIDTH, indent="  ")
    yield ""
    yield from _verdict(audit, paint=paint)
    for title, section in _SECTIONS.items():
        yield ""
        yield click.style(title, bold=True) if paint else title
        for part in section(audit):
            if isinstance(part, str):
                yield from wrap("  " + part, WIDTH, indent="  ")
            else:
                yield from _grid(part, len(part.rows) if everything else MOST)


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
    tested = {one.part for one in audit.tested}
    names = ", ".join(title for part, title in _TITLES.items() if part in tested)
    yield from wrap(_note("tested", names=names, percent=100 * audit.unusual), WIDTH, indent="")


def _note(key: str, **values: object) -> str:
    return _NOTES[key].format(**values)


# ---------------------------------------------------------------------------------- sections


def _seats(audit: Audit) -> Iterator[Listing | str]:
    yield Listing(
        [*zip(_PLACES, audit.by_place, audit.by_seat, strict=False)],
        {
            "": lambda row: row[0],
            "order of play, strokes a hole": lambda row: _effect(row[1]),
            "seat, strokes a match": lambda row: _effect(row[2]),
        },
    )
    left = _note("not_rotated" if audit.rotation else "rotated", audit=audit)
    yield f"{_note('seats')} {left}"


def _ties(audit: Audit) -> Iterator[Listing | str]:
    shares: dict[str, Proportion] = {
        "matches with more than one first": audit.tied_matches,
        "rated events with more than one first": audit.tied_events,
        "holes that only the turn cap ended": audit.capped,
    }
    yield Listing(
        [*shares.items()],
        {
            "": lambda row: row[0],
            " ": lambda row: f"{row[1].count:,} of {row[1].of:,}",
            "  ": lambda row: f"{row[1].share:.2%}",
            "95 %": lambda row: f"{100 * row[1].low:.2f} to {100 * row[1].high:.2f}",
        },
    )
    yield _note("ties")
    if rows := _shown(audit.capped_pairs):
        yield Listing(
            rows,
            {
                "pair": _pair,
                "holes": lambda row: f"{row.holes:,}",
                "at the cap": lambda row: f"{row.capped:,}",
                "p": _p,
            },
            by=None,
        )
        yield _note("capped")


def _luck(audit: Audit) -> Iterator[Listing | str]:
    if not audit.luck:
        yield _note("no_luck", fewest=FEWEST)
        return
    z: Columns = {"z": lambda row: f"{row.z:+.1f}", "p": _p}
    yield Listing(audit.luck, {"bot": _bot, "strokes a match": _strokes, **z})
    most = max(audit.luck, key=lambda row: abs(row.z))
    yield _note("luck", bots=len(audit.luck), z=most.z, odds=_odds(most.p))


def _later(audit: Audit) -> Iterator[Listing | str]:
    if not audit.later:
        yield _note("no_deals")
        return
    deals: Columns = {"bot": _bot, "deals": lambda row: f"{row.deals:,}"}
    yield Listing(audit.later, {**deals, "strokes a match": _strokes, "p": _p})
    yield _note("later", luck=", luck" if audit.adjusted else "")


def _pairs(audit: Audit) -> Iterator[Listing | str]:
    if audit.seats == 2:
        yield _note("two_seats")
        return
    if lift := _shown(audit.lift):
        yield Listing(
            lift,
            {
                "at one table": _pair,
                "rated events": lambda row: f"{row.events:,}",
                "strokes a match": lambda row: f"{row.strokes:+.2f}",
                "p": _p,
            },
            by=None,
        )
        yield _note("lift", tolerated=table_mates.TOLERATED)
    else:
        yield _note("no_lift")
    if feeding := _shown(audit.feeding):
        yield Listing(
            feeding,
            {
                "leaves > takes": lambda row: f"{_name(row.giver)} > {_name(row.taker)}",
                "discards": lambda row: f"{row.left:,}",
                "taken": lambda row: f"{row.taken / max(1, row.left):.1%}",
                "expected": lambda row: f"{row.expected / max(1, row.left):.1%}",
                "p": _p,
            },
            by=None,
        )
        yield _note("feeding", percent=100 * discards.TOLERATED)


def _series(audit: Audit) -> Iterator[Listing | str]:
    if not audit.blocks:
        yield _note("no_deals")
        return
    counted = f"{audit.blocks:,} block{'s' * (audit.blocks > 1)} (the series that share deals)"
    blocks: Columns = {"bot": _bot, "blocks": lambda row: f"{row.blocks:,}"}
    if not audit.together:
        yield _note("no_series", counted=counted)
    else:
        wide: Columns = {
            "correlation": lambda row: f"{row.correlation:+.3f}",
            "times as wide": lambda row: f"{row.wider:.1f}",
        }
        yield Listing(audit.together, {**blocks, **wide, "p": _p})
        single = audit.single
        alone = f", {single:,} of them alone in a pairing and left out" if single else ""
        yield _note("series", counted=counted, alone=alone)
        for row in audit.together:
            if row.p <= audit.unusual:
                yield _note("wider", bot=plain(row.bot), wider=row.wider)
    if not audit.trends:
        yield _note("no_trends", counted=counted, fewest=series.FEWEST)
        return
    yield Listing(audit.trends, {**blocks, "first to last": _strokes, "p": _p})
    yield _note("trends")


def _time(audit: Audit) -> Iterator[Listing | str]:
    yield Listing(
        audit.time,
        {
            "bot": _bot,
            "ms": lambda use: f"{use.mean_ms:.3f}",
            "max ms": lambda use: f"{use.max_ms:.1f}",
            "of limit": lambda use: f"{use.share:.1%}",
            "of bank": lambda use: f"{use.bank_share:.1%}",
            "waited": lambda use: f"{use.waited_ms:.1f}",
            "off turn": lambda use: f"{use.off_turn_ms:.1f}",
        },
        lambda use: -max(use.share, use.bank_share),
    )
    yield _note("time")
    if any(row.p <= audit.unusual for row in audit.waits):
        longer: Columns = {"ms a decision": lambda row: f"{row.longer_ms:+.3f}"}
        yield Listing(audit.waits, {"bot, waited longer": _bot, **longer, "p": _p})
        yield _note("waits", tolerated=waits.TOLERATED)


def _faults(audit: Audit) -> Iterator[Listing | str]:
    if not audit.faults:
        yield "None."
        return
    yield Listing(
        audit.faults,
        {
            "bot": _bot,
            "fault": lambda row: row.kind,
            "early": lambda row: f"{row.early:,}",
            "late": lambda row: f"{row.late:,}",
        },
        lambda row: -(row.early + row.late),
    )
    yield _note("faults", audit=audit)


_SECTIONS: Mapping[str, Callable[[Audit], Iterator[Listing | str]]] = {
    "Seats": _seats,
    "Ties and the turn cap": _ties,
    "Luck": _luck,
    "Rotations played later": _later,
    "Pairs": _pairs,
    "Series": _series,
    "Time": _time,
    "Faults": _faults,
}


# ------------------------------------------------------------------------- cells, rows, notes


def _name(bot: str) -> str:
    return clip(plain(bot), _NAME)


def _bot(row: Any) -> str:  # noqa: ANN401 - a row of any section
    return _name(row.bot)


def _pair(row: Any) -> str:  # noqa: ANN401 - a row of any section
    return ", ".join(map(_name, row.bots))


def _strokes(row: Any) -> str:  # noqa: ANN401 - a row of any section
    return f"{row.strokes:+.2f} ± {row.error:.2f}"


def _p(row: Any) -> str:  # noqa: ANN401 - a row of any section
    return "1" if row.p >= 1 else f"{row.p:.2g}"


def _effect(effect: Effect) -> str:
    if effect.low is None or effect.high is None:
        return f"{effect.strokes:+.2f}"
    return f"{effect.strokes:+.2f} ± {(effect.high - effect.low) / 2:.2f}"


def _odds(p: float) -> str:
    return f"chance alone shows it in {100 * p:.{0 if p >= 0.1 else 1}f} of 100 reports"


def _shown(rows: Sequence[Any]) -> Sequence[Any]:
    """The most unusual pairs, and all that are unusual."""
    return [row for at, row in enumerate(rows) if at < _FEW or row.p <= UNUSUAL]


def _grid(listing: Listing, limit: int) -> Iterator[str]:
    """Columns, the first to the left and the others to the right; nothing without rows."""
    rows, columns = listing.rows, listing.columns
    more = len(rows) - limit if listing.by else 0
    if listing.by and more > 0:
        numbers = [listing.by(row) for row in rows]
        chosen = sorted(range(len(rows)), key=numbers.__getitem__)[:limit]
        rows = [rows[at] for at in sorted(chosen)]
    body = [[cell(row) for cell in columns.values()] for row in rows]
    whole = [[heading.strip() for heading in columns], *body] if body else []
    wide = [max(map(width, column)) for column in zip(*whole, strict=True)]
    for first, *rest in whole:
        cells = [first + " " * (wide[0] - width(first))]
        cells += [
            " " * (room - width(cell)) + cell for cell, room in zip(rest, wide[1:], strict=True)
        ]
        yield "  ".join(["", *cells]).rstrip()
    if more > 0:
        yield f"  and {more:,} more that stand out less; all of them: --all"
