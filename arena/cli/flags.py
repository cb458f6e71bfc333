"""Flags that several commands share: their types, and the headings that help lists them under."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from arena.cli.event_file import read_defaults
from arena.cli.paths import BotPath, PathName, rated_bots_of
from arena.registry import COMMAND_OF, DEFAULT_GAME, FORMATS, GAMES, REPORTS, SANDBOXES

F = TypeVar("F", bound=Callable[..., Any])

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_COLUMN = 22
HEADINGS = {
    heading: names.split()
    for heading, names in {
        "What is played": "event event_name game deal schedule schedule_options seats tables deals "
        "gauntlet until_resolved budget stages against close effect no_worse alpha beta playoff "
        "no_playoff no_same_author seed turn_cap rate_on no_luck",
        "You at the table": "seat name lines browser",
        "What a bot may use": "move_time match_time start_time no_limits memory tasks scratch "
        "freeze series fresh",
        "How it runs here": "sandbox jobs no_pin max_time skip_broken dry_run",
        "Events with a folder": "out record beacon_from beacon shard into retire repair",
        "On a cluster": "on tls_ca tls_cert tls_key",
        "What is shown": "summary watch delay hidden live live_host live_stay as_json quiet",
    }.items()
}
"""By the names of the parameters; what is in none of them is listed last."""


class Helped(click.Command):
    """What it does, with examples and exit codes, is in help/NAME.txt: read when it is shown.
    That of a command of a group is in help/GROUP/NAME.txt.
    """

    below: str = ""

    def get_short_help_str(self, limit: int = 45) -> str:
        if not self.short_help:
            self._read()
        return super().get_short_help_str(limit)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self._read()
        super().format_help(ctx, formatter)

    def _read(self) -> None:
        file = Path(__file__).with_name("help") / self.below / f"{self.name}.txt"
        self.help, *more = re.split(r"\n\n(?=Examples?:|Exit codes:)", file.read_text("utf-8"))
        # By the mark click leaves the lines of examples and exit codes as they are.
        self.epilog = "\n\n".join(f"\b\n{part}" for part in more)


class EventCommand(Helped):
    """Lists flags under headings; `--live [PORT]` takes the next word only if it is a number."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        pages = {name for flag in self.params if flag.metavar == "[PORT]" for name in flag.opts}
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
    first = min(_COLUMN, max(len(name) for name, _ in rows))
    with formatter.section(heading):
        formatter.write_dl(rows, col_max=_COLUMN, col_spacing=_COLUMN + 2 - first)


class Parsed(click.ParamType):  # type: ignore[type-arg,unused-ignore] # newer click: generic
    """A type by the function that reads a text; what its ValueError says is the message."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name = name
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's own signature
        try:
            return self.read(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def milliseconds(text: str) -> int:
    """A time: 500ms, 1.5s, 2m, 3h, 30d, never a bare number."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*", text)
    if match is None:
        raise ValueError(f"{text!r} is no time: say the unit, like 500ms, 1.5s, 2m, 3h")
    return round(float(match[1]) * _UNITS[match[2]])


def _some_time(text: str) -> int:
    if (time := milliseconds(text)) < 1:
        raise ValueError(f"{text!r} is no time to do anything in")
    return time


class Megabytes(Parsed):
    """Memory: 512, 256M, 512MB, 2GB, 1.5 GiB. A bare number, and the value, are MiB."""

    def __init__(self, least: int, most: int) -> None:
        super().__init__("size", self._megabytes)
        self.least = least
        self.most = most

    def _megabytes(self, text: str) -> int:
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([MG])(?:i?B)?)?\s*", text, re.IGNORECASE)
        if match is None:
            raise ValueError(f"{text!r} is no amount: write 512, 512MB or 2GB")
        amount = float(match[1]) * (1024 if (match[2] or "").upper() == "G" else 1)
        if not amount.is_integer() or not self.least <= amount <= self.most:
            bounds = f"from {self.least} to {self.most}"
            raise ValueError(f"{text!r} is no whole number of MB {bounds}")
        return int(amount)


