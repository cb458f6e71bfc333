"""Cut the deals of tables into blocks of series: all formats share this.

A table's deals are cut into chunks of one series each, counted from the table's first deal; the
first chunk may be shorter than the others, as the warm-up of a race is. A block has one series for
each rotation of a chunk. Which rotation of a deal is played in which series is drawn by lot, and so
is the order in which a series plays its deals (without `deal_order`: by number), so that a place in
the series doesn't tell which deal of an earlier series comes again. Specs in a wave are ordered by
chunk, table, series, place in the series: a wave that is stopped early has played every table about
equally often.

Invariant: a pure function of settings, tables and secret; where a deal's chunk begins depends on
nothing but the deal.
"""

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from arena.deals import Deals
from arena.formats.tables import Table
from arena.model import (
    SHUFFLED,
    Block,
    MatchSpec,
    Series,
    Settings,
    UserError,
    block_id,
    match_id,
    pairing_id,
    series_id,
)
from arena.schedule import Wave

MOST_MATCHES = 5_000_000  # a walk along so many takes a minute; an event.json may state any number


class Dealing:
    def __init__(
        self,
        settings: Settings,
        tables: Iterable[Table],
        deals: Deals,
        *,
        chunk: int | None = None,
        first: int | None = None,
    ) -> None:
        self.chunk = chunk or min(settings.series, settings.deals)
        """Deals of a chunk; only the first and the last may have fewer."""
        self._first = first or self.chunk
        self.seats = settings.seats
        self.pairings: Mapping[str, Table] = dict(
            sorted((pairing_id(table), table) for table in tables)
        )
        """The tables by pairing, in the order of pairings."""
        self._deals = deals
        self._shuffled = settings.deal_order == SHUFFLED
        # Called once for each match of a series.
        self._in_series = functools.lru_cache(64)(self._played)

    def wave(self, deals: Mapping[str, range], *, more: int = 0, note: str = "") -> Wave:
        """A wave of these deals, whole chunks but for a table's last, or `find` would be wrong."""
        for some in deals.values():
            if some.start != self._begin(some.start):
                raise ValueError(f"deals from {some.start} on begin within a chunk of {self.chunk}")
        matches = self.seats * sum(map(len, deals.values()))
        if matches > MOST_MATCHES:
            raise UserError(
                f"{matches:,} matches are more than {MOST_MATCHES:,}; "
                "choose fewer --deals or --tables"
            )
        by_entrant: dict[str, int] = {}
        for pairing, some in deals.items():
            for entrant in self.pairings[pairing]:
                by_entrant[entrant] = by_entrant.get(entrant, 0) + self.seats * len(some)
        return Wave(
            blocks=functools.partial(self._blocks, deals),
            matches=matches,
            by_entrant=by_entrant,
            deals=deals,
            more=more,
            note=note,
        )

    def find(
        self, pairing: str, deal: int, rotation: int, *, most: int
    ) -> tuple[int, MatchSpec] | None:
        """See `Format.find`; `most`: deals of a pairing."""
        table = self.pairings.get(pairing)
        if table is None or not 0 <= deal < most or not 0 <= rotation < self.seats:
            return None
        deals = self._chunk(self._begin(deal), most)
        place = self._deals.rotations(pairing, deal, self.seats).index(rotation)
        before = deals.start * self.seats * len(self.pairings)
        before += (self._places[pairing] * self.seats + place) * len(deals)
        before += self._in_series(pairing, deals, place).index(deal)
        circle = self._deals.circle(pairing, deal, table)
        series = series_id(block_id(pairing, deals.start), place)
        return before, spec_of(pairing, deal, rotation, circle, series)

    def _played(self, pairing: str, deals: range, place: int) -> Sequence[int]:
        """The deals of a block in the order in which its series at `place` plays them."""
        if not self._shuffled:
            return deals

        def drawn(deal: int) -> bytes:
            rotation = self._deals.rotations(pairing, deal, self.seats)[place]
            return self._deals.place(match_id(pairing, deal, rotation))

        return sorted(deals, key=drawn)

    @functools.cached_property
    def _places(self) -> dict[str, int]:
        return {pairing: place for place, pairing in enumerate(self.pairings)}

    def _begin(self, deal: int) -> int:
        """The first deal of its chunk."""
        return deal - (deal - self._first) % self.chunk if deal >= self._first else 0

    def _chunk(self, begin: int, stop: int) -> range:
        return range(begin, min(begin + self.chunk if begin else self._first, stop))

    def chunks(self, deals: range) -> Iterator[range]:
        while deals:
            chunk = self._chunk(deals.start, deals.stop)
            yield chunk
            deals = deals[len(chunk) :]

    def _blocks(self, deals: Mapping[str, range]) -> Iterator[Block]:
        for row in itertools.zip_longest(*map(self.chunks, deals.values())):
            for pairing, chunk in zip(deals, row, strict=True):
                if chunk:
                    yield self._block(pairing, chunk)

    def _block(self, pairing: str, deals: range) -> Block:
        table, seats = self.pairings[pairing], self.seats
        block = block_id(pairing, deals.start)
        ids = [series_id(block, place) for place in range(seats)]
        matches: list[list[MatchSpec]] = [[] for _ in range(seats)]
        for deal in deals:
            circle = self._deals.circle(pairing, deal, table)
            for place, rotation in enumerate(self._deals.rotations(pairing, deal, seats)):
                matches[place].append(spec_of(pairing, deal, rotation, circle, ids[place]))
        if self._shuffled:
            for specs in matches:
                specs.sort(key=lambda spec: self._deals.place(spec.id))
        return Block(
            id=block,
            series=tuple(
                Series(id=series, matches=tuple(specs))
                for series, specs in zip(ids, matches, strict=True)
            ),
        )


def spec_of(
    pairing: str, deal: int, rotation: int, circle: Sequence[str], series: str
) -> MatchSpec:
    seats = len(circle)
    return MatchSpec(
        id=match_id(pairing, deal, rotation),
        series=series,
        pairing=pairing,
        deal=deal,
        rotation=rotation,
        seats=tuple(circle[(seat + rotation) % seats] for seat in range(seats)),
    )
