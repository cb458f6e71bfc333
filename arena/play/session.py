"""Play matches of a person against bots, each an event of its own.

Theory of operation. `PersonMatch` puts the questions of one seat to a `Person`, again until the
move is legal; for the bots it is a match like any other. Meanwhile the pipes are polled, so that
the sandbox's watchdog is heard. Each match has a secret, and a commitment that the person gets
before the first card. Nothing is written before the match is over, so one that is left leaves
nothing; then its folder is made at once, with the secret revealed.

Invariant: a person can't commit a fault; what a bot is asked, and when, depends on the moves alone.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import Protocol

import msgspec
import trio

from arena import model, registry
from arena.bots import default_cache, in_use
from arena.deals import commitment, secret_from_seed
from arena.engine.contestant import Contestant
from arena.engine.match import FinishedMatch, Match, MatchContext, play_series
from arena.engine.pipes import Pipes, open_pipes
from arena.event.options import MatchOptions
from arena.event.results import first_wave, schedule_of
from arena.event.workshop import SKIP, context_of, match_bots, seat_bots
from arena.executors.cores import one_core
from arena.games import Game
from arena.machine import Notify
from arena.machine.facts import played_here
from arena.play.desk import Desk
from arena.referee import Failure
from arena.reports.escape import plain
from arena.sandbox import Backend
from arena.store import Private, Store, claim_folder, staged_folder
from arena.wire.messages import Act, HoleEnd, MatchEnd, MatchStart

PERSON = "person"  # the version of an entrant that is no program; it has no hash
LEFT = "left: the match isn't counted, and nothing of it is kept"
MINDED_S = 60.0  # how long the pipes are left alone when nothing comes while a person thinks


class PersonLeft(Exception):  # noqa: N818 - no error
    """The person has left; the match does not count."""


class Person(Protocol):
    """Is shown a desk and decides."""

    async def begin(self, desk: Desk, commitment: str) -> None:
        """A match begins. `commitment`: to its secret, before the first card."""

    async def decide(self, desk: Desk) -> str:
        """One of `desk.legal`; raises `PersonLeft`."""

    async def follow(self, desk: Desk) -> None:
        """Another seat has moved, or failed."""

    async def hole_over(self, desk: Desk) -> None:
        """All cards are turned; returns when the person has seen them."""

    async def over(self, desk: Desk, record: model.MatchRecord, kept: Path) -> bool:
        """The match is over and logged; whether another one is wanted. `kept`: its folder."""


class PersonMatch(Match):
    def __init__(
        self,
        table: Pipes,
        context: MatchContext,
        spec: model.MatchSpec,
        seated: Mapping[int, Contestant],
        *,
        person: Person,
        desk: Desk,
    ) -> None:
        super().__init__(table, context, spec, seated)
        self._person = person
        self._desk = desk
        self._ended: list[HoleEnd] = []

    async def _settle(self, seat: int, outcome: str | Failure) -> None:
        await super()._settle(seat, outcome)
        if not self._referee.news:
            await self._show()

    async def _show(self) -> None:
        self._desk.update(*self._referee.sight(self._desk.seat))
        await self._person.follow(self._desk)

    async def ask_other(self, seat: int) -> str:
        desk = self._desk
        question = self._referee.question(seat, bank_ms=0)  # a person has no bank
        assert isinstance(question, Act)
        desk.ask(question)
        move = ""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._mind)
            while move not in question.legal:
                move = await self._person.decide(desk)
            nursery.cancel_scope.cancel()
        desk.close_question()
        self._accounts[seat].charge(0.0)
        return move

    async def _pass_on(self) -> None:
        """Bots first; then the person, who has time at each hole's end."""
        known = len(self._desk.fallen)
        await super()._pass_on()
        for fault in self._referee.faults[known:]:
            self._desk.add_fault(fault.seat, fault.kind)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._mind)
            for end in self._ended:
                self._desk.take_message(end)
                await self._person.hole_over(self._desk)
            nursery.cancel_scope.cancel()
        self._ended.clear()
        if self._referee.asked:
            await self._show()

    def tell_other(self, seat: int, message: MatchStart | HoleEnd | MatchEnd) -> None:
        assert seat == self._desk.seat
        if isinstance(message, HoleEnd):
            self._ended.append(message)
        else:
            self._desk.take_message(message)

    async def _mind(self) -> None:
        while True:
            await self._pipes.wait(MINDED_S)


