"""The Atom feed of a site's events, and the SVG badge of a bot's rank.

Pure. Invariant: well-formed XML whatever names are in it; addresses are relative to the file, since
a site doesn't know where it will be hosted.
"""

from datetime import UTC, datetime

from arena.reports.escape import plain
from arena.site.markup import Safe, attributes, join
from arena.site.pages.frame import rank_range
from arena.site.state import Published, SiteIndex
from arena.site.words import english, fragment

_SHOWN = 100
_DIGIT = 7.0
_WIDE = 13.0


def feed(index: SiteIndex) -> str:
    made = fragment(
        "site/pages/feed.xml",
        title=index.title or english("site_title"),
        id=index.id,
        updated=_moment(max((event.ended for event in index.events), default=0.0)),
        entries=join(*map(_entry, index.events[:_SHOWN])),  # the latest first
    )
    return f'<?xml version="1.0" encoding="utf-8"?>\n{made}\n'


def _entry(event: Published) -> Safe:
    told, updated = english("matches_n", n=event.matches), _moment(event.ended)
    leaders = ", ".join(f"{bot.rank}. {bot.id}" for bot in event.bots[:3] if bot.rank)
    state = "" if event.finished else f" {english('unfinished_short')}."
    return fragment(
        "site/pages/entry.xml",
        title=event.name or f"{event.game} {updated[:16].replace('T', ' ')}",
        slug=event.slug,
        updated=updated,
        summary=f"{event.game}, {told}.{state} {leaders}",
    )


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def badge(name: str, rank: int | None, rank_last: int | None, of: int) -> str:
    """A picture for other pages: a bot's name, its rank, and of how many."""
    right = f"{rank_range(rank, rank_last)} / {of}" if rank else "\u2013"
    left, wide = _width(name) + 14, _width(right) + 14
    made = fragment(
        "site/pages/badge.svg",
        label=f"{name}: {right}",
        about=Safe(attributes({"aria_label": f"{plain(name)}: {right}"})),
        whole=f"{left + wide:.0f}",
        left=f"{left:.0f}",
        right=f"{wide - 4:.0f}",
        name=name,
        name_at=f"{left / 2:.0f}",
        name_wide=f"{left - 10:.0f}",
        rank=right,
        rank_at=f"{left + wide / 2:.0f}",
        rank_wide=f"{wide - 10:.0f}",
    )
    return f"{made}\n"


def _width(text: str) -> float:
    return sum(_DIGIT if ord(char) < 0x1100 else _WIDE for char in plain(text))
