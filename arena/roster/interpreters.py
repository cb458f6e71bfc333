"""Programs of this machine that bots name: python3, node, gcc; found here, shown inside.

Looks at PATH and at the file system, and may ask a version manager which program its shim
stands for. Everything is resolved outside the sandbox, because inside neither the shims nor
the folders on the way (a home with mode 700) can be entered.

- PATH is searched as a shell would. With an activated virtual environment its python3 is
  taken, and both the environment and the installation it is based on are shown.
- A program is called by the last of its links that still bears its name: `clang++`, `cargo`
  or an applet of busybox behave by the name they are called by.
- What lies in the system's own folders needs nothing more. Of anything else the installation
  is shown: the folder above `bin`, or the folder that the program lies in if the user has put
  it on PATH.

Invariants: a folder that is shown neither contains nor lies in the cache or any bot's own place,
and doesn't contain the user's home or the current folder: a bot must not read its opponents, or
anybody's keys, over its interpreter's shoulder. And nothing is run that a bot alone has named.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from arena.model import Frozen
from arena.roster.plain import printable
from arena.sandbox.visible import SYSTEM

STORES = tuple(map(Path, ("/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew")))
"""Where a program's libraries lie in neighbouring folders: shown whole."""

_MANAGERS = ("pyenv", "rbenv", "nodenv", "plenv", "luaenv", "phpenv", "asdf", "mise")
_PROGRAMS = frozenset({"bin", "sbin", "libexec"})
_OTHER_NAMES = {"python": ("python3",), "node": ("nodejs",), "nodejs": ("node",)}
_SHARED = (
    tempfile.gettempdir(),
    "/",
    "/home",
    "/opt",
    "/srv",
    "/mnt",
    "/media",
    "/var",
    "/run",
    "/etc",
)
_ASK_SECONDS = 20
"""For a version manager's answer: they are shell scripts on a possibly loaded machine."""
_LINKS = 40
"""As many as the kernel follows."""


class MissingToolError(Exception):
    """A program that this machine doesn't have; `program` is its name."""

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(f"needs '{printable(program)}', which {reason}")
        self.program = program


class HiddenToolError(Exception):
    """A program that lies where it can't be shown without showing too much: one line."""


class Tool(Frozen, frozen=True, kw_only=True):
    """A program as it is to be called, inside as well as outside."""

    path: str
    expose: tuple[str, ...] = ()
    identity: str = ""
    """Changes when the program is another one: file, size, time."""
    trusted: bool = False
    """Whether it may be run outside the sandbox: see Toolbox.trusted."""


