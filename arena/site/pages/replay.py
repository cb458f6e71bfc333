"""The viewer of matches: an empty table, which a script fills from a match's segment.

Pure. Invariant: as in `arena.site.pages`.
"""

from __future__ import annotations

from arena.site.markup import NOTHING, Content, Safe, join, tag
from arena.site.pages.frame import Site, cards_of, event_page
from arena.site.view import EventView
from arena.site.words import label_attributes, say

_BUTTONS = (
    ("first", "\u21e4", "step_first"),
    ("back", "\u2190", "step_back"),
    ("next", "\u2192", "step_next"),
    ("last", "\u21e5", "step_last"),
)


def replay(site: Site, view: EventView, *notices: Content, scripts: tuple[str, ...] = ()) -> str:
    """`scripts`: more of them, that load a match otherwise."""
    return event_page(
        site,
        view,
        "replay.html",
        tag("noscript", tag("p", say("needs_script"))),
        tag("p", NOTHING, id="said", role="status", class_="quiet"),
        *notices,
        tag("div", _viewer(), id="viewer", hidden=True),
        key="tab_replay",
        scripts=("load.js", *scripts, "cards.js", "moments.js", "replay.js"),
        styles=("cards.css",),
        about={"data_event": view.slug, **cards_of(view.table.event.settings.game)},
    )


def _viewer() -> Safe:
    """The elements that the script fills."""
    return join(
        tag("h2", NOTHING, id="match"),
        tag("p", NOTHING, id="moment", class_="lead", aria_live="polite"),
        tag(
            "section", NOTHING, id="felt", class_="felt",
            **label_attributes("aria_label", "table_of_cards"),
        ),
        _controls(),
        tag("div", NOTHING, id="legend", class_="legend"),
        tag("div", NOTHING, id="fault"),
        tag(
            "div",
            tag("section", tag("h2", say("moves")), tag("ol", NOTHING, id="moves", class_="moves",
                tabindex="0")),
            tag("section", tag("h2", say("score")), tag("div", NOTHING, id="score")),
            class_="two",
        ),
        tag("p", say("keys"), class_="small quiet"),
    )  # fmt: skip


def _controls() -> Safe:
    buttons = [
        tag(
            "button",
            tag("span", sign, aria_hidden="true"),
            id=name,
            type="button",
            **label_attributes("aria_label", key),
        )
        for name, sign, key in _BUTTONS
    ]
    playing = tag("button", say("step_play"), id="play", type="button", class_="primary")
    return tag(
        "div",
        *buttons[:2],
        playing,
        *buttons[2:],
        tag("label", say("hole"), " ", tag("select", NOTHING, id="hole")),
        tag("label", say("seen_by"), " ", tag("select", NOTHING, id="seat")),
        tag("label", say("pace"), " ", tag("select", NOTHING, id="pace")),
        tag("button", say("share"), id="share", type="button"),
        class_="controls",
    )
