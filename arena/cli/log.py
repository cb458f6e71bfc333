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
def log(folder: Path, *, canonical: bool) -> None:
    """Print the counted records of the event in FOLDER."""
    import sys

    from arena.store import canonical_line, record_line
    from arena.tournament import counted_records

    records = counted_records(folder)
    if canonical:
        lines = sorted((record.id, canonical_line(record)) for record in records)
        for _, line in lines:
            sys.stdout.buffer.write(line)
    else:
        for record in records:
            sys.stdout.buffer.write(record_line(record))
    sys.stdout.buffer.flush()
