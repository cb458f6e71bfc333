"""Play matches of a person against bots, each an event of its own.

Theory of operation. Each match has a secret, a commitment that the person gets before the first
card, and a folder. Nothing is written before the match is over, so one that is left leaves
nothing; then the folder is made at once, with the secret revealed.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack
from pathlib import Path

import msgspec
import trio

from arena import registry
from arena.bots import default_cache, in_use
from arena.deals import commitment, secret_from_seed
from arena.engine.match import FinishedMatch, MatchContext
from arena.engine.pipes import open_pipes
from arena.event.commands import command_line
from arena.event.options import MatchOptions
from arena.event.results import first_wave, schedule_of
from arena.event.workshop import SKIP, Workshop, context_of, seat_bots
from arena.executors.cores import one_core
from arena.games import Game
from arena.machine import Notify
from arena.machine.facts import played_here
from arena.machine.preflight import SETTINGS
from arena.model import (
    LONGEST_LABEL,
    Bot,
    Entrant,
    Event,
    MatchSpec,
    Settings,
    UserError,
    label_fault,
)
from arena.play.desk import Desk
from arena.play.seat import Person, PersonLeft, play_with_person
from arena.reports.escape import plain
from arena.sandbox import Backend
from arena.store import Private, Store, claim_folder, staged_folder

PERSON = "person"
"""The version of an entrant that is no program; it has no hash."""
LEFT = "left: the match isn't counted, and nothing of it is kept"


Guest = Callable[[], AbstractAsyncContextManager[Person]]
"""A person at a terminal or a page, which is theirs within the context."""


def play_against(
    bots: Sequence[Path],
    options: MatchOptions,
    guest: Guest,
    say: Notify,
    *,
    seat: int,
    name: str,
    seed: str | None,
    out: Path | None,
    sandbox: str,
) -> bool:
    """Play match after match, until the person leaves. False: the person interrupted it."""
    person = _person(name)
    _seatable(len(bots), seat, registry.game(options.game))
    cache = default_cache()
    with ExitStack() as stack:

        def place(number: int) -> AbstractContextManager[Path]:
            named = out.with_name(f"{out.name}-{number}") if out and number > 1 else out
            return claim_folder(named, "play-")

        with place(1) as folder:
            pass  # it is available; a match that is killed before its end leaves none
        stack.enter_context(in_use(cache))
        options = msgspec.structs.replace(options, freeze=True)
        settings = msgspec.structs.replace(options.settings(len(bots) + 1, say), format="single")
        workshop = Workshop(
            settings.limits,
            say,
            folder,
            sandbox=sandbox,
            seats=len(bots),
            jobs=1,
            flags=SETTINGS,
            way_out=f"more: {command_line('check', *dict.fromkeys(bots))}",
        )
        ready, _ = workshop.enter(seat_bots(bots, cache, _renamed, [person]), settings.limits)
        if len(ready) < len(bots):
            raise UserError("a match needs all the bots that were named")
        session = PlaySession(settings, ready, workshop.backend, person, seat=seat, seed=seed)
        workshop.way_out = SKIP
        workshop.start(session.context(bytes(32)))
        return _play(session, guest, place, say)


def _person(name: str) -> Entrant:
    if fault := label_fault(name):
        raise UserError(f"--name {plain(name)}: {fault}")
    return Entrant(id=f"{name}@{PERSON}", name=name, version=PERSON, hash="")


def _seatable(bots: int, seat: int, rules: Game) -> None:
    if not bots:
        raise UserError("name the bots to play against, for instance: arena play bots/a")
    if not rules.min_seats <= bots + 1 <= rules.max_seats:
        raise UserError(
            f"{bots} bots and you: {rules.name} is for {rules.min_seats} to {rules.max_seats} "
            f"players, so name {rules.max_seats - 1} at most"
        )
    if seat > bots:
        raise UserError(f"--seat {seat}: with {bots + 1} at the table seats are 0 to {bots}")


def _renamed(entrant: Entrant, number: int) -> Entrant:
    """Name a bot that is at the table a second time."""
    name = f"{entrant.name[: LONGEST_LABEL - 4]}-{number}"
    return msgspec.structs.replace(entrant, id=f"{name}@{entrant.version}", name=name)


# ------------------------------------------------------------------------------------- the match


class PlaySession:
    """Matches between the same players, each with cards of its own."""

    def __init__(
        self,
        settings: Settings,
        bots: Sequence[Bot],
        backend: Backend,
        person: Entrant,
        *,
        seat: int,
        seed: str | None,
    ) -> None:
        others = [bot.entrant for bot in bots]
        self.entrants = (*others[:seat], person, *others[seat:])
        """By seat."""
        self.settings = msgspec.structs.replace(
            settings,
            heroes=tuple(entrant.id for entrant in self.entrants),
            predictable=seed is not None,
        )
        self.seat = seat
        self.backend = backend
        entrants = tuple(sorted(self.entrants, key=lambda entrant: entrant.id))
        self._event = played_here(
            Event(
                settings=self.settings,
                entrants=entrants,
                commitment="",
                predictable=seed is not None,
            ),
            backend,
        )
        self._bots = bots
        self._seed = seed
        self.playing = False
        """Whether a match has begun that is not written yet."""

    def context(self, secret: bytes) -> MatchContext:
        return context_of(self.settings, secret, self._bots, self.backend)

    def secret(self, number: int) -> bytes:
        if self._seed is None:
            return secrets.token_bytes(32)
        return secret_from_seed(self._seed if number == 1 else f"{self._seed}/{number}")

    def event(self, secret: bytes) -> Event:
        bound = commitment(secret, self.settings, self._event.entrants)
        return msgspec.structs.replace(self._event, commitment=bound)

    def desk(self) -> Desk:
        names = Counter(entrant.name for entrant in self.entrants)
        shown = [plain(e.name if names[e.name] == 1 else e.id) for e in self.entrants]
        return Desk(self.settings.game, shown, self.seat)

    def keep(self, folder: Path, event: Event, secret: bytes, played: FinishedMatch) -> None:
        """Make a finished match a results folder, with the secret revealed."""
        private = Private(secret=secret.hex(), sources={}, cache="")
        with staged_folder(folder) as fresh, Store.create(fresh, event, private) as store:
            store.append(played.record)
            for entrant, text in played.stderr.items():
                failed = entrant in played.record.fallen
                store.add_stderr(entrant, played.record.id, text, failed=failed)
            store.conclude(msgspec.structs.replace(event, finished=True, secret=secret.hex()))

    def spec(self, event: Event, secret: bytes) -> MatchSpec:
        """The only match of an event."""
        (block,) = first_wave(schedule_of(event, secret)).blocks()
        return block.series[0].matches[0]


Place = Callable[[int], AbstractContextManager[Path]]
"""From the number of a match to its folder."""


def _play(session: PlaySession, guest: Guest, place: Place, say: Notify) -> bool:
    interrupted = False
    try:
        with one_core():
            trio.run(_matches, session, guest, place)
    except* PersonLeft:
        pass
    except* KeyboardInterrupt:
        interrupted = True
    if session.playing:
        say(LEFT)
    return not interrupted


async def _matches(session: PlaySession, guest: Guest, place: Place) -> None:
    async with guest() as person:
        number, again = 1, True
        while again:
            with place(number):
                pass  # before there is anything to lose
            secret = session.secret(number)
            event = session.event(secret)
            desk = session.desk()
            session.playing = True
            await person.begin(desk, event.commitment)
            async with open_pipes() as table:
                played = await play_with_person(
                    table,
                    session.context(secret),
                    session.spec(event, secret),
                    person=person,
                    desk=desk,
                )
            with place(number) as folder:
                session.keep(folder, event, secret, played)
            session.playing = False
            again = await person.over(desk, played.record, folder)
            number += 1
