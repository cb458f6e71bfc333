"""`arena feed`: replay a recorded conversation to a bot, and compare its answers."""

from typing import Any

import click

from arena.cli.flags import NATURAL, TIME, Helped, option, sandbox_option, switch
from arena.cli.paths import BotPath, PathName, bots_of, matches_of
from arena.cli.usage import need_linux

OTHERWISE = 5


@click.command(cls=Helped, short_help="Replay a recorded TRANSCRIPT to BOT, and compare.")
@click.argument("bot", type=BotPath(path_type=None))
@click.argument("transcript", type=PathName(readable=False, allow_dash=True))
@option("--match ID", text="Of the event in the folder TRANSCRIPT.", shell_complete=matches_of)
@option("--bot NAME", text="With --match: as which of its bots.", to="name", shell_complete=bots_of)
@option("--attempt N", NATURAL, "With --match: of a series that was played again.")
@switch("--go-on", "Don't stop at an answer that is another move.")
@option("--timeout", TIME, "Time for an answer.  [default: as long as it takes]")
@option(
    "--command CMD", text="Run this in the bot's folder instead, unconfined; {} is its own command."
)
@switch("--print", "Only print the lines to the bot.", to="only_print")
@switch("--lean", "With --match and --print: of a bot that asks for it.")
@sandbox_option(text="`none` confines nothing.")
def feed(**options: Any) -> None:  # noqa: ANN401 - click's flags
    import sys

    from arena.terminal.screen import say

    only_print = options.pop("only_print")
    if not only_print:
        need_linux()
    from arena.api.feed import FeedOptions, feed_bot, transcript_lines
    from arena.check.playback import FeedOutput

    bot, transcript, timeout = (options.pop(n) for n in ("bot", "transcript", "timeout"))
    chosen = FeedOptions(
        bot=options.pop("name"), timeout=None if timeout is None else timeout / 1000, **options
    )
    if only_print:
        for line in transcript_lines(bot, transcript, chosen, say):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return
    echo = FeedOutput(click.echo, sys.stderr.buffer)
    raise SystemExit(0 if feed_bot(bot, transcript, chosen, echo, say) else OTHERWISE)
