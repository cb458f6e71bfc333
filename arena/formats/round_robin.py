"""Round robin: every table of the field meets on its own deals, in all seat rotations.

Tables are all subsets of the field with the event's number of seats or, with `tables`, a
seeded design that is balanced in how often any two bots meet. Each table's deals are cut into
blocks of at most `series` deals; a block has one series for each rotation, and which rotation
of a deal is played in which series is drawn, so that no bot can know.

The order of specs is: chunk of deals, then table, then series, then deal. So an event that is
stopped early has played every table about equally often.

Invariant: a pure function of settings, entrants and secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.deals import Deals
from arena.formats.tables import all_tables, balanced_tables
from arena.model import (
    Block,
    Entrant,
    MatchSpec,
    Series,
    Settings,
    UserError,
    match_id,
    pairing_id,
)


class RoundRobin:
    """See the module's docstring. `wave(0)` is everything; there is no other."""

    name = "round-robin"

    def __init__(self, settings: Settings, entrants: Sequence[Entrant], deals: Deals) -> None:
        self._settings = settings
        self._deals = deals
        if len(entrants) < settings.seats:
            fewer = " or use fewer --seats" if settings.seats > 2 else ""
            raise UserError(
                f"{settings.seats} seats need at least {settings.seats} bots, "
                f"but {len(entrants)} can play; name more bots{fewer}"
            )
        field = sorted(entrants, key=lambda entrant: entrant.id)
        if settings.tables is None:
            self.tables = all_tables(settings, field)
        else:
            self.tables = balanced_tables(settings, field, deals)
        if not self.tables:
            raise UserError(
                f"no table can be seated with --no-same-author: any {settings.seats} of these bots "
                "have an author in common"
            )

    @property
    def planned(self) -> int:
        """Matches in all."""
        return len(self.tables) * self._settings.deals * self._settings.seats

    def planned_for(self) -> dict[str, int]:
        """Matches by entrant."""
        each = self._settings.deals * self._settings.seats
        planned: dict[str, int] = {}
        for table in self.tables:
            for entrant in table:
                planned[entrant] = planned.get(entrant, 0) + each
        return planned

    def wave(self, number: int) -> Iterator[Block]:
        """The blocks of a wave, in the order of the specs; none when the event is over."""
        if number > 0:
            return
        pairings = sorted((pairing_id(table), table) for table in self.tables)
        for first in range(0, self._settings.deals, self._settings.series):
            last = min(first + self._settings.series, self._settings.deals)
            for pairing, table in pairings:
                yield self._block(pairing, table, range(first, last))

    def _block(self, pairing: str, table: tuple[str, ...], deals: range) -> Block:
        seats = len(table)
        block = f"{pairing}-{deals.start:06d}"
        matches: list[list[MatchSpec]] = [[] for _ in range(seats)]
        for deal in deals:
            circle = self._deals.circle(pairing, deal, table)
            rotations = self._deals.rotations(pairing, deal, seats)
            for place, rotation in enumerate(rotations):
                spec = MatchSpec(
                    id=match_id(pairing, deal, rotation),
                    series=f"{block}-s{place}",
                    pairing=pairing,
                    deal=deal,
                    rotation=rotation,
                    seats=tuple(circle[(seat + rotation) % seats] for seat in range(seats)),
                )
                matches[place].append(spec)
        return Block(
            id=block,
            series=tuple(
                Series(id=f"{block}-s{place}", matches=tuple(specs))
                for place, specs in enumerate(matches)
            ),
        )
