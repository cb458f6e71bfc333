"""Faults: what strikes, where, and when. A seed draws a list of them.

A fault strikes at the `at`-th thing that happens at its place, counted from the last fault at that
place, so a list stays meaningful when others are left out of it.
"""

import errno
import math
import os
import random
from dataclasses import dataclass

from tests.simulator import bots, damage
from tests.simulator.looks import LOOKS
from tests.simulator.wrong import WRONG

# What a command may be given, in one life.
ASKS = ("page", "no pin", "no jobs", "sandbox", "another sandbox", "another cache")
# Signals that a person or a service sends.
SIGINT, SIGTERM, SIGUSR1 = 2, 15, 10


@dataclass(frozen=True)
class Fault:
    kind: str
    place: str
    """What is counted."""
    at: int
    how: str = ""

    def __str__(self) -> str:
        return f"{self.kind}({self.how}) at {self.place} {self.at}".replace("()", "")


class Kind:
    def __init__(self, kind, places, most, hows=("",), weight=1) -> None:
        self.kind, self.places, self.most, self.hows, self.weight = kind, places, most, hows, weight


_CUTS = ("none", "all", "first", "any")
EVERYWHERE = (
    Kind("kill parent", ("disk",), 120, weight=2),
    Kind("kill parent", ("tick",), 60, weight=2),
    Kind("power cut", ("disk", "sync", "write", "rename"), 120, _CUTS, weight=4),
    Kind("power cut", ("tick",), 60, _CUTS, weight=2),
    Kind("kill parent", ("conclusion",), 50),
    Kind("power cut", ("conclusion",), 50, _CUTS, weight=2),
    Kind("disk error", ("conclusion",), 50, ("ENOSPC 1", "EIO 1")),
    Kind("stop", ("tick",), 60, ("int", "int int", "term", "usr1"), weight=3),
    Kind("rot", ("life",), 3, ("matches.jsonl", "matches.index")),
    Kind("damage", ("life",), 4, damage.KINDS, weight=2),
    Kind("sandbox", ("life",), 3, (*bots.BROKEN, "no room")),
    Kind("no start", ("bot start",), 12, ("", "Ctrl-C")),
    Kind("time", ("life",), 3, ("0.5", "4")),
    Kind("disk error", ("write",), 400, ("ENOSPC 1", "ENOSPC 6", "EIO 1", "EDQUOT 2"), weight=2),
    Kind("disk error", ("sync", "sync folder", "rename"), 30, ("EIO 1", "ENOSPC 1"), weight=2),
    Kind("disk error", ("open",), 60, ("EMFILE 1", "EMFILE 4", "ENFILE 2", "EACCES 1")),
    Kind("no thread", ("thread",), 3),
    Kind("clock jumps", ("tick",), 60, ("-86400", "3600")),
    Kind("slow disk", ("sync",), 40, ("3", "40")),
    Kind("stall", ("tick",), 60, ("5", "400")),
)
LOCAL = (
    Kind("kill worker", ("match",), 150, weight=4),
    Kind("kill worker", ("line", "start"), 100, weight=2),
    Kind("no process", ("spawn",), 6, ("EAGAIN 1", "ENOMEM 3", "EMFILE life"), weight=2),
    Kind("spawner", ("open pipes",), 8, ("1", "5")),
    Kind("spawner", ("match",), 150, ("1", "3"), weight=2),
    Kind("slow worker", ("match",), 100, ("30", "0.2")),
    Kind("late pipe", ("line",), 100, ("0.3", "4")),
)
CLUSTER = (
    Kind("kill worker", ("match",), 150, weight=2),
    Kind("spawner", ("match",), 150, ("1", "3")),
    Kind("no process", ("spawn",), 6, ("EAGAIN 1",)),
    Kind("kill node", ("match", "task"), 100, ("again", "gone"), weight=4),
    Kind("part node", ("task",), 40, ("3", "20"), weight=2),
    Kind("join node", ("tick",), 60, ("near", "far")),
    Kind("late task", ("task",), 40, ("8", "45", "400"), weight=2),
    Kind("late result", ("task",), 40, ("8", "45"), weight=2),
    Kind("doubled task", ("task",), 40, weight=2),
    Kind("torn result", ("task",), 40, weight=2),
    Kind("wrong result", ("task",), 40, ("nothing", "swapped", "other"), weight=2),
    Kind("failed task", ("task",), 40, ("killed", "unloaded", "odd"), weight=2),
    Kind("scheduler", ("tick", "task", "connect"), 60, ("2", "25", "100"), weight=3),
    Kind("exposed scheduler", ("life",), 3),
    Kind("busy core", ("task",), 30, ("1", "4", "12")),
    Kind("slow node", ("task",), 8, ("1", "2")),
    Kind("no trial", ("task",), 8, ("1", "2")),
    Kind("strange node", ("task",), 8, ("old", "other", "mixed", "noise"), weight=2),
    Kind("bundle", ("life",), 3, ("lost", "damaged")),
    Kind("node unfit", ("task",), 12, ("no sandbox", "no processes", "no room")),
)
# Other commands at the same folder, and a file that its owner has to restore.
PEOPLE = (
    Kind("look", ("tick",), 60, LOOKS),
    Kind("look", ("life",), 3, LOOKS),
    Kind("intrude", ("tick",), 60, ("resume", "run", "begin")),
    Kind("intrude", ("life",), 3, ("run", "begin", "add")),
    Kind("rot", ("life",), 3, ("event.json",)),
    Kind("wrong", ("life",), 3, WRONG, weight=3),
    Kind("asks", ("life",), 3, ASKS, weight=3),
)
# At the finished event.
AFTERWARDS = (
    Kind("wrong", ("over",), 1, WRONG, weight=3),
    Kind("look", ("over",), 1, LOOKS, weight=2),
    Kind("rot afterwards", ("over",), 1, ("1", "3", "40", "gone")),
)
HARMLESS = {"look", "intrude", "wrong", "asks"}
"""What is no trouble: no command may fail by it."""
# A person gives up when an event has been struck so often; so does nobody here.
MOST = 9
# In a large event more strikes, and later, at the places that are counted with its matches.
MANY, LATER = (4, 6, MOST, 12, 16), 10
_GROWS = {"tick", "disk", "sync", "write", "match", "line", "task"}


