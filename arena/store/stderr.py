"""Keep what bots write to stderr, for people: the newest, and what belongs to faults.

Theory of operation. A bot has three files. `NAME.log` grows to its share, then replaces
`NAME.older` and begins anew, so the newest output is always there. Matches that the bot failed in
go to `NAME.faults` too, as long as there is room.

Invariant: a bot's files hold no more than its share, whatever it writes, and all together no more
than STDERR_OF_EVENT, however many bots there are.
"""

import os
from pathlib import Path

from arena.system import files

# More than a person reads of one bot; a bot that wrote its limit in each match fills it in 128.
STDERR_KEPT = 8 << 20
# Of all bots: as much as the log of 90,000 matches. More than 32 loud bots get less each.
STDERR_OF_EVENT = 256 << 20

LOG, OLDER, FAULTS = ".log", ".older", ".faults"
"""Suffixes; no bot's file can be taken for another's."""

_CONTROLS = {c: f"\\x{c:02x}" for c in (*range(32), *range(127, 160)) if chr(c) not in "\t\n"}


class Stderr:
    """The files of an event's bots; their folder is created with the first of them."""

    def __init__(self, folder: Path, *, bots: int) -> None:
        share = min(STDERR_KEPT, STDERR_OF_EVENT // max(1, bots))
        self._folder = folder
        self._faults = share // 4
        self._part = (share - self._faults) // 2
        self._sizes: dict[Path, int] = {}

    def add(self, entrant: str, match: str, text: str, *, failed: bool) -> None:
        """Keep a bot's output in a match. `failed`: the bot did, in that match."""
        # Escape sequences stay harmless when a person prints the file to a terminal.
        data = text.translate(_CONTROLS).encode("utf-8", "backslashreplace")
        head = f"== {match}\n".encode()
        end = b"" if data.endswith(b"\n") else b"\n"
        self.append(entrant, LOG, head + data[-max(1, self._part - len(head) - 1) :] + end)
        if failed:
            self.append(entrant, FAULTS, head + data + end)

    def append(self, entrant: str, kind: str, data: bytes) -> None:
        """Add to one of a bot's files, LOG or FAULTS, as much as it may hold."""
        path = self._folder / f"{entrant}{kind}"
        files.make_folder(self._folder, exist_ok=True)
        size = self._size(path)
        if kind == FAULTS:
            data = data[: max(0, self._faults - size)]
        elif size and size + len(data) > self._part:
            files.rename(path, self._folder / f"{entrant}{OLDER}")
            size = self._sizes[path] = 0
        if data:
            with files.open_file(path, "ab") as file:
                file.write(data[-self._part :])
            self._sizes[path] = size + len(data)

    def _size(self, path: Path) -> int:
        if path not in self._sizes:
            try:
                self._sizes[path] = os.stat(path, follow_symlinks=False).st_size  # noqa: PTH116 - no links
            except FileNotFoundError:
                self._sizes[path] = 0
        return self._sizes[path]
