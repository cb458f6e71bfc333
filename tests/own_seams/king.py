"""King: one entrant meets all others, on a part of the deals. A format of a test's own."""

from arena.deals import Deals
from arena.formats import options_of
from arena.formats.round_robin import RoundRobin
from arena.formats.tables import all_tables
from arena.model import Entrant, Frozen, Settings, UserError


class KingOptions(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    king: str
    share: float = 1.0


class King(RoundRobin):
    Options = KingOptions

    def __init__(self, settings: Settings, entrants: list[Entrant], deals: Deals) -> None:
        self.options = options_of(settings, KingOptions)
        super().__init__(settings, entrants, deals)

    def _tables(self, field, deals):
        if self.options.king not in {entrant.name for entrant in field}:
            raise UserError(f"the king {self.options.king} is not among the bots")
        tables = all_tables(self._settings, field)
        return [t for t in tables if any(i.startswith(f"{self.options.king}@") for i in t)]
