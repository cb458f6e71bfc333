"""SVG pictures of numbers: intervals of ratings, their history, the spread of strokes.

Pure. Colours come from the style sheet, so a picture is light or dark with its page. Invariant:
words or numbers beside a picture say all that it says.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.reports.columns import DEVIATIONS_95
from arena.site.markup import NOTHING, Safe, shape
from arena.site.view import Point

_NARROW = 6
"""Span of a picture below which whole numbers beside it would repeat themselves."""


class Scale:
    def __init__(self, low: float, high: float, start: float, stop: float) -> None:
        """If both ends are equal, all values lie in the middle. It may run downwards."""
        self._low, self._start = low, start
        self._each = (stop - start) / (high - low) if high != low else 0.0
        self._shift = 0.0 if high != low else (stop - start) / 2

    def __call__(self, value: float) -> str:
        return f"{self._start + self._shift + (value - self._low) * self._each:.1f}"


def interval(mu: float, error: float, scale: Scale) -> Safe:
    """A rating: a dot, and its 95 % range."""
    half = DEVIATIONS_95 * error
    return _drawing(
        160,
        20,
        shape("line", x1=6, x2=154, y1=10, y2=10, class_="axis"),
        shape("line", x1=scale(mu - half), x2=scale(mu + half), y1=10, y2=10, class_="span soft"),
        shape("line", x1=scale(mu - error), x2=scale(mu + error), y1=10, y2=10, class_="span"),
        shape("circle", cx=scale(mu), cy=10, r=4, class_="dot"),
    )


def ranks(first: int, last: int, of: int) -> Safe:
    """A range of ranks among all, the first on the left."""
    scale = Scale(1, max(2, of), 5, 75)
    return _drawing(
        80,
        16,
        shape("line", x1=5, x2=75, y1=8, y2=8, class_="axis"),
        shape("line", x1=scale(first), x2=scale(last), y1=8, y2=8, class_="span soft"),
        shape("circle", cx=scale(first), cy=8, r=3, class_="dot"),
        shape("circle", cx=scale(last), cy=8, r=3, class_="dot"),
    )


def history(points: Sequence[Point], label: str) -> Safe:
    """A rating over an event: a line with its 95 % band."""
    if len(points) < 2:
        return NOTHING
    low = min(point.mu - DEVIATIONS_95 * point.error for point in points)
    high = max(point.mu + DEVIATIONS_95 * point.error for point in points)
    across = Scale(points[0].matches, points[-1].matches, 36, 590)
    down = Scale(high, low, 12, 168)
    upper = [f"{across(p.matches)},{down(p.mu + DEVIATIONS_95 * p.error)}" for p in points]
    lower = [
        f"{across(p.matches)},{down(p.mu - DEVIATIONS_95 * p.error)}" for p in reversed(points)
    ]
    middle = [f"{across(p.matches)},{down(p.mu)}" for p in points]
    return _drawing(
        600,
        200,
        *(_level(at, down, int(high - low < _NARROW)) for at in (low, (low + high) / 2, high)),
        shape("polygon", points=" ".join(upper + lower), class_="area-of"),
        shape("polyline", points=" ".join(middle), class_="line-of"),
        *(
            shape("text", str(p.matches), x=across(p.matches), y=194, text_anchor=anchor)
            for p, anchor in ((points[0], "start"), (points[-1], "end"))
        ),
        label=label,
    )


def _level(value: float, down: Scale, decimals: int) -> Safe:
    at = down(value)
    shown = f"{value:.{decimals}f}".replace("-", "\u2212")
    return Safe(
        shape("line", x1=36, x2=590, y1=at, y2=at, class_="axis")
        + shape("text", shown, x=30, y=at, text_anchor="end", dy=4)
    )


def bars(counts: Sequence[tuple[int, int]], label: str) -> Safe:
    if not counts:
        return NOTHING
    often = dict(counts)
    low, high = counts[0][0], counts[-1][0]
    most = max(often.values())
    wide = 590 / (high - low + 1)
    drawn = [
        shape(
            "rect",
            x=f"{5 + (value - low) * wide:.1f}",
            width=f"{max(1.0, wide - 1):.1f}",
            y=f"{150 - 140 * number / most:.1f}",
            height=f"{140 * number / most:.1f}",
            class_="bar-of",
        )
        for value, number in counts
    ]
    ticks = [value for value in range(low, high + 1) if value % 10 == 0] or [low, high]
    texts = [
        shape(
            "text",
            str(value).replace("-", "\u2212"),
            x=f"{5 + (value - low + 0.5) * wide:.1f}",
            y=168,
            text_anchor="middle",
        )
        for value in dict.fromkeys(ticks)
    ]
    line = shape("line", x1=5, x2=595, y1=150, y2=150, class_="axis")
    return _drawing(600, 175, *drawn, line, *texts, label=label)


def bar(value: float, most: float) -> Safe:
    long = 120 * max(0.0, value) / most if most > 0 else 0.0
    return _drawing(
        124, 12, shape("rect", x=1, y=2, width=f"{long:.1f}", height=8, rx=2, class_="bar-of")
    )


def _drawing(width: int, height: int, *parts: Safe, label: str = "") -> Safe:
    """With a label for screen readers, or hidden from them where its numbers stand beside it."""
    return shape(
        "svg",
        *parts,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img" if label else None,
        aria_label=label or None,
        aria_hidden=None if label else "true",
        focusable="false",
    )
