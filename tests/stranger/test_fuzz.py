"""Any field of a folder changed to anything: a success or a UserError, nothing else."""

import contextlib
import copy
import random
import time

import pytest

from arena.api.proof import audit_results
from arena.event.rerate import RateOptions, rate_events
from arena.event.results import Counts, table_of
from arena.event.search import BotMatches
from arena.model import UserError
from arena.registry import REPORTS, render
from arena.reports.faults import fault_lines
from arena.store import canonical_line, read_by_id, read_event, read_records, read_some
from arena.terminal.audit_report import audit_lines

VALUES = (
    None,
    True,
    0,
    -1,
    1,
    2,
    7,
    18,
    59,
    10**6,
    10**30,
    1.5,
    1e308,
    -1e-300,
    "",
    "0",
    "play-nine",
    "\x1b[2J",
    "\ud800",
    "../../x",
    "x" * 5000,
    [],
    [0],
    [[], {}],
    ["a"] * 500,
    {},
    {"a": 1},
    "deeper than any parser goes",
)
ROUNDS = 150
# The slowest takes a few thousandths of this.
LONGEST_S = 5.0


def places(value, path=()):
    """The path of every value within a value."""
    yield path
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for key, each in inner:
        yield from places(each, (*path, key))


def changed(value, draw):
    """A copy with something else in one place: another value, none, or one from elsewhere."""
    value = copy.deepcopy(value)
    *above, last = draw.choice([path for path in places(value) if path])
    holder = value
    for key in above:
        holder = holder[key]
    how = draw.random()
    if how < 0.15:
        del holder[last]
    elif how < 0.25 and isinstance(holder, list):
        holder.append(holder[last])
    elif how < 0.35:
        one = value
        for key in draw.choice(list(places(value))):
            one = one[key]
        holder[last] = copy.deepcopy(one)
    elif how < 0.5:
        holder[last] = draw.choice(VALUES)
    else:  # of the same type: it gets further
        holder[last] = draw.choice([v for v in VALUES if type(v) is type(holder[last])] or VALUES)
    return value


def tried(work):
    """Do it; a UserError is fine."""
    begun = time.process_time()
    with contextlib.suppress(UserError):
        work()
    assert time.process_time() - begun < LONGEST_S


def read_all(folder):
    """Everything that is made of a folder, each by itself."""

    def reports():
        table = table_of(folder)
        for kind in REPORTS:
            render(table, kind, width=80)

    def again():
        wanted = RateOptions(since=0.0, skip_damaged=True)
        table = rate_events([folder], wanted)
        for kind in REPORTS:
            render(table, kind, width=80)

    def faults():
        limits = read_event(folder).settings.limits
        for record in read_records(folder):
            list(fault_lines(record, str(folder), limits))

    def transcript():
        record = list(read_records(folder))[-1]
        bot = BotMatches(folder, record.id, record.seats[1], record.attempt, print)
        bot.transcript(lean=False)

    tried(reports)
    tried(again)
    tried(lambda: list(read_some(folder, Counts(folder))))
    tried(lambda: list(map(canonical_line, read_by_id(folder, Counts(folder)))))
    tried(faults)
    tried(transcript)
    tried(lambda: list(audit_lines(audit_results(folder), str(folder), paint=False)))


@pytest.mark.parametrize("what", ["event", "records"])
@pytest.mark.long("files changed by lot")
def test_whatever_is_changed_ends_in_a_line(forger, what):
    """Structural changes with right checksums, by a fixed seed."""
    draw = random.Random(f"stranger {what}")
    original = forger.event() if what == "event" else forger.records()
    put = forger.put_event if what == "event" else forger.put_records
    for _ in range(ROUNDS):
        value = changed(original, draw)
        for _ in range(draw.choice((0, 0, 2))):
            value = changed(value, draw)
        try:
            put(value)
            read_all(forger.folder)
        except BaseException as error:
            error.add_note(f"with {value!r}"[:3000])
            raise
