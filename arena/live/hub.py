"""What viewers see, in pieces, and who has seen which.

Theory of operation. A page consists of named fragments of HTML. The hub holds the newest text of
each, with the number of its last change. A viewer says up to which number it has seen everything
and gets, in one message, the fragments that changed since; then it waits. So there is no queue: who
is slow, or comes back after a while, gets what is new then, and what was overtaken meanwhile is
never sent. All who are equally far get the same bytes, which are made once.

Invariant: what is held is one text a fragment and FEW messages, however many viewers there are and
however slow they are. A viewer who has seen the last number has seen every fragment's newest text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec
import trio

# Messages that are kept made: most viewers are equally far, some a step behind.
FEW = 8
# Browsers wait that long before they come back, in milliseconds.
RETRY_MS = 1000

_encode = msgspec.json.Encoder().encode


class Hub:
    """See the module's docstring. `run` tells this run's numbers from those of another."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._number = 0
        self._held: dict[str, tuple[int, str]] = {}
        self._made: dict[tuple[int, frozenset[str]], bytes] = {}
        self._changed = trio.Event()
        self._awake = trio.Event()
        self.viewers = 0
        self.over = False
        """Nothing will change any more."""

    def put(self, fragments: Mapping[str, str]) -> None:
        """These fragments are now like that; whoever waits is told, if any has changed."""
        changed = {
            name: text
            for name, text in fragments.items()
            if name not in self._held or self._held[name][1] != text
        }
        if changed:
            self._number += 1
            for name, text in changed.items():
                self._held[name] = (self._number, str(text))  # not a kind of its own: it is encoded
            self._tell()

    def end(self) -> None:
        """Nothing comes any more: viewers are told, and leave."""
        self.over = True
        self._tell()

    def _tell(self) -> None:
        self._made.clear()
        self._changed.set()
        self._changed = trio.Event()

    @property
    def number(self) -> int:
        """Of the last change."""
        return self._number

    def fragments(self) -> dict[str, str]:
        """All of them, as they are."""
        return {name: text for name, (_, text) in self._held.items()}

    def position(self, last_id: str) -> int:
        """How far a viewer is by the id of the last message it got; 0 if that says nothing here."""
        run, _, number = last_id.rpartition("-")
        # More digits than any number of ours would be work for nothing.
        if run != self._run or not (number.isascii() and number.isdigit()) or len(number) > 15:
            return 0
        return min(int(number), self._number)

    def id_of(self, number: int) -> str:
        """The id of a message after which everything up to a number has been seen."""
        return f"{self._run}-{number}"

    def since(self, seen: int, names: frozenset[str]) -> bytes:
        """The message for somebody who wants these fragments and has seen everything up to a
        number; nothing if none of them has changed.
        """
        made = self._made.get((seen, names))
        if made is None:
            new = {
                name: text
                for name, (number, text) in self._held.items()
                if number > seen and name in names
            }
            data = _encode(new).decode()  # JSON has no line breaks within
            made = f"id: {self.id_of(self._number)}\ndata: {data}\n\n".encode() if new else b""
            if len(self._made) < FEW:
                self._made[seen, names] = made
        return made

    async def changed(self, seen: int) -> None:
        """Wait until there is more than was seen, or nothing will come any more."""
        while self._number <= seen and not self.over:
            await self._changed.wait()

    @contextmanager
    def viewer(self) -> Iterator[None]:
        """Somebody looks, as long as this lasts."""
        self.viewers += 1
        self.wake()
        try:
            yield
        finally:
            self.viewers -= 1

    def wake(self) -> None:
        """Somebody has looked."""
        self._awake.set()

    async def awaited(self) -> None:
        """Wait until somebody looks; at once if somebody does."""
        if not self.viewers:
            self._awake = trio.Event()
            await self._awake.wait()
