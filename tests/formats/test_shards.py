"""Cutting a schedule into shards."""

from functools import partial

import pytest

from arena.formats.shards import Shard
from arena.model import Block, MatchSpec, Series, UserError


def schedule(tables, rounds):
    """So many blocks of each table, in turns."""
    for number in range(rounds):
        for table in range(tables):
            spec = MatchSpec(
                id="", series="", pairing=str(table), deal=number, rotation=0, seats=("a", "b")
            )
            yield Block(id=f"{table}-{number}", series=(Series(id="", matches=(spec,)),))


@pytest.mark.parametrize("of", [1, 2, 3, 4, 6, 64])
@pytest.mark.parametrize("tables", [1, 2, 3, 4, 6, 12, 66])
def test_every_block_is_in_one_shard_and_each_shard_has_its_share(tables, of):
    """Of all blocks, whatever their number; and, in as many rounds as there are shards, of every
    table.
    """
    for rounds in (0, 1, 2, of):
        parts = [
            list(Shard(n + 1, of).blocks(partial(schedule, tables, rounds))) for n in range(of)
        ]
        assert tables * rounds == sum(map(len, parts))
        assert {block.id for block in schedule(tables, rounds)} == {
            block.id for part in parts for block in part
        }
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
    for part in parts:
        assert tables == len({block.series[0].matches[0].pairing for block in part})


@pytest.mark.parametrize(("text", "shard"), [("1/1", (1, 1)), (" 02 / 5 ", (2, 5))])
def test_a_shard_is_written_as_a_fraction(text, shard):
    """Spaces and zeros in front don't matter."""
    assert shard == Shard.parse(text)
    assert f"{shard[0]}/{shard[1]}" == str(Shard.parse(text))


@pytest.mark.parametrize("text", ["", "2", "0/3", "4/3", "1/0", "-1/3", "a/b", "1/3/5", "٣/٥"])
def test_what_is_no_shard_is_refused(text):
    """With an example of what is one."""
    with pytest.raises(UserError, match="from 1/5 to 5/5"):
        Shard.parse(text)
