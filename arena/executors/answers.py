"""What a machine elsewhere says that it has played: taken only if that is what was asked for.

A worker of this machine is ours, and a mistake in what it says is a bug. One of a cluster may be
broken, or anybody's who has a certificate; a log takes nothing back, and one record of a match that
nobody has planned makes it nobody's event.

Invariant: what is taken are matches of the series that were asked for, in their order, of the
attempt that was asked for, each followed by the end of its series. What happened in them is taken
on trust.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from arena.engine.match import FinishedMatch
from arena.executors import Job, Report, SeriesEnd
from arena.executors.local import parse_report
from arena.model import MatchRecord
from arena.replay.moves import spec_of


class StrangeError(Exception):
    """An answer that is none, and why."""


def reports(answer: object, jobs: Iterable[Job]) -> list[Report]:
    """The reports of an answer; of jobs that it says nothing of, none."""
    if not isinstance(answer, bytes):
        raise StrangeError("it is no text")
    try:
        found = [_canonical(parse_report(line)) for line in answer.splitlines()]
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise StrangeError(str(error)) from None
    asked = {job.series.id: job for job in jobs}
    played: list[MatchRecord] = []
    for report in found:
        name = report.record.series if isinstance(report, FinishedMatch) else report.series
        if (job := asked.get(name)) is None:
            raise StrangeError(f"nobody has asked for series {name}")
        if isinstance(report, FinishedMatch):
            played.append(report.record)
        else:
            _judge(job, played, report)
            del asked[name]
            played = []
    if played:
        raise StrangeError(f"series {played[0].series} has no end")
    return found


def _canonical(report: Report) -> Report:
    """Without the bytes that came: the log gets what we encode ourselves."""
    if isinstance(report, SeriesEnd):
        return report
    return msgspec.structs.replace(report, encoded=b"")


def _judge(job: Job, played: list[MatchRecord], end: SeriesEnd) -> None:
    """Whether that is a playing of the series, if an unfinished one."""
    wanted = job.series.matches
    specs = [spec_of(record) for record in played]
    attempts = {end.attempt, *(record.attempt for record in played)}
    if attempts != {job.attempt} or specs != list(wanted[: len(specs)]):
        raise StrangeError(f"series {job.series.id} is another one there")
    unfinished = end.trouble or end.bug or any(record.faults for record in played)
    if len(specs) < len(wanted) and not unfinished:
        raise StrangeError(f"series {job.series.id} lacks matches")
