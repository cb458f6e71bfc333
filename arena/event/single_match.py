"""One match between bots or functions, played as a series of an event is: watched, recorded."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import trio
from msgspec.structs import replace

from arena import registry
from arena.bots import Roster, default_cache, in_use
from arena.deals import Deals, secret_from_seed
from arena.engine.in_process import Policy, move_by_policy, play_out
from arena.engine.match import FinishedMatch, Match, MatchContext, play_series
from arena.engine.pipes import open_pipes
from arena.engine.recorder import Recorder, open_tapped_pipes
from arena.event.options import MatchOptions
from arena.event.workshop import context_of, match_bots, seat_bots
from arena.executors.cores import one_core
from arena.games import Game
from arena.games.observer import Observer
from arena.machine import Notify
from arena.model import Bot, Entrant, Frozen, MatchRecord, MatchSpec, Series, UserError, match_id
from arena.referee import Referee

PAIRING = "match"  # not derived from the bots: the same number deals the same cards to any bots

Watch = Callable[[tuple[str, ...], Callable[[float], object]], AbstractContextManager[Observer]]
"""From the ids by seat, and a function that serves the pipes to the bots for at most so many
seconds, to an onlooker. Entered before the first card."""


class SingleMatch(Frozen, frozen=True, kw_only=True):
    """A match that was played."""

    record: MatchRecord
    options: MatchOptions
    sandbox: str
    """The sandbox's name; empty: between functions."""


def play_match(
    bots: Sequence[Path | Policy],
    options: MatchOptions,
    notify: Notify,
    *,
    sandbox: str = "auto",
    talk: Path | None = None,
    watch: Watch | None = None,
) -> SingleMatch:
    rules = registry.game(options.game)
    if not bots:
        raise UserError("name the bots that play, for instance: arena match bots/a bots/b")
    paths = [bot for bot in bots if isinstance(bot, Path)]
    policies = {seat: bot for seat, bot in enumerate(bots) if not isinstance(bot, Path)}
    if not paths:
        _refuse_number(bots, Roster(), rules)
        settings, spec = options.settings(len(bots), notify), _spec(bots, options.deal)
        deals, seats = Deals(secret_from_seed(options.seed)), spec.seats
        with watch(seats, lambda _: None) if watch else nullcontext() as onlooker:
            referee = Referee(spec, game=rules, deals=deals, settings=settings, onlooker=onlooker)
            record = play_out(referee, seats, [policies[seat] for seat in range(len(policies))])
        return SingleMatch(record=record, options=options, sandbox="")
    with in_use(default_cache()) as cache:
        roster = seat_bots(paths, cache, _numbered)
        _refuse_number(bots, roster, rules)  # an unusable path is reported before their number
        settings = options.settings(len(bots), notify)
        if policies:
            settings = replace(settings, freeze=True)
        workshop, ready = match_bots(paths, roster, settings, notify, sandbox=sandbox)
        secret = secret_from_seed(options.seed)
        context = context_of(settings, secret, ready, workshop.backend)
        record = _play(context, _spec(bots, options.deal, ready), policies, talk, watch)
    return SingleMatch(record=record, options=options, sandbox=workshop.backend.name)


def _refuse_number(bots: Sequence[Path | Policy], roster: Roster, rules: Game) -> None:
    if len(bots) == 1:
        if roster.problems:
            raise UserError("\n".join(map(str, roster.problems)))
        raise UserError(f"one bot plays no match; against itself: arena match {bots[0]} {bots[0]}")
    least, most = rules.min_seats, rules.max_seats
    if not least <= len(bots) <= most:
        raise UserError(f"{len(bots)} bots: {rules.name} is for {least} to {most}")


def _numbered(entrant: Entrant, number: int) -> Entrant:
    return replace(entrant, id=f"{entrant.id}#{number}")


def _spec(bots: Sequence[Path | Policy], deal: int, ready: Iterable[Bot] = ()) -> MatchSpec:
    """The match. A function has its name as an id that no other seat has."""
    seats = [bot.entrant.id for bot in ready]
    for seat, bot in enumerate(bots):
        if not isinstance(bot, Path):
            name = getattr(bot, "__name__", type(bot).__name__).strip("<>")
            seats.insert(seat, f"{name}@{seat}")
    return MatchSpec(
        id=match_id(PAIRING, deal, 0),
        series=PAIRING,
        pairing=PAIRING,
        deal=deal,
        rotation=0,
        seats=tuple(seats),
    )


def _play(
    context: MatchContext,
    spec: MatchSpec,
    policies: Mapping[int, Policy],
    talk: Path | None,
    watch: Watch | None,
) -> MatchRecord:
    async def main(recorder: Recorder | None) -> FinishedMatch:
        tapped = open_tapped_pipes(recorder.of.__getitem__) if recorder else open_pipes()
        async with tapped as table:
            with watch(spec.seats, table.look) if watch else nullcontext() as onlooker:
                watched = replace(context, onlooker=onlooker)
                series = Series(id=PAIRING, matches=(spec,))
                match = partial(_PolicyMatch, policies)
                games = play_series(table, watched, series, match=match)
                (played,) = [one async for one in games]
                return played

    if talk is None:
        with one_core():
            return trio.run(main, None).record
    bots = enumerate(context.bots.items())
    names = {id_: f"seat{seat}-{bot.entrant.name}" for seat, (id_, bot) in bots}
    about = f"in a match of {context.settings.game}, deal {spec.deal}."
    with one_core(), closing(Recorder(talk, names, about)) as recorder:
        record = trio.run(main, recorder).record
        for fault in record.faults:
            recorder.of[spec.seats[fault.seat]].fault(fault)
        return record


class _PolicyMatch(Match):
    """A match in which functions of this process have some of the seats."""

    def __init__(self, policies: Mapping[int, Policy], *match: Any) -> None:  # noqa: ANN401 - of a Match
        super().__init__(*match)
        self._policies = policies

    async def ask_other(self, seat: int) -> str:
        return move_by_policy(self._referee, seat, self._names[seat], self._policies[seat])
