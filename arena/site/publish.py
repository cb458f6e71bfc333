"""Publish events: read results folders, write a site.

Theory of operation. All folders are read before anything is written, so what is wrong with one is
said at once. Then the events' folders are written one by one; files of matches that an earlier
publisher made from the same records with the same arena are reused. What the events share (bots'
careers, feed, index) is made from the site's own index, so events that were published earlier stay
without being read again.

Invariant: the same folders, options and site give the same bytes; matches stream, and memory grows
by some 100 bytes a match.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena import __version__
from arena.executors.cores import fair_jobs
from arena.model import Frozen, MatchRecord, Table, UserError
from arena.registry import GAMES
from arena.reports import View
from arena.site import feed, pages, segments
from arena.site.clearance import Clearance, key_fingerprint
from arena.site.file_names import bot_slug, event_slug
from arena.site.folder import SiteFolder, write_failed
from arena.site.pages.frame import sheets_of
from arena.site.source import (
    SiteSource,
    SourceLog,
    origin_of,
    read_source,
    records,
    replayable,
    secret_of_log,
)
from arena.site.state import (
    Published,
    SiteIndex,
    add_events,
    careers,
    index_entry,
    namesakes,
)
from arena.site.statistics import Statistics, match_counts
from arena.site.unfolder import SegmentContext, make_segments
from arena.site.view import EventView
from arena.site.words import asset_files

_ALONE = 200
"""Matches below which one process is as fast as several are with their start."""


class PublishOptions(Frozen, frozen=True, kw_only=True):
    """Title of a site, and which data of its events it shows."""

    title: str | None = None
    """Of the site; None: as it was."""
    name: str | None = None
    """Of the event, if it is one; None: as it was."""
    anonymous: bool = False
    """Stable aliases instead of names and authors."""
    alias_key: Path | None = None
    """The key of the aliases; None: one in the user's own state folder, made when needed."""
    stderr: bool = False
    """What bots wrote to stderr, with their faults."""
    host: bool = False
    """Machines, and why bots were not run."""
    jobs: int | None = None
    """Processes; None: one a core."""


class PublishedSummary(NamedTuple):
    """The result of publishing one event."""

    folder: Path
    slug: str
    matches: int
    replays: int
    missing: tuple[str, ...]
    why: str
    """Why there is no table, or no complete one; empty: there is."""


Progress = Callable[[Path, int, int], None]
"""Told of the folder, the matches that are done, and all of them."""


def read_sources(folders: Sequence[Path]) -> list[SiteSource]:
    """Read all events; UserError if one is named twice."""
    found: dict[str, SiteSource] = {}
    for folder in folders:
        source = read_source(folder)
        known = found.setdefault(source.event.commitment, source)
        if known is not source and known.folder.resolve() != source.folder.resolve():
            raise UserError(f"{known.folder} and {folder} are the same event: name one of them")
    return list(found.values())


def publish(
    site: SiteFolder,
    found: Sequence[SiteSource],
    options: PublishOptions,
    clearing: Clearance,
    progress: Progress,
) -> list[PublishedSummary]:
    """Write everything. `site` has begun."""
    index = site.index
    assert index is not None, "the site has begun"
    if options.title is not None:
        index = msgspec.structs.replace(index, title=options.title)
    key = clearing.key
    index = msgspec.structs.replace(
        index, arena=__version__, key=key_fingerprint(key) if key else ""
    )
    try:
        for name, content in asset_files():
            site.write(f"assets/{name}", content)
        summaries = []
        for source in found:
            entry = _event(site, index, source, options, clearing, progress)
            index = add_events(index, [entry])
            summaries.append(
                PublishedSummary(
                    folder=source.folder,
                    slug=entry.slug,
                    matches=entry.matches,
                    replays=entry.replays,
                    missing=entry.missing,
                    why=source.why,
                )
            )
        _common(site, index)
        site.conclude(index)
    except OSError as error:
        raise write_failed(site.path, error) from error
    return summaries


def _event(  # noqa: PLR0917 - all that `publish` was given
    site: SiteFolder,
    index: SiteIndex,
    source: SiteSource,
    options: PublishOptions,
    clearing: Clearance,
    progress: Progress,
) -> Published:
    """Write one event's folder; its entry in the index."""
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
    files = _MatchFiles(source, clearing, slug, folder, kept=kept)
    for done in files.write(options.jobs or fair_jobs()):
        progress(source.folder, done, source.table.matches)
    name = options.name if options.name is not None else earlier.name if earlier else ""
    view = files.view(name)
    (folder / "b").mkdir()
    for path, text in event_files(pages.Site(title=index.title), view):
        (folder / path).write_text(text, encoding="utf-8")
    _tables(folder, view.table)
    if kept:
        shutil.copytree(place / "m", folder / "m", copy_function=_linked)
    site.place(slug)
    return index_entry(view, origin)


def _linked(source: str, target: str) -> str:
    """Copy by a hard link, where the file system can."""
    try:
        Path(target).hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)
    return target


