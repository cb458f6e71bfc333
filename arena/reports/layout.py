"""Fitting text into terminal columns, where a character is 0, 1 or 2 columns wide."""

import unicodedata

from wcwidth import wcswidth


def width(text: str) -> int:
    """Terminal columns of a text that went through `escape.plain`."""
    return max(0, wcswidth(text))


def clip(text: str, room: int) -> str:
    """Shorten a name in the middle: its start and its version both tell it from others."""
    if width(text) <= room:
        return text
    tail = (room - 1) // 3
    start = next(n for n in range(len(text) + 1) if width(text[n:]) <= tail)
    # A mark belongs to the letter before it, which is gone.
    while start < len(text) and unicodedata.category(text[start]).startswith("M"):
        start += 1
    return fitting(text, room - 1 - tail) + "…" + text[start:]


def fitting(text: str, room: int) -> str:
    """The longest start that fits. By whole starts: a mark's width depends on its letter."""
    return text[: next((n for n in range(len(text)) if width(text[: n + 1]) > room), None)]


def wrap(text: str, room: int | None, *, indent: str) -> list[str]:
    """Break a line at spaces; a word that is too long for a line is broken where it must be."""
    if room is None:
        return [text]
    lines: list[str] = []
    line = ""
    first, *rest = text.lstrip(" ").split(" ")
    lead = text[: len(text) - len(text.lstrip(" "))]
    for word in (lead + first, *rest):
        start = indent if lines else ""
        candidate = f"{line} {word}" if line else start + word
        if width(candidate) <= room or not word:
            line = candidate
            continue
        if line:
            lines.append(line)
        line = indent + word if lines else word
        while width(line) > room:
            part = fitting(line, room)
            if len(part) <= len(indent):
                break
            lines.append(part)
            line = indent + line[len(part) :]
    lines.append(line)
    return lines
