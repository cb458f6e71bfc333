"""The live pages: which there are, and what is in them.

Invariant: what bots and their authors wrote is shown as text.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from arena.live.showing import Look
from arena.reports.hostile import plain

if TYPE_CHECKING:
    from arena.live.broadcast import Broadcast


class Pages:
    """See the module's docstring."""

    def routes(self, broadcast: Broadcast) -> list[Route]:
        """All that can be asked for."""

        async def front(request: Request) -> Response:  # noqa: ARG001 - Starlette's
            await broadcast.refresh()
            return HTMLResponse(self.page(broadcast))

        async def events(request: Request) -> Response:
            last = request.headers.get("last-event-id") or request.query_params.get("seen", "")
            return StreamingResponse(
                broadcast.stream(broadcast.hub.position(last)),
                media_type="text/event-stream",
                headers={"cache-control": "no-cache", "x-accel-buffering": "no"},
            )

        async def script(request: Request) -> Response:  # noqa: ARG001 - Starlette's
            text = (files("arena.live") / "assets" / "live.js").read_bytes()
            return Response(text, media_type="text/javascript")

        return [Route("/", front), Route("/live/events", events), Route("/live/live.js", script)]

    def page(self, broadcast: Broadcast) -> str:
        """The front page."""
        held = broadcast.hub.fragments()
        body = "".join(
            f'<section data-live="{name}">{held.get(name, "")}</section>'
            for name in ("progress", "standings", "matches")
        )
        seen = broadcast.hub.id_of(broadcast.hub.number)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>live</title>'
            '<script src="live/live.js" defer></script></head>'
            f'<body data-seen="{seen}" data-events="live/events">'
            f'<p id="connection" role="status"></p>{body}</body></html>'
        )

    def fragments(self, look: Look) -> dict[str, str]:
        """The parts that change."""
        progress = f"<p>{look.state}: {look.done} of {look.planned} matches</p>"
        rows = "".join(
            f"<tr><td>{row.rank}</td><td>{escape(plain(row.entrant))}</td><td>{row.mu}</td></tr>"
            for row in (look.table.rows if look.table else ())
        )
        matches = "".join(f"<li>{seen.id} {seen.totals}</li>" for seen in look.matches)
        return {
            "progress": progress,
            "standings": f"<table id=ranking>{rows}</table>",
            "matches": f"<ol>{matches}</ol>",
        }
