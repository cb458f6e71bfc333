"""What every bot gets alike, whatever confines it: environment, limits, command line.

Pure functions of a `Launch` and the folders that it names.
"""

from __future__ import annotations

from pathlib import Path

from arena.model import UserError
from arena.sandbox import Launch

INSIDE = "/bot"
"""Where a bot finds its own folder."""

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

OPEN_FILES = 1024
"""What a JVM or node with worker threads needs, with room; a flood of them stays small."""


def environment(launch: Launch) -> dict[str, str]:
    """The whole environment of a bot: nothing of the referee's is passed on."""
    paths = [f"{folder}/bin" for folder in launch.expose if Path(folder, "bin").is_dir()]
    return {
        "PATH": ":".join([*paths, SYSTEM_PATH]),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        **launch.env,
    }


def limits(launch: Launch) -> dict[str, int]:
    """Resource limits that mean the same in every backend; the number of tasks doesn't.

    DATA is a first line against memory, per process. AS would be useless: node asks for 736 MB
    and the JVM for 4 GB of addresses that they never touch.
    """
    table = {
        "CORE": 0,
        "DATA": launch.memory_mb << 20,
        "FSIZE": launch.file_mb << 20,
        "NOFILE": OPEN_FILES,
        "MEMLOCK": 0,
        "MSGQUEUE": 0,
        "RTPRIO": 0,
    }
    if launch.cpu_seconds:
        table["CPU"] = launch.cpu_seconds
    return table


def checked(launch: Launch) -> Launch:
    """Refuse what no backend can start."""
    if not launch.run:
        raise UserError("run: a command is needed, for example ['python3', 'bot.py']")
    if "=" in launch.run[0]:
        # The command goes through env(1), which would read this as a variable.
        raise UserError(f"run: a program's name can't hold '=': {launch.run[0]}")
    if any("\0" in text for text in (*launch.run, *launch.env, *launch.env.values())):
        raise UserError("run: a NUL character can't be passed to a program")
    for folder in launch.expose:
        if not Path(folder).is_absolute() or ".." in Path(folder).parts:
            raise UserError(f"expose: {folder}: an absolute path without '..' is needed")
    return launch
