"""Decks, seatings, seeds and ids of an event, derived from one 256-bit secret. Pure.

Each use has a stream of its own: SHAKE-256 over the 32 bytes of the secret followed by an ASCII
label (protocol/DEALS.md; protocol/vectors/deals.json holds test vectors).

Invariant: a stream depends on its label alone, never on earlier calls. So play on one hole can't
alter a later deal, and the order in which matches are played changes nothing.
"""

from __future__ import annotations

import functools
import hashlib
import struct
from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import TypeVar

import msgspec

from arena.model import Entrant, Settings, canonical, sha256_hex

T = TypeVar("T")

_DOMAIN = "nine-arena/1/"
# The latest decks, since each is dealt again in the other rotations: 1,100 bytes a deck.
_DECKS_KEPT = 1024
_LETTERS = b"0123456789abcdefghjkmnpqrstvwxyz"
_TURN_LETTERS = bytes(_LETTERS[byte & 31] for byte in range(256))
_PLUS_FIVE = bytes((byte + 5) & 255 for byte in range(256))
_TURNS_AT_ONCE = 512  # a long match of two; longer ones squeeze the stream again
_NUMBERS = tuple(f"{number}-" for number in range(_TURNS_AT_ONCE))


def secret_from_seed(seed: str) -> bytes:
    """The secret of a reproducible event; such an event is labelled predictable."""
    return hashlib.sha256(f"{_DOMAIN}seed/{seed}".encode()).digest()


def with_beacon(secret: bytes, beacon: str) -> bytes:
    """The secret that deals are derived from: the event's, mixed with its beacon if it has one."""
    if not beacon:
        return secret
    return hashlib.sha256(secret + f"{_DOMAIN}beacon/{beacon}".encode()).digest()


def commitment(secret: bytes, settings: Settings | msgspec.Raw, entrants: Sequence[Entrant]) -> str:
    """Published before the first match: SHA-256 over canonical JSON. For an announced event pass
    its settings as they stand in event.json, since a later arena may encode them otherwise.
    """
    sealed = {
        "entrants": sorted([e.id, e.author, e.hash] for e in entrants),
        "secret": secret.hex(),
        "settings": settings,
    }
    return sha256_hex(canonical(sealed))


def shuffled(seed: bytes, items: Sequence[T]) -> list[T]:
    """Fisher-Yates from the end. For i = n-1 down to 1: take the next byte b of SHAKE-256 until
    b < 256 - 256 mod (i+1), then swap items i and b mod (i+1). At most 256 items.
    """
    cards = list(items)
    stream = _stream(seed, len(cards))
    for i, span, limit in _steps(len(cards)):
        for byte in stream:  # pragma: no branch - it never ends
            if byte < limit:
                j = byte % span
                cards[i], cards[j] = cards[j], cards[i]
                break
    return cards


def _stream(seed: bytes, size: int) -> Iterator[int]:
    """The endless SHAKE-256 stream; the first squeeze is enough for most shuffles of `size`."""
    once = size + 24
    shake = hashlib.shake_256(seed)
    # A longer squeeze starts with the shorter one.
    more = (shake.digest(once << n)[once << n - 1 :] for n in count(1))
    return chain(shake.digest(once), chain.from_iterable(more))


@functools.cache
def _steps(size: int) -> tuple[tuple[int, int, int], ...]:
    """(i, i + 1, the first byte to be rejected) for i from size - 1 to 1."""
    assert size <= 256, "one byte an index"
    return tuple((span - 1, span, 256 - 256 % span) for span in range(size, 1, -1))


class Deck:
    """The randomness of one hole: the shuffled pack and its later reshuffles."""

    __slots__ = ("_key", "cards")

    def __init__(self, key: bytes, pack: Sequence[int]) -> None:
        self._key = key
        self.cards: Sequence[int] = tuple(shuffled(key, pack))

    def reshuffle(self, number: int, cards: Sequence[int]) -> Sequence[int]:
        """A new order for `cards` (ascending), keyed by the hole and the reshuffle's number."""
        return shuffled(self._key + b"/%d" % number, cards)


class Deals:
    __slots__ = ("_secret", "deck")

    def __init__(self, secret: bytes) -> None:
        assert len(secret) == 32
        self._secret = secret
        self.deck = functools.lru_cache(_DECKS_KEPT)(self._deck)
        """The deck of a hole: `deck(pairing, deal, hole, pack)`; the same in every rotation."""

    def _key(self, label: str) -> bytes:
        return self._secret + (_DOMAIN + label).encode("ascii")

    def _deck(self, pairing: str, deal: int, hole: int, pack: tuple[int, ...]) -> Deck:
        return Deck(self._key(f"deck/{pairing}/{deal}/{hole}"), pack)

    def circle(self, pairing: str, deal: int, entrants: Sequence[str]) -> list[str]:
        """The cyclic order of a deal's entrants, which the rotations turn."""
        return shuffled(self._key(f"circle/{pairing}/{deal}"), sorted(entrants))

    def rotations(self, pairing: str, deal: int, seats: int) -> list[int]:
        """Which rotation of a deal is played in the first, second, … series of its block."""
        return shuffled(self._key(f"rotations/{pairing}/{deal}"), range(seats))

    def place(self, match: str) -> bytes:
        """The sort key of matches within a series, where the order is shuffled."""
        return hashlib.shake_256(self._key(f"order/{match}")).digest(8)

    def ranks(self, label: str, names: Sequence[str]) -> dict[str, bytes]:
        """A random value for each name: a schedule's tie-break."""
        return {
            name: hashlib.shake_256(self._key(f"tables/{label}/") + name.encode()).digest(8)
            for name in names
        }

    def seed(self, match: str, seat: int) -> int:
        """The random seed of a bot: 0 to 2**31 - 1."""
        stream = hashlib.shake_256(self._key(f"seed/{match}/{seat}")).digest(4)
        return int.from_bytes(stream, "big") >> 1

    def opaque(self, match: str) -> str:
        """The match id that bots see: reveals neither opponents nor deal."""
        return hashlib.shake_256(self._key(f"name/{match}")).hexdigest(8)

    def turn_ids(self, match: str) -> TurnIds:
        """Turn ids for the questions of a match, unguessable until asked."""
        return TurnIds(self._key(f"turn/{match}"))


class TurnIds:
    """`ids(n)` is the id of a match's n-th question: the number and four letters."""

    __slots__ = ("_letters", "_shake")

    def __init__(self, key: bytes) -> None:
        self._shake = hashlib.shake_256(key)
        self._letters = self._squeeze(_TURNS_AT_ONCE)

    def _squeeze(self, turns: int) -> str:
        return self._shake.digest(4 * turns).translate(_TURN_LETTERS).decode("ascii")

    def __call__(self, number: int) -> str:
        at = 4 * number
        while not (letters := self._letters[at : at + 4]):
            self._letters = self._squeeze(len(self._letters) // 2)
        return (_NUMBERS[number] if number < _TURNS_AT_ONCE else f"{number}-") + letters


def fingerprint(decks: Sequence[Sequence[int]]) -> str:
    """The digest of a match's packs, for its record: the first 16 hex digits of a SHA-256 over the
    cards of every dealt hole, each card plus 5 as one byte, holes separated by a byte 255.
    """
    # Packed as signed bytes and translated: five times as fast as adding card by card.
    data = b"\xff".join(struct.pack(f"{len(deck)}b", *deck).translate(_PLUS_FIVE) for deck in decks)
    return hashlib.sha256(data).hexdigest()[:16]
