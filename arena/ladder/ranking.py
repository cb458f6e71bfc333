"""The ranking of a ladder: all rounds of a game in one table, valid whenever somebody looks.

Theory of operation. The sums of each round's counted matches are kept in derived/, and made again
from its log where they are missing. Their sum is fitted by the model of strokes; bots that play no
more are left out of the table, and hold its scale together. Bounds are those of a round, which
hold at all looks.

Invariant: a function of the chain and of the rounds' logs.
"""

from collections.abc import Sequence
from copy import copy
from hashlib import sha256
from typing import Any, NamedTuple

from msgspec.structs import replace

from arena.event.results import count_folder
from arena.ladder.folder import Ladder
from arena.ladder.state import Round
from arena.model import ADJUSTED, Entrant, Event, LadderSettings, RatingSettings, Table
from arena.ratings.counts import EventCount
from arena.ratings.dependence import variances
from arena.ratings.evidence import fitted
from arena.ratings.fit import Fit
from arena.ratings.outcomes import Tally
from arena.ratings.standings import table
from arena.ratings.stroke_fit import skills_of
from arena.ratings.sums import EventSums, add_sums, decode_sums, encode_sums
from arena.schedule import ScheduleEnd
from arena.store import read_event
from arena.store.files import UNDECODABLE
from arena.store.folder import write_atomically

_LEAST_CLOSE = 0.5
_MARK = 32  # bytes before the sums: which log they are of


def sums_of(ladder: Ladder, played: Round) -> EventSums:
    """The sums of a round that is over."""
    assert played.ended
    path, mark = ladder.derived(f"{played.name}.sums"), bytes.fromhex(played.ended.log)
    try:
        data = path.read_bytes()
        if data[:_MARK] == sha256(mark + data[_MARK:]).digest():
            return decode_sums(data[_MARK:])
    except (OSError, *UNDECODABLE):
        pass
    _, counting = count_folder(ladder.place_of(played))
    encoded = encode_sums(counting.counted().tally)
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, sha256(mark + encoded).digest() + encoded)
    return decode_sums(encoded)


def pooled(ladder: Ladder, game: str, before: int | None = None) -> Tally:
    """The sums of all rounds of a game that are over, or of those before a round; not to be
    changed. Looks at later and later rounds read the sums of each round once.
    """
    rounds = [
        played
        for played in ladder.state.played(game)
        if before is None or played.begun.round < before
    ]
    many, tally = ladder.pools.get(game, (0, None))
    if tally is None or many > len(rounds):
        many, tally = 0, Tally(margin=_rating(ladder, game).forfeit_margin)
    for played in rounds[many:]:
        add_sums(tally, sums_of(ladder, played))
    ladder.pools[game] = len(rounds), tally
    return tally


def earlier(
    ladder: Ladder,
    game: str,
    names: Sequence[str],
    rating: RatingSettings,
    before: int | None = None,
) -> dict[str, Any]:
    """What the rounds so far, or before a round, say of these bots: members of its settings."""
    tally = pooled(ladder, game, before)
    if not tally.matches:
        return {}
    wide = variances(tally.blocks[ADJUSTED], over=False)
    known = skills_of(sorted(names), tally.gaps, seats=2, settings=rating, wider=wide)
    return known.stated()


class FitOfGame(NamedTuple):
    fit: Fit
    rated: frozenset[str]
    """The entrants that have played."""


def fit_of(ladder: Ladder, game: str) -> FitOfGame:
    """Skills of the active bots after all rounds."""
    event, tally = _event(ladder, game, ladder.state.active), pooled(ladder, game)
    rated = {name for name, account in tally.accounts.items() if account.deals}
    found = fitted(event, tally, ADJUSTED)
    return FitOfGame(found, frozenset(rated.intersection(found.entrants)))


def ranking(
    ladder: Ladder,
    game: str,
    *,
    entrants: Sequence[Entrant] | None = None,
    before: int | None = None,
) -> Table:
    """The table of a game: of the active bots, or of these; after all rounds, or before one."""
    shown = ladder.state.active if entrants is None else tuple(entrants)
    tally = copy(pooled(ladder, game, before))
    ids = {entrant.id for entrant in shown}
    tally.pairs = {pair: count for pair, count in tally.pairs.items() if ids.issuperset(pair)}
    counted = EventCount(
        planned=tally.matches,
        tally=tally,
        missing=0,
        withdrawn=(),
        not_reproducible=frozenset(),
        end=ScheduleEnd(),
    )
    return table(_event(ladder, game, shown), counted, ahead=True)


def _event(ladder: Ladder, game: str, entrants: Sequence[Entrant]) -> Event:
    """What the table of a game is about: its settings, without those of one round."""
    state, played = ladder.state, ladder.state.played(game)
    own = LadderSettings(
        round=played[-1].begun.round if played else 1,
        head=ladder.chain.head,
        budget=state.rules.matches,
        close=state.rules.close,
        mixture=mixture(state.rules.close),
    )
    base = state.rules.event(game).settings()
    settings = replace(base, format="ladder", ladder=own)
    event = Event(settings=settings, entrants=tuple(entrants), commitment="", finished=True)
    if played:
        last = read_event(ladder.place_of(played[-1]))
        event = replace(event, sandbox=last.sandbox, predictable=last.predictable)
    return event


def mixture(close: float) -> float:
    """The error at which the bounds are the narrowest: as of a race."""
    return max(close, _LEAST_CLOSE) / 3


def _rating(ladder: Ladder, game: str) -> RatingSettings:
    return ladder.state.rules.event(game).settings().rating
