"""Show the progress of an event: a bar on a terminal, plain lines, or JSON lines for programs.

People read stderr, programs stdout. Everything shown during play is provisional; the table at the
end is not made from it.
"""

import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
import msgspec

from arena.event.commands import MERGE, command_line
from arena.event.compare import Comparison
from arena.event.prepare import Forecast
from arena.event.progress import Outcome, Progress, Start
from arena.model import Event, MatchRecord
from arena.ratings.outcomes import RatedOutcome
from arena.registry import render
from arena.reports.escape import json_line, plain, visible
from arena.reports.layout import fitting
from arena.schedule import Wave
from arena.terminal.outcome import JSON_VERSION, cut_lines, duration, forecast_lines, show_result
from arena.terminal.screen import can_draw, picked, show, warn

if TYPE_CHECKING:
    from arena.ratings.online import OnlineRatings

LINES_EVERY_S = 10.0
ROWS = 10
_UNFINISHED = "not finished; whole series are kept; go on with"


class QuietProgress(Progress):
    """Shows what has to be seen, and the results."""

    def warn(self, text: str) -> None:
        warn(text)

    def start(self, start: Start) -> None:
        super().start(start)
        if start.url:
            self.warn(f"live at {start.url}")
        if start.event.sandbox == "none":
            self.warn("warning: --sandbox none: the bots can do whatever you can do")

    def result(self, outcome: Outcome) -> None:
        show_result(outcome, self.say)

    def finish(self, outcome: Outcome) -> None:
        for _, line in sorted(self.first_faults.items()):
            self.say(line)
        if self.first_faults:
            self.say(f"all faults: {command_line('log', outcome.folder)} --faults")
        _tell_lost(self, outcome)
        if outcome.resume:
            self.warn(f"{_UNFINISHED}: {outcome.resume}")

    def status(self) -> str:
        seconds = self.seconds_left()
        left = "?" if seconds is None else duration(seconds)
        planned = self.planned + self.more
        share = 100 * self.done // max(1, planned)
        about = "about " if self.more else ""
        faults = f", {self.faults} with faults" if self.faults else ""
        return (
            f"{self.done}/{about}{planned} matches ({share} %), "
            f"{self.rate():.1f}/s, {left} left{faults}"
        )


def _tell_lost(display: Progress, outcome: Outcome) -> None:
    for entrant, times, voids in outcome.suspects:  # of most void series
        display.say(f"{entrant} was at the table in {times} of {voids} void series")
    for line in cut_lines(outcome):
        display.note(line)


class LineProgress(QuietProgress):
    """Plain lines on stderr, where there is no terminal to draw on."""

    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._out: TextIO | None = out
        self._said = time.monotonic()
        self._void: dict[str, list[str]] = {}
        """Series that are void, by the reason, and have not been reported yet."""

    def say(self, text: str) -> None:
        warn(text)

    def start(self, start: Start) -> None:
        planned, left = start.planned, start.planned - start.done
        kept = f"{start.done:,} of {planned:,} matches kept, " if start.done else ""
        to_play = f"{left:,} to play" if kept else f"{left:,} matches to play"
        self.note(f"{len(start.event.entrants)} bots, {kept}{to_play}, results in {start.folder}")
        self.note(f"commitment {start.event.commitment}")
        super().start(start)

    def tick(self) -> None:
        self._report_void()
        now = time.monotonic()
        if now - self._said >= LINES_EVERY_S:
            self._said = now
            self.note(self.status())

    def wave(self, wave: Wave) -> None:
        super().wave(wave)
        if self._marks:
            self.note(f"{wave.matches} more matches; {wave.note}")

    def trouble(self, series: str, message: str) -> None:
        self._void.setdefault(message, []).append(series)

    def end(self) -> None:
        self._report_void()

    def _report_void(self) -> None:
        void, self._void = self._void, {}
        for message, series in void.items():
            what = f"series {series[0]} is" if len(series) == 1 else f"{len(series)} series are"
            self.note(f"{what} void and will be played again: {message}")

    def note(self, text: str) -> None:
        self._write(visible(text) + "\n")

    def _write(self, text: str) -> None:
        """Write, until the terminal is gone: an event does not end with its display."""
        if self._out is not None:
            try:
                self._out.write(text)
                self._out.flush()
            except OSError:
                self._out = None


