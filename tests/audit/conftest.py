"""Made-up events: what a fair one looks like, and what can be planted in it."""

from __future__ import annotations

import itertools
import random

import msgspec
import pytest

from arena import registry
from arena.audit import chance
from arena.audit.auditor import audit_records
from arena.deals import Deals, secret_from_seed
from arena.model import (
    Entrant,
    Event,
    HoleRecord,
    SeatUse,
    Settings,
    pairing_id,
)
from tests.records import match_record


class Invented:
    """An event of bots whose skills are given, by chance alone unless something is planted.

    `plant(strokes, order, place, draw)` may change the strokes by entrant of a match, `take(giver,
    taker)` is how likely a discard is taken, `cap(circle)` that a hole is ended by the cap.
    """

    def __init__(
        self,
        seed,
        *,
        bots=4,
        seats=2,
        deals=6,
        series=25,
        game="four-card-golf",
        skills=None,
        shuffled=False,
    ):
        self.draw = random.Random(seed)
        self.busy = random.Random(f"busy-{seed}")
        self.names = [f"bot{number}@1" for number in range(bots)]
        self.skills = skills or [2.0 * number for number in range(bots)]
        self.deals = Deals(secret_from_seed(f"audit-{seed}"))
        self.many = deals
        settings = Settings(game=game, seats=seats, deals=deals, series=series, turn_cap=4)
        self.event = Event(
            settings=settings,
            entrants=tuple(
                Entrant(id=name, name=name[:-2], version="1", hash="0" * 64) for name in self.names
            ),
            commitment=f"{seed}",
        )
        self.seat_worth = [0.0] * seats
        self.series = series
        self.shuffled = shuffled

    def plant(self, strokes, circle, place):
        """By default nothing is."""

    def take(self, giver, taker):
        """By default what the two do with anybody."""
        return 0.3 + 0.01 * self.names.index(giver) + 0.02 * self.names.index(taker)

    def cap(self, circle):
        """By default now and then."""
        return 0.04

    def waited(self, name):
        """Milliseconds that the machine keeps a bot waiting in a match; by default all alike."""
        return self.busy.expovariate(1 / 20)

    def records(self):
        """All matches, in the order of their ids."""
        seats = self.event.settings.seats
        tables = sorted((pairing_id(t), t) for t in itertools.combinations(self.names, seats))
        for pairing, table in tables:
            for deal in range(self.many):
                circle = tuple(self.deals.circle(pairing, deal, table))
                order = self.deals.rotations(pairing, deal, seats)
                # What the deal gives each seat, and all of them.
                cards = [self.draw.gauss(90, 3) for _ in range(seats)]
                for rotation in range(seats):
                    sitting = circle[rotation:] + circle[:rotation]
                    yield self._record(pairing, deal, rotation, sitting, cards, order)

    def _record(self, pairing, deal, rotation, sitting, cards, order):
        strokes = {
            name: card
            + worth
            + self.skills[self.names.index(name)]
            + self.draw.choice([-1, -1, 2]) * self.draw.expovariate(0.5)
            for name, card, worth in zip(sitting, cards, self.seat_worth, strict=True)
        }
        self.plant(strokes, sitting, order.index(rotation))
        totals = tuple(round(strokes[name]) for name in sitting)
        return match_record(
            series=self._series(pairing, deal, rotation),
            pairing=pairing,
            deal=deal,
            rotation=rotation,
            seats=sitting,
            deck="",
            holes=(self._hole(sitting, totals),),
            totals=totals,
            use=tuple(
                SeatUse(decisions=10, think_ms=5.0, max_ms=1.0, waited_ms=self.waited(name))
                for name in sitting
            ),
            luck=tuple(round(self.draw.gauss(0, 1000)) for _ in sitting),
            ended=1.0,
        )

    def _series(self, pairing, deal, rotation):
        place = self.order(pairing, deal).index(rotation)
        return f"{pairing}-{deal - deal % self.series:06d}-s{place}"

    def _hole(self, sitting, totals):
        moves = []
        seats = len(sitting)
        for turn in range(4 * seats):
            took = turn and self.draw.random() < self.take(
                sitting[(turn - 1) % seats], sitting[turn % seats]
            )
            moves += ["take 0"] if took else ["draw", "discard"]
        if self.draw.random() >= self.cap(sitting):
            moves += ["knock"]
        return HoleRecord(
            order=tuple(range(seats)), moves=",".join(moves), scores=tuple(t // 9 for t in totals)
        )

    def audit(self, records=None):
        """The report."""
        records = self.records() if records is None else records
        about = registry.game(self.event.settings.game).about
        return audit_records(self.event, about, self.order, self.place, records)

    def place(self, record):
        """What the matches of a series are sorted by, as they were played."""
        return self.deals.place(record.id) if self.shuffled else record.deal

    def order(self, pairing, deal):
        """Which rotation is played first, and which after it."""
        return self.deals.rotations(pairing, deal, self.event.settings.seats)


@pytest.fixture
def invented():
    """Make one."""
    return Invented


@pytest.fixture
def without():
    """A record with other fields."""
    return msgspec.structs.replace


@pytest.fixture(autouse=True)
def few_tries(monkeypatch):
    """Fewer permutations: what is planted is found by them, too."""
    for name in ("TRIES", "FEWEST_TRIES"):
        monkeypatch.setattr(chance, name, 1199)
