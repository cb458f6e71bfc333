"""Publish events: read results folders, write a site (`arena publish`).

Theory of operation. All folders are read before anything is written, so what is wrong with one is
said at once. Then the events' folders are written one by one; files of matches that an earlier
publisher made from the same records with the same arena are reused. What the events share (bots'
careers, feed, index) is made from the site's own index, so events that were published earlier stay
without being read again.

Invariant: the same folders, options and site give the same bytes; matches stream, and memory grows
by some 100 bytes a match.
"""

import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena import __version__
from arena.event.rerate import RateOptions
from arena.event.results import announce_reading
from arena.executors.cores import fair_jobs
from arena.machine import Notify
from arena.model import Frozen, HostError, Table, UserError
from arena.registry import GAMES
from arena.reports import TableReport, View
from arena.reports.escape import json_line
from arena.site import feed, state
from arena.site.clearance import Clearance, key_fingerprint, site_key
from arena.site.folder import SiteFolder, read_or_make_key
from arena.site.match_files import MatchFiles
from arena.site.pages import ranking, shared, viewer
from arena.site.pages.bot import bot
from arena.site.pages.frame import LADDER_TABS, Site, sheets_of
from arena.site.pages.method import method
from arena.site.regret import FILE, MATCHES, regret_of
from arena.site.source import SiteSource, origin_of, read_source
from arena.site.state import LadderPage
from arena.site.view import EventView, bot_slug, event_slug
from arena.site.words import asset_files


class PublishOptions(Frozen, frozen=True, kw_only=True):
    """Title of a site, and which data of its events it shows."""

    title: str | None = None  # of the site; None: as it was
    name: str | None = None  # of the event, if it is one; None: as it was, or its own
    only: tuple[str, ...] = ()  # bots, as of `RateOptions`; matches of others are left out
    without: tuple[str, ...] = ()
    latest: bool = False
    anonymous: bool = False  # stable aliases instead of names and authors
    alias_key: Path | None = None
    """The key of the aliases; None: one in the user's own state folder, made when needed."""
    stderr: bool = False  # what bots wrote to stderr, with their faults
    host: bool = False  # machines, and why bots were not run
    regret: int = MATCHES
    """In how many of an event's newest matches is shown where its bots lost strokes; 0: none."""
    jobs: int | None = None  # processes; None: one a core


class BotAlias(NamedTuple):
    """Who is who on an anonymous site; never part of it."""

    bot: str  # name@version
    author: str
    alias: str
    author_alias: str


class PublishedSummary(NamedTuple):
    folder: Path
    slug: str
    matches: int
    replays: int
    missing: tuple[str, ...]
    why: str  # why there is no table, or no complete one; empty: there is
    aliases: tuple[BotAlias, ...]  # of its bots, by their ids; none where names are published


class LadderExtras(NamedTuple):
    """What a site has of a ladder, besides its rounds."""

    tables: Sequence[Table]  # by game, of all rounds
    chain: bytes


Progress = Callable[[Path, int, int], None]
"""Told of the folder, the matches that are done, and all of them."""


def update_site(  # noqa: PLR0917 - as they are
    folders: Sequence[Path],
    site: Path,
    options: PublishOptions,
    notify: Notify,
    progress: Progress,
    ladder: LadderExtras | None = None,
) -> list[PublishedSummary]:
    """Write the events in some results folders as a static site; other events in it stay."""
    if options.name is not None and len(folders) > 1:
        raise UserError("--name: for one folder; publish the others on their own")
    if options.alias_key is not None and not options.anonymous:
        raise UserError("--alias-key: goes with --anonymous")
    if options.anonymous and (options.stderr or options.host):
        raise UserError("--with-stderr, --with-host: may hold names; not with --anonymous")
    with closing(SiteFolder(site)) as target:
        announce_reading(notify, *folders)
        sources = _read(folders, options)
        index = target.index or state.SiteIndex(
            title=options.title or "", anonymous=options.anonymous, id=secrets.token_hex(8)
        )
        index, clearing = _cleared(site, index, options)
        try:
            target.begin(index)
            if options.title is not None:
                index = msgspec.structs.replace(index, title=options.title)
            index = msgspec.structs.replace(index, arena=__version__)
            for name, content in asset_files():
                target.write(f"assets/{name}", content)
            summaries = []
            for source in sources:
                entry = _event(target, index, source, options, clearing, progress)
                index = state.add_event(index, entry)
                counts = entry.matches, entry.replays, entry.missing, source.why
                known = tuple(_aliases(source, clearing))
                summaries.append(PublishedSummary(source.folder, entry.slug, *counts, known))
            if ladder:
                index = msgspec.structs.replace(index, ladder=_ladder(target, index, ladder))
            _common(target, index)
            target.write(state.FILE, state.encode_index(index))  # last of all
        except OSError as error:
            raise HostError(f"{site}: can't be written: {error.strerror}") from error
    return summaries


def _read(folders: Sequence[Path], options: PublishOptions) -> list[SiteSource]:
    """Read all events; UserError if one is named twice."""
    found: dict[str, SiteSource] = {}
    chosen = {name: getattr(options, name) for name in ("only", "without", "latest")}
    wanted = RateOptions(skip_damaged=True, **chosen)
    for folder in folders:
        source = read_source(folder, wanted)
        known = found.setdefault(source.event.commitment, source)
        if known is not source and known.folder.resolve() != source.folder.resolve():
            raise UserError(f"{known.folder} and {folder} are the same event: name one of them")
    return list(found.values())


