"""The addresses of a live event: those of a site, and a stream of changes.

e/EVENT/index.html …    the pages
e/EVENT/m/MATCH.json    a match, card by card, once that may be shown; for the viewer's script
e/EVENT/table.json …    the table so far
assets/…, rules/…       the site's own files
live                    server-sent events: the fragments that a page names, as they change
"""

from __future__ import annotations

import functools
import mimetypes
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import trio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from arena import registry
from arena.live import pages
from arena.live.event_state import EventState
from arena.model import Event
from arena.registry import table_files
from arena.replay.steps import unfold
from arena.reports import View
from arena.site import segments
from arena.site.pages.frame import sheets_of
from arena.site.pages.shared import rules
from arena.site.view import event_slug
from arena.site.words import asset_files
from arena.store import records_of_match
from arena.system import clock

if TYPE_CHECKING:
    from arena.live.broadcast import Broadcast

_KEPT = 64  # opened matches that are cached, 30 KB each
_REST = 4  # pause after opening a match, in multiples of the time that it took
_PAGES = frozenset({*pages.LAYOUTS, pages.REPLAY, *table_files()})
_ID = re.compile(r"([0-9a-f]{12})-([0-9]{6})-([0-7])")
_encode = msgspec.json.Encoder().encode
_LIVE = ("live.js", "live.css", "opened.js")


@functools.cache
def assets() -> Mapping[str, bytes]:
    own = files("arena.live") / "assets"
    return {**dict(asset_files()), **{name: (own / name).read_bytes() for name in _LIVE}}


class MatchOpener:
    """Opens a match: its cards, if they may be shown. Keeps the event's secret to itself.
    Invariant: a match that `EventState.shows` does not allow is never read.
    """

    def __init__(self, folder: Path, event: Event, secret: bytes) -> None:
        self._folder = folder
        self._event = event
        self._secret = secret
        entrants = sorted(entrant.id for entrant in event.entrants)
        self._names = {entrant: place for place, entrant in enumerate(entrants)}

    def index(self) -> bytes:
        """The index that the viewer's script loads first; there is a single segment."""
        return _encode({"names": list(self._names), "files": [], "parts": [[""]]})

    @staticmethod
    def allowed(match: str, show: EventState) -> bool | None:
        """Whether a match may be shown; None for what is no match id."""
        found = _ID.fullmatch(match)
        return None if found is None else show.shows(found[1], int(found[2]))

    def match(self, match: str) -> bytes | None:
        """As the viewer's script loads it; None if there is none. Replays it: for a thread."""
        records = records_of_match(self._folder, match, self._event)
        if not records:
            return None
        # The attempt that counts is the first complete one: none was begun after that.
        record = max(records, key=lambda each: each.attempt)
        game = registry.game(self._event.settings.game)
        steps = unfold(record, self._event, game=game, secret=self._secret)
        return _encode([segments.match(steps, self._names, pages.CLEARING)])


class App:
    def __init__(self, broadcast: Broadcast, opening: MatchOpener) -> None:
        self._broadcast = broadcast
        self._opening = opening
        self._opening_one = trio.Lock()
        self._opened: dict[str, bytes | None] = {}
        self._made: dict[str, Response] = {}
        self._made_at = -1
        self._slug = event_slug(broadcast.show.event.commitment)

    def build(self) -> Starlette:
        event = f"/e/{self._slug}"
        return Starlette(
            routes=[
                Route("/", self._home),
                Route("/index.html", self._home),
                Route("/live", self._live),
                Route("/assets/{name:path}", self._asset),
                Route("/rules/{name}", self._rules),
                Route(event + "/", self._home),
                Route(event + "/m/{name}.json", self._match),
                Route(event + "/{name}", self._page),
            ]
        )

    async def _home(self, request: Request) -> Response:
        del request
        return RedirectResponse(f"/e/{self._slug}/index.html", 302)

    async def _page(self, request: Request) -> Response:
        name = request.path_params["name"]
        await self._broadcast.refresh()
        number = self._broadcast.hub.number
        if number != self._made_at:
            self._made_at = number
            self._made.clear()
        if name not in _PAGES:
            return _missing()
        if name not in self._made:
            self._made[name] = self._page_of(name)
        return self._made[name]

    def _page_of(self, name: str) -> Response:
        now = self._broadcast.snapshot
        if name == pages.REPLAY:
            return HTMLResponse(pages.replay_page(now))
        if name in pages.LAYOUTS:
            hub = self._broadcast.hub
            seen = hub.id_of(hub.number)
            return HTMLResponse(pages.live_page(now, name, hub.fragments(), seen))
        if (report := table_files().get(name)) and now.table is not None:
            return PlainTextResponse(report.render(pages.view_of(now).table, View()))
        return _missing()

    async def _live(self, request: Request) -> Response:
        hub = self._broadcast.hub
        seen = request.headers.get("last-event-id") or request.query_params.get("seen", "")
        names = frozenset(request.query_params.get("parts", "").split())
        return StreamingResponse(
            self._broadcast.stream(hub.position(seen), names),
            media_type="text/event-stream",
            headers={"cache-control": "no-cache", "x-accel-buffering": "no"},
        )

    async def _match(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "index":
            return Response(self._opening.index(), media_type="application/json")
        allowed = self._opening.allowed(name, self._broadcast.show)
        if allowed is None:
            return _missing()
        if not allowed:
            return PlainTextResponse("this deal is going to be played again\n", 403)
        if name not in self._opened:
            async with self._opening_one:
                begun = clock.monotonic()
                found = await trio.to_thread.run_sync(
                    self._opening.match, name, abandon_on_cancel=True
                )
                if len(self._opened) == _KEPT:
                    del self._opened[next(iter(self._opened))]
                self._opened[name] = found
                # A viewer that opens many waits, not the event.
                await trio.sleep(_REST * (clock.monotonic() - begun))
        found = self._opened[name]
        return _missing() if found is None else Response(found, media_type="application/json")

    async def _asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        found = assets().get(name)
        if found is None:
            return _missing()
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(found, media_type=kind, headers={"cache-control": "no-cache"})

    async def _rules(self, request: Request) -> Response:
        game, _, rest = request.path_params["name"].partition(".")
        language = rest.removesuffix(".html")
        # Of all games, since a sheet links to the others.
        if language not in sheets_of(game):
            return _missing()
        return HTMLResponse(rules(pages.SITE, game, language))


def _missing() -> Response:
    return PlainTextResponse("there is nothing here\n", 404)
