"""An event in n parts, to be played on n machines: blocks of its schedule in turns.

Block number k, counted from 0 in the order of the specs, belongs to shard (k + k div L) mod n + 1,
where L is the least common multiple of n and the number of tables: with k mod n alone, as many
tables as shards would give each one table for itself, and all would wait for the slowest bots.

Invariant: each block is in exactly one of the n shards.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from arena.model import Block, UserError

_FORM = re.compile(r"\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\s*", re.ASCII)


class Shard(NamedTuple):
    """The `number`-th of `of` parts, counted from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        match = _FORM.fullmatch(text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise UserError(f"{text!r} is no shard: say which of how many, from 1/5 to 5/5")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def blocks(self, schedule: Callable[[], Iterable[Block]]) -> Iterator[Block]:
        period = first = None
        for k, block in enumerate(schedule()):
            pairing = block.series[0].matches[0].pairing
            if first is None:
                first = pairing
            elif period is None and pairing == first:  # as many tables as came before
                period = math.lcm(k, self.of)
            if (k + k // period if period else k) % self.of == self.number - 1:
                yield block
