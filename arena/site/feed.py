"""The Atom feed of a site's events, and the SVG badge of a bot's rank.

Pure. Invariant: well-formed XML whatever names are in it; addresses are relative to the file, since
a site doesn't know where it will be hosted.
"""

from datetime import UTC, datetime

from arena.reports.escape import plain
from arena.site.markup import Safe, shape, tag
from arena.site.pages.frame import rank_range
from arena.site.state import Published, SiteIndex
from arena.site.words import english

_SHOWN = 100
_DIGIT = 7.0
_WIDE = 13.0


def feed(index: SiteIndex) -> str:
    made = tag(
        "feed",
        tag("title", index.title or english("site_title")),
        tag("id", f"urn:arena:site:{index.id}"),
        tag("updated", _moment(max((event.ended for event in index.events), default=0.0))),
        tag("author", tag("name", "arena")),
        shape("link", rel="self", href="feed.xml"),
        shape("link", rel="alternate", href="index.html"),
        *(_entry(event) for event in index.events[:_SHOWN]),
        xmlns="http://www.w3.org/2005/Atom",
    )
    return f'<?xml version="1.0" encoding="utf-8"?>\n{made}\n'


def _entry(event: Published) -> Safe:
    told = english("matches_n", n=event.matches)
    when = _moment(event.ended)[:16].replace("T", " ")
    leaders = ", ".join(f"{bot.rank}. {bot.id}" for bot in event.bots[:3] if bot.rank)
    state = "" if event.finished else f" {english('unfinished_short')}."
    return tag(
        "entry",
        tag("title", event.name or f"{event.game} {when}"),
        tag("id", f"urn:arena:event:{event.slug}"),
        tag("updated", _moment(event.ended)),
        shape("link", href=f"e/{event.slug}/index.html"),
        tag("summary", f"{event.game}, {told}.{state} {leaders}"),
    )


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def badge(name: str, rank: int | None, rank_last: int | None, of: int) -> str:
    """A picture for other pages: a bot's name, its rank, and of how many."""
    right = f"{rank_range(rank, rank_last)} / {of}" if rank else "\u2013"
    left_wide = _width(name) + 14
    right_wide = _width(right) + 14
    whole = left_wide + right_wide
    made = shape(
        "svg",
        tag("title", f"{name}: {right}"),
        shape("rect", width=f"{whole:.0f}", height=20, rx=4, fill="#33413a"),
        shape(
            "path",
            d=f"M{left_wide:.0f} 0h{right_wide - 4:.0f}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4"
            f"h-{right_wide - 4:.0f}z",
            fill="#14634a",
        ),
        _text(plain(name), left_wide / 2, left_wide - 10),
        _text(right, left_wide + right_wide / 2, right_wide - 10),
        xmlns="http://www.w3.org/2000/svg",
        width=f"{whole:.0f}",
        height=20,
        viewBox=f"0 0 {whole:.0f} 20",
        role="img",
        aria_label=f"{plain(name)}: {right}",
    )
    return f"{made}\n"


def _text(shown: str, middle: float, room: float) -> Safe:
    return shape(
        "text",
        shown,
        x=f"{middle:.0f}",
        y=14,
        fill="#ffffff",
        font_family="system-ui, sans-serif",
        font_size=12,
        text_anchor="middle",
        textLength=f"{room:.0f}",
        lengthAdjust="spacingAndGlyphs",
    )


def _width(text: str) -> float:
    return sum(_DIGIT if ord(char) < 0x1100 else _WIDE for char in plain(text))
