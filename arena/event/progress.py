"""Progress of an event that is played: the calls that its display, or a script, receives.

`Progress` counts and shows nothing. A display overrides what it shows and calls `super()`. The
calls come from the thread that plays the event, in this order: `open_event` before the log is read,
`start` before the first match, then matches, waves and notes as they come and a `tick` five times
a second, `end` when play has stopped, `result` when the tables are written, `finish` at the very
end, also when play ends by an error.
"""

from collections import deque
from collections.abc import Callable
from pathlib import Path

from arena.model import Event, Frozen, MatchRecord, Table
from arena.ratings.outcomes import RatedOutcome
from arena.reports.faults import headline
from arena.schedule import Wave
from arena.system import clock

WINDOW_S = 10.0  # of the rate, so that the time left follows the bots that play now
MARK_EVERY_S = 0.1  # so there are a hundred marks in the window, however many matches


class Start(Frozen, frozen=True, kw_only=True):
    """An event just before its first match."""

    event: Event
    folder: Path
    planned: int
    """Matches of the schedule, as far as it is decided."""
    done: int
    """Matches that are in the log already."""
    url: str = ""
    """Where it can be watched; empty: nowhere."""


class Outcome(Frozen, frozen=True, kw_only=True):
    """How playing an event has ended."""

    folder: Path
    event: Event
    complete: bool = False
    """Whether everything is played. Of a shard: all of its part."""
    table: Table | None = None
    """Of an epoch that of the whole event. None: a complete shard, whose event has no table before
    it is merged."""
    signal: int = 0
    """The signal that has stopped it; 0: none."""
    resume: str = ""
    """The command that plays what is left; empty if nothing is."""
    cut: tuple[int, int] = (0, 0)
    """Series that were cut short after a match or more, and the matches of these."""
    series: int = 0
    """Series that were played to their end."""
    suspects: tuple[tuple[str, int, int], ...] = ()
    """(entrant, its void series, all void series) of bots that most void series have in common."""


class Progress:
    """See the module's docstring; a script may use it as it is, or override some calls."""

    def __init__(self) -> None:
        self.planned = 0
        self.more = 0
        """Matches that are likely to be decided on later."""
        self.open = ""
        """What is being played for."""
        self.done = 0
        self.faults = 0
        self.first_faults: dict[str, str] = {}
        """The first fault of each bot, as a line."""
        self._marks: deque[tuple[float, int]] = deque()
        self._stop: Callable[[bool], None] | None = None
        self._stopped: bool | None = None
        """Whether it was asked to stop at once; None: it wasn't asked to stop."""

    def note(self, text: str) -> None:
        """A line about what happens while the event is played."""

    def say(self, text: str) -> None:
        """A line before or after play."""
        self.note(text)

    def warn(self, text: str) -> None:
        """A line that has to be seen, however quiet the display."""
        self.say(text)

    def open_event(self, event: Event, folder: Path) -> None:  # noqa: ARG002 - for displays
        """The event is known; matches in its log are passed to `rated` next."""
        self._marks.clear()  # a tuning has several events
        self.more = 0

    def start(self, start: Start) -> None:
        self.planned, self.done = start.planned, start.done
        self._marks.append((clock.monotonic(), start.done))

    def match(self, record: MatchRecord) -> None:
        self.done += 1
        self.faults += bool(record.faults)
        for fault in record.faults:
            self.first_faults.setdefault(record.seats[fault.seat], headline(record, fault))
        now = clock.monotonic()
        if len(self._marks) > 1 and now - self._marks[-2][0] < MARK_EVERY_S:
            self._marks.pop()
        self._marks.append((now, self.done))
        while now - self._marks[0][0] > WINDOW_S and len(self._marks) > 2:
            self._marks.popleft()

    def rated(self, rated: RatedOutcome) -> None:
        """All rotations of a deal are played and count."""

    def wave(self, wave: Wave) -> None:
        self.open = wave.note
        if self._marks:  # else it is in the log already
            self.planned += wave.matches
            self.more = wave.more

    def trouble(self, series: str, message: str) -> None:
        """A series is void by the machine's trouble, and is played again."""

    def tick(self) -> None:
        """Some time has passed."""

    def end(self) -> None:
        """Play has stopped. Called again if what follows fails."""

    def result(self, outcome: Outcome) -> None:
        """The results so far are written."""

    def finish(self, outcome: Outcome) -> None:
        """Called last, also after an error."""

    def stop(self, *, at_once: bool = False) -> None:
        """Stop the event after the series in play, or at once; from any thread."""
        self._stopped = at_once or bool(self._stopped)
        if self._stop is not None:
            self._stop(self._stopped)

    @property
    def stopping(self) -> bool:
        return self._stopped is not None

    def attach(self, stop: Callable[[bool], None] | None) -> None:
        """Set the function that `stop` calls while the event is played."""
        self._stop = stop
        if stop is not None and self._stopped is not None:
            stop(self._stopped)

    def rate(self) -> float:
        """Matches a second, lately."""
        if len(self._marks) < 2:
            return 0.0
        (then, before), (now, after) = self._marks[0], self._marks[-1]
        return (after - before) / (now - then) if now > then else 0.0

    def seconds_left(self) -> float | None:
        """Seconds until the end at this rate; None: not known yet."""
        rate = self.rate()
        return (self.planned + self.more - self.done) / rate if rate else None
