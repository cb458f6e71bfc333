"""Find the files and folders that an interpreter or a compiler outside the system's folders needs.

Only reads the file system. An installation is recognised by one of a closed list of shapes, and
only the parts that its shape names are exposed, never the folder that contains it: a prefix such as
~/.local or a home contains much that belongs to no runtime. A program that isn't one of a shape's
programs exposes nothing, whatever lies beside it.

Parts are chosen by their names alone. Whether a folder may be exposed at all (a home, the cache) is
up to the caller; `generic` says that the parts have names that any prefix could have.
`private_file` finds files in them that only their owner may read.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

SHAPES = "Python, node, a JDK, Go or Rust"  # for messages
_PYTHON = re.compile(r"(python|pypy)(\d+(\.\d+)?)?[a-z]*")
_NODE_PARTS = ("bin/node", "include/node", "lib/node_modules/npm", "lib/node_modules/corepack")
_JDK = ("jar", "java", "javac", "javap", "jdeps", "jlink", "jmod", "jshell")
_JDK_PARTS = (
    *(f"bin/{name}" for name in _JDK), "conf", "include", "jmods", "jre", "lib", "release",
)  # fmt: skip
_GO = ("go", "gofmt")
_GO_PARTS = (*(f"bin/{name}" for name in _GO), "VERSION", "go.env", "lib", "pkg", "src")
_RUST_PARTS = (
    "bin/cargo", "bin/rustc", "bin/rustdoc", "lib/rustlib",
    "lib/libLLVM*", "lib/librustc_driver*", "lib/libstd*", "lib/libtest*",
)  # fmt: skip
_ENVIRONMENT_PARTS = ("bin/py*", "lib/python3*", "lib/pypy3*", "pyvenv.cfg")


class Installation(NamedTuple):
    prefix: Path
    parts: tuple[Path, ...]
    generic: bool
    """Whether parts have names such as `bin` or `lib`, which may contain other things as well: then
    the prefix must belong to the runtime alone."""


def find_environment(program: Path) -> Installation | None:
    """The virtual environment of a path, without the installation that it is based on."""
    prefix = program.parent.parent
    if not (prefix / "pyvenv.cfg").is_file() or not _PYTHON.fullmatch(program.name):
        return None
    parts = tuple(
        part
        for part in _present(prefix, _ENVIRONMENT_PARTS)
        if part.parent.name != "bin" or _PYTHON.fullmatch(part.name)
    )
    return Installation(prefix, parts, generic=True)


@functools.cache  # a Python may have 60,000 files; one command asks several times
def private_file(found: Installation, program: Path) -> Path | None:
    """A file or folder in an installation that we can read, but not every user, although the
    installation itself is public.

    None for an installation made under a umask of 077: all of it is its owner's alone, and no
    file is more private than another.
    """
    mark = found.prefix / "pyvenv.cfg"
    if not _public((mark if mark.is_file() else program).stat()):
        return None
    waiting: list[str] = []
    for part in found.parts:
        info = part.lstat()
        if not _public(info) and os.access(part, os.R_OK):
            return part
        if stat.S_ISDIR(info.st_mode):
            waiting.append(str(part))
    hidden = []
    while waiting:
        # What vanishes, or is closed to us, can't be exposed.
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    continue
                info = entry.stat(follow_symlinks=False)
                if not _public(info) and os.access(entry.path, os.R_OK):
                    hidden.append(entry.path)
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(entry.path)
    return Path(min(hidden)) if hidden else None


def _public(info: os.stat_result) -> bool:
    mode = info.st_mode
    wanted = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
    return mode & wanted == wanted


def find_installation(program: Path) -> Installation | None:
    """The installation of a program, given by its real path; None: it has no known shape."""
    if program.parent.name == "bin":
        prefix = program.parent.parent
        for shape in (_python, _node, _jdk, _go, _rust):
            if found := shape(prefix, program):
                return found
    return None


def own_python() -> tuple[str, ...]:
    """The parts of the arena's own interpreter's installation."""
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    try:
        found = find_installation(program)
    except PermissionError:  # below a folder that is closed to us
        found = None
    return tuple(map(str, found.parts)) if found else (sys.base_prefix,)


def _python(prefix: Path, program: Path) -> Installation | None:
    if not _PYTHON.fullmatch(program.name):
        return None
    folders = [prefix / "lib", prefix / "lib64"]
    libraries = [
        library
        for folder in folders
        if not folder.is_symlink()
        for library in sorted((*folder.glob("python3*"), *folder.glob("pypy3*")))
        if _of_version(library.name, program.name)
    ]
    if not any((library / "os.py").is_file() for library in libraries):
        return None
    # Its other names: a virtual environment links to one of them.
    names = [path for path in program.parent.glob("py*") if path.resolve() == program]
    conda = (prefix / "conda-meta").is_dir()  # all libraries of an environment lie in `lib`
    patterns = ("lib",) if conda else ("lib/libpython3.*.so*", "bin/libpypy*.so*")
    parts = (
        *sorted(names),
        *(library for library in libraries if library.is_dir() and not library.is_symlink()),
        *_present(prefix, patterns),
        *(
            header
            for header in _present(prefix, ("include/python3*", "include/pypy3*"))
            if _of_version(header.name, program.name)
        ),
    )
    return Installation(prefix, parts, generic=conda)


def _of_version(library: str, program: str) -> bool:
    """Whether lib/python3.11 is for python3.11; for a program called python3 any may be."""
    number = re.search(r"\d+\.\d+", program)
    return number is None or re.search(rf"{re.escape(number[0])}(?!\d)", library) is not None


def _node(prefix: Path, program: Path) -> Installation | None:
    if program.parts[-5:-2] == ("lib", "node_modules", "npm"):  # what bin/npm links to
        prefix = program.parents[4]
    elif program.name != "node":
        return None
    parts = tuple(_present(prefix, _NODE_PARTS))
    if len(parts) < 2 or parts[0] != prefix / "bin/node":  # a mark besides the program
        return None
    return Installation(prefix, parts, generic=False)


def _jdk(prefix: Path, program: Path) -> Installation | None:
    libraries = ("lib/modules", "lib/rt.jar", "jre/lib/rt.jar")
    if program.name not in _JDK or not (
        (prefix / "bin/java").is_file() and any((prefix / each).is_file() for each in libraries)
    ):
        return None
    return Installation(prefix, tuple(_present(prefix, _JDK_PARTS)), generic=True)


def _go(prefix: Path, program: Path) -> Installation | None:
    marks = (prefix / "VERSION").is_file() and (prefix / "src/runtime").is_dir()
    if program.name not in _GO or not marks:
        return None
    return Installation(prefix, tuple(_present(prefix, _GO_PARTS)), generic=True)


def _rust(prefix: Path, program: Path) -> Installation | None:
    parts = tuple(_present(prefix, _RUST_PARTS))
    if program not in parts or not (prefix / "lib/rustlib").is_dir():
        return None
    return Installation(prefix, parts, generic=False)


def _present(prefix: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """Those that exist. A folder that is a link leads elsewhere, and is no part."""
    for pattern in patterns:
        for path in sorted(prefix.glob(pattern)):
            if path.is_file() or (path.is_dir() and not path.is_symlink()):
                yield path
