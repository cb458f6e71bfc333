"""Show an event in a browser while it is played: a web server inside a trio program.

`http` speaks HTTP on a connection, `server` listens, decides which requests pass and sets security
headers; both know nothing of events and serve any ASGI app. `event_state` follows the event,
`pages` renders it, `hub` and `broadcast` send changes to viewers, `app` maps addresses and opens
matches, `event` joins all of it to an event.

Needs the extra `live` (h11, Starlette), imported only when a page is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from arena.event.options import LiveOptions
from arena.model import UserError

if TYPE_CHECKING:
    from arena.live.event import LivePage


@contextmanager
def open_page(wanted: LiveOptions | None) -> Iterator[LivePage | None]:
    if wanted is None:
        yield None
        return
    try:
        from arena.live.event import LivePage
        from arena.live.server import listen
    except ModuleNotFoundError as error:
        raise UserError(
            f"--live needs {error.name}, of the extra `live`: pip install 'nine-arena[live]'"
        ) from None
    with listen(wanted.port, wanted.host) as listening:
        yield LivePage(wanted, listening)
