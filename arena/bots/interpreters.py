"""Programs of this machine that bots name: python3, node, gcc; found here, shown inside.

Looks at PATH and at the file system, and may ask a version manager which program its shim
stands for. Everything is resolved outside the sandbox, because inside neither the shims nor
the folders on the way (a home with mode 700) can be entered.

- PATH is searched as a shell would. With an activated virtual environment its python3 is
  taken, and both the environment and the installation it is based on are shown.
- What lies in the system's own folders needs nothing more, and is called by the last of its
  links that still bears its name: `clang++`, or an applet of busybox, behaves by its name.
- Of anything else the parts of its installation are shown, if it has one of the shapes of
  sandbox/installations.py. Without a shape it isn't shown.
- A path that a bot names counts for as much as the name it ends in: it has to lead to the system's
  own programs, into a folder on PATH, or to what that name stands for there.

Invariants: what a submission names is never the reason why something is shown, or run outside the
sandbox. What is shown neither contains nor lies in the cache, the event's folder or any bot's own
place, and doesn't contain the current folder or anybody's home: a bot must not read its opponents,
the deals or anybody's keys over its interpreter's shoulder.
"""

from __future__ import annotations

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

from arena.bots.plain_text import printable
from arena.exhaustion import ran_out_at_start
from arena.model import Frozen, HostError
from arena.sandbox.installations import (
    SHAPES,
    Installation,
    environment,
    installation,
    private,
)
from arena.sandbox.visible import SYSTEM

STORES: dict[Path, tuple[str, ...]] = {
    Path("/nix/store"): ("",),
    Path("/gnu/store"): ("",),
    Path("/home/linuxbrew/.linuxbrew"): ("Cellar", "bin", "lib", "opt"),
}
"""Where a program's libraries lie in neighbouring folders, and what of it is shown whole. Of
Homebrew not `etc` and `var`: settings and databases of services."""

_MANAGERS = ("pyenv", "nodenv", "goenv", "jenv", "asdf", "mise")
_OTHER_NAMES = {"python": ("python3",), "node": ("nodejs",), "nodejs": ("node",)}
_SHARED = tuple(map(Path, ("/opt", "/srv", "/mnt", "/media", "/var", "/run", "/etc")))
"""Many things' parents."""
_FIRST_USER = 1000
"""Below are the system's users, but for root; their homes are anywhere."""
_ASK_SECONDS = 20
"""For a version manager's answer: they are shell scripts on a possibly loaded machine."""
_LINKS = 40
"""As many as the kernel follows."""


_OWN_PYTHON = Path(getattr(sys, "_base_executable", "") or sys.executable)
"""Whoever runs this has a Python, even with nothing of that name on PATH."""


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


