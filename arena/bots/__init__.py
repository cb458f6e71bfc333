"""Who takes part: from the paths that a user names to bots that can be started.

    load(paths)  ->  Roster   what each path is; its content safe in the cache, under its hash
    fetch(...)   ->  Fetched  the packages that bots' lock files name, into the cache
    build(...)   ->  Built    the builds that are needed, in the sandbox; how each bot is run
    restore(...) ->  Roster   the entrants of an earlier event, found again by content
    carry, unload             their snapshots in the event's own folder, to be taken elsewhere
    pack, unpack              they and their packages as bytes, for machines without one

Entrants (names, versions, hashes) are known before any build runs. Nothing here raises for a
bad entrant: whatever is wrong with each is collected, so that the caller shows all of it at
once, or goes on without them. UserError is raised for trouble with the cache, HostError for
trouble with the sandbox.
"""

from arena.bots.build import BuildLimits, build
from arena.bots.bundles import Bundle, lacking, pack, unpack
from arena.bots.cache import clean_cache, default_cache, in_use
from arena.bots.discovery import at_least, load, restore
from arena.bots.entries import Built, Candidate, Problem, Roster
from arena.bots.event_copy import carry, unload
from arena.bots.manifest import Asked
from arena.bots.packages import Fetched, fetch, unfetched
from arena.bots.plain_text import printable

__all__ = [
    "Asked",
    "BuildLimits",
    "Built",
    "Bundle",
    "Candidate",
    "Fetched",
    "Problem",
    "Roster",
    "at_least",
    "build",
    "carry",
    "clean_cache",
    "default_cache",
    "fetch",
    "in_use",
    "lacking",
    "load",
    "pack",
    "printable",
    "restore",
    "unfetched",
    "unload",
    "unpack",
]
