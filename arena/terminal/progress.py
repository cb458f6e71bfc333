"""Following an event: a live display for people, plain lines, or JSON lines for programs.

People read stderr, programs stdout. Everything shown while an event is played is provisional;
the table at its end is not made from it.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import deque
from typing import Any, TextIO

import msgspec
from wcwidth import wcswidth

from arena.model import MatchRecord, RatingSettings
from arena.ratings.outcomes import RatedOutcome
from arena.reports.escape import json_line, plain, visible
from arena.reports.faults import headline
from arena.schedule import Wave

# The version of the JSON lines.
JSON_VERSION = 1
# The rate is that of the last seconds, so that the time left follows the bots that play now.
WINDOW_S = 10.0
# So there are a hundred marks in the window, however many matches.
MARK_EVERY_S = 0.1
LINES_EVERY_S = 10.0
ROWS = 10


class Progress:
    """Counts, and says nothing: the base of all displays, and `--quiet`."""

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

    def begin(self, planned: int, done: int) -> None:
        """The first match is about to be played."""
        self.planned, self.done = planned, done
        self._marks.append((time.monotonic(), done))

    def match(self, record: MatchRecord) -> None:
        """A match is finished."""
        self.done += 1
        self.faults += bool(record.faults)
        for fault in record.faults:
            self.first_faults.setdefault(record.seats[fault.seat], headline(record, fault))
        now = time.monotonic()
        if len(self._marks) > 1 and now - self._marks[-2][0] < MARK_EVERY_S:
            self._marks.pop()
        self._marks.append((now, self.done))
        while now - self._marks[0][0] > WINDOW_S and len(self._marks) > 2:
            self._marks.popleft()

    def rated(self, rated: RatedOutcome) -> None:
        """A rated event is settled."""

    def wave(self, wave: Wave) -> None:
        """So much has been decided to be played next."""
        self.open = wave.note
        if self._marks:  # else it is in the log already
            self.planned += wave.matches
            self.more = wave.more

    def trouble(self, series: str, message: str) -> None:
        """A series is void."""

    def note(self, text: str) -> None:
        """Something that people should know meanwhile."""

    def tick(self) -> None:
        """Some time has passed."""

    def end(self) -> None:
        """Play is over."""

    def rate(self) -> float:
        """Matches a second, lately."""
        if len(self._marks) < 2:
            return 0.0
        (then, before), (now, after) = self._marks[0], self._marks[-1]
        return (after - before) / (now - then) if now > then else 0.0

    def left(self) -> str:
        """The time left, for people."""
        rate = self.rate()
        if not rate:
            return "?"
        return spoken((self.planned + self.more - self.done) / rate)

    def status(self) -> str:
        """One line of it all."""
        planned = self.planned + self.more
        share = 100 * self.done // max(1, planned)
        about = "about " if self.more else ""
        faults = f", {self.faults} with faults" if self.faults else ""
        return (
            f"{self.done}/{about}{planned} matches ({share} %), "
            f"{self.rate():.1f}/s, {self.left()} left{faults}"
        )


class Lines(Progress):
    """Plain lines on stderr, where there is no terminal to draw on."""

    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._out: TextIO | None = out
        self._said = time.monotonic()
        self._void: dict[str, list[str]] = {}
        """Series that are void, by the reason, and have not been told yet."""

    def tick(self) -> None:
        """Say where we are, from time to time."""
        self._tell_void()
        now = time.monotonic()
        if now - self._said >= LINES_EVERY_S:
            self._said = now
            self.note(self.status())

    def wave(self, wave: Wave) -> None:
        """So much more is to be played, and why."""
        super().wave(wave)
        if self._marks:
            self.note(f"{wave.matches} more matches; {wave.note}")

    def trouble(self, series: str, message: str) -> None:
        """A series is void; those of one reason are told together."""
        self._void.setdefault(message, []).append(series)

    def end(self) -> None:
        """Play is over."""
        self._tell_void()

    def _tell_void(self) -> None:
        void, self._void = self._void, {}
        for message, series in void.items():
            what = f"series {series[0]} is" if len(series) == 1 else f"{len(series)} series are"
            self.note(f"{what} void and will be played again: {message}")

    def note(self, text: str) -> None:
        """A line."""
        self._write(visible(text) + "\n")

    def _write(self, text: str) -> None:
        """Write, until the terminal is gone: an event does not end with its display."""
        if self._out is not None:
            try:
                self._out.write(text)
                self._out.flush()
            except OSError:
                self._out = None


class Bar(Lines):
    """A bar, what is open, and the provisional ranking, redrawn in place on a terminal."""

    def __init__(self, rating: RatingSettings, out: TextIO) -> None:
        # Loaded here: it is the only display that rates, and the package takes a while to load.
        from arena.ratings.online import OnlineRatings

        super().__init__(out)
        self._live = OnlineRatings(rating)
        self._drawn = 0

    def wave(self, wave: Wave) -> None:
        """It is drawn, not said again and again."""
        Progress.wave(self, wave)

    def rated(self, rated: RatedOutcome) -> None:
        """A rated event is settled."""
        self._live.update(rated)

    def tick(self) -> None:
        """Draw again."""
        self._tell_void()
        columns, rows = _size(self._out)
        what = [_cut(f"  {visible(self.open)}", columns - 1)] if self.open else []
        lines = [self._bar(columns), *what]
        lines += self._ranking(columns, max(0, min(ROWS, rows - 3 - len(lines))))
        text = self._erasure() + "".join(f"{line}\n" for line in lines)
        self._drawn = len(lines)
        self._write(text)

    def end(self) -> None:
        """Leave the screen as it was."""
        super().end()
        self._write(self._erasure())
        self._drawn = 0

    def note(self, text: str) -> None:
        """A line above the display."""
        self._write(self._erasure() + visible(text) + "\n")
        self._drawn = 0

    def _erasure(self) -> str:
        # The carriage return first: a terminal that echoes ^C has moved the cursor.
        return f"\r\x1b[{self._drawn}A\x1b[J" if self._drawn else ""

    def _bar(self, columns: int) -> str:
        status = self.status()
        width = min(24, columns - len(status) - 4)
        if width < 5:
            return status[: columns - 1]
        filled = width * self.done // max(1, self.planned + self.more)
        return f"[{'#' * filled}{'.' * (width - filled)}] {status}"

    def _ranking(self, columns: int, rows: int) -> list[str]:
        ranking = self._live.ranking()
        if not ranking or rows < 3:
            return []
        lines = ["  so far (provisional)"]
        for place, (entrant, mu, sigma) in enumerate(ranking[: rows - 1], 1):
            text = f"{place:>4}  {mu:6.2f} ± {2 * sigma:4.2f}  {plain(entrant)}"
            lines.append(_cut(text, columns - 1))
        if len(ranking) > rows - 1:
            lines.append(f"      … and {len(ranking) - rows + 1} more")
        return lines


class JsonLines(Progress):
    """Versioned JSON lines on stdout, one an event; nothing else is printed there."""

    def __init__(self) -> None:
        super().__init__()
        self._encode = msgspec.json.Encoder().encode

    def say(self, event: str, **fields: Any) -> None:  # noqa: ANN401 - anything that encodes
        """One line."""
        line = self._encode({"v": JSON_VERSION, "event": event, **fields})
        sys.stdout.buffer.write(json_line(line) + b"\n")
        sys.stdout.buffer.flush()

    def match(self, record: MatchRecord) -> None:
        """A match is finished."""
        super().match(record)
        self.say(
            "match",
            id=record.id,
            seats=record.seats,
            totals=record.totals,
            places=record.places,
            faults=[
                {"bot": record.seats[fault.seat], "kind": fault.kind, "message": fault.message}
                for fault in record.faults
            ],
            digest=record.digest,
            done=self.done,
            planned=self.planned,
        )

    def wave(self, wave: Wave) -> None:
        """So much more is to be played, and why."""
        super().wave(wave)
        if self._marks:
            self.say(
                "wave", matches=wave.matches, planned=self.planned, likely=wave.more, open=wave.note
            )

    def trouble(self, series: str, message: str) -> None:
        """A series is void."""
        self.say("void", series=series, reason=message)

    def note(self, text: str) -> None:
        """Something that people should know."""
        self.say("note", text=text)


def progress(rating: RatingSettings, *, as_json: bool, quiet: bool) -> Progress:
    """The display that fits."""
    if as_json:
        return JsonLines()
    if quiet:
        return Progress()
    if sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb"):
        return Bar(rating, sys.stderr)
    return Lines(sys.stderr)


def _size(out: TextIO | None) -> tuple[int, int]:
    """Columns and rows of the terminal that is drawn on, which need not be stdout's."""
    try:
        assert out is not None
        return os.get_terminal_size(out.fileno())
    except (OSError, AssertionError, AttributeError):
        return shutil.get_terminal_size()


def _cut(text: str, columns: int) -> str:
    """What fits into so many cells; some scripts take two for a character."""
    while wcswidth(text) > columns:
        text = text[:-1]
    return text


def spoken(seconds: float) -> str:
    """A time for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
