"""`arena-site.json`, the index of a site: its events, and the results of their bots.

The file marks a folder as a site of ours, and is its index for programs
(protocol/schema/site.json). Pure. Invariant: all of it is public; nothing in it is secret.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from arena.model import Frozen
from arena.site.view import EventView

FORMAT = 1
FILE = "arena-site.json"


class Placed(Frozen, frozen=True, kw_only=True):
    """A bot in the table of an event."""

    id: str
    """name@version, or its alias."""
    name: str  # by which it is known across events
    version: str  # as its author calls it, or its alias
    hash: str  # SHA-256 of its content; of an anonymous site a keyed hash of that
    page: str  # its page, from the site's folder; empty: it has none
    rank: int | None
    """1 is best; null: not rated, as are mu, sigma and win. Older sites have 0 and the prior."""
    rank_last: int | None  # the end of the range of ranks that it shares
    mu: float | None  # TrueSkill's estimate
    sigma: float | None  # how sure that is, where the whole field lies included
    sigma_field: float | None = None  # how sure mu is against the field's mean
    win: float | None  # share of opponents beaten, a tie counting half
    strokes: float | None  # a hole
    matches: int  # it played so many that count
    note: str = ""
    """withdrawn, annulled."""


class Published(Frozen, frozen=True, kw_only=True):
    """An event of a site."""

    slug: str  # its folder is e/SLUG
    name: str  # what people call it; empty: by its game and date
    game: str  # as in --game
    seats: int  # at a table
    format: str  # as in --format of the event
    matches: int  # those that count
    planned: int  # those of its whole schedule; 0 when that isn't known in advance
    finished: bool  # whether it is over
    predictable: bool  # whether its deals follow from a seed
    commitment: str
    """Published before its first match; empty where that would tell who took part."""
    ended: float  # seconds since the epoch; 0: not known
    replays: int  # matches that can be looked at
    listed: int  # matches in the lists
    missing: tuple[str, ...] = ()  # what is missing: names of reasons
    bots: tuple[Placed, ...] = ()  # in the order of the table
    made_from: str = ""
    """Hash of all that its files of matches follow from: the same, and they aren't made again."""


class LadderPage(Frozen, frozen=True, kw_only=True):
    """The ranking of a game of a ladder, over all of its rounds."""

    game: str  # as in --game
    page: str  # from the site's folder
    matches: int  # of all rounds
    bots: tuple[str, ...]  # those that play, in the order of the table


class SiteIndex(Frozen, frozen=True, kw_only=True):
    """The index of a site."""

    format: int = FORMAT
    """The version of this description; fields may be added without a new number."""
    arena: str = ""  # the version of the arena that wrote it
    title: str = ""  # empty: none of its own
    anonymous: bool = False  # whether names and authors are aliases
    key: str = ""  # of an anonymous site: by what it knows its key again; it says nothing of it
    id: str = ""
    """Drawn when the site was made; its aliases differ from those of any other site."""
    events: tuple[Published, ...] = ()  # the latest first
    ladder: tuple[LadderPage, ...] = ()
    """The rankings of the ladder that the site is of."""


decode_index = msgspec.json.Decoder(SiteIndex).decode


def encode_index(index: SiteIndex) -> bytes:
    """The file: sorted keys, one a line."""
    return msgspec.json.format(msgspec.json.encode(index, order="sorted"), indent=1) + b"\n"


def index_entry(view: EventView, made_from: str) -> Published:
    table, event = view.table, view.table.event
    entrants = {entrant.id: entrant for entrant in event.entrants}
    return Published(
        **_picked(view, "slug name ended replays listed missing"),
        **_picked(event.settings, "game seats format"),
        **_picked(event, "finished predictable commitment"),
        **_picked(table, "matches planned"),
        bots=tuple(
            Placed(
                page=f"e/{view.slug}/{page}" if (page := view.page_of(row.entrant)) else "",
                **_picked(entrants[row.entrant], "id name version hash"),
                **_picked(row, _OF_A_ROW),
            )
            for row in table.rows
            if row.entrant in entrants
        ),
        made_from=made_from,
    )


_OF_A_ROW = "rank rank_last mu sigma sigma_field win strokes matches note"


def _picked(of: object, names: str) -> dict[str, Any]:
    """Fields that are called the same in the index."""
    return {name: getattr(of, name) for name in names.split()}


def add_event(index: SiteIndex, event: Published) -> SiteIndex:
    known = {each.slug: each for each in (*index.events, event)}
    order = sorted(known.values(), key=lambda each: (-each.ended, each.slug))
    return msgspec.structs.replace(index, events=tuple(order))


def careers(index: SiteIndex) -> Iterator[tuple[str, list[tuple[Published, Placed]]]]:
    """Each bot, by name, with its events, the latest first."""
    found: dict[str, list[tuple[Published, Placed]]] = {}
    for event in index.events:
        for bot in event.bots:
            found.setdefault(bot.name, []).append((event, bot))
    yield from sorted(found.items())


def namesakes(index: SiteIndex, name: str, hashes: Iterable[str]) -> list[str]:
    wanted = set(hashes) - {""}
    return sorted(
        {
            bot.name
            for event in index.events
            for bot in event.bots
            if bot.hash in wanted and bot.name != name
        }
    )
