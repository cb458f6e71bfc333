"""A disk that forgets: real files for what was written, and a model of what a power cut leaves.

Theory of operation. Stands behind `arena.system.files`. The files lie in a folder in memory, where
all that reads finds what the system's page cache would hold. Beside them stands what is durable: of
a file its content at the last sync, and each write and truncation since; of a folder its names at
its last sync, and each change since. `cut` throws away what was not synced: nothing of it, all of
it, the first so many changes, or any of them, a sector at a time and in any order (a size that has
grown over a lost sector leaves zeros). Names of one folder are lost from the last backwards, as a
journal does it; between folders and files there is no order.

A sync that fails is final, as on Linux: what it was to write is taken for written, and lost.

Every operation asks the faults first, which may raise an error, kill the process, or cut the power.

Invariant: what was synced is never lost, and nothing appears that was never written.
"""

import errno
import os
import shutil
from pathlib import Path

from tests.simulator.loop import KilledError, here

SECTOR = 512
WAYS = ("none", "all", "first", "any")
_TRUNCATE = None


class Inode:
    def __init__(self) -> None:
        self.durable = bytearray()
        self.pending = []  # (where, bytes), or (size, None) for a truncation

    def apply(self, changes) -> None:
        for where, data in changes:
            if data is _TRUNCATE:
                if where < len(self.durable):
                    del self.durable[where:]
                else:
                    self.durable.extend(bytes(where - len(self.durable)))
            else:
                gap = where - len(self.durable)
                if gap > 0:
                    self.durable.extend(bytes(gap))
                self.durable[where : where + len(data)] = data

    def sync(self) -> None:
        self.apply(self.pending)
        self.pending.clear()

    def forget(self) -> None:
        """A sync has failed: the kernel takes its pages for written, and won't write them again."""
        size = len(self.durable)
        for where, data in self.pending:
            size = where if data is _TRUNCATE else max(size, where + len(data))
        self.apply([(size, _TRUNCATE)])
        self.pending.clear()

    def cut(self, way: str, draw) -> None:
        changes = self.pending
        if way == "none":
            changes = []
        elif way == "first":
            changes = changes[: draw.randrange(len(changes) + 1)]
        elif way == "any":
            changes = [
                piece for change in changes for piece in _sectors(change) if draw.random() < 0.5
            ]
        self.apply(changes)
        self.pending = []


def _sectors(change):
    where, data = change
    if data is _TRUNCATE:
        yield change
        return
    at = 0
    while at < len(data):
        end = min(len(data), at + SECTOR - (where + at) % SECTOR)
        yield where + at, data[at:end]
        at = end


class Folder:
    def __init__(self) -> None:
        self.durable = {}
        self.now = {}
        self.pending = []  # changes, each {name: what is there from then on; None: nothing}

    def change(self, names: dict) -> None:
        _apply(self.now, names)
        self.pending.append(names)

    def sync(self) -> None:
        self.durable = dict(self.now)
        self.pending.clear()

    def cut(self, way: str, draw) -> None:
        kept = {"none": 0, "all": len(self.pending)}.get(way)
        if kept is None:
            kept = draw.randrange(len(self.pending) + 1)
        for names in self.pending[:kept]:
            _apply(self.durable, names)
        self.now = dict(self.durable)
        self.pending = []
        for what in dict.fromkeys(self.now.values()):
            what.cut(way, draw)


def _apply(content: dict, names: dict) -> None:
    content.update(names)
    for name in [name for name, what in names.items() if what is None]:
        del content[name]


def _found(path: Path):
    """The model of what lies at a path, all of it durable."""
    if path.is_dir() and not path.is_symlink():
        made = Folder()
        made.now = {each.name: _found(each) for each in path.iterdir()}
        made.sync()
        return made
    inode = Inode()
    inode.durable += path.read_bytes() if path.is_file() else b""
    return inode


