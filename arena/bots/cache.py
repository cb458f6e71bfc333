"""The cache: a folder of snapshots, builds and packages, by hash.

    bots/<content hash>/  a bot's files     builds/<key>/  the same after its build
    packages/<key>/       from `arena fetch`, copied over a bot's files before its build
    starts/<key>/         empty: a bot has started here

The time of an entry's folder is that of its last use, for `arena clean --older-than`.

Invariant: an entry appears whole, by one rename, and is never changed afterwards; several arenas
may fill and read the same cache at once. Entries that other users could have made are refused. A
killed arena leaves folders with the temporary prefix, which the next one removes.
"""

import contextlib
import errno
import fcntl
import grp
import os
import pwd
import re
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from arena.bots.folder import open_path, os_errors, trusted_users
from arena.bots.plain_text import printable
from arena.bots.trees import ShapeError, measure, remove
from arena.exhaustion import NO_QUOTA, NO_SPACE, ran_out, ran_out_in
from arena.model import UserError
from arena.sandbox.temporary import locked_folder, sweep
from arena.system import clock

BOTS = "bots"
BUILDS = "builds"
PACKAGES = "packages"
STARTS = "starts"
AREAS = (BOTS, BUILDS, PACKAGES, STARTS)

LITTLE = 256 << 10  # a disk with less room than this is full
_FILES = 16  # or with fewer free files

_LOCK = "lock"
_TEMPORARY = "tmp-arena-"
_LOCKED = f"{_TEMPORARY}stack-"  # prefix of folders that their makers lock; older versions did not
_ENTRY = re.compile(rf"[0-9a-f]{{64}}|{_TEMPORARY}.*")


def default_cache() -> Path:
    """$XDG_CACHE_HOME/nine-arena, or ~/.cache/nine-arena; for root /var/cache/nine-arena if its
    home is another user's (sudo), or closed to the spare users that its bots run as.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # Its specification says to ignore relative paths.
    if named.is_absolute():
        return named / "nine-arena"
    home = Path.home()
    closed = False
    if os.geteuid() == 0 and home.is_dir():
        info = home.stat()
        closed = info.st_uid != 0 or not info.st_mode & stat.S_IXOTH
    return Path("/var/cache" if closed else home / ".cache", "nine-arena")


@contextlib.contextmanager
def scratch(cache: Path, area: str) -> Iterator[Path]:
    """A private folder on the cache's own file system, removed afterwards."""
    with cache_errors(cache):
        (cache / area).mkdir(mode=_mode(), parents=True, exist_ok=True)
        stack = contextlib.ExitStack()
        folder = stack.enter_context(locked_folder(cache / area, _LOCKED))
    with stack:
        with cache_errors(cache):
            folder.chmod(0o711)  # root's builds run as another user
        yield folder


def cache_errors(cache: Path) -> contextlib.AbstractContextManager[None]:
    """Convert errors of writing to the cache: no bot is to blame for them."""
    remedy = "; make room there, or set XDG_CACHE_HOME to another folder"
    return os_errors(f"can't write to the cache {printable(cache)}", UserError, remedy)


def publish(made: Path, final: Path) -> None:
    """Rename a finished folder to an entry; if another arena was faster, its entry stays."""
    try:
        made.rename(final)
    except OSError as e:
        if e.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR} or not in_cache(final):
            raise


def in_cache(entry: Path, *, used: bool = True) -> bool:
    """Whether an entry is there; UserError for one that another user has made, and may exchange.
    `used`: it is about to be.
    """
    try:
        own = is_own(entry)
    except (FileNotFoundError, NotADirectoryError):
        return False
    if not own:
        raise UserError(
            f"{printable(entry)} was not made by arena: it is a link, belongs to another user, or "
            "others can write to it; remove it"
        )
    if used:
        with contextlib.suppress(OSError):  # another user's
            os.utime(entry, ns=(entry.stat().st_atime_ns, int(clock.unix() * 1e9)))
    return True


def discard(entry: Path) -> None:
    """Remove a damaged entry, for other arenas in one step."""
    with scratch(entry.parent.parent, entry.parent.name) as aside, contextlib.suppress(OSError):
        entry.rename(aside / entry.name)


@contextlib.contextmanager
def in_use(cache: Path) -> Iterator[Path]:
    """Lock out `clean_cache` while bots are started from here; remove what killed arenas left."""
    with cache_errors(cache):
        cache.mkdir(mode=_mode(), parents=True, exist_ok=True)
        _refuse_shared(cache)
        _close_listing(cache)
        lock = (cache / _LOCK).open("ab")
    for area in AREAS:
        sweep(cache / area, _LOCKED)
    with lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield cache


def _refuse_shared(cache: Path) -> None:
    """UserError if other users can change the cache: an entry is trusted by its name alone."""
    for place in (cache, *(cache / area for area in AREAS)):
        if os.path.lexists(place) and (why := write_risk(place)):
            raise UserError(
                f"other users can change the cache {printable(cache)}: {printable(why)}; set "
                "XDG_CACHE_HOME to a folder of your own, or take that right away (chmod go-w)"
            )


