"""What bots write to stderr, kept for people: the newest, and what belongs to faults.

Theory of operation. A bot has three files. `NAME.log` has all until it has come to its part; then
it becomes `NAME.older`, in the place of the one before, and a new one begins: so the newest is
always there. Matches that the bot failed in stand in `NAME.faults`, too, as long as there is room.
The three share what a bot may take of a disk, and all bots what an event may.

Invariant: a bot's files hold no more than its share, whatever it writes, and all together no more
than STDERR_OF_EVENT, however many bots there are.
"""

from __future__ import annotations

import os
from pathlib import Path

# What anybody can read of one bot; a bot that wrote all it may in each match came to that in 128.
STDERR_KEPT = 8 << 20
# Of all bots: as much as the log of 90,000 matches. More than 32 loud bots get less each.
STDERR_OF_EVENT = 256 << 20

LOG, OLDER, FAULTS = ".log", ".older", ".faults"
"""Ends of names; no bot's file can be taken for another's."""

_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"
}


class Stderr:
    """The files of an event's bots, in a folder that is made when there is something to keep."""

    def __init__(self, folder: Path, *, bots: int) -> None:
        share = min(STDERR_KEPT, STDERR_OF_EVENT // max(1, bots))
        self._folder = folder
        self._faults = share // 4
        self._part = (share - self._faults) // 2
        self._sizes: dict[Path, int] = {}

    def add(self, entrant: str, match: str, text: str, *, failed: bool) -> None:
        """Keep what a bot wrote in a match. `failed`: the bot did, in that match."""
        # Escape sequences stay harmless when somebody shows the file in a terminal.
        said = text.translate(_CONTROLS).encode("utf-8", "backslashreplace")
        head = f"== {match}\n".encode()
        end = b"" if said.endswith(b"\n") else b"\n"
        self.join(entrant, LOG, head + said[-max(1, self._part - len(head) - 1) :] + end)
        if failed:
            self.join(entrant, FAULTS, head + said + end)

    def join(self, entrant: str, kind: str, data: bytes) -> None:
        """Add to one of a bot's files, LOG or FAULTS, as much as it may hold."""
        path = self._folder / f"{entrant}{kind}"
        self._folder.mkdir(exist_ok=True)
        held = self._size(path)
        if kind == FAULTS:
            data = data[: max(0, self._faults - held)]
        elif held and held + len(data) > self._part:
            path.replace(self._folder / f"{entrant}{OLDER}")
            held = self._sizes[path] = 0
        if data:
            with path.open("ab") as file:
                file.write(data[-self._part :])
            self._sizes[path] = held + len(data)

    def _size(self, path: Path) -> int:
        if path not in self._sizes:
            try:
                self._sizes[path] = os.stat(path, follow_symlinks=False).st_size  # noqa: PTH116 - as told
            except FileNotFoundError:
                self._sizes[path] = 0
        return self._sizes[path]
