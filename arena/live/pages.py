"""The pages of an event while it is played: those of a site, with fragments that a script replaces.

Each fragment is in an element with its name; a requested page has the texts that the hub holds.

Invariant: `arena.site` makes all markup, so what bots and their authors wrote is shown as text; a
page names no address outside this server.
"""

import math
from collections.abc import Mapping

from arena.live.event_state import EventSnapshot, RecentMatch, Status
from arena.model import Table
from arena.site import pictures
from arena.site.clearance import Clearance
from arena.site.markup import NOTHING, Content, Safe, join, long_text, tag
from arena.site.pages import frame
from arena.site.pages.method import facts_of
from arena.site.pages.ranking import cells, notes, standings, still_open
from arena.site.pages.viewer import replay
from arena.site.view import EventView, Point, event_slug
from arena.site.words import english, fragment, label_attributes, number, say

LAYOUTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "index.html": ("tab_ranking", ("head", "progress", "ranking", "matches", "notes")),
    "matrix.html": ("tab_matrix", ("head", "progress", "matrix")),
    "method.html": ("tab_method", ("head", "method")),
}
"""The key of each page's name, and its fragments in their order."""
TABS = tuple((file, tab) for file, (tab, _) in LAYOUTS.items())
SITE = frame.Site(tabs=TABS, scripts=("live.js",))
CLEARING = Clearance()  # a site's default: no stderr, nothing of the machine
STATES: Mapping[Status, str] = {
    "playing": "live_playing",
    "stopped": "live_stopped",
    "over": "live_over",
}
REPLAY = "replay.html"
EN_DASH = " \u2013 "


def view_of(now: EventSnapshot) -> EventView:
    event = now.event
    known = now.table or Table(event=event, rows=(), duels=(), matches=0, planned=0)
    return EventView(
        slug=event_slug(event.commitment),
        name=event.settings.name or "",
        table=CLEARING.table(known),
    )


def slow_fragments(now: EventSnapshot) -> dict[str, str]:
    """Fragments that follow from the table alone, and take as long to make."""
    view = view_of(now)
    rows = view.table.rows
    return {
        **{f"head:{tab}": frame.event_head(SITE, view, tab) for tab in LAYOUTS},
        "ranking": join(standings(view), still_open(view))
        if rows
        else tag("p", say("live_no_ranking")),
        "matrix": cells(view) if len(rows) > 1 else tag("p", say("matrix_alone")),
        "method": facts_of(view),
        "notes": notes(view) if rows else NOTHING,
    }


def quick_fragments(now: EventSnapshot) -> dict[str, str]:
    """Fragments that change with each match."""
    return {"progress": _progress(now), "matches": _matches(now)}


def live_page(now: EventSnapshot, tab: str, held: Mapping[str, str], seen: str) -> str:
    """A page with its fragments; `seen`: the id of the last change in it."""
    title, fragments = LAYOUTS[tab]
    names = [f"head:{tab}" if each == "head" else each for each in fragments]
    view = view_of(now)
    return frame.page(
        SITE,
        fragment("live/connection.html"),  # whether its script hears of changes
        *(tag("div", Safe(held.get(each, "")), data_live=each) for each in names),
        up="../../",
        title=frame.title_of(view, title),
        game=now.event.settings.game,
        about={
            "data_event": view.slug,
            "data_commitment": now.event.commitment,
            "data_seen": seen,
            "data_parts": " ".join(names),
        },
        styles=("live.css",),
    )


def replay_page(now: EventSnapshot) -> str:
    """The viewer of matches; its script asks for the one that the address names."""
    notice = tag("div", tag("p", say("live_not_yet")), id="unopened", class_="note", hidden=True)
    return replay(SITE, view_of(now), notice, scripts=("opened.js",))


# ------------------------------------------------------------------------------------ progress


def _progress(now: EventSnapshot) -> Safe:
    # Of a bot that was withdrawn the rest isn't played; nothing is left when it is over.
    planned = now.done if now.state == "over" else now.planned + now.more
    figures = [
        ("live_matches", say("live_about" if now.more else "live_of", n=now.done, of=planned)),
        ("live_rate", say("live_a_second", n=round(now.rate, 1)) if now.rate else None),
        ("live_left", _time(now.left) if now.state == "playing" else None),
        ("live_apart", _apart(now)),
        ("live_faults", number(now.faults) if now.faults else None),
        ("live_voids", number(now.voids) if now.voids else None),
    ]
    shown = [tag("div", tag("dt", say(key)), tag("dd", what)) for key, what in figures if what]
    open_ = tag("p", say("live_wave", n=now.waves), " ", long_text(now.note)) if now.note else None
    return join(
        tag("h2", say(STATES[now.state])),
        tag(
            "progress",
            max=max(1, planned),
            value=min(now.done, planned),
            data_done=now.done,
            **label_attributes("aria_label", "live_matches"),
        ),
        tag("dl", *shown, class_="figures"),
        open_,
        tag("p", say("live_provisional"), class_="quiet") if now.state != "over" else None,
        _funnel(now),
    )


def _apart(now: EventSnapshot) -> Safe | None:
    rated = [row for row in now.table.rows if row.rank] if now.table else []
    if len(rated) < 2 or not now.history:
        return None
    return say("live_of", n=now.history[-1].apart, of=len(rated) - 1)


def _funnel(now: EventSnapshot) -> Safe:
    """The uncertainty as it shrinks: a band around zero."""
    points = [Point(matches=doubt.matches, mu=0.0, error=doubt.error) for doubt in now.history]
    drawn = pictures.history(points, english("live_funnel"))
    if not drawn:
        return NOTHING
    return tag("figure", drawn, tag("figcaption", say("live_funnel"), class_="small quiet"))


def _time(seconds: float | None) -> Safe | None:
    """Rounded, so that it doesn't change all the time."""
    if seconds is None:
        return None
    if seconds < 90:
        return say("live_seconds", n=math.ceil(seconds))
    if seconds < 90 * 60:
        return say("live_minutes", n=round(seconds / 60))
    return say("live_hours", n=round(seconds / 3600, 1))


# ------------------------------------------------------------------------------------- matches


def _matches(now: EventSnapshot) -> Safe:
    title = tag("h2", say("live_last"))
    if not now.matches:
        return join(title, tag("p", say("live_none_yet")))
    columns = "col_match words, col_table words, col_strokes_match figures, col_faults words"
    rows = [_match(seen, open_=seen.id in now.open) for seen in now.matches]
    last = frame.table(frame.heads(columns), rows, key="live_last", id="last", class_="last")
    return join(title, tag("p", say("live_when_cards"), class_="quiet"), last)


def _match(seen: RecentMatch, *, open_: bool) -> Safe:
    shown: Content = tag("code", seen.id)
    if open_:
        shown = tag("a", shown, href=f"{REPLAY}#m={seen.id}")
    seats = [
        tag("strong" if place == 1 else "span", frame.name(seat))
        for seat, place in zip(seen.seats, seen.places, strict=True)
    ]
    faults = [
        tag("span", f"{seen.seats[seat]}: {kind}", class_="tag bad") for seat, kind in seen.faults
    ]
    return tag(
        "tr",
        tag("th", shown, scope="row", class_="text"),
        tag("td", join(*seats, between=EN_DASH), class_="text"),
        tag("td", EN_DASH.join(map(str, seen.totals))),
        tag("td", *faults, class_="text"),
        data_id=seen.id,
    )
