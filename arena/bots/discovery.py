"""Load bots: from the paths that a user names to candidates whose content is in the cache.

A bad bot never raises, it becomes a Problem; trouble with the cache itself raises UserError.
Invariant: everything known of a candidate was read from its snapshot, not from the folder that its
author may be editing.
"""

import contextlib
import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path

from msgspec.structs import replace

from arena.bots import commands, locks, manifest
from arena.bots.commands import CommandError
from arena.bots.folder import Folder, FolderEntry, SnapshotError, open_folder, open_path
from arena.bots.interpreters import Toolbox
from arena.bots.kept import kept_copy
from arena.bots.locks import LEFT_OUT
from arena.bots.plain_text import BotError, did_you_mean, printable
from arena.bots.roster import Candidate, Roster
from arena.bots.snapshot import MAX_BYTES, File, content_hash, find, listing, take
from arena.exhaustion import ran_out
from arena.model import VERSION_DIGITS, Entrant, HostError, UserError, label_fault
from arena.model.parameters import settled
from arena.scaffolds import EXAMPLES

_SHOWN = 6  # names listed in a note before it says how many more there are
_NEAR = 500  # names that are compared with bot.toml
_RESULTS = "arena-results"  # the default folder of events
_MARKS = ("event.json", "arena-site.json")  # of a results folder, and of a published site

_SETTING = re.compile(r"(?P<path>.+?):(?P<setting>[A-Za-z]\w*=[^:/]*)", re.ASCII)

_Content = tuple[list[File], str]  # the files of a snapshot to be, and the name they suggest


class _StrayError(Exception):
    """A file of another kind in a glob: left out with a note."""


def load(paths: Sequence[Path], *, cache: Path) -> Roster:
    """Take a snapshot of every path that is a bot; collect the problems of the others."""
    # A text with a zero byte is no path, which becomes a problem below.
    loader = _Loader(cache, [_absolute(path) for path in paths if "\0" not in str(path)])
    for path in paths:
        loader.load(path)
    return loader.finish()


def count_bots(paths: Sequence[Path]) -> int:
    """The least number of bots in the paths, by manifests alone, if nothing is wrong with them."""
    names: set[tuple[object, ...]] = set()
    for path in paths:
        with contextlib.suppress(BotError, OSError, ValueError):
            place, setting = split_setting(path)
            with open_folder(place) as folder:
                stated = manifest.read(folder)
            if stated and not stated.optional:
                names.add((stated.name or _absolute(place).name, *sorted(setting.items())))
    return len(names)


def restore(
    entrants: Sequence[tuple[Entrant, str]], *, cache: Path, folder: Path | None = None
) -> Roster:
    """Find the entrants of an earlier event by content, each with its recorded path.

    A snapshot that is no longer in the cache is taken again, from the event's `folder` if it lies
    there, else from that path, and must have the same hash. An empty path: none is known.
    """
    loader = _Loader(cache, [Path(source) for _, source in entrants if source])
    for entrant, source in entrants:
        place = kept_copy(folder, entrant.snapshot) if folder else None
        loader.restore(entrant, str(place or source))
    return loader.finish()


