"""Round robin: every table of the field meets on its own deals, in all seat rotations.

Tables are all subsets of the field with the event's number of seats or, with `tables`, a
seeded design that is balanced in how often any two bots meet. Of a gauntlet they are those with at
least one of some entrants, the heroes: it shows where a new bot stands among known ones, in as many
matches as there are others.

Invariant: a pure function of settings, entrants and secret.
"""

from collections.abc import Sequence

from arena.deals import Deals
from arena.formats import Format
from arena.formats.blocks import Dealing
from arena.formats.tables import Table, all_tables, balanced_tables, field_of
from arena.model import Entrant, Settings, UserError


class RoundRobin(Format):
    def __init__(self, settings: Settings, entrants: Sequence[Entrant], deals: Deals) -> None:
        self._settings = settings
        self._most_deals = settings.deals
        self.tables = self._tables(field_of(settings, entrants), deals)
        self._dealing = Dealing(settings, self.tables, deals)
        self._all = self._dealing.wave(dict.fromkeys(self._dealing.pairings, range(settings.deals)))
        if not self.tables:
            raise UserError(
                f"no table can be seated with --no-same-author: any {settings.seats} of these bots "
                "have an author in common"
            )

    def _tables(self, field: Sequence[Entrant], deals: Deals) -> list[Table]:
        if self._settings.tables is None:
            return all_tables(self._settings, field)
        return balanced_tables(self._settings, field, deals)


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
