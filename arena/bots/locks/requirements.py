"""Read requirements.txt; the rules are at the top of the package.

It is written again for pip, which would honour a coding line and environment variables, and must
read nothing but what was checked.
"""

import re
from collections.abc import Iterator

from arena.bots.folder import Folder
from arena.bots.locks.text import Locked, LockError, check_count, read_file
from arena.bots.plain_text import printable

REQUIREMENTS = "requirements.txt"

REQUIREMENT = 1000  # characters of one requirement (name, version, marker) without its hashes

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_VERSION = (
    r"v?(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*"
    r"(?:[-_.]?(?:alpha|a|beta|b|preview|pre|c|rc)[-_.]?[0-9]*)?"
    r"(?:-[0-9]+|[-_.]?(?:post|rev|r)[-_.]?[0-9]*)?"
    r"(?:[-_.]?dev[-_.]?[0-9]*)?"
    r"(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?"
)
"""By PEP 440, as pip reads it."""
_NAMED = rf"(?P<name>{_NAME})\s*(?P<extras>\[\s*(?:{_NAME}(?:\s*,\s*{_NAME})*)?\s*\])?\s*"
_PIN = re.compile(rf"{_NAMED}={{2,3}}\s*(?P<version>(?i:{_VERSION}))\s*(?:;(?P<marker>[^$;]*))?")
_HASH = re.compile(r"\s--hash[=\s]\s*(?P<hash>sha(?:256|384|512):[0-9a-fA-F]+)(?=\s|$)")
_COMMENT = re.compile(r"(^|\s)#.*")
_OPTION = re.compile(r"(?:^|\s)(--?[A-Za-z][\w-]*)")
_FILE_REQUIREMENTS = {"-r", "--requirement", "-c", "--constraint"}


def canonical_name(name: str) -> str:
    """A Python package's name, normalised as indexes do."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_requirements(folder: Folder) -> Locked:
    try:
        text = read_file(folder, REQUIREMENTS).decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise LockError(f"{REQUIREMENTS} is not UTF-8; save the file as UTF-8") from e
    lines: list[str] = []
    names = set()
    hashes = False
    requirements = list(_logical_lines(text))
    check_count(REQUIREMENTS, len(requirements))
    for number, line in requirements:
        pin, hashed = _parse_pin(number, line)
        names.add(canonical_name(pin["name"]))
        marker = f" ; {pin['marker'].strip()}" if pin["marker"] else ""
        extras = "".join((pin["extras"] or "").split())
        options = "".join(f" --hash={each.lower()}" for each in hashed)
        lines.append(f"{pin['name']}{extras}=={pin['version']}{marker}{options}\n")
        hashes = hashes or bool(hashed)
    data = "".join(sorted(lines)).encode("ascii")
    return Locked({REQUIREMENTS: data}, names=frozenset(names), hashes=hashes)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without comments, joined where they end in a backslash."""
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


def _parse_pin(number: int, line: str) -> tuple[re.Match[str], list[str]]:
    """The parts of `name==version`, and its hashes."""
    where = f"{REQUIREMENTS}:{number}: "
    hashed = _HASH.findall(line)
    # One blank instead of many, over which the pattern would backtrack.
    rest = " ".join(_HASH.sub("", line).split())
    if len(rest) > REQUIREMENT:
        raise LockError(f"{where}has more than {REQUIREMENT} characters; write name==version")
    option = _OPTION.search(rest)
    if option is not None and option[1] in _FILE_REQUIREMENTS:
        raise LockError(f"{where}`{printable(rest, 80)}` is not supported; write its lines here")
    if option is not None and option[1] in {"-e", "--editable"}:
        raise LockError(
            f"{where}`{printable(rest, 80)}` is not supported: the bot's own code needs no "
            "installation, and packages come from the index, as name==version"
        )
    if option is not None:
        raise LockError(
            f"{where}the option {option[1]} is not supported, only --hash=sha256:… is; set it in "
            "pip's own configuration where you run arena fetch"
        )
    pin = _PIN.fullmatch(rest)
    if pin is not None and rest.isascii() and rest.isprintable():
        return pin, hashed
    shown = printable(rest, 80)
    if "/" in rest.partition(";")[0] or " @ " in rest:
        raise LockError(
            f"{where}`{shown}` is an address or a path; packages come from the index, as "
            "name==version"
        )
    name, sign, _ = rest.partition("==")
    if sign and not re.fullmatch(_NAMED, name.rstrip("=<>~! ")):
        raise LockError(
            f"{where}`{printable(name, 80)}` is not a package name; write name==version, or "
            "name[extra]==version"
        )
    raise LockError(
        f"{where}`{shown}` is not pinned; write name==version (pip freeze, pip-compile and "
        "uv pip compile write such files)"
    )
