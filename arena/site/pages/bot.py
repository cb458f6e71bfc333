"""A bot in an event: its rating over time, strokes, time, faults and matches."""

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlencode

from arena.model import Duel, Standing
from arena.regret import PHASES
from arena.regret.summary import DearMove
from arena.reports.columns import share
from arena.site import pictures
from arena.site.markup import Content, Safe, join, long_text, tag
from arena.site.pages import frame
from arena.site.pages.ranking import rating, withdrawal_note
from arena.site.regret import FILE
from arena.site.view import BotView, EventView, Failing, Notable, Point, Spread, bot_slug
from arena.site.words import english, number, say


def bot(site: frame.Site, view: EventView, entrant: str) -> str:
    shown = view.bots[entrant]
    row = view.place.get(entrant)
    known = next((e for e in view.table.event.entrants if e.id == entrant), None)
    author = known.author if known else ""
    out = [each for each in view.table.withdrawn if each.entrant == entrant]
    return frame.event_page(
        site,
        view,
        "",
        tag("h2", frame.name(entrant)),
        tag("p", say("by_author"), " ", tag("bdi", author), class_="quiet") if author else None,
        *(withdrawal_note(view, each, up="../") for each in out),
        _figures(row, shown) if row else None,
        _ways(view, entrant, known.name if known else entrant),
        *_history(shown.history),
        *_strokes(shown),
        *_spread("by_seat", "col_seat", 0, shown.seats),
        *_spread("by_hole", "col_hole", 1, shown.holes),
        *_regret(view, entrant),
        *_notable(view, shown),
        *_opponents(view, entrant),
        *_faults(view, shown),
        up="../",
        title=entrant,
    )


def _figures(row: Standing, shown: BotView) -> Safe:
    matches: Content = number(row.matches)
    if shown.annulled:
        matches = join(matches, "; ", say("mark_annulled"), ": ", number(shown.annulled))
    found: list[tuple[str, Content]] = [
        ("col_rank", frame.rank_range(row.rank, row.rank_last) if row.rank else None),
        ("col_mu", rating(row.mu, row.sigma_field)),
        ("col_win", None if row.win is None else join(number(100 * row.win, 1), " %")),
        ("col_wtl", None if row.wins is None else frame.results(row)),
        ("col_strokes", None if row.strokes is None else number(row.strokes, 2)),
        ("col_matches", matches),
    ]
    if shown.decisions:
        found += [
            ("time_mean", join(number(shown.think_ms / shown.decisions, 2), " ms")),
            ("time_most", join(number(shown.max_ms, 1), " ms")),
            ("time_waited", join(number(shown.waited_ms / 1000, 1), " s")),
        ]
    found.append(("col_faults", number(shown.failed)))
    boxes = [tag("div", tag("dt", say(key)), tag("dd", value)) for key, value in found if value]
    return tag("dl", *boxes, class_="figures")


def _ways(view: EventView, entrant: str, bare: str) -> Safe:
    links = []
    if view.listed:
        wanted = urlencode({"bot": entrant})
        links.append(tag("a", say("its_matches"), href=f"../matches.html#{wanted}"))
    links.append(tag("a", say("its_events"), href=f"../../../bots/{bot_slug(bare)}.html"))
    links.append(tag("a", say("its_badge"), href=f"{bot_slug(entrant)}.svg"))
    return tag("p", join(*links, between=frame.DOT))


def _history(points: Sequence[Point]) -> Iterator[Safe]:
    if len(points) > 1:
        yield tag("h2", say("rating_history"))
        yield pictures.history(points, english("rating_history"))
        rows = ((number(point.matches), rating(point.mu, point.error)) for point in points)
        yield _folded("rating_history", "col_matches figures, col_mu figures", rows)


def _strokes(shown: BotView) -> Iterator[Safe]:
    counts = sorted(shown.strokes.items())
    if not counts:
        return
    yield tag("h2", say("strokes_spread"))
    yield tag("p", say("about_spread"), class_="quiet")
    yield pictures.bars(counts, english("strokes_spread"))
    rows = ((number(value), number(count)) for value, count in counts)
    yield _folded("strokes_spread", "col_strokes_hole figures, col_count figures", rows)


def _folded(key: str, columns: str, cells: Iterable[Iterable[Content]]) -> Safe:
    rows = (tag("tr", *(tag("td", cell) for cell in row)) for row in cells)
    inside = frame.table(frame.heads(columns), rows, key=key, kind="narrow")
    return tag("details", tag("summary", say("as_table")), inside)


def _spread(key: str, column: str, first: int, spreads: list[Spread]) -> Iterator[Safe]:
    most = max((spread.mean for spread in spreads), default=0.0)
    if not any(spread.count for spread in spreads):
        return
    rows = [
        tag(
            "tr",
            tag("th", str(at), scope="row"),
            tag("td", number(spread.mean, 2)),
            tag("td", pictures.bar(spread.mean, most), class_="text"),
            tag("td", number(spread.count)),
        )
        for at, spread in enumerate(spreads, first)
    ]
    columns = frame.heads(f"{column} words, col_strokes figures, col_count figures")
    columns.insert(2, tag("td"))
    yield tag("h2", say(key))
    yield frame.table(columns, rows, key=key, kind="narrow")