class BarProgress(LineProgress):
    """A bar, the open question and a provisional ranking, redrawn in place on a terminal."""

    def __init__(self, out: TextIO) -> None:
        super().__init__(out)
        self._live: OnlineRatings | None = None
        self._drawn = 0

    def open_event(self, event: Event, folder: Path) -> None:
        # Loaded here: it is the only display that rates, and the package takes a while to load.
        from arena.ratings.online import OnlineRatings

        super().open_event(event, folder)
        self._live = OnlineRatings(event.settings.rating)

    def wave(self, wave: Wave) -> None:
        Progress.wave(self, wave)

    def rated(self, rated: RatedOutcome) -> None:
        if self._live is not None:
            self._live.update(rated)

    def tick(self) -> None:
        self._report_void()
        columns, rows = _size(self._out)
        what = [fitting(f"  {visible(self.open)}", columns - 1)] if self.open else []
        lines = [self._bar(columns), *what]
        lines += self._ranking(columns, max(0, min(ROWS, rows - 3 - len(lines))))
        self._redraw("".join(f"{line}\n" for line in lines), len(lines))

    def end(self) -> None:
        super().end()
        self._redraw("")

    def note(self, text: str) -> None:
        self._redraw(visible(text) + "\n")

    def _redraw(self, text: str, drawn: int = 0) -> None:
        # The carriage return first: a terminal that echoes ^C has moved the cursor.
        erasure = f"\r\x1b[{self._drawn}A\x1b[J" if self._drawn else ""
        self._drawn = drawn
        self._write(erasure + text)

    def _bar(self, columns: int) -> str:
        status = self.status()
        width = min(24, columns - len(status) - 4)
        if width < 5:
            return status[: columns - 1]
        filled = width * self.done // max(1, self.planned + self.more)
        return f"[{'#' * filled}{'.' * (width - filled)}] {status}"

    def _ranking(self, columns: int, rows: int) -> list[str]:
        ranking = self._live.ranking() if self._live else None
        if not ranking or rows < 3:
            return []
        lines = ["  so far (provisional)"]
        for place, (entrant, mu, sigma) in enumerate(ranking[: rows - 1], 1):
            text = f"{place:>4}  {mu:6.2f} ± {2 * sigma:4.2f}  {plain(entrant)}"
            lines.append(fitting(text, columns - 1))
        if len(ranking) > rows - 1:
            lines.append(f"      … and {len(ranking) - rows + 1} more")
        return lines


class JsonProgress(Progress):
    """Versioned JSON lines on stdout, one an event; nothing else is printed there."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__()
        self._quiet = quiet
        self._encode = msgspec.json.Encoder().encode

    def emit(self, event: str, **fields: Any) -> None:  # noqa: ANN401 - anything that encodes
        line = self._encode({"v": JSON_VERSION, "event": event, **fields})
        sys.stdout.buffer.write(json_line(line) + b"\n")
        sys.stdout.buffer.flush()

    def say(self, text: str) -> None:
        if not self._quiet:
            warn(text)

    def warn(self, text: str) -> None:
        warn(text)

    def start(self, start: Start) -> None:
        super().start(start)
        event = start.event
        self.emit(
            "start",
            folder=str(start.folder),
            **picked(event, "commitment predictable"),
            bots=[entrant.id for entrant in event.entrants],
            **picked(start, "planned done"),
            sandbox=event.sandbox,
        )
        if start.url:
            self.emit("live", url=start.url)

    def result(self, outcome: Outcome) -> None:
        if outcome.table is None:
            shard, folder = outcome.event.shard, str(outcome.folder)
            self.emit("shard", shard=shard, folder=folder, command=MERGE)
            return
        self.emit("table", table=msgspec.json.decode(render(outcome.table, "json")))
        self.emit("end", finished=outcome.event.finished, done=self.done)

    def finish(self, outcome: Outcome) -> None:
        _tell_lost(self, outcome)
        if outcome.resume:
            try:
                self.emit("resume", command=outcome.resume)
            except OSError:  # the reader of our lines is gone: say it on stderr
                self.warn(f"{_UNFINISHED}: {outcome.resume}")

    def match(self, record: MatchRecord) -> None:
        super().match(record)
        self.emit(
            "match",
            **picked(record, "id seats totals places"),
            faults=[
                {"bot": record.seats[fault.seat], **picked(fault, "kind message")}
                for fault in record.faults
            ],
            digest=record.digest,
            **picked(self, "done planned"),
        )

    def wave(self, wave: Wave) -> None:
        super().wave(wave)
        if self._marks:
            self.emit(
                "wave", matches=wave.matches, planned=self.planned, likely=wave.more, open=wave.note
            )

    def trouble(self, series: str, message: str) -> None:
        self.emit("void", series=series, reason=message)

    def note(self, text: str) -> None:
        self.emit("note", text=text)


def progress(*, as_json: bool, quiet: bool) -> Progress:
    if as_json:
        return JsonProgress(quiet=quiet)
    if quiet:
        return QuietProgress()
    if can_draw(sys.stderr):
        return BarProgress(sys.stderr)
    return LineProgress(sys.stderr)


def show_forecast(forecast: Forecast, display: Progress) -> None:
    if isinstance(display, JsonProgress):
        display.emit(
            "dry-run",
            bots=[entrant.id for entrant in forecast.event.entrants],
            tables=forecast.tables,
            planned=forecast.matches,
            seconds=round(forecast.seconds, 1),
        )
        return
    show(forecast_lines(forecast))


def show_same(found: Comparison, display: Progress) -> None:
    old, new = found.old, found.new
    if isinstance(display, JsonProgress):
        display.emit("same", old=old.id, new=new.id, hash=new.hash)
    else:
        click.echo(f"{plain(new.id)} against {plain(old.id)}: the same content, nothing played")


def _size(out: TextIO | None) -> tuple[int, int]:
    """Columns and rows of the terminal that is drawn on, which need not be stdout's."""
    try:
        assert out is not None
        return os.get_terminal_size(out.fileno())
    except (OSError, AssertionError, AttributeError):
        return shutil.get_terminal_size()
