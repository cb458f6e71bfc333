"""Nobody's clock runs while another thinks; bots stay on the core of their worker.

Real processes, so nothing here is compared with a time that a machine ought to take, but with what
the thinker is known to have computed; and by a factor that no load takes away from most of several
matches.
"""

import statistics

import pytest

from arena import registry
from arena.executors.cores import cores

pytestmark = pytest.mark.process

THINK_S = 0.03
KNOWN_MS = 9 * THINK_S * 1000
"""What the thinker computes at nine turns of a match."""
MATCHES = 3
FACTOR = 5


def used(records, bot, what):
    """Milliseconds of a bot in each of its matches."""
    uses = [record.use[record.seats.index(bot.entrant.id)] for record in records]
    return [getattr(use, what) for use in uses]


def charged(records, bot):
    """What it was charged."""
    return used(records, bot, "think_ms")


@pytest.mark.alone
@pytest.mark.long("shared cores")
async def test_thinking_at_a_tee_is_charged_to_the_thinker_alone(ways, bots):
    """All are asked at once, and nobody waits for another's thinking."""
    thinker, opponent = field = bots(("tees", THINK_S), ("calm", 0))
    records = await ways(field, "play-nine", MATCHES).by_worker()
    assert not any(record.faults for record in records)
    # What it computed took no less time than that, and was charged in full; what more anybody was
    # charged came from others on this machine.
    thinking = min(charged(records, thinker))
    assert KNOWN_MS <= thinking < FACTOR * KNOWN_MS
    assert statistics.median(charged(records, opponent)) < thinking / FACTOR


@pytest.mark.alone
async def test_what_is_computed_off_turn_is_on_nobody_s_clock(ways, bots):
    """With --freeze: a bot that would never stop computing has none of its opponent's time."""
    thinker, restless = field = bots(("thinks", THINK_S), ("off turn", 0))
    records = await ways(field, "four-card-golf", MATCHES, freeze=True).by_worker()
    assert not any(record.faults for record in records)
    thinking = min(charged(records, thinker))
    assert KNOWN_MS <= thinking < FACTOR * KNOWN_MS
    # Unfrozen it has half of the core all the while.
    assert statistics.median(used(records, restless, "off_turn_ms")) < thinking / FACTOR
    assert statistics.median(charged(records, restless)) < thinking / FACTOR


@pytest.mark.alone
@pytest.mark.long("shared cores")
async def test_it_is_so_in_every_seat(ways, bots):
    """Of four at a table only the one that thinks is charged for it; seats change by match."""
    thinker, *others = field = bots(("thinks", THINK_S), *[("knocks", 0)] * 3)
    records = await ways(field, "four-card-golf", 4).by_worker()
    assert not any(record.faults for record in records)
    assert 4 == len({record.seats for record in records})
    thinking = min(charged(records, thinker))
    assert thinking >= KNOWN_MS
    for bot in others:
        assert statistics.median(charged(records, bot)) < thinking / FACTOR


@pytest.mark.parametrize("sandbox", ["bwrap", "landlock"])
@pytest.mark.long("every sandbox", quick=("bwrap",))
async def test_bots_inherit_the_core_of_their_worker(ways, bots, sandbox):
    """Through the spawner and every sandbox; without a core for each worker they have all."""
    if not registry.backend(sandbox).probe().works:
        pytest.skip(f"{sandbox} does not work here")
    field = bots(("cores", 0), ("cores", 0))
    series = ways(field, "four-card-golf", 1, sandbox=sandbox)
    for pin, expected in ((True, cores()[:1]), (False, cores())):
        (report,) = await series.reports(pin=pin)
        told = [list(map(int, text.split())) for text in report.stderr.values()]
        assert [expected] * 2 == told
