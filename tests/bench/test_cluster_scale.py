"""The model of a cluster, from made-up measurements; and what a simulated worker answers."""

import msgspec
import pytest

pytest.importorskip("distributed")

from cluster_scale import Idle, Load, Model, Took, beats, fitted, tasks_of
from measures.conversation import Conversation, series_of, settings_of
from simulated_workers import Canned, Counts

from arena.executors import Job, SeriesEnd
from arena.executors.local import parse_report


def idle(workers):
    """A cluster whose scheduler takes 10 ms, and 0.2 a heartbeat."""
    other = dict.fromkeys(Idle._fields, 0.0)
    return Idle(
        **other
        | {"workers": workers, "scheduler": 0.01 + 0.0002 * beats(workers)}
        | {"poll_scheduler": 1e-6 * workers, "poll_parent": 2e-6 * workers}
    )


def took(workers, tasks, matches):
    """An event: 1 and 2 ms a task, 10 and 30 µs a match."""
    rest = 0.01 + 0.0002 * beats(workers) + 2e-6 * workers
    return Took(
        **dict.fromkeys(Took._fields, 0.0)
        | {"workers": workers, "load": Load(1, 1.0), "tasks": tasks, "matches": matches}
        | {"scheduler": rest + 0.001 * tasks + 0.00001 * matches}
        | {"parent": 4e-6 * workers + 0.002 * tasks + 0.00003 * matches}
    )


def test_a_model_tells_what_it_was_not_made_of():
    """Tasks and matches are told apart, and a thousand workers follow from a hundred."""
    known = [took(100, 50, 50), took(100, 20, 400), took(300, 50, 50), took(300, 20, 400)]
    model = fitted([idle(100), idle(300)], known)
    assert isinstance(model, Model)
    far = took(1000, 200, 3000)
    assert pytest.approx(far.scheduler) == model.scheduler(1000, 200, 3000)
    assert pytest.approx(far.parent) == model.parent(1000, 200, 3000)


@pytest.mark.parametrize(
    ("rate", "series", "tasks"),
    [(1, 25, 40), (100, 25, 1000), (100, 1, 1562.5)],
    ids=["one series a task", "several, a second's work", "not more than sixty-four"],
)
def test_tasks_are_as_large_as_the_executor_makes_them(rate, series, tasks):
    """Of a thousand workers, a second."""
    assert pytest.approx(tasks) == tasks_of(1000, rate, series)


def test_a_simulated_worker_answers_with_real_records_of_what_was_asked(tmp_path):
    """Each match once, with a digest that is right, and the end of the series."""
    conversation = Conversation(settings_of())
    models = [conversation.play(spec) for spec in series_of(("a", "b"), 2).matches]
    lines = b"\n".join(msgspec.json.encode(record) for record in models)
    (tmp_path / "records.jsonl").write_bytes(lines)
    canned = Canned(tmp_path)
    canned.match_s = 0.0
    job = Job(series=series_of(("x", "y"), 3, "asked"), attempt=1)
    trouble, answer = canned.do("play", "event", 0, None, msgspec.json.encode([job]))
    assert "" == trouble
    *played, end = [parse_report(line) for line in answer.splitlines()]
    assert [spec.id for spec in job.series.matches] == [each.record.id for each in played]
    assert all(each.record.digest == each.record.computed_digest() for each in played)
    assert SeriesEnd(series="asked", attempt=1) == end
    assert Counts(tasks=1, matches=3, answered=len(answer)) == canned.counts
