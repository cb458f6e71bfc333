"""Find the programs of this machine that bots name (python3, node, gcc), and what of them a sandbox
has to show.

PATH is searched as a shell does, outside the sandbox; a version manager is asked which program its
shim stands for. A program in the system's folders needs nothing more. Of any other installation
with a shape of sandbox/installations.py the parts are shown; without a shape a program is refused.
A path that a bot names must lead to a program of the system, into a folder on PATH, or to the
program that its last part names on PATH.

Invariants: a submission is never the reason why something is shown, or run outside the sandbox.
What is shown neither contains nor lies in the cache, the event's folder or a bot's own place, and
contains neither the current folder nor a home: a bot must not read its opponents, the deals or
keys through the folders of its interpreter.
"""

import contextlib
import functools
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from arena.bots.plain_text import BotError, printable
from arena.exhaustion import ran_out_at_start
from arena.model import Frozen, HostError
from arena.sandbox import installations
from arena.sandbox.installations import SHAPES, Installation
from arena.sandbox.visible import SYSTEM

STORES: dict[Path, tuple[str, ...]] = {
    Path("/nix/store"): ("",),
    Path("/gnu/store"): ("",),
    Path("/home/linuxbrew/.linuxbrew"): ("Cellar", "bin", "lib", "opt"),
}
"""Stores in which a program's libraries lie in neighbouring folders, and what of each is shown: of
Homebrew not `etc` and `var`, the settings and databases of services."""

_MANAGERS = ("pyenv", "nodenv", "goenv", "jenv", "asdf", "mise")
_OTHER_NAMES = {"python": ("python3",), "node": ("nodejs",), "nodejs": ("node",)}
_SHARED = tuple(map(Path, ("/opt", "/srv", "/mnt", "/media", "/var", "/run", "/etc")))
_FIRST_USER = 1000  # lower ids are the system's users, with homes anywhere
_ASK_SECONDS = 20  # for a version manager: a shell script, on a possibly loaded machine
_LINKS = 40  # as many as the kernel follows
_OWN_PYTHON = Path(getattr(sys, "_base_executable", "") or sys.executable)  # if none is on PATH


class MissingToolError(BotError):
    """This machine doesn't have a program."""

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(f"needs '{printable(program)}', which {reason}")


class HiddenToolError(BotError):
    """A program can't be shown without showing too much."""

    def __init__(self, program: object, why: str) -> None:
        super().__init__(f"{printable(program)} can't be shown to a bot{why}")


class Command(Frozen, frozen=True, kw_only=True):
    """What is started, and what it needs to see: alone, or with arguments."""

    argv: tuple[str, ...]
    expose: tuple[str, ...] = ()
    identity: str = ""  # file, size and time: changes with the program

    @property
    def path(self) -> str:
        return self.argv[0]


