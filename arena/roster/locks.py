"""Lock files: exactly which packages a bot wants, and nothing else that a tool could be told.

Reads a bot's snapshot. `arena fetch` hands what is found here to pip, npm or cargo, which run as
the user, outside the sandbox, and with the user's own configuration. So a lock file is read as
hostile text, not as a configuration:

- every package is pinned to one version;
- none comes from elsewhere than the registries that the user's tools are set up for, or from an
  archive of the bot's own: no version control, no folders of the host, no options. An npm older
  than 8.16 alone takes a package from the https address that the lock file names for it;
- what packages depend on is read as well, since a tool asks for what a lock file lacks;
- the tool gets only the files in `Locked`: no .npmrc, .cargo/config.toml, rust-toolchain.toml.

Invariant: what is fetched follows from `Locked.files` and the toolchain; they are its key.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from arena.roster.plain import printable
from arena.roster.snapshot import SnapshotError, listing

REQUIREMENTS = "requirements.txt"
PACKAGE_LOCK = "package-lock.json"
PACKAGE = "package.json"
CARGO_LOCK = "Cargo.lock"
CARGO = "Cargo.toml"

LOCK_BYTES = 16 << 20
"""The lock file of a very large node project has some 2 MB."""

OWN_BYTES = 64 << 20
"""All that is handed to a tool, held in memory: lock, manifests and the bot's own archives."""

LEFT_OUT = {
    PACKAGE_LOCK: frozenset({"node_modules"}),
    CARGO_LOCK: frozenset({"target"}),
}
"""What the author's own tools have made beside a lock file: no part of the bot, made anew."""

CRATES_IO = frozenset(
    {"registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"}
)
"""How lock files write crates.io. Cargo itself puts in its place what its user's settings say."""

_NPM_REMEDY = "write it anew: npm install --package-lock-only, with npm 7 or newer"
_PIN = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?P<extras>\[[A-Za-z0-9._,\s-]*\])?\s*"
    r"={2,3}\s*(?P<version>[A-Za-z0-9.!+_-]+)\s*(?:;(?P<marker>[^$;]*))?"
)
_HASH = re.compile(r"\s--hash[=\s]\s*(?P<hash>sha(?:256|384|512):[0-9a-fA-F]+)(?=\s|$)")
_COMMENT = re.compile(r"(^|\s)#.*")
_OPTION = re.compile(r"(?:^|\s)(--?[A-Za-z][\w-]*)")
_NPM_NAME = r"(?:@[\w~-][\w.~-]*/)?[\w~-][\w.~-]*"
_NPM_PLACE = re.compile(rf"(?:node_modules/{_NPM_NAME}/)*node_modules/{_NPM_NAME}", re.ASCII)
_NPM_VERSION = re.compile(r"\d+\.\d+\.\d+(?:[-+][\w.+-]*)?", re.ASCII)
_NPM_RANGE = re.compile(rf"(?!\s*\.)(?:npm:{_NPM_NAME}(?:@|$))?[^:/\\]*", re.ASCII)
"""What depends on a version, a tag, or either of another name: nothing that names a place."""
_OWN_ARCHIVE = re.compile(r"(?:[\w@+-][\w@.+-]*/)*[\w@+-][\w@.+-]*\.(?:tgz|tar\.gz)", re.ASCII)
"""Below the bot's folder, and no name that npm reads as its settings or as another lock."""
_NPM_DEPENDENCIES = (
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
    "overrides",
)
_CARGO_DEPENDENCIES = (
    "dependencies",
    "dev-dependencies",
    "dev_dependencies",
    "build-dependencies",
    "build_dependencies",
)
_CARGO_PLACES = ("git", "registry", "registry-index")
_FILE_REQUIREMENTS = {"-r", "--requirement", "-c", "--constraint"}


class LockError(Exception):
    """What is wrong with a lock file: one line with its name."""


class Locked(NamedTuple):
    """What a package tool is given."""

    files: dict[str, bytes]
    """By path; what is fetched depends on them."""
    empty: tuple[str, ...] = ()
    """Files that only have to be there."""
    names: frozenset[str] = frozenset()
    """The pinned packages, where the tool itself doesn't see to it that there are no others."""
    hashes: bool = False


def read(lock: str, folder: Path) -> Locked:
    """Read the lock file of a bot and what belongs to it; LockError when it doesn't do."""
    return _READERS[lock](folder)


