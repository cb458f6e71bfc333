"""Damage to an event's log and index, between two commands: torn tails, lost ends, stale indexes.

Theory of operation. What a log has lost, or can't vouch for any more, is played again: `World`
forgets that it was written. Of an event that is over nothing is played again unless it is repaired:
that is rot. What an index says is derived, so no damage to one may change anything.
"""

from pathlib import Path

from arena.store.index import INDEX, _header
from arena.store.lines import LOG


def _half_line(log: bytes, draw) -> bytes:
    line = log.splitlines(keepends=True)[0]
    return log + line[: draw.randrange(1, len(line))]


def _shorter(log: bytes, draw) -> bytes:
    return log[: draw.randrange(len(log))]


def _damaged_end(log: bytes, draw) -> bytes:
    """Lines that the mark says are durable, and aren't what was written."""
    lines = log.splitlines(keepends=True)
    at = draw.randrange(max(0, len(lines) - 3), len(lines))
    return b"".join([*lines[:at], *(b"?" + line[1:] for line in lines[at:])])


LOGS = {
    "half a line": _half_line,
    "zeros": lambda log, _: log + bytes(700),
    "a line of zeros": lambda log, _: log + bytes(50) + b"\n",
    "no end": _shorter,
    "damaged end": _damaged_end,
    "long line": lambda log, _: log + b"x" * 200_000,
    "no newline": lambda log, _: log[:-1],
}
INDEXES = {
    "no index": lambda _, __, ___: None,
    "empty index": lambda _, __, ___: b"",
    "old index": lambda _, old, __: old,
    "half a header": lambda index, _, __: index[:11],
    "other magic": lambda index, _, __: b"arena-0\n" + index[8:],
    "other header": lambda index, _, __: index[:16] + bytes(4) + index[20:],
    "other entries": lambda index, _, draw: _flipped(index, draw),
    "half an entry": lambda index, _, __: index[:-9],
    "twice": lambda index, _, __: index + index[20:],
    "mark within a line": lambda index, _, __: _marked(index, 7),
    "mark at the beginning": lambda index, _, __: _marked(index, 0),
}
KINDS = (*LOGS, *INDEXES)


def _flipped(index: bytes, draw) -> bytes:
    at = draw.randrange(20, len(index)) if len(index) > 20 else 0
    return index[:at] + bytes([index[at] ^ 4]) + index[at + 1 :]


def _marked(index: bytes, mark: int) -> bytes:
    return _header(mark) + index[20:]


def strike(world, how: str) -> None:
    for log in sorted(world.disk.root.glob(f"**/{LOG}")):
        index = log.parent / INDEX
        if how in LOGS:
            _change_log(world, log, how)
        elif index.is_file() and (before := index.read_bytes()):
            old = world.kept.setdefault(str(log), before)
            after = INDEXES[how](before, old, world.random)
            if after is None:
                world.disk.forget(index)
            else:
                world.disk.restore(index, after)
            world.forget_untrusted(log)


def _change_log(world, log: Path, how: str) -> None:
    before = log.read_bytes()
    if before.endswith(b"\n"):
        world.disk.restore(log, LOGS[how](before, world.random))
        world.forget_untrusted(log)
        event = world.player.event_of(log.parent)
        world.rotten |= event is not None and event.finished
