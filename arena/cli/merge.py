"""`arena merge`: the shards of an event become the event; `arena.event.merge` does the work."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.paths import PathName


@click.command(
    epilog="""\b
Example:
  arena prepare bots/* --out friday; cp -a friday one; cp -a friday two
  arena run one --shard 1/2                     on one machine
  arena run two --shard 2/2                     on another
  arena merge one two --out whole
"""
)
@click.argument("folders", nargs=-1, required=True, type=PathName(path_type=Path))
@click.option(
    "--out", required=True, type=PathName(path_type=Path), help="A new folder for the event."
)
def merge(folders: tuple[Path, ...], out: Path) -> None:
    """Put the shards of an event together and print its table.

    Name the folders of all shards, in any order; they are only read. The new folder is what one
    machine would have given, with the secret revealed.
    """
    from arena.event.merge import fill, join_stderr, merged, parts_of
    from arena.event.session import show
    from arena.event.tournament import Tournament
    from arena.model import UserError
    from arena.store import Store, claim_folder, staged_folder
    from arena.terminal.progress import Progress
    from arena.terminal.screen import say

    for folder in folders:
        if folder.resolve() in out.resolve().parents:
            raise UserError(f"{out} lies in {folder}, which is only read; choose another --out")
    watcher = Progress()
    with claim_folder(out):
        parts = parts_of(folders)
        first = parts[0]
        event = merged(parts)
        with (
            staged_folder(out) as fresh,
            Store.create(fresh, event, first.private, first.announced) as store,
        ):
            tournament = Tournament(store, first.secret, watcher)
            fill(tournament, parts)
            assert tournament.left == 0, "each shard is whole, but not all of them together"
            join_stderr(parts, fresh)
            table = tournament.conclude()
    assert table is not None, "it is whole"
    show(table, store, watcher)
    say(f"{len(parts)} shards merged in {out}")
