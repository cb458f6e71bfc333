"""How an event was run, and how to verify it; nothing of the machine that it was played on."""

from collections.abc import Iterator

from arena.model import ADJUSTED, Event, Settings
from arena.site.markup import Content, Safe, join, long_text, tag
from arena.site.pages import frame
from arena.site.pages.frame import fact
from arena.site.pages.ranking import left_out
from arena.site.view import EventView
from arena.site.words import fragment, moment, number, say


def method(site: frame.Site, view: EventView) -> str:
    title = frame.title_of(view, "tab_method")
    return frame.event_page(site, view, "method.html", facts_of(view), title=title)


def facts_of(view: EventView) -> Safe:
    """The page without its frame."""
    event, evaluator = view.table.event, view.table.event.settings.evaluator
    luck = tag("dl", fact("fact_evaluator", tag("code", evaluator)), class_="facts")
    return fragment(
        "site/pages/method.html",
        run=join(*_run(view)),
        deals=join(*_deals(view)),
        rated_on=say("rating_adjusted" if event.settings.rate_on == ADJUSTED else "rating_played"),
        constants=join(*_rating(event.settings)),
        luck=say("luck_why" if evaluator else "luck_none"),
        evaluator=luck if evaluator else None,
        sandbox=join(*_sandbox(event)),
        verify=join(*_verify(view)),
        field=_field(view),
        left_out=join(*left_out(view)),
    )


def _run(view: EventView) -> Iterator[Safe]:
    found, settings = view.table, view.table.event.settings
    yield fact("fact_game", settings.game, f" {settings.game_version}")
    yield fact("fact_seats", number(settings.seats))
    yield fact("fact_format", tag("code", settings.format))
    yield fact("fact_deals", say("deals_rotated", n=settings.deals))
    yield fact("fact_series", say("series_n", n=settings.series))
    yield fact("fact_cap", number(settings.turn_cap))
    planned = found.planned or found.matches
    yield fact("fact_matches", say("matches_of", n=found.matches, of=planned))
    if found.ended:
        yield fact("fact_ended", long_text(found.ended))
    if settings.tables is not None:
        yield fact("fact_tables", number(settings.tables))
    if settings.playoff:
        yield fact("fact_playoff", say("playoff_yes"))
    limits = settings.limits
    yield fact("fact_limits", say(
        "limits", move=limits.move_ms, match=limits.match_ms, start=limits.start_ms,
        memory=limits.memory_mb, tasks=limits.tasks,
    ))  # fmt: skip
    if settings.freeze:
        yield fact("fact_freeze", say("freeze_yes"))
    if view.ended:
        yield fact("fact_when", moment(view.ended, day=False))


def _deals(view: EventView) -> Iterator[Content]:
    events = [source.event for source in view.table.sources] or [view.table.event]
    for each in events:
        if each.predictable:
            yield frame.warning(say("predictable"))
        yield tag("dl", *_commitment(each), class_="facts")
    yield tag("p", say("deals_why"))
    if view.anonymous:
        yield tag("p", say("deals_anonymous"))


def _commitment(event: Event) -> Iterator[Safe]:
    if event.commitment:
        yield fact("fact_commitment", tag("code", event.commitment))
    yield fact("fact_secret", tag("code", event.secret) if event.secret else say("secret_kept"))
    if event.settings.beacon:
        beacon = join(
            long_text(event.settings.beacon), ": ", tag("code", long_text(event.beacon or "?"))
        )
        yield fact("fact_beacon", beacon)


def _rating(settings: Settings) -> Iterator[Safe]:
    rating = settings.rating
    for key, value in (
        ("fact_mu", rating.mu),
        ("fact_sigma", rating.sigma),
        ("fact_beta", rating.beta),
        ("fact_tau", rating.tau),
        ("fact_draw", rating.draw_probability),
    ):
        yield fact(key, number(value, 3))
    yield fact("fact_forfeit", say("strokes_n", n=rating.forfeit_margin))


def _sandbox(event: Event) -> Iterator[Safe]:
    held = event.confinement
    if event.sandbox == "none":
        yield frame.warning(say("unconfined"))
        return
    if not event.sandbox:
        yield tag("p", say("sandbox_unknown"))
        return
    yield tag("p", say("sandbox_by"), " ", tag("code", held.detail or event.sandbox))
    for key, names in (
        ("sandbox_kept", held.kept),
        ("sandbox_not_kept", held.not_kept),
        ("sandbox_gaps", held.gaps),
    ):
        if names:
            yield tag("h3", say(key))
            yield tag("p", join(*map(long_text, names), between=frame.DOT))


def _verify(view: EventView) -> Iterator[Safe]:
    if view.anonymous:
        yield tag("p", say("verify_anonymous"))
        return
    event = view.table.event
    if not event.finished:
        yield tag("p", say("verify_later"))
        return
    yield tag("p", say("verify_how"))
    command = "arena verify FOLDER"
    if event.commitment:  # a table of several events has several, and no flag takes them at once
        command += f" --commitment {event.commitment}"
    yield tag("pre", tag("code", command), tabindex="0")
    yield tag("p", say("verify_second"))
    yield tag("pre", tag("code", "node protocol/verify_deals.js FOLDER"), tabindex="0")


def _field(view: EventView) -> Safe:
    rows = [
        tag(
            "tr",
            tag("th", frame.name(entrant.id), scope="row", class_="sticky"),
            tag("td", tag("bdi", entrant.author), class_="text"),
            tag("td", tag("code", entrant.hash), class_="text"),
        )
        for entrant in view.table.event.entrants
    ]
    columns = frame.heads("col_bot words, col_author words, col_hash words")
    return frame.table(columns, rows, key="method_bots")