def _mode() -> int:
    """Bots are private; where there are no mounts, root's spare users must pass through."""
    return 0o711 if os.geteuid() == 0 else 0o700


def _close_listing(cache: Path) -> None:
    """Take away the right of other users to list the cache, which older versions gave."""
    for place in (cache, *(cache / area for area in AREAS)):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            info = place.lstat()
            wider = stat.S_IMODE(info.st_mode) & 0o777 & ~_mode()
            if wider and info.st_uid == os.geteuid() and stat.S_ISDIR(info.st_mode):
                place.chmod(stat.S_IMODE(info.st_mode) & ~wider)


class AreaSize(NamedTuple):
    """How much of an area of the cache is deleted, and how much stays."""

    deleted: int = 0  # entries
    size: int = 0  # bytes of their files
    left: int = 0
    left_size: int = 0


def clean_cache(
    cache: Path, *, unused_s: float = 0, kept: Collection[str] = (), dry_run: bool = False
) -> Mapping[str, AreaSize]:
    """Remove snapshots, builds and packages that haven't been used for so long, and nothing else.
    `kept`: areas that stay. Results folders keep the bots of their events themselves.
    """
    if not cache.is_dir():
        return {}
    _refuse_shared(cache)
    with (cache / _LOCK).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(
                f"{printable(cache)} is in use by an event that is being played; "
                "wait for it, or stop it with arena stop"
            ) from None
        before = clock.unix() - unused_s
        return {
            area: _clean(cache / area, 0 if area in kept else before, dry_run) for area in AREAS
        }


def _clean(area: Path, before: float, dry_run: bool) -> AreaSize:  # noqa: FBT001
    found = AreaSize()
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for entry in sorted(area.iterdir()):
            if not (_ENTRY.fullmatch(entry.name) and is_own(entry)):
                continue
            try:
                _, size = measure(entry)
            except (OSError, ShapeError):  # of a build that was killed
                size = 0
            if entry.stat().st_mtime > before:
                found = found._replace(left=found.left + 1, left_size=found.left_size + size)
                continue
            found = found._replace(deleted=found.deleted + 1, size=found.size + size)
            if not dry_run:
                # Renamed first: half an entry must not pass for a whole one.
                gone = entry.with_name(f"{_TEMPORARY}gone-{entry.name}")
                with contextlib.suppress(OSError):
                    entry = entry.rename(gone)  # noqa: PLW2901 - it is the same entry
                with contextlib.suppress(OSError):
                    remove(entry)
    return found


def write_risk(path: Path) -> str:
    """Why other users can change a folder; empty if they can't. By the rule of ssh for folders of
    keys: nobody but this user and root can write to it, or to any folder on the way to it.
    """
    try:
        with open_path(path) as reached:
            for shown, info in reached.passed:
                # In a folder such as /tmp only its owner can exchange an entry.
                sticky = stat.S_ISDIR(info.st_mode) and info.st_mode & stat.S_ISVTX
                if why := _why(info, writable=not sticky):
                    return f"{shown} {why}"
            why = _why(reached.info, writable=True)
            return f"{path} {why}" if why else ""
    except PermissionError as e:
        return e.strerror or "it can't be read"


def is_own(path: Path) -> bool:
    """Whether a path is a folder, not a link, of this user or root that no other can write to."""
    info = path.lstat()
    return stat.S_ISDIR(info.st_mode) and not _why(info, writable=True)


def _why(info: os.stat_result, *, writable: bool) -> str:
    if info.st_uid not in trusted_users():
        return f"belongs to {_user(info.st_uid)}"
    if stat.S_ISLNK(info.st_mode) or not writable:
        return ""
    if info.st_mode & stat.S_IWOTH:
        return "can be written to by everybody"
    if info.st_mode & stat.S_IWGRP and not _private(info.st_gid, info.st_uid):
        return "can be written to by its group"
    return ""


def _user(uid: int) -> str:
    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"user {uid}"


def _private(gid: int, uid: int) -> bool:
    """Whether a group has only its user, of the same name, as many systems create it."""
    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(uid)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and not {*group.gr_mem} - {user.pw_name}


def missing_room(folder: Path, promised: int, output: bytes, *others: Path) -> str:
    """What has run out (blocks, files or a quota): if the folder's disk is full, or if a program's
    output says so and its disk, or one of the `others`, lacks the promised bytes. Empty: nothing.

    Output may be an author's words, and the files that filled the disk are often gone by then.
    """
    disk = os.statvfs(folder)  # not the blocks kept for root: a build runs as another user
    if disk.f_bavail * disk.f_frsize < LITTLE or (disk.f_files and disk.f_favail < _FILES):
        return NO_SPACE
    if refused := _refused(folder, LITTLE):
        return refused
    what = ran_out_in(output.decode(errors="replace"))
    for each in (folder, *others):
        disk = os.statvfs(each)
        if what == NO_SPACE and disk.f_bavail * disk.f_frsize < promised:
            return what
        if what == NO_QUOTA and (refused := _refused(each, promised)):
            return refused
    return ""


def _refused(folder: Path, size: int) -> str:
    """Why a file of that size can't be made: only trying shows a quota."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as e:
        return ran_out(e)
    return ""
