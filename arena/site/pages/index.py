"""The first page of a site: its events, the latest first.

Pure. Invariant: as in `arena.site.pages`.
"""

from __future__ import annotations

from arena.site.file_names import bot_slug
from arena.site.markup import Safe, escaped, join, tag
from arena.site.pages.frame import Site, common_game, game_name, name, page
from arena.site.state import Published, SiteIndex
from arena.site.words import moment, say

_LEADERS = 3


def index(site: Site, known: SiteIndex) -> str:
    title = escaped(known.title) if known.title else say("site_title")
    events = [_event(event) for event in known.events]
    bots = sorted({bot.name for event in known.events for bot in event.bots})
    links = [tag("a", name(bot), href=f"bots/{bot_slug(bot)}.html") for bot in bots]
    return page(
        site,
        tag("h1", title),
        tag("p", say("index_lead"), class_="lead"),
        tag("ul", *events, class_="events") if events else tag("p", say("no_events")),
        tag("h2", say("all_bots")) if bots else None,
        tag("p", join(*links, between=" \u00b7 ")) if bots else None,
        tag("p", tag("a", say("feed"), href="feed.xml"), class_="small"),
        up="",
        title=title,
        game=common_game(event.game for event in known.events),
    )


def event_name(event: Published) -> Safe:
    return escaped(event.name or game_name(event.game))


def _event(event: Published) -> Safe:
    where = f"e/{event.slug}/index.html"
    about = [
        tag("span", game_name(event.game)) if event.name else None,
        say("seats_n", n=event.seats),
        say("bots_n", n=len(event.bots)),
        say("matches_n", n=event.matches),
        moment(event.ended, day=False) or None,
    ]
    leaders = [
        tag(
            "li",
            tag("a", name(bot.id), href=bot.page) if bot.page else name(bot.id),
        )
        for bot in event.bots[:_LEADERS]
        if bot.rank
    ]
    tags = []
    if not event.finished:
        tags.append(tag("span", say("unfinished_short"), class_="tag warn"))
    if event.predictable:
        tags.append(tag("span", say("predictable_short"), class_="tag quiet"))
    return tag(
        "li",
        tag("h2", tag("a", event_name(event), href=where)),
        tag("p", join(*about, between=" \u00b7 "), class_="quiet small"),
        tag("p", join(*tags, between=" ")) if tags else None,
        tag("ol", *leaders) if leaders else None,
    )