class Toolbox:
    """Finds programs; remembers what it found. One for each look at a roster.

    `closed`: the cache, the sources of all bots, the event's folder. What lies there is neither run
    nor shown.
    """

    def __init__(self, closed: Iterable[Path] = ()) -> None:
        self._closed = tuple(Path(os.path.realpath(place)) for place in closed)
        places = (Path.home(), Path.cwd(), Path(tempfile.gettempdir()), *_SHARED, *_homes())
        self._private = tuple(Path(os.path.realpath(place)) for place in places)
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
            tool = self._found[name] = self._tool(self._locate(name, anywhere=anywhere))
        return tool

    def outside(self, name: str) -> str:
        """The user's program of that name, for us to run: no bot need see it."""
        return str(self._locate(name, anywhere=False))

    def _is_users(self, program: Path) -> bool:
        """Whether a path is the user's choice: in a folder that is on PATH, or the system's.

        Who owns it says nothing: the user has unpacked the bots, and owns their files.
        """
        links = list(_links(program))
        if any(_in(link, self._closed) for link in links):
            return False
        # What lies beside the first link counts as much as what the last one leads to.
        ours = _in(links[0], SYSTEM) and _in(links[-1], SYSTEM)
        return program.parent in self._users or ours

    def _locate(self, name: str, *, anywhere: bool) -> Path:
        """Where a program is."""
        if name.startswith("/"):
            if os.access(name, os.X_OK) and not Path(name).is_dir():
                return self._named(Path(name))
            if not anywhere:
                there = os.path.lexists(name)
                raise MissingToolError(name, "can't be executed" if there else "does not exist")
            name = Path(name).name
        for word in (name, *_OTHER_NAMES.get(name, ())):
            place = shutil.which(word, path=self._search)
            if place is not None:
                if not self._is_users(Path(place)):
                    raise HiddenToolError(
                        f"{printable(place)} can't be shown to a bot: it lies in the place of "
                        "a bot, in the cache or in the results; take that off PATH"
                    )
                return self._behind_shim(Path(place))
        if name in {"python", "python3"}:
            return _OWN_PYTHON
        raise MissingToolError(name, "is not on PATH; install it")

    def _named(self, place: Path) -> Path:
        """A program that a path leads to: the user's by PATH, or not to be shown."""
        if self._is_users(place):
            return self._behind_shim(place)
        apart = environment(place)
        if apart is None or apart.prefix == Path(sys.prefix):
            with contextlib.suppress(MissingToolError):
                for known in (_OWN_PYTHON, self._locate(place.name, anywhere=False)):
                    if known.resolve() == place.resolve():
                        return known
        raise HiddenToolError(
            f"{printable(place)} can't be shown to a bot because a bot names it: write "
            f'"{printable(place.name)}", and put its folder on the PATH of whoever runs the event'
        )

    def _behind_shim(self, place: Path) -> Path:
        """The program that a version manager's shim, or a rustup proxy, stands for."""
        name = place.name
        if Path(os.path.realpath(place)).name == "rustup" and name != "rustup":
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

    def _tool(self, place: Path) -> Tool:
        links = list(_links(place))
        real = links[-1]
        info = real.stat()
        shown: list[Path] = []
        called = real
        outer = None if _in(links[0], SYSTEM) else environment(links[0])
        if outer is not None:
            # A virtual environment is one by the path that its python is called by.
            called = links[0]
            shown.extend(self._parts(outer, place))
        elif _in(real, (*SYSTEM, *STORES)):
            named = [link for link in links if link.name == place.name]
            called = next((link for link in reversed(named) if _in(link, (*SYSTEM, *STORES))), real)
        if not _in(real, SYSTEM):
            shown.extend(self._shown(real))
        return Tool(
            path=str(called),
            expose=outermost(map(str, shown)),
            identity=f"{real}:{info.st_size}:{info.st_mtime_ns}",
        )

    def _shown(self, program: Path) -> tuple[Path, ...]:
        """What is to be shown so that a program works that isn't the system's."""
        for store, names in STORES.items():
            if _in(program, (store,)):
                parts = tuple(part for name in names if (part := store / name).is_dir())
                return self._parts(Installation(store, parts, generic=True), program)
        found = installation(program)
        if found is None:
            raise HiddenToolError(
                f"{printable(program)} can't be shown to a bot: it is no installation of {SHAPES}, "
                "and not the system's (/usr/bin, /usr/local/bin); install it there, or put it into "
                "the bot's own folder"
            )
        return self._parts(found, program)

    def _parts(self, found: Installation, program: Path) -> tuple[Path, ...]:
        """The parts of an installation, if nothing else can lie in them."""
        for folder in (*found.parts, *([found.prefix] if found.generic else [])):
            if not self._may_show(folder):
                raise HiddenToolError(
                    f"{printable(program)} can't be shown to a bot: {printable(folder)} holds more "
                    "than the program (a home, the cache, a bot, the results or the current "
                    "folder); install it in a folder of its own"
                )
        hidden = None if found.prefix in STORES else private(found, program)
        if hidden:
            raise HiddenToolError(
                f"{printable(program)} can't be shown to a bot: {printable(hidden)}, a part of its "
                "installation, is for its owner alone; move it elsewhere, or let everybody read it "
                "(chmod o+rX)"
            )
        return found.parts

    def _may_show(self, folder: Path) -> bool:
        """Refuse whatever would show more than a program."""
        own = {home / name for home in self._private for name in (".local", ".cache", ".config")}
        return (
            folder not in own
            and not any(_in(place, (folder,)) for place in (*self._private, *self._closed))
            and not _in(folder, self._closed)
        )


@functools.cache  # 0.2 s each; every look at a roster has a toolbox of its own
def _ask(command: tuple[str, ...], name: str, argv0: str = "") -> Path:
    """The program that a version manager names."""
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
        if what := ran_out_at_start(e):
            raise HostError(f"{printable(command[0])} can't be started: {what}") from e
        raise MissingToolError(name, f"could not be found out: {printable(e)}") from e
    place = os.fsdecode(answer.stdout).strip()
    if answer.returncode == 0 and os.access(place, os.X_OK):
        return Path(place)
    said = os.fsdecode(answer.stderr).strip().splitlines() or [f"exit {answer.returncode}"]
    raise MissingToolError(name, f"its version manager can't find ({printable(said[0])})")


def _homes() -> list[Path]:
    """Of everybody who logs in here."""
    users = (user for user in pwd.getpwall() if user.pw_uid == 0 or user.pw_uid >= _FIRST_USER)
    return [Path(user.pw_dir) for user in users if user.pw_dir not in {"", "/"}]


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
