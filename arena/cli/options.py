"""The flags of `arena run`, and the event file that can hold every one of them.

An event file is TOML; its keys are the flags without dashes, `bots` is the list of paths. A
flag given on the command line wins over the file. protocol/schema/event-file.json describes
it for editors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from arena.cli.paths import PathName
from arena.registry import GAMES, SANDBOXES

F = TypeVar("F", bound=Callable[..., Any])

NOT_IN_FILES = (
    *("--event", "--help", "--beacon", "--shard", "--into"),
    *("--live", "--live-host", "--live-stay"),
    *("--on", "--tls-ca", "--tls-cert", "--tls-key"),
)
"""Flags that are no settings of an event: what is known only when it is played."""

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


class Duration(click.ParamType):  # type: ignore[type-arg,unused-ignore] # newer click: generic
    """A time: 500ms, 1.5s, 2m, 3h, never a bare number. The value is milliseconds."""

    name = "time"
    least_ms = 1

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """Read it, or say what it should look like."""
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)\s*", str(value))
        if match is None:
            self.fail(f"{value!r} is no time: say the unit, like 500ms, 1.5s, 2m, 3h", param, ctx)
        milliseconds = round(float(match[1]) * _UNITS[match[2]])
        if milliseconds < self.least_ms:
            self.fail(f"{value!r} is no time to do anything in", param, ctx)
        return milliseconds


class Megabytes(click.ParamType):  # type: ignore[type-arg,unused-ignore] # newer click: generic
    """An amount of memory: 512, 512MB, 2GB, 1.5 GiB. A bare number, and the value, are MiB."""

    name = "megabytes"
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
        """Read it, or say what it should look like."""
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
        """Read it, or say what it should look like."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


