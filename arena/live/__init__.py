"""Show an event in a browser while it is played: a web server inside a trio program.

`http` speaks HTTP on a connection, `server` listens, `guard` decides which requests pass and sets
security headers; the three know nothing of events and serve any ASGI app. `event_state` follows the
event, `pages` renders it, `hub` and `broadcast` send changes to viewers, `app` maps addresses
and opens matches, `event` joins all of it to an event.

Needs the extra `live` (h11, Starlette), imported only when a page is asked for.
"""
