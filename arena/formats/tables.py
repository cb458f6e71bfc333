"""Choose the tables of a field: all subsets of the event's number of seats, or a balanced part.

Invariant: a pure function of settings, entrants and secret.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from arena.deals import Deals
from arena.model import Entrant, Settings, UserError

Table = tuple[str, ...]  # the ids of entrants that sit together, sorted

MOST_BOTS = 500  # the fit's time grows with the cube of their number
# More tables than this are a mistake rather than a wish: 60 bots at 4 seats have 487,635.
MOST_TABLES = 50_000
MOST_SEATINGS = 10_000_000  # to balance so many takes some twenty seconds
# A greedy table may have been chosen before; another draw of the ties usually gives a new one.
TRIES = 32


def field_of(settings: Settings, entrants: Sequence[Entrant]) -> list[Entrant]:
    """The entrants by their ids; UserError if they can't be seated or rated."""
    if len(entrants) < settings.seats:
        fewer = " or use fewer --seats" if settings.seats > 2 else ""
        raise UserError(
            f"{settings.seats} seats need at least {settings.seats} bots, "
            f"but {len(entrants)} can play; name more bots{fewer}"
        )
    if len(entrants) > MOST_BOTS:
        raise UserError(f"{len(entrants)} bots are more than {MOST_BOTS}, which can be rated")
    return sorted(entrants, key=lambda entrant: entrant.id)


def all_tables(settings: Settings, field: Sequence[Entrant]) -> list[Table]:
    count = math.comb(len(field), settings.seats)
    if count > MOST_TABLES:
        raise UserError(
            f"{len(field)} bots at {settings.seats} seats make {count:,} tables; "
            "choose a balanced part of them with --tables N, for instance --tables 1000"
        )
    return list(_possible(settings, field))


def _possible(settings: Settings, field: Sequence[Entrant]) -> Iterator[Table]:
    for table in itertools.combinations(field, settings.seats):
        if may_sit(settings, table):
            yield tuple(sorted(entrant.id for entrant in table))


def may_sit(settings: Settings, table: Sequence[Entrant]) -> bool:
    """Whether these may sit together: without same_author, an author sits at most once."""
    if settings.same_author:
        return True
    authors = [entrant.author for entrant in table if entrant.author]
    return len(set(authors)) == len(authors)


def balanced_tables(settings: Settings, field: Sequence[Entrant], deals: Deals) -> list[Table]:
    """`settings.tables` different tables, balanced in who sits how often and with whom."""
    wanted = settings.tables or 0
    most = math.comb(len(field), settings.seats)
    if wanted > most:
        raise UserError(
            f"--tables {wanted} is more than there are: {len(field)} bots at "
            f"{settings.seats} seats make {most:,}; leave --tables out to play them all"
        )
    if wanted * len(field) * settings.seats > MOST_SEATINGS:
        raise UserError(
            f"{wanted:,} balanced tables of {len(field)} bots at {settings.seats} seats would take "
            "too long to find; choose fewer --tables, or let a part of the bots play"
        )
    design = _Design(settings, field, deals)
    for number in range(wanted):
        if not design.add(number):
            raise UserError(
                f"only {number} different tables can be seated with --no-same-author; "
                f"ask for at most {number} with --tables"
            )
    return design.tables


class _Design:
    """Fill each seat with the bot that has sat least and, among those, has met the others of the
    table least; the secret breaks ties. Appearances differ by at most one as long as authors and
    the ban on repeated tables allow it.
    """

    def __init__(self, settings: Settings, field: Sequence[Entrant], deals: Deals) -> None:
        self.tables: list[Table] = []
        self._settings = settings
        self._field = field
        self._deals = deals
        self._chosen: set[Table] = set()
        self._sat = dict.fromkeys((entrant.id for entrant in field), 0)
        self._met: Counter[frozenset[str]] = Counter()

    def add(self, number: int) -> bool:
        """Choose one more table; False when none can be found."""
        found = self._candidates(number)
        table = next((each for each in found if each and each not in self._chosen), ())
        if not table:
            return False
        self.tables.append(table)
        self._chosen.add(table)
        for entrant in table:
            self._sat[entrant] += 1
        self._met.update(map(frozenset, itertools.combinations(table, 2)))
        return True

    def _candidates(self, number: int) -> Iterator[Table]:
        for balance_first in (True, False):
            for retry in range(TRIES):
                draw = self._deals.ranks(f"{number}/{retry}", list(self._sat))
                yield self._seat(draw, balance_first=balance_first)
        yield from _possible(self._settings, self._field)

    def _seat(self, draw: dict[str, bytes], *, balance_first: bool) -> Table:
        table: list[Entrant] = []

        def weight(entrant: Entrant) -> tuple[int, int, bytes]:
            sat = self._sat[entrant.id]
            met = sum(self._met[frozenset((entrant.id, other.id))] for other in table)
            return (sat, met, draw[entrant.id]) if balance_first else (met, sat, draw[entrant.id])

        while len(table) < self._settings.seats:
            free = [
                e for e in self._field if e not in table and may_sit(self._settings, [*table, e])
            ]
            if not free:
                return ()
            table.append(min(free, key=weight))
        return tuple(sorted(entrant.id for entrant in table))
