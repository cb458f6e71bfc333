"""Flags that several commands share: their types, and the headings that help lists them under."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from arena.cli.event_file import read_defaults
from arena.cli.paths import BotPath, PathName
from arena.registry import COMMAND_OF, FORMATS, GAMES, REPORTS, SANDBOXES

F = TypeVar("F", bound=Callable[..., Any])

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}

_COLUMN = 22

HEADINGS = {
    "What is played": (
        *("event", "game", "deal", "schedule", "schedule_options", "seats", "tables"),
        *("deals", "gauntlet"),
        *("until_resolved", "budget", "close", "effect", "alpha", "beta", "playoff", "no_playoff"),
        *("no_same_author", "seed", "turn_cap", "rate_on", "no_luck"),
    ),
    "You at the table": ("seat", "name", "lines", "browser"),
    "What a bot may use": (
        *("move_time", "match_time", "start_time", "no_limits", "memory", "tasks", "scratch"),
        *("freeze", "series", "fresh"),
    ),
    "How it runs here": ("sandbox", "jobs", "no_pin", "max_time", "skip_broken", "dry_run"),
    "Events with a folder": ("out", "record", "beacon_from", "beacon", "shard", "into", "repair"),
    "On a cluster": ("on", "tls_ca", "tls_cert", "tls_key"),
    "What is shown": (
        *("watch", "delay", "hidden", "live", "live_host", "live_stay", "as_json", "quiet"),
    ),
}
"""By the names of the parameters; what is in none of them is listed last."""


class EventCommand(click.Command):
    """A command with many flags: help lists them under headings.

    `--live [PORT]` takes the word behind it only if it is a number: it may be the first bot.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        pages = {
            name for option in self.params if option.metavar == "[PORT]" for name in option.opts
        }
        until = args.index("--") if "--" in args else len(args)
        given = [
            f"{arg}=0"
            if arg in pages and at < until and not "".join(args[at + 1 : at + 2]).isdigit()
            else arg
            for at, arg in enumerate(args)
        ]
        return super().parse_args(ctx, given)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        left = {
            str(param.name): record
            for param in self.get_params(ctx)
            if (record := param.get_help_record(ctx)) and isinstance(param, click.Option)
        }
        for heading, names in HEADINGS.items():
            if rows := [left.pop(name) for name in names if name in left]:
                _write(formatter, heading, rows)
        _write(formatter, "Other", list(left.values()))


def _write(formatter: click.HelpFormatter, heading: str, rows: list[tuple[str, str]]) -> None:
    """A section whose second column begins where that of the others does."""
    first = min(_COLUMN, max(len(name) for name, _ in rows))
    with formatter.section(heading):
        formatter.write_dl(rows, col_max=_COLUMN, col_spacing=_COLUMN + 2 - first)


class Duration(click.ParamType):  # type: ignore[type-arg,unused-ignore] # newer click: generic
    """A time: 500ms, 1.5s, 2m, 3h, never a bare number. The value is milliseconds."""

    name = "time"

    def __init__(self, least_ms: int = 1) -> None:
        """With 0 as the least, `0` needs no unit."""
        self.least_ms = least_ms

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        if not self.least_ms and str(value).strip() == "0":
            return 0
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)\s*", str(value))
        if match is None:
            self.fail(f"{value!r} is no time: say the unit, like 500ms, 1.5s, 2m, 3h", param, ctx)
        milliseconds = round(float(match[1]) * _UNITS[match[2]])
        if milliseconds < self.least_ms:
            self.fail(f"{value!r} is no time to do anything in", param, ctx)
        return milliseconds


