"""The frame of all pages: head, top bar, an event's tabs, foot; and parts that pages share.

Pure. Invariant: as in `arena.site.pages`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from urllib.parse import urlencode

import msgspec

from arena import registry
from arena.model import Frozen
from arena.site.markup import NOTHING, Content, Safe, escaped, join, long_text, tag
from arena.site.view import EventView
from arena.site.words import LANGUAGES, english, label_attributes, moment, say

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
"""What a page may load: files beside it, and the events of a server that it came from itself."""

TABS = (
    ("index.html", "tab_ranking"),
    ("matrix.html", "tab_matrix"),
    ("matches.html", "tab_matches"),
    ("replay.html", "tab_replay"),
    ("method.html", "tab_method"),
)


class Site(Frozen, frozen=True, kw_only=True):
    """What all pages of a site share."""

    title: str = ""
    """Empty: "Tournaments", in whatever language."""
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
    """A whole page. `up` leads to the site's folder; the link to the rules is for `game`; `about`
    are attributes for scripts.
    """
    home = escaped(site.title) if site.title else Safe(english("site_title"))
    shown = title if isinstance(title, Safe) else escaped(title or "")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", join(_bare(shown), home, between=" \u00b7 ")),
        tag("link", rel="icon", href="data:,"),
        *(
            tag("link", rel="stylesheet", href=f"{up}assets/{name}")
            for name in ("style.css", *styles)
        ),
        tag(
            "link",
            rel="alternate",
            type="application/atom+xml",
            title=home,
            href=f"{up}feed.xml",
        ),
        *(
            tag("script", NOTHING, src=f"{up}assets/{name}", defer=True)
            for name in ("site.js", *scripts, *site.scripts)
        ),
    )
    body = tag(
        "body",
        tag("a", say("skip"), class_="skip", href="#main"),
        _bar(site, up, game),
        tag("main", *parts, id="main", tabindex="-1"),
        tag("footer", tag("div", tag("p", say("foot")))),
        data_up=up or "./",
        **(about or {}),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang=language)}\n"


def _bare(text: str) -> Safe:
    """A title without elements."""
    kept, depth = [], 0
    for char in text:
        depth += (char == "<") - (char == ">")
        if not depth and char != ">":
            kept.append(char)
    return Safe("".join(kept))


def _bar(site: Site, up: str, game: str) -> Safe:
    home = escaped(site.title) if site.title else say("site_title")
    languages = [tag("option", name, value=code, lang=code) for code, name in LANGUAGES.items()]
    return tag(
        "header",
        tag(
            "div",
            tag("a", home, class_="home", href=f"{up}index.html"),
            tag(
                "span",
                _rules_link(up, game),
                tag(
                    "select", *languages, id="language", hidden=True,
                    **label_attributes("aria_label", "language"),
                ),
                tag("button", say("theme"), id="theme", type="button", hidden=True),
                class_="tools",
            ),
        ),
        class_="bar",
    )  # fmt: skip


def _rules_link(up: str, game: str) -> Safe | None:
    """To the English sheet, or the first; a script puts in the page's language, if it is there."""
    sheets = sheets_of(game)
    if not sheets:
        return None
    return tag(
        "a", say("rules"), href=f"{up}rules/{game}.{sheets[0]}.html", data_rules=game,
        data_languages=" ".join(sheets) if len(sheets) < len(LANGUAGES) else None,
    )  # fmt: skip


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
    key: str,
    scripts: tuple[str, ...] = (),
    styles: tuple[str, ...] = (),
    about: dict[str, object] | None = None,
) -> str:
    """A page in an event's folder, under one of its tabs. `key`: of the string in its title."""
    return page(
        site,
        event_head(site, view, current),
        *parts,
        up="../../",
        title=join(say(key), title_of(view), between=" \u00b7 "),
        game=view.table.event.settings.game,
        scripts=scripts,
        styles=styles,
        about=about,
    )


def event_head(site: Site, view: EventView, current: str, *, up: str = "") -> Safe:
    """What an event's pages begin with; `up` leads to the event's folder."""
    event = view.table.event
    has = {"tab_replay": bool(view.replays), "tab_matches": bool(view.listed)}
    notes = [note(say(key), warn=True) for key in view.missing]
    if event.sandbox == "none":
        notes.append(note(say("unconfined"), warn=True))
    if view.table.ended:
        notes.append(note(say("fact_ended"), ": ", long_text(view.table.ended)))
    tabs = [
        tag("a", say(key), href=f"{up}{name}", aria_current="page" if name == current else None)
        for name, key in site.tabs
        if has.get(key, True)
    ]
    return join(
        tag("h1", title_of(view)),
        tag("p", join(*_line(view), between=" \u00b7 "), class_="lead"),
        *notes,
        tag("nav", *tabs, class_="tabs", **label_attributes("aria_label", "event_pages")),
    )


def _line(view: EventView) -> list[Content]:
    event = view.table.event
    return [
        tag("span", game_name(event.settings.game)) if view.name else None,
        say("seats_n", n=event.settings.seats),
        say("bots_n", n=len(event.entrants)),
        say("matches_n", n=view.table.matches),
        moment(view.ended) or None,
        say("predictable_short") if event.predictable else None,
    ]


def title_of(view: EventView) -> Safe:
    return escaped(view.name or game_name(view.table.event.settings.game))


def game_name(game: str) -> str:
    """A game as its rule sheets call it."""
    return registry.game(game).about.title if game in registry.GAMES else game


def note(*parts: Content, warn: bool = False) -> Safe:
    """A box that is read first."""
    return tag("div", tag("p", *parts), class_="note warn" if warn else "note")


def name(text: str) -> Safe:
    """A bot's name: cut where there is no room, whole under the pointer."""
    return tag("bdi", text, class_="name", title=escaped(text))


def scroll(*parts: Content, key: str, kind: str = "", **values: object) -> Safe:
    """Something wide that scrolls by itself, by keyboard too. `kind`: `narrow` has few columns,
    `stack` has rows that are paragraphs on a phone.
    """
    return tag(
        "div",
        *parts,
        class_=f"scroll {kind}".strip(),
        role="region",
        tabindex="0",
        **label_attributes("aria_label", key, **values),
    )


def table(heads: Iterable[Content], rows: Iterable[Content], **given: object) -> Safe:
    """A table with a row of heads."""
    return tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), **given)


def plain_heads(*keys: str, text: bool = True) -> list[Safe]:
    """Heads of columns that are not sorted."""
    return [tag("th", say(key), scope="col", class_="text" if text else None) for key in keys]


def rank_range(first: int | None, last: int | None) -> str:
    """A rank, or the range of ranks that a bot shares."""
    return str(first) if first == last else f"{first}\u2013{last}"


def heading(key: str, *, sort: str | None = "number", text: bool = False, about: str = "") -> Safe:
    """The head of a column; `sort`: by number or text, or by its cells' data-k."""
    more = label_attributes("title", about) if about else {}
    kind = "text" if text else None
    return tag("th", say(key), scope="col", data_sort=sort, class_=kind, **more)


def fact(key: str, *parts: Content) -> Safe:
    return join(tag("dt", say(key)), tag("dd", *parts))


def replay_link(view: EventView, match: str, hole: int = 0, *, up: str = "") -> Safe:
    """To a match in the viewer, or to one of its holes; just the id if there are no replays."""
    if not view.replays:
        return tag("code", match)
    wanted = urlencode({"m": match} | ({"h": hole} if hole else {}))
    return tag("a", tag("code", match), href=f"{up}replay.html#{wanted}")
