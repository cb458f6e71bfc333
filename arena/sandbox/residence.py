"""Keep the files of bots' folders in the page cache, so that it doesn't show which were read.

Theory of operation. The files of a folder are mapped one behind the other into one range of our
addresses, and the kernel reads them: when the folder is first used, and again before each start,
which costs next to nothing if all pages are still there. As they are mapped, no program can drop
them; only the kernel can, when memory is short, and the next start brings them back.

Invariant: at most MOST_BYTES in MOST_FILES are mapped, of the folders used last; a folder above
that isn't mapped at all. The referee's process maps them: the spawner would fork more slowly.
"""

import contextlib
import itertools
import os
import stat
from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from arena.sandbox import kernel

MOST_BYTES = 512 << 20
"""Twice what a bot may have without packages. The kernel can take pages of files back, and every
worker maps the same ones."""
MOST_FILES = 20_000  # as many as a bot may have; the kernel lets a process map some 65,000
_PAGE = os.sysconf("SC_PAGESIZE")


class _Mapping(NamedTuple):
    identity: tuple[int, int, int]  # changes when the folder's own entries do
    address: int = 0
    size: int = 0
    files: int = 0


_NOTHING = _Mapping((0, 0, 0))


class Residence:
    def __init__(self) -> None:
        self._held: OrderedDict[str, _Mapping] = OrderedDict()  # least recently used first

    def hold(self, folder: str) -> None:
        """Have all of a folder in memory, unless it is too large, or "". A start reports errors."""
        if not folder:
            return
        with contextlib.suppress(OSError):
            found = os.stat(folder)  # noqa: PTH116 - no Path: speed
            identity = (found.st_dev, found.st_ino, found.st_mtime_ns)
            mapping = self._held.pop(folder, _NOTHING)
            if mapping.identity == identity:
                kernel.populate(mapping.address, mapping.size)
            else:
                kernel.unmap(mapping.address, mapping.size)
                mapping = self._map(folder, identity)
            self._held[folder] = mapping

    def _map(self, folder: str, identity: tuple[int, int, int]) -> _Mapping:
        sizes = dict(itertools.islice(_files(folder), MOST_FILES + 1))
        size = sum(map(_whole_pages, sizes.values()))
        if size > MOST_BYTES or len(sizes) > MOST_FILES:
            return _Mapping(identity)
        while self._held and (
            size + sum(each.size for each in self._held.values()) > MOST_BYTES
            or len(sizes) + sum(each.files for each in self._held.values()) > MOST_FILES
        ):
            self._release_oldest()
        if not size:
            return _Mapping(identity)
        start = address = kernel.reserve(size)
        for path, length in sizes.items():
            with kernel.closing(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)) as file:
                kernel.map_at(address, file, length)
            address += _whole_pages(length)
        kernel.populate(start, size)
        return _Mapping(identity, start, size, len(sizes))

    def release(self) -> None:
        while self._held:
            self._release_oldest()

    def _release_oldest(self) -> None:
        _, mapping = self._held.popitem(last=False)
        kernel.unmap(mapping.address, mapping.size)


def _whole_pages(length: int) -> int:
    return -(-length // _PAGE) * _PAGE


def _files(folder: str) -> Iterator[tuple[str, int]]:
    """Files that aren't empty, and their sizes."""
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                info = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(entry.path)
                elif stat.S_ISREG(info.st_mode) and info.st_size:
                    yield entry.path, info.st_size
