"""What is to be played: matches, series of matches, blocks of series."""

from __future__ import annotations

from collections.abc import Iterable

from arena.model.fields import Frozen, canonical, sha256_hex


class MatchSpec(Frozen, frozen=True, kw_only=True):
    """One match to be played. `seats[s]` is the id of the entrant in seat s."""

    id: str
    series: str
    pairing: str
    deal: int
    rotation: int
    seats: tuple[str, ...]


class Series(Frozen, frozen=True, kw_only=True):
    """Matches on different deals that one set of processes plays; the unit of determinism."""

    id: str
    matches: tuple[MatchSpec, ...]

    @property
    def entrants(self) -> tuple[str, ...]:
        """The ids of its bots, in the order of seats of its first match."""
        return self.matches[0].seats


class Block(Frozen, frozen=True, kw_only=True):
    """The series that share deals, one for each rotation; played one after another, never
    at the same time; the unit of distribution.
    """

    id: str
    series: tuple[Series, ...]


def pairing_id(entrants: Iterable[str]) -> str:
    """Name a set of entrants by what they are, never by their position in a list."""
    return sha256_hex(canonical(sorted(entrants)))[:12]


def match_id(pairing: str, deal: int, rotation: int) -> str:
    """Ids sort in the order of pairing, deal, rotation."""
    return f"{pairing}-{deal:06d}-{rotation}"
