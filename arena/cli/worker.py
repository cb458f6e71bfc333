"""`arena worker`: what the executors start; not for people."""

from __future__ import annotations

import click


@click.command(hidden=True)
def worker() -> None:
    """Play series from standard input; records go to standard output."""
    from arena import registry
    from arena.executors.worker import main

    main(registry.game, registry.backend)