def _regret(view: EventView, entrant: str) -> Iterator[Safe]:
    found = view.regret
    mine = next((each for each in found.bots if each.bot == entrant), None) if found else None
    if not (found and mine):
        return
    yield tag("h2", say("its_regret"))
    judged = say("regret_judged", n=mine.matches, newest=found.matches, of=found.of)
    data = tag("a", "JSON", href=f"../{FILE}")
    yield tag("p", say("about_regret"), " ", judged, " ", data, class_="quiet")
    parts = [
        ("col_delta", mine.strokes),
        ("col_luck", mine.luck),
        ("regret_own", mine.regret),
        ("regret_others", mine.others),
        ("regret_rest", mine.rest),
    ]
    boxes = [
        tag("div", tag("dt", say(key)), tag("dd", number(value, 1)))
        for key, value in parts
        if value is not None
    ]
    yield tag("dl", *boxes, class_="figures")
    rows = [
        tag(
            "tr",
            tag(
                "th",
                say(f"mistake_{mistake}"),
                tag("div", say(f"phase_{PHASES[mistake]}"), class_="quiet"),
                scope="row",
            ),
            tag("td", number(cost, 2)),
            tag("td", number(mine.times[mistake], 1)),
        )
        for mistake, cost in mine.mistakes.items()
    ]
    if rows:
        columns = "col_mistake words, col_cost figures, col_times figures"
        yield frame.table(frame.heads(columns), rows, key="its_regret", kind="narrow")
        yield tag("h3", say("dearest"))
        rows = [_dear(view, each) for each in mine.dearest]
        columns = "col_cost figures, col_move words, col_match words"
        yield frame.table(frame.heads(columns), rows, key="dearest", kind="stack")


def _dear(view: EventView, each: DearMove) -> Safe:
    link = frame.replay_link(view, each.match, each.hole, each.move, up="../")
    where = join(link, say("hole_move", hole=each.hole, move=each.move), between=frame.DOT)
    return tag(
        "tr",
        tag("td", number(each.regret, 1)),
        tag("td", say("dear_move", played=each.played, best=each.best), class_="text"),
        tag("td", where, class_="text"),
    )


def _notable(view: EventView, shown: BotView) -> Iterator[Safe]:
    found = [
        frame.fact(key, _match(view, match))
        for key, match in (("best_match", shown.best), ("worst_match", shown.worst))
        if match is not None
    ]
    if found:
        yield tag("h2", say("best_and_worst"))
        yield tag("dl", *found, class_="facts")


def _match(view: EventView, match: Notable) -> Safe:
    return join(
        frame.replay_link(view, match.match, up="../"),
        say("strokes_n", n=match.strokes),
        say("lead_n" if match.lead >= 0 else "behind_n", n=round(abs(match.lead), 1)),
        between=frame.DOT,
    )


def _opponents(view: EventView, entrant: str) -> Iterator[Safe]:
    met = {duel.column: duel for duel in view.table.duels if duel.row == entrant}
    rows = [
        _opponent(view, met[row.entrant])
        for row in view.table.rows
        if row.entrant in met and row.entrant != entrant
    ]
    if rows:
        columns = frame.heads("col_bot text, col_win number, col_wtl figures")
        yield tag("h2", say("opponents"))
        yield frame.table(columns, rows, key="opponents", kind="narrow", data_sortable=True)


def _opponent(view: EventView, duel: Duel) -> Safe:
    shown = frame.name(duel.column)
    if view.listed:
        wanted = urlencode({"bot": duel.row, "with": duel.column})
        shown = tag("a", shown, href=f"../matches.html#{wanted}")
    return tag(
        "tr",
        tag("th", shown, scope="row", class_="sticky", data_k=duel.column),
        tag("td", number(100 * share(duel), 1), data_k=share(duel)),
        tag("td", frame.results(duel)),
    )


def _faults(view: EventView, shown: BotView) -> Iterator[Safe]:
    if not shown.failed:
        return
    yield tag("h2", say("its_faults"))
    if shown.failed > len(shown.faults):
        yield tag("p", say("faults_some", n=len(shown.faults), of=shown.failed), class_="quiet")
    rows = [_fault(view, each) for each in shown.faults]
    columns = frame.heads("col_kind words, col_match words, col_where words, col_message words")
    yield frame.table(columns, rows, key="its_faults", kind="stack")


def _fault(view: EventView, each: Failing) -> Safe:
    where = say("hole_turn", hole=each.hole, turn=each.turn) if each.turn else say("at_start")
    message: list[Content] = [tag("span", long_text(each.message), class_="long")]
    if each.status:
        message.append(tag("code", long_text(each.status)))
    if each.line:
        message.append(tag("code", long_text(each.line), class_="long"))
    if each.stderr:
        stderr = join(*map(long_text, each.stderr.splitlines()), between="\n")
        message.append(tag("pre", tag("code", stderr), tabindex="0"))
    return tag(
        "tr",
        tag("th", tag("span", each.kind, class_="tag bad"), scope="row"),
        tag("td", frame.replay_link(view, each.match, each.hole, up="../"), class_="text"),
        tag("td", where, class_="text"),
        tag("td", join(*message, between=" "), class_="text wide"),
    )
