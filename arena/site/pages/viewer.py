"""The list of matches and the viewer of one: empty pages, which scripts fill from files of data."""

from arena.site.markup import NOTHING, Content, Safe, join, tag
from arena.site.pages import frame
from arena.site.view import EventView
from arena.site.words import label_attributes, say

_BUTTONS = (
    ("first", "\u21e4", "step_first"),
    ("back", "\u2190", "step_back"),
    ("next", "\u2192", "step_next"),
    ("last", "\u21e5", "step_last"),
)


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
        tag("div", _viewer(), id="viewer", hidden=True),
        title=frame.title_of(view, "tab_replay"),
        scripts=("load.js", *scripts, "cards.js", "moments.js", "replay.js"),
        styles=("cards.css",),
        about={"data_event": view.slug, **frame.cards_of(view.table.event.settings.game)},
    )


def _viewer() -> Safe:
    felt = label_attributes("aria_label", "table_of_cards")
    moves = tag("ol", NOTHING, id="moves", class_="moves", tabindex="0")
    return join(
        tag("h2", NOTHING, id="match"),
        tag("p", NOTHING, id="moment", class_="lead", aria_live="polite"),
        tag("section", NOTHING, id="felt", class_="felt", **felt),
        _controls(),
        tag("div", NOTHING, id="legend", class_="legend"),
        tag("div", NOTHING, id="fault"),
        tag(
            "div",
            tag("section", tag("h2", say("moves")), moves),
            tag("section", tag("h2", say("score")), tag("div", NOTHING, id="score")),
            class_="two",
        ),
        tag("p", say("keys"), class_="small quiet"),
    )


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
    buttons.insert(2, playing)
    choices = [
        tag("label", say(key), " ", tag("select", NOTHING, id=name))
        for key, name in (("hole", "hole"), ("seen_by", "seat"), ("pace", "pace"))
    ]
    share = tag("button", say("share"), id="share", type="button")
    return tag("div", *buttons, *choices, share, class_="controls")
