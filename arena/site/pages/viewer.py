"""The list of matches and the viewer of one: empty pages, which scripts fill from files of data."""

from arena.site.markup import NOTHING, Content, tag
from arena.site.pages import frame
from arena.site.view import EventView
from arena.site.words import fragment, say


def matches(site: frame.Site, view: EventView) -> str:
    bots = [tag("option", row.entrant, value=row.entrant) for row in view.table.rows]
    anybody = tag("option", say("anybody"), value="")
    controls = tag(
        "div",
        tag("label", say("col_bot"), " ", tag("select", *bots, id="bot")),
        tag("label", say("against"), " ", tag("select", anybody, *bots, id="with")),
        tag("button", say("more"), id="more", type="button", hidden=True),
        class_="controls",
    )
    columns = frame.heads(
        "col_match words, col_table words, col_strokes_match number, col_lead number, "
        "col_place number, col_faults words"
    )
    return frame.event_page(
        site,
        view,
        "matches.html",
        *_begin(controls),
        frame.table(columns, (), key="tab_matches", id="matches", data_sortable=True),
        title=frame.title_of(view, "tab_matches"),
        scripts=("load.js", "matches.js"),
        about={"data_event": view.slug, "data_replays": view.replays or None},
    )


def _begin(*controls: Content) -> list[Content]:
    """Words for a browser without scripts, and a place for the script's own."""
    said = tag("p", NOTHING, id="said", role="status", class_="quiet")
    return [tag("noscript", tag("p", say("needs_script"))), *controls, said]


def replay(
    site: frame.Site, view: EventView, *notices: Content, scripts: tuple[str, ...] = ()
) -> str:
    """The viewer of one match. `scripts`: more of them, that load a match otherwise."""
    return frame.event_page(
        site,
        view,
        "replay.html",
        *_begin(),
        *notices,
        tag("div", fragment("arena.site.pages", "viewer.html"), id="viewer", hidden=True),
        title=frame.title_of(view, "tab_replay"),
        scripts=("load.js", *scripts, "cards.js", "moments.js", "replay.js"),
        styles=("cards.css",),
        about={"data_event": view.slug, **frame.cards_of(view.table.event.settings.game)},
    )
