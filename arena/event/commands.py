"""Commands of ours that messages suggest, quoted so that they can be copied into a shell."""

from collections.abc import Sequence
from pathlib import Path

from arena.reports.escape import shell

MERGE = "arena merge SHARD... --out FOLDER"


def command_line(command: str, *paths: Path) -> str:
    named = [f"./{path}" if str(path).startswith("-") else str(path) for path in paths]
    return shell(["arena", *command.split(), *named])


def resume_line(folder: Path, sandbox: str, command: str = "resume") -> str:
    """The command that goes on with an event that was played in a sandbox."""
    line = command_line(command, folder)
    return f"{line} --sandbox none" if sandbox == "none" else line


def check_line(bots: Sequence[Path]) -> str:
    return command_line("check", *dict.fromkeys(bots))
