"""The key of aliases: where it lies, and that it is the one that a site's aliases were made with.

It is made once for each user and kept in the user's own folder for state, readable by nobody else;
each site's key follows from it and the site's id. It is never within a site: with it, whoever has
a list of names can find each in it.

Invariant: an existing key is never written over.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from arena.model import UserError

_BYTES = 32


def default_place() -> Path:
    """Where the key is kept unless somebody says otherwise."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "nine-arena" / "aliases.key"


def read_or_make(path: Path, site: Path) -> bytes:
    """The key in a file; made if there is none."""
    if path.absolute().resolve().is_relative_to(site.absolute().resolve()):
        raise UserError(f"{path}: the key of the aliases can't be within the site: name another")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read(path)
    except OSError as error:
        raise UserError(f"{path}: can't be written: {error.strerror}") from None
    key = secrets.token_bytes(_BYTES)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{key.hex()}\n")
    return key


def _read(path: Path) -> bytes:
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: no key of aliases: {error}") from None
    if len(key) != _BYTES:
        raise UserError(f"{path}: no key of aliases: it has {len(key)} bytes, not {_BYTES}")
    return key
