"""Which parts of this machine an interpreter or a compiler needs besides the system's own.

Reads the file system only. An installation is recognised by one of a closed list of shapes, and
what is shown of it are the parts that this shape names, never the folder that it lies in: a prefix
such as ~/.local or a home holds much that is nobody's runtime. A program without a shape shows
nothing, whatever lies beside it, and one of another name than the runtime's programs has no shape.

`parts` are judged by their names alone; whether a folder may be shown at all (a home, the cache) is
for the caller to say, and `generic` tells him that the parts have names that any prefix could have.
What somebody has put into them for his own eyes `private` finds.
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
    """Whether parts have names, `bin` or `lib`, under which other things may lie as well: then the
    prefix must be the runtime's alone."""


def environment(program: Path) -> Installation | None:
    """The virtual environment that a path belongs to; what it is based on isn't in it."""
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
def private(found: Installation, program: Path) -> Path | None:
    """A file or folder in an installation that is not for everybody to read, while the
    installation is, and that we could read and so show.

    Made under a umask of 077 the whole of it is its owner's alone, and nothing tells one file
    from another: None.
    """
    mark = found.prefix / "pyvenv.cfg"
    if not _for_everybody((mark if mark.is_file() else program).stat()):
        return None
    waiting: list[str] = []
    for part in found.parts:
        info = part.lstat()
        if not _for_everybody(info) and os.access(part, os.R_OK):
            return part
        if stat.S_ISDIR(info.st_mode):
            waiting.append(str(part))
    hidden = []
    while waiting:
        # What vanishes, or is closed to us, shows nothing.
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    continue
                info = entry.stat(follow_symlinks=False)
                if not _for_everybody(info) and os.access(entry.path, os.R_OK):
                    hidden.append(entry.path)
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(entry.path)
    return Path(min(hidden)) if hidden else None


def _for_everybody(info: os.stat_result) -> bool:
    mode = info.st_mode
    wanted = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
    return mode & wanted == wanted


def installation(program: Path) -> Installation | None:
    """What a program, given by its real path, is a part of; None for one of no known shape."""
    if program.parent.name == "bin":
        prefix = program.parent.parent
        for shape in (_python, _node, _jdk, _go, _rust):
            if found := shape(prefix, program):
                return found
    return None


def own_python() -> tuple[str, ...]:
    """The parts of the installation that the arena's own interpreter is of."""
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    try:
        found = installation(program)
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
    """What there is of these. A folder that is a link leads elsewhere, and is no part."""
    for pattern in patterns:
        for path in sorted(prefix.glob(pattern)):
            if path.is_file() or (path.is_dir() and not path.is_symlink()):
                yield path