class File:
    """An open file of the product."""

    def __init__(self, disk, path: Path, mode: str, inode: Inode | None, *, raw=False) -> None:
        self._disk = disk
        self._raw = raw
        self._inode = inode
        self._append = "a" in mode
        self._file = path.open(mode, buffering=0 if inode is not None else -1)
        self.name = str(path)
        self.process = here()
        disk.open.append(self)

    def fileno(self) -> int:
        return self._file.fileno()

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def readline(self, size: int = -1) -> bytes:
        return self._file.readline(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def flush(self) -> None:
        pass

    def write(self, data) -> int:
        return self.write_at(data, None)

    def write_at(self, data, start: int | None) -> int:
        """With no place: where the file stands, or at its end."""
        data = bytes(data)
        room = self._disk.room(len(data))
        rest, data = data[room:], data[:room]
        if start is None:
            start = os.fstat(self.fileno()).st_size if self._append else self._file.tell()
            self._file.write(data)
        else:
            os.pwrite(self.fileno(), data, start)
        self._inode.pending.append((start, data))
        if rest and not self._raw:
            # A buffered file writes the rest, or raises the reason.
            return len(data) + self.write_at(rest, None if self._append else start + len(data))
        if self._append and data.endswith(b"\n"):
            self._disk.wrote(self.name, data, start + len(data))
        return len(data)

    def truncate(self, size: int) -> None:
        self._disk.operation("truncate")
        self._file.truncate(size)
        self._inode.pending.append((size, _TRUNCATE))

    def sync(self) -> None:
        try:
            self._disk.operation("sync")
        except OSError:
            self._inode.forget()
            raise
        self._inode.sync()

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            self._disk.open.remove(self)

    @property
    def closed(self) -> bool:
        return self._file.closed

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.close()


class Disk:
    def __init__(self, root: Path, faults) -> None:
        self.root = root
        self.open = []
        """Open files, of all processes."""
        self._faults = faults
        self.operations = 0
        self.wrote = lambda name, line, end: None
        """Called after a line was written whole."""
        self._tree = Folder()
        root.mkdir()

    # ---- faults

    def operation(self, kind: str) -> None:
        """Ask the faults before an operation, which they may make fail or the last one."""
        process = here()
        if process is None:
            return  # what watches the simulation
        if not process.alive:
            raise KilledError
        if process.bystander:
            return
        self.operations += 1
        self._faults.on_disk(kind)

    def room(self, wanted: int) -> int:
        """How many of so many bytes can be written now; OSError when none can."""
        self.operation("write")
        short, self._faults.short = self._faults.short, False
        return wanted // 2 if short else wanted

    def crash(self, process) -> None:
        """A process is dead: its files are closed, and its locks gone."""
        for file in [file for file in self.open if file.process is process]:
            file.close()

    def copy(self, folder: Path, to: Path) -> None:
        """Copy a folder to a new one; what is copied is durable."""
        shutil.copytree(folder, to, symlinks=True)
        self.adopt(to)

    def adopt(self, path: Path) -> None:
        """Take in what was put there without this interface, as durable."""
        self._folder(path.parent).now[path.name] = _found(path)
        self._folder(path.parent).sync()

    def renew(self, path: Path) -> None:
        """Take in a change that was made without this interface, as durable."""
        self._folder(path.parent).now.pop(path.name, None)
        if path.exists():
            self.adopt(path)

    def forget(self, path: Path) -> None:
        """Something was removed without this interface, or is now, for good."""
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        folder = self._folder(path.parent)
        for names in (folder.now, folder.durable):
            names.pop(path.name, None)
        folder.pending = [names for names in folder.pending if path.name not in names]

    def rot(self, name: str, draw) -> tuple[Path, bytes] | None:
        """A bit turns over in one of the files of this name: which, and what it held."""
        found = sorted(self.root.glob(f"**/{name}"))
        path = draw.choice(found) if found else None
        if path is None or not (before := path.read_bytes()):
            return None
        inode, data = self.inode(path), bytearray(before)
        inode.sync()
        at = draw.randrange(len(data))
        for content in (data, inode.durable):
            content[at] ^= 1 << draw.randrange(8)
        inode.durable[at] = data[at]
        path.write_bytes(data)
        return path, before

    def restore(self, path: Path, data: bytes) -> None:
        """Write a file anew, as its owner does who has a copy; the content is durable."""
        path.write_bytes(data)
        inode = self.inode(path)
        inode.durable[:] = data
        inode.pending.clear()

    def cut(self, way: str, draw) -> None:
        """The power is cut; no process is left that has a file open."""
        assert not self.open
        self._reconcile(self._tree, self.root)
        self._tree.cut(way, draw)
        shutil.rmtree(self.root)
        self._write_out(self._tree, self.root)

    def _reconcile(self, folder: Folder, path: Path) -> None:
        """Note which folders are gone: the product removes empty ones without this interface."""
        for name, what in list(folder.now.items()):
            if isinstance(what, Folder):
                if (path / name).is_dir():
                    self._reconcile(what, path / name)
                else:
                    folder.change({name: None})

    def _write_out(self, folder: Folder, path: Path) -> None:
        path.mkdir()
        for name, what in folder.now.items():
            if isinstance(what, Folder):
                self._write_out(what, path / name)
            else:
                (path / name).write_bytes(what.durable)

    # ---- arena.system.files

    def functions(self) -> dict:
        """What takes the place of the functions of `arena.system.files`."""
        return {
            "open_file": self.open_file,
            "open_new": self.open_new,
            "open_at_once": self.open_at_once,
            "read_at": lambda file, start, end: os.pread(file.fileno(), end - start, start),
            "write_at": lambda file, data, start: file.write_at(data, start),
            "sync": lambda file: file.sync(),
            "sync_folder": self.sync_folder,
            "rename": self.rename,
            "remove": self.remove,
            "remove_tree": self.remove_tree,
            "make_folder": self.make_folder,
        }

    def _folder(self, path: Path) -> Folder:
        found = self._tree
        beneath = str(path)[len(str(self.root)) + 1 :]
        for name in beneath.split("/") if beneath else ():
            found = found.now[name]
        return found

    def inode(self, path: Path) -> Inode:
        return self._folder(path.parent).now[path.name]

    def open_file(self, path: Path, mode: str, *, buffering: int = -1) -> File:
        self.operation("open")
        if mode == "rb":
            return File(self, path, mode, None)
        folder = self._folder(path.parent)
        new = not path.exists()
        if new and "r" in mode:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        inode = Inode() if new else folder.now[path.name]
        file = File(self, path, mode, inode, raw=buffering == 0)
        if new:
            folder.change({path.name: inode})
        elif "w" in mode:
            inode.pending.append((0, _TRUNCATE))
        return file

    def open_new(self, path: Path, permissions: int) -> File:
        file = self.open_file(path, "wb")
        os.fchmod(file.fileno(), permissions)
        return file

    def open_at_once(self, path: Path, *, follow_links: bool = True) -> File:
        del follow_links
        self.operation("open")
        return File(self, path, "rb", None)

    def sync_folder(self, path: Path) -> None:
        self.operation("sync folder")
        self._folder(path).sync()

    def rename(self, old: Path, new: Path) -> None:
        self.operation("rename")
        old.replace(new)
        assert old.parent == new.parent, "then it would be two changes, to two folders"
        folder = self._folder(old.parent)
        folder.change({new.name: folder.now[old.name], old.name: None})

    def remove(self, path: Path) -> None:
        self.operation("remove")
        path.unlink(missing_ok=True)
        folder = self._folder(path.parent)
        if path.name in folder.now:
            folder.change({path.name: None})

    def remove_tree(self, path: Path) -> None:
        self.operation("remove")
        shutil.rmtree(path)
        self._folder(path.parent).change({path.name: None})

    def make_folder(self, path: Path, *, parents: bool = False, exist_ok: bool = False) -> None:
        self.operation("make folder")
        if parents and path.parent != self.root and not path.parent.exists():
            self.make_folder(path.parent, parents=True, exist_ok=True)
        if not (exist_ok and path.is_dir()):
            path.mkdir()
            self._folder(path.parent).change({path.name: Folder()})
