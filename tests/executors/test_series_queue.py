"""Which series is handed out next: counted in rounds of series, never timed."""

import itertools
import random

import pytest
import trio
import trio.testing

from arena.executors.series_queue import BLOCKS_A_WORKER, SeriesQueue, WorkerId, pause
from arena.model import Block, MatchSpec, Series

ME = WorkerId("here", "1")


def block(name, *lengths):
    """A block with series of so many matches."""
    return Block(
        id=name,
        series=tuple(
            Series(
                id=f"{name}-s{place}",
                matches=tuple(
                    MatchSpec(
                        id=f"{name}-{deal}-{place}",
                        series=f"{name}-s{place}",
                        pairing=name,
                        deal=deal,
                        rotation=place,
                        seats=("a", "b"),
                    )
                    for deal in range(length)
                ),
            )
            for place, length in enumerate(lengths)
        ),
    )


async def played(blocks, workers):
    """Play with workers that take a step a match: (steps, [(step, "start" or "end", series)])."""
    queue = SeriesQueue(iter(blocks), workers=workers)
    at_work, log, step = {}, [], 0
    while True:
        for worker in range(workers):
            if worker not in at_work:
                with trio.move_on_after(0):
                    if (turn := await queue.take(ME)) is not None:
                        at_work[worker] = [turn, len(turn.series.matches)]
                        log.append((step, "start", turn.series.id))
        if not at_work:
            return step, log
        step += 1
        for worker, work in list(at_work.items()):
            work[1] -= 1
            if not work[1]:
                log.append((step, "end", work[0].series.id))
                queue.give_back(work[0])
                del at_work[worker]


async def test_three_blocks_take_two_workers_three_series_time():
    """A block for each worker would take four, with a core idle for half of it."""
    blocks = [block(name, 25, 25) for name in "abc"]
    steps, _ = await played(blocks, 2)
    assert 75 == steps


