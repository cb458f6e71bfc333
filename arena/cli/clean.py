"""`arena clean`: delete cached snapshots, builds and packages that are no longer used."""

import click

from arena.cli.flags import TIME, Helped, option, switch

_NAMES = {"bots": "snapshots", "starts": "starts that worked"}


@click.command(cls=Helped)
@option("--older-than AGE", TIME, "Only what has not been used for so long, like 30d.")
@switch("--packages", "Fetched packages, too: arena fetch has to get them again.")
@switch("--dry-run", "Say how much there is; delete nothing.")
def clean(older_than: int | None, *, packages: bool, dry_run: bool) -> None:
    from arena.bots import clean_cache, default_cache
    from arena.bots.cache import PACKAGES

    cache, unused = default_cache(), (older_than or 0) / 1000
    kept = () if packages else (PACKAGES,)
    found = clean_cache(cache, unused_s=unused, kept=kept, dry_run=dry_run)
    click.echo(f"{cache}: {'would be deleted' if dry_run else 'deleted'}")
    for area, each in found.items():
        left = f"; {each.left} left, {each.left_size / 1e6:.1f} MB" if each.left else ""
        name = _NAMES.get(area, area)
        click.echo(f"  {name}: {each.deleted}, {each.size / 1e6:.1f} MB{left}")
