"""Find the files and folders that an interpreter or a compiler outside the system's folders needs.

An installation is recognised by its shape: Python's, or one of installations.toml. Only the parts
that the shape names are exposed, never the folder that contains it: a prefix such as ~/.local or a
home contains much that belongs to no runtime. Any other program exposes nothing. Whether a folder
may be exposed at all (a home, the cache) is up to the caller.
"""

import contextlib
import functools
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from arena.sandbox.visible import is_public
from arena.tables import table

SHAPES = "Python, node, a JDK, Go or Rust"  # for messages
_PYTHON = re.compile(r"(python|pypy)(\d+(\.\d+)?)?[a-z]*")
_ENVIRONMENT_PARTS = ("bin/py*", "lib/python3*", "lib/pypy3*", "pyvenv.cfg")


class Installation(NamedTuple):
    prefix: Path
    parts: tuple[Path, ...]
    generic: bool  # the prefix must belong to the runtime alone: see installations.toml


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
    """A file or folder in a public installation that we can read, but not every user; none in one
    made under a umask of 077.
    """
    mark = found.prefix / "pyvenv.cfg"
    if not is_public((mark if mark.is_file() else program).stat()):
        return None
    waiting: list[str] = []
    for part in found.parts:
        info = part.lstat()
        if not is_public(info) and os.access(part, os.R_OK):
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
                if not is_public(info) and os.access(entry.path, os.R_OK):
                    hidden.append(entry.path)
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(entry.path)
    return Path(min(hidden)) if hidden else None


def find_installation(program: Path) -> Installation | None:
    """The installation of a program, given by its real path; None: it has no known shape."""
    if program.parent.name == "bin":
        prefix, name = program.parent.parent, program.name
        if _PYTHON.fullmatch(name):
            return _python(prefix, program)
        if program.parts[-5:-2] == ("lib", "node_modules", "npm"):  # what bin/npm links to
            prefix, name = program.parents[4], "node"
        for shape in table("sandbox/installations")["shapes"]:
            present = (any(_present(prefix, mark)) for mark in shape["marks"])
            if name in shape["programs"] and all(present):
                parts = tuple(_present(prefix, shape["parts"]))
                return Installation(prefix, parts, shape["generic"])
    return None


def own_python() -> tuple[str, ...]:
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    try:
        found = find_installation(program)
    except PermissionError:  # below a folder that is closed to us
        found = None
    return tuple(map(str, found.parts)) if found else (sys.base_prefix,)


def _python(prefix: Path, program: Path) -> Installation | None:
    libraries = [
        library
        for folder in (prefix / "lib", prefix / "lib64")
        if not folder.is_symlink()
        for library in sorted((*folder.glob("python3*"), *folder.glob("pypy3*")))
        if _of_version(library.name, program.name)
    ]
    if not any((library / "os.py").is_file() for library in libraries):
        return None
    # Its other names: a virtual environment links to one of them.
    names = [path for path in program.parent.glob("py*") if path.resolve() == program]
    conda = (prefix / "conda-meta").is_dir()  # all libraries of an environment lie in `lib`
    parts = (
        *sorted(names),
        *(library for library in libraries if library.is_dir() and not library.is_symlink()),
        *_present(prefix, ("lib",) if conda else ("lib/libpython3.*.so*", "bin/libpypy*.so*")),
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


def _present(prefix: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """Those that exist. A folder that is a link leads elsewhere, and is no part."""
    for pattern in patterns:
        for path in sorted(prefix.glob(pattern)):
            if path.is_file() or (path.is_dir() and not path.is_symlink()):
                yield path
