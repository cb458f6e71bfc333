"""Find the match that `arena replay` names, and show it with keys, as text, or as JSON; faults."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from arena import registry
from arena.api.results import EventResults, open_results
from arena.event.search import ANY, Search, SearchResult, no_matches, seat_of
from arena.luck import evaluator_name
from arena.model import Event, FaultKind, MatchRecord, UserError, bots_called, calls_of
from arena.reports.escape import json_line, plain, shell
from arena.reports.faults import fault_lines, feed_command, whole_fault
from arena.terminal.match_text import MatchText, listing, moment_of
from arena.terminal.moments import Album
from arena.terminal.screen import can_draw, columns, echo_json, picked, say, show, style

LISTED = 20
KINDS = (ANY, *FaultKind)


def show_replay(asked: Any) -> None:  # noqa: ANN401 - the flags of `arena replay`
    fault, limit, folder = asked.fault, asked.limit, asked.folder
    if fault is not None and fault not in KINDS:
        raise UserError(
            f"--fault: there is no fault {plain(fault)!r}; there are: {', '.join(KINDS)}"
        )
    results = open_results(folder, notify=say)
    if asked.match is not None:
        searching = {
            "--bot": asked.bots,
            "--total": asked.totals,
            "--margin": asked.margins,
            "--sort": asked.sort,
            "--limit": limit is not None,
        }
        if odd := [flag for flag, given in searching.items() if given]:
            raise UserError(f"{', '.join(odd)}: to search for a match, and one is named")
        _show(results, results.match(asked.match, attempt=asked.attempt), asked)
        return
    if asked.attempt is not None:
        raise UserError("--attempt goes with a match")
    search = Search(
        bots=tuple(seat_of(results.event, bot) for bot in asked.bots),
        fault=fault or "",
        totals=asked.totals,
        margins=asked.margins,
        sort=asked.sort or "",
    )
    at_most = None if limit == 0 or (limit is None and asked.as_json) else limit or LISTED
    found = results.search(search, everything=asked.everything, limit=at_most)
    if not found.matches:
        if next(results.matches(everything=True), None) is None:
            raise no_matches(results.folder)
        more = "" if asked.everything else "; --all looks at matches that don't count too"
        raise UserError(f"{results.folder}: no such match{more}")
    alone = len(found.records) == 1 and (limit == 1 or found.matches == 1)
    if alone and not asked.as_json:
        _show(results, found.records[0][0], asked)
        return
    if odd := [flag for name, flag in _OF_ONE.items() if getattr(asked, name)]:
        raise UserError(
            f"{', '.join(odd)}: for one match, and there are {found.matches:,}: name it, or add "
            "--limit 1"
        )
    if asked.as_json:
        _list_as_json(folder, results.event, found)
    else:
        _list(folder, found, search.bots)


_OF_ONE = {
    "hole": "--hole",
    "move": "--move",
    "watcher": "--as",
    "as_text": "--print",
    "export": "--export",
    "regret": "--regret",
}


def _list(folder: Path, found: SearchResult, bots: Sequence[str]) -> None:
    show(listing(found.records, style(), room=columns(), bots=bots))
    if len(found.records) < found.matches:
        say(f"{len(found.records)} of {found.matches:,} matches; --limit 0 lists all")
    say(f"to look at one: {shell(['arena', 'replay', str(folder), found.records[0][0].id])}")


def _list_as_json(folder: Path, event: Event, found: SearchResult) -> None:
    limits = event.settings.limits
    for record, counts in found.records:
        line = {
            **picked(record, "id attempt"),
            "counts": counts,
            **picked(record, "seats totals places"),
            "faults": [
                {
                    **msgspec.to_builtins(fault),
                    "again": feed_command(record, fault, str(folder), limits),
                }
                for fault in record.faults
            ],
        }
        echo_json(line)


def _show(results: EventResults, record: MatchRecord, asked: Any) -> None:  # noqa: ANN401 - flags
    hole, move, export, watcher = asked.hole, asked.move, asked.export, asked.watcher
    if asked.as_json and export not in (None, "-"):
        raise UserError("--json writes to standard output, --export to a file: take one")
    if move is not None and hole is None:
        raise UserError("--move counts within a hole: add --hole N")
    folder, event = results.folder, results.event
    steps = results.unfold(record, regret=asked.regret)
    mine = evaluator_name(registry.game(event.settings.game))
    if event.settings.evaluator not in {"", mine}:
        theirs = plain(event.settings.evaluator)
        say(f"note: luck was measured by {theirs}; this arena has {mine or 'none'}, and shows none")
    if asked.as_json or export is not None:
        _export(json_line(msgspec.json.encode(steps)) + b"\n", export or "-")
        return
    album = Album(steps)
    tell = partial(whole_fault, record, folder=str(folder), limits=event.settings.limits)
    seat = None if watcher is None else _seat(record, event, watcher)
    at = 0 if hole is None else moment_of(album, hole, move)
    if asked.fault is not None and hole is None:
        found = album.fault_after(-1)
        if found is None:
            raise UserError(f"{plain(record.id)}: no bot failed in it")
        at = found
    if not asked.as_text and can_draw(sys.stdin, sys.stdout):
        from arena.terminal.viewer import Stepper, step_through

        stepper = Stepper(album, tell, style(), at=at, watcher=seat)
        step_through(stepper, sys.stdin.fileno(), sys.stdout.fileno(), sys.stdout.encoding)
        return
    text = MatchText(album, tell, style(), max(20, columns() - 1), seat)
    if hole is None:
        lines = text.whole()
    else:
        lines = text.hole(hole) if move is None else text.move(hole, move)
    show(lines)


def _seat(record: MatchRecord, event: Event, who: str) -> int:
    if who.isdecimal() and int(who) < len(record.seats):
        return int(who)
    seated = [entrant for entrant in event.entrants if entrant.id in record.seats]
    bot = seat_of(msgspec.structs.replace(event, entrants=tuple(seated)), who)
    return record.seats.index(bot)


def _export(data: bytes, where: str) -> None:
    if where == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    path = Path(where)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UserError(f"{path}: can't write there: {error.strerror}") from None


def show_faults(results: EventResults, bot: str | None, *, as_json: bool) -> None:
    """`arena log --faults`: a line or a JSON object each. `bot`: whose, by name, id or pattern."""
    folder, limits = str(results.folder), results.settings.limits
    calls = calls_of((each.id, each.name) for each in results.entrants)
    wanted = bots_called(calls, [bot or "*"], "--bot")
    found = False
    for whole in results.matches(everything=True):
        own = tuple(fault for fault in whole.faults if whole.seats[fault.seat] in wanted)
        record = msgspec.structs.replace(whole, faults=own)
        found = found or bool(own)
        if not as_json:
            show(fault_lines(record, folder, limits))
            continue
        for fault in record.faults:
            line = {
                "match": record.id,
                "bot": record.seats[fault.seat],
                **msgspec.to_builtins(fault),
                "again": feed_command(record, fault, folder, limits),
            }
            echo_json(line)
    if not found:
        say(f"no faults{f' of {bot}' if bot else ''} in {folder}")
