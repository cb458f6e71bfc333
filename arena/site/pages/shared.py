"""The pages that a site's events share: its first page, bots across events, rules of games."""

from collections.abc import Iterator, Sequence

from arena import registry
from arena.reports.columns import NOTHING as NONE
from arena.site import pictures
from arena.site.markup import Safe, escaped, join, tag
from arena.site.pages import frame
from arena.site.pages.ranking import marks, rating
from arena.site.state import Placed, Published, SiteIndex
from arena.site.view import bot_slug
from arena.site.words import LANGUAGES, moment, number, say

_LEADERS = 3
_HASH = 12


def index(site: frame.Site, known: SiteIndex) -> str:
    """The first page: the events, the latest first."""
    title = escaped(known.title) if known.title else say("site_title")
    events = [_event(event) for event in known.events]
    bots = sorted({bot.name for event in known.events for bot in event.bots})
    links = [tag("a", frame.name(bot), href=f"bots/{bot_slug(bot)}.html") for bot in bots]
    return frame.page(
        site,
        tag("h1", title),
        tag("p", say("index_lead"), class_="lead"),
        *_ladder(known),
        tag("ul", *events, class_="events") if events else tag("p", say("no_events")),
        tag("h2", say("all_bots")) if bots else None,
        tag("p", join(*links, between=frame.DOT)) if bots else None,
        tag("p", tag("a", say("feed"), href="feed.xml"), class_="small"),
        up="",
        title=title,
        game=frame.common_game(event.game for event in known.events),
    )


def _ladder(known: SiteIndex) -> Iterator[Safe]:
    for each in known.ladder:
        link = tag("a", say("tab_ranking"), ": ", frame.game_name(each.game), href=each.page)
        leaders = [tag("li", frame.name(bot)) for bot in each.bots[:_LEADERS]]
        about = join(
            say("bots_n", n=len(each.bots)),
            say("matches_n", n=each.matches),
            between=frame.DOT,
        )
        yield tag("section", tag("h2", link), tag("p", about, class_="quiet small"),
                  tag("ol", *leaders), class_="ladder")  # fmt: skip


def _event_link(event: Published, where: str) -> Safe:
    return tag("a", event.name or frame.game_name(event.game), href=where)


def _event(event: Published) -> Safe:
    about = [
        tag("span", frame.game_name(event.game)) if event.name else None,
        say("seats_n", n=event.seats),
        say("bots_n", n=len(event.bots)),
        say("matches_n", n=event.matches),
        moment(event.ended, day=False) or None,
    ]
    leaders = [
        tag("li", tag("a", frame.name(bot.id), href=bot.page) if bot.page else frame.name(bot.id))
        for bot in event.bots[:_LEADERS]
        if bot.rank
    ]
    tags = [
        None if event.finished else tag("span", say("unfinished_short"), class_="tag warn"),
        tag("span", say("predictable_short"), class_="tag quiet") if event.predictable else None,
    ]
    return tag(
        "li",
        tag("h2", _event_link(event, f"e/{event.slug}/index.html")),
        tag("p", join(*about, between=frame.DOT), class_="quiet small"),
        tag("p", join(*tags, between=" ")) if any(tags) else None,
        tag("ol", *leaders) if leaders else None,
    )


def career(
    site: frame.Site, bot: str, played: Sequence[tuple[Published, Placed]], also: Sequence[str]
) -> str:
    columns = frame.heads(
        "col_event text, col_rank number, col_mu number, col_date number, col_version text, "
        "col_hash words, col_range figures, col_win number, col_strokes number, col_matches number"
    )
    rows = [_placed(event, placed) for event, placed in played]
    others = [tag("li", tag("a", frame.name(each), href=f"{bot_slug(each)}.html")) for each in also]
    return frame.page(
        site,
        tag("h1", frame.name(bot)),
        tag("p", say("career_lead", n=len(played)), class_="lead"),
        frame.table(columns, rows, key="its_events", data_sortable=True),
        tag("h2", say("same_content")) if others else None,
        tag("ul", *others) if others else None,
        up="../",
        title=bot,
        game=frame.common_game(event.game for event, _ in played),
    )


def _placed(event: Published, bot: Placed) -> Safe:
    # An older site has the prior's numbers for bots that were not rated.
    rated, many = bool(bot.rank), len(event.bots)
    ranks = frame.rank_range(bot.rank, bot.rank_last) if rated else NONE
    span = pictures.ranks(bot.rank, bot.rank_last or bot.rank, many) if bot.rank else NONE
    shown = _event_link(event, f"../{bot.page or f'e/{event.slug}/index.html'}")
    return tag(
        "tr",
        tag("th", join(shown, *marks(bot.note), between=" "), scope="row", class_="sticky"),
        tag("td", ranks, f" / {many}", data_k=bot.rank or None),
        _cell(bot.mu if rated else None, rating(bot.mu, bot.sigma_field)),
        tag("td", moment(event.ended, day=False) or None, data_k=f"{event.ended:.0f}"),
        tag("td", tag("bdi", bot.version), class_="text"),
        tag("td", tag("code", bot.hash[:_HASH]), class_="text"),
        tag("td", span, class_="text"),
        _cell(bot.win if rated else None, number(100 * (bot.win or 0.0), 1)),
        _cell(bot.strokes if bot.matches else None, number(bot.strokes or 0.0, 2)),
        _cell(bot.matches, number(bot.matches)),
    )


def _cell(key: float | None, shown: Safe | None) -> Safe:
    return tag("td", NONE if key is None else shown, data_k=key)


def rules(site: frame.Site, game: str, language: str) -> str:
    sheet = registry.game(game).about.sheet(language)
    assert sheet is not None
    games = [
        tag(
            "a",
            frame.game_name(other),
            href=f"{other}.{language if language in sheets else sheets[0]}.html",
            aria_current="page" if other == game else None,
        )
        for other in registry.GAMES
        if (sheets := frame.sheets_of(other))
    ]
    others = [
        tag("a", LANGUAGES[code], href=f"{game}.{code}.html", lang=code, hreflang=code)
        for code in frame.sheets_of(game)
        if code != language
    ]
    return frame.page(
        site,
        tag("nav", *games, class_="tabs", aria_label=frame.game_name(game)),
        Safe(sheet),
        tag("p", *(part for link in others for part in (link, " "))),
        up="../",
        title=frame.game_name(game),
        game=game,
        about={"data_sheet": game},
        language=language,
    )
