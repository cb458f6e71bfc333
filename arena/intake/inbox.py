"""The inbox: what lies there, whose it is, and whether it is complete.

    inbox/AUTHOR/…  AUTHOR.zip  AUTHOR.tar.gz  AUTHOR.py     by the plain name
    inbox/Given Family_12345_assignsubmission_file_/bot.zip  by the name that a course system gave
    split(export, target)                                    a course system's download of all

An upload is complete if two looks at it, some seconds apart, see the same, and an archive has its
end. Nothing in an upload says whose it is: only what an organiser calls an export is split by the
names in it, since an author could pack a file under somebody else's name.
"""

import contextlib
import stat
from collections import deque
from pathlib import Path
from typing import NamedTuple

from arena.bots.folder import os_errors
from arena.bots.plain_text import printable
from arena.intake.authors import Author, Handed, author_of, handed_in
from arena.intake.caps import (
    CAPS,
    EXPORT,
    MemberError,
    Quota,
    SubmissionError,
    UnfinishedError,
    UploadCaps,
    within,
)
from arena.intake.members import Member, is_litter
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
    problem: str  # why it can't be taken; empty: unpack says


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
                    deque(upload.members(Quota(CAPS)), maxlen=0)
    except UnfinishedError as error:
        missing = str(error)
    except SubmissionError:
        checked = True
    first = before.first if before else now
    return Look(state=state, since=since, first=first, checked=checked, missing=missing)


class Split(NamedTuple):
    entries: list[InboxEntry]
    problems: list[InboxEntry]  # what is refused, by its author if that is known
    others: tuple[str, ...]  # what is no author's, the first few


def split(export: Path, target: Path, caps: UploadCaps = EXPORT) -> Split:
    """Give each author in a course system's download of all a folder in the new folder `target`.

    Each is unpacked afterwards by `unpack`. Texts that were typed into the course system are left
    out; an author who handed in nothing else has no entry. A member that has to be refused is its
    author's problem, and keeps nobody else out.
    """
    with within(export.name), partial_folder(target) as folder, open_upload(export) as upload:
        content = _Export(folder / "export", Quota(caps))
        content.take_all(upload)
        if not content.files:
            raise SubmissionError(
                "holds nothing under a name that Moodle or Canvas gives; put each author's files "
                "into a folder with the author's name"
            )
        content.root.rename(target)
    there = {place[0] for place in content.files}
    entries = [
        InboxEntry(target / number, author, "")
        for author, number in sorted(content.numbers.items(), key=lambda item: item[0].key)
        if number in there and author not in content.problems
    ]
    problems = [
        InboxEntry(export, key if isinstance(key, Author) else None, problem)
        for key, problem in content.problems.items()
    ]
    return Split(entries, problems, tuple(content.dropped))


class _Export(Content):
    """A folder for each author, by number; and what is wrong, by author where there is one."""

    def __init__(self, root: Path, quota: Quota) -> None:
        super().__init__(root, quota, self._place_of_author)
        self.numbers: dict[Author, str] = {}
        self.problems: dict[Author | str, str] = {}

    def _place_of_author(self, place: Place) -> Place | None:
        depth, handed = _handed_in(place)
        if handed is None or not handed.is_bot:
            return None
        inner = (*filter(None, [handed.file]), *place[depth + 1 :])
        if not inner:
            return None
        return (self.numbers.setdefault(handed.author, str(len(self.numbers) + 1)), *inner)

    def judge(self, member: Member) -> Place | None:
        try:
            return super().judge(member)
        except MemberError as error:
            handed = None
            with contextlib.suppress(MemberError):  # that it could be two authors'
                _, handed = _handed_in(tuple(member.name.replace("\\", "/").split("/")))
            self.problems.setdefault(handed.author if handed else str(error), str(error))
            return None


def _handed_in(place: Place) -> tuple[int, Handed | None]:
    """What the first or the second name says: an export may lie in the folder of its unpacking."""
    for depth, part in enumerate(place[:2]):
        if handed := handed_in(part, is_file=depth == len(place) - 1):
            return depth, handed
    return 0, None