def draw(seed: int, *, cluster: bool, large: bool = False) -> tuple[Fault, ...]:
    random_ = random.Random(f"faults {seed}")
    kinds = [*EVERYWHERE, *(CLUSTER if cluster else LOCAL)]
    number = random_.choice(MANY if large else (1, 2, 2, 3, 4, 6, MOST))
    drawn = _drawn(random_, kinds, number, large=large)
    people = random.Random(f"people {seed}")
    met = _drawn(people, PEOPLE, people.choice((0, 1, 2, 4)), large=large)
    return (*drawn, *met, *_drawn(people, AFTERWARDS, people.choice((0, 1, 2))))


def _drawn(random_, kinds, number: int, *, large: bool = False) -> list[Fault]:
    drawn = []
    for kind in random_.choices(kinds, [kind.weight for kind in kinds], k=number):
        most = kind.most * LATER if large and _GROWS.issuperset(kind.places) else kind.most
        # As many early as late: half of what can go wrong is in the first and last operations.
        at = int(math.exp(random_.uniform(0, math.log(most + 1))))
        drawn.append(Fault(kind.kind, random_.choice(kind.places), at, random_.choice(kind.hows)))
    return drawn


class Faults:
    """The faults of a run, each of which strikes once."""

    def __init__(self, faults) -> None:
        self.left = list(faults)
        self.struck = []
        self.met = 0
        """Errors that operations have met."""
        self._since = {}
        self._lasting = {}
        self.short = False
        """The next write writes a part, before the one after it fails."""
        self.world = None

    @property
    def trouble(self) -> int:
        """How often something has gone wrong that may make a command fail."""
        return self.met + sum(fault.kind not in HARMLESS for fault in self.struck)

    def count(self, place: str) -> list[Fault]:
        """One more thing has happened at a place: the faults that strike now."""
        fault = next((fault for fault in self.left if fault.place == place), None)
        if fault is None:
            return []
        now = self._since[place] = self._since.get(place, 0) + 1
        if fault.at > now:
            return []
        self._since[place] = 0
        self.left.remove(fault)
        self.struck.append(fault)
        return [fault]

    def waits_for(self, place: str) -> bool:
        return any(fault.place == place for fault in self.left)

    def on_disk(self, kind: str) -> None:
        """One more operation: OSError if it fails, KilledError if it kills the process."""
        places = ("disk", kind, "conclusion") if self.world.closing else ("disk", kind)
        for place in places:
            for fault in self.count(place):
                self.world.strike(fault, kind)
        if not self.short and (error := self.error(kind)):
            raise error

    def last(self, place: str, how: str) -> None:
        """An error that the next operations there meet, too: `how` is its name and how many do.

        For `life` it is all of the command that runs.
        """
        name, times = how.split()
        self._lasting[place] = name, math.inf if times == "life" else int(times)
        self.short = place == "write" and name == "ENOSPC"

    def end_life(self) -> None:
        """Forget errors that last for the life of one command: it is over."""
        self._lasting = {place: left for place, left in self._lasting.items() if left[1] < math.inf}

    def error(self, place: str) -> OSError | None:
        """The error that an operation meets, if any."""
        name, times = self._lasting.get(place, ("", 0))
        if not times:
            return None
        self._lasting[place] = name, times - 1
        self.met += 1
        number = getattr(errno, name)
        return OSError(number, os.strerror(number))
