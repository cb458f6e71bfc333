"""The results folder: event.json, the append-only log of matches, and the bots' stderr.

    event.json      what is played, by whom, under which limits; the secret once it is over
    private.json    until the event is over: the secret, where the bots came from; its owner's
    matches.jsonl   one finished match a line, in the order in which they finished
    stderr/         what each bot wrote to stderr, by match
    lock            held while somebody writes; a killed writer's lock is gone with it

Everything else in the folder (tables) is derived and can be made again.

Every line of the log and event.json end with a checksum of their own. Records become durable
in groups: a power cut costs at most the last SYNC_S seconds. A torn last line, the trace of a
killed writer, is cut off when the folder is opened for writing; damage anywhere else is an
error that names line and byte.

Invariant: a line once synced is never changed; one writer at a time.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from arena.model import FORMAT, Event, HostError, MatchRecord, UserError, canonical

SYNC_S = 1.0
# A bot that logs a lot must not fill the disk: this much of its stderr is kept an event.
STDERR_KEPT = 8 * 1024 * 1024

_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"
}

_CHECK = b',"check":"'
_TAIL = len(_CHECK) + len('00000000"}')

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(MatchRecord).decode


class Private(msgspec.Struct, frozen=True, kw_only=True):
    """What is nobody else's business until the event is over, or ever."""

    secret: str
    sources: Mapping[str, str]
    """Entrant id -> the path it was named by; where a lost snapshot can be found again."""
    cache: str
    options: Mapping[str, str | int | bool | None] = {}
    """How this run was asked to behave (jobs, sandbox); a resume starts from it."""


def sealed(encoded: bytes) -> bytes:
    """A JSON object with the checksum of its bytes as its last field."""
    body = encoded[:-1]
    return body + _CHECK + b'%08x"}' % zlib.crc32(body)


def unsealed(line: bytes) -> bytes | None:
    """The object without its checksum, or None when the bytes are not what was written."""
    body, tail = line[:-_TAIL], line[-_TAIL:]
    if tail != _CHECK + b'%08x"}' % zlib.crc32(body):
        return None
    return body + b"}"


def record_line(record: MatchRecord) -> bytes:
    """A record as a line of JSON, without a checksum."""
    return _encode(record) + b"\n"


def canonical_line(record: MatchRecord) -> bytes:
    """The same on every machine: without timings, attempts and what a process said."""
    faults = tuple(msgspec.structs.replace(fault, stderr="", status="") for fault in record.faults)
    return record_line(msgspec.structs.replace(record, faults=faults, use=(), ended=0.0, attempt=0))


def is_results_folder(folder: Path) -> bool:
    """Whether a folder holds an event."""
    try:
        return (folder / "event.json").is_file()
    except OSError:  # not to be entered, so not to be told
        return False


def read_event(folder: Path) -> Event:
    """The event of a results folder."""
    path = folder / "event.json"
    try:
        line = path.read_bytes()
    except OSError as error:
        if not folder.exists():
            raise UserError(f"{folder}: there is no such folder") from None
        raise UserError(
            f"{folder}: not a results folder (no event.json in it: {error.strerror})"
        ) from None
    body = unsealed(line.rstrip(b"\n"))
    if body is None:
        raise UserError(f"{path}: damaged: its checksum does not match its content")
    version = msgspec.json.decode(body, type=dict[str, object]).get("format")
    if version != FORMAT:
        raise UserError(f"{path}: written in format {version}, this arena reads format {FORMAT}")
    return msgspec.json.decode(body, type=Event)


def read_records(folder: Path) -> Iterator[MatchRecord]:
    """Every record of a log, counted or not, in the order of the file. Streams.

    A last line without its newline is the trace of a killed writer, and is passed over.
    """
    path = folder / "matches.jsonl"
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        start = 0
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            body = unsealed(line[:-1])
            if body is None:
                raise UserError(
                    f"{path}: line {number} (byte {start}) is damaged: its checksum does not match"
                )
            start += len(line)
            yield _decode(body)


def read_private(folder: Path) -> Private | None:
    """What only the owner may read; None where there is nothing (a published folder)."""
    path = folder / "private.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Private)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path}: can't be read: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise UserError(f"{path}: damaged: {error}") from None


def secret_of(folder: Path, event: Event) -> bytes:
    """The secret, from wherever it is."""
    private = read_private(folder)
    secret = event.secret or (private.secret if private else "")
    if not secret:
        raise UserError(
            f"{folder}: the secret has not been revealed yet and private.json is not here"
        )
    return bytes.fromhex(secret)


