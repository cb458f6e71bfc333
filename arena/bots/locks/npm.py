"""Read package-lock.json and package.json; the rules are at the top of the package.

Both are written again for npm, with only the fields that it needs to install what the lock names:
none for older versions of npm, other tools of its name (volta, corepack), or workspaces.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from arena.bots.folder import Folder
from arena.bots.locks.text import Locked, LockError, as_table, check_count, read_file, read_files
from arena.bots.plain_text import printable

PACKAGE_LOCK = "package-lock.json"
PACKAGE = "package.json"
ARCHIVE_BYTES = 16 << 20  # of an archive in the bot's folder
OWN_BYTES = 64 << 20  # of all of them, which are kept in memory

_REMEDY = "write it again: npm install --package-lock-only, with npm 7 or newer"
_NAME = r"(?:@[\w~-][\w.~-]*/)?[\w~-][\w.~-]*"
_PLACE = re.compile(rf"(?:node_modules/{_NAME}/)*node_modules/{_NAME}", re.ASCII)
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:[-+][\w.+-]*)?", re.ASCII)
_RANGE = re.compile(rf"(?!\s*\.)(?:npm:{_NAME}(?:@|$))?[^:/\\]*", re.ASCII)
"""A dependency on a version or a tag, also under another name: nothing that names a place."""
_OWN_ARCHIVE = re.compile(r"(?:[\w@+-][\w@.+-]*/)*[\w@+-][\w@.+-]*\.(?:tgz|tar\.gz)", re.ASCII)
"""Within the bot's folder; no name that npm reads as its settings or as another lock."""
_DEPENDENCIES = (
    *("dependencies", "devDependencies", "optionalDependencies", "peerDependencies"),
    "overrides",
)
_PACKAGE_FIELDS = (
    *("name", "version", *_DEPENDENCIES),
    *("peerDependenciesMeta", "bundleDependencies", "bundledDependencies"),
)
_LOCK_FIELDS = ("name", "version", "lockfileVersion", "requires", "packages")


def read_npm(folder: Folder) -> Locked:
    texts = {name: read_file(folder, name) for name in (PACKAGE_LOCK, PACKAGE)}
    lock, package = (_json(name, text) for name, text in texts.items())
    wanted = _dependencies(PACKAGE, texts[PACKAGE], package)
    check_count(PACKAGE, len(wanted))
    version = lock.get("lockfileVersion")
    packages = lock.get("packages")
    if version not in (2, 3) or not isinstance(packages, dict):
        raise LockError(
            f"{PACKAGE_LOCK}: lockfileVersion must be 2 or 3, not {printable(version)}; {_REMEDY}"
        )
    for name, root in ((PACKAGE, package), (PACKAGE_LOCK, as_table(packages.get("")))):
        if root.get("workspaces"):
            raise LockError(
                f"{_line(name, texts[name], 'workspaces')}has workspaces; a bot is one package: "
                "copy what it needs of the others into it"
            )
    check_count(PACKAGE_LOCK, len(packages))
    own = set()
    for place, each in packages.items():
        try:
            if isinstance(each, dict):
                wanted |= _dependencies("", b"", each)
            if place and (path := _package(folder, place, each)):
                own.add(path)
        except LockError as e:
            where = _line(PACKAGE_LOCK, texts[PACKAGE_LOCK], place)
            raise LockError(f"{where}{printable(place, 80) or 'the bot'} {e}") from None
    check_count(PACKAGE_LOCK, len(wanted))
    try:
        files = {
            name: msgspec.json.encode({key: each for key, each in table.items() if key in fields})
            for name, table, fields in (
                (PACKAGE_LOCK, lock, _LOCK_FIELDS),
                (PACKAGE, package, _PACKAGE_FIELDS),
            )
        }
    except RecursionError as e:
        raise LockError(f"{PACKAGE_LOCK} is nested too deeply; {_REMEDY}") from e
    return Locked({**files, **read_files(folder, sorted(own), OWN_BYTES, ARCHIVE_BYTES)})


def _line(name: str, text: bytes, word: str) -> str:
    """File and line of a word, as the beginning of a message."""
    at = text.find(json.dumps(word, ensure_ascii=False).encode())
    return f"{name}:{text.count(10, 0, at) + 1}: " if at >= 0 else f"{name}: "


def _package(folder: Folder, place: str, package: Any) -> str:  # noqa: ANN401 - JSON
    """Check one entry of a lock file; return its file, if the bot brings it along."""
    if (
        not isinstance(package, dict)
        or package.get("link")
        # npm would unpack it at that place, and ask for it by its last part.
        or not _PLACE.fullmatch(place)
    ):
        raise LockError("is not a package below node_modules but a folder; copy it in")
    source = package.get("resolved", "")
    version = package.get("version")
    # Without a source, name and version tell the registry's package; either could be an address.
    if not (isinstance(version, str) and _VERSION.fullmatch(version) and isinstance(source, str)):
        raise LockError(f"is not pinned to a version; {_REMEDY}")
    name = package.get("name", "x")
    if not isinstance(name, str) or not re.fullmatch(_NAME, name, re.ASCII):
        raise LockError(f"has a wrong package name: {printable(name, 80)}")
    if source.startswith("file:"):
        return _own_file(folder, source.removeprefix("file:"))
    if source and not source.startswith("https://"):
        raise LockError(
            f"comes from {printable(source, 80)}; packages come from the registry, by "
            "https, or are files in the bot's folder"
        )
    return ""


def _dependencies(file: str, text: bytes, package: Mapping[str, Any]) -> set[str]:
    """The names of dependencies; LockError for one that npm would not take from the lock."""
    names: set[str] = set()
    found = [package.get(kind) for kind in _DEPENDENCIES]
    while found:
        wanted = found.pop()
        if isinstance(wanted, dict):
            names.update(wanted)
            found.extend(wanted.values())
        elif isinstance(wanted, str) and not (
            _RANGE.fullmatch(wanted)
            or (wanted.startswith("file:") and _OWN_ARCHIVE.fullmatch(wanted[len("file:") :]))
        ):
            where = _line(file, text, wanted) if file else ""
            raise LockError(
                f"{where}depends on {printable(wanted, 80)}; packages come from the registry, or "
                "are .tgz files in the bot's folder"
            )
    return names


def _json(name: str, data: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as e:
        raise LockError(f"{name} is not JSON: {printable(e)}") from e
    if not isinstance(found, dict):
        raise LockError(f"{name} must hold an object")
    return found


def _own_file(folder: Folder, path: str) -> str:
    # npm might take a file of another name for its settings, or for the lock file.
    if not _OWN_ARCHIVE.fullmatch(path) or not ((found := folder.find(path)) and found.is_file):
        raise LockError(
            f"names {printable(path, 80)}, which is not a file in the bot's folder that ends in "
            ".tgz or .tar.gz"
        )
    return path
