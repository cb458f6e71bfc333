"""Lock files: exactly which packages a bot wants, and nothing else that a tool could be told.

Reads a bot's snapshot. `arena fetch` hands what is found here to pip, npm or cargo, which run as
the user, outside the sandbox, and with the user's own configuration. So a lock file is read as
hostile text, not as a configuration:

- every package is pinned to one version;
- none comes from elsewhere than the registries that the user's tools are set up for, or from an
  archive of the bot's own: no version control, no folders of the host, no options. An npm older
  than 8.16 alone takes a package from the https address that the lock file names for it;
- what packages depend on is read as well, since a tool asks for what a lock file lacks;
- no path leads out of the bot's folder;
- the tool gets only the files in `Locked`: no .npmrc, .cargo/config.toml, rust-toolchain.toml. What
  can be written anew is, with nothing in it that was not read.

Every text is bounded before it is parsed, so that each parse ends within a second.

Invariant: what is fetched follows from `Locked.files` and the toolchain; they are its key.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arena.bots.folder import Folder, SnapshotError, opened
from arena.bots.locks.cargo import CARGO_LOCK, read_cargo
from arena.bots.locks.npm import PACKAGE_LOCK, read_npm
from arena.bots.locks.requirements import REQUIREMENTS, canonical_name, read_requirements
from arena.bots.locks.text import Locked, LockError

__all__ = [
    "CARGO_LOCK",
    "LEFT_OUT",
    "LOCKS",
    "PACKAGE_LOCK",
    "REQUIREMENTS",
    "LockError",
    "Locked",
    "canonical_name",
    "read",
]

LEFT_OUT = {
    PACKAGE_LOCK: frozenset({"node_modules"}),
    CARGO_LOCK: frozenset({"target"}),
}
"""What the author's own tools have made beside a lock file: no part of the bot, made anew."""

_READERS: dict[str, Callable[[Folder], Locked]] = {
    REQUIREMENTS: read_requirements,
    PACKAGE_LOCK: read_npm,
    CARGO_LOCK: read_cargo,
}
LOCKS = tuple(_READERS)
"""The lock files that are known, by name."""


def read(lock: str, snapshot: Path) -> Locked:
    """Read the lock file of a bot and what belongs to it; LockError when it doesn't do."""
    try:
        with opened(snapshot) as folder:
            return _READERS[lock](folder)
    except SnapshotError as e:
        raise LockError(str(e)) from e
