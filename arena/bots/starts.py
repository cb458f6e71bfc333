"""Which bots have started on this machine lately, so that no command tries them again.

An entry `starts/<key>/` of the cache is an empty folder; its time is that of the last try. The key
is a hash of what a start depends on: the bot's content and setting, what its build made, its
command, that program's file, sandbox, kernel, and the first line that it reads (game, limits).
Libraries of the system are not in it, so an entry is good for a week.
"""

import contextlib
import os
import platform
from collections.abc import Iterable
from pathlib import Path

from arena.bots.cache import STARTS, in_cache
from arena.model import Bot, canonical, sha256_hex
from arena.system import clock

_GOOD_FOR_S = 7 * 24 * 3600


def start_key(bot: Bot, sandbox: str, hello: bytes) -> str:
    program: Iterable[int] = ()
    with contextlib.suppress(OSError):  # a path within the sandbox
        info = os.stat(bot.run[0])  # noqa: PTH116 - of a text
        program = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)
    command = [bot.run, bot.env, bot.expose, bot.scratch_mb, *program]
    place = [sandbox, platform.release(), platform.version()]
    known = [bot.entrant.hash, Path(bot.root).name, command, place, hello.decode()]
    return sha256_hex(canonical(known))


def has_started(cache: Path, key: str) -> bool:
    entry = cache / STARTS / key
    return in_cache(entry, used=False) and abs(clock.unix() - entry.stat().st_mtime) < _GOOD_FOR_S


def note_start(cache: Path, key: str) -> None:
    entry = cache / STARTS / key
    with contextlib.suppress(OSError):  # a full disk: the bot is tried again
        entry.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.utime(entry)
