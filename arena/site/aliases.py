"""The key file of aliases: one a user, for that user's eyes; each site's key follows from it.

Never within a site: with the key and a list of names, all aliases could be looked up. Invariant: an
existing key is never overwritten.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from arena.model import UserError

_BYTES = 32


def default_place() -> Path:
    """The key file, unless the user names another."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "nine-arena" / "aliases.key"


def read_or_make(path: Path, site: Path) -> bytes:
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
