"""event.json and private.json: read them, write them atomically, create the folder for them.

Invariant: a folder that `claim_folder` gives out is empty and writable; a default one belongs to no
other command. One that is still empty at the end is removed, with every parent created for it.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec.structs import replace

from arena.exhaustion import ran_out, why_not
from arena.model import DERIVATION, FORMAT, Event, HostError, UserError, canonical
from arena.store.files import UNDECODABLE, read_small, reason
from arena.store.lines import add_checksum, strip_checksum
from arena.store.lock import lock, writer
from arena.system import clock, files
from arena.validate import event_fault

RESULTS = "arena-results"
_UNFINISHED = ".new"  # suffix of a file that is being written; a killed writer leaves it behind
# Left by a command that was killed before it wrote event.json or tuning.json.
_LEFTOVERS = {"lock", "private.json"} | {
    f".{name}.json{_UNFINISHED}" for name in ("private", "event", "tuning")
}


class OtherVersionError(UserError):
    """The event was written in a format, or by a rule, that this arena doesn't know."""


class _Rule(msgspec.Struct, frozen=True):
    derivation: int = 1


class _Version(msgspec.Struct):
    format: int = 0
    settings: _Rule = _Rule()


class Announced(msgspec.Struct, frozen=True):
    """What the commitment covers, byte for byte as in event.json: a later arena could encode it
    otherwise, so it is copied whenever that is rewritten.
    """

    settings: msgspec.Raw
    entrants: msgspec.Raw


class Private(msgspec.Struct, frozen=True, kw_only=True):
    """private.json: for the owner alone until the event is over."""

    secret: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$", max_length=64)]
    sources: Mapping[str, str]
    """Entrant id -> the path it was entered by, to restore a lost snapshot from."""
    cache: str
    entered: Event | None = None  # the event as it was entered, to show what differs now
    options: Mapping[str, str | int | bool | None] = {}
    """Flags of the run (jobs, sandbox); the defaults of a resume."""


def is_results_folder(folder: Path) -> bool:
    try:
        return (folder / "event.json").is_file()
    except OSError:  # no permission to look
        return False


class EventFile(NamedTuple):
    event: Event
    body: bytes  # its JSON as it stands in the file, without the checksum

    @property
    def announced(self) -> Announced:
        return msgspec.json.decode(self.body, type=Announced)


def read_event(folder: Path) -> Event:
    return read_event_file(folder).event


def read_event_file(folder: Path) -> EventFile:
    path = folder / "event.json"
    try:
        line = read_small(path)
    except OSError as error:
        if not folder.exists():
            raise UserError(f"{folder}: there is no such folder") from None
        if not folder.is_dir():
            raise UserError(f"{folder}: a file, not a results folder") from None
        if (folder / "tuning.json").exists():
            first = f"the first is {folder}/stage-01"
            raise UserError(f"{folder}: a tuning; name one of its events, {first}") from None
        why = f"no event.json in it: {error.strerror}"
        raise UserError(f"{folder}: not a results folder ({why})") from None
    return decode_event_file(path, line)


def decode_event_file(path: Path, line: bytes) -> EventFile:
    """Decode event.json; UserError, which names `path`, if it can't be."""
    body = strip_checksum(line.rstrip(b"\n"))
    if body is None:
        raise UserError(f"{path}: damaged: its checksum does not match its content")
    if b"\n" in body:
        raise UserError(f"{path}: damaged: it has more than one line")
    try:
        version = msgspec.json.decode(body, type=_Version)
        if (number := version.format) != FORMAT:
            what = f"written in format {number}, this arena reads format {FORMAT}"
            raise OtherVersionError(f"{path}: {what}")
        if (rule := version.settings.derivation) > DERIVATION:
            what = f"written by a newer arena, whose tables follow rule {rule}"
            raise OtherVersionError(f"{path}: {what}; this one knows those up to {DERIVATION}")
        event = msgspec.json.decode(body, type=Event)
    except UNDECODABLE as error:
        raise UserError(f"{path}: no event of an arena's: {reason(error)}") from None
    if wrong := event_fault(event):
        raise UserError(f"{path}: no event of an arena's: {wrong}")
    return EventFile(event, body)


def read_private(folder: Path) -> Private | None:
    """private.json; None if there is none, as in a finished event's folder."""
    path = folder / "private.json"
    try:
        private = msgspec.json.decode(read_small(path), type=Private)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path}: can't be read: {error.strerror}") from None
    except UNDECODABLE as error:
        raise UserError(f"{path}: damaged: {reason(error)}") from None
    if wrong := private.entered and event_fault(private.entered):
        raise UserError(f"{path}: damaged: {wrong}")
    return private


def others_read_private(folder: Path) -> bool:
    try:
        return bool((folder / "private.json").stat().st_mode & 0o077)
    except OSError:
        return False


def secret_of(folder: Path, event: Event) -> bytes:
    private = read_private(folder)
    if secret := event.secret or (private.secret if private else ""):
        return bytes.fromhex(secret)
    raise UserError(f"{folder}: the secret has not been revealed yet and private.json is not here")


