"""Each command that has to be refused is, at what it is for; and what isn't refused is found."""

from collections import Counter

import pytest

from tests.simulator import wrong
from tests.simulator.events import Played, Scenario
from tests.simulator.faults import Fault
from tests.simulator.looks import LOOKS
from tests.simulator.simulate import simulate
from tests.simulator.wrong import CASES, Case

SMALL = Scenario("plain", "small")
# When cases can be met: the event, and what brings it there.
MEETINGS = {
    "fresh": (SMALL, "over", ()),
    "over": (SMALL, "over", ()),
    "begun": (Scenario("plain", "pairs"), "life", (Fault("kill parent", "tick", 8),)),
    "prepared": (Scenario("prepared", "pairs"), "life", ()),
    "beacon": (Scenario("beacon", "small"), "life", ()),
    "lit": (Scenario("beacon", "small"), "life", (Fault("kill parent", "tick", 2),)),
    "epoch": (Scenario("epoch", "four cards"), "over", ()),
    "shards": (Scenario("shards", "pairs"), "over", ()),
    "tuning": (Scenario("tuning", "tuning"), "over", ()),
}


@pytest.fixture
def meet(monkeypatch):
    """Meet all cases of a kind: how many were, and what was wrong."""

    def meet(when, cases=CASES):
        met = Counter()

        def each(played, _) -> None:
            if when not in set(wrong._met(played, played.now)):
                return
            for name, case in cases.items():
                if case.when == when:
                    met[name] += 1
                    if what := wrong.refuse(played, name, played.now):
                        played.world.broken(what)

        monkeypatch.setattr(Played, "wrong", each)
        monkeypatch.setattr(wrong, "CASES", cases)
        found, place, others = MEETINGS[when]
        at = {"over": 1, "life": 3 if when == "lit" else 2}[place]
        run = simulate(1, (*others, Fault("wrong", place, at, when)), found=found)
        assert met.keys() == {name for name, case in cases.items() if case.when == when}
        return run.violations

    return meet


@pytest.mark.parametrize("when", MEETINGS)
def test_what_has_to_be_refused_is_refused_with_its_words_and_changes_nothing(meet, when):
    assert meet(when) == []


def _writes(_, folder):
    (folder / "more.txt").write_text("more")
    wrong.resume(_, folder)


def _keeps_open(played, folder):
    played.world.disk.open_file(folder / "event.json", "rb")
    wrong.resume(played, folder)


@pytest.mark.parametrize(
    ("case", "says"),
    [
        (Case("over", None, wrong.table, "anything"), "not refused"),
        (Case("over", None, wrong.resume, "another reason"), "it says "),
        (Case("over", None, _writes, "is finished"), "refused, but changed: "),
        (Case("over", None, _keeps_open, "is finished"), "left open by somebody else"),
    ],
)
def test_a_command_that_is_not_refused_as_it_should_be_is_found(meet, case, says):
    assert says in meet("over", {"wrong": case})[0]


@pytest.mark.parametrize("scenario", [SMALL, Scenario("epoch", "four cards")])
def test_what_others_read_is_true(scenario):
    looks = [Fault("look", "over", 1, how) for how in LOOKS]
    run = simulate(1, looks, found=scenario)
    assert not run.violations, run
    assert len(run.struck) == len(looks)


@pytest.mark.parametrize("how", LOOKS)
def test_what_others_read_in_the_midst_of_an_event_is_true(how):
    run = simulate(1, [Fault("look", "tick", 9, how)], found=SMALL)
    assert not run.violations, run
