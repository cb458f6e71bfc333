"""Sums of an event's counted matches as a small file, and those of several events in one.

A season of a ladder has hundreds of logs; its ranking is made of their sums, which are whole
numbers, so that they can be added in any order. They are derived: who doubts them counts the log.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from arena.model import ADJUSTED, RESULTS, Frozen, RateOn
from arena.ratings.dependence import BlockSums, TableOfBot
from arena.ratings.intervals import Moments
from arena.ratings.outcomes import Account, ForfeitSums, Pair, PairCount, Tally

_Key = TypeVar("_Key")


class EventSums(Frozen, frozen=True, kw_only=True):
    """What a `Tally` holds when all is counted."""

    matches: int
    pairs: dict[Pair, PairCount]
    gaps: dict[Pair, Moments]
    forfeited: dict[Pair, ForfeitSums]
    accounts: dict[str, Account]
    blocks: dict[RateOn, dict[TableOfBot, BlockSums]]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(EventSums).decode


def encode_sums(tally: Tally) -> bytes:
    return _encode(
        EventSums(**{name: getattr(tally, name) for name in EventSums.__struct_fields__})
    )


def decode_sums(data: bytes) -> EventSums:
    return _decode(data)


def add_sums(tally: Tally, sums: EventSums) -> None:
    """Add another event's sums, whose blocks are others; they become the tally's."""
    tally.matches += sums.matches
    _add_all(tally.pairs, sums.pairs)
    _add_all(tally.gaps, sums.gaps)
    for pair, found in sums.forfeited.items():
        own = tally.forfeited[pair]
        own.first += found.first
        own.second += found.second
        own.whole, own.rest = own.whole.plus(found.whole), own.rest.plus(found.rest)
    for entrant, account in sums.accounts.items():
        mine = tally.accounts[entrant]
        for name in ("beaten", "margin", "adjusted"):
            _add_all(getattr(mine, name), getattr(account, name))
        _add(mine, account, _COUNTS)
        for kind, many in account.faults.items():
            mine.faults[kind] = mine.faults.get(kind, 0) + many
    for rate_on in (RESULTS, ADJUSTED):
        for table, blocks in sums.blocks[rate_on].items():
            _add(tally.blocks[rate_on][table], blocks, _OF_BLOCKS)


_COUNTS = ("matches", "deals", "strokes", "holes", "decisions", "think_us", "off_turn_us")
_OF_BLOCKS = ("deals", "blocks", "squares", "value", "value2", "between")


def _add_all(mine: dict[_Key, Any], others: Mapping[_Key, Any]) -> None:
    for key, found in others.items():
        if key in mine:
            _add(mine[key], found, found.__struct_fields__)
        else:
            mine[key] = found


def _add(mine: Any, other: Any, names: Iterable[str]) -> None:  # noqa: ANN401 - sums of one kind
    for name in names:
        setattr(mine, name, getattr(mine, name) + getattr(other, name))
