"""`arena new`: write the folder of a bot that runs, in a language of the author's choice.

Writes one new folder and nothing else; what exists is never touched. Invariant: after an error or
an interruption no part of the folder is left.
"""

from __future__ import annotations

import errno
import shlex
import shutil
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from arena.cli.flags import Helped, switch
from arena.cli.paths import PathName, items

if TYPE_CHECKING:
    from arena.scaffolds import Scaffold

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EIO}
"""Errors that are the machine's trouble; all others are about the path that was named."""


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.scaffolds import SCAFFOLDS

    return items(SCAFFOLDS, incomplete.lower())


@click.command(cls=Helped, short_help="Write a bot that runs into the new folder NAME.")
@click.argument("language", required=False, shell_complete=_complete)
@click.argument("path", metavar="[NAME]", required=False, type=PathName(readable=False))
@switch("--list", "Print which languages there are, and stop.", to="as_list")
def new(language: str | None, path: str | None, *, as_list: bool) -> None:
    from arena.model import UserError
    from arena.scaffolds import SCAFFOLDS, render
    from arena.terminal.screen import show

    if as_list or language is None:
        show(_languages())
        return
    which = _which(language, path)
    if path is None:
        raise UserError(f"a name for the bot is missing, for instance: arena new {which} my-bot")
    folder = Path(path)
    _write(folder, render(which, _name(path)))
    show(_next_steps(path, folder, SCAFFOLDS[which]))


def _which(language: str, path: str | None) -> str:
    from arena.bots.plain_text import did_you_mean, printable
    from arena.model import UserError
    from arena.scaffolds import SCAFFOLDS, any_language, names

    words = names()
    word = language.casefold()
    if word not in words:
        if path is not None and path.casefold() in words:
            raise UserError(f"the language comes first: arena new {path} {printable(language, 40)}")
        # A slip of the keys keeps the first letter; another language ("haskell") is no slip.
        near = did_you_mean(word, {each for each in words if each[0] == word[:1] and each[2:]})
        wrong = (
            f"there is no bot in '{printable(language, 40)}' to begin with"
            f"{near}; there are: {', '.join(SCAFFOLDS)}"
        )
        if not near:
            wrong += "\n" + any_language().replace("$name", _name(path or "my-bot"))
        raise UserError(wrong)
    return words[word]


def _name(path: str) -> str:
    """The bot's name; UserError if a manifest doesn't allow it."""
    from arena.bots.plain_text import printable
    from arena.model import UserError, label_fault

    name = unicodedata.normalize("NFC", Path(path).name)
    if name in {"", ".."}:
        raise UserError(f"NAME: '{printable(path)}' names no new folder, as my-bot would")
    if fault := label_fault(name):
        raise UserError(f"NAME: '{printable(name)}' can't be a bot's name: {fault}")
    return name


def _write(folder: Path, content: dict[str, bytes]) -> None:
    """Make the folder with its files, or nothing."""
    from arena.bots.plain_text import printable
    from arena.model import HostError, UserError

    shown = printable(folder)
    made = False
    try:
        folder.mkdir()
        made = True
        for name, data in content.items():
            (folder / name).write_bytes(data)
    except BaseException as e:
        if made:
            shutil.rmtree(folder, ignore_errors=True)
        if not isinstance(e, OSError):
            raise
        if isinstance(e, FileExistsError):
            what = f"{shown} exists already; nothing in it was changed: choose another name"
        elif isinstance(e, FileNotFoundError):
            parent = printable(folder.parent)
            what = f"there is no folder {parent} to make {shown} in: make it first"
        else:
            what = f"can't write {shown}: {e.strerror}"
        raise (HostError if e.errno in _FULL else UserError)(what) from e


def _next_steps(path: str, folder: Path, scaffold: Scaffold) -> list[str]:
    from arena.bots.plain_text import printable

    words = shlex.quote(f"./{path}" if path.startswith("-") else path)
    check, match = f"arena check {words}", f"arena match {words} OTHER-BOT --watch"
    return [
        f"{printable(folder)}: a bot in {scaffold.language}",
        f"  {scaffold.sources[0]}: your strategy goes into {scaffold.function}",
        *(f"note: it {problem}" for problem in _missing(scaffold)),
        f"  {check:{len(match)}}  does it keep to the protocol?",
        f"  {match}  see it play",
    ]


def _missing(scaffold: Scaffold) -> list[str]:
    """The first of its programs that this machine doesn't have, as "needs 'x', which ..."."""
    from arena.bots.interpreters import HiddenToolError, MissingToolError, Toolbox

    toolbox = Toolbox()
    try:
        for tool in scaffold.tools:
            toolbox.find(tool)
    except (MissingToolError, HiddenToolError) as e:
        return [str(e)]
    return []


def _languages() -> list[str]:
    from arena.scaffolds import SCAFFOLDS

    width = max(map(len, SCAFFOLDS))
    return [
        f"{name:{width}}  {(_missing(scaffold) or ['ready to use'])[0]}"
        for name, scaffold in SCAFFOLDS.items()
    ]
