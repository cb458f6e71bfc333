"""Start a spawner in a control group of its own, with the help of the user's systemd.

In an ordinary session our control group holds the shell, too. The user's service manager starts a
program in a new group that is delegated to it; the process stays our child, with its descriptors.

Invariant: a prefix is returned only if a program has really been started with it.
"""

import functools
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from arena.sandbox.cgroupfs import CALLS, Calls, NoGroupsError, membership, places

PASSED = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # how systemd-run finds the manager
OPTIONS = ("--user", "--scope", "--quiet", "--collect", "-p", "Delegate=yes", "--")
TRIAL_S = 10.0  # it takes 30 ms; at login, while the manager is still starting, a second or two


def launch_prefix(environ: Mapping[str, str] = os.environ, calls: Calls = CALLS) -> list[str]:
    """The prefix of a spawner's command; empty if that is needless or impossible."""
    try:
        ours = membership(calls.proc)
    except NoGroupsError:
        return []
    if calls.root or ours.version == 1:
        return []
    if any(not place.step_down for place in places(ours, calls)):
        return []  # there is a place already, and not our own group, which holds us
    tool = shutil.which("systemd-run", path=environ.get("PATH", os.defpath))
    runtime = Path(environ.get("XDG_RUNTIME_DIR") or "/nonexistent")
    manager = any((runtime / name).exists() for name in ("systemd/private", "bus"))
    if tool is None or not manager:
        return []
    prefix = (tool, *OPTIONS)
    return list(prefix) if _works(prefix, tuple(variables(environ).items())) else []


def variables(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    return {name: environ[name] for name in PASSED if name in environ}


@functools.cache
def _works(prefix: tuple[str, ...], variables: tuple[tuple[str, str], ...]) -> bool:
    try:
        trial = subprocess.run(
            [*prefix, "/bin/sh", "-c", "echo started"],
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TRIAL_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return trial.returncode == 0 and trial.stdout.endswith(b"started\n")
