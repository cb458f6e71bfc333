"""Faults as lines: everything an author needs, and nothing that a terminal would obey."""

import msgspec
import pytest

from arena.model import Fault, FaultHost, FaultKind, Limits
from arena.reports.faults import fault_lines, feed_command, match_fault_lines
from tests.records import match_record


def record(*faults):
    """A match with these faults."""
    return match_record(deal=3, rotation=1, seats=("ann@1", "bob@2"), places=(1, 2), faults=faults)


def test_a_fault_says_who_what_where_and_why():
    """Bot, kind, match, hole, turn, message, status, the line and the end of stderr."""
    fault = Fault(
        kind=FaultKind.CRASH,
        seat=1,
        hole=3,
        turn=52,
        message="died while it was asked",
        line="half an ans",
        stderr="one\ntwo\n\nthree\nfour\nfive\nsix\nout of nectar\n",
        status="exit 255",
    )
    assert [
        "bob@2: crash in p-000003-1, hole 3, turn 52: died while it was asked (exit 255)",
        "    its line: half an ans",
        "    stderr: two",
        "    stderr: three",
        "    stderr: four",
        "    stderr: five",
        "    stderr: six",
        "    stderr: out of nectar",
    ] == list(match_fault_lines(record(fault)))


@pytest.mark.parametrize(
    ("memory", "turn", "told"),
    [
        (
            11.4,
            1,
            [
                "charged 101 of 512 ms for this decision; load 6.40",
                "in the whole match: CPU 98 ms, memory 11 MB",
            ],
        ),
        (
            0.0,
            0,
            ["charged 101 of 512 ms for the start; load 6.40", "in all: CPU 98 ms"],
        ),
    ],
)
def test_what_the_bot_used_has_lines_that_say_in_which_time(memory, turn, told):
    """A decision's time is not to be compared with a match's CPU; memory where somebody looked."""
    facts = FaultHost(memory_mb=memory, cpu_ms=98.2, wall_ms=512.3, charged_ms=100.9, load=6.4)
    fault = Fault(kind=FaultKind.TIMEOUT, seat=0, hole=1, turn=turn, message="no", host=facts)
    assert [f"    host: {line}" for line in told] == list(match_fault_lines(record(fault)))[-2:]


def test_what_is_ours_fits_eighty_columns():
    """A headline that doesn't has its second half on a line; of a bot's words none is cut."""
    facts = FaultHost(memory_mb=65536, cpu_ms=1e6, wall_ms=60_000, charged_ms=60_000, load=123.4)
    fault = Fault(
        kind=FaultKind.MALFORMED,
        seat=1,
        hole=18,
        turn=1234,
        message="it answered something that is no JSON object at all",
        line="x" * 100,
        status="signal SIGSEGV",
        host=facts,
    )
    first, second, line, *host = match_fault_lines(record(fault))
    assert "bob@2: malformed in p-000003-1, hole 18, turn 1234:" == first
    assert "    it answered something that is no JSON object at all (signal SIGSEGV)" == second
    assert line.endswith("x" * 100)
    assert all(len(told) <= 80 for told in (first, second, *host))


def test_a_fault_before_the_first_question_was_at_the_start():
    """There is no hole and no turn yet; without line and stderr it is one line."""
    fault = Fault(kind=FaultKind.START, seat=0, hole=0, turn=0, message="not ready")
    assert ["ann@1: start in p-000003-1, at the start: not ready"] == list(
        match_fault_lines(record(fault))
    )


def test_a_match_without_faults_has_no_lines():
    """Nothing to tell."""
    assert [] == list(match_fault_lines(record()))


def test_escape_sequences_of_a_bot_are_shown_and_not_obeyed():
    """Line and stderr are the bot's own words."""
    fault = Fault(
        kind=FaultKind.MALFORMED,
        seat=0,
        hole=1,
        turn=1,
        message="no",
        line="\x1b[2Jgone",
        stderr="\x1b]0;owned\x07\n",
    )
    assert "\x1b" not in "".join(match_fault_lines(record(fault)))
    assert "\x07" not in "".join(match_fault_lines(record(fault)))


@pytest.mark.parametrize(
    ("kind", "entrant", "folder", "attempt", "command"),
    [
        ("crash", "bob@2", "friday", 0, "arena feed bob@2 friday --match p-000003-1"),
        ("start", "bob@2", "f", 0, "arena feed bob@2 f --match p-000003-1 --timeout 10000ms"),
        (
            "bank",
            "bob@2",
            "f",
            2,
            "arena feed bob@2 f --match p-000003-1 --attempt 2 --timeout 1000ms",
        ),
        ("exit", "bob@2", "my event", 0, "arena feed bob@2 'my event' --match p-000003-1"),
        ("exit", "-b@2", "f", 0, "arena feed --match p-000003-1 -- -b@2 f"),
    ],
)
def test_each_fault_of_an_event_names_the_command_that_shows_it_again(
    kind, entrant, folder, attempt, command
):
    """Quoted for a shell; with a time limit only where the fault was one of time."""
    fault = Fault(kind=FaultKind(kind), seat=1, hole=1, turn=1, message="no")
    match = msgspec.structs.replace(record(fault), seats=("ann@1", entrant), attempt=attempt)
    assert command == feed_command(match, fault, folder, Limits())
    assert f"    again: {command}" == list(fault_lines(match, folder, Limits()))[-1]
