"""`arena feed`: replay a recorded conversation to a bot, and compare its answers."""

from __future__ import annotations

from typing import Any

import click

from arena.cli.flags import TIME, sandbox_option
from arena.cli.paths import BotName, BotPath, MatchId, PathName
from arena.cli.usage import need_linux

OTHERWISE = 5


@click.command(
    short_help="Replay a recorded TRANSCRIPT to BOT, and compare.",
    epilog="""\b
Examples:
  arena feed bots/mine talk/seat0-mine.txt       a recording of arena match
  arena feed mine@1 friday --match 4f2c01ab99de-000003-1
  arena feed bots/mine t.txt --command 'valgrind -q {}'
  arena feed bots/mine t.txt --command 'gdb -batch -ex run -ex bt --args {}'
  arena feed bots/mine t.txt --print > lines    then: (gdb) run < lines

\b
Exit codes:
  0 as recorded: the same answers, and the same fault if there was one
  2 wrong input
  4 the machine's trouble
  5 not as recorded
  130 Ctrl-C
""",
)
@click.argument("bot", type=BotPath(path_type=None))
@click.argument("transcript", type=PathName(readable=False, allow_dash=True))
@click.option(
    "--match", type=MatchId(), metavar="ID", help="Of the event in the folder TRANSCRIPT."
)
@click.option(
    "--bot", "whose", type=BotName(), metavar="NAME", help="With --match: as which of its bots."
)
@click.option(
    "--attempt",
    type=click.IntRange(min=0),
    metavar="N",
    help="With --match: of a series that was played again.",
)
@click.option("--go-on", is_flag=True, help="Don't stop at an answer that is another move.")
@click.option("--timeout", type=TIME, help="Time for an answer.  [default: as long as it takes]")
@click.option(
    "--command",
    metavar="CMD",
    help="Run this in the bot's folder instead, unconfined; {} is its own command.",
)
@click.option("--print", "only_print", is_flag=True, help="Only print the lines to the bot.")
@click.option("--lean", is_flag=True, help="With --match and --print: of a bot that asks for it.")
@sandbox_option(text="`none` confines nothing.")
def feed(**options: Any) -> None:  # noqa: ANN401 - click's flags
    """Send BOT the lines that TRANSCRIPT recorded, and compare its answers.

    TRANSCRIPT is a file, `-`, or an event's folder with --match: then it is made from the log,
    from where the bot's process began. BOT is a path, or with --match also a name@version of
    the event: then it is what was entered, byte for byte. What it writes to standard error is
    passed on, control characters as escapes. There is no time limit unless you set one.
    """
    import sys

    from arena.terminal.screen import say

    only_print = options.pop("only_print")
    if not only_print:
        need_linux()
    from arena.api.feed import FeedOptions, feed_bot, transcript_lines
    from arena.check.playback import Echo

    bot, transcript, timeout = (options.pop(n) for n in ("bot", "transcript", "timeout"))
    chosen = FeedOptions(
        bot=options.pop("whose"),
        timeout=None if timeout is None else timeout / 1000,
        **options,
    )
    if only_print:
        for line in transcript_lines(bot, transcript, chosen, say):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return
    echo = Echo(click.echo, sys.stderr.buffer)
    raise SystemExit(0 if feed_bot(bot, transcript, chosen, echo, say) else OTHERWISE)