def canonical_name(name: str) -> str:
    """A Python package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _content(folder: Path, name: str) -> bytes:
    try:
        with (folder / name).open("rb") as file:
            data = file.read(LOCK_BYTES + 1)
    except FileNotFoundError:
        raise LockError(
            f"{name} is not in the bot's folder; put it there, or take `lock` out of bot.toml"
        ) from None
    except OSError as e:
        raise LockError(f"can't read {name}: {e.strerror}") from e
    if len(data) > LOCK_BYTES:
        raise LockError(f"{name} is larger than {LOCK_BYTES >> 20} MB")
    return data


def _contents(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    files = {}
    size = 0
    for name in names:
        files[name] = _content(folder, name)
        size += len(files[name])
        if size > OWN_BYTES:
            raise LockError(f"{name} is one too many: more than {OWN_BYTES >> 20} MB for packages")
    return files


# ---------------------------------------------------------------------------------- Python


def _requirements(folder: Path) -> Locked:
    try:
        text = _content(folder, REQUIREMENTS).decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise LockError(f"{REQUIREMENTS} is not UTF-8; save the file as UTF-8") from e
    lines: list[str] = []
    names = set()
    hashes = False
    for number, line in _logical(text):
        pin, hashed = _pinned(number, line)
        names.add(canonical_name(pin["name"]))
        marker = f" ; {pin['marker'].strip()}" if pin["marker"] else ""
        extras = "".join((pin["extras"] or "").split())
        options = "".join(f" --hash={each.lower()}" for each in hashed)
        lines.append(f"{pin['name']}{extras}=={pin['version']}{marker}{options}\n")
        hashes = hashes or bool(hashed)
    # Written anew: pip would honour a coding line and variables of the environment, and must not
    # read anything else than what was checked.
    data = "".join(sorted(lines)).encode("ascii")
    return Locked({REQUIREMENTS: data}, names=frozenset(names), hashes=hashes)


def _logical(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, joined where they end in a backslash, each with its number."""
    joined = ""
    begun = 0
    for number, line in enumerate(text.splitlines(), 1):
        part = _COMMENT.sub("", line).rstrip()
        begun = begun if joined else number
        if part.endswith("\\"):
            joined += part[:-1] + " "
            continue
        joined += part
        if joined.strip():
            yield begun, joined.strip()
        joined = ""
    if joined.strip():
        yield begun, joined.strip()


def _pinned(number: int, line: str) -> tuple[re.Match[str], list[str]]:
    """The parts of `name==version`, and its hashes."""
    hashed = _HASH.findall(line)
    rest = _HASH.sub("", line).strip()
    where = f"{REQUIREMENTS} line {number}: "
    option = _OPTION.search(rest)
    if option is not None and option[1] in _FILE_REQUIREMENTS:
        raise LockError(f"{where}`{printable(rest, 80)}` is not taken; write its lines into here")
    if option is not None and option[1] in {"-e", "--editable"}:
        raise LockError(
            f"{where}`{printable(rest, 80)}` is not taken: code of the bot's own needs no "
            "installation, and packages come from the index, as name==version"
        )
    if option is not None:
        raise LockError(
            f"{where}the option {option[1]} is not taken, only --hash=sha256:… is; whoever "
            "fetches can set it in pip's own configuration"
        )
    pin = _PIN.fullmatch(rest)
    if pin is not None and rest.isascii() and rest.isprintable():
        return pin, hashed
    shown = printable(rest, 80)
    if "/" in rest.partition(";")[0] or " @ " in rest:
        raise LockError(
            f"{where}`{shown}` names a place; packages come from the index, as name==version"
        )
    raise LockError(
        f"{where}`{shown}` is not pinned; write name==version (pip freeze, pip-compile and "
        "uv pip compile write such files)"
    )


# -------------------------------------------------------------------------------- JavaScript


def _package_lock(folder: Path) -> Locked:
    files = {PACKAGE_LOCK: _content(folder, PACKAGE_LOCK), PACKAGE: _content(folder, PACKAGE)}
    lock = _json(PACKAGE_LOCK, files[PACKAGE_LOCK])
    _npm_dependencies(PACKAGE, _json(PACKAGE, files[PACKAGE]))
    version = lock.get("lockfileVersion")
    packages = lock.get("packages")
    if version not in (2, 3) or not isinstance(packages, dict):
        raise LockError(
            f"{PACKAGE_LOCK}: lockfileVersion must be 2 or 3, not {printable(version)}; "
            + _NPM_REMEDY
        )
    own = set()
    for place, package in packages.items():
        if isinstance(package, dict):
            _npm_dependencies(f"{PACKAGE_LOCK}: {printable(place, 80) or 'the bot'}", package)
        if place and (path := _npm_package(folder, place, package)):
            own.add(path)
    return Locked({**files, **_contents(folder, sorted(own))})


def _npm_package(folder: Path, place: str, package: Any) -> str:  # noqa: ANN401 - JSON
    """Check one entry of a lock file; the file that it is, if the bot brings it along."""
    where = f"{PACKAGE_LOCK}: {printable(place, 80)} "
    if (
        not isinstance(package, dict)
        or package.get("link")
        # npm would unpack it at that place, wherever that is, and ask for it by its last part.
        or not _NPM_PLACE.fullmatch(place)
    ):
        raise LockError(f"{where}is no package below node_modules, but a folder; copy it in")
    source = package.get("resolved", "")
    version = package.get("version")
    # Without a source it is the registry's package of that name and version, and either may be
    # the address of something else.
    pinned = isinstance(version, str) and _NPM_VERSION.fullmatch(version)
    if not pinned or not isinstance(source, str):
        raise LockError(f"{where}is not pinned to a version; {_NPM_REMEDY}")
    name = package.get("name", "x")
    if not isinstance(name, str) or not re.fullmatch(_NPM_NAME, name, re.ASCII):
        raise LockError(f"{where}has no package's name: {printable(name, 80)}")
    if source.startswith("file:"):
        return _own_file(folder, source.removeprefix("file:"), where)
    if source and not source.startswith("https://"):
        raise LockError(
            f"{where}comes from {printable(source, 80)}; packages come from the registry, by "
            "https, or are files of the bot's own"
        )
    return ""


