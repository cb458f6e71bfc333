"""Validate the records that a cluster worker reports, before they go into the log.

A worker of this machine is our own process, and a wrong line from it is our bug. A cluster worker
may be broken, or belong to anyone with a certificate. Nothing is ever removed from a log, and one
record of a match that was not planned makes the whole log invalid for its event.

Invariant: what is accepted are matches of the series that were asked for, in their order, of the
attempt that was asked for, each followed by the end of its series. What happened in them is taken
on trust.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from arena.engine.match import FinishedMatch
from arena.executors import Job, Report, SeriesEnd
from arena.executors.local import parse_report
from arena.model import MatchRecord
from arena.replay.moves import spec_of


class InvalidAnswerError(Exception):
    """The answer doesn't fit the jobs; the message says why."""


def parse_answer(answer: object, jobs: Iterable[Job]) -> list[Report]:
    """The reports in an answer; it may leave out any of the jobs."""
    if not isinstance(answer, bytes):
        raise InvalidAnswerError("it is no text")
    try:
        found = [parse_report(line) for line in answer.splitlines()]
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InvalidAnswerError(str(error)) from None
    asked = {job.series.id: job for job in jobs}
    accepted: list[Report] = []
    played: list[MatchRecord] = []
    for report in found:
        name = report.record.series if isinstance(report, FinishedMatch) else report.series
        if name not in asked:
            raise InvalidAnswerError(f"series {name} was not asked for")
        if isinstance(report, FinishedMatch):
            played.append(report.record)
            # Without the bytes that came: the log gets what we encode ourselves.
            accepted.append(replace(report, encoded=b""))
        else:
            _check(asked.pop(name), played, report)
            accepted.append(report)
            played = []
    if played:
        raise InvalidAnswerError(f"series {played[0].series} has no end")
    return accepted


def _check(job: Job, played: list[MatchRecord], end: SeriesEnd) -> None:
    """InvalidAnswerError unless these are the matches of the series, or its first ones."""
    wanted = job.series.matches
    specs = [spec_of(record) for record in played]
    attempts = {end.attempt, *(record.attempt for record in played)}
    if attempts != {job.attempt} or specs != list(wanted[: len(specs)]):
        raise InvalidAnswerError(f"series {job.series.id} is another one there")
    unfinished = end.trouble or end.bug or any(record.faults for record in played)
    if len(specs) < len(wanted) and not unfinished:
        raise InvalidAnswerError(f"series {job.series.id} lacks matches")
