"""Pages from a running arena: a small web server within a trio program, and an event seen live.

`http` speaks HTTP on a connection, `server` listens, `guard` says who may ask for what, and what a
browser may do with what it is sent. Those three know nothing of events, and serve any ASGI app.

Needs the extra `live` (h11, Starlette); nothing here is imported before somebody asks for a page.
"""
