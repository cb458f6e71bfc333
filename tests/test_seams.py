"""The rooms that act reach clock, files, processes, randomness and network by the seams alone."""

import ast
from pathlib import Path

import pytest

from arena.system import clock, replaced

PACKAGE = Path(__file__).parents[1] / "arena"
ROOMS = ("engine", "executors", "store", "event", "live")

MODULES = {"time", "random", "secrets", "subprocess", "socket", "select", "tempfile", "shutil"}
CALLS = {
    *("open", "os.open", "os.fdopen", "os.read", "os.write", "os.pread", "os.pwrite", "os.fsync"),
    *("os.rename", "os.replace", "os.unlink", "os.remove", "os.mkdir", "os.urandom", "os.close"),
    *("os.fork", "os.kill", "os.pipe", "os.sched_yield", "os.posix_spawn", "os.system"),
}
METHODS = {"open", "mkdir", "rename", "rmdir", "touch", "unlink", "write_bytes", "write_text"}

_SOCKET = "constants, and the type of a socket that the seam has opened"
_EMPTY = "sees whether a folder can be written to, and leaves nothing there"
EXCEPTIONS = {
    ("executors/worker.py", "select"): "waits for its parent between two matches",
    ("live/server.py", "socket"): _SOCKET,
    ("live/event.py", "socket"): _SOCKET,
    ("store/folder.py", "tempfile"): _EMPTY,
    ("store/folder.py", ".rmdir"): _EMPTY,
}


def reached(tree):
    """What a module takes from the system by itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield node.module
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in CALLS:
                yield name
            elif isinstance(node.func, ast.Attribute) and not name.startswith(("cls.", "files.")):
                method = node.func.attr
                renames = method == "replace" and len(node.args) == 1 and not node.keywords
                if (method in METHODS and not name.endswith("Store.open")) or renames:
                    yield f".{method}"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_reaches_the_system_through_the_seams(room):
    """But for what is listed, each with its reason."""
    found = {
        (str(path.relative_to(PACKAGE)), what)
        for path in sorted((PACKAGE / room).rglob("*.py"))
        for what in reached(ast.parse(path.read_text()))
    }
    listed = {(path, what) for path, what in EXCEPTIONS if path.startswith(f"{room}/")}
    assert listed == found


def test_a_seam_is_replaced_for_a_while():
    """The product's own code sees another clock; a name that no seam has is a mistake."""
    before = clock.monotonic
    with replaced(clock, monotonic=lambda: 7.0):
        assert 7.0 == clock.monotonic()
    assert before is clock.monotonic
    with pytest.raises(AttributeError), replaced(clock, sundial=lambda: 7.0):
        pass