def _npm_dependencies(where: str, package: Mapping[str, Any]) -> None:
    """See that nothing is depended on by a place: npm would ask there for what the lock lacks."""
    found = [package.get(kind) for kind in _NPM_DEPENDENCIES]
    while found:
        wanted = found.pop()
        if isinstance(wanted, dict):
            found.extend(wanted.values())
        elif isinstance(wanted, str) and not (
            _NPM_RANGE.fullmatch(wanted)
            or (wanted.startswith("file:") and _OWN_ARCHIVE.fullmatch(wanted[len("file:") :]))
        ):
            raise LockError(
                f"{where} depends on {printable(wanted, 80)}; packages come from the registry, or "
                "are .tgz files of the bot's own"
            )


def _json(name: str, data: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as e:
        raise LockError(f"{name} is not JSON: {printable(e)}") from e
    if not isinstance(found, dict):
        raise LockError(f"{name} must hold an object")
    return found


def _own_file(folder: Path, path: str, where: str) -> str:
    """A package that the bot brings along."""
    # By any other name npm might take it for its settings, or for the lock file.
    if not _OWN_ARCHIVE.fullmatch(path) or not (folder / path).is_file():
        raise LockError(
            f"{where}is to be {printable(path, 80)}, which is no file of the bot's own that ends "
            "in .tgz or .tar.gz"
        )
    return path


# -------------------------------------------------------------------------------------- Rust


def _cargo_lock(folder: Path) -> Locked:
    data = _content(folder, CARGO_LOCK)
    files = {CARGO_LOCK: data, CARGO: _content(folder, CARGO)}
    try:
        packages = tomllib.loads(data.decode()).get("package", [])
    except (ValueError, RecursionError) as e:
        raise LockError(f"{CARGO_LOCK} can't be read: {printable(e)}") from e
    if not isinstance(packages, list) or not all(isinstance(each, dict) for each in packages):
        raise LockError(f"{CARGO_LOCK} can't be read; write it anew: cargo generate-lockfile")
    for package in packages:
        source = str(package.get("source", ""))
        # Crates of the bot's own have no source.
        if source and source not in CRATES_IO:
            raise LockError(
                f"{CARGO_LOCK}: {printable(package.get('name'), 80)} comes from "
                f"{printable(source, 80)}; packages come from crates.io, or are folders of "
                "the bot's own"
            )
    empty = []
    manifests = []
    try:
        for file in listing(folder):
            # Cargo wants the sources of a workspace to be there, but reads none of them.
            if posixpath.basename(file.path) == CARGO:
                manifests.append(file.path)
            elif file.path.endswith(".rs"):
                empty.append(file.path)
    except SnapshotError as e:
        raise LockError(str(e)) from e
    files.update(_contents(folder, manifests))
    for path in manifests:
        _cargo_manifest(path, files[path])
    return Locked(files, empty=tuple(empty))


def _cargo_manifest(path: str, data: bytes) -> None:
    """See that nothing is depended on by a place: cargo would ask there for what the lock lacks."""
    try:
        manifest = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as e:
        raise LockError(f"{printable(path)} can't be read: {printable(e)}") from e
    scopes = [manifest, manifest.get("workspace"), *_entries(manifest.get("target")).values()]
    tables = [_entries(scope).get(kind) for scope in scopes for kind in _CARGO_DEPENDENCIES]
    patches = _entries(manifest.get("patch"))
    for table in (*tables, manifest.get("replace"), *patches.values()):
        for name, wanted in _entries(table).items():
            if found := [place for place in _CARGO_PLACES if place in _entries(wanted)]:
                raise LockError(
                    f"{printable(path)}: {printable(name, 80)} is to come from a {found[0]} of its "
                    "own; packages come from crates.io, or are folders of the bot's own"
                )
    if other := patches.keys() - {"crates-io"}:
        raise LockError(
            f"{printable(path)}: patches {printable(min(other), 80)}; packages come from crates.io"
        )


def _entries(table: Any) -> dict[str, Any]:  # noqa: ANN401 - TOML
    return table if isinstance(table, dict) else {}


_READERS: dict[str, Callable[[Path], Locked]] = {
    REQUIREMENTS: _requirements,
    PACKAGE_LOCK: _package_lock,
    CARGO_LOCK: _cargo_lock,
}
LOCKS = tuple(_READERS)
"""The lock files that are known, by name."""
