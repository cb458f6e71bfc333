"""SVG pictures of numbers: intervals of ratings, their history, the spread of strokes.

Pure. Colours come from the style sheet, so a picture is light or dark with its page. Invariant:
words or numbers beside a picture say all that it says.
"""

from collections.abc import Callable, Sequence

from arena.reports.columns import DEVIATIONS_95
from arena.site.markup import NOTHING, Safe, shape
from arena.site.view import Point

_NARROW = 6  # span of a picture below which whole numbers beside it would repeat themselves
Scale = Callable[[float], str]  # maps values to pixels


def scale_of(low: float, high: float, start: float, stop: float) -> Scale:
    """It may run downwards. If both ends are equal, all values lie in the middle."""
    each = (stop - start) / (high - low) if high != low else 0.0
    begin = start if high != low else (start + stop) / 2
    return lambda value: f"{begin + (value - low) * each:.1f}"


def interval(mu: float, error: float, scale: Scale) -> Safe:
    half = DEVIATIONS_95 * error
    return _drawing(
        160,
        20,
        _line(6, 154, 10),
        _line(scale(mu - half), scale(mu + half), 10, "span soft"),
        _line(scale(mu - error), scale(mu + error), 10, "span"),
        shape("circle", cx=scale(mu), cy=10, r=4, class_="dot"),
    )


def ranks(first: int, last: int, of: int) -> Safe:
    """A range of ranks among all, the first on the left."""
    scale = scale_of(1, max(2, of), 5, 75)
    dots = (shape("circle", cx=scale(at), cy=8, r=3, class_="dot") for at in (first, last))
    return _drawing(
        80, 16, _line(5, 75, 8), _line(scale(first), scale(last), 8, "span soft"), *dots
    )


def _line(start: object, stop: object, at: object, class_: str = "axis") -> Safe:
    return shape("line", x1=start, x2=stop, y1=at, y2=at, class_=class_)


def history(points: Sequence[Point], label: str) -> Safe:
    """A rating over an event: a line with its 95 % band."""
    if len(points) < 2:
        return NOTHING
    bands = [(p, DEVIATIONS_95 * p.error) for p in points]
    low, high = min(p.mu - half for p, half in bands), max(p.mu + half for p, half in bands)
    across = scale_of(points[0].matches, points[-1].matches, 36, 590)
    down = scale_of(high, low, 12, 168)
    upper = [f"{across(p.matches)},{down(p.mu + half)}" for p, half in bands]
    lower = [f"{across(p.matches)},{down(p.mu - half)}" for p, half in reversed(bands)]
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
    at, shown = down(value), f"{value:.{decimals}f}".replace("-", "\u2212")
    return Safe(_line(36, 590, at) + shape("text", shown, x=30, y=at, text_anchor="end", dy=4))


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
    return _drawing(600, 175, *drawn, _line(5, 595, 150), *texts, label=label)


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