class Megabytes(click.ParamType):  # type: ignore[type-arg,unused-ignore] # newer click: generic
    """Memory: 512, 256M, 512MB, 2GB, 1.5 GiB. A bare number, and the value, are MiB."""

    name = "size"
    pattern = r"\s*(\d+(?:\.\d+)?)\s*(?:([MG])(?:i?B)?)?\s*"

    def __init__(self, least: int, most: int) -> None:
        self.least = least
        self.most = most

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        match = re.fullmatch(self.pattern, str(value), re.IGNORECASE)
        if match is None:
            self.fail(f"{value!r} is no amount: write 512, 512MB or 2GB", param, ctx)
        amount = float(match[1]) * (1024 if (match[2] or "").upper() == "G" else 1)
        bounds = f"from {self.least} to {self.most}"
        if not amount.is_integer() or not self.least <= amount <= self.most:
            self.fail(f"{value!r} is no whole number of MB {bounds}", param, ctx)
        return int(amount)


class Finite(click.FloatRange):
    """A number in a range; `nan` is in none."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - click's own signature
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class NameValue(click.ParamType):  # type: ignore[type-arg,unused-ignore] # newer click: generic
    """NAME=VALUE. The value is the pair."""

    name = "name=value"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, str]:
        name, equals, text = str(value).partition("=")
        if not (name and equals):
            self.fail(f"{value!r} is no option: write it like NAME=VALUE", param, ctx)
        return name.strip(), text.strip()


POSITIVE = click.IntRange(min=1)
TIME = Duration()
FOLDER = PathName(path_type=Path)


def option(name: str, *names: str, shown: bool = False, **how: Any) -> Callable[[F], F]:  # noqa: ANN401
    """A flag; `shown`: with its default in the help, as every flag that has one should be."""
    return click.option(name, *names, show_default=shown or "default" in how, **how)


def flags(*each: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several flags as one decorator, listed in their order."""

    def give(command: F) -> F:
        for flag in reversed(each):
            command = flag(command)
        return command

    return give


json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")

game_option = option(
    "--game", type=click.Choice(list(GAMES)), default=next(iter(GAMES)), help="What is played."
)

limit_options = flags(
    option("--turn-cap", type=POSITIVE, metavar="N", help="Turns a player and hole at most."),
    option("--move-time", type=TIME, default="1s", help="Time for a decision."),
    option("--match-time", type=TIME, default="60s", help="Time for a bot's decisions in a match."),
    option("--start-time", type=TIME, default="10s", help="Time for a bot to start."),
    option(
        "--memory",
        type=Megabytes(1, 1 << 20),
        default="512MB",
        metavar="SIZE",
        help="Memory for a bot: MB, or with a unit, like 2GB.",
    ),
    option(
        "--tasks",
        type=click.IntRange(1, 100_000),
        metavar="N",
        default=64,
        help="Processes and threads for a bot.",
    ),
    option(
        "--scratch",
        type=Megabytes(0, 1 << 16),
        metavar="SIZE",
        default="16MB",
        help="Private /tmp at most for a bot that asks for one: MB, or with a unit.",
    ),
)
"""What bots may use."""

freeze_option = option("--freeze", is_flag=True, help="Bots stand still while it isn't their turn.")


def sandbox_option(
    default: str | None = "auto", text: str = "`none` confines nothing and is shown in the table."
) -> Callable[[F], F]:
    """The choice of a sandbox."""
    return click.option(
        "--sandbox",
        type=click.Choice(["auto", *SANDBOXES]),
        default=default,
        show_default=default is not None,
        help=text,
    )


