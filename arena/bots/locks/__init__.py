"""Read lock files: exactly which packages a bot needs, and nothing else that could steer a tool.

`arena fetch` hands the result to pip, npm or cargo, which run as the user, outside the sandbox,
with the user's own configuration. So a lock file is hostile text, not configuration:

- every package is pinned to one version; those that packages need are read, too;
- packages come from the registries of the user's tools, or from an archive of the bot's own: no
  version control, no folders of the host, no options. (An npm older than 8.16 takes a package from
  the https address in the lock file.)
- no path leads out of the bot's folder;
- the tool gets only the files in `Locked`: no .npmrc, .cargo/config.toml, rust-toolchain.toml.
  Where possible they are written again, with only what was read.

Every text is bounded before it is parsed, so that each parse ends within a second. Invariant: what
is fetched depends on `Locked.files` and the toolchain alone; they are its key.
"""

from collections.abc import Callable
from pathlib import Path

from arena.bots.folder import Folder, open_folder
from arena.bots.locks.cargo import CARGO_LOCK, read_cargo
from arena.bots.locks.npm import PACKAGE_LOCK, read_npm
from arena.bots.locks.requirements import REQUIREMENTS, canonical_name, read_requirements
from arena.bots.locks.text import Locked, LockError

LEFT_OUT = {PACKAGE_LOCK: frozenset({"node_modules"}), CARGO_LOCK: frozenset({"target"})}
"""Output of the author's own tools beside a lock file: no part of the bot, it is made again."""

_READERS: dict[str, Callable[[Folder], Locked]] = {
    REQUIREMENTS: read_requirements,
    PACKAGE_LOCK: read_npm,
    CARGO_LOCK: read_cargo,
}
LOCKS = tuple(_READERS)  # names of the known lock files


def read(lock: str, snapshot: Path) -> Locked:
    with open_folder(snapshot) as folder:
        return _READERS[lock](folder)