class Toolbox:
    """Finds programs, and remembers them; one for each load of a roster.

    `closed`: the cache, all bots' sources, the event's folder; nothing in them is run or shown.
    """

    def __init__(self, closed: Iterable[Path] = ()) -> None:
        self._closed = tuple(map(_real, closed))
        users = (user for user in pwd.getpwall() if user.pw_uid == 0 or user.pw_uid >= _FIRST_USER)
        homes = [Path(user.pw_dir) for user in users if user.pw_dir not in {"", "/"}]
        places = (Path.home(), Path.cwd(), Path(tempfile.gettempdir()), *_SHARED, *homes)
        self._private = tuple(map(_real, places))
        folders = [
            folder
            for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
            # A relative one may be a bot's; arena's own environment mustn't matter.
            if folder.startswith("/")
            and (sys.prefix == sys.base_prefix or Path(folder) != Path(sys.prefix, "bin"))
        ]
        self._search = os.pathsep.join(folders)
        outside = [each for each in folders if not _within(_real(each), self._closed)]
        self._users = frozenset(map(Path, outside))
        self._found: dict[str, Command] = {}

    def find(self, name: str, *, anywhere: bool = False) -> Command:
        """Find a program by bare name or absolute path; `anywhere`: a path that is not here, as
        in a #! line from another machine, is searched by its last part.
        """
        if name not in self._found:
            self._found[name] = self._tool(self._locate(name, anywhere=anywhere))
        return self._found[name]

    def outside(self, name: str) -> str:
        """The user's program of that name, to be run outside; no bot sees it."""
        return str(self._locate(name))

    def _is_users(self, program: Path) -> bool:
        """Whether a path is in a folder on PATH, or the system's; its owner says nothing."""
        links = list(_links(program))
        if any(_within(link, self._closed) for link in links):
            return False
        # The folder of the first link counts as much as the target of the last one.
        ours = _within(links[0], SYSTEM) and _within(links[-1], SYSTEM)
        return program.parent in self._users or ours

    def _locate(self, name: str, *, anywhere: bool = False) -> Path:
        if name.startswith("/"):
            if os.access(name, os.X_OK) and not Path(name).is_dir():
                return self._named_path(Path(name))
            if not anywhere:
                there = os.path.lexists(name)
                raise MissingToolError(name, "can't be executed" if there else "does not exist")
            name = Path(name).name
        for word in (name, *_OTHER_NAMES.get(name, ())):
            place = shutil.which(word, path=self._search)
            if place is not None:
                if not self._is_users(Path(place)):
                    where = "it lies within a bot, the cache or the results"
                    raise HiddenToolError(place, f": {where}; remove that folder from PATH")
                return self._behind_shim(Path(place))
        if name in {"python", "python3"}:
            return _OWN_PYTHON
        raise MissingToolError(name, "is not on PATH; install it")

    def _named_path(self, place: Path) -> Path:
        if self._is_users(place):
            return self._behind_shim(place)
        apart = installations.find_environment(place)
        if apart is None or apart.prefix == Path(sys.prefix):
            with contextlib.suppress(MissingToolError):
                for known in (_OWN_PYTHON, self._locate(place.name)):
                    if known.resolve() == place.resolve():
                        return known
        write = f'write "{printable(place.name)}", and put its folder on PATH'
        raise HiddenToolError(place, f" because a bot names it: {write} where the event is run")

    def _behind_shim(self, place: Path) -> Path:
        """The program that a version manager's shim, or a rustup proxy, stands for."""
        name = place.name
        if _real(place).name == "rustup" and name != "rustup":
            return _ask((os.path.realpath(place), "which", name), name, argv0="rustup")
        if place.parent.name != "shims":
            return place
        for manager in _MANAGERS:
            if manager not in place.parent.parent.name:
                continue
            own = place.parent.parent / "bin" / manager
            users = os.pathsep.join(map(str, sorted(self._users)))
            command = str(own) if own.exists() else shutil.which(manager, path=users)
            if command is not None:
                return _ask((command, "which", name), name)
        if name.startswith("python"):
            return _ask((str(place), "-c", "import sys; print(sys.executable)"), name)
        raise MissingToolError(name, f"is a shim ({printable(place)}) without its version manager")

    def _tool(self, place: Path) -> Command:
        links = list(_links(place))
        real = links[-1]
        info = real.stat()
        shown: list[Path] = []
        called = real
        fixed: tuple[Path | str, ...] = (*SYSTEM, *STORES)
        outer = None if _within(links[0], SYSTEM) else installations.find_environment(links[0])
        if outer is not None:
            # A virtual environment is one by the path that its python is called by.
            called = links[0]
            shown += self._checked_parts(outer, place)
        elif _within(real, fixed):
            # By the last link of its name: `clang++`, or an applet of busybox, behaves by its name.
            named = [link for link in links if link.name == place.name and _within(link, fixed)]
            called = named[-1] if named else real
        if not _within(real, SYSTEM):
            shown += self._exposed(real)
        return Command(
            argv=(str(called),),
            expose=outermost(map(str, shown)),
            identity=f"{real}:{info.st_size}:{info.st_mtime_ns}",
        )

    def _exposed(self, program: Path) -> tuple[Path, ...]:
        for store, names in STORES.items():
            if _within(program, (store,)):
                parts = tuple(part for name in names if (part := store / name).is_dir())
                return self._checked_parts(Installation(store, parts, generic=True), program)
        found = installations.find_installation(program)
        if found is None:
            raise HiddenToolError(
                program,
                f": it is no installation of {SHAPES}, and not the system's (/usr/bin, "
                "/usr/local/bin); install it there, or put it into the bot's own folder",
            )
        return self._checked_parts(found, program)

    def _checked_parts(self, found: Installation, program: Path) -> tuple[Path, ...]:
        """The parts of an installation, if nothing else lies in them."""
        for folder in (*found.parts, *([found.prefix] if found.generic else [])):
            if not self._may_show(folder):
                raise HiddenToolError(
                    program,
                    f": {printable(folder)} holds more than the program (a home, the cache, a bot, "
                    "the results or the current folder); install it in a folder of its own",
                )
        hidden = None if found.prefix in STORES else installations.private_file(found, program)
        if hidden:
            raise HiddenToolError(
                program,
                f": {printable(hidden)}, a part of its installation, is for its owner alone; move "
                "it elsewhere, or let everybody read it (chmod o+rX)",
            )
        return found.parts

    def _may_show(self, folder: Path) -> bool:
        own = {home / name for home in self._private for name in (".local", ".cache", ".config")}
        return (
            folder not in own
            and not any(_within(place, (folder,)) for place in (*self._private, *self._closed))
            and not _within(folder, self._closed)
        )


@functools.cache  # 0.2 s each; every load of a roster has its own toolbox
def _ask(command: tuple[str, ...], name: str, argv0: str = "") -> Path:
    """Ask a version manager for a program; `argv0`: a proxy behaves by the name it is called by."""
    argv = [argv0 or command[0], *command[1:]]
    try:
        answer = subprocess.run(
            argv,
            executable=command[0],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        if what := ran_out_at_start(e):
            raise HostError(f"{printable(command[0])} can't be started: {what}") from e
        raise MissingToolError(name, f"its version manager did not name: {printable(e)}") from e
    place = os.fsdecode(answer.stdout).strip()
    if answer.returncode == 0 and os.access(place, os.X_OK):
        return Path(place)
    errors = os.fsdecode(answer.stderr).strip().splitlines() or [f"exit {answer.returncode}"]
    raise MissingToolError(name, f"its version manager can't find ({printable(errors[0])})")


def _real(place: Path | str) -> Path:
    return Path(os.path.realpath(place))


def _within(place: Path, folders: Iterable[Path | str]) -> bool:
    return any(place.is_relative_to(folder) for folder in folders)


def _links(place: Path) -> Iterator[Path]:
    """A path and what it links to, link by link, each with its real folder."""
    for _ in range(_LINKS):
        place = _real(place.parent) / place.name
        yield place
        if not place.is_symlink():
            return
        place = place.parent / place.readlink()


def outermost(folders: Iterable[str]) -> tuple[str, ...]:
    """The folders, sorted, without those within another one."""
    kept: list[str] = []
    for folder in sorted(set(folders)):
        if not kept or not Path(folder).is_relative_to(kept[-1]):
            kept.append(folder)
    return tuple(kept)
