"""Packages that bots need: fetched once, on the user's word; laid out for builds ever after.

    arena fetch:  lock file --> checked --> key --> in the cache? -- no --> fetcher --> cache
    arena run:    lock file --> checked --> key --> in the cache? -- no --> a problem, one line
                                                       yes --> laid over the bot's files

To a cluster's nodes entries travel (bundles.py), since they have the same key there, or no use.

Touches the cache, and on `fetch` alone the network, through the user's own tools. The key covers
the lock file, what its tool reads beside it, and the toolchain, so that another content of one of
them is fetched anew and an event never gets packages that its bots' hashes don't name.

Invariant: an entry of the cache is whole and holds plain files and links; nothing of it has been
run outside of the sandbox.
"""

from __future__ import annotations

import shlex
import shutil
import stat
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from arena.bots import disk_space, locks
from arena.bots.cache import PACKAGES, publish, scratch, there, writing
from arena.bots.discovery import missing_tool
from arena.bots.entries import Candidate, FailedError, Problem
from arena.bots.fetchers import HOME, PYTHON, Fetcher, choose
from arena.bots.interpreters import HiddenToolError, MissingToolError, Toolbox
from arena.bots.locks import Locked, LockError
from arena.bots.plain_text import printable
from arena.bots.snapshot import settle
from arena.bots.trees import ShapeError, inside, measure
from arena.model import Frozen, HostError, NotRun, canonical, sha256_hex

MAX_BYTES = 2 << 30
"""What one bot's packages may hold: numpy has 60 MB, a neural network's library without a
graphics card's 1 GB."""
MAX_FILES = 100_000
RESERVED = (HOME, PYTHON)
"""Names in a bot's folder that builds and packages use."""
_FORMAT = 2
"""Raised when packages are fetched or laid out differently."""


class Packages(Frozen, frozen=True, kw_only=True):
    """A bot's packages, in the cache."""

    folder: str
    key: str
    env: tuple[tuple[str, str], ...] = ()
    compile: tuple[str, ...] = ()
    """A command for the sandbox, once they are in place; if it fails they are only slower."""


class Fetched(Frozen, frozen=True, kw_only=True):
    """What came of fetching, for the bots it was done for."""

    problems: tuple[Problem, ...] = ()
    skipped: tuple[NotRun, ...] = ()


def find(candidate: Candidate, *, cache: Path, toolbox: Toolbox) -> Packages | None:
    """The packages of a bot; None when it wants none; FailedError when they aren't there."""
    if not candidate.lock:
        return None
    wanted = _Wanted(candidate, cache, toolbox)
    if not there(wanted.folder):
        raise FailedError(
            "needs packages that were not fetched: run "
            f"`arena fetch {shlex.quote(candidate.shown)}`"
        )
    return Packages(
        folder=str(wanted.folder),
        key=wanted.folder.name,
        env=wanted.fetcher.env,
        compile=wanted.fetcher.compile if (wanted.folder / PYTHON).is_dir() else (),
    )


def unfetched(candidates: Sequence[Candidate], *, cache: Path) -> tuple[str, ...]:
    """The names of packages that are not in the cache, as `<area>/<key>`. What else stands
    between a bot and its packages is for `find` to tell.
    """
    toolbox = Toolbox([cache, *(Path(candidate.source) for candidate in candidates)])
    names = set()
    for candidate in candidates:
        if candidate.lock:
            with suppress(FailedError, LockError, HiddenToolError, MissingToolError):
                wanted = _Wanted(candidate, cache, toolbox)
                if not there(wanted.folder):
                    names.add(f"{PACKAGES}/{wanted.folder.name}")
    return tuple(sorted(names))


