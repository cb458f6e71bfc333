"""Describe a mistake in a command line in one line, with what would be right."""

import re
import sys

import click

_LIKELY = 0.7  # nearer than click's own: "--version" is no likely slip for "--json"
_NAMED = 4  # commands that are named before it says that there are more


def message_of(error: click.UsageError) -> str:
    """The mistake, what would be right, and where help is."""
    where = error.ctx.command_path if error.ctx else "arena"
    if isinstance(error, click.NoSuchOption):
        text = _no_such_option(error)
    elif isinstance(error, click.BadParameter):
        text = _bad_value(error)
    else:
        text = error.format_message()
    return f"{' '.join(text.split())} (see: {where} --help)"


def _no_such_option(error: click.NoSuchOption) -> str:
    text, ctx = error.message, error.ctx
    if ctx is None:
        return text
    name = error.option_name
    own = [name for option in ctx.command.params for name in option.opts]
    from difflib import get_close_matches

    # An option that takes this as a value: --format json for --json.
    near = [
        f"{option.opts[0]} {value}"
        for option in ctx.command.params
        if isinstance(option.type, click.Choice)
        and (value := name.lstrip("-")) in option.type.choices
    ]
    if near := near or get_close_matches(name, own, cutoff=_LIKELY):
        return f"{text} Did you mean {' or '.join(near)}?"
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    have = [
        f"arena {command.name}"
        for command in root.commands.values()
        if any(name in option.opts for option in command.params)
    ]
    if not have:
        return text
    more = f" and {len(have) - _NAMED} more" if len(have) > _NAMED else ""
    verb = "has" if len(have) == 1 else "have"
    return f"{text} {', '.join(have[:_NAMED])}{more} {verb} it."


def _bad_value(error: click.BadParameter) -> str:
    text, kind = error.format_message(), error.param.type if error.param else None
    if isinstance(kind, click.IntRange | click.FloatRange):
        what = "whole number" if isinstance(kind, click.IntRange) else "number"
        if (low := kind.min) is not None:
            what += f" above {low}" if kind.min_open else f" from {low}"
        if (high := kind.max) is not None:
            what += f", below {high}" if kind.max_open else f" to {high}"
        elif kind.min is not None:
            what += " on"
        text = re.sub(r"is not (a valid \w+ range|in the range .*)\.$", f"is no {what}", text)
    return text


def need_linux() -> None:
    """Bots are confined by the Linux kernel; say what works elsewhere."""
    from arena import UserError

    if sys.platform != "linux":
        raise UserError(
            f"playing needs Linux (x86-64 or aarch64), this is {sys.platform}: use a virtual "
            "machine, a container or WSL 2; `arena table` and `arena log` work here"
        )
