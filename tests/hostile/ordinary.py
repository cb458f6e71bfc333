"""Root becoming an ordinary user: `python ordinary.py PROGRAM ARGUMENT…` runs Python as one.

In a mount namespace of its own, folders that only root may enter are replaced by ones that
anybody may, in which the project, the interpreter and the environment are what they were.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from arena.sandbox import kernel

UID = 54_321

PROJECT = Path(__file__).parents[2]


def open_ways(paths):
    """Let anybody reach these folders; seen by this process and its children alone."""
    blocked = {}
    for path in paths:
        for folder in reversed(path.parents):
            if not folder.stat().st_mode & 1:
                blocked.setdefault(folder, []).append(path)
                break
    kernel.own_mounts()
    handles = {path: os.open(path, os.O_PATH) for paths in blocked.values() for path in paths}
    for folder, inside in blocked.items():
        kernel.mount_tmpfs(str(folder), "mode=755")
        for path in inside:
            path.mkdir(parents=True, exist_ok=True)
            kernel.bind(handles[path], str(path))


def become(uid):
    """Give up all rights, for good."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def run(*arguments, **options):
    """Run Python with these arguments as an ordinary user."""
    home = Path(tempfile.mkdtemp(prefix="arena-ordinary-"))
    try:
        os.chown(home, UID, UID)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONDONTWRITEBYTECODE": "1",
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        }
        command = [sys.executable, __file__, *map(str, arguments)]
        return subprocess.run(command, check=False, env=environment, **options)
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    open_ways([Path(sys.base_prefix), Path(sys.prefix), PROJECT])
    become(UID)
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
