"""The figures for people: a table for the terminal and for README.md, and what has moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from measures import COUNTS, Measure, Row
from measures.figures import Figure, Move, Published

TEXT, VALUE, SPREAD, RATIO = 34, 13, 17, 7


def number(value: float) -> str:
    """With three digits, or all before the point."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def with_unit(value: float, unit: str) -> str:
    """A number and what it counts."""
    if unit == "x":
        return f"{number(value)}x"
    if unit in COUNTS:
        return f"{number(value / 1000)}k instr"
    return f"{number(value)} {unit}"


def goal(row: Row, figure: Figure) -> str:
    """What was wanted, and whether it is reached."""
    if figure.goal is None:
        return ""
    reached = number((figure.ratio or figure.value).median)
    sign = "≥" if row.upwards else "≤"
    return f"{'reached' if figure.met else 'MISSED'}: {reached} of {sign} {figure.goal:g}"


def line(row: Row, figure: Figure) -> str:
    """A line of the table."""
    value = with_unit(figure.value.median, figure.unit)
    scale = 1000 if figure.unit in COUNTS else 1
    low, high = (number(each / scale) for each in (figure.value.low, figure.value.high))
    spread = f"{low}-{high}" if figure.rounds > 1 else ""
    ratio = f"{number(figure.ratio.median)}x" if figure.ratio else ""
    return (
        f"{row.text:<{TEXT}}{value:>{VALUE}}{spread:>{SPREAD}}{ratio:>{RATIO}}  {goal(row, figure)}"
    ).rstrip()


def table(
    measures: Iterable[Measure], figures: Mapping[str, Figure], skipped: Mapping[str, str]
) -> str:
    """All of it, by subject. Under 100 columns."""
    heading = (
        f"{'':<{TEXT + 2}}{'median':>{VALUE}}{'middle half':>{SPREAD}}{'ratio':>{RATIO}}  goal"
    )
    lines = [heading]
    for measure in measures:
        rows = [row for row in measure.rows if row.key in figures]
        if not rows and measure.name not in skipped:
            continue
        lines += ["", measure.about]
        lines += ["  " + line(row, figures[row.key]) for row in rows]
        if measure.name in skipped:
            lines.append(f"  left out: {skipped[measure.name]}")
    return "\n".join(lines) + "\n"


def moves(
    measures: Sequence[Measure], old: Published, new: Published, found: Sequence[Move]
) -> str:
    """What has moved since the figures that were published last."""
    texts = {
        row.key: f"{measure.about}: {row.text.strip()}"
        for measure in measures
        for row in measure.rows
    }
    both = len(old.figures.keys() & new.figures.keys())
    lines = [
        f"against the published figures: {both} compared, {len(found)} moved by more than noise"
    ]
    if old.machine != new.machine:
        lines.append("  (they are of another machine or Python: ratios alone are told)")
    lines += [
        f"  {'better' if move.better else 'WORSE'}  {move.by:+.1%} (noise {move.noise:.1%})  "
        f"{texts[move.key]}"
        for move in found
    ]
    return "\n".join(lines) + "\n"
