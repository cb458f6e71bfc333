"""Notes on what takes long: logs that are read from end to end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

# From here on a command takes several seconds; read on one core, with what is made of it.
LONG = 256 << 20
A_SECOND = 40 << 20


def tell_long_read(folders: Iterable[Path]) -> None:
    """Say that large logs are read, and about how long that takes."""
    from arena.store import log_size
    from arena.terminal.screen import say

    for folder in folders:
        if (size := log_size(folder)) >= LONG:
            seconds = size // A_SECOND
            spoken = f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
            say(f"reading {folder}: {size / 1e9:.1f} GB of matches, about {spoken}")
