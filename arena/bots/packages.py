"""Packages that bots need: fetched once into the cache, then copied into builds.

Only `fetch` uses the network, through the user's own tools. The key covers the lock file, the files
that its tool reads beside it, and the toolchain: an event never gets packages that its bots' hashes
don't name. Cluster nodes get entries as bundles.

Invariant: an entry of the cache is whole and holds plain files and links; nothing of it has been
run outside of the sandbox.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir

from arena.bots import locks
from arena.bots.cache import PACKAGES, cache_errors, in_cache, missing_room, publish, scratch
from arena.bots.fetchers import HOME, PYTHON, Fetcher, choose
from arena.bots.interpreters import Toolbox
from arena.bots.locks import Locked
from arena.bots.plain_text import BotError, printable
from arena.bots.roster import Candidate, FailedError, Issues
from arena.bots.snapshot import make_plain
from arena.bots.trees import ShapeError, measure
from arena.model import HostError, canonical, sha256_hex

MAX_BYTES = 2 << 30
"""What one bot's packages may hold: numpy has 60 MB, a neural network's library without a
graphics card's 1 GB."""
MAX_FILES = 100_000
RESERVED = (HOME, PYTHON)  # names in a bot's folder that builds and packages use
_FORMAT = 2  # raised when packages are fetched or laid out differently


def toolbox_of(candidates: Iterable[Candidate], *closed: Path) -> Toolbox:
    return Toolbox([*closed, *(Path(candidate.source) for candidate in candidates)])


def find(candidate: Candidate, *, cache: Path, toolbox: Toolbox) -> Packages | None:
    """The packages of a bot; None if it needs none; FailedError if they were not fetched."""
    if not candidate.stated.lock:
        return None
    packages = Packages(candidate, cache, toolbox)
    if not in_cache(packages.folder):
        raise FailedError(
            f"needs packages that were not fetched: run `arena fetch {shlex.quote(candidate.path)}`"
        )
    return packages


def missing_packages(candidates: Sequence[Candidate], *, cache: Path) -> tuple[str, ...]:
    """Names of packages that are not in the cache; errors are `find`'s to report."""
    toolbox = toolbox_of(candidates, cache)
    names = set()
    for candidate in candidates:
        if candidate.stated.lock:
            with suppress(BotError):
                wanted = Packages(candidate, cache, toolbox)
                if not in_cache(wanted.folder):
                    names.add(f"{PACKAGES}/{wanted.key}")
    return tuple(sorted(names))


def fetch(candidates: Sequence[Candidate], *, cache: Path, report: Callable[[str], None]) -> Issues:
    """Fetch the packages of all bots that name a lock file; `report` gets a line for each."""
    toolbox = toolbox_of(candidates, cache)
    issues = Issues()
    for candidate in candidates:
        name = candidate.entrant.id
        if not candidate.stated.lock:
            report(f"{name}: names no lock file in bot.toml, nothing to fetch")
            continue
        with issues.of(candidate):
            wanted = Packages(candidate, cache, toolbox)
            if in_cache(wanted.folder):
                report(f"{name}: already here")
                continue
            wanted.fetcher.find(wanted.locked)
            report(f"{name}: fetching what {candidate.stated.lock} names")
            files, size = wanted.fetch()
            count = "1 file" if files == 1 else f"{files} files"
            report(f"{name}: fetched, {size / 1e6:.1f} MB in {count}")
    return issues


class Packages:
    def __init__(self, candidate: Candidate, cache: Path, toolbox: Toolbox) -> None:
        self._cache = cache
        self.lock = candidate.stated.lock
        self.locked: Locked = locks.read(candidate.stated.lock, Path(candidate.snapshot))
        self.fetcher: Fetcher = choose(candidate, toolbox)
        files = sorted((path, sha256_hex(data)) for path, data in self.locked.files.items())
        self.key = sha256_hex(canonical([_FORMAT, self.lock, files, self.fetcher.identity]))
        self.folder = cache / PACKAGES / self.key

    @property
    def compile(self) -> tuple[str, ...]:
        """Run in the sandbox once they are in place; if it fails they only start slower."""
        return self.fetcher.compile if (self.folder / PYTHON).is_dir() else ()

    def fetch(self) -> tuple[int, int]:
        """Fill the cache; return how many files and bytes."""
        with scratch(self._cache, PACKAGES) as folder:
            work, made = folder / "work", folder / "made"
            with cache_errors(self._cache):
                made.mkdir()
                given = {**dict.fromkeys(self.locked.empty, b""), **self.locked.files}
                for path, data in given.items():
                    (work / path).parent.mkdir(parents=True, exist_ok=True)
                    (work / path).write_bytes(data)
            try:
                with cache_errors(self._cache):
                    self.fetcher.fetch(self.locked, work, made)
            except FailedError as e:
                # Its own disk, or the cache's, may be full.
                output, homes = "\n".join(e.lines).encode(), (Path.home(), Path(gettempdir()))
                if what := missing_room(work, MAX_BYTES, output, *homes):
                    raise HostError(
                        f"packages could not be fetched: {what}; make room in your home and in the "
                        f"cache {printable(self._cache)}"
                    ) from e
                raise
            with cache_errors(self._cache):
                try:
                    files, size = measure(made, most=2 * MAX_FILES)
                except ShapeError as e:
                    raise FailedError(f"{self.lock}: its packages hold {e}") from e
                if files > MAX_FILES or size > MAX_BYTES:
                    raise FailedError(
                        f"{self.lock}: its packages are {size >> 20} MB in {files} files; "
                        f"{MAX_BYTES >> 20} MB in {MAX_FILES} files are allowed"
                    )
                make_plain(made)
                publish(made, self.folder)
        return files, size
