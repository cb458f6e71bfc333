"""Ranks after each round of a ladder. Kept in derived/, and made again where they are missing."""

import msgspec

from arena.ladder.folder import Ladder
from arena.ladder.ranking import ranking
from arena.ladder.state import Round
from arena.model import Frozen, canonical
from arena.store.files import UNDECODABLE
from arena.store.folder import write_atomically

Ranks = dict[str, tuple[int, int]]


class RoundRanks(Frozen, frozen=True, kw_only=True):
    """The first and last rank of each bot that was active and rated, by its id."""

    log: str
    """The hash of the round's log: another one makes the ranks again."""
    ranks: Ranks


def history(ladder: Ladder, game: str) -> list[tuple[Round, Ranks]]:
    """The ranks after each round of a game, the first round first."""
    path = ladder.derived(f"history-{game}.json")
    try:
        known = msgspec.json.decode(path.read_bytes(), type=dict[str, RoundRanks])
    except (OSError, *UNDECODABLE):
        known = {}
    found, new = [], {}
    for played in ladder.state.played(game):
        assert played.ended
        kept = known.get(played.name)
        if kept is None or kept.log != played.ended.log:
            kept = RoundRanks(log=played.ended.log, ranks=_ranks(ladder, played))
        new[played.name] = kept
        found.append((played, kept.ranks))
    if new != known:
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, canonical(new))
    return found


def _ranks(ladder: Ladder, played: Round) -> Ranks:
    after = played.begun.round + 1
    table = ranking(ladder, played.begun.game, entrants=played.active, before=after)
    return {
        row.entrant: (row.rank, row.rank_last)
        for row in table.rows
        if row.rank is not None and row.rank_last is not None
    }
