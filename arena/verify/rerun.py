"""Play matches of an event again by its bots and compare (`arena verify --rerun`).

The processes of a match had played the earlier matches of its series, so these are played again
too. Invariant: the choice is a function of the folder and the seed.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import trio
from msgspec.structs import replace

from arena import registry
from arena.bots import default_cache, in_use, load, restore
from arena.deals import Deals, with_beacon
from arena.engine.match import FinishedMatch
from arena.event.commands import command_line
from arena.event.results import count_folder
from arena.event.workshop import Workshop, context_of
from arena.executors import Report
from arena.executors.attempts import Attempts
from arena.executors.local import LocalExecutor
from arena.games.observer import ObservedGame, ObservedMove
from arena.machine import Notify
from arena.machine.facts import worker_config
from arena.model import Block, Entrant, Event, HostError, MatchRecord, Series, UserError, sha256_hex
from arena.ratings.counts import CountedSeries
from arena.ratings.incremental import Counting
from arena.replay.moves import replay_moves
from arena.reports.escape import plain
from arena.store import read_private, records_of_series, secret_of
from arena.system import randomness
from arena.verify.findings import Difference, differs
from arena.verify.records import unlike

_HASH_SHOWN = 12
_Played = dict[str, dict[str, MatchRecord]]


class RerunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Matches that the bots play again."""

    matches: int
    """Drawn at random."""
    seed: str | None = None
    """Draws them; None: random."""
    bots: tuple[Path, ...] = ()
    """Those that the cache no longer has."""
    sandbox: str = "auto"


class Rerun(msgspec.Struct, frozen=True, kw_only=True):
    seed: str
    matches: int  # that were drawn
    played: int  # with those that came before them in their series
    differences: tuple[Difference, ...]


def play_again(folder: Path, options: RerunOptions, jobs: int, notify: Notify) -> Rerun:
    """Play some matches again. UserError if their bots can't be found as they were."""
    number = options.matches
    seed = randomness.token_hex(4) if options.seed is None else options.seed
    event, counting = count_folder(folder)
    secret, drawn = secret_of(folder, event), list(_choose(counting, number, seed))
    wanted = {entrant for chosen in drawn for entrant in chosen.series.entrants}
    entrants = [entrant for entrant in event.entrants if entrant.id in wanted]
    if people := [plain(entrant.id) for entrant in entrants if not entrant.hash]:
        raise UserError(f"{', '.join(people)}: a person, whose matches can't be played again")
    private = read_private(folder)
    with in_use(default_cache()) as cache:
        sources = sources_of(
            options.bots, event.entrants, cache, private.sources if private else {}
        )
        bots = [(entrant, sources.get(entrant.id, "")) for entrant in entrants]
        roster, settings = restore(bots, cache=cache, folder=folder), event.settings
        command = f"{command_line('verify', folder)} BOT... --rerun {number}"
        way_out = f"they must be as they were; say where they are: {command}"
        workshop = Workshop(settings, notify, folder, sandbox=options.sandbox, way_out=way_out)
        ready, _ = workshop.enter(roster)
        workshop.start(context_of(settings, secret, ready, workshop.backend))
        config = worker_config(event, secret, ready, workshop.backend)
        executor = LocalExecutor(config, jobs=min(jobs, workshop.room), pin=True)
        played = trio.run(_play, executor, [chosen.series for chosen in drawn])
    return Rerun(
        seed=seed,
        matches=sum(len(chosen.matches) for chosen in drawn),
        played=sum(map(len, played.values())),
        differences=tuple(_differences(folder, event, secret, drawn, played)),
    )


def _choose(counting: Counting, number: int, seed: str) -> Iterator[CountedSeries]:
    """Draw so many of the matches that count: their series, each up to its last one drawn."""
    lots = (
        (sha256_hex(f"{seed}/{counted[0].id}".encode()), counted[0].id, counted, chosen)
        for chosen in counting.chosen()
        for counted in chosen.matches
    )
    by_series: dict[str, CountedSeries] = {}
    for _, _, counted, chosen in heapq.nsmallest(number, lots, key=lambda lot: lot[:2]):
        before = by_series.get(chosen.series.id)
        drawn = (*before.matches, counted) if before else (counted,)
        by_series[chosen.series.id] = replace(chosen, matches=drawn)
    for name, chosen in sorted(by_series.items()):
        specs = chosen.series.matches
        last = max(specs.index(spec) for spec, _, _ in chosen.matches)
        series = Series(id=name, matches=specs[: last + 1])
        yield replace(chosen, series=series)


