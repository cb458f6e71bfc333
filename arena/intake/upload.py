"""An upload as it lies in the inbox: a folder, an archive by its content, or a single file.

Invariants: nothing is reached through a link; no call waits for another process; what has changed
between the first look and the last member is an error, whatever else it looks like by then.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from arena.bots.commands import HEAD
from arena.bots.folder import MAX_ENTRIES, Folder, FolderEntry, os_errors
from arena.bots.plain_text import BotError
from arena.bots.trees import MAX_DEPTH
from arena.intake.caps import Quota, SubmissionError, UnfinishedError, refuse
from arena.intake.members import Member, is_litter
from arena.intake.tar_reader import COMPRESSED, is_tar, tar_members
from arena.intake.zip_reader import zip_members

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_BEGINNINGS = {
    b"PK\3\4": "zip", b"PK\5\6": "zip", b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz",
    b"Rar!": "RAR", b"7z\xbc\xaf": "7z", b"\x28\xb5\x2f\xfd": "Zstandard", b"MSCF": "cabinet",
}  # fmt: skip
_ARCHIVES = (
    ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".zip",
    ".7z", ".rar", ".gz", ".bz2", ".xz", ".zst",
)  # fmt: skip
_PROGRAMS = (".jar", ".pyz", ".whl")  # zip archives that are handed in for what they are
_WANTED = "hand in a .zip or a .tar.gz"
CHANGING = "is still changing; hand it in again when it is complete"


class Upload(NamedTuple):
    name: str
    descriptor: int
    is_folder: bool

    def kind(self) -> str:
        """Which archive it is; empty: none; SubmissionError: one that isn't read here."""
        if self.is_folder or self.name.lower().endswith(_PROGRAMS):
            return ""
        head = os.pread(self.descriptor, HEAD, 0)
        kind = next((kind for begins, kind in _BEGINNINGS.items() if head.startswith(begins)), "")
        if not kind and is_tar(head):
            return "tar"
        if kind and kind != "zip" and kind not in COMPRESSED:
            raise SubmissionError(f"is an archive of the kind {kind}; {_WANTED}")
        if not head.strip(b"\0") and suffix_of(self.name):
            raise UnfinishedError("is empty: the upload is not complete; upload it again")
        if not kind and suffix_of(self.name):
            raise SubmissionError(f"is no archive, though its name says so; {_WANTED}")
        return kind

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[None]:
        """UnfinishedError if it has changed by the end, whatever else was found to be wrong."""
        before, found = self.state(), None
        try:
            yield
        except (SubmissionError, BotError) as error:
            found = error if isinstance(error, SubmissionError) else SubmissionError(str(error))
        if self.state() != before:
            raise UnfinishedError(CHANGING)
        if found:
            raise found

    def members(self, quota: Quota) -> Iterator[Member]:
        info = os.fstat(self.descriptor)
        if self.is_folder:
            yield from _folder_members(Folder(self.descriptor), info.st_uid)
            return
        if info.st_size > quota.caps.upload_mb << 20:
            raise SubmissionError(
                f"has {info.st_size >> 20} MB, {quota.caps.upload_mb} are allowed; leave out what "
                "the bot doesn't need"
            )
        kind = self.kind()
        if kind == "zip":
            yield from zip_members(self.descriptor, quota)
        elif kind:
            yield from tar_members(self.descriptor, kind, quota)
        else:
            executable = bool(info.st_mode & stat.S_IXUSR)
            chunks = partial(_chunks, self.descriptor)
            yield Member(self.name, "file", info.st_size, executable, chunks)

    def state(self) -> str:
        """A text that is another one after any change of content, as far as the system tells."""
        found = hashlib.sha256()

        def add(place: str, info: os.stat_result) -> None:
            numbers = (info.st_mode, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
            found.update(f"{place!r} {numbers}\n".encode())

        add("", os.fstat(self.descriptor))
        if self.is_folder:
            with contextlib.suppress(SubmissionError, BotError):
                for place, entry in _walk(Folder(self.descriptor)):
                    if entry:
                        add(place, entry.info)
        return found.hexdigest()


@contextlib.contextmanager
def open_upload(path: Path) -> Iterator[Upload]:
    with os_errors("can't be read", SubmissionError):
        if not os.path.lexists(path):
            raise UnfinishedError("is gone; upload it again")
        if stat.S_ISLNK(path.lstat().st_mode):
            raise SubmissionError("is a link; put what it leads to in its place")
        descriptor = os.open(path, _READ)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise SubmissionError(f"is neither a file nor a folder; {_WANTED}")
        yield Upload(path.name, descriptor, stat.S_ISDIR(mode))
    finally:
        os.close(descriptor)


def suffix_of(name: str) -> str:
    """The end of a name that says that it is an archive; empty: there is none."""
    return next((name[-len(end) :] for end in _ARCHIVES if name.lower().endswith(end)), "")


def _chunks(descriptor: int) -> Iterator[bytes]:
    at = 0
    while chunk := os.pread(descriptor, 1 << 16, at):
        at += len(chunk)
        yield chunk


def _walk(folder: Folder) -> Iterator[tuple[str, FolderEntry | None]]:
    """Places in a folder and what is there, at the end of links too; without what is dropped."""
    count = 0
    waiting = [""]
    while waiting:
        below = waiting.pop()
        for name in folder.names(below):
            count += 1
            if count > MAX_ENTRIES:
                raise SubmissionError(f"holds more than {MAX_ENTRIES} files and folders")
            place = f"{below}/{name}" if below else name
            if place.count("/") > MAX_DEPTH:  # each is an open descriptor
                raise refuse(place, f"it lies more than {MAX_DEPTH} folders deep; use fewer")
            found = None if is_litter(tuple(place.split("/")), "a link") else folder.find(place)
            if found and found.is_folder and found.place == place:
                waiting.append(place)
            yield place, found


def _folder_members(folder: Folder, owner: int) -> Iterator[Member]:
    for place, found in _walk(folder):
        if found is None:  # dropped, or gone: then the folder has changed
            yield Member(place, "folder", 0, None, lambda: iter(()))
            continue
        kind = "folder" if found.is_folder else "file" if found.is_file else "a device or a pipe"
        info = found.info
        if found.place != place:
            kind = "a link"
        elif info.st_nlink > 1 and info.st_uid != owner and not info.st_mode & stat.S_IROTH:
            # The author may have linked a file that only we, or its owner, can read.
            kind = "a hard link" if found.is_file else kind
        executable = bool(info.st_mode & stat.S_IXUSR)
        chunks = partial(folder.chunks, found)
        yield Member(place, kind, info.st_size, executable, chunks)
