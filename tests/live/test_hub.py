"""Fragments and viewers: nobody misses the newest, nobody makes anybody wait."""

import json

import trio

from arena.live.hub import FEW, Hub

BOTH = frozenset({"one", "two"})


def read(message):
    """(id, fragments) of a message."""
    first, second, *rest = message.decode().split("\n")
    assert rest == ["", ""]
    return first.removeprefix("id: "), json.loads(second.removeprefix("data: "))


def test_who_has_seen_nothing_gets_all_and_then_what_is_new():
    """Also a fragment that was overtaken is sent once, as it is last."""
    hub = Hub("run")
    hub.put({"one": "1", "two": "2"})
    assert read(hub.since(0, BOTH)) == ("run-1", {"one": "1", "two": "2"})
    hub.put({"one": "1", "two": "3"})
    hub.put({"two": "4"})
    assert read(hub.since(1, BOTH)) == ("run-3", {"two": "4"})
    assert hub.fragments() == {"one": "1", "two": "4"}


def test_a_viewer_gets_the_fragments_that_it_asked_for():
    """And no message where none of them has changed."""
    hub = Hub("run")
    hub.put({"one": "1", "two": "2"})
    hub.put({"two": "3"})
    assert read(hub.since(0, frozenset({"one", "three"}))) == ("run-2", {"one": "1"})
    assert hub.since(1, frozenset({"one"})) == b""


def test_what_has_not_changed_is_no_change():
    """Nobody is woken for it."""
    hub = Hub("run")
    hub.put({"one": "1"})
    hub.put({"one": "1"})
    assert hub.number == 1


def test_names_have_no_line_breaks_on_the_wire():
    """A message is as long as we say, whatever is in it."""
    hub = Hub("run")
    hub.put({"one": "a\n\ndata: b\r\rid: 3\u2028"})
    assert read(hub.since(0, BOTH))[1] == {"one": "a\n\ndata: b\r\rid: 3\u2028"}
    assert b"\r" not in hub.since(0, BOTH)


def test_positions():
    """The last id that a viewer got says how far it is; anything else says nothing."""
    hub = Hub("run")
    hub.put({"one": "1"})
    hub.put({"one": "2"})
    assert hub.position(hub.id_of(1)) == 1
    assert hub.position("run-9") == 2
    for strange in ("", "1", "other-1", "run-x", "run--1", "run-" + "9" * 400, "run-²"):
        assert hub.position(strange) == 0


def test_messages_that_are_kept_are_few():
    """However many viewers are at however many places."""
    hub = Hub("run")
    for number in range(100):
        hub.put({"one": str(number)})
    for seen in range(100):
        hub.since(seen, BOTH)
    assert len(hub._made) == FEW
    assert hub.since(3, BOTH) is hub.since(3, BOTH)


async def test_waiting_ends_with_news_and_with_the_end(autojump_clock):
    """And not before."""
    hub = Hub("run")
    seen = []

    async def look():
        number = 0
        with hub.viewer():
            while not hub.over:
                await hub.changed(number)
                if hub.number > number:
                    number = hub.number
                    seen.append(number)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        nursery.start_soon(look)
        await trio.testing.wait_all_tasks_blocked()
        assert hub.viewers == 2
        hub.put({"one": "1"})
        await trio.testing.wait_all_tasks_blocked()
        assert seen == [1, 1]
        hub.end()
    assert hub.viewers == 0


async def test_somebody_looks(autojump_clock):
    """Nobody is waited for who is there; a page that is asked for is a look too."""
    hub = Hub("run")
    with trio.move_on_after(1) as waiting:
        await hub.awaited()
    assert waiting.cancelled_caught
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hub.awaited)
        await trio.testing.wait_all_tasks_blocked()
        hub.wake()
    with hub.viewer():
        await hub.awaited()