class _MatchFiles:
    """One pass over an event's records: statistics, lists and segments. `kept`: what was published
    before of the same records; its lists and segments are not made again.
    """

    def __init__(
        self,
        source: SiteSource,
        clearing: Clearance,
        slug: str,
        folder: Path,
        *,
        kept: Published | None,
    ) -> None:
        self._source = source
        self._clearing = clearing
        self._slug = slug
        self._folder = folder
        self._kept = kept
        self._table = clearing.table(source.table)
        everybody = [
            entrant
            for event in (source.table.event, *(part.event for part in source.parts))
            for entrant in event.entrants
        ]
        ids = clearing.ids(everybody)
        self._names = sorted(set(ids.values()))
        places = {shown: place for place, shown in enumerate(self._names)}
        self._places = {own: places[shown] for own, shown in ids.items()}
        self._statistics = Statistics(ids, source.seats, clearing)
        self._lists = segments.Lists(slug, len(self._names))
        self._listed = 0
        self._segment = 0
        """The number of the next one."""
        self._replays = kept.replays if kept else 0
        self._unshown = 0
        self._shows = replayable(source, clearing)

    def write(self, jobs: int) -> Iterator[int]:
        """Yields how many matches are done."""
        (self._folder / "m").mkdir()
        parts = []
        for part in self._source.parts:
            firsts: list[str] = []
            parts.append(firsts)
            noted = self._noted(part)
            if self._kept or not part.over or not self._shows:
                for _ in noted:
                    if self._listed % segments.A_SEGMENT == 0:
                        yield self._listed
                continue
            yield from self._segments(part, noted, firsts, jobs)
        if self._kept:
            shutil.rmtree(self._folder / "m")
            return
        for name, data in self._lists.rest():
            self._write(name, data)
        index = segments.index(self._slug, self._names, self._lists.files, parts)
        self._write("m/index.js", index)

    def _noted(self, part: SourceLog) -> Iterator[MatchRecord]:
        """The records of a part, each added to statistics and lists."""
        clearing = self._clearing
        for record in records(part, clearing):
            annulled = part.counts.annulled
            self._statistics.add(record, over=part.over, annulled=annulled)
            self._listed += 1
            if not self._kept:
                told = segments.line(
                    record, self._places, clearing, counts=match_counts(record, annulled)
                )
                for name, data in self._lists.add(told):
                    self._write(name, data)
            yield record

    def _segments(
        self, part: SourceLog, noted: Iterator[MatchRecord], firsts: list[str], jobs: int
    ) -> Iterator[int]:
        before = self._segment
        context = SegmentContext(
            event=part.event,
            secret=secret_of_log(part),
            names=self._places,
            clearing=self._clearing,
        )
        batches = iter(lambda: list(islice(noted, segments.A_SEGMENT)), [])
        wanted = (
            (f"e/{self._slug}/m/s{before + number}", batch) for number, batch in enumerate(batches)
        )
        jobs = jobs if self._source.table.matches > _ALONE else 1
        for each in make_segments(context, wanted, jobs):
            self._write(f"m/s{self._segment}.js", each.data)
            self._segment += 1
            firsts.append(each.first)
            self._replays += each.shown
            self._unshown += each.matches - each.shown
            yield self._replays + self._unshown

    def _write(self, name: str, data: bytes) -> None:
        (self._folder / name).write_bytes(data)

    def view(self, name: str) -> EventView:
        """What the pages are made from."""
        source, clearing = self._source, self._clearing
        missing = list(source.missing)
        if not self._shows and source.event.finished:
            missing.append("missing_guessable")
        if self._unshown or (self._kept and "missing_unshown" in self._kept.missing):
            missing.append("missing_unshown")
        ids = clearing.ids(source.table.event.entrants)
        history = {
            ids[entrant]: points for entrant, points in source.history.items() if entrant in ids
        }
        rows = {row.entrant for row in self._table.rows}
        bots = [(bot, shown) for bot, shown in self._statistics.bots(history) if bot in rows]
        return EventView(
            slug=self._slug,
            name=name,
            table=self._table,
            bots=tuple(bots) if source.parts else (),
            names=tuple(self._names),
            replays=self._replays,
            listed=self._listed,
            ended=self._statistics.ended,
            missing=tuple(missing),
            anonymous=clearing.anonymous,
        )


def event_files(site: pages.Site, view: EventView) -> Iterator[tuple[str, str]]:
    """The pages of an event: (name in its folder, content)."""
    yield "index.html", pages.ranking(site, view)
    if len(view.table.rows) > pages.MOST_ROWS:
        yield "ranking.html", pages.ranking(site, view, whole=True)
    yield "matrix.html", pages.matrix(site, view)
    yield "method.html", pages.method(site, view)
    if view.listed:
        yield "matches.html", pages.matches(site, view)
    if view.replays:
        yield "replay.html", pages.replay(site, view)
    places = view.place
    for entrant, _ in view.bots:
        row, slug = places[entrant], bot_slug(entrant)
        yield f"b/{slug}.html", pages.bot(site, view, entrant)
        yield f"b/{slug}.svg", feed.badge(entrant, row.rank, row.rank_last, len(places))


def _tables(folder: Path, table: Table) -> None:
    for name, report in pages.published_tables().items():
        (folder / name).write_text(report.render(table, View()), encoding="utf-8")


def _common(site: SiteFolder, index: SiteIndex) -> None:
    """Write what the events share."""
    frame = pages.Site(title=index.title)
    kept = set()
    for name, played in careers(index):
        file = f"{bot_slug(name)}.html"
        also = namesakes(index, name, [bot.hash for _, bot in played])
        site.write(f"bots/{file}", pages.career(frame, name, played, also))
        kept.add(file)
    for game in GAMES:
        for language in sheets_of(game):
            site.write(f"rules/{game}.{language}.html", pages.rules(frame, game, language))
    site.write("feed.xml", feed.feed(index))
    site.write("index.html", pages.index(frame, index))
    if kept:
        site.keep_only("bots", kept)
