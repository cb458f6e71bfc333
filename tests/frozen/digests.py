"""What of a results folder is the same on every machine, as digests. Imports nothing of the arena.

The tables are the files in the folder, not what a command shows: a file keeps its form for as long
as the event's derivation rule says so, the screen may change.
"""

import csv
import hashlib
import io
import json
import re

TIMED = {"ms_per_decision", "off_turn_ms_per_match", "ms/decision", "off-turn ms/match"}
HOST = ("confinement", "machine", "machines", "sandbox", "not_run")
HOST_FACTS = re.compile(
    r"(- )?((sandbox|guarantees|known gaps|machine|off turn|not run):|NOT CONF)"
)


def digest(data):
    """SHA-256 in hex."""
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def tables(folder):
    """A digest of each table file, less the columns of timings and the facts of the host."""
    made = {"csv": _csv, "json": _json, "md": _md, "txt": _txt}
    return {
        kind: digest(less((folder / f"table.{kind}").read_text("utf-8")))
        for kind, less in made.items()
    }


def _csv(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return json.dumps([{key: row[key] for key in row if key not in TIMED} for row in rows])


def _json(text):
    table = json.loads(text)
    for event in (table["event"], *(source["event"] for source in table.get("sources", ()))):
        for key in HOST:
            del event[key]
    for row in table["rows"]:
        del row["ms"], row["off_turn_ms"]
    return json.dumps(table, sort_keys=True)


def _md(text):
    # A warning that the bots weren't confined stands above everything else.
    lines = [line for line in text.splitlines() if not line.startswith("> ")]
    while not lines[0]:
        del lines[0]
    return "\n".join(_less(lines, lambda line: [cell.strip() for cell in line.split("|")]))


def _txt(text):
    lines = text.splitlines()
    spans = [match.span() for match in re.finditer("-+", lines[1])]
    return "\n".join(_less(lines, lambda line: [line[start:end].strip() for start, end in spans]))


def _less(lines, cells):
    """The standings, cell by cell without timings; of the other lines those not of the host."""
    heads = cells(lines[0])
    kept = [number for number, head in enumerate(heads) if head not in TIMED]
    end = lines.index("")
    for number, line in enumerate(lines):
        if number == 1:
            continue  # a rule, as long as its column's longest cell
        if number < end:
            found = cells(line)
            yield "|".join(found[place] for place in kept)
        elif not HOST_FACTS.match(line):
            yield line
