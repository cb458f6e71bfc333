"""Shared by the lock readers: bounded reading of files, and what is handed to a tool."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from arena.bots.folder import Folder
from arena.bots.plain_text import BotError, printable

LOCK_BYTES = 1 << 20
"""Of a lock file, and of all manifests of a bot together: the largest projects have half of it, and
a parse must end within a second."""
PACKAGES = 2000
"""Most packages in a lock file, and most dependencies: tools take memory and minutes for each ten
thousand, and 2,000 packages of 50 files are all the files that packages may have."""


class LockError(BotError):
    """A lock file is refused: one line with its name."""


class Locked(NamedTuple):
    """The input of a package tool."""

    files: dict[str, bytes]  # by path; the fetched packages depend on them
    empty: tuple[str, ...] = ()  # files that only have to exist
    names: frozenset[str] = frozenset()
    """The packages from a registry, as far as they can be told from others."""
    hashes: bool = False


def check_count(name: str, count: int) -> None:
    if count > PACKAGES:
        raise LockError(
            f"{printable(name)} names {count} packages; a bot may have {PACKAGES}, with all "
            "their dependencies"
        )


def read_file(folder: Folder, name: str, most: int = LOCK_BYTES) -> bytes:
    found = folder.find(name)
    if found is None:
        raise LockError(
            f"{name} is not in the bot's folder; put it there, or take `lock` out of bot.toml"
        )
    if not found.is_file:
        raise LockError(f"{name} is not a file")
    data = folder.read(found, most + 1)
    if len(data) > most:
        raise LockError(f"{printable(name)} is larger than {most >> 20} MB")
    return data


def read_files(
    folder: Folder, names: Iterable[str], most: int = LOCK_BYTES, each: int = LOCK_BYTES
) -> dict[str, bytes]:
    """Several files, at most `each` bytes of one and `most` of all."""
    files = {}
    size = 0
    for name in names:
        files[name] = read_file(folder, name, each)
        size += len(files[name])
        if size > most:
            shown = printable(name)
            raise LockError(f"{shown}: with this file there are more than {most >> 20} MB")
    return files


def as_table(value: Any) -> dict[str, Any]:  # noqa: ANN401 - TOML
    """A table; anything else counts as an empty one."""
    return value if isinstance(value, dict) else {}