def _aliases(source: SiteSource, clearing: Clearance) -> Iterator[BotAlias]:
    events = [source.event, *(part.event for part in source.parts)] if clearing.anonymous else []
    known = {each.id: each for event in events for each in event.entrants}
    for _, each in sorted(known.items()):
        hidden = clearing.entrant(each)
        yield BotAlias(each.id, each.author, hidden.id, hidden.author)


def _cleared(
    site: Path, index: state.SiteIndex, options: PublishOptions
) -> tuple[state.SiteIndex, Clearance]:
    """The index with its key, and what may be published; UserError if these don't fit."""
    if index.anonymous != options.anonymous:
        raise UserError(
            f"{site}: its names are aliases: add --anonymous, or publish to another folder"
            if index.anonymous
            else f"{site}: it has names in it already; an anonymous site needs a folder of its own"
        )
    key, fingerprint = b"", ""
    if options.anonymous:
        key = site_key(read_or_make_key(options.alias_key, site), index.id)
        fingerprint = key_fingerprint(key)
        if index.key not in ("", fingerprint):
            raise UserError(
                f"{site}: its aliases were made with another key; name its file: --alias-key FILE"
            )
    clearing = Clearance(key=key, stderr=options.stderr, host=options.host)
    return msgspec.structs.replace(index, key=fingerprint), clearing


def _event(  # noqa: PLR0917 - all that `update_site` was given
    site: SiteFolder,
    index: state.SiteIndex,
    source: SiteSource,
    options: PublishOptions,
    clearing: Clearance,
    progress: Progress,
) -> state.Published:
    slug = event_slug(clearing.slug(source.event.commitment))
    earlier = next((event for event in index.events if event.slug == slug), None)
    if earlier and earlier.commitment not in {"", source.event.commitment}:
        raise UserError(
            f"{source.folder}: its commitment begins as that of another event of the site, "
            f"{earlier.commitment[:20]}…; publish it to a site of its own"
        )
    origin = origin_of(source, clearing, __version__)
    place = site.path / "e" / slug
    kept = earlier if earlier and earlier.made_from == origin and (place / "m").is_dir() else None
    folder = site.stage(slug)
    files = MatchFiles(source, clearing, slug, folder, kept=kept)
    for done in files.write(options.jobs or fair_jobs()):
        progress(source.folder, done, source.table.matches)
    kept_name = (earlier.name if earlier else "") or source.event.settings.name or ""
    name = kept_name if options.name is None else options.name
    regret = regret_of(source, clearing, options.regret)
    view = msgspec.structs.replace(files.view(name), regret=regret)
    (folder / "b").mkdir()
    for path, text in event_files(Site(title=index.title), view):
        (folder / path).write_text(text, encoding="utf-8")
    if kept:
        shutil.copytree(place / "m", folder / "m", copy_function=_linked)
    site.place(slug)
    return state.index_entry(view, origin)


def _linked(source: str, target: str) -> str:
    """Copy by a hard link, where the file system can."""
    try:
        Path(target).hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)
    return target


def event_files(site: Site, view: EventView) -> Iterator[tuple[str, str]]:
    yield "index.html", ranking.ranking(site, view)
    if len(view.table.rows) > ranking.MOST:
        yield "ranking.html", ranking.ranking(site, view, whole=True)
    yield "matrix.html", ranking.matrix(site, view)
    yield "method.html", method(site, view)
    if view.listed:
        yield "matches.html", viewer.matches(site, view)
    if view.replays:
        yield "replay.html", viewer.replay(site, view)
    places = view.place
    for entrant in view.bots:
        row, slug = places[entrant], bot_slug(entrant)
        yield f"b/{slug}.html", bot(site, view, entrant)
        yield f"b/{slug}.svg", feed.badge(entrant, row.rank, row.rank_last, len(places))
    if view.regret:
        yield FILE, json_line(msgspec.json.encode(view.regret)).decode() + "\n"
    for name, report in ranking.published_tables().items():
        yield name, report.render(view.table, View())


def _ladder(
    site: SiteFolder, index: state.SiteIndex, ladder: LadderExtras
) -> tuple[LadderPage, ...]:
    """The rankings over all rounds, and the chain."""
    site.write("ladder/chain.jsonl", ladder.chain)
    frame = Site(title=index.title, tabs=LADDER_TABS)
    pages = []
    for found in ladder.tables:
        game = found.event.settings.game
        view = EventView(slug=game, name=index.title, table=found)
        for name, text in (
            ("index.html", ranking.ranking(frame, view)),
            ("ranking.html", ranking.ranking(frame, view, whole=True)),
            ("matrix.html", ranking.matrix(frame, view)),
            *((name, report.render(found, View())) for name, report in _tables()),
        ):
            site.write(f"ladder/{game}/{name}", text)
        bots = tuple(row.entrant for row in found.rows)
        page = f"ladder/{game}/index.html"
        pages.append(LadderPage(game=game, page=page, matches=found.matches, bots=bots))
    return tuple(pages)


def _tables() -> Iterable[tuple[str, TableReport]]:
    return ranking.published_tables().items()


def _common(site: SiteFolder, index: state.SiteIndex) -> None:
    frame = Site(title=index.title)
    kept = set()
    for name, played in state.careers(index):
        file = f"{bot_slug(name)}.html"
        also = state.namesakes(index, name, [bot.hash for _, bot in played])
        site.write(f"bots/{file}", shared.career(frame, name, played, also))
        kept.add(file)
    for game in GAMES:
        for language in sheets_of(game):
            site.write(f"rules/{game}.{language}.html", shared.rules(frame, game, language))
    site.write("feed.xml", feed.feed(index))
    site.write("index.html", shared.index(frame, index))
    if kept:
        site.keep_only("bots", kept)