class _Loader:
    def __init__(self, cache: Path, sources: Sequence[Path]) -> None:
        self.cache = cache
        self.toolbox = Toolbox([cache, *sources])
        self.found: dict[str, Candidate] = {}
        self.out: set[str] = set()
        self.strays: list[str] = []
        self.roster = Roster()

    def finish(self) -> Roster:
        roster, more = self.roster, len(self.strays) - _SHOWN
        if self.strays:
            others = f" and {more} more" if more > 0 else ""
            shown = ", ".join(self.strays[:_SHOWN])
            roster.notes += (f"left out, not bots: {shown}{others}",)
        found = self.found.values()
        names = Counter(each.entrant.name for each in found)
        for name in sorted(name for name, many in names.items() if many > 1):
            bots = [
                f"{each.entrant.id} ({each.path})" for each in found if each.entrant.name == name
            ]
            others = f" and {len(bots) - _SHOWN} more" if len(bots) > _SHOWN else ""
            shown = ", ".join(bots[:_SHOWN])
            roster.notes += (f"{len(bots)} bots are called {name}: {shown}{others}",)
        roster.candidates = tuple(each for each in found if each.entrant.id not in self.out)
        return roster

    def load(self, path: Path) -> None:
        shown = printable(path)
        try:
            with self._collect(printable(_absolute(path).name), shown):
                place, setting = split_setting(path)
                with _open_bot(place) as (files, name):
                    snapshot = take(files, self.cache)
                candidate = _with_setting(_candidate(snapshot, place, default=name), path, setting)
                with self._collect(candidate.entrant.id, shown):
                    if self._enter(candidate):
                        self._check_tools(candidate)
        except _StrayError as what:
            self.strays.append(f"{shown} ({what})" if what.args else shown)

    def restore(self, entrant: Entrant, source: str) -> None:
        shown = printable(source or entrant.id)
        try:
            with self._collect(entrant.id, shown):
                snapshot = find(self.cache, entrant.snapshot) or self._retake(entrant, source)
                found = _candidate(snapshot, Path(source or snapshot), entrant)
                _params(found, entrant.setting)
                self.found[entrant.id] = found
                self._check_tools(found)
        except _StrayError:
            self.roster.add(entrant.id, shown, "is no longer a bot")

    def _retake(self, entrant: Entrant, source: str) -> Path:
        if not source:
            raise BotError(
                f"its snapshot ({entrant.snapshot[:12]}…) is no longer in the cache, and its path "
                "is not known"
            )
        with _open_bot(Path(source)) as (files, _):
            # Nothing else is copied: a stranger's folder may name any path.
            now = content_hash(files)
            if now == entrant.snapshot:
                snapshot = take(files, self.cache)
                now = snapshot.name
            if now != entrant.snapshot:
                raise BotError(
                    f"its content is not what was entered: entered {entrant.snapshot}, now {now}; "
                    "put the old content back"
                )
        return snapshot

    @contextlib.contextmanager
    def _collect(self, name: str, shown: str) -> Iterator[None]:
        try:
            yield
        except BotError as e:
            self.roster.add(name, shown, *e.lines)
        except OSError as e:
            self.roster.add(name, shown, _unreadable(e))

    def _enter(self, candidate: Candidate) -> bool:
        name, path = candidate.entrant.id, candidate.path
        earlier = self.found.setdefault(name, candidate)
        if earlier is candidate:
            return True
        if earlier.entrant.hash == candidate.entrant.hash:
            self.roster.notes += (f"{name} was given twice ({earlier.path}, {path}); taken once",)
            return False
        self.out.add(name)
        raise BotError(
            f"is also {name}, like {earlier.path}, but has different content; give one of them "
            "another version"
        )

    def _check_tools(self, candidate: Candidate) -> None:
        """Check for the candidate's tools, but for those that its build or packages bring along."""
        snapshot = Path(candidate.snapshot)
        field = "build" if candidate.stated.build else "run" if candidate.stated.run else ""
        self.out.add(candidate.entrant.id)
        with self.roster.of(candidate, manifest.location(snapshot, field) if field else ""):
            if candidate.stated.lock:
                locks.read(candidate.stated.lock, snapshot)
            first = candidate.stated.build[0] if candidate.stated.build else candidate.stated.run
            unknown = contextlib.suppress(CommandError) if candidate.stated.lock else nullcontext()
            with unknown:
                commands.resolve(first, snapshot, self.toolbox)
            self.out.remove(candidate.entrant.id)


def _candidate(
    snapshot: Path, path: Path, known: Entrant | None = None, *, default: str = ""
) -> Candidate:
    stated = manifest.of_folder(snapshot)
    if known is None:
        name = stated.name or _default_name(default, path)
        version = stated.version or snapshot.name[:VERSION_DIGITS]
        id_, author, content = f"{name}@{version}", stated.author, snapshot.name
        known = Entrant(id=id_, name=name, version=version, author=author, hash=content)
    folder, source = str(snapshot), str(_absolute(path))
    return Candidate(
        entrant=known, stated=stated, snapshot=folder, source=source, path=printable(path)
    )


