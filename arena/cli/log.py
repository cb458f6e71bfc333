"""`arena log`: the records that count, as JSON lines."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  arena log arena-results/20260102-150405 | jq .totals
  arena log results --canonical | sha256sum
  arena log arena-results/20260102-150405 --faults
"""
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--canonical", is_flag=True, help="Sorted by id, without timings and other facts of the host."
)
@click.option("--all", "everything", is_flag=True, help="Also the records that don't count.")
@click.option("--faults", is_flag=True, help="The faults of all records, for people.")
def log(folder: Path, *, canonical: bool, everything: bool, faults: bool) -> None:
    """Print the counted records of the event in FOLDER.

    Records that don't count are those of series that were cut short and played again, and of
    bots that were withdrawn.
    """
    import sys

    from arena.store import canonical_line, read_event, read_records, record_line
    from arena.tournament import counted_records

    read_event(folder)
    if faults:
        from arena.reports.faults import fault_lines

        for record in read_records(folder):
            for text in fault_lines(record):
                click.echo(text)
        return
    records = read_records(folder) if everything else counted_records(folder)
    lines = (
        [line for _, line in sorted((record.id, canonical_line(record)) for record in records)]
        if canonical
        else map(record_line, records)
    )
    for line in lines:
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
