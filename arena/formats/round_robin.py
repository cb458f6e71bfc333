"""Round robin: every table of the field meets on its own deals, in all seat rotations.

Tables are all subsets of the field with the event's number of seats or, with `tables`, a
seeded design that is balanced in how often any two bots meet.

Invariant: a pure function of settings, entrants and secret.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.deals import Deals
from arena.formats import Format
from arena.formats.blocks import Dealing
from arena.formats.tables import Table, all_tables, balanced_tables, field_of
from arena.model import Entrant, MatchSpec, Settings, UserError
from arena.schedule import ScheduleEnd, Wave, WaveResults


class RoundRobin(Format):
    adaptive = False

    def __init__(self, settings: Settings, entrants: Sequence[Entrant], deals: Deals) -> None:
        self._settings = settings
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

    def wave(self, before: Sequence[Wave], results: WaveResults) -> Wave | ScheduleEnd:  # noqa: ARG002 - the contract's
        return ScheduleEnd() if before else self._all

    def find(self, pairing: str, deal: int, rotation: int) -> tuple[int, MatchSpec] | None:
        return self._dealing.find(pairing, deal, rotation, most=self._settings.deals)
