"""Temporary folders: removed with their maker, or by the next one if it was killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sandbox.temporary import temporary_folder

MAKER = """
import sys
from arena.sandbox.temporary import temporary_folder

with temporary_folder("arena-canary-") as folder:
    (folder / "bot").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where temporary folders are made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def maker(place):
    """Start a process that makes a folder, and keeps it until it is ended."""
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", MAKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(place)},
        )
        started.append(process)
        return process, Path(process.stdout.readline().strip())

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.process
def test_the_folder_of_a_killed_process_is_removed_by_the_next(maker, place):
    """One whose maker lives is left alone, and so is what only has such a name."""
    killed, left = maker()
    killed.kill()
    killed.wait()
    _, held = maker()
    assert not left.exists()
    (place / "arena-canary-file").touch()
    (place / "elsewhere").mkdir()
    (place / "arena-canary-link").symlink_to(place / "elsewhere")
    with temporary_folder("arena-canary-") as folder:
        assert held.exists()
        assert folder.is_dir()
    assert {held.name, "elsewhere", "arena-canary-file", "arena-canary-link"} == {
        path.name for path in place.iterdir()
    }
