"""Sums of several events in one."""

import random

import pytest

from arena.model import ADJUSTED, RESULTS
from arena.ratings.counts import count_in
from arena.ratings.dependence import variances
from arena.ratings.outcomes import Tally
from arena.ratings.sums import add_sums, decode_sums, encode_sums


def tally_of(lab, *events):
    """All of some events, one after another."""
    tally = Tally(margin=123.0)
    for blocks, records in events:
        for chosen in lab.count(blocks, records).complete():
            count_in(tally, chosen, frozenset())
        tally.close()
    return tally


def plain(tally):
    """What it holds, without what is known of the last block alone."""
    found = decode_sums(encode_sums(tally))
    for blocks in found.blocks.values():
        for each in blocks.values():
            each.block, each.size, each.sum = "", 0, 0
    return found


@pytest.fixture
def events(lab):
    """Two events of the same three bots, with forfeits in both."""
    draw = random.Random(3)

    def played(names, deals):
        blocks = lab.schedule([names[:2], names[1:]], deals=deals, series=2)
        records = []
        for number, spec in enumerate(lab.specs(blocks)):
            totals = {name: draw.randint(60, 120) for name in spec.seats}
            fell = {spec.seats[0]: (3, 4)} if number % 5 == 0 else None
            records.append(lab.record(spec, totals, fell=fell))
        return blocks, records

    return played("abc", 5), played("bac", 4)


def test_sums_of_two_events_are_those_of_both(lab, events):
    """In either order; what is derived of them is the same, too."""
    one, two = events
    both = tally_of(lab, one, two)
    for order in ((one, two), (two, one)):
        tally = Tally(margin=123.0)
        for event in order:
            add_sums(tally, decode_sums(encode_sums(tally_of(lab, event))))
        assert plain(both) == plain(tally)
        assert both.matches == len(one[1]) + len(two[1])
        for rate_on in (RESULTS, ADJUSTED):
            assert variances(both.blocks[rate_on]) == variances(tally.blocks[rate_on])
