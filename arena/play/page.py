"""A person's page: a small ASGI app for one browser, and the `Person` behind it.

Theory of operation. All addresses are below an unguessable token, so no other user of this machine
takes the seat; `arena.live.server` admits only this machine's own names and our own pages. A stream
of server-sent events carries the whole state at each change, so a reloaded page is complete. The
last stream that was opened has the seat; the one before is told so. An answer names the turn that
it is for: a second or late one is refused and changes nothing.

Invariant: what is sent comes from `state_of`, from a `Refusal`, or is a file of ours; what is
accepted is a legal move.
"""

import functools
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import trio
from starlette.responses import PlainTextResponse, Response

from arena import registry
from arena.live.http import Receive, Scope, Send
from arena.live.server import LOOPBACK, Server, guard_app, listen, url_of
from arena.model import MatchRecord
from arena.play.desk import Desk
from arena.play.hints import move_of, refusal
from arena.play.session import Person, PersonLeft
from arena.referee import HOLES
from arena.site.pages.frame import sheets_of
from arena.site.words import LANGUAGES

ALIVE_S = 15.0  # so that each side notices that the other is gone
# For the last state to reach the page, which then no longer reports a lost connection.
FAREWELL_S = 1.0
_METHODS = frozenset({"GET", "HEAD", "POST"})
_JSON = "application/json"
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "json": _JSON}
_FILES: Mapping[str, tuple[str, str]] = {
    "": ("arena.play", "assets/play.html"),
    **{name: ("arena.play", f"assets/{name}") for name in ("play.css", "play.js")},
    **{name: ("arena.site", f"assets/{name}") for name in ("style.css", "cards.css", "cards.js")},
    **{f"strings/{name}.json": ("arena.play", f"assets/strings/{name}.json") for name in LANGUAGES},
    **{f"site/{name}.json": ("arena.site", f"assets/strings/{name}.json") for name in LANGUAGES},
    **{
        f"rules/{game}.{name}.html": ("arena.games", f"sheets/{game}.{name}.html")
        for game in registry.GAMES
        for name in sheets_of(game)
    },
}
"""Files that the page may request, besides the stream: package and file. Strings that the site has
too are the site's."""

_encode = msgspec.json.Encoder().encode


class _Asked(msgspec.Struct, frozen=True):
    turn: str
    do: str


_decode = msgspec.json.Decoder(_Asked).decode


def browser_seat(
    port: int, delay: float, say: Callable[[str], None]
) -> Callable[[], AbstractAsyncContextManager[Person]]:
    """Open a port at once, so that one in use is reported; serve it while a person plays."""
    listening = listen(port)
    page = Page(delay, told=say)
    server = Server(guard_app(page, listening, LOOPBACK, _METHODS), listening)

    @asynccontextmanager
    async def guest() -> AsyncIterator[Person]:
        async with trio.open_nursery() as nursery:
            await nursery.start(server.serve)
            say(f"play here: {url_of(listening)}{page.token}/")
            say("the address is for you alone; Ctrl-C ends it")
            try:
                yield page
            finally:
                with trio.CancelScope(shield=True):
                    await page.farewell()
                nursery.cancel_scope.cancel()

    return guest


