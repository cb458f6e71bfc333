"""The report as JSON, for programs.

Keys are sorted, `format` is the version. Everything outside ASCII is escaped, so that a terminal
can show the file while names in it stay exact.
"""

import json
from typing import Any

import msgspec

from arena.model import Table
from arena.reports import TableReport, View
from arena.reports.rows import LATER, listed, reasons

FORMAT = 1

# Facts of the machine.
_HOST_FACTS = ("confinement", "machine", "machines", "sandbox", "not_run")


def render(table: Table, view: View) -> str:
    canonical = view.canonical
    content: dict[str, Any] = msgspec.to_builtins(table)
    content["format"] = FORMAT
    del content["rule"]
    if canonical:
        content.pop("open_pairs", None)
    _settle(content["event"], canonical=canonical)
    for source in content["sources"]:
        _settle(source["event"], canonical=canonical)
    for name in ("sources", "selected"):
        if not content[name]:  # all of one event, as most tables are
            del content[name]
    content["rows"] = msgspec.to_builtins(listed(table, canonical=canonical))
    why = reasons(table, canonical=canonical)
    for row in content["rows"]:
        row["faults"] = dict(row["faults"])
        row["reason"] = why.get(row["entrant"], "")
        for name in LATER if table.rule == 1 else ():
            del row[name]
        if canonical:
            del row["ms"], row["off_turn_ms"]
    made = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=True, allow_nan=False)
    # The one control character that JSON leaves as it is.
    return made.replace("\x7f", "\\u007f") + "\n"


def _settle(event: dict[str, Any], *, canonical: bool) -> None:
    event["entrants"] = sorted(event["entrants"], key=lambda entrant: entrant["id"])
    event["not_run"] = sorted(event["not_run"], key=lambda absent: sorted(absent.items()))
    if canonical:
        for key in _HOST_FACTS:
            del event[key]


REPORT = TableReport(render, file="table.json")
