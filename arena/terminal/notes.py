"""Notes on what takes long: logs that are read from end to end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def tell_long_read(folders: Iterable[Path]) -> None:
    """Say that large logs are read, and about how long that takes."""
    from arena.event.results import long_read_notes
    from arena.terminal.screen import say

    for line in long_read_notes(folders):
        say(line)