def write_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file so that readers, also after a power cut, see the old one or the new one."""
    temporary = path.with_name(f".{path.name}{_UNFINISHED}")
    try:
        with files.open_new(temporary, mode) as file:
            file.write(data)
            file.flush()
            files.sync(file)
        files.rename(temporary, path)
    except BaseException:
        files.remove(temporary)
        raise
    files.sync_folder(path.parent)


def write_event(folder: Path, event: Event, announced: Announced | None = None) -> None:
    """Write event.json. `announced`: of an event that was published before, to be kept as it is."""
    if announced is not None:
        event = replace(event, settings=announced.settings, entrants=announced.entrants)
    write_atomically(folder / "event.json", add_checksum(canonical(event)) + b"\n")


def remove_unfinished(folder: Path) -> None:
    """Remove what a killed writer left; the caller holds the lock."""
    for path in folder.glob(f".*{_UNFINISHED}"):
        files.remove(path)


@contextmanager
def writes_into(path: Path) -> Iterator[None]:
    """What can't be written there is the host's trouble."""
    try:
        yield
    except OSError as error:
        raise HostError(f"{path}: can't write: {why_not(error)}") from error


@contextmanager
def writable(folder: Path, hint: str = "") -> Iterator[None]:
    """A folder that can't be opened for writing is the host's trouble, or the user's error."""
    try:
        yield
    except OSError as error:
        if ran_out(error):
            raise HostError(f"{folder}: can't write: {why_not(error)}") from None
        raise UserError(f"{folder}: can't write there: {error.strerror}{hint}") from None


def prepare(
    folder: Path, event: Event, private: Private, announced: Announced | None = None
) -> None:
    with writable(folder):
        files.make_folder(folder, parents=True, exist_ok=True)
        files.sync_folder(folder.parent)
        if writer(folder):
            raise UserError(f"{folder}: an event is being played into it right now")
        refuse_nonempty(folder)  # before a lock is left there
        with lock(folder):
            refuse_nonempty(folder)  # another arena may have just written an event there
            write_atomically(folder / "private.json", canonical(private), mode=0o600)
            write_event(folder, event, announced)


@contextmanager
def staged_folder(folder: Path) -> Iterator[Path]:
    """A folder renamed to `folder` at the end: a killed process leaves no half that looks whole."""
    with writable(folder):
        if folder.exists():
            refuse_nonempty(folder)
        fresh = folder.with_name(f".{folder.name}{_UNFINISHED}")
        if writer(fresh):
            raise UserError(f"{folder}: another arena is making it right now")
        with suppress(FileNotFoundError):
            files.remove_tree(fresh)
        try:
            yield fresh
            files.rename(fresh, folder)
        except BaseException:
            with suppress(FileNotFoundError):
                files.remove_tree(fresh)
            raise
        files.sync_folder(folder.parent)


def refuse_nonempty(folder: Path) -> None:
    """UserError if the folder has files, but for what a killed preparation left."""
    if is_results_folder(folder):
        event = read_event(folder)
        if not event.sandbox:
            raise UserError(f"{folder} holds a prepared event; play it: arena run {folder}")
        if event.finished:
            raise UserError(f"{folder} holds a finished event; choose another folder with --out")
        raise UserError(f"{folder} holds an unfinished event; go on with it: arena resume {folder}")
    if (folder / "tuning.json").exists():
        raise UserError(f"{folder} holds a tuning; go on with it: arena resume {folder}")
    if any(entry.name not in _LEFTOVERS for entry in folder.iterdir()):
        raise UserError(f"{folder} is not empty; choose another folder with --out")


@contextmanager
def claim_folder(out: Path | None, prefix: str = "") -> Iterator[Path]:
    """The folder `out`, or a new one named after the time: `arena-results/PREFIX-TIME`."""
    created: list[Path] = []
    try:
        yield _default(prefix, created) if out is None else _requested(out, created)
    finally:
        for path in reversed(created):
            with suppress(OSError):  # it isn't empty
                path.rmdir()


def _default(prefix: str, created: list[Path]) -> Path:
    first = Path(RESULTS, clock.local(f"{prefix}%Y%m%d-%H%M%S"))
    with writable(first.parent, "; name another folder with --out"):
        _make_all(first.parent, created)
        for number in count(1):
            folder = first if number == 1 else first.with_name(f"{first.name}-{number}")
            with suppress(FileExistsError):  # another command started in the same second
                _make(folder, created)
                return folder
    raise AssertionError


def _requested(out: Path, created: list[Path]) -> Path:
    with writable(out):
        _make_all(out, created)
        refuse_nonempty(out)
        if out not in created:
            with tempfile.TemporaryFile(dir=out):
                pass
    return out


def _make_all(folder: Path, created: list[Path]) -> None:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(20, "a file is in its place", str(folder))
    for path in reversed(missing):
        with suppress(FileExistsError):  # another command has just created it
            _make(path, created)


def _make(folder: Path, created: list[Path]) -> None:
    files.make_folder(folder)
    created.append(folder)
    files.sync_folder(folder.parent)
