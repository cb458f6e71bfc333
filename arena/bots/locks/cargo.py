"""Read Cargo.lock and every Cargo.toml of the bot; the rules are at the top of the package.

cargo follows manifests to other folders, whose manifests may name hosts. Here no path leads out of
the bot's folder, and all manifests within it are read.
"""

import posixpath
from collections.abc import Iterator
from typing import Any

from arena.bots import toml
from arena.bots.folder import Folder
from arena.bots.locks.text import Locked, LockError, as_table, check_count, read_file, read_files
from arena.bots.plain_text import printable
from arena.bots.snapshot import listing
from arena.bots.toml import BoundsError, Key, Toml

CARGO_LOCK = "Cargo.lock"
CARGO = "Cargo.toml"

CRATES_IO = frozenset(
    {"registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"}
)
"""crates.io in lock files; cargo replaces it by the registry of its user's settings."""

MANIFESTS = 1000  # reading one takes time even if it is empty

_DEPENDENCIES = (
    *("dependencies", "dev-dependencies", "dev_dependencies"),
    *("build-dependencies", "build_dependencies"),
)
_PLACES = ("git", "registry", "registry-index", "base")
_PATHS = frozenset(
    {"path", "workspace", "members", "default-members", "build", "readme", "license-file"}
)
"""Keys whose values are paths in every table; other values of these names never lead out. `exclude`
is a path only in a workspace: a package's are patterns."""
_GLOB = "*?["


def read_cargo(folder: Folder) -> Locked:
    data = read_file(folder, CARGO_LOCK)
    read_file(folder, CARGO)  # raises if it is missing
    names = _lock(_parsed(CARGO_LOCK, data))
    found = [file.path for file in listing(folder)]
    manifests = [path for path in found if posixpath.basename(path) == CARGO]
    # Cargo needs the sources of a workspace to exist, but reads none.
    sources = tuple(path for path in found if path.endswith(".rs"))
    if len(manifests) > MANIFESTS:
        raise LockError(f"{CARGO_LOCK}: more than {MANIFESTS} {CARGO} lie in the bot's folder")
    files = read_files(folder, manifests)
    wanted: set[str] = set()
    for path, text in files.items():
        wanted |= _manifest(path, _parsed(path, text))
        check_count(path, len(wanted))
    return Locked({CARGO_LOCK: data, **files}, empty=sources, names=frozenset(names))


def _parsed(name: str, data: bytes) -> Toml:
    try:
        return toml.loads(data.decode())
    except BoundsError as e:
        raise LockError(f"{printable(name)}:{e.line}: {e.what}; write it again with cargo") from e
    except ValueError as e:
        raise LockError(f"{printable(name)} can't be read: {printable(e)}") from e


def _lock(lock: Toml) -> Iterator[str]:
    """The crates from crates.io; LockError for one from elsewhere."""
    unused = as_table(lock.values.get("patch")).get("unused", [])
    patched = ("patch", "unused")
    for key, packages in ((("package",), lock.values.get("package", [])), (patched, unused)):
        if not isinstance(packages, list) or not all(isinstance(each, dict) for each in packages):
            raise LockError(f"{CARGO_LOCK} can't be read; write it again: cargo generate-lockfile")
        check_count(CARGO_LOCK, len(packages))
        for place, package in enumerate(packages):
            for source in _sources(package):
                if source not in CRATES_IO:
                    line = _line(lock, (*key, place, "source"))
                    raise LockError(
                        f"{CARGO_LOCK}:{line}: {printable(package.get('name'), 80)} comes from "
                        f"{printable(source, 80)}; packages come from crates.io, or lie "
                        "within the bot's folder"
                    )
            if package.get("source"):  # crates of the bot's own have none
                yield str(package.get("name"))


def _sources(package: dict[str, Any]) -> Iterator[str]:
    """The sources that a package of a lock states, of itself and of its dependencies."""
    if source := str(package.get("source", "")):
        yield source
    wanted = package.get("dependencies")
    for each in (*(wanted if isinstance(wanted, list) else ()), package.get("replace")):
        if isinstance(each, str) and "(" in each:  # name version (source)
            yield each.partition("(")[2].rstrip(")")


def _manifest(path: str, manifest: Toml) -> set[str]:
    """The names of dependencies; LockError for one that cargo would not take from the lock."""
    names: set[str] = set()
    values = manifest.values
    name = printable(path)
    for key, wanted in _dependencies(values):
        names.add(str(key[-1]))
        if found := [place for place in _PLACES if place in as_table(wanted)]:
            line = _line(manifest, (*key, found[0]))
            raise LockError(
                f"{name}:{line}: {printable(key[-1], 80)} states `{found[0]}`; packages come from "
                "crates.io, or lie within the bot's folder"
            )
    if other := as_table(values.get("patch")).keys() - {"crates-io"}:
        line = _line(manifest, ("patch", min(other)))
        raise LockError(
            f"{name}:{line}: patches {printable(min(other), 80)}; packages come from crates.io"
        )
    for key, place in _paths(values, ()):
        if _leads_out(posixpath.dirname(path), place):
            raise LockError(
                f"{name}:{_line(manifest, key)}: {_names(key)[-1]} leads to "
                f"{printable(place, 80)}, outside the bot's folder; copy it in"
            )
    return names


def _dependencies(values: dict[str, Any]) -> Iterator[tuple[Key, Any]]:
    targets = as_table(values.get("target"))
    scopes: list[tuple[Key, Any]] = [((), values), (("workspace",), values.get("workspace"))]
    scopes += [(("target", name), target) for name, target in targets.items()]
    patches = as_table(values.get("patch"))
    tables = [
        ((*key, kind), as_table(scope).get(kind)) for key, scope in scopes for kind in _DEPENDENCIES
    ]
    tables += [(("patch", name), patch) for name, patch in patches.items()]
    for key, each in (*tables, (("replace",), values.get("replace"))):
        for name, wanted in as_table(each).items():
            yield (*key, name), wanted


def _paths(value: Any, key: Key) -> Iterator[tuple[Key, str]]:  # noqa: ANN401 - TOML
    """Every path in a manifest, with its key."""
    if key in {("package", "metadata"), ("workspace", "metadata")}:
        return  # other tools'
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _paths(each, (*key, name))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _paths(each, (*key, place))
    elif isinstance(value, str):
        names = _names(key)
        if names[-1] in _PATHS or names == ("workspace", "exclude"):
            yield key, value


def _names(key: Key) -> tuple[str, ...]:
    return tuple(part for part in key if isinstance(part, str))


def _leads_out(folder: str, path: str) -> bool:
    parts = path.split("/")
    if path.startswith("/") or (".." in parts and any(sign in path for sign in _GLOB)):
        return True
    return posixpath.normpath(posixpath.join(folder, path)).split("/")[0] == ".."


def _line(manifest: Toml, key: Key) -> int:
    """The line of a key, or of the nearest one above it: items of arrays have none."""
    while key and key not in manifest.lines:
        key = key[:-1]
    return manifest.lines.get(key, 1)
