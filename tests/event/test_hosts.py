"""Several machines and sandboxes in one event: the weakest is what it was held by."""

import pytest

from arena.event.drift import differences
from arena.event.options import public_line
from arena.machine.facts import with_host
from arena.model import Confinement, Entrant, Event, Limits, Machine, Settings, UserError

EVENT = Event(settings=Settings(game="play-nine"), entrants=(), commitment="c")
STRONG = Confinement(detail="bwrap 1", memory="cgroup v2", kept=("files", "cpu"), gaps=("a",))
WEAK = Confinement(detail="Landlock 7", memory="cgroup v2", kept=("files",), not_kept=("cpu",))


def test_a_guarantee_holds_if_it_held_everywhere():
    """What one of the places did not keep is not kept; every machine is named once."""
    here, there = Machine(system="here"), Machine(system="there")
    event = with_host(EVENT, "bwrap", STRONG, [here])
    assert ("bwrap", STRONG, here, ()) == (
        event.sandbox,
        event.confinement,
        event.machine,
        event.machines,
    )
    assert event == with_host(event, "bwrap", STRONG, [here])
    both = with_host(event, "landlock", WEAK, [there])
    assert both == with_host(with_host(both, "bwrap", STRONG, [here]), "landlock", WEAK, [there])
    assert "landlock" == both.sandbox
    assert (here, there) == both.machines
    assert here == both.machine
    assert (
        Confinement(
            detail="bwrap 1 and Landlock 7",
            memory="cgroup v2",
            kept=("files",),
            not_kept=("cpu",),
            gaps=("a",),
        )
        == both.confinement
    )


def test_machines_that_differ_in_their_speed_alone_are_one():
    """As slow as the slowest; one that was not tried changes nothing."""
    event = with_host(EVENT, "bwrap", STRONG, [Machine(system="x", speed=30), Machine(system="x")])
    assert (Machine(system="x", speed=30), ()) == (event.machine, event.machines)
    event = with_host(event, "bwrap", STRONG, [Machine(system="x", speed=20), Machine(system="y")])
    assert (Machine(system="x", speed=20), Machine(system="y")) == event.machines


def test_a_sandbox_that_is_not_known_is_the_weakest():
    """A later arena may have others."""
    event = with_host(EVENT, "bwrap", STRONG, [Machine()])
    assert "quantum" == with_host(event, "quantum", WEAK, [Machine()]).sandbox


def test_every_difference_is_a_line():
    """Settings by name, bots by hash, entrants that are only in one of the two."""
    ann, bob = (
        Entrant(id=f"{name}@1", name=name, version="1", hash=name[0] * 64)
        for name in ("ann", "bob")
    )
    other = Entrant(id="bob@1", name="bob", version="1", hash="c" * 64)
    one = Event(
        settings=Settings(game="play-nine", limits=Limits()), entrants=(bob,), commitment="1"
    )
    two = Event(
        settings=Settings(game="play-nine", deals=11, limits=Limits(move_ms=500)),
        entrants=(ann, other),
        commitment="2",
        beacon="\x1b[2Jx",
    )
    assert [] == list(differences(one, one))
    assert [
        "  deals: 10 → 11",
        "  limits.move_ms: 1000 → 500",
        "  bots: ann@1 was not there, is aaaaaaaaaaaa…",
        "  bots: bob@1 was bbbbbbbbbbbb…, is cccccccccccc…",
        "  commitment: 1 → 2",
        "  beacon: none → x",
    ] == list(differences(one, two))


@pytest.mark.parametrize("text", ["", "  ", "two\nlines", "x" * 201])
def test_a_public_value_is_one_line(text):
    """What can't be read out can't be checked by others."""
    with pytest.raises(UserError, match="one printable line"):
        public_line("--beacon", text)