async def test_the_end_is_as_near_as_it_can_be():
    """With equal series: all cores are busy until what is left is one block's row of series."""
    for workers in range(1, 7):
        for seats in range(2, 7):
            for count in range(1, 20):
                steps, _ = await played(
                    [block(f"b{n}", *[1] * seats) for n in range(count)], workers
                )
                assert max(-(-count * seats // workers), seats) == steps


async def test_series_of_a_block_are_played_one_after_another_each_once():
    """Whatever the lengths: never two at a time, in their order, nothing twice, nothing lost."""
    draw = random.Random(3)
    for _ in range(60):
        blocks = [
            block(f"b{n}", *[draw.randint(1, 5)] * draw.randint(1, 4))
            for n in range(draw.randint(0, 12))
        ]
        _, log = await played(blocks, draw.randint(1, 4))
        for made in blocks:
            mine = [(what, name) for _, what, name in log if name.startswith(f"{made.id}-")]
            assert mine == [(w, series.id) for series in made.series for w in ("start", "end")]


async def test_before_the_end_blocks_are_finished_first():
    """An event that is stopped has few pairings half played."""
    blocks = [block(f"b{n:02d}", 5, 5) for n in range(30)]
    _, log = await played(blocks, 2)
    begun = ended = 0
    for _, what, name in log[: len(log) - 4 * 2 * BLOCKS_A_WORKER]:
        begun += what == "start" and name.endswith("s0")
        ended += what == "end" and name.endswith("s1")
        assert begun - ended <= 2


async def test_few_blocks_are_held():
    """However many there are: the schedule is not read far ahead of what is played."""
    read = []

    def blocks():
        for number in range(1000):
            read.append(number)
            yield block(f"b{number}", 1, 1)

    queue = SeriesQueue(blocks(), workers=3)
    for finished in range(500):
        for _ in range(2):
            turn = await queue.take(ME)
            queue.give_back(turn)
        assert len(read) - finished <= 3 * BLOCKS_A_WORKER


async def test_a_worker_waits_for_a_block_that_is_in_play():
    """The second rotation of the last block is anybody's, once the first is over."""
    queue = SeriesQueue(iter([block("a", 1, 1)]), workers=2)
    first = await queue.take(ME)
    taken = []

    async def wait():
        turn = await queue.take(ME)
        taken.append(turn.series.id)
        queue.give_back(turn)
        assert await queue.take(ME) is None

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        assert [] == taken
        queue.give_back(first)
    assert ["a-s1"] == taken


async def test_who_waits_is_woken_by_what_comes_back_and_by_the_end():
    """Of many that wait one has the series that is to be played; then all are told of the end."""
    queue = SeriesQueue(iter([block("a", 1, 1)]), workers=50)
    first = await queue.take(ME)
    taken, ended = [], []

    async def wait(number):
        if turn := await queue.take(ME):
            taken.append(turn)
        else:
            ended.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(wait, number)
        await trio.testing.wait_all_tasks_blocked()
        queue.give_back(first)
        await trio.testing.wait_all_tasks_blocked()
        assert ["a-s1"] == [turn.series.id for turn in taken]
        assert [] == ended
        queue.give_back(taken[0])
    assert 49 == len(ended)


async def test_a_turn_that_is_put_back_keeps_its_place():
    """A series that came to no end is the next one again."""
    queue = SeriesQueue(iter([block(name, 1, 1) for name in "abcd"]), workers=2)
    first = await queue.take(ME)
    assert "b-s0" == (await queue.take(ME)).series.id
    queue.put_back(first)
    assert "a-s0" == (await queue.take(ME)).series.id
    assert "c-s0" == (await queue.take(ME)).series.id


# --------------------------------------------------------------------------------- void series

OTHER = WorkerId("here", "2")
ELSEWHERE = WorkerId("there", "1")


async def test_a_void_series_is_played_again_after_a_pause_that_doubles(autojump_clock):
    """By the same worker, if there is no other."""
    queue = SeriesQueue(iter([block("a", 1)]), workers=1, present=lambda: [ME])
    taken = []
    for _ in range(4):
        turn = await queue.take(ME)
        taken.append(trio.current_time())
        queue.put_void(turn, ME)
    pauses = [later - sooner for sooner, later in itertools.pairwise(taken)]
    assert [pause(1), pause(2), pause(3)] == pytest.approx(pauses)
    assert [1, 2, 4] == [each / pause(1) for each in (pause(1), pause(2), pause(3))]


@pytest.mark.parametrize("other", [OTHER, ELSEWHERE])
async def test_another_worker_plays_a_void_series_first(autojump_clock, other):
    """However long that one is busy; the first has the other series meanwhile."""
    queue = SeriesQueue(
        iter([block(name, 1, 1) for name in "ab"]), workers=2, present=lambda: [ME, other]
    )
    void = await queue.take(ME)
    queue.put_void(void, ME)
    assert "b-s0" == (await queue.take(ME)).series.id
    with trio.move_on_after(1000):
        pytest.fail(f"{(await queue.take(ME)).series.id} again")
    turn = await queue.take(other)
    assert "a-s0" == turn.series.id
    queue.give_back(turn)
    assert "a-s1" == (await queue.take(ME)).series.id


async def test_another_machine_plays_a_void_series_before_a_worker_beside_the_first(autojump_clock):
    """What is wrong with a machine is wrong for all its workers."""
    queue = SeriesQueue(iter([block("a", 1)]), workers=3, present=lambda: [ME, OTHER, ELSEWHERE])
    queue.put_void(await queue.take(ME), ME)
    who = {}

    async def take(place):
        while (turn := await queue.take(place)) is not None:
            who[len(who)] = place
            if len(who) == 4:
                queue.give_back(turn)
            else:
                queue.put_void(turn, place)

    async with trio.open_nursery() as nursery:
        for place in (ME, OTHER, ELSEWHERE):
            nursery.start_soon(take, place)
    assert [ELSEWHERE, OTHER, ELSEWHERE] == list(who.values())[:3]


async def test_a_void_series_falls_to_who_is_left(autojump_clock):
    """The worker that was to try it has gone."""
    present = [ME, ELSEWHERE]
    queue = SeriesQueue(iter([block("a", 1)]), workers=2, present=lambda: present)
    queue.put_void(await queue.take(ME), ME)
    taken = []

    async def take():
        taken.append((await queue.take(ME)).series.id)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take)
        await trio.sleep(100)
        assert [] == taken
        present.remove(ELSEWHERE)
        queue.recheck_void()
    assert ["a-s0"] == taken


async def test_a_sick_worker_voids_each_series_once(autojump_clock):
    """It hands back at once all that it is given; the other plays everything."""
    queue = SeriesQueue(
        iter([block(f"b{n}", 1, 1) for n in range(5)]), workers=2, present=lambda: [ME, OTHER]
    )
    voids, played = [], []

    async def sick():
        while (turn := await queue.take(ME)) is not None:
            voids.append(turn.series.id)
            queue.put_void(turn, ME)

    async def well():
        while (turn := await queue.take(OTHER)) is not None:
            await trio.sleep(60)
            played.append(turn.series.id)
            queue.give_back(turn)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(sick)
        nursery.start_soon(well)
    assert 10 == len(played) == len(set(played))
    assert len(voids) == len(set(voids))


async def test_who_waits_for_a_void_series_is_told_when_nothing_more_is_handed_out():
    """Somebody stops the event during the pause."""
    queue = SeriesQueue(iter([block("a", 1)]), workers=1, present=lambda: [ME])
    queue.put_void(await queue.take(ME), ME)
    ended = []

    async def take():
        ended.append(await queue.take(ME))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take)
        await trio.testing.wait_all_tasks_blocked()
        queue.close()
    assert [None] == ended
