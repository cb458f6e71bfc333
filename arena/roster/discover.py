"""From paths to candidates: what each path is, what is wrong with it, who enters.

Reads what the paths name, fills the cache with snapshots. Bad entrants never raise: each
becomes a Problem, so that the caller can show all together. Only trouble with the cache
itself does (UserError).

Invariant: everything known of a candidate was read from its snapshot, not from the folder
that its author may be editing.
"""

from __future__ import annotations

import contextlib
import os
import stat
import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from arena.labels import label_fault
from arena.model import Entrant, NotRun
from arena.roster import locks, manifest
from arena.roster.carried import carried
from arena.roster.commands import (
    LANGUAGES,
    CommandError,
    entry,
    head,
    is_program,
    is_script,
    resolve,
    shebang,
)
from arena.roster.entries import Candidate, Problem, Roster
from arena.roster.interpreters import HiddenToolError, MissingToolError, Toolbox
from arena.roster.locks import LEFT_OUT, LockError
from arena.roster.manifest import Manifest, ManifestError
from arena.roster.plain import did_you_mean, printable
from arena.roster.snapshot import (
    IGNORED,
    MAX_BYTES,
    File,
    Snapshot,
    SnapshotError,
    content_hash,
    find,
    listing,
    take,
)

VERSION_DIGITS = 8
"""Digits of the content hash that stand for a version."""
_HASH_SHOWN = 12
"""And of one that is told."""
_SHOWN = 6
"""Names listed in a note before it says how many more there are."""
_LITTER = frozenset(
    {"AUTHORS", "CHANGELOG", "CONTRIBUTING", "COPYING", "Dockerfile", "INSTALL", "LICENCE"}
    | {"LICENSE", "Makefile", "NOTICE", "README", "TODO", "VERSION"}
)
_LIBRARIES = (".so", ".o", ".a", ".dylib")


class PathError(Exception):
    """Why a path names no bot: one line."""


class _Stray(Exception):  # noqa: N818 - not an error: something in a glob that is no bot
    """A file of another kind, left out with a note."""


class _Content(NamedTuple):
    """What would be snapshot: the files, and the name they suggest."""

    files: list[File]
    name: str


def load(paths: Sequence[Path], *, cache: Path) -> Roster:
    """Look at every path; snapshot what is a bot; collect what isn't."""
    # What names no path names no place either; that it is one of a bot's problems is told below.
    look = _Look(cache, [_absolute(path) for path in paths if "\0" not in str(path)])
    for path in paths:
        look.at(path)
    return look.roster()


def restore(
    entrants: Sequence[tuple[Entrant, str]], *, cache: Path, folder: Path | None = None
) -> Roster:
    """Find the entrants of an earlier event again, by content, each with its recorded path.

    A snapshot that is no longer in the cache is taken again, from the event's own folder if it
    lies there, else from that path, and must have the same hash. An empty path: none is known.
    """
    look = _Look(cache, [Path(source) for _, source in entrants if source])
    for entrant, source in entrants:
        place = carried(folder, entrant.hash) if folder else None
        look.again(entrant, str(place or source))
    return look.roster()