def fetch(
    candidates: Sequence[Candidate], *, cache: Path, report: Callable[[str], None]
) -> Fetched:
    """Get the packages of all bots that name a lock file; `report` gets a line for each."""
    toolbox = Toolbox([cache, *(Path(candidate.source) for candidate in candidates)])
    problems: list[Problem] = []
    skipped: list[NotRun] = []
    for candidate in candidates:
        name = candidate.entrant.id
        if not candidate.lock:
            report(f"{name}: names no lock file in bot.toml, nothing to fetch")
            continue
        try:
            wanted = _Wanted(candidate, cache, toolbox)
            if there(wanted.folder):
                report(f"{name}: already here")
                continue
            wanted.fetcher.find(wanted.locked)
            report(f"{name}: fetching what {candidate.lock} names")
            files, size = wanted.fetch()
            count = "1 file" if files == 1 else f"{files} files"
            report(f"{name}: fetched, {size / 1e6:.1f} MB in {count}")
        except MissingToolError as e:
            missing = missing_tool(candidate, e)
            if isinstance(missing, NotRun):
                skipped.append(missing)
            else:
                problems.append(missing)
        except FailedError as e:
            problems.append(Problem(name=name, path=candidate.shown, lines=e.lines))
        except (LockError, HiddenToolError) as e:
            problems.append(Problem(name=name, path=candidate.shown, lines=(str(e),)))
    return Fetched(problems=tuple(problems), skipped=tuple(skipped))


def place(packages: Packages, made: Path, cache: Path) -> None:
    """Lay a bot's packages over the copy of its files, for its build to change."""
    # By hand: copytree goes on after an error, and loses which one it was.
    folder = Path(packages.folder)
    with writing(cache):
        for path, info in inside(folder):
            target = made / path.relative_to(folder)
            if stat.S_ISDIR(info.st_mode):
                target.mkdir(exist_ok=True)
            elif stat.S_ISLNK(info.st_mode):
                target.symlink_to(path.readlink())
            else:
                shutil.copyfile(path, target)
                target.chmod(0o700 if info.st_mode & stat.S_IXUSR else 0o600)


class _Wanted:
    """What one bot wants, and where it belongs in the cache."""

    def __init__(self, candidate: Candidate, cache: Path, toolbox: Toolbox) -> None:
        self.cache = cache
        self.lock = candidate.lock
        self.locked: Locked = locks.read(candidate.lock, Path(candidate.snapshot))
        self.fetcher: Fetcher = choose(candidate, toolbox)
        files = sorted((path, sha256_hex(data)) for path, data in self.locked.files.items())
        key = sha256_hex(canonical([_FORMAT, self.lock, files, self.fetcher.identity]))
        self.folder = cache / PACKAGES / key

    def fetch(self) -> tuple[int, int]:
        """Fill the cache; return how many files and bytes."""
        with scratch(self.cache, PACKAGES) as folder:
            work, made = folder / "work", folder / "made"
            with writing(self.cache):
                made.mkdir()
                for path, data in self.locked.files.items():
                    (work / path).parent.mkdir(parents=True, exist_ok=True)
                    (work / path).write_bytes(data)
                for path in self.locked.empty:
                    (work / path).parent.mkdir(parents=True, exist_ok=True)
                    (work / path).touch()
            try:
                with writing(self.cache):
                    self.fetcher.fetch(self.locked, work, made)
            except FailedError as e:
                self._not_full(work, e)
                raise
            with writing(self.cache):
                try:
                    files, size = measure(made, most=2 * MAX_FILES)
                except ShapeError as e:
                    raise FailedError(f"{self.lock}: its packages hold {e}") from e
                if files > MAX_FILES or size > MAX_BYTES:
                    raise FailedError(
                        f"{self.lock}: its packages are {size >> 20} MB in {files} files; "
                        f"{MAX_BYTES >> 20} MB in {MAX_FILES} files are allowed"
                    )
                settle(made)
                publish(made, self.folder)
        return files, size

    def _not_full(self, work: Path, error: FailedError) -> None:
        """See that a tool didn't fail for want of room: in the cache, or where it keeps its own."""
        places = [work, Path.home(), Path(tempfile.gettempdir())]
        said = "\n".join(error.lines).encode()
        if what := disk_space.full(work) or disk_space.short(places, MAX_BYTES, said):
            raise HostError(
                f"packages could not be fetched: {what}; make room in your home and in the cache "
                f"{printable(self.cache)}"
            ) from error
