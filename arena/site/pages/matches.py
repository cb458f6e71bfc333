"""The matches of a bot, or of two: a list that a script fills from the bot's files.

Pure. Invariant: as in `arena.site.pages`.
"""

from __future__ import annotations

from arena.site.markup import NOTHING, tag
from arena.site.pages.frame import Site, event_page, heading, scroll, table
from arena.site.view import EventView
from arena.site.words import say


def matches(site: Site, view: EventView) -> str:
    bots = [
        tag("option", entrant, value=entrant)
        for entrant in (row.entrant for row in view.table.rows)
    ]
    controls = tag(
        "div",
        tag("label", say("col_bot"), " ", tag("select", *bots, id="bot")),
        tag(
            "label",
            say("against"),
            " ",
            tag("select", tag("option", say("anybody"), value=""), *bots, id="with"),
        ),
        tag("button", say("more"), id="more", type="button", hidden=True),
        class_="controls",
    )
    heads = [
        heading("col_match", sort=None, text=True),
        heading("col_table", sort=None, text=True),
        heading("col_strokes_match", sort="number"),
        heading("col_lead", sort="number"),
        heading("col_place", sort="number"),
        heading("col_faults", sort=None, text=True),
    ]
    return event_page(
        site,
        view,
        "matches.html",
        tag("noscript", tag("p", say("needs_script"))),
        controls,
        tag("p", NOTHING, id="said", role="status", class_="quiet"),
        scroll(table(heads, (), id="matches", data_sortable=True), key="tab_matches"),
        key="tab_matches",
        scripts=("load.js", "matches.js"),
        about={"data_event": view.slug, "data_replays": view.replays or None},
    )
