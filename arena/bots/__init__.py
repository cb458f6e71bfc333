"""Bots: from the paths that a user names to programs that can be started.

    load(paths)  ->  Roster   snapshots of bots in the cache, under their content hashes
    fetch(...)   ->  Issues   the packages that bots' lock files name, into the cache
    build(...)   ->  Built    the builds that are needed, in the sandbox; how each bot is started
    restore(...) ->  Roster   the entrants of an earlier event, found again by content

Entrants (names, versions, hashes) are known before any build runs. A bad entrant raises nothing:
its problems are collected. UserError is raised for trouble with the cache, HostError for the
sandbox. See docs/design/bots.md.
"""

from arena.bots.build import BuildLimits, build
from arena.bots.bundles import Bundle, missing_snapshots, pack, unpack
from arena.bots.cache import clean_cache, default_cache, in_use
from arena.bots.discovery import count_bots, load, restore
from arena.bots.kept import hand_over, keep_bots, share_bots, sources_in
from arena.bots.manifest import Asked
from arena.bots.packages import fetch, missing_packages
from arena.bots.plain_text import printable
from arena.bots.roster import Built, Candidate, Issues, Problem, Roster
