"""The words between schedules and counts."""

import math

from arena.model import Block, MatchSpec, Series
from arena.waves import End, Nothing, all_blocks, at_once, wave_of


def block(name, *tables):
    """One series of these tables, a match each."""
    specs = tuple(
        MatchSpec(id=f"{name}{n}", series=name, pairing="p", deal=n, rotation=0, seats=tuple(table))
        for n, table in enumerate(tables)
    )
    return Block(id=name, series=(Series(id=name, matches=specs),))


def test_before_the_first_match_nothing_is_known():
    """Nobody is ahead, nobody is out, and no number of errors is enough."""
    nothing = Nothing()
    assert () == nothing.order() == nothing.withdrawn
    assert (0.0, math.inf) == nothing.lead("a", "b")
    assert math.inf == nothing.separation(2, 1)


def test_blocks_make_a_wave():
    """All matches, and those of each; the blocks are given anew each time."""
    blocks = [block("x", "ab", "ab"), block("y", "abc")]
    wave = wave_of(lambda: iter(blocks))
    assert 3 == wave.matches
    assert {"a": 3, "b": 3, "c": 1} == wave.by_entrant
    assert blocks == list(wave.blocks()) == list(wave.blocks())
    assert 2 * blocks == list(all_blocks([wave, wave]))


def test_what_is_known_from_the_beginning_is_one_wave():
    """After it there is no other, and nothing to say."""
    wave = wave_of(list)
    schedule = at_once(wave)
    assert wave == schedule((), Nothing())
    assert End() == schedule((wave,), Nothing())
