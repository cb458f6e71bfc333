"""The frame of all pages: head, top bar, an event's tabs, foot; and parts that pages share."""

import functools
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

import msgspec

from arena import registry
from arena.model import Duel, Frozen, Standing
from arena.site.markup import Content, Safe, attributes, escaped, join, long_text, tag
from arena.site.view import EventView
from arena.site.words import LANGUAGES, english, fragment, label_attributes, moment, say

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
"""What a page may load: files beside it, and the events of a server that it came from itself."""
DOT = " \u00b7 "

TABS = (
    ("index.html", "tab_ranking"),
    ("matrix.html", "tab_matrix"),
    ("matches.html", "tab_matches"),
    ("replay.html", "tab_replay"),
    ("method.html", "tab_method"),
)


LADDER_TABS = TABS[:2]
"""Pages of a ladder's ranking: what is played is in its rounds."""


class Site(Frozen, frozen=True, kw_only=True):
    title: str = ""  # empty: "Tournaments", in whatever language
    tabs: tuple[tuple[str, str], ...] = TABS
    """Pages of an event that there are, and the keys of their names; the first is its ranking."""
    scripts: tuple[str, ...] = ()
    """More scripts for every page, from the site's own folder: a live page listens with one."""


def page(
    site: Site,
    *parts: Content,
    up: str,
    title: Content,
    game: str,
    scripts: tuple[str, ...] = (),
    styles: tuple[str, ...] = (),
    about: dict[str, object] | None = None,
    language: str = "en",
) -> str:
    """`up` leads to the site's folder; the rules are of `game`; `about` is for scripts."""
    name = escaped(site.title) if site.title else Safe(english("site_title"))
    bare = Safe(re.sub("<[^>]*>", "", escaped(title or "")))
    scripts, styles = ("site.js", *scripts, *site.scripts), ("style.css", *styles)
    made = fragment(
        "site/pages/page.html",
        language=language,
        policy=Safe(attributes({"content": POLICY})),
        title=join(bare, name, between=DOT),
        styles=join(*(tag("link", rel="stylesheet", href=f"{up}assets/{each}") for each in styles)),
        site=name,
        up=up,
        scripts=join(*(tag("script", src=f"{up}assets/{each}", defer=True) for each in scripts)),
        about=Safe(attributes({"data_up": up or "./", **(about or {})})),
        home=name if site.title else say("site_title"),
        rules=_rules_link(up, game),
        languages=join(*(tag("option", LANGUAGES[key], value=key, lang=key) for key in LANGUAGES)),
        parts=join(*parts),
    )
    return f"<!doctype html>\n{made}\n"


def _rules_link(up: str, game: str) -> Safe | None:
    """To the English sheet, or the first; a script puts in the page's language, if it is there."""
    sheets = sheets_of(game)
    if not sheets:
        return None
    some = " ".join(sheets) if len(sheets) < len(LANGUAGES) else None
    where = f"{up}rules/{game}.{sheets[0]}.html"
    return tag("a", say("rules"), href=where, data_rules=game, data_languages=some)


@functools.cache
def sheets_of(game: str) -> tuple[str, ...]:
    """The languages in which there is a sheet of the game's rules."""
    if game not in registry.GAMES:
        return ()
    about = registry.game(game).about
    return tuple(language for language in LANGUAGES if about.sheet(language) is not None)


def common_game(games: Iterable[str]) -> str:
    """The game that all of them are; the first that has a sheet where they differ, or are none."""
    found = set(games)
    return found.pop() if len(found) == 1 else next(filter(sheets_of, registry.GAMES), "")


def cards_of(game: str) -> dict[str, object]:
    """Attributes of a page that shows cards: what its scripts have to know of the game."""
    rules = registry.game(game)
    shown = rules.about.for_scripts(rules.pack(rules.max_seats))
    return {"data_cards": msgspec.json.encode(shown).decode()}


def event_page(
    site: Site,
    view: EventView,
    current: str,
    *parts: Content,
    up: str = "",
    **how: Any,  # noqa: ANN401 - of `page`
) -> str:
    """A page of an event, under one of its tabs; `up` leads to the event's folder."""
    return page(
        site,
        event_head(site, view, current, up=up),
        *parts,
        up=f"{up}../../",
        game=view.table.event.settings.game,
        **how,
    )


