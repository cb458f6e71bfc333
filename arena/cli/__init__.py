"""The command line. Nothing here is imported by anything else.

What a command needs is imported within it, so that `arena --help` answers at once and never
loads trio.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from arena import __version__
from arena.cli.clean import clean
from arena.cli.completion import completion
from arena.cli.log import log
from arena.cli.run import resume, run, stop
from arena.cli.table import table
from arena.cli.worker import worker

EPILOG = """\b
Examples:
  arena run bots/*               every pair of bots, 10 deals, both seatings
  arena run bots/* --game four-card-golf --seats 4 --tables 30
  arena run bots/* --dry-run     what would be played, and how long it takes
  arena resume FOLDER            go on with an event that was stopped
  arena table FOLDER --format md
"""


class Arena(click.Group):
    """Turns the errors that are somebody's act into lines and exit codes."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        """Run a command; a user's error is lines on stderr, not a traceback."""
        from arena.model import HostError, UserError

        try:
            return super().invoke(ctx)
        except UserError as error:
            fail(str(error), error.exit_code)
        except HostError as error:
            fail(str(error), 4)
        except BrokenPipeError:
            # Whoever read our output has left (`arena table … | head`).
            sys.stderr.close()
            raise SystemExit(141) from None


def fail(message: str, code: int) -> None:
    """Say what is wrong and leave."""
    for line in message.splitlines():
        click.echo(f"arena: {line}", err=True)
    raise SystemExit(code)


@click.group(cls=Arena, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="arena", message="%(prog)s %(version)s")
def main() -> None:
    """Tournaments of nine-hole golf-card bots, written in any language.

    Each bot runs as a sandboxed process and is spoken to in JSON lines; every deal is played in
    all seat rotations; the result is a ranked table that others can verify.
    """


for _command in (run, resume, stop, table, log, clean, completion, worker):
    main.add_command(_command)
