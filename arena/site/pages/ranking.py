"""The ranking with ranks and ratings drawn as intervals, notes on reading it; the win matrix."""

from collections.abc import Iterator

from arena.model import Duel, Standing, Withdrawal
from arena.registry import table_files
from arena.reports import TableReport
from arena.reports.columns import DEVIATIONS_95, share
from arena.reports.columns import NOTHING as NONE
from arena.reports.columns import matrix as duel_matrix
from arena.reports.cycles import SHOWN, cycles
from arena.reports.rows import NOT_RUN, listed
from arena.reports.text import OPEN_SHOWN
from arena.site import pictures
from arena.site.markup import NOTHING, Content, Safe, escaped, join, long_text, tag
from arena.site.pages import frame
from arena.site.view import EventView
from arena.site.words import number, say

_HEADS = (
    "col_rank number about_rank, col_bot text, col_rating words about_rating, "
    "col_range words about_range, col_mu number about_mu, col_sigma number about_sigma, "
    "col_next number about_next, col_delta number about_delta, {}col_win number about_win, "
    "col_wtl figures about_wtl, col_matches number, col_strokes number about_strokes, "
    "col_ms number about_ms, col_faults number about_faults"
)
_LEDGER = "col_adjusted number about_adjusted, col_luck number about_luck, "

MOST = 120  # rows of an event's first page; a page of its own has all
WIDEST = 50  # a matrix of more bots is unreadable, and its page too large


def ranking(site: frame.Site, view: EventView, *, whole: bool = False) -> str:
    """An event's first page, or, as `whole`, the page with the whole table of a large field."""
    many = len(view.table.rows)
    more = None
    if many > MOST and not whole:
        link = tag("a", say("ranking_all"), href="ranking.html")
        more = tag("p", say("ranking_first", n=MOST, of=many), " ", link)
    links = [tag("a", file, href=file) for file in published_tables()]
    return frame.event_page(
        site,
        view,
        "index.html",
        standings(view, most=None if whole else MOST) if many else tag("p", say("no_rows")),
        more,
        still_open(view),
        notes(view),
        tag("p", say("downloads"), " ", join(*links, between=frame.DOT), class_="small"),
        title=frame.title_of(view),
    )


def standings(view: EventView, *, most: int | None = MOST) -> Safe:
    """The table alone; a live page replaces it as it changes."""
    rows = listed(view.table)
    ends = [
        row.mu + side * DEVIATIONS_95 * (row.sigma_field or 0.0)
        for row in rows
        if row.mu is not None
        for side in (-1, 1)
    ]
    scale = pictures.scale_of(min(ends, default=0.0), max(ends, default=0.0), 6, 154)
    return frame.table(
        frame.heads(_HEADS.format(_LEDGER if view.table.event.settings.evaluator else "")),
        (_row(view, row, scale) for row in rows[:most]),
        key="tab_ranking",
        caption=tag("caption", say("caption_ranking")),
        id="ranking",
        data_sortable=True,
    )


def _row(view: EventView, row: Standing, scale: pictures.Scale) -> Safe:
    mu, error, rank, last = row.mu, row.sigma_field, row.rank, row.rank_last
    bot = frame.name(row.entrant)
    if page := view.page_of(row.entrant):
        bot = tag("a", bot, href=page)
    failed = sum(count for _, count in row.faults)
    marked = join(bot, *_marks(row, failed), between=" ")
    drawn = None if mu is None else pictures.interval(mu, error or 0.0, scale)
    span = pictures.ranks(rank, last or rank, len(view.table.rows)) if rank else None
    ledger = [
        _cell(row.adjusted, _strokes(row.adjusted, row.adjusted_ci)),
        _cell(row.luck, _number(row.luck, 1, sign=True)),
    ]
    return tag(
        "tr",
        _cell(rank, tag("span", frame.rank_range(rank, last)) if rank else None),
        tag("th", marked, scope="row", class_="sticky", data_k=escaped(row.entrant)),
        _cell(None, drawn, "text"),
        _cell(None, span, "text"),
        _cell(mu, rating(mu, error)),
        _cell(row.sigma, _number(row.sigma, 2)),
        _cell(row.p_next, _next(row)),
        _cell(row.delta, _strokes(row.delta, row.delta_ci)),
        *(ledger if view.table.event.settings.evaluator else ()),
        _cell(row.win, _win(row)),
        _cell(None, None if row.wins is None else frame.results(row)),
        _cell(row.matches, number(row.matches)),
        _cell(row.strokes, _number(row.strokes, 2)),
        _cell(row.ms, _number(row.ms, 2)),
        _cell(failed, tag("span", *_faults(row)) if failed else None, "text"),
    )


def _cell(key: float | None, shown: Content, class_: str | None = None) -> Safe:
    sort = None if key is None or shown is None else f"{key:.6g}"
    return tag("td", NONE if shown is None else shown, data_k=sort, class_=class_)


def _marks(row: Standing, failed: int) -> Iterator[Safe]:
    if row.disputed:
        yield tag("span", say("mark_disputed"), class_="tag warn")
    if failed:
        yield tag("span", say("mark_faults", n=failed), class_="tag bad")
    yield from marks(row.note)


def marks(text: str) -> Iterator[Safe]:
    for part in filter(None, text.split(", ")):
        key = _NOTES.get(part)
        yield tag("span", say(key) if key else part, class_="tag bad")


_NOTES = {
    "withdrawn": "mark_withdrawn",
    "annulled": "mark_annulled",
    "not reproducible": "mark_unreproducible",
    NOT_RUN: "mark_not_run",
}


