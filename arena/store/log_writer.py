"""Write a results folder: append records, keep stderr, restate and conclude the event.

Theory of operation. A record is appended with one write; from then on it survives our own death.
It survives a power cut once it is synced: a thread syncs all records of the last GROUP_S, also when
none follows, and then writes their entries to the index. A failed sync is final: its records may be
lost, and are written again when the folder is opened next.

Invariant: a line once synced is never changed; a line is appended whole or not at all.
"""

import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO, Self

from arena.model import Event, HostError, MatchRecord
from arena.store.folder import (
    Announced,
    Private,
    is_results_folder,
    prepare,
    read_event_file,
    remove_unfinished,
    writable,
    write_atomically,
    write_event,
    writes_into,
)
from arena.store.index import IndexWriter
from arena.store.lines import add_checksum, encode
from arena.store.lock import lock
from arena.store.recovery import open_log, repair
from arena.store.stderr import Stderr
from arena.system import files

# A power cut costs at most the last second: records wait this long for others, and the sync takes
# the rest.
GROUP_S = 0.5


class Store:
    def __init__(self, folder: Path, held: BinaryIO, *, mend: bool) -> None:
        """`held`: the folder's lock."""
        self.folder = folder
        with ExitStack() as opened, writes_into(folder):
            opened.callback(held.close)
            self.event, _ = file = read_event_file(folder)
            self._announced = file.announced
            self._stderr = Stderr(folder / "stderr", bots=len(self.event.entrants))
            remove_unfinished(folder)
            repaired = repair(folder) if mend else ""
            self._log, cut = open_log(folder)
            opened.callback(self._log.close)
            self.mended = repaired or cut  # damage found in the log, and its repair, in words
            self._size = self._log.tell()
            index = IndexWriter(folder, self._size)
            opened.callback(index.close)
            self._syncer = _Syncer(self._log, index, self._size)
            opened.callback(self._syncer.close)
            self._opened = opened.pop_all()
        self.writing = True

    @classmethod
    def create(
        cls, folder: Path, event: Event, private: Private, announced: Announced | None = None
    ) -> Self:
        prepare(folder, event, private, announced)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path, *, mend: bool = False) -> Self:
        """Go on with an event. `mend`: move damaged lines out of the log, wherever they are."""
        if not is_results_folder(folder):
            read_event_file(folder)  # raises before a lock file is made there
        with writable(folder):
            held = lock(folder)
        return cls(folder, held, mend=mend)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, record: MatchRecord, encoded: bytes = b"") -> None:
        """Add a finished match, `encoded` already or not; durable within a second."""
        line = add_checksum(encoded or encode(record)) + b"\n"
        self._write_line(line)
        start, self._size = self._size, self._size + len(line)
        self._syncer.appended(record, start, self._size)

    @property
    def written(self) -> int:
        return self._size

    @property
    def durable(self) -> int:
        """Bytes of it that survive a power cut."""
        return self._syncer.synced

    def add_stderr(self, entrant: str, match: str, text: str, *, failed: bool = False) -> None:
        """Keep a bot's stderr of a match. `failed`: the bot did, in that match."""
        with writes_into(self.folder / "stderr"):
            self._stderr.add(entrant, match, text, failed=failed)

    def sync(self) -> None:
        with writes_into(self.folder):
            self._syncer.sync()

    def restate(self, event: Event) -> None:
        """Replace event.json: how and where the event is played has changed."""
        known = self.event
        assert (event.settings, event.entrants) == (known.settings, known.entrants), "announced"
        with writes_into(self.folder):
            write_event(self.folder, event, self._announced)
        self.event = event

    def conclude(self, event: Event) -> None:
        self.reveal(event)
        self.forget()

    def reveal(self, event: Event) -> None:
        self.sync()
        self.restate(event)

    def forget(self) -> None:
        """Remove private.json: the last step of an event's conclusion."""
        with writes_into(self.folder):
            files.remove(self.folder / "private.json")

    def write(self, name: str, text: str) -> None:
        with writes_into(self.folder):
            write_atomically(self.folder / name, text.encode())

    def close(self) -> None:
        if self.writing:
            self.writing = False
            with suppress(HostError):
                self.sync()
            self._opened.close()

    def _write_line(self, line: bytes) -> None:
        """Write all of the line or nothing: a full disk must not leave half a record."""
        with writes_into(self.folder):
            if self._syncer.failed:
                raise self._syncer.failed
            try:
                # A short write gives no reason; writing the rest raises it.
                while line := line[self._log.write(line) :]:
                    pass
            except OSError:
                with suppress(OSError):
                    self._log.truncate(self._size)
                raise


class _Syncer:
    """A thread that makes the log durable, since a sync may take long."""

    def __init__(self, log: BinaryIO, index: IndexWriter, size: int) -> None:
        self.failed: OSError | None = None
        self._log = log
        self._index = index
        self._size = size
        self.synced = -1
        self._state = threading.Lock()  # of the sizes and the index
        self._one = threading.Lock()  # one sync at a time
        self._some = threading.Event()  # something is unsynced
        self._over = threading.Event()
        self.sync()
        index.sync()
        self._thread = threading.Thread(target=self._run, name="sync", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            raise HostError(f"can't start a thread: {error}") from error

    def appended(self, record: MatchRecord, start: int, end: int) -> None:
        with self._state:
            self._index.add(start, record.series, record.id)
            self._size = end
        self._some.set()

    def sync(self) -> None:
        with self._one:
            if self.failed:
                raise self.failed
            try:
                with self._state:
                    size = self._size
                if size != self.synced:
                    files.sync(self._log)
                    with self._state:
                        self._index.write(size)
                    self.synced = size
            except OSError as error:
                self.failed = error
                raise

    def close(self) -> None:
        self._over.set()
        self._some.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.is_set():
            self._some.wait()
            self._over.wait(GROUP_S)
            self._some.clear()
            with suppress(OSError):  # the next append raises it
                self.sync()
