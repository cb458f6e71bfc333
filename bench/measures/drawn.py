"""The picture for the docs: two groups of bars as an SVG, light or dark as the reader likes it.

Needs no font, script or file from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from measures.figures import Figure
from measures.shown import number

WIDTH, MARGIN, LABEL, VALUE = 760, 20, 200, 190
BAR, STEP, TITLE = 18, 28, 34

STYLE = """
svg { background: #ffffff; font-family: ui-sans-serif, system-ui, sans-serif }
.title { fill: #1f2328; font-size: 15px; font-weight: 600 }
.label, .value { fill: #1f2328; font-size: 13px }
.floor { fill: #8c959f } .ours { fill: #2f6fd0 } .missed { fill: #c4432b }
.goal { stroke: #1f2328; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  svg { background: #0d1117 }
  .title, .label, .value { fill: #e6edf3 }
  .floor { fill: #6e7681 } .ours { fill: #6ea8fe } .missed { fill: #f0826c }
  .goal { stroke: #e6edf3 }
}
"""


@dataclass(frozen=True)
class Bar:
    """One figure to be drawn."""

    key: str
    label: str
    ours: bool = True


GROUPS: Sequence[tuple[str, str, Sequence[Bar]]] = (
    (
        "CPU of the referee",
        "µs a decision",
        (
            Bar("ping-pong.cpu", "one side of C ping-pong", ours=False),
            Bar("c-referee.cpu", "C epoll referee, no rules", ours=False),
            Bar("worker.cpu", "arena, everything on"),
        ),
    ),
    (
        "wall time on one core, bots included",
        "µs a decision",
        (
            Bar("ping-pong.wall", "C ping-pong", ours=False),
            Bar("c-referee.wall", "C epoll referee, no rules", ours=False),
            Bar("worker.wall", "arena, everything on"),
        ),
    ),
    (
        "whole play-nine events",
        "matches a second",
        (
            Bar("event.instant.2.rate", "C bots"),
            Bar("event.lean.2.rate", "lean Python bots"),
            Bar("event.instant-fresh.2.rate", "C bots, fresh for each match"),
        ),
    ),
)


def drawing(figures: Mapping[str, Figure]) -> str:
    """The picture of what there is of the figures."""
    parts: list[str] = []
    top = MARGIN
    for title, unit, bars in GROUPS:
        there = [(bar, figures[bar.key]) for bar in bars if bar.key in figures]
        if not there:
            continue
        parts.append(_text("title", MARGIN, top + 14, f"{title}, {unit}"))
        top += TITLE
        goals = [goal_of(each) for _, each in there]
        longest = max([each.value.median for _, each in there] + goals)
        for bar, figure in there:
            parts.append(_bar(bar, figure, top, (WIDTH - 2 * MARGIN - LABEL - VALUE) / longest))
            top += STEP
        top += MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" '
        f'viewBox="0 0 {WIDTH} {top}" role="img">\n'
        f"<title>What a decision costs, and how many matches a second</title>\n"
        f"<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def goal_of(figure: Figure) -> float:
    """Where the goal lies in the figure's own unit; 0 without one."""
    if figure.goal is None or figure.ratio is None:
        return figure.goal or 0.0
    return figure.goal * figure.value.median / figure.ratio.median


def _bar(bar: Bar, figure: Figure, top: int, scale: float) -> str:
    left = MARGIN + LABEL
    length = figure.value.median * scale
    kind = "floor" if not bar.ours else "missed" if figure.met is False else "ours"
    text = number(figure.value.median)
    if figure.ratio is not None and bar.ours:
        text += f" = {number(figure.ratio.median)}x"
    if figure.goal is not None:
        sign = "≤" if figure.ratio is not None else "≥"
        text += f", goal {sign} {figure.goal:g}{'x' * (figure.ratio is not None)}"
    wanted = goal_of(figure) * scale
    mark = ""
    if wanted:
        x = left + wanted
        mark = f'<line class="goal" x1="{x:.1f}" x2="{x:.1f}" y1="{top - 3}" y2="{top + BAR + 3}"/>'
    return (
        _text("label", MARGIN, top + 13, bar.label)
        + f'<rect class="{kind}" x="{left}" y="{top}" width="{length:.1f}" height="{BAR}" rx="2"/>'
        + mark
        + _text("value", left + max(length, wanted) + 8, top + 13, text)
    )


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
