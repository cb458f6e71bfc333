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
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from arena.bots import kinds, locks, manifest
from arena.bots.commands import (
    HEAD,
    LANGUAGES,
    CommandError,
    entry,
    is_program,
    is_script,
    resolve,
    shebang,
)
from arena.bots.entries import Candidate, Problem, Roster
from arena.bots.event_copy import carried
from arena.bots.folder import Folder, Found, SnapshotError, opened, reach
from arena.bots.interpreters import HiddenToolError, MissingToolError, Toolbox
from arena.bots.locks import LEFT_OUT, LockError
from arena.bots.manifest import Manifest, ManifestError
from arena.bots.plain_text import did_you_mean, printable
from arena.bots.snapshot import (
    IGNORED,
    MAX_BYTES,
    File,
    Snapshot,
    content_hash,
    find,
    listing,
    take,
)
from arena.exhaustion import ran_out
from arena.model import Entrant, HostError, NotRun, label_fault

VERSION_DIGITS = 8
"""Digits of the content hash that stand for a version."""
_HASH_SHOWN = 12
"""And of one that is told."""
_SHOWN = 6
"""Names listed in a note before it says how many more there are."""
_NEAR = 500
"""Names that are looked through for a misspelt bot.toml."""
_LITTER = frozenset(
    {"AUTHORS", "CHANGELOG", "CONTRIBUTING", "COPYING", "Dockerfile", "INSTALL", "LICENCE"}
    | {"LICENSE", "Makefile", "NOTICE", "README", "TODO", "VERSION"}
)
_RESULTS = "arena-results"
"""Where events go that no other folder was named for."""
_MARKS = ("event.json", "arena-site.json")
"""What tells a folder of results, and a published site."""
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


def at_least(paths: Sequence[Path]) -> int:
    """How many bots the paths hold at least, unless one of these has something wrong with it.

    From manifests alone, so before anything is copied: folders of different names, none of which
    may be left out for want of a tool.
    """
    names = set()
    for path in paths:
        with contextlib.suppress(ManifestError, SnapshotError, OSError, ValueError):
            with opened(path) as folder:
                stated = manifest.read(folder)
            if stated and not stated.optional:
                names.add(stated.name or _absolute(path).name)
    return len(names)


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
            with _content(path) as content:
                snapshot = take(content.files, self.cache)
            candidate = _candidate(content.name, snapshot, path)
            name = candidate.entrant.id
            if self._enters(candidate):
                self._check_tools(candidate)
        except _Stray as what:
            self.strays.append(f"{shown} ({what})" if what.args else shown)
        except ManifestError as e:
            self._problem(name, shown, *e.lines)
        except (PathError, SnapshotError, CommandError) as e:
            self._problem(name, shown, str(e))
        except OSError as e:
            self._problem(name, shown, _unreadable(e))

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
                with _content(Path(source)) as content:
                    # Nothing else is copied: a stranger's folder may name any path.
                    now = content_hash(content.files)
                    if now == entrant.hash:
                        snapshot = take(content.files, self.cache)
                        now = snapshot.hash
                if snapshot is None or now != entrant.hash:
                    self._problem(
                        entrant.id,
                        shown,
                        "its content is not what was entered: "
                        f"entered {entrant.hash}, now {now}; put the old content back",
                    )
                    return
            stated = manifest.of_folder(snapshot.folder)
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
            self._problem(entrant.id, shown, _unreadable(e))

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
            where = manifest.place(snapshot, field) if field else ""
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
    stated = manifest.of_folder(snapshot.folder)
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


@contextlib.contextmanager
def _content(path: Path) -> Iterator[_Content]:
    """Say what a path holds, and keep it open; PathError or _Stray when it isn't a bot."""
    whole = _absolute(path)
    with contextlib.ExitStack() as held:
        try:
            reached = held.enter_context(reach(whole))
        except (OSError, ValueError) as e:
            raise PathError(_absent(whole, e)) from e
        if stat.S_ISDIR(reached.info.st_mode):
            if whole.name in IGNORED or (whole.name.startswith(".") and path.name == whole.name):
                raise _Stray
            yield _folder(whole, Folder(reached.descriptor))
        elif stat.S_ISREG(reached.info.st_mode):
            found = Found(reached.name, reached.info)
            yield _single(whole, Folder(reached.parent), found)
        else:
            raise PathError("is neither a file nor a folder")


def _unreadable(error: OSError) -> str:
    """Why a bot can't be read; HostError if the machine has run out of something."""
    if what := ran_out(error):
        raise HostError(f"can't read the bots: {what}") from error
    return f"can't be read: {error.strerror}"


