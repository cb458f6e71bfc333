"""ladder.toml: what the organiser decides, and the commented file that a new ladder begins with."""

from __future__ import annotations

import re
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from arena import registry
from arena.event.options import EventOptions
from arena.luck import evaluator_name
from arena.model import Frozen, Limits, UserError
from arena.model.fields import Bytes, Milliseconds
from arena.store.files import read_small

FILE = "ladder.toml"
HOUR = 3_600.0
DAY = 24 * HOUR

Name = Annotated[str, Meta(min_length=1, max_length=100)]
_Many = Annotated[int, Meta(ge=1, le=5_000_000)]


class GameRules(
    Frozen,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename="kebab",
    omit_defaults=True,
):
    """A game of the ladder: what a bot may use in it. Defaults as of `arena run`."""

    move_ms: Milliseconds = Limits().move_ms
    match_ms: Milliseconds = Limits().match_ms
    start_ms: Milliseconds = Limits().start_ms
    memory_mb: Annotated[int, Meta(ge=1, le=1 << 20)] = Limits().memory_mb
    tasks: Annotated[int, Meta(ge=1, le=100_000)] = Limits().tasks
    scratch_mb: Annotated[int, Meta(ge=0, le=1 << 16)] = Limits().scratch_mb
    stderr_bytes: Bytes = Limits().stderr_bytes

    @property
    def limits(self) -> Limits:
        return Limits(**{name: getattr(self, name) for name in self.__struct_fields__})


class LadderRules(
    Frozen,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename="kebab",
    omit_defaults=True,
):
    """What decides results: the chain has it, and each change of it."""

    name: Name
    games: Annotated[dict[str, GameRules], Meta(min_length=1, max_length=20)]
    anonymous: bool = False
    """Whether authors appear under pseudonyms in everything that can be published."""
    matches: _Many = 3_000
    """Of a game in a round."""
    final_matches: _Many = 20_000
    close: Annotated[float, Meta(ge=0, le=1000)] = 2.0
    """Strokes a match: two shown to differ by less needn't be told apart."""
    freeze: datetime | None = None
    """From this moment on nothing is accepted."""
    seed: Annotated[str, Meta(max_length=200)] = ""
    """Deals that can be known beforehand, for tests; empty: secret ones."""

    def event(self, game: str) -> EventOptions:
        limits = self.games[game].limits
        return EventOptions(game=game, deals=5, rate_on="adjusted", limits=limits, name=self.name)


class Intake(
    Frozen,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename="kebab",
    omit_defaults=True,
):
    """How submissions are taken in; it is not in the chain."""

    listed: bool = False
    """Whether only authors in authors.csv may submit."""
    per_day: Annotated[int, Meta(ge=1, le=10_000)] = 20
    """Submissions of an author in 24 hours; more wait."""
    unpacked_mb: Annotated[int, Meta(ge=1, le=4096)] = 64
    files: Annotated[int, Meta(ge=1, le=20_000)] = 2_000


class Schedule(
    Frozen,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename="kebab",
    omit_defaults=True,
):
    """When `arena ladder watch` plays; it is not in the chain."""

    hours: Annotated[float, Meta(ge=0.01, le=8760)] = 24.0
    """From the begin of a round to the next."""


class LadderFile(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    rules: LadderRules
    intake: Intake = Intake()
    schedule: Schedule = Schedule()


def read_rules(folder: Path) -> LadderFile:
    """UserError with the place of what is wrong in ladder.toml."""
    path = folder / FILE
    try:
        text = read_small(path).decode("utf-8-sig")
        content = tomllib.loads(text)
    except FileNotFoundError:
        raise UserError(
            f"{folder}: not a ladder: it has no {FILE}; begin one with: arena ladder init {folder}"
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{path}: {why}") from None
    apart = {name: content.pop(name, {}) for name in ("intake", "schedule")}
    try:
        found = msgspec.convert({"rules": content, **apart}, LadderFile)
    except msgspec.ValidationError as error:
        raise UserError(f"{path}{_where(str(error), text)}") from None
    for game in found.rules.games:
        try:
            rules = registry.game(game)
        except UserError as error:
            raise UserError(f"{path}: {error}") from None
        if not evaluator_name(rules):
            raise UserError(f"{path}: {game} has no measure of luck, which a ladder rates on")
    if found.rules.freeze and found.rules.freeze.tzinfo is None:
        raise UserError(f"{path}: freeze: say the zone, too, like 2026-12-18T23:59:00+01:00")
    return found


def _where(error: str, text: str) -> str:
    """Msgspec's message with the line of the key that it is about."""
    what, _, place = error.rpartition(" - at `$")
    if not what:
        what, place = error, ""
    key = place.rstrip("`").rpartition(".")[2]
    if unknown := re.search(r"unknown field `([^`]*)`", what):
        key, what = unknown[1], f"there is no setting {unknown[1]!r}"
    lines = enumerate(text.splitlines(), 1)
    begins = re.compile(rf"\s*\[?[^=\]]*\b{re.escape(key)}\b") if key else None
    number = next((at for at, line in lines if begins and begins.match(line)), 0)
    shown = f"{key}: " if key and not unknown else ""
    return f"{f':{number}' if number else ''}: {shown}{what[:1].lower()}{what[1:]}"


def template(name: str) -> str:
    """The content of a new ladder.toml."""
    games = "\n".join(f"[games.{game}]" for game in registry.GAMES)
    return _TEMPLATE.format(name=_quoted(name), games=games)


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


_TEMPLATE = """\
# A ladder: see `arena ladder --help`. Lines with a # show defaults.

name = {name}
# anonymous = false     # true: authors appear under pseudonyms in all that can be published
# matches = 3000        # of each game, a round
# final-matches = 20000 # of each game, at the end
# close = 2.0           # strokes a match that needn't be told apart
# freeze = 2026-12-18T23:59:00+01:00   # nothing is accepted from then on

# The games, each with what a bot may use in it.
{games}
# move-ms = 1000
# memory-mb = 512

[intake]
# listed = false        # true: only authors in authors.csv (columns: id, name, group)
# per-day = 20          # submissions of an author in 24 hours; more wait
# unpacked-mb = 64      # of a submission
# files = 2000

[schedule]
# hours = 24            # `arena ladder watch` begins a round so many hours after the last
"""


def known(rules: LadderRules) -> dict[str, Any]:
    """Rules as the chain has them."""
    found: dict[str, Any] = msgspec.to_builtins(rules)
    return found