def split_setting(path: Path) -> tuple[Path, dict[str, str]]:
    """BOT:NAME=VALUE,NAME=VALUE as path and setting; a path that is there is nothing but a path."""
    found = _SETTING.fullmatch(str(path))
    if found is None or os.path.lexists(path):
        return path, {}
    setting: dict[str, str] = {}
    for each in found["setting"].split(","):
        name, equals, value = each.partition("=")
        if not (equals and name and value) or name in setting:
            what = f"{name} is there twice" if name in setting else f"'{printable(each)}' is none"
            raise BotError(f"{what}; a setting is written BOT:NAME=VALUE,NAME=VALUE")
        setting[name] = value
    return Path(found["path"]), setting


def _params(candidate: Candidate, given: Mapping[str, str]) -> dict[str, str]:
    try:
        return settled(candidate.stated.tune, given)
    except UserError as error:
        raise BotError(printable(str(error), 300)) from None


def _with_setting(candidate: Candidate, path: Path, given: Mapping[str, str]) -> Candidate:
    entrant = candidate.entrant.with_setting(_params(candidate, given))
    return replace(candidate, entrant=entrant, path=printable(path))


def _default_name(text: str, path: Path) -> str:
    name = unicodedata.normalize("NFC", text)
    fault = label_fault(name)
    if not fault:
        return name
    remedy = "set `name` in its bot.toml"
    if path.is_file():
        remedy = "rename the file, or put it into a folder with a bot.toml that sets `name`"
    raise BotError(f"'{printable(name)}' can't be a bot's name: {fault}; {remedy}")


def _absolute(path: Path) -> Path:
    # Path.absolute would leave "bots/.." as it is, which has no name.
    return Path(os.path.abspath(path))  # noqa: PTH100 - says the line above


@contextlib.contextmanager
def _open_bot(path: Path) -> Iterator[_Content]:
    """Open a bot and list its files; BotError or _StrayError when the path holds none."""
    whole = _absolute(path)
    with contextlib.ExitStack() as stack:
        try:
            reached = stack.enter_context(open_path(whole))
        except (OSError, ValueError) as e:
            examples = EXAMPLES if len(path.parts) == 1 else ()
            raise BotError(_missing_path(whole, e, examples)) from e
        if stat.S_ISDIR(reached.info.st_mode):
            hidden = whole.name.startswith(".") and path.name == whole.name
            if hidden or whole.name in commands.FILES["ignored"]:
                raise _StrayError
            yield _folder_content(whole, Folder(reached.descriptor))
        elif stat.S_ISREG(reached.info.st_mode):
            found = FolderEntry(reached.name, reached.info)
            yield _file_content(whole, Folder(reached.parent), found)
        else:
            raise BotError("is neither a file nor a folder")


def _unreadable(error: OSError) -> str:
    """Why a bot can't be read; HostError if the machine has run out of something."""
    if what := ran_out(error):
        raise HostError(f"can't read the bots: {what}") from error
    return f"can't be read: {error.strerror}"


def _missing_path(path: Path, error: OSError | ValueError, others: Iterable[str]) -> str:
    if not isinstance(error, OSError):
        return "is not a path"
    if path.is_symlink() and isinstance(error, FileNotFoundError):
        return f"is a link to {printable(path.readlink())}, which does not exist"
    if not isinstance(error, FileNotFoundError):
        return _unreadable(error)
    if "*" in path.name:
        return "does not exist: no file matches the pattern"
    try:
        siblings = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return "does not exist"
    return f"does not exist{did_you_mean(path.name, [*siblings, *others])}"


