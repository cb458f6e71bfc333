"""Registry of games, sandboxes, formats and reports, by name. Literal and read-only.

Adding a game, a sandbox backend, a format or a report is one file and one line here. Values are
import paths, so that naming what exists imports nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from arena.deals import Deals
    from arena.formats import Format
    from arena.games import Game
    from arena.model import Entrant, Settings, Table
    from arena.reports import TableReport
    from arena.sandbox import Backend

GAMES: Mapping[str, str] = {
    "play-nine": "arena.games.play_nine:GAME",
    "four-card-golf": "arena.games.four_card_golf:GAME",
}
DEFAULT_GAME = next(iter(GAMES))

# The first one whose live canary passes is taken; "none" confines nothing and is taken only
# when it is asked for by name.
SANDBOXES: Mapping[str, str] = {
    "bwrap": "arena.sandbox.bwrap:Bubblewrap",
    "landlock": "arena.sandbox.landlock:Landlock",
    "none": "arena.sandbox.none:Unconfined",
}

FORMATS: Mapping[str, str] = {
    "round-robin": "arena.formats.round_robin:RoundRobin",
    "gauntlet": "arena.formats.round_robin:Gauntlet",
    "racing": "arena.formats.race:Race",
    "trial": "arena.formats.trial:SequentialTrial",
    "ladder": "arena.formats.ladder:LadderRound",
    "single": "arena.formats.single:Single",
}


COMMAND_OF: Mapping[str, str] = {
    "trial": "arena compare",
    "ladder": "arena ladder round",
    "single": "arena play",
}
"""Formats that a command of their own plays; `--schedule` offers all others."""

REPORTS: Mapping[str, str] = {
    "text": "arena.reports.text:REPORT",
    "md": "arena.reports.markdown:REPORT",
    "csv": "arena.reports.csv_table:REPORT",
    "json": "arena.reports.json_table:REPORT",
}


def _load(kind: str, mapping: Mapping[str, str], name: str) -> Any:  # noqa: ANN401 - cast by callers
    if name not in mapping:
        from arena.model import UserError  # noqa: PLC0415 - naming what exists imports nothing

        raise UserError(f"there is no {kind} called {name!r}; there are: {', '.join(mapping)}")
    module, _, attribute = mapping[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def game(name: str) -> Game:
    return cast("Game", _load("game", GAMES, name))


def backend(name: str) -> Backend:
    return cast("Backend", _load("sandbox", SANDBOXES, name)())


def format_class(name: str) -> type[Format]:
    return cast("type[Format]", _load("format", FORMATS, name))


def schedule(settings: Settings, entrants: Sequence[Entrant], deals: Deals) -> Format:
    return format_class(settings.format)(settings, entrants, deals)


def report(name: str) -> TableReport:
    return cast("TableReport", _load("report format", REPORTS, name))


def render(
    table: Table,
    name: str,
    *,
    width: int | None = None,
    canonical: bool = False,
    color: bool = False,
    more: str = "",
) -> str:
    """A table as text. `width`, `color` and `more` are for terminals: see `View`."""
    from arena.reports import View  # noqa: PLC0415 - as above

    return report(name).render(table, View(width, canonical, color, more))


def table_files() -> dict[str, TableReport]:
    """The reports that are written beside an event's log, by the names of their files."""
    return {found.file: found for name in REPORTS if (found := report(name)).file}
