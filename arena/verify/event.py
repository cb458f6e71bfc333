"""Check event.json: its checksum, spelling, commitment and state.

Invariant: a `VerifiedEvent` has passed every check that is possible without the log.
"""

import functools
import re
from pathlib import Path

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from arena import registry
from arena.deals import Deals, commitment, with_beacon
from arena.formats import Format
from arena.formats.shards import Shard
from arena.games import Game
from arena.luck import evaluator_name
from arena.model import Event, UserError, canonical
from arena.referee import HOLES
from arena.store import Announced, read_event_file, read_private
from arena.store.files import read_small
from arena.store.folder import EventFile, OtherVersionError, decode_event_file
from arena.store.lines import strip_checksum
from arena.verify.findings import EVENT, refused, unlike_bytes

_SECRET = re.compile(r"[0-9a-f]{64}")


class VerifiedEvent(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    folder: Path
    event: Event
    announced: Announced
    secret: bytes | None  # None: not revealed yet, so what follows from it can't be verified

    @functools.cached_property
    def deals(self) -> Deals:
        assert self.secret is not None
        return Deals(with_beacon(self.secret, self.event.beacon))

    @functools.cached_property
    def schedule(self) -> Format:
        return registry.schedule(self.event.settings, self.event.entrants, self.deals)

    @property
    def game(self) -> Game:
        return registry.game(self.event.settings.game)


def verified_event(folder: Path, *, published: str | None = None) -> VerifiedEvent:
    """DiffersError if event.json, or the `published` commitment, isn't true; UserError if that
    can't be judged here.
    """
    file = _event_file(folder)
    event, announced = file.event, file.announced
    _check_rules(folder, event)
    if published is not None and published.strip().lower() != event.commitment:
        raise _differs("commitment", f"the published one, {published}", event.commitment)
    _check_state(event)
    secret = event.secret
    if not secret and (private := read_private(folder)):
        secret = private.secret
    if secret and not _SECRET.fullmatch(secret):
        raise _differs("secret", "64 hex digits", secret)
    revealed = bytes.fromhex(secret) or None
    case = VerifiedEvent(folder=folder, event=event, announced=announced, secret=revealed)
    if revealed is None:
        return case
    bound = commitment(revealed, announced.settings, event.entrants)
    if bound != event.commitment:
        due = f"that of secret, settings and entrants, {bound}"
        raise _differs("commitment", due, event.commitment)
    if event.shard and case.schedule.adaptive:
        raise _differs("shard", f"none, as {event.settings.format} is played whole", event.shard)
    return case


def _event_file(folder: Path) -> EventFile:
    try:
        line = read_small(folder / EVENT)
    except (OSError, UserError):
        return read_event_file(folder)  # says what is wrong
    body = strip_checksum(line[:-1])
    if body is None or not line.endswith(b"\n"):
        raise _differs("checksum", "one that fits the file", "another: the file is damaged")
    try:
        file = decode_event_file(folder / EVENT, line)
    except OtherVersionError:
        raise
    except UserError as error:
        raise _differs("content", "an event", str(error).partition(": ")[2]) from None
    if file.event.settings.rule > 1:
        # Nothing in it that isn't read; what is in the settings is for the commitment.
        right = canonical(replace(file.event, settings=file.announced.settings))
        if body != right:
            raise _differs("spelling", *unlike_bytes(right, body))
    return file


def _check_rules(folder: Path, event: Event) -> None:
    settings = event.settings
    game = registry.game(settings.game)
    mine, unlike = evaluator_name(game), ""
    if settings.game_version != game.version:
        played = f"played by version {settings.game_version} of {settings.game}"
        unlike = f"{played}, this arena has version {game.version}"
    elif settings.holes is not UNSET and settings.holes != HOLES:
        unlike = f"played over {settings.holes} holes, this arena plays {HOLES}"
    elif settings.evaluator and settings.evaluator != mine:
        measured = f"luck was measured by {settings.evaluator}"
        unlike = f"{measured}, this arena's evaluator is {mine or 'none'}"
    if unlike:
        by = f", {event.machine.arena}" if event.machine.arena else ""
        raise UserError(f"{folder}: {unlike}; verify it with the arena that it was played with{by}")
    if not game.min_seats <= settings.seats <= game.max_seats:
        raise _differs("seats", f"{game.min_seats} to {game.max_seats}", str(settings.seats))


def _check_state(event: Event) -> None:
    if event.shard:
        try:
            Shard.parse(event.shard)
        except UserError:
            raise _differs("shard", "one of how many, like 2/5", event.shard) from None
    over, source = event.finished, event.settings.beacon
    for wrong, what, expected, found in (
        (event.shard and over, "finished", f"false, as this is shard {event.shard}", "true"),
        (over and not event.secret, "secret", "that of an event that is over", "none"),
        (event.secret and not over, "finished", "true, as the secret is revealed", "false"),
        (event.beacon and not source, "beacon", "none, as none was announced", event.beacon),
        (over and source and not event.beacon, "beacon", f"the value of {source}", "none"),
    ):
        if wrong:
            raise _differs(what, expected, found)


_differs = functools.partial(refused, file=EVENT)
