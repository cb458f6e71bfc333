"""Nobody's clock runs while another thinks; bots stay on the core of their worker.

Real processes, so nothing here is compared with a time that a machine ought to take, but with what
the thinker is known to have computed; and by a factor that no load takes away from most of several
matches.
"""

import statistics

import pytest

from arena import registry
from arena.executors.cores import cores

pytestmark = [pytest.mark.process, pytest.mark.alone]

THINK_S = 0.03
MATCHES = 4
FACTOR = 5


def used(records, bot, what):
    """Milliseconds of a bot in each of its matches."""
    uses = [record.use[record.seats.index(bot.entrant.id)] for record in records]
    return [getattr(use, what) for use in uses]


def charged(records, bot):
    """What it was charged."""
    return used(records, bot, "think_ms")


@pytest.mark.parametrize(
    ("how", "other", "game", "freeze"),
    [
        ("thinks", "knocks", "four-card-golf", False),
        ("thinks", "knocks", "four-card-golf", True),
        # All are asked at once to tee off, and nobody waits for another's thinking.
        ("tees", "calm", "play-nine", False),
    ],
)
@pytest.mark.long("shared cores")
async def test_thinking_is_charged_to_the_thinker_alone(ways, bots, how, other, game, freeze):
    """On one core, one bot computes at nine turns of each match, the other doesn't."""
    thinker, opponent = field = bots((how, THINK_S), (other, 0))
    records = await ways(field, game, MATCHES, freeze=freeze).by_worker()
    assert not any(record.faults for record in records)
    known = 9 * THINK_S * 1000
    # What it computed took no less time than that, and was charged in full; what more it was
    # charged came from others on this machine.
    assert min(charged(records, thinker)) >= known
    assert min(charged(records, thinker)) < FACTOR * known
    assert statistics.median(charged(records, opponent)) < known / FACTOR


async def test_what_is_computed_off_turn_is_on_nobody_s_clock(ways, bots):
    """With --freeze: a bot that would never stop computing has none of its opponent's time."""
    thinker, restless = field = bots(("thinks", THINK_S), ("off turn", 0))
    records = await ways(field, "four-card-golf", MATCHES, freeze=True).by_worker()
    known = 9 * THINK_S * 1000
    assert min(charged(records, thinker)) >= known
    assert min(charged(records, thinker)) < FACTOR * known
    off_turn = used(records, restless, "off_turn_ms")
    # Unfrozen it has half of the core all the while.
    assert statistics.median(off_turn) < known / FACTOR
    assert statistics.median(charged(records, restless)) < known / FACTOR


@pytest.mark.long("shared cores")
async def test_it_is_so_in_every_seat(ways, bots):
    """Of four at a table only the one that thinks is charged for it; seats change by match."""
    thinker, *others = field = bots(("thinks", THINK_S), *[("knocks", 0)] * 3)
    records = await ways(field, "four-card-golf", MATCHES).by_worker()
    assert MATCHES == len({record.seats for record in records})
    thinking = min(charged(records, thinker))
    assert thinking >= 9 * THINK_S * 1000
    for bot in others:
        assert statistics.median(charged(records, bot)) < thinking / FACTOR


@pytest.mark.parametrize("sandbox", registry.SANDBOXES)
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