def _absent(path: Path, error: OSError | ValueError) -> str:
    if not isinstance(error, OSError):
        return "is not a path"
    if path.is_symlink() and isinstance(error, FileNotFoundError):
        return f"is a link to {printable(path.readlink())}, which is not there"
    if not isinstance(error, FileNotFoundError):
        return _unreadable(error)
    if "*" in path.name:
        return "does not exist: no file matches the pattern"
    try:
        siblings = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return "does not exist"
    return f"does not exist{did_you_mean(path.name, siblings)}"


def _folder(path: Path, folder: Folder) -> _Content:
    stated = manifest.read(folder)
    if stated is None and entry(folder) is None:
        if _holds_results(path, folder):
            raise _Stray("results")
        raise PathError(_no_bot(path, folder))
    if stated and stated.run is None and not stated.build and entry(folder) is None:
        raise PathError("its bot.toml has no `run`, and there is no entry file such as bot.py")
    left_out = LEFT_OUT.get(stated.lock, frozenset()) if stated else frozenset()
    return _Content(listing(folder, left_out), path.name)


def _holds_results(path: Path, folder: Folder) -> bool:
    """Whether it is what arena itself writes beside bots: an event, events, or a site of theirs."""
    if path.name == _RESULTS:
        return True
    names = folder.names()

    def marked(place: str) -> bool:
        return any(folder.find(f"{place}{mark}") for mark in _MARKS)

    with contextlib.suppress(SnapshotError):  # a link that leads outside is none of ours
        return marked("") or (
            any(marked(f"{name}/") for name in names)
            and not any(_looks_like_bot(name, folder) for name in names)
        )
    return False


def _no_bot(path: Path, folder: Folder) -> str:
    """Tell a folder of bots from one that lacks its manifest."""
    names = folder.names()
    if not names:
        return "is an empty folder"
    bots = scripts = 0
    for name in names:
        if not name.startswith(".") and name not in IGNORED:
            bots += _looks_like_bot(name, folder)
            scripts += Path(name).suffix in LANGUAGES
    what = kinds.of_folder([name for name in names if not name.startswith(".")])
    if bots or scripts > 1:
        return (
            f"is not a bot but holds {bots + scripts} that look like bots; "
            f"write {printable(path.name)}/* to enter them"
            + (f"; or, if they are one bot: {what}" if not bots and what else "")
        )
    near = get_close_matches(manifest.NAME, names[:_NEAR], n=1, cutoff=0.8)
    other = f" (is {printable(near[0])} meant to be it?)" if near else ""
    if what and not near:
        return f"has no bot.toml; {what}"
    return f"has no bot.toml{other} and no entry file such as bot.py, main.py, bot.js or bot.sh"


def _looks_like_bot(name: str, folder: Folder) -> bool:
    """Whether a folder within is a bot; one that can't be read, or leads outside, may be."""
    try:
        found = folder.find(name)
        if found is None or not found.is_folder:
            return False
        with folder.inner(found) as inner:
            stated = inner.find(manifest.NAME)
            return bool(stated and stated.is_file) or entry(inner) is not None
    except (CommandError, SnapshotError):
        return True


def _single(path: Path, folder: Folder, found: Found) -> _Content:
    """A script or program by itself; its snapshot is a folder with bot.<suffix> or bot."""
    if path.name.startswith("."):
        raise _Stray
    suffix = path.suffix
    if path.name == manifest.NAME:
        raise PathError(f"is the manifest of a bot; name its folder, {printable(path.parent)}")
    if found.info.st_size > MAX_BYTES:
        raise PathError(f"is larger than {MAX_BYTES >> 20} MB")
    if suffix in LANGUAGES:
        shebang(folder.read(found, HEAD), printable(path.name))
        return _Content([File(f"bot{suffix}", folder, found, executable=False)], path.stem)
    if suffix in _LIBRARIES or ".so." in path.name:
        raise _Stray
    beginning = folder.read(found, HEAD)
    executable = bool(found.info.st_mode & stat.S_IXUSR)
    if is_script(beginning):
        shebang(beginning, printable(path.name))
    elif is_program(beginning):
        if not executable:
            raise PathError(f"has no execute permission: chmod +x {printable(path)}")
    elif executable and not suffix and path.name not in _LITTER:
        raise PathError("is executable, but neither a program nor a script with a #! line")
    else:
        raise _Stray(*filter(None, [kinds.told(path.name)]))
    return _Content([File("bot", folder, found, executable=True)], path.name)
