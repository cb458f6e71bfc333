"""Making what viewers see: once for all, while somebody looks, and not at the event's cost."""

from types import SimpleNamespace

import pytest
import trio

from arena.event.results import table_of
from arena.live import broadcast as module
from arena.live.app import MatchOpener
from arena.live.broadcast import Broadcast
from arena.live.event_state import EventState
from arena.live.server import LOOPBACK, listen
from arena.store import read_event, secret_of

PARTS = frozenset({"progress", "ranking"})


class Case:
    """A broadcast of an event that is over, whose ranking says how often it was made."""

    def __init__(self, folder):
        self.folder = folder
        event = read_event(folder)
        self.show = EventState(event)
        self.pace = SimpleNamespace(planned=8, more=0, done=0, faults=0, rate=lambda: 1.0)
        self.made = 0
        self.told = []
        self.error = None
        opening = MatchOpener(folder, event, secret_of(folder, event))
        self.broadcast = Broadcast(
            self.show, self.pace, opening, lambda: self.ranking, failed=self.told.append
        )

    def ranking(self):
        self.made += 1
        if self.error:
            raise self.error
        return table_of(self.folder)

    async def look(self, times, seen=0):
        """Be a viewer for that many messages."""
        stream = self.broadcast.stream(seen, PARTS)
        got = []
        async for message in stream:
            if b"id:" in message or b"end" in message:
                got.append(message)
            if len(got) == times:
                break
        await stream.aclose()
        return got


@pytest.fixture
def case(play_event, tmp_path):
    """An event of two bots."""
    play_event(tmp_path / "event", deals=4)
    return Case(tmp_path / "event")


async def test_nothing_is_made_while_nobody_looks(case, monkeypatch):
    """However long; then at once, and once for all who look."""
    monkeypatch.setattr(module, "EVERY_S", 0.01)
    with trio.fail_after(90):
        async with trio.open_nursery() as nursery:
            await nursery.start(case.broadcast.run, listen(None), LOOPBACK)
            for _ in range(20):
                await trio.sleep(0.005)
            assert case.made == 0
            found = []

            async def look():
                found.extend(await case.look(1))

            async with trio.open_nursery() as lookers:
                for _ in range(10):
                    lookers.start_soon(look)
            assert case.made == 1
            assert len(found) == 10
            assert len(set(found)) == 1
            await case.broadcast.finish("over", None)


async def test_a_slow_viewer_skips_what_was_overtaken(case, monkeypatch):
    """And gets the last state of it."""
    monkeypatch.setattr(module, "EVERY_S", 0.0)
    with trio.fail_after(90):
        stream = case.broadcast.stream(0, PARTS)
        assert b"hello" in await anext(stream)
        for done in range(1, 6):
            case.pace.done = done
            await case.broadcast.refresh()
        message = await anext(stream)
        assert b'data-done=\\"5\\"' in message
        await case.broadcast.settle("over", None)
        assert b"live_over" in await anext(stream)
        assert b"event: end" in await anext(stream)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


async def test_a_mistake_of_ours_is_told_once_and_the_page_stays(case, monkeypatch):
    """Nothing leaves; the ranking comes back when it can be made."""
    monkeypatch.setattr(module, "EVERY_S", 0.0)
    case.error = RuntimeError("our mistake")
    with trio.fail_after(90):
        for _ in range(3):
            await case.broadcast.refresh()
        assert case.made == 3
        assert case.told == ["the live page: RuntimeError: our mistake; the event goes on"]
        case.error = None
        await case.broadcast.refresh()
        assert len(await case.look(1)) == 1
    assert len(case.told) == 1


async def test_the_ranking_takes_a_small_part_of_the_time(case, monkeypatch):
    """It is made again only after a hundred times as long as it took."""
    monkeypatch.setattr(module, "EVERY_S", 0.0)
    with trio.fail_after(90):
        for done in range(50):
            case.pace.done = done
            await case.broadcast.refresh()
        assert case.made == 1
        await case.broadcast.settle("over", table_of(case.folder))
    assert case.broadcast.hub.over
    assert case.broadcast.snapshot.table == table_of(case.folder)


async def test_silence_is_broken(case, monkeypatch):
    """So that nothing between us and a browser takes the connection for a dead one."""
    monkeypatch.setattr(module, "SILENCE_S", 0.01)
    with trio.fail_after(90):
        stream = case.broadcast.stream(0, PARTS)
        await anext(stream)
        assert await anext(stream) == b": still here\n\n"
        await stream.aclose()


async def test_a_part_of_an_event_has_pages_without_a_ranking(case):
    """Progress and matches; where the ranking would be it says why there is none."""
    opening = case.broadcast._opening
    alone = Broadcast(case.show, case.pace, opening, None, failed=case.told.append)
    with trio.fail_after(90):
        await alone.refresh()
    held = alone.hub.fragments()
    assert "live_no_ranking" in held["ranking"]
    assert "<h1>" in held["head:index.html"]
    assert case.told == []
