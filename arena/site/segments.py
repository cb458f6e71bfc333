"""Encode matches as files that a browser loads on demand: segments, lists, and their index.

    m/index.js     the bots' names, how many files each list has, the first match of each segment
    m/sN.js        segment N: some matches move by move, in the order of their ids
    m/bI-K.js      list of bot I, file K: its matches, a line each

Each is a script that calls one function with the file's name and base64 of gzip of JSON: scripts
are all that a page opened from a folder may load, and gzip is what browsers inflate.

A match in a segment is `MatchSteps` without what the event's pages say already, without its deck,
and, if it has no faults, without turns, which only say where faults are.

Pure. Invariant: the same matches give the same bytes; a reader needs no rules.
"""

import base64
import gzip
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from arena.model import MatchRecord
from arena.replay.steps import MatchSteps
from arena.site.clearance import Clearance

A_SEGMENT = 40
"""Matches in a segment: some 150 KB to load for one of them, and 2,500 files for 100,000."""
LEVEL = 7  # of gzip: 9 takes 2.5 times as long, a quarter of a publication, to save 7 %
A_LIST = 1_000  # matches in a file of a list: some 30 KB

_encode = msgspec.json.Encoder().encode


def script(name: str, content: object) -> bytes:
    packed = base64.b64encode(gzip.compress(_encode(content), LEVEL, mtime=0))
    return b'arenaData("%s","%s");\n' % (name.encode(), packed)


def unscript(data: bytes) -> Any:  # noqa: ANN401 - whatever was put in
    return msgspec.json.decode(gzip.decompress(base64.b64decode(data.split(b'"')[3])))


def match(steps: MatchSteps, names: Mapping[str, int], clearing: Clearance) -> dict[str, Any]:
    """A match in a segment. `names`: entrants -> places."""
    holes = []
    for hole in steps.holes:
        shown = msgspec.to_builtins(hole)
        del shown["deck"]
        if not steps.faults:
            for step in shown["steps"]:
                del step["turn"]
        holes.append(shown)
    return {
        "id": clearing.match(steps.id),
        "deal": steps.deal,
        "rotation": steps.rotation,
        "seats": [names[entrant.id] for entrant in steps.seats],
        "totals": steps.totals,
        "places": steps.places,
        "ledger": bool(steps.settings.evaluator),
        "faults": [
            {
                "seat": fault.seat,
                **msgspec.to_builtins(clearing.failing(steps.id, fault, over=True)),
            }
            for fault in steps.faults
        ],
        "holes": holes,
    }


def line(
    record: MatchRecord, names: Mapping[str, int], clearing: Clearance, *, counts: bool = True
) -> list[Any]:
    """In a list: id, seats, strokes, places, (seat, kind) of faults; 1 if it doesn't count."""
    told = [
        clearing.match(record.id),
        [names[seat] for seat in record.seats],
        record.totals,
        record.places,
        [[fault.seat, fault.kind.value] for fault in record.faults],
    ]
    return told if counts else [*told, 1]


class Lists:
    """The lists of all bots; holds at most one file's lines of each."""

    def __init__(self, slug: str, bots: int) -> None:
        self._slug = slug
        self._lines: list[list[list[Any]]] = [[] for _ in range(bots)]
        self.files = [0] * bots  # of each bot, how many there are by now

    def add(self, told: list[Any]) -> Iterator[tuple[str, bytes]]:
        """Add a line for each of its seats; yields the files that are full."""
        for bot in told[1]:
            self._lines[bot].append(told)
            if len(self._lines[bot]) == A_LIST:
                yield self._full(bot)

    def rest(self) -> Iterator[tuple[str, bytes]]:
        for bot, lines in enumerate(self._lines):
            if lines:
                yield self._full(bot)

    def _full(self, bot: int) -> tuple[str, bytes]:
        name = f"m/b{bot}-{self.files[bot]}"
        self.files[bot] += 1
        lines, self._lines[bot] = self._lines[bot], []
        return f"{name}.js", script(f"e/{self._slug}/{name}", lines)