class Finite(click.FloatRange):
    """A number in a range; `nan` is in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's own signature
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


def _name_and_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ValueError(f"{text!r} is no option: write it like NAME=VALUE")
    return name.strip(), value.strip()


NATURAL = click.IntRange(min=0)
POSITIVE = click.IntRange(min=1)
TIME = Parsed("time", _some_time)
PAUSE = Parsed("time", lambda text: 0 if text.strip() == "0" else milliseconds(text))
FOLDER = PathName(path_type=Path)


def option(
    words: str,
    kind: Any = None,  # noqa: ANN401 - a type of click's
    text: str = "",
    *,
    to: str = "",
    **how: Any,  # noqa: ANN401 - click's own
) -> Callable[[F], F]:
    """A flag with a value. `words`: its names, and the value in help; `to`: its parameter."""
    names = [word for word in words.split() if word.startswith("-")]
    value = words.removeprefix(" ".join(names)).strip()
    return click.option(
        *names,
        *([to] if to else []),
        type=click.Choice(kind) if isinstance(kind, list) else kind,
        metavar=value or None,
        show_default="default" in how and how["default"] is not None,
        help=text,
        **how,
    )


def switch(words: str, text: str, *, to: str = "") -> Callable[[F], F]:
    return click.option(*words.split(), *([to] if to else []), is_flag=True, help=text)


def flags(*each: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several flags as one decorator, listed in their order."""

    def give(command: F) -> F:
        for flag in reversed(each):
            command = flag(command)
        return command

    return give


def sandbox_option(
    default: str | None = "auto", text: str = "`none` confines nothing and is shown in the table."
) -> Callable[[F], F]:
    return option("--sandbox", ["auto", *SANDBOXES], text, default=default)


json_option = switch("--json", "One JSON object, for programs.", to="as_json")
game_option = option("--game", list(GAMES), "What is played.", default=DEFAULT_GAME)
freeze_option = switch("--freeze", "Bots stand still while it isn't their turn.")
move_time_option = option("--move-time", TIME, "Time for a decision.", default="1s")
start_time_option = option("--start-time", TIME, "Time for a bot to start.", default="10s")
memory_option = option(
    "--memory SIZE",
    Megabytes(1, 1 << 20),
    "Memory for a bot: MB, or with a unit, like 2GB.",
    default="512MB",
)
no_playoff_option = switch("--no-playoff", "A tie for first stays one.")

limit_options = flags(
    option("--turn-cap N", POSITIVE, "Turns a player and hole at most."),
    move_time_option,
    option("--match-time", TIME, "Time for a bot's decisions in a match.", default="60s"),
    start_time_option,
    memory_option,
    option("--tasks N", click.IntRange(1, 100_000), "Processes and threads for a bot.", default=64),
    option(
        "--scratch SIZE",
        Megabytes(0, 1 << 16),
        "Private /tmp at most for a bot that asks for one: MB, or with a unit.",
        default="16MB",
    ),
)

_SHARE = Finite(0, 0.5, min_open=True, max_open=True)
trial_options = flags(
    option(
        "--effect STROKES",
        Finite(0, 1000, min_open=True),
        "What counts as better: so many strokes a match.",
        default=2.0,
    ),
    option("--alpha P", _SHARE, "How often one that isn't better may pass.", default=0.05),
    option("--beta P", _SHARE, "How often one that is better by --effect may fail.", default=0.05),
)

schedule_option = option(
    "--option",
    Parsed("name=value", _name_and_value),
    "An option of the schedule's own; can be given again.",
    to="schedule_options",
    multiple=True,
)

