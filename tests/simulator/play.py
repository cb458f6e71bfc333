"""Bots without processes: the product's `play_series` with recorded results, or functions as bots.

Theory of operation. A match takes the time that the seed draws. Its result follows from its id
alone: one of some dozens that were played by the rules beforehand, or, `computed`, played by the
product's referee on the event's own deals by functions. So an event has the same results whatever
strikes it. Bots whose name begins with `bad` fail in some of their matches.

Watched: no two processes that live at the same time have seen the same deal.
"""

import functools
import random
from contextlib import asynccontextmanager
from hashlib import blake2b
from types import SimpleNamespace

import msgspec
import trio

from arena import registry
from arena.deals import Deals
from arena.model import FaultKind, MatchSpec, SeatUse, Settings
from arena.referee import Failure, Referee
from tests.simulator.loop import here

CLEAN, FAULTY = 40, 4


def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


def played(spec, settings, deals, *, fails=None):
    """A match by functions: random legal moves, drawn by its id. `fails`: a seat that crashes."""
    draw = random.Random(_number(spec.id))
    referee = Referee(spec, game=registry.game(settings.game), deals=deals, settings=settings)
    referee.begin()
    asked = [0] * len(spec.seats)
    until = draw.randrange(1, 25)
    while referee.asked:
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=60_000)
            asked[seat] += 1
            if seat == fails and asked[seat] == until:
                referee.fail(seat, Failure(kind=FaultKind.CRASH, message="it died"))
            else:
                referee.answer(seat, draw.choice(question.legal))
    use = tuple(SeatUse(decisions=decisions) for decisions in asked)
    return msgspec.structs.replace(referee.record(), use=use)


def fails(spec) -> int | None:
    """The seat that fails in a match."""
    for seat, entrant in enumerate(spec.seats):
        if entrant.startswith("bad") and _number(f"{spec.id} {entrant}") % 100 < 45:
            return seat
    return None


@functools.cache
def _recorded(game: str, seats: int, fallen: int | None):
    settings = Settings(game=game, seats=seats, rating=registry.game(game).about.rating)
    names = tuple(f"b{seat}@1" for seat in range(seats))
    made = []
    for deal in range(CLEAN if fallen is None else FAULTY):
        spec = MatchSpec(
            id=f"{game}-{seats}-{deal}-{fallen}",
            series="s",
            pairing="p",
            deal=deal,
            rotation=0,
            seats=names,
        )
        made.append(played(spec, settings, Deals(bytes(32)), fails=fallen))
    return made


def result(spec, settings, deals, *, computed: bool):
    fallen = fails(spec)
    if computed:
        return played(spec, settings, deals, fails=fallen)
    records = _recorded(settings.game, len(spec.seats), fallen)
    record = records[_number(spec.id) % len(records)]
    return msgspec.structs.replace(record, **msgspec.structs.asdict(spec))


class Group:
    """The bots' processes of a series, or of what is left of it after a fault."""

    def __init__(self, process) -> None:
        self.process = process
        self.deals = set()


class Bot:
    def __init__(self, group: Group, entrant: str) -> None:
        self.group = group
        self._text = f"{entrant} says\n" if entrant.startswith("loud") else ""

    def take_stderr(self) -> str:
        return self._text


class Pipes:
    def __init__(self, world) -> None:
        self._world = world
        self.core = SimpleNamespace(overloaded=world.core_taken)
        self.process = here()

    async def dismiss(self, bots) -> None:
        self._world.bots_gone(bots[0].group)
        await trio.lowlevel.checkpoint()

    def look(self, _) -> None:
        pass


def replacements(world):
    """What takes the place of `open_pipes`, `start_bots` and `Match`."""

    @asynccontextmanager
    async def open_pipes():
        world.count("open pipes")
        world.spawner_fails("open pipes")
        yield Pipes(world)
        world.spawner_gone(here())

    async def start_bots(pipes, context, entrants):
        del context
        await trio.sleep(0.01)
        group = Group(pipes.process)
        return {entrant: Bot(group, entrant) for entrant in entrants}, {}

    class Match:
        def __init__(self, pipes, context, spec, seated) -> None:
            self._pipes, self._context, self._spec, self._seated = pipes, context, spec, seated

        async def play(self, early):
            assert not early
            world.bots_see(self._seated[0].group, (self._spec.pairing, self._spec.deal))
            await trio.sleep(world.match_time())
            world.count("match")
            world.spawner_fails("match")
            computed = world.computed or here().bystander
            return result(
                self._spec, self._context.settings, self._context.deals, computed=computed
            )

    return open_pipes, start_bots, Match