def write_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file so that a reader, or a power cut, sees the old or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class Store:
    """A results folder open for writing."""

    def __init__(self, folder: Path, event: Event, lock: BinaryIO) -> None:
        self.folder = folder
        self.event = event
        self._lock = lock
        self._log = _open_log(folder / "matches.jsonl")
        self._size = self._log.tell()
        self._synced = time.monotonic()
        self._stderr: dict[str, int] = {}
        self.writing = True

    @classmethod
    def create(cls, folder: Path, event: Event, private: Private) -> Self:
        """Start an event in a new or empty folder."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if writer(folder):
                raise UserError(f"{folder}: an event is being played into it right now")
            if is_results_folder(folder):
                raise UserError(
                    f"{folder} already holds an event; go on with it: arena resume {folder}"
                )
            if any(entry.name != "lock" for entry in folder.iterdir()):
                raise UserError(f"{folder} is not empty; choose another folder with --out")
            lock = _lock(folder)
            write_atomically(folder / "private.json", canonical(private), mode=0o600)
            write_atomically(folder / "event.json", sealed(canonical(event)) + b"\n")
            return cls(folder, event, lock)
        except OSError as error:
            raise UserError(f"{folder}: can't write there: {error.strerror}") from None

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Go on with an event."""
        event = read_event(folder)
        return cls(folder, event, _lock(folder))

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
        """Add a finished match; durable within SYNC_S."""
        self._write_line(sealed(_encode(record)) + b"\n")
        if time.monotonic() - self._synced > SYNC_S:
            self.sync()

    def add_stderr(self, entrant: str, match: str, text: str) -> None:
        """Keep what a bot wrote to stderr in a match."""
        written = self._stderr.get(entrant, 0)
        if written >= STDERR_KEPT:
            return
        path = self.folder / "stderr" / f"{entrant}.log"
        # Escape sequences stay harmless when somebody shows the file in a terminal.
        data = f"== {match}\n{text.translate(_CONTROLS)}".encode("utf-8", "backslashreplace")
        try:
            path.parent.mkdir(exist_ok=True)
            if entrant not in self._stderr and path.exists():
                written = path.stat().st_size
            data = data[: max(0, STDERR_KEPT - written)]
            with path.open("ab") as file:
                file.write(data if data.endswith(b"\n") else data + b"\n")
        except OSError as error:
            raise _trouble(path, error) from error
        self._stderr[entrant] = written + len(data) + 1

    def sync(self) -> None:
        """Make everything that was appended durable."""
        try:
            os.fsync(self._log.fileno())
        except OSError as error:
            raise _trouble(self.folder, error) from error
        self._synced = time.monotonic()

    def conclude(self, event: Event) -> None:
        """Replace event.json by one that reveals the secret; nothing private is left."""
        self.sync()
        try:
            write_atomically(self.folder / "event.json", sealed(canonical(event)) + b"\n")
            (self.folder / "private.json").unlink(missing_ok=True)
        except OSError as error:
            raise _trouble(self.folder, error) from error
        self.event = event

    def write(self, name: str, text: str) -> None:
        """Write a derived file."""
        try:
            write_atomically(self.folder / name, text.encode())
        except OSError as error:
            raise _trouble(self.folder, error) from error

    def close(self) -> None:
        """Sync, and let the next writer in."""
        if self.writing:
            self.writing = False
            with suppress(HostError):
                self.sync()
            self._log.close()
            self._lock.close()

    def _write_line(self, line: bytes) -> None:
        """All of the line or none of it: a disk that is full must not leave half a record."""
        try:
            written = self._log.write(line)
            if written == len(line):
                self._size += written
                return
            reason = "no space left"
        except OSError as error:
            reason = error.strerror or str(error)
        with suppress(OSError):
            self._log.truncate(self._size)
        raise HostError(f"{self.folder}: can't write: {reason}")


def _trouble(path: Path, error: OSError) -> HostError:
    return HostError(f"{path}: can't write: {error.strerror}")


def _open_log(path: Path) -> BinaryIO:
    """Open for appending, unbuffered, after cutting off a torn last line."""
    file = path.open("ab+", buffering=0)
    size = file.seek(0, os.SEEK_END)
    at = size
    while at > 0:
        start = max(0, at - 65_536)
        file.seek(start)
        newline = file.read(at - start).rfind(b"\n")
        if newline >= 0:
            at = start + newline + 1
            break
        at = start
    if at < size:
        file.truncate(at)
    file.seek(0, os.SEEK_END)
    return file


def _lock(folder: Path) -> BinaryIO:
    """The lock file holds the writer's process id, for `arena stop`."""
    import fcntl  # noqa: PLC0415 - reading a folder works where this module is missing

    try:
        file = (folder / "lock").open("ab+", buffering=0)
    except OSError as error:
        raise UserError(f"{folder}: can't write there: {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pid = _holder(folder)
        file.close()
        raise UserError(
            f"{folder}: another arena (process {pid}) is writing there; "
            f"wait for it, or stop it: arena stop {folder}"
        ) from None
    file.truncate(0)
    file.write(b"%d\n" % os.getpid())
    return file


def _holder(folder: Path) -> int:
    try:
        return int((folder / "lock").read_bytes() or b"0")
    except (OSError, ValueError):
        return 0


def writer(folder: Path) -> int | None:
    """The process id of whoever is writing, or None."""
    import fcntl  # noqa: PLC0415 - as above

    try:
        with (folder / "lock").open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return _holder(folder)
    except OSError:
        return None
    return None


def await_writer(folder: Path) -> None:
    """Return when nobody writes any more."""
    import fcntl  # noqa: PLC0415 - as above

    with (folder / "lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
