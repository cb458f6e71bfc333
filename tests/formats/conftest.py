"""Fields, and results that nobody has played for."""

import pytest

from arena.deals import Deals, secret_from_seed
from arena.model import Entrant
from arena.schedule import Forfeits, Lead

DEALS = Deals(secret_from_seed("formats"))


class Shown:
    """Results with these strengths; every lead is as sure as the next, unless told otherwise."""

    def __init__(self, strengths, error=1.0, withdrawn=(), errors=None, fell=(40, 0, 0)):
        self.strengths, self.error, self.withdrawn = strengths, error, withdrawn
        self.fell = fell
        self.errors = errors or {}

    def order(self):
        return sorted(self.strengths, key=lambda name: (-self.strengths[name], name))

    def lead(self, one, two):
        error = self.errors.get(frozenset((one, two)), self.error)
        return Lead(self.strengths[one] - self.strengths[two], error)

    def separation(self, pairs, error):
        return 3.0

    def forfeits(self, one, two):
        return Forfeits(*self.fell, self.lead(one, two))


@pytest.fixture(scope="session")
def shown():
    """Makes results."""
    return Shown


@pytest.fixture(scope="session")
def drawn():
    """All that is drawn."""
    return DEALS


@pytest.fixture(scope="session")
def entered():
    """Makes entrants of these names, each of an author of its own unless told otherwise."""

    def make(names, authors=None):
        return [
            Entrant(id=name, name=name, version="1", hash="", author=author)
            for name, author in zip(names, authors or names, strict=True)
        ]

    return make


@pytest.fixture(scope="session")
def checked():
    """Asserts what holds of the waves of any format."""

    def check(format_, waves, seats=2):
        places, ids = set(), set()
        for wave in waves:
            specs = [
                spec
                for block in wave.blocks()
                for series in block.series
                for spec in series.matches
            ]
            assert len(specs) == wave.matches
            sat = {}
            for spec in specs:
                place, found = format_.find(spec.pairing, spec.deal, spec.rotation)
                assert spec == found
                assert place not in places
                places.add(place)
                ids.add(spec.id)
                for entrant in spec.seats:
                    sat[entrant] = sat.get(entrant, 0) + 1
            assert sat == wave.by_entrant
            for block in wave.blocks():
                dealt = {tuple(spec.deal for spec in series.matches) for series in block.series}
                assert 1 == len(dealt)
                assert seats == len(block.series)
                (deals,) = dealt
                assert len(deals) == len(set(deals))
        assert len(ids) == sum(wave.matches for wave in waves)

    return check
