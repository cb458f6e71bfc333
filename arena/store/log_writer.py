"""A results folder open for writing.

Theory of operation. A record is appended with one write, and is safe from our own death from then
on. From a power cut it is safe when it has been synced: a thread does that for all that came within
GROUP_S, also when nothing comes after it, and then writes their places to the index. A sync that
fails is final: what it was about may be lost, and is written again when the folder is opened next.

Invariant: a line once synced is never changed; a line is appended whole or not at all.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from arena.model import Event, HostError, MatchRecord
from arena.store.folder import (
    Announced,
    EventFile,
    Private,
    is_results_folder,
    not_writable,
    prepare,
    read_event_file,
    remove_unfinished,
    trouble,
    write_atomically,
    write_event,
)
from arena.store.index import IndexWriter
from arena.store.lines import encode, sealed
from arena.store.lock import lock
from arena.store.recovery import DAMAGED, counted, open_log, repair
from arena.store.stderr import Stderr

# A power cut costs at most the last second: this long records wait for others, the rest is the
# sync's own.
GROUP_S = 0.5


class Store:
    """A results folder open for writing."""

    def __init__(self, folder: Path, file: EventFile, held: BinaryIO, *, mend: bool) -> None:
        self.folder = folder
        self.event = event = file.event
        self._announced = file.announced
        self.mended = ""
        """What was wrong with the log, and what was done about it; for people."""
        self._lock = held
        self._stderr = Stderr(folder / "stderr", bots=len(event.entrants))
        self.writing = False
        try:
            remove_unfinished(folder)
            if mend and (damaged := repair(folder)):
                self.mended = (
                    f"{counted(damaged)} moved to {DAMAGED}; what they held is played again"
                )
            self._log, cut = open_log(folder)
            self.mended = self.mended or cut
            self._size = self._log.tell()
            self._syncer = _Syncer(self._log, IndexWriter(folder, self._size), self._size)
        except OSError as error:
            held.close()
            raise trouble(folder, error) from error
        except BaseException:
            held.close()
            raise
        self.writing = True

    @classmethod
    def create(
        cls, folder: Path, event: Event, private: Private, announced: Announced | None = None
    ) -> Self:
        """Start an event in a new or empty folder."""
        prepare(folder, event, private, announced)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path, *, mend: bool = False) -> Self:
        """Go on with an event. `mend`: set damaged lines aside, wherever they are."""
        if not is_results_folder(folder):
            read_event_file(folder)  # raises before a lock file is made there
        try:
            held = lock(folder)
        except OSError as error:
            raise not_writable(folder, error) from None
        try:
            file = read_event_file(folder)
        except BaseException:
            held.close()
            raise
        return cls(folder, file, held, mend=mend)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def append(self, record: MatchRecord) -> None:
        """Add a finished match; durable within a second."""
        line = sealed(encode(record)) + b"\n"
        self._write_line(line)
        start, self._size = self._size, self._size + len(line)
        self._syncer.appended(record, start, self._size)

    @property
    def written(self) -> int:
        """Bytes of the log."""
        return self._size

    @property
    def durable(self) -> int:
        """Bytes of it that no power cut takes away."""
        return self._syncer.synced

    def add_stderr(self, entrant: str, match: str, text: str, *, failed: bool = False) -> None:
        """Keep what a bot wrote to stderr in a match. `failed`: the bot did, in that match."""
        try:
            self._stderr.add(entrant, match, text, failed=failed)
        except OSError as error:
            raise trouble(self.folder / "stderr", error) from error

    def sync(self) -> None:
        """Make everything that was appended durable."""
        try:
            self._syncer.sync()
        except OSError as error:
            raise trouble(self.folder, error) from error

    def restate(self, event: Event) -> None:
        """Replace event.json of an event that goes on: how and where it is played."""
        known = self.event
        assert (event.settings, event.entrants) == (known.settings, known.entrants), "announced"
        try:
            write_event(self.folder, event, self._announced)
        except OSError as error:
            raise trouble(self.folder, error) from error
        self.event = event

    def conclude(self, event: Event) -> None:
        """Replace event.json by one that reveals the secret; nothing private is left."""
        self.reveal(event)
        self.forget()

    def reveal(self, event: Event) -> None:
        """Replace event.json by one that reveals the secret."""
        self.sync()
        self.restate(event)

    def forget(self) -> None:
        """Remove what is private; whoever finds it in a finished event's folder has more to do."""
        try:
            (self.folder / "private.json").unlink(missing_ok=True)
        except OSError as error:
            raise trouble(self.folder, error) from error

    def write(self, name: str, text: str) -> None:
        """Write a derived file."""
        try:
            write_atomically(self.folder / name, text.encode())
        except OSError as error:
            raise trouble(self.folder, error) from error

    def close(self) -> None:
        """Sync, and let the next writer in."""
        if self.writing:
            self.writing = False
            with suppress(HostError):
                self.sync()
            self._syncer.close()
            self._log.close()
            self._lock.close()

    def _write_line(self, line: bytes) -> None:
        """All of the line or none of it: a disk that is full must not leave half a record."""
        if failed := self._syncer.failed:
            raise trouble(self.folder, failed)
        try:
            # A write that ends early gives no reason; the one for the rest of it does.
            while line := line[self._log.write(line) :]:
                pass
        except OSError as error:
            with suppress(OSError):
                self._log.truncate(self._size)
            raise trouble(self.folder, error) from error


class _Syncer:
    """Whoever makes the log durable: a thread of its own, since a sync may take its time."""

    def __init__(self, log: BinaryIO, index: IndexWriter, size: int) -> None:
        self.failed: OSError | None = None
        self._log = log
        self._index = index
        self._size = size
        self.synced = -1
        self._state = threading.Lock()  # of the sizes and the index
        self._one = threading.Lock()  # one sync at a time
        self._some = threading.Event()  # something is to be synced
        self._over = threading.Event()
        self.sync()
        index.sync()
        self._thread = threading.Thread(target=self._run, name="sync", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            raise HostError(f"can't start a thread: {error}") from error

    def appended(self, record: MatchRecord, start: int, end: int) -> None:
        """A record has been written there."""
        with self._state:
            self._index.add(start, record.series, record.id)
            self._size = end
        self._some.set()

    def sync(self) -> None:
        """Make durable what has been written."""
        with self._one:
            if self.failed:
                raise self.failed
            try:
                with self._state:
                    size = self._size
                if size != self.synced:
                    os.fsync(self._log.fileno())
                    with self._state:
                        self._index.write(size)
                    self.synced = size
            except OSError as error:
                self.failed = error
                raise

    def close(self) -> None:
        """Come to an end."""
        self._over.set()
        self._some.set()
        self._thread.join()
        self._index.close()

    def _run(self) -> None:
        while not self._over.is_set():
            self._some.wait()
            self._over.wait(GROUP_S)
            self._some.clear()
            with suppress(OSError):  # the next append tells
                self.sync()
