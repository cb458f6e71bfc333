"""Test vectors for DEALS.md."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec
from makers.conversation import SECRET
from makers.schemas import pretty

from arena.deals import Deals, commitment, fingerprint, shuffled, with_beacon
from arena.games.four_card_golf import GAME as FOUR_CARD_GOLF
from arena.games.play_nine import GAME as PLAY_NINE
from arena.model import Entrant, Settings, match_id, pairing_id

# Spelled and sorted otherwise by a language that has habits of its own.
STRANGE = ('q"\\/', "a b", "\b\f\n\r\t\x01\x7f\u2028", "\uffe1", "\U0001f3cc")


def vectors() -> Iterator[tuple[str, str]]:
    """Test vectors for DEALS.md."""
    deals = Deals(SECRET)
    pairing, match = "0123456789ab", "0123456789ab-000003-1"
    entrants = ("ada@1", "bob@2", "cy@3")
    decks = []
    for game, seats in ((PLAY_NINE, 2), (FOUR_CARD_GOLF, 2), (FOUR_CARD_GOLF, 5)):
        for hole in (1, 2):
            deck = deals.deck(pairing, 3, hole, game.pack(seats))
            rest = sorted(deck.cards[:20])
            decks.append(
                {
                    "game": game.name,
                    "seats": seats,
                    "pairing": pairing,
                    "deal": 3,
                    "hole": hole,
                    "cards": list(deck.cards),
                    "reshuffle": {"number": 1, "of": rest, "cards": list(deck.reshuffle(1, rest))},
                }
            )
    settings = Settings(game="play-nine", seats=3)
    contestants = [
        Entrant(id=entrant, name=entrant, version="1", hash=f"{i:064x}")
        for i, entrant in enumerate(entrants)
    ]
    turn_ids = deals.turn_ids(match)
    series = [match_id(pairing, deal, deal % 2) for deal in range(6)]
    yield (
        "vectors/deals.json",
        pretty(
            {
                "seed": "protocol",
                "secret": SECRET.hex(),
                "shuffled": {"key": "00", "items": 10, "order": shuffled(b"\0", range(10))},
                "decks": decks,
                "fingerprint": fingerprint([d["cards"] for d in decks[:2]]),
                "circle": {
                    "pairing": pairing,
                    "deal": 3,
                    "entrants": entrants,
                    "order": deals.circle(pairing, 3, entrants),
                },
                "rotations": {
                    "pairing": pairing,
                    "deal": 3,
                    "seats": 3,
                    "order": deals.rotations(pairing, 3, 3),
                },
                "beacon": {
                    "value": "drand round 4182001: 9f…",
                    "instead": with_beacon(SECRET, "drand round 4182001: 9f…").hex(),
                },
                "pairing": {"entrants": STRANGE, "id": pairing_id(STRANGE)},
                "series": {"matches": series, "played": sorted(series, key=deals.place)},
                "match": match,
                "seeds": [deals.seed(match, seat) for seat in range(3)],
                "name": deals.opaque(match),
                "turn_ids": [turn_ids(n) for n in (1, 2, 3, 300)],
                "commitment": {
                    "settings": json.loads(msgspec.json.encode(settings)),
                    "entrants": [[e.id, e.author, e.hash] for e in contestants],
                    "value": commitment(SECRET, settings, contestants),
                },
            }
        ),
    )