event_options = flags(
    click.argument("bots", nargs=-1, type=BotPath()),
    option(
        "--event",
        FOLDER,
        "TOML file with any of these settings, and `bots`.",
        is_eager=True,
        expose_value=False,
        callback=read_defaults,
    ),
    game_option,
    option(
        "--seats N",
        click.IntRange(2, 8),
        "Bots at a table: all subsets of that size meet.",
        default=2,
    ),
    option("--tables N", POSITIVE, "Only that many tables, balanced in who meets whom."),
    option(
        "--deals N", POSITIVE, "Deals a table; each is played in every seat rotation.", default=10
    ),
    option(
        "--schedule",
        [name for name in FORMATS if name not in COMMAND_OF],
        "Which bots meet, and when the event ends.  [default: round-robin]",
    ),
    schedule_option,
    option(
        "--gauntlet BOT",
        text="Only BOT, by name or path, meets all others; can be given again.",
        multiple=True,
    ),
    switch("--until-resolved", "Race: after a short warm-up, only where the order is open."),
    option("--budget N", POSITIVE, "Of a race: matches at most."),
    option(
        "--close STROKES",
        Finite(0, 1000),
        "Of a race: a difference a match that needn't be told apart.  [default: 2]",
    ),
    option(
        "--rate-on",
        ["results", "adjusted"],
        "Results as played, or strokes less luck.  [default: results; in a race adjusted]",
    ),
    switch("--no-luck", "Don't measure luck: saves a millisecond or two a match."),
    option(
        "--series N",
        POSITIVE,
        "Matches that a bot's process plays before it is replaced.",
        default=25,
    ),
    option(
        "--fresh",
        ["series", "match"],
        "`match`: fresh processes for every match, like --series 1.",
        default="series",
    ),
    switch("--playoff", "Ties for first go to sudden death."),
    switch("--no-same-author", "Bots of one author don't meet."),
    option("--name TEXT", text="What the event is called.", to="event_name"),
    option("--seed", str, "Deals from this seed: repeatable, and labelled predictable."),
    limit_options,
    freeze_option,
    switch("--skip-broken", "Go on without bots that can't take part."),
    option("--out", FOLDER, "Results folder.  [default: arena-results/DATE-TIME]"),
)

run_options = flags(
    option("--beacon VALUE", text="Of a prepared event: its public value."),
    option(
        "--jobs N", POSITIVE, "Matches at a time.  [default: one a core that this process is given]"
    ),
    switch("--no-pin", "Let workers and bots move between cores: slower, and times are less even."),
    option("--max-time", TIME, "Stop after this time and the match in play; resume later."),
    switch("--json", "Events as JSON lines on stdout.", to="as_json"),
    switch("--quiet -q", "Neither progress nor notes on stderr."),
    option(
        "--on dask CLUSTER",
        text="Play on Dask workers: local:N, the scheduler's address, or its file.",
        nargs=2,
    ),
    option("--tls-ca", FOLDER, "Of a cluster: the authority of its certificates."),
    option("--tls-cert", FOLDER, "Of a cluster: your certificate."),
    option("--tls-key", FOLDER, "Of a cluster: its key."),
    option(
        "--live [PORT]",
        click.IntRange(0, 65535),
        "Show the event in a browser while it is played, on this machine.",
    ),
    option(
        "--live-host ADDRESS", text="Show it to others too: listen there, for instance on 0.0.0.0."
    ),
    switch("--live-stay", "Go on showing it when it is over, until Ctrl-C."),
)
"""How and where an event is run, and who sees it; they change no result."""

_AGAIN = "By name, id or a pattern such as 'old-*'; can be given again."
selection_options = flags(
    option("--only BOT", text=_AGAIN, multiple=True, shell_complete=rated_bots_of),
    option("--without BOT", text=_AGAIN, multiple=True, shell_complete=rated_bots_of),
    switch("--latest", "Rows for the latest version of each bot; the others still count."),
)
"""Which bots a table is about."""

sources_option = switch("--sources", "Where each bot lay when it was entered; for you alone.")

report_options = flags(
    option("--format", list(REPORTS), "The form of the table.", to="report", default="text"),
    switch("--canonical", "Without timings and host facts."),
    switch("--details", "On a screen too: all facts below the table, as in a file."),
)