def sources_of(
    bots: Sequence[Path], entrants: Sequence[Entrant], cache: Path, known: Mapping[str, str]
) -> dict[str, str]:
    """Where each entrant is, by its content: the paths that were named, then those recorded."""
    sources, lines = dict(known), []
    roster = load(bots, cache=cache)
    for candidate in roster.candidates:
        mine = candidate.entrant
        same = [entrant for entrant in entrants if entrant.snapshot == mine.snapshot]
        sources |= {entrant.id: candidate.source for entrant in same}
        if not same:
            namesakes = [each for each in entrants if each.name == mine.name]
            entered = (f"{plain(e.id)} was entered as {e.hash[:_HASH_SHOWN]}…" for e in namesakes)
            named = ", ".join(entered) or "it was not entered under this name"
            lines.append(
                f"{plain(candidate.path)}: its content is no bot's of this event: {named}, "
                f"this is {mine.hash[:_HASH_SHOWN]}…"
            )
    if roster.problems or lines:
        raise UserError("\n".join([*map(str, roster.problems), *lines]))
    return sources


async def _play(executor: LocalExecutor, series: Sequence[Series]) -> _Played:
    """Every series by its id, match by match; one that the machine voids is played again."""
    played: _Played = {}
    under_way: _Played = {}

    def give_up(trouble: str) -> None:
        raise HostError(trouble)

    attempts = Attempts(lambda one: None if one.id in played else 0, give_up)

    def report(message: Report) -> None:
        if isinstance(message, FinishedMatch):
            under_way.setdefault(message.record.series, {})[message.record.id] = message.record
            return
        done, one = under_way.pop(message.series, {}), attempts.in_play[message.series]
        attempts.end(one.id, completed=not message.trouble)
        if message.bug:
            raise RuntimeError(f"a worker failed in series {one.id}:\n{message.bug}")
        if message.trouble:
            attempts.void(one, message.attempt, message.trouble, blameless=message.blameless)
        else:
            played[one.id] = done

    blocks = [Block(id=one.id, series=(one,)) for one in series]
    await executor.play(iter(blocks), choose=attempts.begin, report=report, stop=trio.Event())
    return played


def _differences(
    folder: Path, event: Event, secret: bytes, drawn: Sequence[CountedSeries], played: _Played
) -> Iterator[Difference]:
    for chosen in drawn:
        name = chosen.series.id
        every = records_of_series(folder, name, event)
        recorded = {record.id: record for record in every if record.attempt == chosen.attempt}
        for match, record in played[name].items():
            # One that was not recorded was void: a bot at its table had been withdrawn.
            if match in recorded and (found := _difference(event, secret, recorded[match], record)):
                yield found


def _difference(
    event: Event, secret: bytes, recorded: MatchRecord, played: MatchRecord
) -> Difference | None:
    """How a match that was played again differs, and by which bot's move."""
    if recorded.digest == played.digest:
        return None
    found = unlike(played, recorded)
    if found.move:
        for record in (recorded, played):
            seat = _mover(event, secret, record, found.hole, found.move)
            if seat is not None and _failed(recorded) == _failed(played):
                who = recorded.seats[seat]
                return replace(found, what=f"played again, the move of {who}")
    return differs("played again, faults", _failed(recorded), _failed(played), match=recorded.id)


def _failed(record: MatchRecord) -> str:
    failed = (f"{record.seats[f.seat]}: {f.kind.value} on hole {f.hole}" for f in record.faults)
    return "; ".join(failed) or "none"


def _mover(event: Event, secret: bytes, record: MatchRecord, hole: int, move: int) -> int | None:
    """The seat that made a move; None if the record has no such move."""
    seats: list[int] = []

    def moved(followed: ObservedGame, moved: ObservedMove) -> None:
        if (followed.holes, len(followed.moves)) == (hole, move):
            seats.append(moved.seat)

    game = ObservedGame(registry.game(event.settings.game), moved)
    deals = Deals(with_beacon(secret, event.beacon))
    replay_moves(record, game=game, deals=deals, settings=event.settings)
    return seats[0] if seats else None