def _load_event_file(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Turn an event file into this command's defaults."""
    if value is None:
        return None
    import tomllib

    try:
        text = value.read_bytes().decode("utf-8-sig")
        content = tomllib.loads(text)
    except OSError as error:
        raise click.BadParameter(f"{value}: {error.strerror}", ctx, param) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise click.BadParameter(f"{value}: {error}", ctx, param) from None
    known = {_key(option): option for option in ctx.command.params if _key(option)}
    defaults: dict[str, Any] = {}
    for key, given in content.items():
        option = known.get(key)
        if option is None:
            import difflib

            near = difflib.get_close_matches(key, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            line = _line_of(text, key)
            message = f"{value}:{line}: there is no setting {key!r}{hint}"
            raise click.BadParameter(message, ctx, param)
        assert option.name is not None
        try:
            defaults[option.name] = _checked(option, given, value.parent)
        except (TypeError, click.BadParameter) as error:
            line = _line_of(text, key)
            message = error.message if isinstance(error, click.BadParameter) else str(error)
            raise click.BadParameter(f"{value}:{line}: {key}: {message}", ctx, param) from None
    ctx.default_map = {**(ctx.default_map or {}), **defaults}
    return value


def _key(option: click.Parameter) -> str:
    """The event file's key of a flag: its long name without dashes."""
    if isinstance(option, click.Argument):
        return "bots"
    name = next(name for name in option.opts if name.startswith("--"))
    return "" if name in NOT_IN_FILES else name.removeprefix("--")


def _checked(option: click.Parameter, given: Any, folder: Path) -> Any:  # noqa: ANN401 - TOML
    """A value of an event file in the form that its flag takes."""
    if isinstance(option, click.Argument):
        if not (isinstance(given, list) and given and all(isinstance(p, str) for p in given)):
            raise TypeError('expected a list of paths, like ["bots/*"]')
        for pattern in given:
            option.type.convert(pattern, option, None)
        return tuple(path for pattern in given for path in _expand(folder, pattern))
    if isinstance(option, click.Option) and option.is_flag:
        if not isinstance(given, bool):
            raise TypeError("expected true or false")
        return given
    if isinstance(option, click.Option) and option.multiple:
        if not (isinstance(given, list) and all(isinstance(each, str) for each in given)):
            raise TypeError('expected a list of texts, like ["my-bot"]')
        return tuple(given)
    kind, wanted = _taken(option.type)
    if isinstance(given, bool) or not isinstance(given, wanted):
        raise TypeError(f"expected {kind}, got {given!r}")
    option.type.convert(given, option, None)
    return str(folder / str(given)) if option.name == "out" else given


def _taken(kind: Any) -> tuple[str, tuple[type, ...]]:  # noqa: ANN401 - generic in newer click
    """What an event file may hold for such a flag, in words and in types."""
    if isinstance(kind, click.IntRange):
        return "a whole number", (int,)
    if isinstance(kind, Megabytes):
        return "a whole number of MB, or text like '2GB'", (int, str)
    if isinstance(kind, click.FloatRange):
        return "a number", (int, float)
    return "text in quotes", (str,)


def _expand(folder: Path, pattern: str) -> list[str]:
    """The paths of a pattern, relative to the event file; itself when nothing matches."""
    if not any(letter in pattern for letter in "*?["):
        return [str(folder / pattern)]
    import glob

    found = sorted(glob.glob(str(folder / pattern)))  # noqa: PTH207 - absolute patterns too
    return found or [str(folder / pattern)]


def _line_of(text: str, key: str) -> int:
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf'\s*["\']?{re.escape(key)}["\']?\s*=', line):
            return number
    return 1


def limit_options(command: F) -> F:
    """Give a command the flags that say what bots may use."""
    for flag in reversed(_limits()):
        command = flag(command)
    return command


def _limits() -> list[Callable[[Any], Any]]:
    at_least_one = click.IntRange(min=1)
    time = Duration()
    return [
        click.option(
            "--turn-cap", type=at_least_one, metavar="N", help="Turns a player and hole at most."
        ),
        click.option(
            "--move-time", type=time, default="1s", show_default=True, help="Time for a decision."
        ),
        click.option(
            "--match-time",
            type=time,
            default="60s",
            show_default=True,
            help="Time for a bot's decisions in a match.",
        ),
        click.option(
            "--start-time",
            type=time,
            default="10s",
            show_default=True,
            help="Time for a bot to start.",
        ),
        click.option(
            "--memory",
            type=Megabytes(1, 1 << 20),
            default=512,
            show_default=True,
            metavar="MB",
            help="Memory for a bot; or with a unit, like 2GB.",
        ),
        click.option(
            "--tasks",
            type=click.IntRange(1, 100_000),
            metavar="N",
            default=64,
            show_default=True,
            help="Processes and threads for a bot.",
        ),
        click.option(
            "--scratch",
            type=Megabytes(0, 1 << 16),
            metavar="MB",
            default=16,
            show_default=True,
            help="Private /tmp at most for a bot that asks for one.",
        ),
        click.option("--freeze", is_flag=True, help="Bots stand still while it isn't their turn."),
    ]


def event_options(command: F) -> F:
    """Give a command the arguments and flags that describe an event."""
    at_least_one = click.IntRange(min=1)
    flags = [
        click.argument("bots", nargs=-1, type=PathName(path_type=Path, readable=False)),
        click.option(
            "--event",
            type=PathName(path_type=Path),
            is_eager=True,
            expose_value=False,
            callback=_load_event_file,
            help="TOML file with any of these settings, and `bots`.",
        ),
        click.option(
            "--game",
            type=click.Choice(list(GAMES)),
            default="play-nine",
            show_default=True,
            help="What is played.",
        ),
        click.option(
            "--seats",
            type=click.IntRange(2, 8),
            metavar="N",
            default=2,
            show_default=True,
            help="Bots at a table: all subsets of that size meet.",
        ),
        click.option(
            "--tables",
            type=at_least_one,
            metavar="N",
            help="Only that many tables, balanced in who meets whom.",
        ),
        click.option(
            "--deals",
            type=at_least_one,
            metavar="N",
            default=10,
            show_default=True,
            help="Deals a table; each is played in every seat rotation.",
        ),
        click.option(
            "--gauntlet",
            metavar="BOT",
            multiple=True,
            help="Only BOT, by name or path, meets all others; can be given again.",
        ),
        click.option(
            "--until-resolved",
            is_flag=True,
            help="Race: after --deals for every pair, only where the order is open.",
        ),
        click.option(
            "--budget", type=at_least_one, metavar="N", help="Of a race: matches at most."
        ),
        click.option(
            "--close",
            type=Finite(0, 1000),
            metavar="STROKES",
            help="Of a race: a difference a match that needn't be told apart.  [default: 2]",
        ),
        click.option(
            "--rate-on",
            type=click.Choice(["results", "adjusted"]),
            help="Results as played, or strokes less luck.  [default: results; in a race adjusted]",
        ),
        click.option(
            "--no-luck",
            is_flag=True,
            help="Don't measure luck: saves a millisecond or two a match.",
        ),
        click.option(
            "--series",
            type=at_least_one,
            metavar="N",
            default=25,
            show_default=True,
            help="Matches that a bot's process plays before it is replaced.",
        ),
        click.option(
            "--fresh",
            type=click.Choice(["series", "match"]),
            default="series",
            show_default=True,
            help="`match`: fresh processes for every match, like --series 1.",
        ),
        click.option("--playoff", is_flag=True, help="Ties for first go to sudden death."),
        click.option(
            "--no-same-author",
            is_flag=True,
            help="Bots of one author don't meet.",
        ),
        click.option(
            "--seed",
            type=str,
            help="Deals from this seed: repeatable, and labelled predictable.",
        ),
        *_limits(),
        click.option(
            "--skip-broken", is_flag=True, help="Go on without bots that can't take part."
        ),
        click.option(
            "--out",
            type=PathName(path_type=Path),
            help="Results folder.  [default: arena-results/DATE-TIME]",
        ),
    ]
    for flag in reversed(flags):
        command = flag(command)
    return command


def sandbox_option(default: str | None) -> Callable[[F], F]:
    """Give a command the choice of a sandbox."""
    return click.option(
        "--sandbox",
        type=click.Choice(["auto", *SANDBOXES]),
        default=default,
        show_default=default is not None,
        help="`none` confines nothing and is shown in the table.",
    )


def run_options(command: F) -> F:
    """Give a command the flags that say how an event is run here; they change no result."""
    flags = [
        click.option("--beacon", metavar="VALUE", help="Of a prepared event: its public value."),
        click.option(
            "--jobs",
            type=click.IntRange(min=1),
            metavar="N",
            help="Matches at a time.  [default: one a core that this process is given]",
        ),
        click.option(
            "--no-pin",
            is_flag=True,
            help="Let workers and bots move between cores: slower, and times are less even.",
        ),
        click.option(
            "--max-time",
            type=Duration(),
            help="Stop after this time and the match in play; resume later.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Events as JSON lines on stdout."),
        click.option("--quiet", "-q", is_flag=True, help="Neither progress nor notes on stderr."),
    ]
    for flag in reversed(flags):
        command = flag(command)
    return command
