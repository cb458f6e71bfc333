"""Luck has the mean 0, however the seats play: by kind of event, over a few thousand holes."""

import math
import random
from collections import defaultdict
from itertools import product

import pytest

from .conftest import POLICIES, early, lots, low, peeker, waiter

ERRORS = 4.0


def tables(name):
    """Policies by seat: every pair of them, and some larger tables."""
    pairs = list(product(POLICIES, repeat=2))
    larger = [(low, peeker, early), (lots, low, waiter, peeker), (peeker, low, low, early, lots)]
    if name == "four-card-golf":
        larger.append((low, peeker, early, low, lots, peeker, low, early))
    return [(table, 150 if len(table) == 2 else 100) for table in (*pairs, *larger)]


@pytest.mark.parametrize("name", ["play-nine", "four-card-golf"])
@pytest.mark.long("the luck ledger by simulation")
def test_no_way_of_playing_has_luck_on_average(play, name):
    """By kind and by policy; players that wait for reshuffles are cut off by the turn cap."""
    found = defaultdict(list)
    reshuffled = 0
    for number, (policies, holes) in enumerate(tables(name)):
        cap = 60 if len(policies) == 2 else 12
        for seed in range(holes if waiter not in policies else holes // 2):
            played = play(name, len(policies), policies, f"{number}/{seed}", turn_cap=cap)
            reshuffled += played.reshuffles > 0
            sums = defaultdict(float)
            for _, kind, seat, luck in played.noted():
                sums[kind, seat] += luck
                sums["all", seat] += luck
            for (kind, seat), luck in sums.items():
                found[kind].append(luck)
                if kind == "all":
                    found[policies[seat].__name__].append(luck)
    assert reshuffled > 10
    assert len(found) >= 5 + 5
    for what, lucks in found.items():
        mean = math.fsum(lucks) / len(lucks)
        spread = math.sqrt(math.fsum((luck - mean) ** 2 for luck in lucks) / len(lucks))
        # Lucks of one hole aren't independent; what they have in common is small.
        assert abs(mean) < ERRORS * spread / math.sqrt(len(lucks)), what


@pytest.mark.no_cover
def test_luck_is_worth_having(play):
    """Even on these few holes most of the difference between two equals was luck."""
    rest, whole = [], []
    for seed in range(300):
        played = play("play-nine", 2, (low, low), seed)
        luck = [0.0, 0.0]
        for _, _, seat, amount in played.noted():
            luck[seat] += amount / 10_000
        whole.append(played.scores[0] - played.scores[1])
        rest.append(whole[-1] - luck[0] + luck[1])
    squares = [sum((one - sum(row) / len(row)) ** 2 for one in row) for row in (whole, rest)]
    assert squares[1] < 0.5 * squares[0]


def test_the_same_hole_has_the_same_luck(play):
    """To the last bit."""
    lot = random.Random(0)
    one = play("four-card-golf", 5, [lot.choice(POLICIES) for _ in range(5)], 3)
    assert one.noted() == one.noted()
