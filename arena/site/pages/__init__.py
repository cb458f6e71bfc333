"""The pages of a site: each a function from what it shows to a whole HTML page.

Pure; the live server renders the same pages. Scripts add sorting, languages, the theme and the
viewer of matches; everything else works without them.

Invariant: a page names no address outside its site, and has no inline script or style.
"""

from arena.site.pages.bot import bot
from arena.site.pages.career import career
from arena.site.pages.frame import Site
from arena.site.pages.index import index
from arena.site.pages.matches import matches
from arena.site.pages.matrix import cells, matrix
from arena.site.pages.method import method
from arena.site.pages.ranking import MOST as MOST_ROWS
from arena.site.pages.ranking import published_tables, ranking, standings
from arena.site.pages.replay import replay
from arena.site.pages.rules import rules

__all__ = [
    "MOST_ROWS",
    "Site",
    "bot",
    "career",
    "cells",
    "index",
    "matches",
    "matrix",
    "method",
    "published_tables",
    "ranking",
    "replay",
    "rules",
    "standings",
]
