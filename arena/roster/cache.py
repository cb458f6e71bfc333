"""The folder where snapshots and builds are kept, by hash.

    <cache>/bots/<content hash>/      a bot's files as they were, read-only
    <cache>/builds/<build key>/       the same after its build
    <cache>/packages/<key>/           packages that `arena fetch` has got, as they are laid
                                      over a bot's files before its build

Touches only that folder. Invariant: an entry appears whole, by one rename, and is never
changed afterwards; several arenas may fill and read the same cache at once. What a killed
arena leaves behind is a folder with the temporary prefix, which only `clean_cache` looks at.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from arena.exhaustion import ran_out
from arena.model import HostError, UserError
from arena.roster.plain import printable
from arena.roster.trees import ShapeError, measure, remove

BOTS = "bots"
BUILDS = "builds"
PACKAGES = "packages"

_LOCK = "lock"
_TEMPORARY = "tmp-arena-"
_ENTRY = re.compile(rf"[0-9a-f]{{64}}|{_TEMPORARY}.*")


def default_cache() -> Path:
    """The cache of this user: $XDG_CACHE_HOME/nine-arena, or ~/.cache/nine-arena; root's, if the
    spare users that its bots run as can't enter its home, /var/cache/nine-arena.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The specification of that variable says that relative paths are to be ignored.
    if named.is_absolute():
        return named / "nine-arena"
    home = Path.home()
    closed = os.geteuid() == 0 and home.is_dir() and not home.stat().st_mode & stat.S_IXOTH
    return Path("/var/cache" if closed else Path.home() / ".cache", "nine-arena")


@contextlib.contextmanager
def scratch(cache: Path, area: str) -> Iterator[Path]:
    """A private folder on the cache's own file system, gone afterwards with what it holds."""
    with writing(cache):
        (cache / area).mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=cache / area))
        folder.chmod(0o711)  # root's builds run as another user
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError):  # `clean_cache` will look at it again
            remove(folder)


@contextlib.contextmanager
def writing(cache: Path) -> Iterator[None]:
    """Turn trouble with the cache into one line: the machine's if something has run out, else for
    the user to see to. No bot is to blame for it.
    """
    try:
        yield
    except OSError as e:
        what = ran_out(e)
        raise (HostError if what else UserError)(
            f"can't write to the cache {printable(cache)}: {what or e.strerror}; "
            "make room there, or set XDG_CACHE_HOME to another folder"
        ) from e


def publish(made: Path, final: Path) -> None:
    """Make a finished folder an entry; if another arena was faster, its entry stays."""
    try:
        made.rename(final)
    except OSError as e:
        if e.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise


def discard(entry: Path) -> None:
    """Take a damaged entry away, in one step for everybody else."""
    with scratch(entry.parent.parent, entry.parent.name) as aside, contextlib.suppress(OSError):
        entry.rename(aside / entry.name)


@contextlib.contextmanager
def in_use(cache: Path) -> Iterator[None]:
    """Keep `clean_cache` out while bots are started from here."""
    with writing(cache):
        cache.mkdir(parents=True, exist_ok=True)
        lock = (cache / _LOCK).open("ab")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def clean_cache(cache: Path) -> tuple[int, int]:
    """Remove all snapshots, builds and packages; return how many files and bytes they were.

    Removes nothing that doesn't bear a name that this module gives, and nothing at all while an
    event is being played from here.
    """
    if not cache.is_dir():
        return 0, 0
    with (cache / _LOCK).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(
                f"{printable(cache)} is in use by an event that is being played; "
                "wait for it, or stop it with arena stop"
            ) from None
        return _clean(cache)


def _clean(cache: Path) -> tuple[int, int]:
    files = size = 0
    for area in (BOTS, BUILDS, PACKAGES):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for entry in sorted((cache / area).iterdir()):
                if _ENTRY.fullmatch(entry.name) and not entry.is_symlink() and entry.is_dir():
                    try:
                        count, total = measure(entry)
                    except (OSError, ShapeError):  # of a build that was killed
                        count, total = 0, 0
                    # Renamed first: half an entry must not be taken for a whole one.
                    gone = entry.with_name(f"{_TEMPORARY}gone-{entry.name}")
                    with contextlib.suppress(OSError):
                        entry = entry.rename(gone)  # noqa: PLW2901 - it is the same entry
                    with contextlib.suppress(OSError):
                        remove(entry)
                    files += count
                    size += total
    return files, size
