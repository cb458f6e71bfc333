"""What is taken of an answer of a machine elsewhere: what was asked for, and nothing else."""

import pytest

from arena.engine.match import FinishedMatch
from arena.executors import Job, SeriesEnd
from arena.executors.answers import InvalidAnswerError, parse_answer
from arena.executors.worker import report_line
from arena.model import Fault, FaultKind, MatchSpec, Series
from tests.records import match_record


def spec(series, deal):
    """A match."""
    return MatchSpec(
        id=f"{series}-{deal}",
        series=series,
        pairing="p",
        deal=deal,
        rotation=0,
        seats=("a", "b"),
    )


def job(series, attempt=0):
    """Two matches to be played."""
    made = Series(id=series, matches=(spec(series, 0), spec(series, 1)))
    return Job(series=made, attempt=attempt)


def match(series, deal, **other):
    """One of them, played."""
    return FinishedMatch(record=match_record(spec(series, deal), **other))


def end(series, **other):
    """The end of a series."""
    return SeriesEnd(**({"series": series, "attempt": 0} | other))


def answer(*told):
    """The bytes of some reports."""
    return b"".join(map(report_line, told))


WHOLE = [match("s", 0), match("s", 1), end("s")]
FAULT = Fault(seat=0, kind=FaultKind.CRASH, hole=0, turn=0, message="")


@pytest.mark.parametrize(
    "told",
    [
        [],
        WHOLE,
        [*WHOLE, match("t", 0), match("t", 1), end("t")],
        [match("s", 0), end("s", trouble="no space left")],
        [match("s", 0, faults=(FAULT,)), end("s")],
        [end("t", bug="a traceback")],
    ],
)
def test_what_was_asked_for_is_taken(told):
    """Whole series, and those that came to no end; of some nothing may be said."""
    assert told == parse_answer(answer(*told), [job("s"), job("t")])


@pytest.mark.parametrize(
    "told",
    [
        None,
        "text",
        b"\xff",
        b"{}\n",
        b"[" * 100_000,
        answer(*WHOLE)[:-20],
        answer(*WHOLE, *WHOLE),
        answer(*WHOLE[:2]),
        answer(*WHOLE[1:]),
        answer(end("s")),
        answer(end("u")),
        answer(match("u", 0), end("s")),
        answer(match("s", 0), match("t", 0), end("s")),
        answer(match("s", 0), match("s", 1, seats=("a", "c")), end("s")),
        answer(match("s", 0), match("s", 1, attempt=1), end("s")),
        answer(*WHOLE[:2], end("s", attempt=7)),
    ],
)
def test_of_anything_else_nothing_is_taken(told):
    """Not even what is right in it."""
    with pytest.raises(InvalidAnswerError):
        parse_answer(told, [job("s"), job("t")])


def test_the_bytes_of_an_answer_are_not_for_the_log():
    """It gets what we encode ourselves of the records."""
    spaced = answer(*WHOLE).replace(b'"deal":', b'"deal": ')
    assert [b"", b""] == [report.encoded for report in parse_answer(spaced, [job("s")])[:2]]
