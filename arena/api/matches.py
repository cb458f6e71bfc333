"""Play one match between bots, functions, or both; replay a recorded one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena.api.paths import PathName, bot_path
from arena.api.results import open_results
from arena.api.threads import call
from arena.engine.in_process import Policy
from arena.event import single_match
from arena.event.options import MatchOptions
from arena.event.single_match import SingleMatch, Watch
from arena.machine import Notify, ignore_notes
from arena.replay.steps import MatchSteps

_ANY_MATCH = MatchOptions()


def play_match(
    bots: Sequence[PathName | Policy],
    options: MatchOptions = _ANY_MATCH,
    *,
    sandbox: str = "auto",
    talk: PathName | None = None,
    watch: Watch | None = None,
    notify: Notify = ignore_notes,
) -> SingleMatch:
    """Play one match, the first bot in seat 0. A bot is a path, or a function of a view and the
    legal moves; a match between functions alone starts no process. `talk`: a folder for every line
    said.
    """
    seats = [bot if callable(bot) else bot_path(bot) for bot in bots]
    folder = None if talk is None else Path(talk)
    return call(
        lambda: single_match.play_match(
            seats, options, notify, sandbox=sandbox, talk=folder, watch=watch
        )
    )


def replay_match(folder: PathName, match: str, *, attempt: int | None = None) -> MatchSteps:
    """A recorded match move by move, with all cards and the luck of each move."""
    return open_results(folder).steps(match, attempt=attempt)
