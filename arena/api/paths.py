"""What a script may name: one path or several, and example bots by their names."""

import os
from collections.abc import Sequence
from pathlib import Path

from arena.scaffolds import example_bot

PathName = str | os.PathLike[str]


def bot_path(bot: PathName) -> Path:
    """The path of a bot. A string may be an example bot's name; a path of that name wins."""
    if not isinstance(bot, str) or os.path.lexists(bot):
        return Path(bot)
    return example_bot(bot) or Path(bot)


def bot_paths(bots: Sequence[PathName] | PathName) -> list[Path]:
    return [bot_path(bot) for bot in _several(bots)]


def folder_paths(folders: Sequence[PathName] | PathName) -> list[Path]:
    return [Path(folder) for folder in _several(folders)]


def _several(named: Sequence[PathName] | PathName) -> Sequence[PathName]:
    # A string is a sequence of its letters, too, and each would be taken for a path.
    return [named] if isinstance(named, str | os.PathLike) else named
