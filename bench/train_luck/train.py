"""Makes the coefficients of the luck ledger from recorded games.

    python bench/train_luck/train.py play-nine FOLDER            # arena/luck/play_nine.json
    python bench/train_luck/train.py play-nine FOLDER --check    # compares instead of writing

FOLDER is an event's results folder; the README beside this file has the commands that play it.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from fits import Course, fit
from four import FOUR
from nine import NINE

from arena.deals import Deals, with_beacon
from arena.luck import Coefficients
from arena.model import HoleRecord, MatchRecord
from arena.registry import game
from arena.store import read_by_id, read_event

COURSES: dict[str, Course] = {"play-nine": NINE, "four-card-golf": FOUR}
VERSION = 1
ROUNDS = 3
TARGET = Path(__file__).parents[2] / "arena" / "luck"


class Played:
    """The finished holes of an event, in the order of ids."""

    def __init__(self, folder: Path, deals: int | None) -> None:
        self.event = read_event(folder)
        self._deals = Deals(with_beacon(bytes.fromhex(self.event.secret), self.event.beacon))
        self.game = game(self.event.settings.game)
        found = read_by_id(folder, lambda _: True)
        self.records = [r for r in found if not r.faults and (deals is None or r.deal < deals)]
        digests = "".join(record.digest for record in self.records)
        self.digest = hashlib.sha256(digests.encode()).hexdigest()

    def walks(self, walk: Any, tables: Any) -> Iterator[tuple[MatchRecord, HoleRecord, Any]]:
        """A walk through each hole, to be walked."""
        seats, cap = self.event.settings.seats, self.event.settings.turn_cap
        pack = self.game.pack(seats)
        for record in self.records:
            for number, hole in enumerate(record.holes[:9], 1):
                deck = self._deals.deck(record.pairing, record.deal, number, pack)
                start = self.game.start(seats=seats, order=hole.order, deck=deck, turn_cap=cap)
                yield (
                    record,
                    hole,
                    walk(start, seats=seats, order=hole.order, deck=deck, tables=tables),
                )


def written(course: Course, played: Played, theta: Any, weights: dict[str, float]) -> bytes:
    """The text of the file."""
    rows = course.rows(theta)
    coefficients = Coefficients(
        about=(
            f"Made by bench/train_luck from {len(played.records)} matches, whose digests in the "
            f"order of ids have the SHA-256 {played.digest}."
        ),
        version=VERSION,
        weights={name: round(100 * weight) for name, weight in weights.items()},
        rows=tuple(tuple(round(float(100 * value)) for value in row) for row in rows),
    )
    return msgspec.json.encode(coefficients).replace(b"],[", b"],\n[") + b"\n"


def say(text: str) -> None:
    """Progress."""
    sys.stderr.write(f"{time.process_time():6.0f} s  {text}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("game", choices=sorted(COURSES))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--deals", type=int, help="only the first so many of each pairing")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--check", action="store_true", help="compare: 1 if it differs")
    asked = parser.parse_args(arguments)
    course = COURSES[asked.game]
    played = Played(asked.folder, asked.deals)
    say(f"{len(played.records)} matches, {played.digest[:16]}")
    theta, weights = course.means(played), course.weights
    say("means")
    for number in range(asked.rounds):
        theta, weights, left = fit(course, played, theta, weights)
        say(f"round {number + 1}: {left}; {weights}")
    text = written(course, played, theta, weights)
    output = asked.output or TARGET / course.name
    if asked.check:
        same = output.read_bytes() == text
        sys.stdout.write(f"{output}: {'the same' if same else 'differs'}\n")
        return 0 if same else 1
    output.write_bytes(text)
    return 0


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    sys.exit(main())
