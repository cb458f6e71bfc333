"""Unpack one submission into a plain folder that bots are loaded from.

    upload (zip, tar, folder, file)  ->  members  ->  files below .TARGET.partial  ->  TARGET

All members are judged before the first is written. An archive that is all that an upload holds is
unpacked in turn, once. Folders that hold nothing but one folder are left out of the paths.
`.TARGET.partial` becomes TARGET by one rename; the next try removes what a killed process left.

Invariants: a file is created, and never opened again, in folders that were made here, under a path
that no other member has; so nothing is written outside. A refused upload leaves nothing behind.
Nothing of an upload is run, and no program is run on it: git would obey its configuration.
"""

import contextlib
import os
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath

from arena.bots.commands import LANGUAGES, is_program, is_script
from arena.bots.folder import open_folder, os_errors
from arena.bots.plain_text import BotError, printable
from arena.bots.snapshot import content_hash, listing, set_modes
from arena.bots.trees import remove
from arena.intake.caps import (
    CAPS,
    Quota,
    SubmissionError,
    UnfinishedError,
    UploadCaps,
    refuse,
    within,
)
from arena.intake.members import Member, is_litter, place_of
from arena.intake.upload import CHANGING, Upload, open_upload, suffix_of
from arena.model import Frozen, UserError

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_SHOWN = 20  # dropped names that are listed
_HEAD = 8  # bytes that tell a program or a script, after a byte-order mark too

Place = tuple[str, ...]


class Unpacked(Frozen, frozen=True, kw_only=True):
    """What lies in the target. `digest` is the content hash that a bot with these files has."""

    digest: str
    files: int
    bytes: int
    dropped: tuple[str, ...]  # what was left out, the first few


def unpack(source: Path, target: Path, caps: UploadCaps = CAPS) -> Unpacked:
    """Unpack into the new folder `target`; SubmissionError in one line, and nothing is left."""
    quota = Quota(caps)
    with within(source.name), partial_folder(target) as folder:
        with open_upload(source) as upload:
            content = Content(folder / "upload", quota)
            content.take_all(upload)
            archives = [place for place in content.files if suffix_of(place[-1])]
            nested = archives == content.files and (upload.is_folder or bool(upload.kind()))
        if nested and len(archives) > 1:
            raise SubmissionError(f"holds {len(archives)} archives; leave only the one that counts")
        if nested and archives:
            outer, content = content, Content(folder / "archive", quota)
            content.dropped = outer.dropped
            inner = outer.root.joinpath(*archives[0])
            with within(inner.name), open_upload(inner) as upload:
                content.take_all(upload)
        return content.finish(target)


@contextlib.contextmanager
def partial_folder(target: Path) -> Iterator[Path]:
    """An empty folder beside `target`, which is removed at the end."""
    folder = target.with_name(f".{target.name}.partial")
    with os_errors(f"{printable(target)}: can't be unpacked to", UserError):
        remove(folder)
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            remove(folder)


class Content:
    """Files of an upload, written below `root`. `route`: another place for one, or none."""

    def __init__(
        self, root: Path, quota: Quota, route: Callable[[Place], Place | None] = lambda place: place
    ) -> None:
        self.root = root
        self.files: list[Place] = []
        self.bytes = 0
        self.dropped: list[str] = []
        self._quota = quota
        self._route = route
        self._taken: dict[str, tuple[Place, bool]] = {}
        """By the path in lower case: the place, and whether it is a folder."""

    def take_all(self, upload: Upload) -> None:
        with upload.unchanged():
            judged = [(self.judge(each), each[:-1]) for each in upload.members(self._quota)]
            for (place, seen), member in zip(judged, upload.members(self._quota), strict=False):
                if member[:-1] != seen:
                    raise UnfinishedError(CHANGING)
                if place and member.kind == "file":
                    self._write(place, member)

    def finish(self, target: Path) -> Unpacked:
        """Give the content its final place, without folders that hold nothing but one folder."""
        if not self.files:
            raise SubmissionError("holds no files; hand in the bot's folder, as .zip or .tar.gz")
        depth = 0
        while len({place[depth : depth + 1] for place in self.files}) == 1 and all(
            len(place) > depth + 1 for place in self.files
        ):
            depth += 1
        root = self.root.joinpath(*self.files[0][:depth])
        if len(self.files) == 1:
            _name_program(root / self.files[0][-1])
        set_modes(root, folders=0o755, files=0o644)
        try:
            with open_folder(root) as folder:
                digest = content_hash(listing(folder))
        except BotError as error:
            raise SubmissionError(str(error)) from None
        root.rename(target)
        return Unpacked(
            digest=digest,
            files=len(self.files),
            bytes=self.bytes,
            dropped=tuple(self.dropped[:_SHOWN]),
        )

    def judge(self, member: Member) -> Place | None:
        """Where a member is written; None: it is left out; SubmissionError: it is refused."""
        caps = self._quota.caps
        place = place_of(member.name, caps)
        if not place and member.kind != "folder":
            raise refuse(member.name, "it has no name; give it one")
        routed = None if not place or is_litter(place, member.kind) else self._route(place)
        if routed is None:
            if place and len(self.dropped) < _SHOWN:
                self.dropped.append(printable("/".join(place)))
            return None
        if member.kind not in {"file", "folder"}:
            raise refuse(
                member.name,
                f"is {member.kind}; only files and folders are taken: leave it out, or put a copy "
                "in its place",
            )
        place = place_of("/".join(routed), caps)  # a route takes names apart
        self._claim(place, member)
        if member.kind == "file":
            if member.size > caps.file_mb << 20:
                raise refuse(member.name, f"has more than {caps.file_mb} MB; leave it out")
            self._quota.count_bytes(member.size)
        return place

    def _claim(self, place: Place, member: Member) -> None:
        """Make sure that no other member has the place, nor one that some file systems mix up."""
        for depth in range(len(place), 0, -1):
            is_folder = depth < len(place) or member.kind == "folder"
            mine = (place[:depth], is_folder)
            key = unicodedata.normalize("NFC", "/".join(mine[0]).casefold())
            other = self._taken.setdefault(key, mine)
            if other is mine:
                self._quota.count_files()
            elif other == mine and is_folder:
                return  # and so are the folders above
            elif other[0] == mine[0]:
                raise refuse(member.name, "is there twice; leave out one")
            else:
                name = printable("/".join(other[0]))
                raise refuse(member.name, f"is {name} but for upper and lower case; rename one")

    def _write(self, place: Place, member: Member) -> None:
        path = self.root.joinpath(*place)
        path.parent.mkdir(parents=True, exist_ok=True)
        size, head = 0, b""
        with open(path, "xb", opener=lambda name, _: os.open(name, _NEW, 0o600)) as out:
            for chunk in member.chunks():
                size, head = size + len(chunk), head or chunk[:_HEAD]
                if size > member.size:
                    break
                out.write(chunk)
            if size != member.size:
                raise UnfinishedError(CHANGING)
            executable = member.executable
            if executable is None:
                executable = is_program(head) or is_script(head)
            os.fchmod(out.fileno(), 0o700 if executable else 0o600)
        self.files.append(place)
        self.bytes += size


def _name_program(path: Path) -> None:
    """Give a single script or program the name by which a folder's bot is found."""
    suffix = PurePath(path.name).suffix
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if suffix in LANGUAGES or (not suffix and (is_program(head) or is_script(head))):
        path.rename(path.with_name(f"bot{suffix}"))