class Toolbox:
    """Finds programs; remembers what it found. One for each look at a roster.

    `closed`: the cache and the sources of all bots. What lies there is neither run nor shown.
    """

    def __init__(self, closed: Iterable[Path] = ()) -> None:
        self._closed = tuple(Path(os.path.realpath(place)) for place in closed)
        self._private = tuple(Path(os.path.realpath(place)) for place in (Path.home(), Path.cwd()))
        folders = [
            folder
            for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
            # A relative one is the user's in one folder, and a bot's in another. And whether
            # arena's own virtual environment is activated must not matter to a bot.
            if folder.startswith("/")
            and (sys.prefix == sys.base_prefix or Path(folder) != Path(sys.prefix, "bin"))
        ]
        self._search = os.pathsep.join(folders)
        self._users = frozenset(
            Path(folder)
            for folder in folders
            if not _in(Path(os.path.realpath(folder)), self._closed)
        )
        self._found: dict[str, Tool] = {}

    def find(self, name: str, *, anywhere: bool = False) -> Tool:
        """Find a program by bare name or absolute path.

        `anywhere`: a path may be wrong on this machine, as in the #! lines of scripts that
        came from another one; then its last part is looked up.
        """
        tool = self._found.get(name)
        if tool is None:
            tool = self._found[name] = self._tool(*self._locate(name, anywhere=anywhere))
        return tool

    def trusted(self, program: Path) -> bool:
        """Whether a program may be run outside of the sandbox although only a bot has named it:
        it lies in a folder that the user has put on PATH, or it is the system's.

        Who owns it says nothing: the user has unpacked the bots, and owns their files.
        """
        links = list(_links(program))
        if any(_in(link, self._closed) for link in links):
            return False
        # What lies beside the first link counts as much as what the last one leads to.
        ours = _in(links[0], SYSTEM) and _in(links[-1], SYSTEM)
        return program.parent in self._users or ours

    def _locate(self, name: str, *, anywhere: bool) -> tuple[Path, bool]:
        """Where a program is, and whether it may be run outside the sandbox."""
        if name.startswith("/"):
            if os.access(name, os.X_OK) and not Path(name).is_dir():
                return self._looked_through(Path(name))
            if not anywhere:
                there = os.path.lexists(name)
                raise MissingToolError(name, "can't be executed" if there else "does not exist")
            name = Path(name).name
        for word in (name, *_OTHER_NAMES.get(name, ())):
            place = shutil.which(word, path=self._search)
            if place is not None:
                return self._looked_through(Path(place))
        if name in {"python", "python3"}:
            # Whoever runs this has a Python, even with nothing of that name on PATH.
            return Path(getattr(sys, "_base_executable", "") or sys.executable), True
        raise MissingToolError(name, "is not on PATH; install it")

    def _looked_through(self, place: Path) -> tuple[Path, bool]:
        return (self._behind_shim(place), True) if self.trusted(place) else (place, False)

    def _behind_shim(self, place: Path) -> Path:
        """The program that a version manager's shim, or a rustup proxy, stands for."""
        name = place.name
        if Path(os.path.realpath(place)).name == "rustup" and name != "rustup":
            return self._ask([os.path.realpath(place), "which", name], name, argv0="rustup")
        if place.parent.name != "shims":
            return place
        for manager in _MANAGERS:
            if manager not in place.parent.parent.name:
                continue
            own = place.parent.parent / "bin" / manager
            users = os.pathsep.join(map(str, sorted(self._users)))
            command = str(own) if own.exists() else shutil.which(manager, path=users)
            if command is not None:
                return self._ask([command, "which", name], name)
        if name.startswith("python"):
            return self._ask([str(place), "-c", "import sys; print(sys.executable)"], name)
        raise MissingToolError(name, f"is a shim ({printable(place)}) without its version manager")

    def _ask(self, command: list[str], name: str, argv0: str = "") -> Path:
        # A proxy acts by the name it is called by, so that of the manager is stated.
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
            raise MissingToolError(name, f"could not be found out: {printable(e)}") from e
        place = os.fsdecode(answer.stdout).strip()
        if answer.returncode == 0 and os.access(place, os.X_OK):
            return Path(place)
        said = os.fsdecode(answer.stderr).strip().splitlines() or [f"exit {answer.returncode}"]
        raise MissingToolError(name, f"its version manager can't find ({printable(said[0])})")

    def _tool(self, place: Path, trusted: bool) -> Tool:  # noqa: FBT001 - half of a pair
        links = list(_links(place))
        real = links[-1]
        info = real.stat()
        environment = links[0].parent.parent
        shown = []
        if (environment / "pyvenv.cfg").is_file():
            # A virtual environment is one by the path that its python is called by.
            called = links[0]
            if not self._may_show(environment):
                raise self._hidden(place, environment)
            shown.append(environment)
        else:
            named = [link for link in links if link.name == place.name and not _in(link, _ETC)]
            called = named[-1] if named else real
            shown.extend(self._installation(called, trusted=trusted))
        shown.extend(self._installation(real, trusted=trusted))
        return Tool(
            path=str(called),
            expose=outermost(map(str, shown)),
            identity=f"{real}:{info.st_size}:{info.st_mtime_ns}",
            trusted=trusted,
        )

    def _installation(self, program: Path, *, trusted: bool) -> list[Path]:
        """The folder to be shown so that a program works; none for the system's own."""
        if _in(program, SYSTEM):
            return []
        for store in STORES:
            if _in(program, (store,)):
                if not self._may_show(store):
                    raise self._hidden(program, store)
                return [store]
        folder = program.parent
        if folder.name in _PROGRAMS and self._may_show(folder.parent):
            return [folder.parent]
        if not self._may_show(folder):
            raise self._hidden(program, folder)
        if folder.name not in _PROGRAMS and not trusted:
            # Any executable file would do, and its neighbours may be anything.
            raise HiddenToolError(
                f"{printable(program)} can't be shown to a bot: it is neither on PATH nor in a "
                "folder for programs; put its folder on PATH"
            )
        return [folder]

    def _may_show(self, folder: Path) -> bool:
        """Refuse whatever would show more than a program."""
        own = {Path.home() / ".local", Path.home() / ".cache", Path.home() / ".config"}
        return (
            str(folder) not in _SHARED
            and folder not in own
            and not any(_in(place, (folder,)) for place in (*self._private, *self._closed))
            and not _in(folder, self._closed)
        )

    @staticmethod
    def _hidden(program: Path, folder: Path) -> HiddenToolError:
        return HiddenToolError(
            f"{printable(program)} can't be shown to a bot: {printable(folder)} holds more than "
            "the program (a home, the cache, a bot or the current folder); install it in a folder "
            "of its own"
        )


_ETC = (Path("/etc"),)


def _in(place: Path, folders: Iterable[Path | str]) -> bool:
    return any(place.is_relative_to(folder) for folder in folders)


def _links(place: Path) -> Iterator[Path]:
    """A path and what it links to, link by link; their folders are real ones."""
    for _ in range(_LINKS):
        place = Path(os.path.realpath(place.parent)) / place.name
        yield place
        if not place.is_symlink():
            return
        place = place.parent / place.readlink()


def outermost(folders: Iterable[str]) -> tuple[str, ...]:
    """The folders without those that lie in another one, sorted."""
    kept: list[str] = []
    for folder in sorted(set(folders)):
        if not kept or not Path(folder).is_relative_to(kept[-1]):
            kept.append(folder)
    return tuple(kept)