event_options = flags(
    click.argument("bots", nargs=-1, type=BotPath()),
    option(
        "--event",
        type=FOLDER,
        is_eager=True,
        expose_value=False,
        callback=read_defaults,
        help="TOML file with any of these settings, and `bots`.",
    ),
    game_option,
    option(
        "--seats",
        type=click.IntRange(2, 8),
        metavar="N",
        default=2,
        help="Bots at a table: all subsets of that size meet.",
    ),
    option(
        "--tables",
        type=POSITIVE,
        metavar="N",
        help="Only that many tables, balanced in who meets whom.",
    ),
    option(
        "--deals",
        type=POSITIVE,
        metavar="N",
        default=10,
        help="Deals a table; each is played in every seat rotation.",
    ),
    option(
        "--schedule",
        type=click.Choice([name for name in FORMATS if name not in COMMAND_OF]),
        help="Who meets whom, and when it is enough.  [default: round-robin]",
    ),
    option(
        "--option",
        "schedule_options",
        type=NameValue(),
        multiple=True,
        help="An option of the schedule's own; can be given again.",
    ),
    option(
        "--gauntlet",
        metavar="BOT",
        multiple=True,
        help="Only BOT, by name or path, meets all others; can be given again.",
    ),
    option(
        "--until-resolved",
        is_flag=True,
        help="Race: after --deals for every pair, only where the order is open.",
    ),
    option("--budget", type=POSITIVE, metavar="N", help="Of a race: matches at most."),
    option(
        "--close",
        type=Finite(0, 1000),
        metavar="STROKES",
        help="Of a race: a difference a match that needn't be told apart.  [default: 2]",
    ),
    option(
        "--rate-on",
        type=click.Choice(["results", "adjusted"]),
        help="Results as played, or strokes less luck.  [default: results; in a race adjusted]",
    ),
    option(
        "--no-luck", is_flag=True, help="Don't measure luck: saves a millisecond or two a match."
    ),
    option(
        "--series",
        type=POSITIVE,
        metavar="N",
        default=25,
        help="Matches that a bot's process plays before it is replaced.",
    ),
    option(
        "--fresh",
        type=click.Choice(["series", "match"]),
        default="series",
        help="`match`: fresh processes for every match, like --series 1.",
    ),
    option("--playoff", is_flag=True, help="Ties for first go to sudden death."),
    option("--no-same-author", is_flag=True, help="Bots of one author don't meet."),
    option("--seed", type=str, help="Deals from this seed: repeatable, and labelled predictable."),
    limit_options,
    freeze_option,
    option("--skip-broken", is_flag=True, help="Go on without bots that can't take part."),
    option("--out", type=FOLDER, help="Results folder.  [default: arena-results/DATE-TIME]"),
)
"""The bots of an event and its settings."""

run_options = flags(
    option("--beacon", metavar="VALUE", help="Of a prepared event: its public value."),
    option(
        "--jobs",
        type=POSITIVE,
        metavar="N",
        help="Matches at a time.  [default: one a core that this process is given]",
    ),
    option(
        "--no-pin",
        is_flag=True,
        help="Let workers and bots move between cores: slower, and times are less even.",
    ),
    option(
        "--max-time",
        type=TIME,
        help="Stop after this time and the match in play; resume later.",
    ),
    option("--json", "as_json", is_flag=True, help="Events as JSON lines on stdout."),
    option("--quiet", "-q", is_flag=True, help="Neither progress nor notes on stderr."),
)
"""How an event is run here; they change no result."""

live_options = flags(
    option(
        "--live",
        type=click.IntRange(0, 65535),
        metavar="[PORT]",
        help="Show the event in a browser while it is played, on this machine.",
    ),
    option(
        "--live-host",
        metavar="ADDRESS",
        help="Show it to others too: listen there, for instance on 0.0.0.0.",
    ),
    option("--live-stay", is_flag=True, help="Go on showing it when it is over, until Ctrl-C."),
)
"""Live pages; they change no result."""

cluster_options = flags(
    option(
        "--on",
        nargs=2,
        metavar="dask CLUSTER",
        help="Play on Dask workers: local:N, the scheduler's address, or its file.",
    ),
    option("--tls-ca", type=FOLDER, help="Of a cluster: the authority of its certificates."),
    option("--tls-cert", type=FOLDER, help="Of a cluster: your certificate."),
    option("--tls-key", type=FOLDER, help="Of a cluster: its key."),
)
"""Where an event is played; they change no result."""


report_options = flags(
    option("--format", "report", type=click.Choice(list(REPORTS)), default="text"),
    option("--canonical", is_flag=True, help="Without timings and host facts."),
    option(
        "--details", is_flag=True, help="On a screen too: all facts below the table, as in a file."
    ),
)
"""How a table is printed."""