Guest = Callable[[], AbstractAsyncContextManager[Person]]
"""A person at a terminal or a page, which is theirs within the context."""
Place = Callable[[int], AbstractContextManager[Path]]  # from the number of a match to its folder


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
    if fault := model.label_fault(name):
        raise model.UserError(f"--name {plain(name)}: {fault}")
    person = person_named(name)
    _check_seat(len(bots), seat, registry.game(options.game))
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
        roster = seat_bots(bots, cache, _renamed, [person])
        workshop, ready = match_bots(bots, roster, settings, say, folder, sandbox=sandbox)
        session = PlaySession(settings, ready, workshop.backend, person, seat=seat, seed=seed)
        workshop.way_out = SKIP
        workshop.start(context_of(session.settings, bytes(32), ready, workshop.backend))
        return _play(session, guest, place, say)


def person_named(name: str) -> model.Entrant:
    return model.Entrant(id=f"{name}@{PERSON}", name=name, version=PERSON, hash="")


def _check_seat(bots: int, seat: int, rules: Game) -> None:
    if not bots:
        raise model.UserError("name the bots to play against, for instance: arena play bots/a")
    if not rules.min_seats <= bots + 1 <= rules.max_seats:
        raise model.UserError(
            f"{bots} bots and you: {rules.name} is for {rules.min_seats} to {rules.max_seats} "
            f"players, so name {rules.max_seats - 1} at most"
        )
    if seat > bots:
        raise model.UserError(f"--seat {seat}: with {bots + 1} at the table seats are 0 to {bots}")


def _renamed(entrant: model.Entrant, number: int) -> model.Entrant:
    name = f"{entrant.name[: model.LONGEST_LABEL - 4]}-{number}"
    return msgspec.structs.replace(entrant, id=f"{name}@{entrant.version}", name=name)


class PlaySession:
    def __init__(
        self,
        settings: model.Settings,
        bots: Sequence[model.Bot],
        backend: Backend,
        person: model.Entrant,
        *,
        seat: int,
        seed: str | None,
    ) -> None:
        others = [bot.entrant for bot in bots]
        self.entrants = (*others[:seat], person, *others[seat:])  # by seat
        heroes, seeded = tuple(entrant.id for entrant in self.entrants), seed is not None
        self.settings = msgspec.structs.replace(settings, heroes=heroes, predictable=seeded)
        self.playing = False  # whether a match has begun that is not written yet
        self._seat = seat
        self._backend = backend
        field = tuple(sorted(self.entrants, key=lambda entrant: entrant.id))
        event = model.Event(
            settings=self.settings, entrants=field, commitment="", predictable=seeded
        )
        self._event = played_here(event, backend)
        self._bots = bots
        self._seed = seed

    def prepare(self, number: int) -> tuple[model.Event, bytes, model.Series]:
        """The event of a match, its secret, and the series of that match alone."""
        secret = secrets.token_bytes(32)
        if self._seed is not None:
            secret = secret_from_seed(self._seed if number == 1 else f"{self._seed}/{number}")
        bound = commitment(secret, self.settings, self._event.entrants)
        event = msgspec.structs.replace(self._event, commitment=bound)
        (block,) = first_wave(schedule_of(event, secret)).blocks()
        return event, secret, block.series[0]

    async def play(self, number: int, person: Person, place: Place) -> bool:
        """Play a match and keep it; returns whether the person wants another one."""
        event, secret, series = self.prepare(number)
        names = Counter(entrant.name for entrant in self.entrants)
        shown = [plain(e.name if names[e.name] == 1 else e.id) for e in self.entrants]
        desk = Desk(self.settings.game, shown, self._seat)
        self.playing = True
        await person.begin(desk, event.commitment)
        context = context_of(self.settings, secret, self._bots, self._backend)
        match = partial(PersonMatch, person=person, desk=desk)
        async with open_pipes() as table:
            [played] = [each async for each in play_series(table, context, series, match=match)]
        with place(number) as folder:
            _keep(folder, event, secret, played)
        self.playing = False
        return await person.over(desk, played.record, folder)


def _keep(folder: Path, event: model.Event, secret: bytes, played: FinishedMatch) -> None:
    """Make a finished match a results folder, with the secret revealed."""
    private = Private(secret=secret.hex(), sources={}, cache="")
    with staged_folder(folder) as fresh, Store.create(fresh, event, private) as store:
        store.append(played.record)
        for entrant, text in played.stderr.items():
            failed = entrant in played.record.fallen
            store.add_stderr(entrant, played.record.id, text, failed=failed)
        store.conclude(msgspec.structs.replace(event, finished=True, secret=secret.hex()))


def _play(session: PlaySession, guest: Guest, place: Place, say: Notify) -> bool:
    async def matches() -> None:
        async with guest() as person:
            for number in count(1):
                with place(number):
                    pass  # before there is anything to lose
                if not await session.play(number, person, place):
                    break

    interrupted = False
    try:
        with one_core():
            trio.run(matches)
    except* PersonLeft:
        pass
    except* KeyboardInterrupt:
        interrupted = True
    if session.playing:
        say(LEFT)
    return not interrupted