def event_head(site: Site, view: EventView, current: str, *, up: str = "") -> Safe:
    """What an event's pages begin with; `up` leads to the event's folder."""
    event, ended = view.table.event, view.table.ended
    has = {"tab_replay": bool(view.replays), "tab_matches": bool(view.listed)}
    lead = [
        tag("span", game_name(event.settings.game)) if view.name else None,
        say("seats_n", n=event.settings.seats),
        say("bots_n", n=len(event.entrants)),
        say("matches_n", n=view.table.matches),
        moment(view.ended) or None,
        say("predictable_short") if event.predictable else None,
    ]
    tabs = [
        tag("a", say(key), href=f"{up}{name}", aria_current="page" if name == current else None)
        for name, key in site.tabs
        if has.get(key, True)
    ]
    return join(
        tag("h1", title_of(view)),
        tag("p", join(*lead, between=DOT), class_="lead"),
        *(warning(say(key)) for key in view.missing),
        warning(say("unconfined")) if event.sandbox == "none" else None,
        warning(say("fact_ended"), ": ", long_text(ended), class_="note") if ended else None,
        tag("nav", *tabs, class_="tabs", **label_attributes("aria_label", "event_pages")),
    )


def title_of(view: EventView, key: str = "") -> Safe:
    """What the event is called; behind the string `key`, a page of it."""
    shown = escaped(view.name or game_name(view.table.event.settings.game))
    return join(say(key), shown, between=DOT) if key else shown


def game_name(game: str) -> str:
    return registry.game(game).about.title if game in registry.GAMES else game


def warning(*parts: Content, class_: str = "note warn") -> Safe:
    return tag("div", tag("p", *parts), class_=class_)


def name(text: str) -> Safe:
    """A bot's name: cut where there is no room, whole under the pointer."""
    return tag("bdi", text, class_="name", title=escaped(text))


def table(
    heads: Iterable[Content],
    rows: Iterable[Content],
    *,
    key: str,
    kind: str = "",
    caption: Content = None,
    **given: object,
) -> Safe:
    """Scrolls by itself, labelled by `key`. `kind`: `narrow`, few columns; `stack`, for phones."""
    body = tag("table", caption, tag("thead", tag("tr", *heads)), tag("tbody", *rows), **given)
    return tag(
        "div",
        body,
        class_=f"scroll {kind}".strip(),
        role="region",
        tabindex="0",
        **label_attributes("aria_label", key),
    )


def heads(columns: str) -> list[Safe]:
    """Heads of columns from "KEY KIND, KEY KIND ABOUT", where ABOUT is the key of an explanation.
    Kinds: `number` and `text`, by which rows are sorted; `figures` and `words`, by which they
    aren't.
    """
    return [_head(*column.split(" ")) for column in columns.split(", ")]


def _head(key: str, kind: str, about: str = "") -> Safe:
    sort = kind if kind in {"number", "text"} else None
    class_ = "text" if kind in {"text", "words"} else None
    more = label_attributes("title", about) if about else {}
    return tag("th", say(key), scope="col", data_sort=sort, class_=class_, **more)


def rank_range(first: int | None, last: int | None) -> str:
    return str(first) if first == last else f"{first}\u2013{last}"


def results(of: Standing | Duel) -> str:
    return f"{of.wins}\u2013{of.ties}\u2013{of.losses}"


def fact(key: str, *parts: Content) -> Safe:
    return join(tag("dt", say(key)), tag("dd", *parts))


def replay_link(view: EventView, match: str, hole: int = 0, move: int = 0, *, up: str = "") -> Safe:
    """To a match in the viewer, one of its holes, or a move of it; just the id if there are no
    replays.
    """
    if not view.replays:
        return tag("code", match)
    places = {"m": match, "h": hole, "s": move}
    wanted = urlencode({key: value for key, value in places.items() if value})
    return tag("a", tag("code", match), href=f"{up}replay.html#{wanted}")
