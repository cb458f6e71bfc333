"""The win matrix: how often each bot beat each other, with links to the matches of the two.

Pure. Invariant: as in `arena.site.pages`; the number stands in each cell, the colour only repeats
it.
"""

from __future__ import annotations

from arena.model import Duel
from arena.reports.columns import Matrix, share
from arena.site.markup import Safe, join, tag
from arena.site.pages.frame import Site, event_page, name, scroll, table
from arena.site.view import EventView
from arena.site.words import say

WIDEST = 50
"""A matrix of more bots is unreadable, and its page too large."""


def matrix(site: Site, view: EventView) -> str:
    found = Matrix(view.table)
    many = len(found.entrants)
    if many < 2:
        shown = tag("p", say("matrix_alone"))
    elif many > WIDEST:
        shown = tag("p", say("matrix_wide", n=many))
    else:
        shown = join(tag("p", say("read_matrix")), cells(view))
    return event_page(site, view, "matrix.html", shown, key="tab_matrix")


def cells(view: EventView) -> Safe:
    """The table alone."""
    found = Matrix(view.table)
    entrants = found.entrants
    corner = tag("th", say("col_bot"), scope="col", class_="text sticky")
    heads = [
        tag("th", tag("abbr", str(n), title=entrant), scope="col")
        for n, entrant in enumerate(entrants, 1)
    ]
    places = {name: place for place, name in enumerate(view.names)}
    rows = []
    for n, row in enumerate(entrants, 1):
        head = tag("th", f"{n}. ", name(row), scope="row", class_="sticky")
        cells_ = (_cell(view, found.duel(row, column), places) for column in entrants)
        rows.append(tag("tr", head, *cells_))
    return scroll(table([corner, *heads], rows, class_="matrix", id="matrix"), key="tab_matrix")


def _cell(view: EventView, duel: Duel | None, places: dict[str, int]) -> Safe:
    if duel is None or duel.row == duel.column:
        return tag("td", tag("span", "\u2013", class_="self"))
    won = share(duel)
    shown = f"{100 * won:.0f}"
    about = f"{duel.wins}\u2013{duel.ties}\u2013{duel.losses}"
    if not view.listed:
        return tag("td", tag("span", shown, title=about), class_=f"w{round(10 * won)}")
    where = f"matches.html#{places[duel.row]}.{places[duel.column]}"
    inside = tag("a", shown, href=where, title=about)
    return tag("td", inside, class_=f"w{round(10 * won)}")
