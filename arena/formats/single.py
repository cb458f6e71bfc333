"""Single: one match on one deal, with chosen seats. `arena play` uses it; it rates no bot.

The heroes are the entrants with chosen seats, from seat 0; the others follow in the order of ids.
Invariant: a pure function of settings and entrants.
"""

from collections.abc import Sequence

from arena.deals import Deals
from arena.formats import Format
from arena.formats.blocks import spec_of
from arena.formats.tables import field_of
from arena.model import (
    Block,
    Entrant,
    MatchSpec,
    Series,
    Settings,
    UserError,
    block_id,
    pairing_id,
    series_id,
)
from arena.schedule import wave_of


class Single(Format):
    def __init__(self, settings: Settings, entrants: Sequence[Entrant], deals: Deals) -> None:
        del deals
        field = [entrant.id for entrant in field_of(settings, entrants)]
        if len(field) != settings.seats or settings.deals != 1:
            raise UserError(
                f"one match is between as many as there are seats, on one deal: {len(field)} "
                f"entrants, {settings.seats} seats, {settings.deals} deals"
            )
        first = [entrant for entrant in settings.heroes if entrant in field]
        seats = tuple(dict.fromkeys([*first, *field]))
        pairing = pairing_id(field)
        name = block_id(pairing, 0)
        series = series_id(name, 0)
        self._spec = spec_of(pairing, 0, 0, seats, series)
        block = Block(id=name, series=(Series(id=series, matches=(self._spec,)),))
        self._all = wave_of(lambda: (block,))

    def find(self, pairing: str, deal: int, rotation: int) -> tuple[int, MatchSpec] | None:
        spec = self._spec
        mine = (pairing, deal, rotation) == (spec.pairing, spec.deal, spec.rotation)
        return (0, spec) if mine else None
