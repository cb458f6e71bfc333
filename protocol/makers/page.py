"""SPEC.md as data: sections, tables of fields, fenced blocks, and the blocks that are filled in.

A fenced block whose info string names a transcript is filled from that transcript's lines:

    ```text transcript NAME 3-5        its lines 3 to 5 as they are
    ```json view NAME 9                the view in line 9, a field a line
    ```text grids NAME 9               the grids of that view as they lie on the table

So whatever the page shows of a conversation was really said. What a block means is for the words
around it; a test knows every kind of block that the page has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATH = Path(__file__).parents[1] / "SPEC.md"

_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^##+ (.*)$", re.MULTILINE)
_ROW = re.compile(r"^\|(.*)\|$", re.MULTILINE)
_MINUS = "\N{MINUS SIGN}"
_RANGE = re.compile(rf"({_MINUS}?\d+) (?:to ({_MINUS}?\d+)|or more)\b")
_FILLED = {"transcript", "view", "grids"}


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    info: str
    body: str
    line: int
    section: str


@dataclass(frozen=True)
class Field:
    """A row of a table of fields."""

    kind: str
    values: str
    meaning: str
    low: int | None
    high: int | None


class Page:
    """A version of the page."""

    def __init__(self, text: str) -> None:
        self.text = text
        marks = [*_HEADING.finditer(text)]
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        self.sections = {
            mark[1]: text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)
        }

    def section(self, title: str) -> str:
        """The text under the heading that begins so, up to the next heading."""
        (found,) = [text for name, text in self.sections.items() if name.startswith(title)]
        return found

    def blocks(self) -> list[Block]:
        """Every fenced block."""
        found = []
        for match in _FENCE.finditer(self.text):
            above = [mark[1] for mark in _HEADING.finditer(self.text[: match.start()])]
            line = self.text.count("\n", 0, match.start()) + 1
            found.append(Block(match["info"], match["body"], line, above[-1]))
        return found

    def table(self, title: str, head: str) -> list[dict[str, str]]:
        """The rows of the table under a heading whose first column is called `head`."""
        rows: list[dict[str, str]] = []
        names: list[str] = []
        for line in self.section(title).split("\n"):
            match = _ROW.match(line)
            if match is None:
                names = []
                continue
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", match[1])]
            if not names:
                names = cells
            elif names[0] == head and not set("".join(cells)) <= set("-:"):
                rows.append(dict(zip(names, cells, strict=True)))
        return rows

    def fields(self, title: str, of: str = "") -> dict[str, Field]:
        """The fields that the table under a heading describes; of `Rules`, those under rules."""
        found = {}
        for row in self.table(title, "field"):
            if row.get("type") == "":
                continue  # as in another table, says its meaning
            for name in re.findall(r"`([\w.]+)`", row["field"]):
                above, _, last = name.rpartition(".")
                if above == ("rules" if of == "Rules" else ""):
                    found[last] = field(row)
        return found


def field(row: Mapping[str, str]) -> Field:
    """A row of a table of fields."""
    values = row.get("values", "")
    low = high = None
    if match := _RANGE.match(values):
        low = int(match[1].replace(_MINUS, "-"))
        high = int(match[2].replace(_MINUS, "-")) if match[2] else None
    meaning = plain(row["meaning"])
    if values and low is None:
        meaning = f"{plain(values)}: {meaning}" if meaning else plain(values)
    return Field(row.get("type", ""), values, meaning, low, high)


def plain(markdown: str) -> str:
    """Words without their marks."""
    return re.sub(r"\*\*|\[([^]]*)\]\([^)]*\)", r"\1", markdown).replace("\\|", "|")


def filled(text: str, transcripts: Mapping[str, str]) -> str:
    """The page with its blocks as the transcripts have them."""

    def fill(match: re.Match[str]) -> str:
        info = match["info"].split()
        if len(info) < 2 or info[1] not in _FILLED:
            return match[0]
        _, what, name, where = info
        first, _, last = where.partition("-")
        lines = transcripts[f"transcripts/{name}.txt"].split("\n")
        lines = lines[int(first) - 1 : int(last or first)]
        body = "\n".join(lines) if what == "transcript" else DRAWN[what](view_of(lines[0]))
        return f"```{match['info']}\n{body}\n```"

    return _FENCE.sub(fill, text)


def view_of(line: str) -> dict[str, Any]:
    """The view in a question."""
    view: dict[str, Any] = json.loads(line[2:])["view"]
    return view


def listed(view: Mapping[str, Any]) -> str:
    """A view, a field a line."""
    fields = [f'  "{name}": {json.dumps(value)}' for name, value in view.items()]
    return "{\n" + ",\n".join(fields) + "\n}"


def drawn(view: Mapping[str, Any]) -> str:
    """The grids as they lie on the table, seat by seat."""
    size = len(view["grids"][view["seat"]])
    rows = []
    for half in (slice(0, size // 2), slice(size // 2, size)):
        grids = []
        for seat, grid in enumerate(view["grids"]):
            cards = "".join("  ·" if card is None else f"{card:3d}" for card in grid[half])
            label = f"seat {seat}" if half.start == 0 else ""
            grids.append(f"{label:7}{cards}")
        rows.append("     ".join(grids))
    return "\n".join(rows)


DRAWN = {"view": listed, "grids": drawn}