class _Look:
    """One pass over paths; what it finds goes into one Roster."""

    def __init__(self, cache: Path, sources: Sequence[Path]) -> None:
        self.cache = cache
        self.toolbox = Toolbox([cache, *sources])
        self.found: dict[str, Candidate] = {}
        self.out: set[str] = set()
        self.strays: list[str] = []
        self.notes: list[str] = []
        self.problems: list[Problem] = []
        self.skipped: list[NotRun] = []

    def roster(self) -> Roster:
        """Everything found so far."""
        notes = list(self.notes)
        if self.strays:
            more = len(self.strays) - _SHOWN
            notes.append(
                f"left out, not bots: {', '.join(self.strays[:_SHOWN])}"
                + (f" and {more} more" if more > 0 else "")
            )
        return Roster(
            candidates=tuple(c for c in self.found.values() if c.entrant.id not in self.out),
            notes=tuple(notes),
            problems=tuple(self.problems),
            skipped=tuple(self.skipped),
        )

    def at(self, path: Path) -> None:
        """Look at a path that the user gave."""
        shown = printable(path)
        name = printable(_absolute(path).name)
        try:
            content = _content(path)
            snapshot = take(content.files, self.cache)
            candidate = _candidate(content.name, snapshot, path)
            name = candidate.entrant.id
            if self._enters(candidate):
                self._check_tools(candidate)
        except _Stray:
            self.strays.append(shown)
        except ManifestError as e:
            self._problem(name, shown, *e.lines)
        except (PathError, SnapshotError, CommandError) as e:
            self._problem(name, shown, str(e))
        except OSError as e:
            self._problem(name, shown, f"can't be read: {e.strerror}")

    def again(self, entrant: Entrant, source: str) -> None:
        """Look for an entrant that is known by its content hash."""
        shown = printable(source or entrant.id)
        try:
            snapshot = find(self.cache, entrant.hash)
            if snapshot is None and not source:
                self._problem(
                    entrant.id,
                    shown,
                    f"what was entered ({entrant.hash[:_HASH_SHOWN]}…) is no longer in the cache, "
                    "and no path to it is known",
                )
                return
            if snapshot is None:
                files = _content(Path(source)).files
                # Nothing else is copied: a stranger's folder may name any path.
                now = content_hash(files)
                if now == entrant.hash:
                    snapshot = take(files, self.cache)
                    now = snapshot.hash
                if snapshot is None or now != entrant.hash:
                    self._problem(
                        entrant.id,
                        shown,
                        "its content is not what was entered: "
                        f"entered {entrant.hash}, now {now}; put the old content back",
                    )
                    return
            stated = _manifest(snapshot.folder)
            candidate = _entered(entrant, stated, snapshot, Path(source or snapshot.folder))
            self.found[entrant.id] = candidate
            self._check_tools(candidate)
        except _Stray:
            self._problem(entrant.id, shown, "is no longer a bot")
        except ManifestError as e:
            self._problem(entrant.id, shown, *e.lines)
        except (PathError, SnapshotError, CommandError) as e:
            self._problem(entrant.id, shown, str(e))
        except OSError as e:
            self._problem(entrant.id, shown, f"can't be read: {e.strerror}")

    def _problem(self, name: str, shown: str, *lines: str) -> None:
        self.problems.append(Problem(name=name, path=shown, lines=lines))

    def _enters(self, candidate: Candidate) -> bool:
        """Take it in, unless it is there already."""
        entrant = candidate.entrant
        earlier = self.found.setdefault(entrant.id, candidate)
        if earlier is candidate:
            return True
        if earlier.entrant.hash == entrant.hash:
            self.notes.append(
                f"{entrant.id} was given twice ({earlier.shown}, {candidate.shown}); taken once"
            )
        else:
            self.out.add(entrant.id)
            self._problem(
                entrant.id,
                candidate.shown,
                f"is {entrant.id} too, as {earlier.shown} is, but with different content; "
                "give one of them another version",
            )
        return False

    def _check_tools(self, candidate: Candidate) -> None:
        """See that what it needs is on this machine; what its build makes, or what is fetched
        for it, can't be seen yet.
        """
        snapshot = Path(candidate.snapshot)
        try:
            if candidate.lock:
                locks.read(candidate.lock, snapshot)
            first = candidate.build[0] if candidate.build else candidate.run
            # A program may be one of its packages': node_modules/.bin/tsc.
            unseen = (
                contextlib.suppress(CommandError) if candidate.lock else contextlib.nullcontext()
            )
            with unseen:
                resolve(first, snapshot, self.toolbox)
        except MissingToolError as e:
            self.out.add(candidate.entrant.id)
            missing = missing_tool(candidate, e)
            if isinstance(missing, NotRun):
                self.skipped.append(missing)
            else:
                self.problems.append(missing)
        except LockError as e:
            self.out.add(candidate.entrant.id)
            self._problem(candidate.entrant.id, candidate.shown, str(e))
        except (CommandError, HiddenToolError) as e:
            self.out.add(candidate.entrant.id)
            field = "build" if candidate.build else "run" if candidate.run else ""
            where = manifest.place(snapshot / manifest.NAME, field) if field else ""
            self._problem(candidate.entrant.id, candidate.shown, f"{where}{e}")


def missing_tool(candidate: Candidate, error: MissingToolError) -> NotRun | Problem:
    """What a missing toolchain means: an optional bot is left out, another one is a problem."""
    if candidate.optional:
        return NotRun(name=candidate.entrant.id, reason=f"optional, and {error}")
    return Problem(
        name=candidate.entrant.id,
        path=candidate.shown,
        lines=(f"{error}; or set optional = true in bot.toml to leave the bot out without it",),
    )


def _candidate(default_name: str, snapshot: Snapshot, path: Path) -> Candidate:
    stated = _manifest(snapshot.folder)
    name = stated.name or _default_name(default_name, path)
    version = stated.version or snapshot.hash[:VERSION_DIGITS]
    entrant = Entrant(
        id=f"{name}@{version}",
        name=name,
        version=version,
        author=stated.author,
        hash=snapshot.hash,
    )
    return _entered(entrant, stated, snapshot, path)


def _entered(entrant: Entrant, stated: Manifest, snapshot: Snapshot, path: Path) -> Candidate:
    return Candidate(
        entrant=entrant,
        snapshot=str(snapshot.folder),
        run=stated.run,
        build=stated.build,
        lock=stated.lock,
        optional=stated.optional,
        asked=stated.asked,
        source=str(_absolute(path)),
        shown=printable(path),
    )


