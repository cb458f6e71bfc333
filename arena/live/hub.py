"""Keep the newest fragments of a live page, and send each viewer what changed since its last one.

Theory of operation. A page consists of named fragments of HTML. The hub holds the newest text of
each, with the number of its last change. A viewer names the number up to which it has seen all
changes, gets every fragment that changed since in one message, and waits: there is no queue.
Viewers at the same number get the same bytes, encoded once.

Invariant: it holds one text a fragment and FEW messages, however many and slow the viewers are. A
viewer that has seen the last number has seen the newest text of every fragment.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec
import trio

FEW = 8  # messages that are kept made: most viewers are equally far, some a step behind
RETRY_MS = 1000  # browsers wait that long before they come back, in milliseconds

_encode = msgspec.json.Encoder().encode


class Hub:
    def __init__(self, run: str) -> None:
        self._run = run
        self.number = 0  # that of the last change
        self._held: dict[str, tuple[int, str]] = {}
        self._made: dict[tuple[int, frozenset[str]], bytes] = {}
        self._changed = trio.Event()
        self._awake = trio.Event()
        self.viewers = 0
        self.over = False  # nothing will change any more

    def put(self, fragments: Mapping[str, str]) -> None:
        """Set the text of fragments, and wake the viewers if any changed."""
        held = self.fragments()
        changed = {name: text for name, text in fragments.items() if held.get(name) != text}
        if changed:
            self.number += 1
            for name, text in changed.items():
                self._held[name] = (self.number, str(text))  # not a kind of its own: it is encoded
            self._tell()

    def end(self) -> None:
        self.over = True
        self._tell()

    def _tell(self) -> None:
        self._made.clear()
        self._changed.set()
        self._changed = trio.Event()

    def fragments(self) -> dict[str, str]:
        return {name: text for name, (_, text) in self._held.items()}

    def position(self, last_id: str) -> int:
        """The number in a message id; 0 if the id isn't of this run."""
        run, _, number = last_id.rpartition("-")
        # More digits than any number of ours would be work for nothing.
        if run != self._run or not (number.isascii() and number.isdigit()) or len(number) > 15:
            return 0
        return min(int(number), self.number)

    def id_of(self, number: int) -> str:
        return f"{self._run}-{number}"

    def since(self, seen: int, names: frozenset[str]) -> bytes:
        """The message with the wanted fragments that changed after a number, if any did."""
        made = self._made.get((seen, names))
        if made is None:
            new = {
                name: text
                for name, (number, text) in self._held.items()
                if number > seen and name in names
            }
            data = _encode(new).decode()  # JSON has no line breaks within
            made = f"id: {self.id_of(self.number)}\ndata: {data}\n\n".encode() if new else b""
            if len(self._made) < FEW:
                self._made[seen, names] = made
        return made

    async def changed(self, seen: int) -> None:
        while self.number <= seen and not self.over:
            await self._changed.wait()

    @contextmanager
    def viewer(self) -> Iterator[None]:
        self.viewers += 1
        self.wake()
        try:
            yield
        finally:
            self.viewers -= 1

    def wake(self) -> None:
        self._awake.set()

    async def awaited(self) -> None:
        """Wait until there is a viewer, or a page is requested."""
        if not self.viewers:
            self._awake = trio.Event()
            await self._awake.wait()
