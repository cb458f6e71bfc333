"""The command line: the commands in their groups, and how errors become exit codes.

One module a command: flags in, exit code out; help/ says what it does. It imports what it needs in
its function, so that `arena --help` answers at once and never loads trio.
"""

import importlib
import io
import sys
from contextlib import suppress
from typing import Any

import click

from arena import __version__
from arena.cli.flags import Helped
from arena.exhaustion import memory_ran_out, ran_out


def command(name: str) -> click.Command:
    found = getattr(importlib.import_module(f"arena.cli.{name}"), name)
    assert isinstance(found, click.Command)
    return found


GROUPS = {
    heading: tuple(map(command, names.split()))
    for heading, names in {
        "Write a bot": "new spec check match play feed",
        "Play an event": "run prepare resume stop merge compare tune",
        "Run a season": "ladder",
        "Read the results": "table rate replay log audit twins verify publish",
        "Look after this machine": "doctor fetch clean completion",
    }.items()
}


class Arena(Helped, click.Group):
    """Turns errors that a user or the machine caused into lines and exit codes."""

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = formatter.width - 6 - max(map(len, self.commands))
        for heading, group in GROUPS.items():
            with formatter.section(heading):
                rows = [(str(each.name), each.get_short_help_str(width)) for each in group]
                formatter.write_dl(rows, col_spacing=12 - max(len(name) for name, _ in rows))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            click.echo(ctx.get_help())
            raise SystemExit(2)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        """Run a command; a user's error is lines on stderr, not a traceback."""
        from arena.model import HostError, UserError

        try:
            return super().invoke(ctx)
        except BaseException as error:
            culprit = lone(error)
            if isinstance(culprit, UserError):
                fail(str(culprit), culprit.exit_code)
            if isinstance(culprit, HostError):
                fail(str(culprit), 4)
            if isinstance(culprit, KeyboardInterrupt):
                fail("interrupted", 130)
            if isinstance(culprit, BrokenPipeError):
                # The reader of our output has left (`arena table … | head`).
                sys.stderr.close()
                raise SystemExit(141) from None
            raise


def lone(error: BaseException) -> BaseException:
    """Unwrap an error from the groups that nurseries put a single one in."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def fail(message: str, code: int) -> None:
    if not (message.isascii() and message.isprintable()):  # else it needs no more memory
        from arena.reports.escape import visible

        message = visible(message)
    for line in message.split("\n"):
        click.echo(f"arena: {line}", err=True)
    raise SystemExit(code)


@click.group(cls=Arena, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="arena", message="%(prog)s %(version)s")
def commands() -> None:
    """Hold the commands; what help says of them all is in help/commands.txt."""


for _command in (*(each for group in GROUPS.values() for each in group), command("node")):
    commands.add_command(_command)


def main() -> None:
    """Run the command line; a mistake in it is one line on stderr."""
    if sys.stdout is None:  # `>&-`: the next file that is opened would get its number, and its text
        fail("standard output is closed; to discard it, say >/dev/null", 2)
    try:
        code = commands.main(prog_name="arena", standalone_mode=False)
    except click.UsageError as error:
        from arena.cli.usage import message_of

        fail(message_of(error), 2)
    except click.ClickException as error:
        fail(error.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        fail("interrupted", 130)
    except BaseException as error:
        # Not only in a command: the code that finds the culprit may not fit into memory either.
        if what := ran_out(error) or (isinstance(error, Exception) and memory_ran_out()):
            with suppress(OSError):
                sys.stdout.close()  # or its leftovers fail once more at the very end
            try:
                fail(f"can't go on: {what}", 4)
            finally:
                # Without memory the interpreter's own end would complain, too.
                sys.stderr = io.StringIO()
        raise
    raise SystemExit(code if isinstance(code, int) else 0)
