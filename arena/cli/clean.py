"""`arena clean`: empty the cache of snapshots, builds and packages."""

import click

from arena.cli.flags import Helped


@click.command(cls=Helped)
def clean() -> None:
    from arena.bots import clean_cache, default_cache

    cache = default_cache()
    files, size = clean_cache(cache)
    click.echo(f"{cache}: {files} files deleted, {size / 1e6:.1f} MB")
