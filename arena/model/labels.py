"""Check names and versions of bots: they become file names, cells and words of commands.

Pure. Invariant: a label is one word of letters, digits, `.`, `_` and `-`, at least one of them a
letter or digit, and nothing in it is invisible.
"""

from __future__ import annotations

import unicodedata

LONGEST_LABEL = 40
"""Longest name and version: two of them still fit into a row of the table."""

# Invisible letters and marks: two names that look alike must not differ by them.
_INVISIBLE = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0100, 0xE01EF),
)


def label_fault(text: str) -> str:
    """Say why a text can't be a name or a version, or return nothing. Expects NFC."""
    if not 1 <= len(text) <= LONGEST_LABEL:
        return f"it must have 1 to {LONGEST_LABEL} characters, not {len(text)}"
    for place, c in enumerate(text):
        kind = unicodedata.category(c)
        # Marks belong to letters in many scripts (Devanagari vowels), but can't begin a word.
        fits = kind[0] == "L" or kind == "Nd" or c in "._-" or (kind[0] == "M" and place > 0)
        if not fits or any(low <= ord(c) <= high for low, high in _INVISIBLE):
            shown = f"'{c}'" if c.isprintable() else f"U+{ord(c):04X}"
            return f"it may have letters, digits, '.', '_' and '-', but not {shown}"
    if not any(c.isalnum() for c in text):
        return "it must have at least one letter or digit"
    return ""
