"""What others read of an event, while it is played and afterwards; and what has to be true of it.

Each function gets the scenario on its way and the event's folder, and returns what is wrong.
"""

import functools
import itertools
import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from arena.event.add_bots import Newcomers, forecast_epoch
from arena.event.compare import compare_bots
from arena.event.epochs import epoch_fault, epochs_of
from arena.event.options import EventOptions, MatchOptions, TrialOptions
from arena.event.prepare import forecast_event
from arena.event.rerate import RateOptions, rate_events
from arena.event.results import Counts, count_folder, counting_of, record_key, table_of
from arena.event.search import (
    ANY,
    SORTS,
    BotMatches,
    Bound,
    Search,
    counted_record,
    record_of_attempt,
    records_of,
    search_matches,
    seat_of,
)
from arena.event.single_match import play_match
from arena.model import FaultKind, UserError
from arena.store import (
    claim_folder,
    read_at,
    read_by_id,
    read_counted,
    read_event,
    read_placed,
    read_records,
    records_of_match,
    records_of_series,
    secret_of,
)


def _table(played, folder: Path) -> Iterator[str]:
    del played
    event = read_event(folder)
    if table_of(folder, event) != table_of(folder):
        yield "two tables of one event"


def _find(played, folder: Path) -> Iterator[str]:
    del played
    if records := list(read_records(folder)):
        last = records[-1]
        found = records_of_match(folder, last.id)
        if last not in found or {record.id for record in found} != {last.id}:
            yield f"the index doesn't lead to {last.id}"


def _rate(played, folder: Path) -> Iterator[str]:
    """An event alone has the table that `arena table` gives; the order of folders is none."""
    del played
    epochs = epochs_of(folder)
    together = rate_events([folder])
    if not epochs and together != table_of(folder):
        yield "rated again, an event has another table"
    withdrawn = {out.entrant for out in count_folder(folder)[1].counted().withdrawn}
    for epoch in epochs[:1]:
        before, event = [read_event(folder)], read_event(epoch)
        if event.settings.rule > 1 and (fault := epoch_fault(before, event, withdrawn)):
            yield f"the first epoch is none: {fault}"
        for others in ({*withdrawn, "zoe@1"}, {"zoe@1"}):
            if event.settings.rule > 1 and not epoch_fault(before, event, others):
                yield "an epoch from which nobody is left out, though a bot was withdrawn"
    if rate_events([*epochs, folder]) != together:
        yield "rated in another order, events have another table"
    left_out = read_event(folder).entrants[0].id
    if len(read_event(folder).entrants) > 2:
        rest = rate_events([folder], RateOptions(without=(left_out,)))
        if left_out in {row.entrant for row in rest.rows}:
            yield f"{left_out} is in a table without it"


def _range(played, folder: Path) -> Iterator[str]:
    """Matches before a moment, and from then on, are no more than all."""
    del played
    if not (records := list(read_records(folder))):
        return
    when = statistics.median_low(record.ended for record in records)
    before, after = (
        rate_events([folder], wanted).matches
        for wanted in (RateOptions(until=when), RateOptions(since=when, skip_damaged=True))
    )
    whole = rate_events([folder], RateOptions(since=0.0, until=4e9)).matches
    every = len(
        {record.id for each in (folder, *epochs_of(folder)) for record in read_records(each)}
    )
    if before + after > whole or whole > every:
        yield f"{before} matches before and {after} after, {whole} within {every}"


def _search(played, folder: Path) -> Iterator[str]:
    """What a search finds is what fits among all records, in its order."""
    draw = played.draw
    entrants = [entrant.id for entrant in read_event(folder).entrants]
    search = Search(
        bots=tuple(draw.sample(entrants, draw.choice((0, 1, 2)))),
        fault=draw.choice(("", "", ANY, FaultKind.CRASH)),
        totals=tuple(filter(None, [Bound.read(draw.choice(("", "<150", ">=90", "what")))])),
        margins=tuple(filter(None, [Bound.read(draw.choice(("", ">0", "<= 9", "7")))])),
        sort=draw.choice(("", *SORTS)),
    )
    everything, limit = draw.random() < 0.5, draw.choice((None, 3))
    found = search_matches(folder, search, _quiet, everything=everything, limit=limit)
    wanted = [
        (record, counted)
        for record, counted in _all(folder)
        if (everything or counted) and search.wants(record)
    ]
    if found.matches != len(wanted):
        yield f"{search} finds {found.matches} matches of {len(wanted)}"
    if search.sort:
        wanted.sort(key=lambda each: (search.place(each[0]), each[0].id, each[0].attempt))
    if list(found.records) != wanted[:limit]:
        yield f"{search} shows other matches"
    first = search_matches(folder, Search(), _quiet, limit=2)
    every = [record for record, counted in _all(folder) if counted]
    if first.matches != len(every) or [record for record, _ in first.records] != every[:2]:
        yield "a search for nothing doesn't show the first matches"


