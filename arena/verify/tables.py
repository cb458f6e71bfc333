"""Compare the published tables with those that follow from the log, byte for byte.

An event names, under its commitment, the rule by which its tables are derived; tables of an older
rule are derived by that rule again (`reports.rows`), so nothing in them is taken on trust.
What such a rule got wrong is printed (`OLDER`), and is no difference.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from arena import __version__
from arena.model import Event
from arena.store import Announced
from arena.store.files import open_regular
from arena.verify.findings import Difference, clipped, first_unlike

OLDER: Mapping[int, str] = MappingProxyType(
    {
        1: "the W-T-L, duels and matrix of tables of three and more break ties by places, and bots "
        "that were not rated have numbers",
    }
)
"""By rule: what its tables tell otherwise than today's. A mended derivation gets a line here
and one in the table of rules in protocol/DEALS.md."""


def unlike_table(path: Path, text: str, event: Event, announced: Announced) -> Difference | None:
    """How a published table differs from what it should be."""
    right = text.encode()
    with open_regular(path) as file:
        found = file.read(len(right) + 1)  # one more is too many already
    if found == right:
        return None
    if path.suffix == ".json" and found == _as_announced(text, announced).encode():
        return None
    mine, theirs = found.splitlines(keepends=True), right.splitlines(keepends=True)
    at = first_unlike(mine, theirs)
    by = event.machine.arena
    played = f" (by arena {by}; this is {__version__})" if by and by != __version__ else ""
    return Difference(
        file=path.name,
        line=at + 1,
        byte=sum(map(len, mine[:at])),
        what=f"table{played}",
        expected=_line(theirs, at),
        found=_line(mine, at),
    )


def _as_announced(text: str, announced: Announced) -> str:
    """A table in JSON with the settings of event.json: a later arena knows more of them."""
    content = json.loads(text)
    content["event"]["settings"] = json.loads(bytes(announced.settings))
    return json.dumps(content, indent=2, sort_keys=True).replace("\x7f", "\\u007f") + "\n"


def _line(lines: Sequence[bytes], at: int) -> str:
    if at >= len(lines):
        return "the end of the file"
    return clipped(lines[at].decode("utf-8", "backslashreplace").rstrip("\n"))
