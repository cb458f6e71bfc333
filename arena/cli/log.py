"""`arena log`: the records that count, as JSON lines."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  arena log arena-results/20260102-150405 | jq .totals
  arena log results --canonical | sha256sum
"""
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--canonical", is_flag=True, help="Sorted by id, without timings and other facts of the host."
)
@click.option("--all", "everything", is_flag=True, help="Also the records that don't count.")
def log(folder: Path, *, canonical: bool, everything: bool) -> None:
    """Print the counted records of the event in FOLDER.

    Records that don't count are those of series that were cut short and played again, and of
    bots that were withdrawn.
    """
    import sys

    from arena.store import canonical_line, read_event, read_records, record_line
    from arena.tournament import counted_records

    read_event(folder)
    records = read_records(folder) if everything else counted_records(folder)
    if canonical:
        lines = sorted((record.id, canonical_line(record)) for record in records)
        for _, line in lines:
            sys.stdout.buffer.write(line)
    else:
        for record in records:
            sys.stdout.buffer.write(record_line(record))
    sys.stdout.buffer.flush()
