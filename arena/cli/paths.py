"""Types of arguments that name a path, a bot, or a match; and what a shell completes them with.

Messages and commands for copying name the path, so it must be possible to name it in a line.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

_COMPLETED = 200  # ids that are offered: a log may hold a million
_READ_BYTES = 16 << 20  # of a log, for its ids: a shell waits for them


class PathName(click.Path):  # type: ignore[misc,unused-ignore] # newer click: generic
    """A path that names something: neither empty nor with control characters in it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - a string or a path, as was asked for
        text = os.fsdecode(value)
        if not text:
            # A path of no parts would be taken for the current folder.
            self.fail("the path is empty", param, ctx)
        if any(char < " " or "\x7f" <= char <= "\x9f" for char in text):
            from arena.reports.escape import plain

            self.fail(
                f"'{plain(text)}' has control characters in it: give it another name", param, ctx
            )
        return super().convert(value, param, ctx)


class BotPath(PathName):
    """The path of a bot, or the name of an example bot where no path of that name is."""

    def __init__(self, path_type: type[Any] | None = Path) -> None:
        super().__init__(path_type=path_type, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - a string or a path, as was asked for
        path = super().convert(value, param, ctx)
        text = os.fsdecode(value)
        if os.path.lexists(text) or (found := example(text)) is None:
            return path
        return self.coerce_path_result(str(found))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from arena.scaffolds import EXAMPLES

        names = [name for name in EXAMPLES if name.startswith(incomplete)]
        if not names:
            return super().shell_complete(ctx, param, incomplete)
        # bash forgets all words once it is told to look for paths itself, so they are listed too.
        with suppress(OSError):
            names += sorted(path.name for path in Path().iterdir() if path.name[0] != ".")
        return items(dict.fromkeys(names), incomplete)


def example(name: str) -> Path | None:
    from arena.scaffolds import example_bot

    return example_bot(name)


def items(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Words that begin like the one that is typed, for the shell."""
    found = (word for word in words if word.startswith(incomplete))
    return [CompletionItem(word) for word in islice(found, _COMPLETED)]


def _entrants(
    ctx: click.Context, _: click.Parameter, incomplete: str, *, epochs: bool
) -> list[CompletionItem]:
    from arena import UserError, open_results

    names: dict[str, None] = {}
    for folder in _folders(ctx):
        with suppress(UserError):
            results = open_results(folder)
            for each in (results, *(results.epochs if epochs else ())):
                for entrant in each.entrants:
                    names |= {entrant.name: None, entrant.id: None}
    return items(names, incomplete)


bots_of = partial(_entrants, epochs=False)
"""The bots of the results folders on the line, for the shell."""
rated_bots_of = partial(_entrants, epochs=True)
"""The same, with those that came later: a table has them, too."""


def matches_of(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.store import read_lines
    from arena.store.lines import head_of

    found: dict[str, None] = {}
    for folder in _folders(ctx):
        with suppress(OSError, ValueError):
            lines = read_lines(folder, stop=_READ_BYTES)
            ids = (head_of(line.body).id for line in lines if line.body is not None)
            found |= dict.fromkeys(islice((i for i in ids if i.startswith(incomplete)), _COMPLETED))
    return items(found, incomplete)


def _folders(ctx: click.Context) -> list[Path]:
    """The results folders that have been typed so far: what click has not parsed yet, too."""
    from arena.store import is_results_folder

    typed = [ctx.params.get(name) for name in ("folder", "folders", "transcript")]
    flat = [path for each in typed for path in (each if isinstance(each, tuple) else (each,))]
    return [Path(path) for path in (*flat, *ctx.args) if path and is_results_folder(Path(path))]
