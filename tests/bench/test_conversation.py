"""The conversation that floors are measured with is the one that a real worker has."""

import pytest
from measures.conversation import Conversation, series_of, settings_of
from measures.worker import Worker


@pytest.mark.process
def test_same_matches(instant_bots):
    """Bots of this process play the matches that the C bots play, move for move."""
    worker = Worker(instant_bots, core=None)
    try:
        series = series_of(worker.names, 3)
        seen = [each.record.digest for each in worker.play(series)]
    finally:
        worker.close()
    conversation = Conversation(settings_of())
    assert [conversation.play(spec).computed_digest() for spec in series.matches] == seen
