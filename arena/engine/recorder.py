"""Record all bytes between the arena and its bots, in both directions, and the bots' stderr.

`Recorder` is a `Tap` that writes a transcript a bot (`arena.replay.transcripts`) and its stderr. A
match that isn't recorded uses plain `Pipes` and pays nothing.

Invariant: what has passed is in the file before anything else happens, but for an unfinished line
of a bot, and for the end of a long stderr, which is there when the recorder is closed. Control
characters are escaped: the files can be printed to a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import BinaryIO

from arena.engine.contestant import Contestant
from arena.engine.pipes import LOOK_S, Pipes, open_pipes
from arena.model import Bot, Fault, HostError, Limits, UserError
from arena.replay.transcripts import comment_line, failure_lines, received_line, sent_line
from arena.reports.escape import Legible
from arena.sandbox import Backend
from arena.sandbox.client import Spawner
from arena.system import files
from arena.wire.session import WireEvent

# What is kept of a bot's stderr, beginning and end: more than a person reads, and a bot that writes
# all the time would fill a disk.
STDERR_BEGIN, STDERR_END = 8 << 20, 1 << 16


class Tap:
    """Called with all that passes between the arena and its bots."""

    def started(self, entrant: str, contestant: Contestant) -> None:
        """A bot's process is being started."""

    def sent(self, contestant: Contestant, data: bytes) -> None:
        """A line is sent to it."""

    def heard(self, contestant: Contestant, data: bytes) -> None:
        """This was read of its output; empty: it has ended."""

    def logged(self, contestant: Contestant, data: bytes) -> None:
        """This was read of its stderr."""

    def dropped(self, contestant: Contestant) -> None:
        """It is going to be killed: it has failed, or the match is over."""


class TappedPipes(Pipes):
    def __init__(self, spawner: Spawner, tap: Tap) -> None:
        super().__init__(spawner)
        self._tap = tap

    def start(
        self, bot: Bot, backend: Backend, limits: Limits, *, freeze: bool = False
    ) -> Contestant:
        contestant = super().start(bot, backend, limits, freeze=freeze)
        self._tap.started(bot.entrant.id, contestant)
        return contestant

    def send(self, contestant: Contestant, data: bytes | bytearray) -> None:
        if data and contestant.id in self._by_id:  # it may be gone
            self._tap.sent(contestant, bytes(data))
        super().send(contestant, data)

    async def kill(self, contestants: Sequence[Contestant]) -> None:
        for contestant in contestants:
            self._tap.dropped(contestant)
        await super().kill(contestants)

    def exchange(self, contestant: Contestant, question: bytearray) -> WireEvent:
        """Without the short way, so that everything passes `send` and `_take`."""
        self.ask(contestant, question)
        self.look(LOOK_S)
        return contestant.session.next_event()

    def _take(self, contestant: Contestant, data: bytes) -> None:
        self._tap.heard(contestant, data)
        super()._take(contestant, data)

    def _logged(self, contestant: Contestant, data: bytes) -> None:
        self._tap.logged(contestant, data)
        super()._logged(contestant, data)


def open_tapped_pipes(tap: Tap) -> AbstractAsyncContextManager[Pipes]:
    return open_pipes(lambda spawner: TappedPipes(spawner, tap))


class _Stderr:
    def __init__(self, path: Path) -> None:
        self._file = files.open_file(path, "wb", buffering=0)
        self._room = STDERR_BEGIN
        self._end = bytearray()
        self._left_out = 0
        self._legible = Legible()

    def add(self, data: bytes) -> None:
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
        """Write the end, and before it how much was left out."""
        self._add(self._legible(b"", last=True))
        if self._left_out:
            _append(self._file, b"\n[%d bytes are left out here]\n" % self._left_out)
        _append(self._file, bytes(self._end))
        self._file.close()


class _Record:
    def __init__(self, path: Path) -> None:
        self.lines = files.open_file(path, "wb", buffering=0)
        self.stderr = _Stderr(path.with_suffix(".stderr.txt"))
        self.held = b""  # bounded: no more than a line and a pipe's worth is read ahead


class Recorder(Tap):
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
        self._by_process[contestant.id] = self._by_entrant[entrant]

    def sent(self, contestant: Contestant, data: bytes) -> None:
        record = self._by_process[contestant.id]
        _write_rest(record)
        _write(record.lines, sent_line(data))

    def heard(self, contestant: Contestant, data: bytes) -> None:
        record = self._by_process[contestant.id]
        *whole, record.held = (record.held + data).split(b"\n")
        for line in whole:
            _write(record.lines, received_line(line + b"\n"))

    def logged(self, contestant: Contestant, data: bytes) -> None:
        self._by_process[contestant.id].stderr.add(data)

    def dropped(self, contestant: Contestant) -> None:
        _write_rest(self._by_process[contestant.id])

    def fault(self, entrant: str, fault: Fault) -> None:
        record = self._by_entrant[entrant]
        _write_rest(record)
        _write(record.lines, comment_line(" ".join(fault.message.splitlines())))
        for line in failure_lines(fault.kind, fault.status):
            _write(record.lines, line)

    def close(self) -> None:
        for record in self._by_entrant.values():
            _write_rest(record)
            record.lines.close()
            record.stderr.close()


def _write_rest(record: _Record) -> None:
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
