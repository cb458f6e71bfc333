"""Listening in on the pipes to the bots: every byte in both directions, as it passes.

`TappedPipes` is a table that tells a `Tap` of what is said; `Recorder` is the tap that keeps it, a
transcript a bot (see `arena.replay.transcripts`) and its stderr beside it.
Both are chosen when a match
starts: who records nothing pays nothing.

Invariant: what has been said is in the file before anything else happens, but for an unfinished
line of a bot's, which is there once it is finished, the next line is sent, or the bot is gone; and
of a stderr without an end, whose last words are there when nothing more will be said. Nothing that
is in the files acts in a terminal: they are meant for reading.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from arena.engine.contestant import Contestant
from arena.engine.pipes import LOOK_S, Pipes
from arena.model import Bot, Fault, HostError, Limits, UserError
from arena.replay.transcripts import comment_line, failure_lines, received_line, sent_line
from arena.reports.escape import Legible
from arena.sandbox import Backend
from arena.sandbox.client import Spawner
from arena.system import files
from arena.wire.session import WireEvent

# Of a bot's stderr, its beginning and its end: more than anybody reads, and a bot that writes
# without an end in its time for a match would fill a disk.
STDERR_BEGIN, STDERR_END = 8 << 20, 1 << 16


class Tap(Protocol):
    """Hears all that a table's bots are told and say."""

    def started(self, entrant: str, contestant: Contestant) -> None:
        """A bot's process has been asked for."""

    def sent(self, contestant: Contestant, data: bytes) -> None:
        """A line to it."""

    def heard(self, contestant: Contestant, data: bytes) -> None:
        """What was read of its output; empty: it has ended."""

    def logged(self, contestant: Contestant, data: bytes) -> None:
        """What was read of its stderr."""

    def dropped(self, contestant: Contestant) -> None:
        """It is going to be killed, if it is still there: it has failed, or all is over."""


class TappedPipes(Pipes):
    """A table that is listened in on."""

    def __init__(self, spawner: Spawner, tap: Tap) -> None:
        super().__init__(spawner)
        self._tap = tap

    def start(
        self, bot: Bot, backend: Backend, limits: Limits, *, freeze: bool = False
    ) -> Contestant:
        """Start a bot's process."""
        contestant = super().start(bot, backend, limits, freeze=freeze)
        self._tap.started(bot.entrant.id, contestant)
        return contestant

    def send(self, contestant: Contestant, data: bytes | bytearray) -> None:
        """Write what can be written now."""
        if data and contestant.id in self._by_id:  # to the dead nothing is said
            self._tap.sent(contestant, bytes(data))
        super().send(contestant, data)

    async def kill(self, contestants: Sequence[Contestant]) -> None:
        """Kill whole trees and see them gone."""
        for contestant in contestants:
            self._tap.dropped(contestant)
        await super().kill(contestants)

    def exchange(self, contestant: Contestant, question: bytearray) -> WireEvent:
        """Ask and look; the way on which everything passes `send` and `_take`."""
        self.ask(contestant, question)
        self.look(LOOK_S)
        return contestant.session.next_event()

    def _take(self, contestant: Contestant, data: bytes) -> None:
        self._tap.heard(contestant, data)
        super()._take(contestant, data)

    def _logged(self, contestant: Contestant, data: bytes) -> None:
        self._tap.logged(contestant, data)
        super()._logged(contestant, data)


@asynccontextmanager
async def open_tapped_pipes(tap: Tap) -> AsyncIterator[TappedPipes]:
    """A tapped table with a spawner of its own; nothing that it started outlives it."""
    with Spawner() as spawner:
        pipes = TappedPipes(spawner, tap)
        try:
            yield pipes
        finally:
            pipes.close()


class _Stderr:
    """The file of what a bot writes to its standard error."""

    def __init__(self, path: Path) -> None:
        self._file = files.open_file(path, "wb", buffering=0)
        self._room = STDERR_BEGIN
        self._end = bytearray()
        self._left_out = 0
        self._legible = Legible()

    def add(self, data: bytes) -> None:
        """Write it, or keep it as its last words for now."""
        self._add(self._legible(data))

    def _add(self, data: bytes) -> None:
        begin, rest = data[: self._room], data[self._room :]
        self._room -= len(begin)
        _append(self._file, begin)
        self._end += rest
        if (over := len(self._end) - STDERR_END) > 0:
            self._left_out += over
            del self._end[:over]

    def close(self) -> None:
        """Write the last words; what was left out before them is told."""
        self._add(self._legible(b"", last=True))
        if self._left_out:
            _append(self._file, b"\n[%d bytes are left out here]\n" % self._left_out)
        _append(self._file, bytes(self._end))
        self._file.close()


class _Record:
    """The two files of a bot."""

    def __init__(self, path: Path) -> None:
        self.lines = files.open_file(path, "wb", buffering=0)
        self.stderr = _Stderr(path.with_suffix(".stderr.txt"))
        self.held = b""  # bounded: a table reads no more than a line and a pipe's worth ahead


class Recorder:
    """Writes what is said into a folder, until it is closed."""

    def __init__(self, folder: Path, names: Mapping[str, str], about: str) -> None:
        """`names`: what each entrant's files are called; `about`: the first line of each."""
        self._by_entrant: dict[str, _Record] = {}
        self._by_process: dict[int, _Record] = {}
        try:
            files.make_folder(folder, parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise UserError(f"--record {folder}: it isn't empty; name a new folder")
            for entrant, name in names.items():
                self._by_entrant[entrant] = _Record(folder / f"{name}.txt")
        except OSError as error:
            raise UserError(f"--record {folder}: can't write there: {error.strerror}") from None
        for entrant, record in self._by_entrant.items():
            _write(record.lines, comment_line(f"{entrant} {about}"))

    def started(self, entrant: str, contestant: Contestant) -> None:
        """A bot's process has been asked for."""
        self._by_process[contestant.id] = self._by_entrant[entrant]

    def sent(self, contestant: Contestant, data: bytes) -> None:
        """A line to it."""
        record = self._by_process[contestant.id]
        _let_go(record)
        _write(record.lines, sent_line(data))

    def heard(self, contestant: Contestant, data: bytes) -> None:
        """What was read of its output."""
        record = self._by_process[contestant.id]
        *whole, record.held = (record.held + data).split(b"\n")
        for line in whole:
            _write(record.lines, received_line(line + b"\n"))

    def logged(self, contestant: Contestant, data: bytes) -> None:
        """What was read of its stderr."""
        self._by_process[contestant.id].stderr.add(data)

    def dropped(self, contestant: Contestant) -> None:
        """What it has left unfinished is all that there is."""
        _let_go(self._by_process[contestant.id])

    def fault(self, entrant: str, fault: Fault) -> None:
        """How it failed."""
        record = self._by_entrant[entrant]
        _let_go(record)
        _write(record.lines, comment_line(" ".join(fault.message.splitlines())))
        for line in failure_lines(fault.kind, fault.status):
            _write(record.lines, line)

    def close(self) -> None:
        """Nothing more will be said."""
        for record in self._by_entrant.values():
            _let_go(record)
            record.lines.close()
            record.stderr.close()


def _let_go(record: _Record) -> None:
    held, record.held = record.held, b""
    if held:
        _write(record.lines, received_line(held))


def _write(file: BinaryIO, line: str) -> None:
    _append(file, line.encode() + b"\n")


def _append(file: BinaryIO, data: bytes) -> None:
    try:
        file.write(data)
    except OSError as error:
        raise HostError(f"{file.name}: can't write: {error.strerror}") from None