def _folder_content(path: Path, folder: Folder) -> _Content:
    stated = manifest.read(folder)
    if stated is None and commands.entry_file(folder) is None:
        if _holds_results(path, folder):
            raise _StrayError("results")
        raise BotError(_no_bot(path, folder))
    if stated and stated.run is None and not stated.build and commands.entry_file(folder) is None:
        raise BotError("its bot.toml has no `run`, and there is no entry file such as bot.py")
    left_out = LEFT_OUT.get(stated.lock, frozenset()) if stated else frozenset()
    return listing(folder, left_out), path.name


def _holds_results(path: Path, folder: Folder) -> bool:
    """Whether arena wrote this folder: an event, a folder of events, or their site."""
    if path.name == _RESULTS:
        return True
    names = folder.names()

    def marked(place: str) -> bool:
        return any(folder.find(f"{place}{mark}") for mark in _MARKS)

    with contextlib.suppress(SnapshotError):  # a link that leads outside
        return marked("") or (
            any(marked(f"{name}/") for name in names)
            and not any(_looks_like_bot(name, folder) for name in names)
        )
    return False


def _no_bot(path: Path, folder: Folder) -> str:
    """The message for a folder of bots, or for one without a manifest."""
    names = folder.names()
    if not names:
        return "is an empty folder"
    bots = scripts = 0
    for name in names:
        if not name.startswith(".") and name not in commands.FILES["ignored"]:
            bots += _looks_like_bot(name, folder)
            scripts += Path(name).suffix in commands.LANGUAGES
    what = commands.folder_hint([name for name in names if not name.startswith(".")])
    if bots or scripts > 1:
        return (
            f"is not a bot but holds {bots + scripts} that look like bots; "
            f"write {printable(path.name)}/* to enter them"
            + (f"; or, if they are one bot: {what}" if not bots and what else "")
        )
    near = get_close_matches(manifest.NAME, names[:_NEAR], n=1, cutoff=0.8)
    other = f" (is {printable(near[0])} a misspelling?)" if near else ""
    if what and not near:
        return f"has no bot.toml; {what}"
    return f"has no bot.toml{other} and no entry file such as bot.py, main.py, bot.js or bot.sh"


def _looks_like_bot(name: str, folder: Folder) -> bool:
    """Whether a folder within is a bot; True for one that can't be read, or leads outside."""
    try:
        found = folder.find(name)
        if found is None or not found.is_folder:
            return False
        with folder.subfolder(found) as inner:
            stated = inner.find(manifest.NAME)
            return bool(stated and stated.is_file) or commands.entry_file(inner) is not None
    except BotError:
        return True


def _file_content(path: Path, folder: Folder, found: FolderEntry) -> _Content:
    """A single script or program; its snapshot is a folder with bot.<suffix> or bot."""
    if path.name.startswith("."):
        raise _StrayError
    suffix = path.suffix
    if path.name == manifest.NAME:
        raise BotError(f"is the manifest of a bot; name its folder, {printable(path.parent)}")
    if found.info.st_size > MAX_BYTES:
        raise BotError(f"is larger than {MAX_BYTES >> 20} MB")
    if suffix in commands.LANGUAGES:
        commands.shebang(folder.read(found, commands.HEAD), printable(path.name))
        return [File(f"bot{suffix}", folder, found, executable=False)], path.stem
    if suffix in commands.FILES["libraries"] or ".so." in path.name:
        raise _StrayError
    beginning = folder.read(found, commands.HEAD)
    executable = bool(found.info.st_mode & stat.S_IXUSR)
    if commands.is_script(beginning):
        commands.shebang(beginning, printable(path.name))
    elif commands.is_program(beginning):
        if not executable:
            raise BotError(f"has no execute permission: chmod +x {printable(path)}")
    elif executable and not suffix and path.name not in commands.FILES["litter"]:
        raise BotError("is executable, but neither a program nor a script with a #! line")
    else:
        raise _StrayError(*filter(None, [commands.hint(path.name)]))
    return [File("bot", folder, found, executable=True)], path.name
