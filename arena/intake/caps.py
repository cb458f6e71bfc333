"""What a submission may hold, and the errors of one that is refused."""

import contextlib
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from arena.bots.plain_text import printable
from arena.bots.snapshot import MAX_BYTES, MAX_FILES
from arena.model import Frozen, UserError

_FREE = 16 << 20  # bytes that may be unpacked from any upload, whatever the ratio
_SHOWN = 120  # characters shown of a member's name

_MB = Annotated[int, Meta(ge=1, le=1 << 20)]
_Number = Annotated[int, Meta(ge=1, le=1_000_000)]


class UploadCaps(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one submission. An archive within the upload counts towards the same limits."""

    upload_mb: _MB = MAX_BYTES >> 20
    """The upload as it is: weights of a neural network hardly shrink when they are packed."""
    total_mb: _MB = MAX_BYTES >> 20  # unpacked: a bot may not be larger
    file_mb: _MB = MAX_BYTES >> 20
    files: _Number = MAX_FILES  # files and folders: a bot may not have more
    ratio: _Number = 200
    """Unpacked bytes for one of the upload: source text has 4, tables up to 50, a bomb 1,000."""
    depth: Annotated[int, Meta(ge=0, le=60)] = 32  # node_modules nest up to 15 folders deep
    path_bytes: Annotated[int, Meta(ge=1, le=2000)] = 1024  # half of what a bot's file may have


CAPS = UploadCaps()
EXPORT = UploadCaps(upload_mb=8192, total_mb=8192, files=400_000)
"""A whole class: 300 authors of 25 MB. Each author's part has limits of its own afterwards."""


class SubmissionError(UserError):
    """A submission is refused: one line that says what was wrong, where, and what to do."""


class UnfinishedError(SubmissionError):
    """The upload isn't whole, or is still changing: later it may be taken."""


class MemberError(SubmissionError):
    """One member of an upload is the reason why it is refused."""


def refuse(member: str, what: str) -> MemberError:
    return MemberError(f"{printable(member, _SHOWN)}: {what}")


@contextlib.contextmanager
def within(name: str) -> Iterator[None]:
    """Put the name of the upload, or of the archive within it, before what is wrong in it."""
    try:
        yield
    except SubmissionError as error:
        raise type(error)(f"{printable(name, _SHOWN)}: {error}") from None


class Quota:
    """Counts what one submission has come to, across archives within archives."""

    def __init__(self, caps: UploadCaps) -> None:
        self.caps = caps
        self.files = 0
        self.bytes = 0
        self.packed = 0  # bytes of the outermost archive; 0: a folder, or a plain file

    def count_files(self, number: int = 1) -> None:
        self.files += number
        if self.files > self.caps.files:
            raise SubmissionError(
                f"holds more than {self.caps.files} files and folders; leave out what the bot "
                "doesn't need (.git, caches, virtual environments)"
            )

    def count_bytes(self, number: int) -> None:
        self.bytes += number
        if self.bytes > self.caps.total_mb << 20:
            raise SubmissionError(
                f"holds more than {self.caps.total_mb} MB unpacked; leave out what the bot "
                "doesn't need"
            )
        if self.packed and self.bytes > max(_FREE, self.caps.ratio * self.packed):
            raise SubmissionError(
                f"unpacks to more than {self.caps.ratio} times its size; leave out what the bot "
                "doesn't need, or hand in a folder"
            )
