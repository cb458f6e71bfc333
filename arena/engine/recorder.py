"""Record all bytes between the arena and its bots, in both directions, and the bots' stderr.

A `BotRecord` is a `Tap` that writes a transcript (`arena.replay.transcripts`) and a stderr. A match
that isn't recorded uses plain `Pipes` and pays nothing.

Invariant: what has passed is in the file before anything else happens, but for an unfinished line
of a bot, and for the end of a long stderr, which is there when the recorder is closed. Control
characters are escaped: the files can be printed to a terminal.
"""

from collections.abc import Callable, Mapping, Sequence
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
    """Called with all that passes between the arena and one bot."""

    def sent(self, data: bytes) -> None:
        """A line is sent to it."""

    def heard(self, data: bytes) -> None:
        """This was read of its output; empty: it has ended."""

    def logged(self, data: bytes) -> None:
        """This was read of its stderr."""

    def dropped(self) -> None:
        """It is going to be killed: it has failed, or the match is over."""


class TappedPipes(Pipes):
    def __init__(self, spawner: Spawner, tap_of: Callable[[str], Tap]) -> None:
        super().__init__(spawner)
        self._tap_of = tap_of
        self._taps: dict[int, Tap] = {}

    def start(
        self, bot: Bot, backend: Backend, limits: Limits, *, freeze: bool = False
    ) -> Contestant:
        contestant = super().start(bot, backend, limits, freeze=freeze)
        self._taps[contestant.id] = self._tap_of(bot.entrant.id)
        return contestant

    def send(self, contestant: Contestant, data: bytes | bytearray) -> None:
        if data and contestant.id in self._by_id:  # it may be gone
            self._taps[contestant.id].sent(bytes(data))
        super().send(contestant, data)

    async def kill(self, contestants: Sequence[Contestant]) -> None:
        for contestant in contestants:
            self._taps[contestant.id].dropped()
        await super().kill(contestants)

    def exchange(self, contestant: Contestant, question: bytearray) -> WireEvent:
        """Without the short way, so that everything passes `send` and `_take`."""
        self.ask(contestant, question)
        self.look(LOOK_S)
        return contestant.session.next_event()

    def _take(self, contestant: Contestant, data: bytes) -> None:
        self._taps[contestant.id].heard(data)
        super()._take(contestant, data)

    def _logged(self, contestant: Contestant, data: bytes) -> None:
        self._taps[contestant.id].logged(data)
        super()._logged(contestant, data)


def open_tapped_pipes(tap_of: Callable[[str], Tap]) -> AbstractAsyncContextManager[Pipes]:
    return open_pipes(lambda spawner: TappedPipes(spawner, tap_of))


class BotRecord(Tap):
    def __init__(self, path: Path) -> None:
        self._lines = files.open_file(path, "wb", buffering=0)
        self._stderr = files.open_file(path.with_suffix(".stderr.txt"), "wb", buffering=0)
        self._held = b""  # bounded: no more than a line and a pipe's worth is read ahead
        self._room = STDERR_BEGIN
        self._end = bytearray()
        self._left_out = 0
        self._legible = Legible()

    def write(self, line: str) -> None:
        _append(self._lines, line.encode() + b"\n")

    def sent(self, data: bytes) -> None:
        self.dropped()
        self.write(sent_line(data))

    def heard(self, data: bytes) -> None:
        *whole, self._held = (self._held + data).split(b"\n")
        for line in whole:
            self.write(received_line(line + b"\n"))

    def logged(self, data: bytes, *, last: bool = False) -> None:
        data = self._legible(data, last=last)
        begin, rest = data[: self._room], data[self._room :]
        self._room -= len(begin)
        _append(self._stderr, begin)
        self._end += rest
        if (over := len(self._end) - STDERR_END) > 0:
            self._left_out += over
            del self._end[:over]

    def dropped(self) -> None:
        if self._held:
            self.write(received_line(self._held))
            self._held = b""

    def fault(self, fault: Fault) -> None:
        self.dropped()
        self.write(comment_line(" ".join(fault.message.splitlines())))
        for line in failure_lines(fault.kind, fault.status):
            self.write(line)

    def close(self) -> None:
        """Write the end of its stderr, and before it how much was left out."""
        self.dropped()
        self._lines.close()
        self.logged(b"", last=True)
        if self._left_out:
            _append(self._stderr, b"\n[%d bytes are left out here]\n" % self._left_out)
        _append(self._stderr, bytes(self._end))
        self._stderr.close()


class Recorder:
    """Records of bots in a folder, until it is closed."""

    def __init__(self, folder: Path, names: Mapping[str, str], about: str) -> None:
        """`names`: what each entrant's files are called; `about`: the first line of each."""
        self.of: dict[str, BotRecord] = {}
        try:
            files.make_folder(folder, parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise UserError(f"--record {folder}: it isn't empty; name a new folder")
            for entrant, name in names.items():
                self.of[entrant] = BotRecord(folder / f"{name}.txt")
        except OSError as error:
            raise UserError(f"--record {folder}: can't write there: {error.strerror}") from None
        for entrant, record in self.of.items():
            record.write(comment_line(f"{entrant} {about}"))

    def close(self) -> None:
        for record in self.of.values():
            record.close()


def _append(file: BinaryIO, data: bytes) -> None:
    try:
        file.write(data)
    except OSError as error:
        raise HostError(f"{file.name}: can't write: {error.strerror}") from None
