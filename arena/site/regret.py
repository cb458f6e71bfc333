"""Where the bots of a published event lost strokes, in its newest matches, by published names."""

from collections.abc import Iterator

import msgspec

from arena import registry
from arena.deals import Deals, with_beacon
from arena.model import MatchRecord, UntrueError
from arena.regret import judge_name
from arena.regret.summary import RegretReport, report
from arena.site.clearance import Clearance
from arena.site.source import SiteSource, SourceLog
from arena.store import read_at

FILE = "regret.json"  # in the event's folder
MATCHES = 50  # of an event, unless others are asked for: some three seconds


def regret_of(source: SiteSource, clearing: Clearance, matches: int) -> RegretReport | None:
    """None where there is nothing to judge by, or the event's cards may not be shown. Judging is
    slow, so only the newest matches are; of an event with epochs those of its last one.
    """
    game = registry.game(source.event.settings.game)
    part = source.parts[-1] if source.parts else None
    guessable = any(each.event.predictable for each in source.parts)
    if not (matches and part and part.over and judge_name(game)):
        return None
    if clearing.anonymous and guessable:
        return None
    deals = Deals(with_beacon(bytes.fromhex(part.event.secret), part.event.beacon))
    settings, of = part.event.settings, len(part.ids)
    try:
        found = report(_newest(part, matches), of, game=game, deals=deals, settings=settings)
    except UntrueError:
        return None  # its page says already which matches can't be shown
    return _cleared(found, clearing, clearing.ids(part.event.entrants)) if found.bots else None


def _newest(part: SourceLog, matches: int) -> Iterator[MatchRecord]:
    places = sorted(zip(part.starts, part.ids, strict=True))[-matches:]
    for record in read_at(part.folder, ((name, start) for start, name in places), part.event):
        if not part.counts.annulled.intersection(record.seats):
            yield record


def _cleared(found: RegretReport, clearing: Clearance, ids: dict[str, str]) -> RegretReport:
    replace = msgspec.structs.replace
    bots = [
        replace(
            each,
            bot=ids[each.bot],
            dearest=tuple(replace(dear, match=clearing.match(dear.match)) for dear in each.dearest),
        )
        for each in found.bots
    ]
    return replace(found, bots=tuple(sorted(bots, key=lambda each: (-each.regret, each.bot))))
