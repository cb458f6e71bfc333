"""Put recorded questions to bots, each alone in the sandbox, and note their answers.

Theory of operation. A process of the bot gets matches as one seat went through them. It is asked at
each turn of that seat; its answer is noted, and the recorded move is played. Every match is asked
twice in a row, with two seeds. After a fault a fresh process goes on with the next match; a bot is
given up after `TRIES` of these, or when its time is over.

Invariant: as many answers for every bot as there are questions.
"""

import heapq
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import trio

from arena import registry
from arena.deals import Deals, with_beacon
from arena.engine.contestant import Contestant
from arena.engine.pipes import Pipes, open_pipes
from arena.event.results import Counts, announce_reading
from arena.event.search import no_matches
from arena.executors.ordered_pool import map_ordered, unwanted
from arena.machine import Notify
from arena.model import Bot, Event, MatchRecord, Settings, sha256_hex
from arena.referee import hello
from arena.store import read_some, secret_of
from arena.system import clock
from arena.twins.likeness import BotAnswers
from arena.twins.questions import SeatCourse, course_of
from arena.wire.messages import Act, Answer, Next, Ready
from arena.wire.session import Pending, WireEvent

QUESTIONS = 3000  # of a seat's courses together: some 24 matches of play-nine
_MATCHES = 400  # that these are taken from; a short game needs most
TRIES = 3  # processes of a bot that fail
_LOOK_S = 0.2  # so often a wait looks whether the command has been interrupted


class PollTerms(NamedTuple):
    """What every process of a poll needs."""

    settings: Settings
    courses: Sequence[SeatCourse]
    sandbox: str
    seconds: float  # for a bot at most


def choose_courses(
    folder: Path, event: Event, notify: Notify, questions: int = QUESTIONS
) -> list[SeatCourse]:
    """Seats of matches that count and had no fault, by a hash of their ids."""
    announce_reading(notify, folder)
    records = read_some(folder, Counts(folder, event=event), event)
    faultless = (record for record in records if not record.faults)
    game = registry.game(event.settings.game)
    deals = Deals(with_beacon(secret_of(folder, event), event.beacon))
    courses, asked = list[SeatCourse](), 0
    for record in heapq.nsmallest(_MATCHES, faultless, key=_lot):
        seat = int(_lot(record)[-8:], 16) % len(record.seats)
        course = course_of(record, seat, game=game, deals=deals, settings=event.settings)
        courses.append(course)
        asked += len(course.turns)
        if asked >= questions:
            break
    if not courses:
        raise no_matches(folder)
    return courses


def _lot(record: MatchRecord) -> str:
    return sha256_hex(f"twins/{record.id}".encode())


def poll_bots(bots: Sequence[Bot], terms: PollTerms, jobs: int) -> Iterator[BotAnswers]:
    """In the order of the bots, by so many processes."""
    calls = ((bot,) for bot in bots)
    workers = min(jobs, len(bots))
    return map_ordered(_poll, calls, jobs=workers, begin=_begin, about=terms, fork=True)


_terms: list[PollTerms] = []  # of this process


def _begin(terms: PollTerms) -> None:
    _terms[:] = [terms]


def _poll(bot: Bot) -> BotAnswers:
    [terms] = _terms
    return trio.run(_Poll(bot, terms).run)


class _Poll:
    def __init__(self, bot: Bot, terms: PollTerms) -> None:
        self._bot, self._settings = bot, terms.settings
        self._backend = registry.backend(terms.sandbox)
        self._courses = [each for course in terms.courses for each in (course, course.reseeded())]
        self._until = clock.monotonic() + terms.seconds
        self._answers: list[list[str]] = [[] for _ in self._courses]
        self._begun = 0  # courses
        self._faults = 0

    async def run(self) -> BotAnswers:
        async with open_pipes() as pipes:
            while self._begun < len(self._courses) and self._faults < TRIES and not self._late:
                await self._series(pipes)
        for course, answers in zip(self._courses, self._answers, strict=True):
            answers.extend([""] * (len(course.turns) - len(answers)))
        first, second = (list(chain.from_iterable(self._answers[run::2])) for run in (0, 1))
        return BotAnswers(first, second)

    @property
    def _late(self) -> bool:
        return unwanted() or clock.monotonic() > self._until

    async def _series(self, pipes: Pipes) -> None:
        """Have one process answer until it fails."""
        limits = self._settings.limits
        bot = pipes.start(self._bot, self._backend, limits)
        pipes.ask(bot, bot.session.hello(hello(self._settings)))
        if isinstance(await self._hear(pipes, bot, limits.start_ms), Ready):
            last = min(len(self._courses), self._begun + self._settings.series)
            while self._begun < last and not self._late:
                self._begun += 1
                if not await self._course(pipes, bot, self._begun - 1):
                    break
        else:
            self._faults += 1
        await pipes.dismiss([bot])

    async def _course(self, pipes: Pipes, bot: Contestant, number: int) -> bool:
        """Whether the bot has answered up to the end."""
        session, course, answers = bot.session, self._courses[number], self._answers[number]
        turns = iter(course.turns)
        for line in course.lean() if session.lean else course.lines:
            if not isinstance(line, Act | Next):
                pipes.send(bot, session.send(line))
                continue
            event = pipes.exchange(bot, session.ask(line))
            if event is Pending.NEED_DATA:
                event = await self._hear(pipes, bot, self._settings.limits.move_ms)
            if not isinstance(event, Answer):
                self._faults += 1
                return False
            answers.append(event.move if event.move in next(turns).regrets else "")
            if self._late:
                return False
        return True

    async def _hear(self, pipes: Pipes, bot: Contestant, milliseconds: int) -> WireEvent:
        deadline = clock.monotonic() + milliseconds / 1000
        while (event := bot.session.next_event()) is Pending.NEED_DATA:
            if (left := deadline - clock.monotonic()) <= 0 or unwanted():
                return event
            await pipes.wait(min(left, _LOOK_S))
        return event
