"""Gauntlet: some entrants, the heroes, meet all others; the others don't meet each other.

It shows where a new bot stands among known ones, in as many matches as there are others. Tables are
the subsets of the field with at least one hero.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.deals import Deals
from arena.formats.round_robin import RoundRobin
from arena.formats.tables import Table, all_tables
from arena.model import Entrant, UserError


class Gauntlet(RoundRobin):
    def _tables(self, field: Sequence[Entrant], deals: Deals) -> list[Table]:
        del deals
        heroes = set(self._settings.heroes)
        if strangers := heroes.difference(entrant.id for entrant in field):
            raise UserError(f"{min(strangers)} is to run the gauntlet, but is not among the bots")
        if not heroes:
            raise UserError("a gauntlet needs a bot that runs it: --gauntlet BOT")
        if self._settings.tables is not None:
            raise UserError("--tables goes with a round robin; a gauntlet has all of its tables")
        tables = all_tables(self._settings, field)
        return [table for table in tables if not heroes.isdisjoint(table)]
