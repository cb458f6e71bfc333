"""Read an event file: TOML with any flag of `arena run`, as the defaults of a command's flags.

Its keys are the flags without dashes, `bots` is the list of paths. A flag given on the command
line wins over the file. protocol/schema/event-file.json describes it for editors.
"""

import re
from pathlib import Path
from typing import Any

import click

NOT_IN_FILES = (
    *("--event", "--help", "--beacon", "--shard", "--into", "--retire"),
    *("--live", "--live-host", "--live-stay"),
    *("--on", "--tls-ca", "--tls-cert", "--tls-key"),
)
"""Flags that are no settings of an event: their values are known only when it is played."""


def read_defaults(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """The callback of `--event`: turn the file into this command's defaults."""
    if value is None:
        return None
    import tomllib

    try:
        text = value.read_bytes().decode("utf-8-sig")
        content = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise click.BadParameter(f"{value}: {why}", ctx, param) from None
    known = {key: option for option in ctx.command.params if (key := key_of(option))}
    defaults: dict[str, Any] = {}
    for key, given in content.items():
        where = f"{value}:{_line_of(text, key)}"
        option = known.get(key)
        if option is None:
            import difflib

            near = difflib.get_close_matches(key, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise click.BadParameter(f"{where}: there is no setting {key!r}{hint}", ctx, param)
        assert option.name is not None
        try:
            defaults[option.name] = _checked(option, given, value.parent)
        except (TypeError, click.BadParameter) as error:
            message = error.message if isinstance(error, click.BadParameter) else str(error)
            raise click.BadParameter(f"{where}: {key}: {message}", ctx, param) from None
    ctx.default_map = {**(ctx.default_map or {}), **defaults}
    return value


def key_of(option: click.Parameter) -> str:
    """The event file's key of a flag: its long name without dashes; empty if it has none."""
    if isinstance(option, click.Argument):
        return "bots"
    name = next(name for name in option.opts if name.startswith("--"))
    return "" if name in NOT_IN_FILES else name.removeprefix("--")


def _checked(option: click.Parameter, given: Any, folder: Path) -> Any:  # noqa: ANN401 - TOML
    if isinstance(option, click.Argument):
        if not (isinstance(given, list) and given and all(isinstance(p, str) for p in given)):
            raise TypeError('expected a list of paths, like ["bots/*"]')
        for pattern in given:
            option.type.convert(pattern, option, None)
        return tuple(path for pattern in given for path in _expand(folder, pattern))
    assert isinstance(option, click.Option)
    if option.is_flag:
        if not isinstance(given, bool):
            raise TypeError("expected true or false")
        return given
    if option.multiple:
        if not (isinstance(given, list) and all(isinstance(each, str) for each in given)):
            raise TypeError('expected a list of texts, like ["my-bot"]')
        for each in given:
            option.type.convert(each, option, None)
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
    if kind.name == "size":
        return "a whole number of MB, or text like '2GB'", (int, str)
    if isinstance(kind, click.FloatRange):
        return "a number", (int, float)
    return "text in quotes", (str,)


def _expand(folder: Path, pattern: str) -> list[str]:
    """The paths of a pattern, relative to the event file; itself when nothing matches."""
    if not any(letter in pattern for letter in "*?["):
        from arena.cli.paths import example

        beside = folder / pattern
        return [str(beside if beside.exists() else example(pattern) or beside)]
    import glob

    found = sorted(glob.glob(str(folder / pattern)))  # noqa: PTH207 - absolute patterns too
    return found or [str(folder / pattern)]


def _line_of(text: str, key: str) -> int:
    begins = re.compile(rf'\s*["\']?{re.escape(key)}["\']?\s*=')
    return next((at for at, line in enumerate(text.splitlines(), 1) if begins.match(line)), 1)