class Page:
    def __init__(
        self, delay: float, *, token: str = "", told: Callable[[str], None] = print
    ) -> None:
        self.token = token or secrets.token_urlsafe(16)
        self._delay = delay
        self._tell = told
        self._desk: Desk | None = None
        self._match = 0
        self._commitment = ""
        self._kept = ""
        self._number = 0
        self._state = b"{}"
        self._changed = trio.Event()
        self._viewers = self._open = 0
        """Streams that were ever opened, of which the last has the seat, and that are open."""
        self._wanted = self._turn = self._answer = ""
        self._left = False
        self._looked = (0, 0)

    async def begin(self, desk: Desk, commitment: str) -> None:
        self._match += 1
        self._desk = desk
        self._commitment = commitment
        self._kept = ""
        self._looked = (0, 0)
        self._publish()

    async def decide(self, desk: Desk) -> str:
        move = await self._wait("move", f"{self._match}.{desk.turn}")
        self._looked = desk.hole, len(desk.plays) + 1
        return move

    async def follow(self, desk: Desk) -> None:
        self._publish()
        now = desk.hole, len(desk.plays)
        if self._left:
            raise PersonLeft
        if now != self._looked and desk.plays and desk.plays[-1].seat != desk.seat:
            with trio.move_on_after(self._delay):
                while not self._left:
                    await self._changed.wait()
        self._looked = now

    async def hole_over(self, desk: Desk) -> None:
        await self._wait("hole", f"{self._match}.hole-{desk.hole}")

    async def over(self, desk: Desk, record: MatchRecord, kept: Path) -> bool:
        del desk, record
        self._kept = str(kept)
        self._tell(f"kept in {kept}")
        try:
            return await self._wait("over", f"{self._match}.over") == "again"
        except PersonLeft:
            return False

    async def farewell(self) -> None:
        if self._desk is None:
            return
        self._wanted, self._turn = "gone", ""
        self._publish()
        with trio.move_on_after(FAREWELL_S):
            while self._open:
                await self._changed.wait()

    async def _wait(self, wanted: str, turn: str) -> str:
        self._wanted, self._turn, self._answer = wanted, turn, ""
        self._publish()
        while not self._answer:
            if self._left:
                raise PersonLeft
            await self._changed.wait()
        self._wanted = self._turn = ""
        return self._answer

    def _publish(self) -> None:
        assert self._desk is not None
        self._number += 1
        self._state = _encode(
            state_of(
                self._desk,
                number=self._number,  # each state has a higher one than that before it
                match=self._match,  # of the evening's matches, from 1
                commitment=self._commitment,
                # move, hole (all cards are turned: go on?), over (another match?), gone, or nothing
                wanted=self._wanted,
                turn=self._turn,  # identifies the question: an answer has to name it
                kept=self._kept,  # where the match is, once it is over
            )
        )
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token, below, name = scope["path"].removeprefix("/").partition("/")
        ours = secrets.compare_digest(token.encode(), self.token.encode()) and below
        posted = scope["method"] == "POST"
        answer: Response = PlainTextResponse("no such thing\n", 404)
        if not ours:
            text = "there is nothing here; open the address that was printed\n"
            answer = PlainTextResponse(text, 404)
        elif posted and name == "do":
            answer = self._do((await receive())["body"])
        elif name == "events" and not posted:
            await self._stream(send)
            return
        elif name in _FILES and not posted:
            package, path = _FILES[name]
            kind = _TYPES[path.rsplit(".", 1)[1]]
            body = (files(package) / path).read_bytes()
            answer = Response(body, headers={"content-type": f"{kind}; charset=utf-8"})
        await answer(scope, receive, send)

    async def _stream(self, send: Send) -> None:
        self._viewers += 1
        self._open += 1
        self._wake()
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._show(self._viewers, send)
        finally:
            self._open -= 1
            self._wake()

    async def _show(self, mine: int, send: Send) -> None:
        seen = -1
        while mine == self._viewers:
            changed = self._changed
            if seen == self._number:
                text = b": still here\n\n"
            else:
                seen, text = self._number, b"data: " + self._state + b"\n\n"
            await send({"type": "http.response.body", "body": text, "more_body": True})
            if self._wanted == "gone" and seen == self._number:
                await send({"type": "http.response.body", "body": b""})
                return
            with trio.move_on_after(ALIVE_S):
                while seen == self._number and mine == self._viewers:
                    await changed.wait()
                    changed = self._changed
        await send({"type": "http.response.body", "body": b"event: elsewhere\ndata: {}\n\n"})

    def _do(self, body: bytes) -> Response:
        try:
            asked = _decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return PlainTextResponse('an answer is {"turn": "…", "do": "…"}\n', 400)
        found = self._judge(asked)
        if found is None:
            return Response(b"{}", media_type=_JSON)
        return Response(_encode(found), 409, media_type=_JSON)

    def _judge(self, asked: _Asked) -> Mapping[str, object] | None:
        if asked.do == "leave":
            self._left = True
            self._wake()
            return None
        if not self._turn or asked.turn != self._turn or self._answer:
            return {"key": "too-late", "values": {}}
        assert self._desk is not None
        if self._wanted == "move":
            move = move_of(self._desk, asked.do)
            if move is None:
                why = refusal(self._desk, asked.do)
                return {"key": why.key, "values": why.values}
            self._answer = move
        elif asked.do == {"hole": "next", "over": "again"}[self._wanted]:
            self._answer = asked.do
        else:
            return {"key": "too-late", "values": {}}
        self._wake()
        return None


def state_of(desk: Desk, **of_page: str | int) -> dict[str, Any]:
    """All that a page is sent: what it states itself, and the desk."""
    cards = [desk.cards(seat) for seat in range(len(desk.names))]
    view = desk.view
    piles = None if desk.grids or desk.places else view
    return {
        **of_page,
        "game": desk.game,
        "about": _about(desk.game),
        "names": desk.names,
        "seat": desk.seat,  # the person's
        "hole": desk.hole,
        "holes": HOLES,
        "order": tuple(desk.order),
        "phase": desk.phase if view else "",
        "legal": desk.legal,
        "cards": [[value for value, _ in row] for row in cards],
        # A letter a position: a all know it, o the person alone, h the person doesn't.
        "known": [
            "".join("h" if value is None else "a" if public else "o" for value, public in row)
            for row in cards
        ],
        "discard": piles.discard if piles else None,
        "pile": len(piles.pile) if piles else 0,
        "stock": piles.stock if piles else 0,
        "drawn": desk.drawn,
        "acting": next(iter(desk.acting()), None),
        "ended_by": piles.ended_by if piles else None,
        "plays": desk.plays,
        "totals": desk.totals,
        "scores": desk.scores,
        "fallen": {seat: kind.value for seat, kind in desk.fallen.items()},
        "places": desk.places,
    }


@functools.cache
def _about(game: str) -> dict[str, Any]:
    """What the page has to know of the game, and the languages of its rules."""
    rules = registry.game(game)
    about = rules.about.for_scripts(rules.pack(rules.max_seats))
    return {**about, "sheets": sheets_of(game)}
