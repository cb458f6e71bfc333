"""A bot across events: where it played, and how it did there.

Pure. Invariant: as in `arena.site.pages`.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.reports.columns import NOTHING as NONE
from arena.site import pictures
from arena.site.file_names import bot_slug
from arena.site.markup import Safe, join, tag
from arena.site.pages.frame import Site, common_game, heading, name, page, rank_range, scroll, table
from arena.site.pages.index import event_name
from arena.site.pages.ranking import marks, rating
from arena.site.state import Placed, Published
from arena.site.words import moment, number, say

_HASH = 12


def career(
    site: Site, bot: str, played: Sequence[tuple[Published, Placed]], also: Sequence[str]
) -> str:
    heads = [
        heading("col_event", sort="text", text=True),
        heading("col_rank", sort="number"),
        heading("col_mu", sort="number"),
        heading("col_date", sort="number"),
        heading("col_version", sort="text", text=True),
        heading("col_hash", sort=None, text=True),
        heading("col_range", sort=None),
        heading("col_win", sort="number"),
        heading("col_strokes", sort="number"),
        heading("col_matches", sort="number"),
    ]
    rows = [_row(event, placed) for event, placed in played]
    others = [tag("li", tag("a", name(other), href=f"{bot_slug(other)}.html")) for other in also]
    return page(
        site,
        tag("h1", name(bot)),
        tag("p", say("career_lead", n=len(played)), class_="lead"),
        scroll(table(heads, rows, data_sortable=True), key="its_events"),
        tag("h2", say("same_content")) if others else None,
        tag("ul", *others) if others else None,
        up="../",
        title=bot,
        game=common_game(event.game for event, _ in played),
    )


def _row(event: Published, bot: Placed) -> Safe:
    # An older site has the prior's numbers for bots that were not rated.
    rated = bool(bot.rank)
    ranks, many = rank_range(bot.rank, bot.rank_last), len(event.bots)
    shown = tag("a", event_name(event), href=f"../{bot.page or f'e/{event.slug}/index.html'}")
    return tag(
        "tr",
        tag("th", join(shown, *marks(bot.note), between=" "), scope="row", class_="sticky"),
        tag(
            "td",
            ranks if rated else NONE,
            f" / {many}",
            data_k=bot.rank or None,
        ),
        _cell(bot.mu if rated else None, rating(bot.mu, bot.sigma_field)),
        tag("td", moment(event.ended, day=False) or None, data_k=f"{event.ended:.0f}"),
        tag("td", tag("bdi", bot.version), class_="text"),
        tag("td", tag("code", bot.hash[:_HASH]), class_="text"),
        tag(
            "td",
            pictures.ranks(bot.rank, bot.rank_last or bot.rank, many) if bot.rank else NONE,
            class_="text",
        ),
        _cell(bot.win if rated else None, number(100 * (bot.win or 0.0), 1)),
        _cell(bot.strokes if bot.matches else None, number(bot.strokes or 0.0, 2)),
        _cell(bot.matches, number(bot.matches)),
    )


def _cell(key: float | None, shown: Safe | None) -> Safe:
    """A value, and what it is sorted by."""
    return tag("td", NONE if key is None else shown, data_k=key)
