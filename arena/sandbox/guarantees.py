"""The guarantees that a sandbox can give, and the known gaps, in words, for a `Probe` to list."""

from collections.abc import Mapping

from arena.tables import table

_WORDS = table("sandbox/guarantees")
GUARANTEES: Mapping[str, str] = _WORDS["guarantees"]
GAPS: Mapping[str, str] = _WORDS["gaps"]

EVERYWHERE = ("cache timing", "futexes", "kernel counters", "page cache")
"""The gaps of every sandbox on a shared machine. Rotations of a deal are never played at the same
time, so the first three reveal nothing of another rotation; the last one does."""
