"""Commands of ours that messages suggest, quoted so that they can be copied into a shell."""

from collections.abc import Sequence
from pathlib import Path

from arena.reports.escape import shell

MERGE = "arena merge SHARD... --out FOLDER"


def command_line(command: str, *paths: Path) -> str:
    named = [f"./{path}" if str(path).startswith("-") else str(path) for path in paths]
    return shell(["arena", command, *named])


def resume_line(folder: Path, sandbox: str) -> str:
    """The command that goes on with an event that was played in a sandbox."""
    command = command_line("resume", folder)
    return f"{command} --sandbox none" if sandbox == "none" else command


def check_line(bots: Sequence[Path]) -> str:
    return command_line("check", *dict.fromkeys(bots))
