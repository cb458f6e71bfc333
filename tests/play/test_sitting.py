"""A person among bots: the same rules, no clock, and faults that are the bots' alone."""

import os
import signal
from contextlib import suppress
from itertools import count
from pathlib import Path

import msgspec
import pytest
import trio

from arena import registry
from arena.deals import Deals
from arena.model import FaultKind
from arena.play.session import PersonLeft
from arena.referee import Referee
from arena.replay.moves import replay_moves
from arena.replay.steps import unfold
from arena.store import read_event, read_records, secret_of
from arena.verify.whole import verify

pytestmark = pytest.mark.process


@pytest.mark.parametrize(("bots", "seat"), [(1, 0), (3, 2)])
@pytest.mark.long("tables of every size", quick=("play-nine-3-2",))
async def test_a_whole_match_is_a_match_like_any_other(session, played, anybody, game, bots, seat):
    """Nine holes or more; the folder is proven by `verify` and shown by `replay`."""
    person = anybody()
    record, desk, folder = await played(session(game, *[("well", 0)] * bots, seat=seat), person)
    assert not record.faults
    assert list(range(1, len(record.holes) + 1))[:9] == [hole for hole, _ in person.holes][:9]
    assert desk.totals == record.totals
    assert desk.places == record.places
    assert "ann@person" == record.seats[seat]
    assert len(person.decided) == record.use[seat].decisions
    assert 0 == record.use[seat].think_ms
    verdict = verify(folder, jobs=1)
    assert (None, True, 1) == (verdict.difference, verdict.proven, verdict.matches)
    event = read_event(folder)
    assert person_of(event).hash == ""
    (kept,) = read_records(folder)
    steps = unfold(kept, event, game=registry.game(game), secret=secret_of(folder, event))
    assert len(steps.holes) == len(record.holes)


def person_of(event):
    """The entrant that is no program's."""
    (person,) = (entrant for entrant in event.entrants if entrant.version == "person")
    return person


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("crash", FaultKind.CRASH),
        ("hang", FaultKind.TIMEOUT),
        ("illegal", FaultKind.ILLEGAL),
    ],
)
async def test_a_bot_that_fails_forfeits_and_the_person_has_won(
    session, played, anybody, how, kind
):
    """With two at the table the match is over then."""
    table = session("play-nine", (how, 9), move_time=150, match_time=30_000)
    record, desk, folder = await played(table, anybody())
    assert [(kind, 1)] == [(fault.kind, fault.seat) for fault in record.faults]
    assert {1: kind} == desk.fallen
    assert (1, 2) == desk.places
    assert verify(folder, jobs=1).difference is None


async def test_at_a_larger_table_the_others_go_on(session, played, anybody, game):
    """The seat of one that failed is played on, and shown as failed."""
    record, desk, folder = await played(session(game, ("crash", 7), ("well", 0), seat=1), anybody())
    assert {0: FaultKind.CRASH} == desk.fallen
    assert len(record.holes) >= 9
    assert 3 == record.places[0]
    assert verify(folder, jobs=1).difference is None


async def test_what_is_not_legal_never_reaches_the_referee(session, played, anybody):
    """The person is asked again, and commits no fault."""
    refused = []

    def choose(desk):
        wrong = "fly 3" if len(refused) % 2 == 0 else desk.legal[0]
        refused.append(wrong)
        return wrong

    record, _, _ = await played(session("four-card-golf", ("well", 0)), anybody(choose=choose))
    assert not record.faults
    assert refused.count("fly 3") * 2 == len(refused)


async def test_bots_stand_still_while_the_person_thinks(session, played, anybody):
    """Theirs is no time that a person takes: it is neither charged nor used."""
    person = anybody()
    slow = iter([True])
    decide = person.decide

    async def pondering(desk):
        if desk.phase == "turn" and next(slow, False):
            await trio.sleep(1.2)  # longer than a bot has for a move
        return await decide(desk)

    person.decide = pondering
    record, _, _ = await played(
        session("four-card-golf", ("well", 0), ("well", 0), move_time=1_000), person
    )
    assert not record.faults
    assert all(use.max_ms < 1_000 and use.off_turn_ms < 100 for use in record.use)


async def test_a_bot_that_is_gone_when_it_is_asked_again(session, played, anybody):
    """Killed while the person thinks, and it stood still: that is its fault, and told as one."""
    killed = []

    def choose(desk):
        if desk.phase == "turn" and not killed:
            killed.extend(_pids(b"bot.py\0well\0" + b"4711\0"))
            for pid in killed:
                with suppress(ProcessLookupError):  # one goes with the other
                    os.kill(pid, signal.SIGKILL)
        return desk.legal[0]

    record, desk, _ = await played(
        session("four-card-golf", ("well", 4711)), anybody(choose=choose)
    )
    assert killed
    assert {1: FaultKind.CRASH} == desk.fallen
    assert (1, 2) == record.places


def _pids(command):
    """Of the processes whose command ends so, but for the sandbox that they are in."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            sandbox = path.with_name("comm").read_text() == "bwrap\n"
            if path.read_bytes().endswith(command) and not sandbox:
                found.append(int(path.parent.name))
    return found


async def test_who_leaves_has_played_nothing(session, played, anybody):
    """There is no record, and the bots are gone with the table."""
    person = anybody()

    async def leave(desk):
        raise PersonLeft

    person.decide = leave
    with pytest.RaisesGroup(PersonLeft, flatten_subgroups=True, allow_unwrapped=True):
        await played(session("play-nine", ("well", 0)), person)


def stubborn(phase, legal):
    """As the bots of these tests play that are always the same."""
    return legal[-1] if phase == "drawn" else legal[0]


def playoff(table, seed):
    """The seats of each hole of the playoff that a match of stubborn players comes to."""
    table._seed = f"tie-{seed}"
    event, secret, series = table.prepare(1)
    referee = Referee(
        series.matches[0],
        game=registry.game(event.settings.game),
        deals=Deals(secret),
        settings=event.settings,
    )
    referee.begin()
    while referee.asked:
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=0)
            referee.answer(seat, stubborn(question.view.phase, question.legal))
    return [hole.order for hole in referee.record().holes[9:]]


@pytest.mark.parametrize("mine", [True, False], ids=["plays", "looks on"])
async def test_a_tie_is_played_off(session, played, anybody, mine):
    """Sudden death; a person who has no part in it looks on until it is over."""
    table = session("four-card-golf", ("same", 0), ("same", 0), seat=1, turn_cap=2)
    next(n for n in count() if (found := playoff(table, n)) and (1 in found[0]) == mine)
    person = anybody(choose=lambda desk: stubborn(desk.phase, desk.legal))
    record, desk, folder = await played(table, person)
    assert len(record.holes) > 9
    assert len(desk.scores) == len(record.holes)
    assert mine == (desk.scores[9][1] is not None)
    assert [hole.scores for hole in record.holes[:9]] == desk.scores[:9]
    assert mine == any(hole > 9 for hole, _, _ in person.decided)
    assert verify(folder, jobs=1).difference is None


async def test_the_same_moves_give_the_same_record(session, played, anybody, backend):
    """What a person has played can be played again from the record, by the referee alone."""
    table = session("play-nine", ("well", 0), ("well", 0), seat=2)
    record, _, folder = await played(table, anybody(7))
    event = read_event(folder)
    again = replay_moves(
        record,
        game=registry.game("play-nine"),
        deals=Deals(secret_of(folder, event)),
        settings=event.settings,
    )
    assert msgspec.structs.replace(record, use=()).core()[:6] == again.core()[:6]
