"""Members of an upload: names that a stranger has chosen, made into places in a folder.

Invariant: what `place_of` returns has no way up, no root, no drive and no character that can't be
shown; joined to a folder, it lies in that folder.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from arena.bots.snapshot import IGNORED
from arena.intake.caps import UploadCaps, refuse

NAME_BYTES = 255  # of one name: the most that Linux file systems take

_JOINERS = "\u200c\u200d"  # invisible, but letters of Persian words and of emoji need them
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, marks of direction, halves of characters, ends
_DRIVE = re.compile(r"[A-Za-z]:")
_LITTER = IGNORED | {"__macosx", "desktop.ini", "thumbs.db", ".ds_store"}
_UNIX_LINKS = ("node_modules", ".bin")  # where npm puts links that no bot needs


class Member(NamedTuple):
    """One member of an archive, or file of a folder. Its chunks are read before the next member."""

    name: str  # as it was written, in Unicode
    kind: str  # "file", "folder", or in words what else it is
    size: int
    executable: bool | None  # None: the archive can't say
    chunks: Callable[[], Iterator[bytes]]


def place_of(name: str, caps: UploadCaps) -> tuple[str, ...]:
    """The parts of a member's path, in NFC; SubmissionError for a path that isn't plainly within.

    Archives of Windows separate by backslashes; macOS writes accents as characters of their own.
    """
    path = unicodedata.normalize("NFC", name.replace("\\", "/"))
    parts = tuple(part for part in path.split("/") if part not in {"", "."})
    size = len(path.encode("utf-8", "surrogatepass"))
    if any(unicodedata.category(c) in _HIDDEN and c not in _JOINERS for c in path):
        what = "its name has characters that can't be shown; rename it"
    elif path.startswith("/") or _DRIVE.match(path):
        what = "its path begins at the root of a disk; pack the bot's folder from beside it"
    elif ".." in parts:
        what = "its path leads up (..); pack the bot's folder from beside it"
    elif size > caps.path_bytes:
        what = f"its path has {size} bytes, {caps.path_bytes} are allowed; use shorter names"
    elif max((len(part.encode()) for part in parts), default=0) > NAME_BYTES:
        what = f"its name has more than {NAME_BYTES} bytes; use a shorter one"
    elif len(parts) > caps.depth + 1:
        what = f"it lies more than {caps.depth} folders deep; use fewer"
    else:
        return parts
    raise refuse(name, what)


def is_litter(parts: tuple[str, ...], kind: str) -> bool:
    """Whether a member is dropped: version control, caches, what macOS and Windows leave behind."""
    if kind == "a link" and parts[-3:-1] == _UNIX_LINKS:
        return True
    return any(
        part in _LITTER or part.lower() in _LITTER or part.startswith("._") for part in parts
    )


def text_of(raw: bytes) -> str:
    """A name without a stated encoding: UTF-8 if it is, else Western European.

    Windows wrote names in the code page of DOS (cp437, of which cp850 has the same letters), some
    programs in that of Windows (cp1252). The first in which all is letters of Latin script counts.
    """
    for encoding in ("utf-8", "cp437", "cp1252"):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        foreign = (c for c in text if c > "\x7f")
        if encoding == "utf-8" or all(unicodedata.name(c, "").startswith("LATIN") for c in foreign):
            return text
    return raw.decode("cp437")
