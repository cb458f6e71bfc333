"""The list of matches and the viewer of one: empty pages, which scripts fill from files of data."""

from arena.site.markup import Content, join, tag
from arena.site.pages import frame
from arena.site.view import EventView
from arena.site.words import fragment


def matches(site: frame.Site, view: EventView) -> str:
    bots = join(*(tag("option", row.entrant, value=row.entrant) for row in view.table.rows))
    columns = frame.heads(
        "col_match words, col_table words, col_strokes_match number, col_lead number, "
        "col_place number, col_faults words"
    )
    return frame.event_page(
        site,
        view,
        "matches.html",
        fragment("site/pages/matches.html", bots=bots),
        frame.table(columns, (), key="tab_matches", id="matches", data_sortable=True),
        title=frame.title_of(view, "tab_matches"),
        scripts=("load.js", "matches.js"),
        about={"data_event": view.slug, "data_replays": view.replays or None},
    )


def replay(
    site: frame.Site, view: EventView, notice: Content = None, scripts: tuple[str, ...] = ()
) -> str:
    """The viewer of one match. `scripts`: more of them, that load a match otherwise."""
    return frame.event_page(
        site,
        view,
        "replay.html",
        fragment("site/pages/viewer.html", notice=notice),
        title=frame.title_of(view, "tab_replay"),
        scripts=("load.js", *scripts, "cards.js", "moments.js", "replay.js"),
        styles=("cards.css",),
        about={"data_event": view.slug, **frame.cards_of(view.table.event.settings.game)},
    )