def rating(mu: float | None, error: float | None) -> Safe | None:
    """Mu with half of the 95 % interval against the field's mean."""
    if mu is None or error is None:
        return _number(mu, 2)
    return join(number(mu, 2), " \u00b1 ", number(DEVIATIONS_95 * error, 2))


def _number(value: float | None, decimals: int, *, sign: bool = False) -> Safe | None:
    return None if value is None else number(value, decimals, sign=sign)


def _next(row: Standing) -> Safe | None:
    """A probability is never shown as certain."""
    if row.p_next is None:
        return None
    if row.p_next > 0.9995:
        return join(">", number(99.9, 1))
    return join("<", number(0.1, 1)) if row.p_next < 0.0005 else number(100 * row.p_next, 1)


def _strokes(value: float | None, half: float | None) -> Safe | None:
    if value is None or half is None:
        return None
    return join(number(value, 1, sign=True), " \u00b1 ", number(half, 1))


def _win(row: Standing) -> Safe | None:
    if row.win is None or row.win_low is None or row.win_high is None:
        return None
    return join(
        number(100 * row.win, 1),
        tag("span", f" ({100 * row.win_low:.0f}\u2013{100 * row.win_high:.0f})", class_="quiet"),
    )


def _faults(row: Standing) -> Iterator[Safe]:
    for kind, count in sorted(row.faults, key=lambda fault: (-fault[1], fault[0])):
        yield tag("span", f"{count} {kind}", class_="tag bad")


def still_open(view: EventView) -> Safe:
    """How many more deals would tell neighbours apart; a live page replaces it with the ranking."""
    pairs = view.table.open_pairs or ()
    if not pairs:
        return NOTHING
    lines = [
        tag(
            "li",
            say("open_least" if pair.at_least else "open_about", one=one, two=two, n=pair.deals),
        )
        for pair in pairs[:OPEN_SHOWN]
        for one, two in [pair.bots]
    ]
    more = len(pairs) - OPEN_SHOWN
    settings = view.table.event.settings
    decided = settings.racing or settings.ladder
    return tag(
        "section",
        tag("h2", say("open_title")),
        tag("p", say("open_race" if decided else "open_tables")),
        tag("ul", *lines),
        tag("p", say("open_others", n=more)) if more > 0 else None,
        id="open",
    )


def notes(view: EventView) -> Safe:
    found = cycles(view.table)
    circles = [tag("li", say("cycle", one=a, two=b, three=c)) for a, b, c in found[:SHOWN]]
    disputed = any(row.disputed for row in view.table.rows)
    return tag(
        "section",
        tag("h2", say("how_to_read")),
        tag("p", say("read_ranking")),
        tag("p", say("read_mu")),
        tag("p", say("about_disputed")) if disputed else None,
        tag("ul", *circles) if circles else None,
        tag("p", say("cycles_more", n=len(found))) if len(found) > SHOWN else None,
        *left_out(view),
    )


def left_out(view: EventView) -> Iterator[Safe]:
    for line in view.table.selected:
        yield tag("p", say("selected"), " ", long_text(line))
    for out in view.table.withdrawn:
        yield withdrawal_note(view, out)
    for absent in view.table.event.not_run:
        why = join(": ", long_text(absent.reason)) if absent.reason else NOTHING
        yield tag("p", say("not_run"), " ", tag("bdi", absent.name), why)


def withdrawal_note(view: EventView, out: Withdrawal, *, up: str = "") -> Safe:
    """Why a bot was withdrawn, whether its results count, and its last faulted match."""
    key = "withdrawn_annulled" if out.annulled else "withdrawn_forfeits"
    settings = view.table.event.settings
    share = f"{100 * settings.annulled_below:g}"
    why = say(key, bot=out.entrant, after=settings.withdrawn_after, share=share)
    return tag("p", why, " ", frame.replay_link(view, out.after, up=up))


def published_tables() -> dict[str, TableReport]:
    """The reports beside the page, by the names of their files: all but that for terminals."""
    return {file: report for file, report in table_files().items() if file != "table.txt"}


# ------------------------------------------------------------------------------------- matrix


def matrix(site: frame.Site, view: EventView) -> str:
    many = len(view.table.rows)
    if many < 2:
        shown = tag("p", say("matrix_alone"))
    elif many > WIDEST:
        shown = tag("p", say("matrix_wide", n=many))
    else:
        shown = join(tag("p", say("read_matrix")), cells(view))
    title = frame.title_of(view, "tab_matrix")
    return frame.event_page(site, view, "matrix.html", shown, title=title)


def cells(view: EventView) -> Safe:
    """The matrix alone. The number stands in each cell, the colour only repeats it."""
    corner = tag("th", say("col_bot"), scope="col", class_="text sticky")
    columns, rows = [corner], []
    for n, (row, duels) in enumerate(duel_matrix(view.table), 1):
        columns.append(tag("th", tag("abbr", str(n), title=row), scope="col"))
        head = tag("th", f"{n}. ", frame.name(row), scope="row", class_="sticky")
        rows.append(tag("tr", head, *(_duel(view, duel) for duel in duels)))
    return frame.table(columns, rows, key="tab_matrix", class_="matrix", id="matrix")


def _duel(view: EventView, duel: Duel | None) -> Safe:
    if duel is None or duel.row == duel.column:
        return tag("td", tag("span", "\u2013", class_="self"))
    shown, where = f"{100 * share(duel):.0f}", None
    if view.listed:
        one, two = map(view.names.index, (duel.row, duel.column))
        where = f"matches.html#{one}.{two}"
    inside = tag("a" if where else "span", shown, href=where, title=frame.results(duel))
    return tag("td", inside, class_=f"w{round(10 * share(duel))}")