def _manifest(folder: Path) -> Manifest:
    path = folder / manifest.NAME
    return manifest.read(path) if path.is_file() else Manifest()


def _default_name(text: str, path: Path) -> str:
    name = unicodedata.normalize("NFC", text)
    fault = label_fault(name)
    if not fault:
        return name
    remedy = "set `name` in its bot.toml"
    if path.is_file():
        remedy = "rename the file, or put it into a folder with a bot.toml that sets `name`"
    raise PathError(f"'{printable(name)}' doesn't do as a bot's name: {fault}; {remedy}")


# ------------------------------------------------------------------------- what a path is


def _absolute(path: Path) -> Path:
    # Path.absolute would leave "bots/.." as it is, which has no name.
    return Path(os.path.abspath(path))  # noqa: PTH100 - says the line above


def _content(path: Path) -> _Content:
    """Say what a path holds; PathError or _Stray when it isn't a bot."""
    whole = _absolute(path)
    try:
        info = whole.stat()
    except (OSError, ValueError) as e:
        raise PathError(_absent(whole, e)) from e
    if stat.S_ISDIR(info.st_mode):
        if whole.name in IGNORED or (whole.name.startswith(".") and path.name == whole.name):
            raise _Stray
        return _folder(whole)
    if not stat.S_ISREG(info.st_mode):
        raise PathError("is neither a file nor a folder")
    return _single(whole, info)


def _absent(path: Path, error: OSError | ValueError) -> str:
    if not isinstance(error, OSError):
        return "is not a path"
    if path.is_symlink() and isinstance(error, FileNotFoundError):
        return f"is a link to {printable(path.readlink())}, which is not there"
    if not isinstance(error, FileNotFoundError):
        return f"can't be read: {error.strerror}"
    if "*" in path.name:
        return "does not exist: no file matches the pattern"
    try:
        siblings = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return "does not exist"
    return f"does not exist{did_you_mean(path.name, siblings)}"


def _folder(path: Path) -> _Content:
    try:
        inside = sorted(path.iterdir())
    except OSError as e:
        raise PathError(f"can't be read: {e.strerror}") from e
    if (path / manifest.NAME).is_file():
        stated = manifest.read(path / manifest.NAME)
        if stated.run is None and not stated.build and entry(path) is None:
            raise PathError("its bot.toml has no `run`, and there is no entry file such as bot.py")
        return _Content(listing(path, LEFT_OUT.get(stated.lock, frozenset())), path.name)
    if entry(path) is not None:
        return _Content(listing(path), path.name)
    raise PathError(_no_bot(path, inside))


def _no_bot(path: Path, inside: list[Path]) -> str:
    """Tell a folder of bots from one that lacks its manifest."""
    if not inside:
        return "is an empty folder"
    bots = scripts = 0
    for each in inside:
        if each.name.startswith(".") or each.name in IGNORED:
            continue
        if each.is_dir():
            bots += _looks_like_bot(each)
        elif each.suffix in LANGUAGES:
            scripts += 1
    if bots or scripts > 1:
        return (
            f"is not a bot but holds {bots + scripts} that look like bots; "
            f"write {printable(path.name)}/* to enter them"
        )
    near = get_close_matches(manifest.NAME, (each.name for each in inside), n=1, cutoff=0.8)
    other = f" (is {printable(near[0])} meant to be it?)" if near else ""
    return f"has no bot.toml{other} and no entry file such as bot.py, main.py, bot.js or bot.sh"


def _looks_like_bot(folder: Path) -> bool:
    try:
        return (folder / manifest.NAME).is_file() or entry(folder) is not None
    except (CommandError, OSError):
        return True


def _single(path: Path, info: os.stat_result) -> _Content:
    """A script or program by itself; its snapshot is a folder with bot.<suffix> or bot."""
    if path.name.startswith("."):
        raise _Stray
    suffix = path.suffix
    if path.name == manifest.NAME:
        raise PathError(f"is the manifest of a bot; name its folder, {printable(path.parent)}")
    if info.st_size > MAX_BYTES:
        raise PathError(f"is larger than {MAX_BYTES >> 20} MB")
    if suffix in LANGUAGES:
        shebang(head(path), printable(path.name))
        return _Content([File(f"bot{suffix}", str(path), executable=False, size=0)], path.stem)
    if suffix in _LIBRARIES or ".so." in path.name:
        raise _Stray
    beginning = head(path)
    executable = bool(info.st_mode & stat.S_IXUSR)
    if is_script(beginning):
        shebang(beginning, printable(path.name))
    elif is_program(beginning):
        if not executable:
            raise PathError(f"has no execute permission: chmod +x {printable(path)}")
    elif executable and not suffix and path.name not in _LITTER:
        raise PathError("is executable, but neither a program nor a script with a #! line")
    else:
        raise _Stray
    return _Content([File("bot", str(path), executable=True, size=0)], path.name)