def _all(folder: Path) -> list:
    """The records of an event, each with whether it counts."""
    counts = Counts(folder)
    return [(record, counts.takes(record_key(record))) for record in read_records(folder)]


def _prefix(played, folder: Path) -> Iterator[str]:
    """A match is found by as much of its id as no other has; what may be two is refused."""
    attempts = Counter(record.id for record in read_records(folder))
    ids = sorted(attempts)
    if not ids:
        yield from _refused(lambda: records_of(folder, "m", _quiet), "no match has been played")
        return
    wanted = played.draw.choice(ids)
    find, call, count = records_of, record_of_attempt, counted_record
    yield from _refused(lambda: find(folder, f"{wanted}x", _quiet), "there is no match")
    yield from _refused(lambda: call(folder, wanted, 77, _quiet), "has no attempt 77")
    lengths = range(1, len(wanted) + 1)
    alone = [n for n in lengths if sum(each.startswith(wanted[:n]) for each in ids) == 1]
    for length in (played.draw.choice(lengths), *alone[:1]):
        prefix = wanted[:length]
        fits = [each for each in ids if each.startswith(prefix)]
        if prefix in ids or len(fits) == 1:
            name = prefix if prefix in ids else fits[0]
            if {record.id for record in find(folder, prefix, _quiet)} != {name}:
                yield f"{prefix} leads to another match than {name}"
            if count(folder, prefix, _quiet).id != name:
                yield f"{prefix} counts as another match than {name}"
        else:
            yield from _refused(functools.partial(find, folder, prefix, _quiet), "may be any of")
    (most,) = attempts.most_common(1)
    for record, counted in _all(folder):
        if record.id in (wanted, most[0]):
            if count(folder, record.id, _quiet, attempt=record.attempt) != record:
                yield f"attempt {record.attempt} of {record.id} is another"
            if counted and count(folder, record.id, _quiet) != record:
                yield f"another attempt at {record.id} counts"


def _counted(played, folder: Path) -> Iterator[str]:
    """The records that count are the same by every way to read them."""
    event = read_event(folder)
    one = list(read_by_id(folder, Counts(folder), event))
    counting = counting_of(event, secret_of(folder, event))

    def count(records):
        for record in records:
            counting.add(record)
        return Counts(folder, counting)

    if list(read_counted(folder, count, event)) != one:
        yield "a log that is read once has other records that count"
    placed = list(read_placed(folder, event))
    some = played.draw.sample(placed, min(3, len(placed)))
    found = list(read_at(folder, [(record.id, start) for start, record in some], event))
    if sorted(record.id for record in found) != sorted(record.id for _, record in some):
        yield "other records lie where they were"
    if records := [record for _, record in some]:
        series = records_of_series(folder, records[0].series, event)
        if records[0] not in series or {each.series for each in series} != {records[0].series}:
            yield f"the index doesn't lead to series {records[0].series}"


def _same(played, folder: Path) -> Iterator[str]:
    """Bots of one content aren't compared, and nothing is left of a folder named by the time."""
    if played.busy:
        return
    results = played.world.disk.root / "results"
    bots, options = [Path("ann"), Path("ann-again")], EventOptions(luck=False, seed="x")
    with claim_folder(None) as other:
        found = compare_bots(bots, options, TrialOptions(), None, played.session())
        if found.outcome is not None or found.verdict is not None:
            yield "bots of one content were compared"
        if other.parent != results or not other.is_dir():
            yield f"{other} was claimed"
    if results.exists():
        yield f"left: {sorted(results.iterdir())}"
    del folder


