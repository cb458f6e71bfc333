"""One match between bots that were named, played as a series of an event is: watched, recorded."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import msgspec
import trio

from arena import registry
from arena.bots import Roster, default_cache, in_use, load
from arena.deals import secret_from_seed
from arena.engine.match import FinishedMatch, MatchContext, play_series
from arena.engine.pipes import open_pipes
from arena.engine.recorder import Recorder, open_tapped_pipes
from arena.event.enter import context_of, enter, find_sandbox, settings_of
from arena.executors.cores import one_core
from arena.games import Game
from arena.machine.preflight import SETTINGS, keep_promises
from arena.model import Bot, MatchRecord, MatchSpec, Series, UserError, match_id
from arena.referee import HOLES
from arena.reports.cards import scorecard
from arena.reports.escape import json_line, plain
from arena.reports.faults import match_fault_lines
from arena.sandbox import Backend
from arena.terminal.display import display
from arena.terminal.progress import JSON_VERSION
from arena.terminal.screen import colour, columns, command_line, say
from arena.terminal.watch import WatchedMatch

PAIRING = "match"
"""Not made from the bots: with the same number everybody has the same cards."""
FAULTED = 3


def play_match(
    *,
    bots: Sequence[Path],
    deal: int,
    seed: str,
    no_playoff: bool,
    watch: bool,
    delay: int | None,
    hidden: bool,
    record: Path | None,
    as_json: bool,
    sandbox: str,
    **flags: Any,  # noqa: ANN401 - the settings' own flags
) -> int:
    """`arena match`; its exit code."""
    rules = registry.game(flags["game"])
    if not bots:
        raise UserError("name the bots that play, for instance: arena match bots/a bots/b")
    if watch and as_json:
        raise UserError("--watch and --json both want standard output: leave one of them out")
    if not watch and (hidden or delay is not None):
        raise UserError("--hidden and --delay go with --watch")
    cache = default_cache()
    with in_use(cache):
        roster = seated(bots, cache)  # what is wrong with a path comes before their number
        _countable(bots, roster, rules)
        settings = settings_of(
            seats=len(bots),
            tables=None,
            deals=1,
            series=1,
            fresh="series",
            playoff=not no_playoff,
            no_same_author=False,
            **flags,
        )
        keep_promises(settings.limits, seats=len(bots), jobs=1, flags=SETTINGS)
        backend = find_sandbox(sandbox)
        ready, _ = enter(
            roster, backend, settings, cache, skip_broken=False, way_out=f"more: {_check(bots)}"
        )
        if len(ready) < len(bots):
            raise UserError("a match needs all the bots that were named")
        context = context_of(settings, secret_from_seed(seed), ready, backend)
        played = _play(
            context,
            ready,
            deal,
            watch=watch,
            delay=None if delay is None else delay / 1000,
            hidden=hidden,
            record=record,
        )
    if as_json:
        sys.stdout.buffer.write(json_line(_as_json(played, context, deal, seed)) + b"\n")
        sys.stdout.buffer.flush()
    else:
        _tell(played, f"{rules.name}, deal {deal} of the seed {seed!r}", backend)
        if record is not None:
            click.echo(f"all that was said: {plain(str(record))}")
        if played.faults:
            failed = [bots[seat] for seat in sorted({fault.seat for fault in played.faults})]
            say(f"more: {_check(failed)}")
    return FAULTED if played.faults else 0


def _countable(bots: Sequence[Path], roster: Roster, rules: Game) -> None:
    """Whether as many can play."""
    if len(bots) == 1:
        if roster.problems:
            raise UserError("\n".join(map(str, roster.problems)))
        raise UserError(f"one bot plays no match; against itself: arena match {bots[0]} {bots[0]}")
    if not rules.min_seats <= len(bots) <= rules.max_seats:
        raise UserError(
            f"{len(bots)} bots: {rules.name} is for {rules.min_seats} to {rules.max_seats}"
        )


def _check(paths: Sequence[Path]) -> str:
    """The command that finds out what is wrong with them."""
    return command_line("check", *dict.fromkeys(paths))


def seated(paths: Sequence[Path], cache: Path) -> Roster:
    """Everybody in the order given, with ids that tell them apart: a bot may play itself."""
    looks = {path: load([path], cache=cache) for path in dict.fromkeys(paths)}
    candidates = [candidate for path in paths for candidate in looks[path].candidates]
    seen: Counter[str] = Counter()
    unique = []
    for candidate in candidates:
        entrant = candidate.entrant
        seen[entrant.id] += 1
        if seen[entrant.id] > 1:
            entrant = msgspec.structs.replace(entrant, id=f"{entrant.id}#{seen[entrant.id]}")
        unique.append(msgspec.structs.replace(candidate, entrant=entrant))
    return Roster(
        candidates=tuple(unique),
        notes=tuple(note for look in looks.values() for note in look.notes),
        problems=tuple(problem for look in looks.values() for problem in look.problems),
        skipped=tuple(left_out for look in looks.values() for left_out in look.skipped),
    )


def _play(
    context: MatchContext,
    bots: Sequence[Bot],
    deal: int,
    *,
    watch: bool,
    delay: float | None,
    hidden: bool,
    record: Path | None,
) -> MatchRecord:
    """Play it; what is wrong with a bot is in the record."""
    seats = tuple(bot.entrant.id for bot in bots)
    spec = MatchSpec(
        id=match_id(PAIRING, deal, 0),
        series=PAIRING,
        pairing=PAIRING,
        deal=deal,
        rotation=0,
        seats=seats,
    )
    played: list[FinishedMatch] = []
    with ExitStack() as stack:
        recorder: Recorder | None = None
        if record is not None:
            names = {
                bot.entrant.id: f"seat{seat}-{bot.entrant.name}" for seat, bot in enumerate(bots)
            }
            about = f"in a match of {context.settings.game}, deal {deal}."
            recorder = Recorder(record, names, about)
            stack.callback(recorder.close)

        async def main() -> None:
            async with open_pipes() if recorder is None else open_tapped_pipes(recorder) as table:
                series = Series(id=PAIRING, matches=(spec,))
                if not watch:
                    played.extend([one async for one in play_series(table, context, series)])
                    return
                game = context.settings.game
                with display(hidden=hidden, delay=delay) as shown:
                    onlooker = WatchedMatch(
                        f"{game}, deal {deal}",
                        context.game.about,
                        seats,
                        shown,
                        rest=lambda: shown.rest(table.look),
                    )
                    watched = msgspec.structs.replace(context, onlooker=onlooker)
                    played.extend([one async for one in play_series(table, watched, series)])

        with one_core():
            trio.run(main)
        result = played[0].record
        if recorder is not None:
            for fault in result.faults:
                recorder.fault(seats[fault.seat], fault)
        return result


def _tell(record: MatchRecord, title: str, backend: Backend) -> None:
    """The result for people."""
    click.echo(f"{title}, sandbox {_red(backend.name) if backend.name == 'none' else backend.name}")
    click.echo()
    holes: list[tuple[int | None, ...]] = [
        tuple(score if seat in hole.order else None for seat, score in enumerate(hole.scores))
        for hole in record.holes
        if hole.scores
    ]
    for line in scorecard(record.seats, holes, record.totals, room=columns()):
        click.echo(line)
    click.echo()
    for seat in sorted(range(len(record.seats)), key=lambda seat: (record.places[seat], seat)):
        use = record.use[seat]
        each = use.think_ms / use.decisions if use.decisions else 0.0
        click.echo(
            f"{record.places[seat]}. {plain(record.seats[seat])}: {record.totals[seat]} strokes, "
            f"{each:.2f} ms a decision (longest {use.max_ms:.1f})"
            f"{', forfeited' if seat in record.forfeits else ''}"
        )
    if len(record.holes) > HOLES:
        click.echo(f"a tie for first after {HOLES} holes: played off on {_extra(record)}")
    for text in match_fault_lines(record):
        click.echo(_red(text))


def _red(text: str) -> str:
    return click.style(text, fg="red", bold=True) if colour() else text


def _extra(record: MatchRecord) -> str:
    last = len(record.holes)
    return f"hole {last}" if last == HOLES + 1 else f"holes {HOLES + 1} to {last}"


def _as_json(record: MatchRecord, context: MatchContext, deal: int, seed: str) -> bytes:
    return msgspec.json.encode(
        {
            "v": JSON_VERSION,
            "event": "match",
            "game": context.settings.game,
            "deal": deal,
            "seed": seed,
            "id": record.id,
            "seats": record.seats,
            "holes": record.holes,
            "totals": record.totals,
            "places": record.places,
            "faults": [
                {"bot": record.seats[fault.seat], **msgspec.to_builtins(fault)}
                for fault in record.faults
            ],
            "use": record.use,
            "digest": record.digest,
            "sandbox": context.backend.name,
        }
    )
