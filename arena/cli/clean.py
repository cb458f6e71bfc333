"""`arena clean`: empty the cache of snapshots, builds and packages."""

import click


@click.command()
def clean() -> None:
    """Delete cached snapshots, builds and fetched packages of bots.

    They are kept in $XDG_CACHE_HOME/nine-arena (~/.cache/nine-arena). Unfinished events can
    still be resumed while their bots are where they were, unchanged.
    """
    from arena.bots import clean_cache, default_cache

    cache = default_cache()
    files, size = clean_cache(cache)
    click.echo(f"{cache}: {files} files deleted, {size / 1e6:.1f} MB")