def _process(played, folder: Path) -> Iterator[str]:
    """The matches that one process of a bot has played, up to one of them."""
    records = list(read_records(folder))
    if not records:
        return
    record = played.draw.choice(records)
    bot = played.draw.choice(record.seats)
    event, name = read_event(folder), bot.partition("@")[0]
    if sum(each.name == name for each in event.entrants) > 1:
        yield from _refused(lambda: seat_of(event, name), "may be any of these")
        name = bot
    found = BotMatches(folder, record.id, name, record.attempt, _quiet, event=event)
    if found.entrant.id != bot or found.records[-1] != record:
        yield f"the process of {bot} in {record.id} is another"
    if any(each.faults for each in found.records[:-1]):
        yield f"a process of {bot} has outlived a fault"
    if played.computed and not found.transcript(lean=False):
        yield f"no transcript of {bot} in {record.id}"
    for who in (name, bot):
        if seat_of(event, who) != bot:
            yield f"{who} is another bot than {bot}"
    yield from _refused(lambda: seat_of(event, "nobody"), "takes part")
    ask = BotMatches
    yield from _refused(lambda: ask(folder, record.id, None, None, _quiet), "whose transcript")
    yield from _refused(lambda: ask(folder, record.id, "nobody", None, _quiet), "was not in match")


def _forecast(played, folder: Path) -> Iterator[str]:
    """A forecast counts the matches of the first wave, and leaves nothing."""
    if played.busy:
        return
    with played.fresh() as place:
        entry = played.entry(place)
        forecasts = [forecast_event(entry, played.session())]
        forecasts.append(forecast_event(entry._replace(out=None), played.session()))
        if place.exists():
            yield "a forecast has left a folder"
    if read_event(folder).finished and played.may_add(folder):
        forecasts.append(forecast_epoch(folder, Newcomers([Path("newer")], "f"), played.session()))
    for found in forecasts:
        seats = found.event.settings.seats
        if found.matches % seats or found.deals < 1 or found.seconds <= 0 or not found.samples:
            yield f"a forecast of nothing: {found.matches} matches"


def _match(played, folder: Path) -> Iterator[str]:
    """One match, of bots or of functions, is the same again."""
    del folder
    if played.busy:
        return
    functions = [_first_move, _first_move]
    for bots in (functions, [Path("ann"), Path("ann")], [Path("ann"), Path("cid"), Path("gil")]):
        one, other = (play_match(bots, MatchOptions(deal=3), _quiet) for _ in range(2))
        if one.record.totals != other.record.totals:
            yield "the same match has two results"
    with_one = [Path("ann")]
    yield from _refused(lambda: play_match(with_one, MatchOptions(), _quiet), "plays no match")
    gone = [Path("gone")]
    yield from _refused(lambda: play_match(gone, MatchOptions(), _quiet), "there is no such path")
    yield from _refused(lambda: play_match([], MatchOptions(), _quiet), "name the bots that play")
    many = [Path(f"bot-{number}") for number in range(9)]
    yield from _refused(lambda: play_match(many, MatchOptions(), _quiet), "9 bots: ")
    broken = [Path("ann"), Path("optional")]
    yield from _refused(lambda: play_match(broken, MatchOptions(), _quiet), "needs all the bots")


def _clock(played, folder: Path) -> Iterator[str]:
    """What a display asks of an event's progress."""
    del folder
    progress = played.progress
    if progress is None:
        return
    left = progress.seconds_left()
    if left is not None and left < 0 and progress.done <= progress.planned:
        yield f"{left} s are left"


def _first_move(_, legal) -> str:
    return legal[0]


def _quiet(_: str) -> None:
    pass


def _refused(call, says: str) -> Iterator[str]:
    try:
        call()
    except UserError as error:
        if says not in str(error):
            yield f"it says {str(error)!r}, not {says!r}"
    else:
        yield f"not refused, though {says!r}"


FINDS = {
    "table": _table,
    "find": _find,
    "rate": _rate,
    "range": _range,
    "search": _search,
    "prefix": _prefix,
    "counted": _counted,
    "same": _same,
    "process": _process,
    "forecast": _forecast,
    "match": _match,
    "clock": _clock,
}
LOOKS = tuple(FINDS)


def look(played, how: str, folder: Path) -> list[str]:
    return list(itertools.islice(FINDS[how](played, folder), 3))
