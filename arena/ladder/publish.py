"""Publish a ladder: its rankings, its chain, and its rounds as events of a site.

Invariant: nothing private is published: authors are known by their handles, as in the chain.
"""

from pathlib import Path

from arena.ladder.folder import Ladder
from arena.ladder.ranking import ranking
from arena.machine import Notify
from arena.site.folder import SiteFolder
from arena.site.publish import (
    LadderExtras,
    Progress,
    PublishedSummary,
    PublishOptions,
    update_site,
)


def publish_ladder(
    ladder: Ladder, site: Path, *, rounds: int | None, notify: Notify, progress: Progress
) -> list[PublishedSummary]:
    """Bring a site up to date. `rounds`: of each game, with their matches; None: all."""
    state = ladder.state
    over = [each for game in state.rules.games for each in state.played(game)[-(rounds or 0) :]]
    published = _published(site)
    fresh = [each for each in over if each.begun.commitment not in published]
    extras = LadderExtras(
        tables=[ranking(ladder, game) for game in state.rules.games if state.played(game)],
        chain=ladder.chain.path.read_bytes(),
    )
    folders = [ladder.place_of(each) for each in fresh]
    options = PublishOptions(title=state.rules.name)
    return update_site(folders, site, options, notify, progress, extras)


def _published(site: Path) -> set[str]:
    """The commitments of the events that a site has."""
    folder = SiteFolder(site)
    try:
        return {each.commitment for each in folder.index.events} if folder.index else set()
    finally:
        folder.close()
