"""Static pages of events: rankings, matrices, bots, replays, methods, for a browser.

`publish` drives it: `source` reads results folders, `folder` writes the site; everything else makes
bytes from its arguments. Invariant: a page needs only files beside it, so it works from a folder,
and from any static host under any path.
"""
