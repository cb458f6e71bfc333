"""The inbox: what lies there, whose it is, and whether it is complete.

    inbox/AUTHOR/…  AUTHOR.zip  AUTHOR.tar.gz  AUTHOR.py     by the plain name
    inbox/Given Family_12345_assignsubmission_file_/bot.zip  by the name that a course system gave
    split(export, target)                                    a course system's download of all

An upload is complete if two looks at it, some seconds apart, see the same, and an archive has its
end. Nothing in an upload says whose it is: only what an organiser calls an export is split by the
names in it, since an author could pack a file under somebody else's name.
"""

import stat
from collections import deque
from pathlib import Path
from typing import NamedTuple

from arena.bots.folder import os_errors
from arena.bots.plain_text import printable
from arena.intake.authors import Author, author_of, handed_in
from arena.intake.caps import (
    CAPS,
    EXPORT,
    SubmissionError,
    Tally,
    UnfinishedError,
    UploadCaps,
    within,
)
from arena.intake.members import is_litter
from arena.intake.submission import Content, Place, partial_folder
from arena.intake.upload import open_upload
from arena.model import Frozen, UserError

SETTLE = 5.0  # seconds between two looks that see the same: a stalled upload waits less, mostly
PATIENCE = 3600.0  # seconds until an upload that doesn't end is reported
_UNFINISHED = (".part", ".partial", ".filepart", ".crdownload", ".download", ".tmp", ".swp", "~")
"""What programs that upload or edit append to a name until the file is complete."""


class InboxEntry(NamedTuple):
    path: Path
    author: Author | None
    problem: str  # why nobody is the author


def inbox_entries(inbox: Path) -> list[InboxEntry]:
    """What lies in the inbox, by name; without hidden files, and what systems leave behind."""
    with os_errors(f"{printable(inbox)}: can't be read", UserError):
        found = sorted((path.name, path.lstat().st_mode, path) for path in inbox.iterdir())
    return [
        _entry(path, is_file=not stat.S_ISDIR(mode))
        for name, mode, path in found
        if not name.startswith(".") and not is_litter((name,), "file")
    ]


def _entry(path: Path, *, is_file: bool) -> InboxEntry:
    name = path.name
    for end in _UNFINISHED if is_file else ():
        name = name.removesuffix(end)
    try:
        return InboxEntry(path, author_of(name, is_file=is_file), "")
    except SubmissionError as error:
        return InboxEntry(path, None, str(error))


class Look(Frozen, frozen=True, kw_only=True):
    """What was seen of an upload; kept until the next look."""

    state: str
    since: float  # when this state was first seen
    first: float  # when the upload was first seen
    checked: bool = False  # whether the end was looked for, in this state
    missing: str = ""  # why the upload isn't complete; empty: it is

    def problem(self, now: float, patience: float = PATIENCE) -> str:
        """What to report of an upload that hasn't become complete; empty: nothing yet."""
        if not self.missing or now - self.first < patience:
            return ""
        minutes = round((now - self.first) / 60)
        return f"{self.missing} ({minutes} minutes after it was first seen)"


def look(path: Path, before: Look | None, now: float, settle: float = SETTLE) -> Look:
    """Look at an upload (again, if there was a look `before`); SubmissionErrors are left to unpack.

    `now`: seconds of a clock that goes on if the arena doesn't. The end of an archive in a folder
    isn't looked for: for half of one `unpack` raises UnfinishedError.
    """
    state, since, checked, missing = "", now, False, ""
    try:
        with within(path.name), open_upload(path) as upload:
            state = upload.state()
            same = before if before and before.state == state else None
            since = same.since if same else now
            if same and same.checked:
                return same
            checked = now - since >= settle and not path.name.lower().endswith(_UNFINISHED)
            if not checked:
                missing = f"{printable(path.name)}: is not complete; upload it again"
            elif not upload.is_folder:
                with upload.unchanged():
                    deque(upload.members(Tally(CAPS)), maxlen=0)
    except UnfinishedError as error:
        missing = str(error)
    except SubmissionError:
        checked = True
    first = before.first if before else now
    return Look(state=state, since=since, first=first, checked=checked, missing=missing)


class Split(NamedTuple):
    entries: list[InboxEntry]
    others: tuple[str, ...]  # what is no author's, the first few


def split(export: Path, target: Path, caps: UploadCaps = EXPORT) -> Split:
    """Give each author in a course system's download of all a folder in the new folder `target`.

    Each is unpacked afterwards by `unpack`. Texts that were typed into the course system are left
    out; an author who handed in nothing else has no folder.
    """
    places: dict[Author, str] = {}

    def route(place: Place) -> Place | None:
        # The export may be packed with the folder that it was unpacked to.
        for depth, part in enumerate(place[:2]):
            if handed := handed_in(part, is_file=depth == len(place) - 1):
                inner = (*filter(None, [handed.file]), *place[depth + 1 :])
                if not handed.is_bot or not inner:
                    return None
                return (places.setdefault(handed.author, str(len(places) + 1)), *inner)
        return None

    with within(export.name), partial_folder(target) as folder, open_upload(export) as upload:
        content = Content(folder / "export", Tally(caps), route)
        content.take_all(upload)
        if not content.files:
            raise SubmissionError(
                "holds nothing under a name that Moodle or Canvas gives; put each author's files "
                "into a folder with the author's name"
            )
        content.root.rename(target)
    entries = [InboxEntry(target / number, author, "") for author, number in places.items()]
    return Split(sorted(entries, key=lambda entry: str(entry.author)), tuple(content.dropped))
