"""What a decision is charged with, by readings that are made up: no clock, no process."""

import pytest

from arena.engine.stopwatch import Stopwatch, TimeVerdict
from arena.sandbox.delays import Reading, Task

LIMIT = 0.1


class Scene:
    """A decision and what is read in it: each step is one slice."""

    def __init__(self, limit=LIMIT, *, read=True, counted=True, alone=True):
        self.at, self.cpu, self.own, self.tasks = 100.0, 3.0, 1.0, {}
        first = self.reading() if read else None
        self.watch = Stopwatch(
            limit, self.at, first, own=1.0, used=3.0, taken=50.0, counted=counted, alone=alone
        )

    def reading(self):
        """As it is now."""
        return Reading(self.at, self.cpu, self.own, dict(self.tasks))

    def task(self, number, *, ran=0.0, waited=0.0, turns=1, waiting=False):
        """What one task has had in the slice."""
        before = self.tasks.get(number, Task(0.0, 0.0, 0, waiting=False))
        self.cpu += ran
        self.tasks[number] = Task(
            before.ran + ran, before.waited + waited, before.turns + turns, waiting
        )

    def step(self, seconds, *, cpu=0.0, own=0.0, answered=False):
        """Let time pass and look."""
        self.at += seconds
        self.cpu += cpu
        self.own += own
        return self.watch.look(self.reading(), answered=answered)

    def record_trial(self, overloaded, seconds=0.01, *, taken=50.0):
        """A trial, which takes time itself."""
        self.at += seconds
        return self.watch.record_trial(self.reading(), overloaded=overloaded, taken=taken)


@pytest.fixture
def scene():
    """A decision that is read from its start."""
    return Scene()


def test_sleep_is_charged(scene):
    """Nothing ran and nothing wanted to: all of the time is the bot's."""
    assert TimeVerdict.IN_TIME is scene.step(0.005)
    assert TimeVerdict.IN_TIME is scene.step(0.01, answered=True)
    assert 0.015 == pytest.approx(scene.watch.charged)
    assert 0.015 == pytest.approx(scene.watch.elapsed)


def test_what_was_our_own_work_is_left_out(scene):
    """The answer had to wait until we had looked after somebody else."""
    assert TimeVerdict.IN_TIME is scene.step(0.005)
    scene.watch.leave_out(0.09)
    assert TimeVerdict.IN_TIME is scene.step(0.1, answered=True)
    assert 0.015 == pytest.approx(scene.watch.charged)
    assert 0 == scene.watch.gaps


def test_looks_come_sooner_the_less_is_left(scene):
    """At 5, 15, 35 and 55 ms; then not later than at the limit."""
    looks = []
    while scene.step(scene.watch.due - scene.at) is TimeVerdict.IN_TIME:
        looks.append(round((scene.at - 100) * 1000))
    assert [5, 15, 35, 55, 75, 95] == looks[:6]
    assert 0.101 >= scene.watch.charged > LIMIT


def test_who_sleeps_too_long_is_late_without_a_trial(scene):
    """There is nothing to be proven."""
    for _ in range(5):
        assert TimeVerdict.IN_TIME is scene.step(0.019)
    assert TimeVerdict.LATE is scene.step(0.006)


def test_cpu_time_is_charged_whatever_is_taken_off(scene):
    """A tree whose tasks wait for each other used the core all the time."""
    for number in range(32):
        scene.tasks[number] = Task(0.0, 0.0, 0, waiting=True)
    scene.step(0.001)
    for _ in range(5):
        for number in range(32):
            scene.task(number, ran=0.02 / 32, waited=0.019, waiting=True)
        verdict = scene.step(0.02)
    assert TimeVerdict.LATE is verdict
    assert 0.1 <= scene.watch.charge


def test_two_cores_at_a_time_are_charged_as_one(scene):
    """The limit is one of time."""
    scene.step(0.02, cpu=0.04, answered=True)
    assert 0.02 == pytest.approx(scene.watch.charged)


def test_a_little_waiting_is_taken_off_without_proof(scene):
    """Up to 10 ms."""
    scene.task(1)
    scene.step(0.005)
    scene.task(1, ran=0.01, waited=0.008)
    assert TimeVerdict.IN_TIME is scene.step(0.02, answered=True)
    assert 0.017 == pytest.approx(scene.watch.charged)
    assert not scene.watch.unproven


def test_more_waiting_is_taken_off_where_it_is_proven(scene):
    """And until then is charged."""
    scene.task(1)
    scene.step(0.005)
    scene.task(1, ran=0.004, waited=0.016)
    scene.step(0.02)
    assert 0.015 == pytest.approx(scene.watch.charged)
    assert scene.watch.unproven
    assert TimeVerdict.IN_TIME is scene.record_trial(overloaded=True)
    assert 0.009 == pytest.approx(scene.watch.charged)
    assert 0.025 == pytest.approx(scene.watch.wall)  # what the trial took is nobody's
    assert 0.035 == pytest.approx(scene.watch.elapsed)


def starved(scene, slices):
    """It wants to run, and gets a fifth of the core."""
    scene.tasks.setdefault(1, Task(0.0, 0.0, 0, waiting=True))
    verdicts = []
    for _ in range(slices):
        scene.task(1, ran=0.004, waited=0.016, waiting=True)
        verdicts.append(scene.step(0.02))
    return verdicts


def test_proof_is_asked_for_when_it_matters_and_is_good_for_some_more():
    """Not before the limit would be passed; then for 100 ms of waiting at a time."""
    scene = Scene()
    scene.tasks[1] = Task(0.0, 0.0, 0, waiting=True)
    scene.step(0.0)
    assert [TimeVerdict.IN_TIME] * 5 == starved(scene, 5)
    assert [TimeVerdict.UNPROVEN] == starved(scene, 1)
    assert 0.12 - 0.01 == pytest.approx(scene.watch.charged)
    assert TimeVerdict.IN_TIME is scene.record_trial(overloaded=True)
    assert 0.024 == pytest.approx(scene.watch.charged)
    # 96 ms of waiting and 100 more: when less than 100 ms of 300 may be taken for its own.
    verdicts = starved(scene, 9)
    assert [TimeVerdict.IN_TIME] * 8 + [TimeVerdict.UNPROVEN] == verdicts


def test_what_other_bots_used_meanwhile_proves_as_much_waiting(scene):
    """No trial is needed; the next look comes when as much is left as was charged."""
    scene.tasks[1] = Task(0.0, 0.0, 0, waiting=True)
    scene.step(0.0)
    assert TimeVerdict.UNPROVEN is starved(scene, 6)[-1]
    assert TimeVerdict.IN_TIME is scene.watch.credit(50.06)
    assert 0.12 - 0.01 - 0.06 == pytest.approx(scene.watch.charged)
    assert scene.watch.unproven
    assert 0.02 == pytest.approx(scene.watch.due - scene.at)
    assert TimeVerdict.IN_TIME is scene.watch.credit(50.2)
    assert 0.024 == pytest.approx(scene.watch.charged)
    assert not scene.watch.unproven


def test_what_is_proven_by_others_is_no_more_than_they_used(scene):
    """And each second once; what they used before the decision proves nothing."""
    scene.tasks[1] = Task(0.0, 0.0, 0, waiting=True)
    scene.step(0.0)
    starved(scene, 6)
    for taken in (49.0, 50.0, 50.005, 50.005):
        assert TimeVerdict.UNPROVEN is scene.watch.credit(taken)
    assert 0.12 - 0.01 - 0.005 == pytest.approx(scene.watch.charged)


def test_what_others_use_covers_up_no_sleep(scene):
    """Nothing of the bot's waited."""
    for _ in range(5):
        scene.step(0.019)
        assert TimeVerdict.IN_TIME is scene.watch.credit(scene.at)
    assert 0.095 == pytest.approx(scene.watch.charged)
    scene.step(0.006)
    assert TimeVerdict.LATE is scene.watch.credit(200.0)


def test_what_others_use_in_a_trial_proves_nothing(scene):
    """The bot stood still. But it sets a doubt at rest if they went on before and after it."""
    scene.tasks[1] = Task(0.0, 0.0, 0, waiting=True)
    scene.step(0.0)
    starved(scene, 6)
    assert TimeVerdict.UNPROVEN is scene.record_trial(overloaded=False, taken=50.1)
    assert TimeVerdict.UNPROVEN is scene.watch.credit(50.1)
    assert TimeVerdict.IN_TIME is scene.watch.credit(50.15)
    starved(scene, 6)
    assert TimeVerdict.UNPROVEN is scene.record_trial(overloaded=False, taken=50.15)
    assert TimeVerdict.LATE is scene.record_trial(overloaded=False, taken=50.15)


def test_what_others_used_before_a_gap_proves_nothing(scene):
    """How much came after it isn't known, until a trial is made."""
    scene.step(3.0)
    assert 1 == scene.watch.gaps
    starved(scene, 7)
    assert TimeVerdict.UNPROVEN is scene.watch.credit(53.0)
    scene.record_trial(overloaded=False, taken=53.0)
    assert TimeVerdict.IN_TIME is scene.watch.credit(53.1)


def test_a_free_core_is_found_twice_before_it_is_believed():
    """Others' work comes in bursts."""
    scene = Scene()
    starved(scene, 6)
    assert TimeVerdict.UNPROVEN is scene.record_trial(overloaded=False)
    assert 0.01 == pytest.approx(scene.watch.due - scene.at)
    assert TimeVerdict.LATE is scene.record_trial(overloaded=False)


def test_a_wait_that_ends_later_is_taken_off_where_it_lay(scene):
    """The kernel counts a wait when it ends; here it took three slices."""
    scene.task(1)
    scene.step(0.005)
    scene.tasks[1] = scene.tasks[1]._replace(waiting=True)
    scene.step(0.01, cpu=0.0)
    scene.step(0.01)
    scene.task(1, ran=0.002, waited=0.024)
    scene.step(0.01)
    # 8 ms of the last slice, all of the one before, 6 of the one in which it began to want to run.
    assert 0.005 + 0.004 + 0.002 == pytest.approx(scene.watch.charge, abs=1e-6)


def test_who_wants_to_run_and_never_does_waits_all_the_while(scene):
    """Known at once, without a count."""
    scene.tasks[1] = Task(0.5, 0.5, 7, waiting=True)
    scene.step(0.005)
    scene.step(0.02)
    assert 0.005 == pytest.approx(scene.watch.charge)


def test_on_several_cores_who_is_not_seen_to_run_for_long_waits():
    """In a slice that is too short for the kernel to have counted it may as well have run."""
    scene = Scene(alone=False)
    scene.tasks[1] = Task(0.5, 0.5, 7, waiting=True)
    scene.step(0.005)
    scene.step(0.02)
    assert 0.005 == pytest.approx(scene.watch.charge)
    scene.step(0.006)
    assert 0.011 == pytest.approx(scene.watch.charge)


def test_waits_before_and_after_a_turn_add_up(scene):
    """One that was counted in its slice, and one that began in it and was counted in the next."""
    scene.task(1, waiting=True)
    scene.step(0.005)
    scene.task(1, ran=0.004, waited=0.005, waiting=True)
    scene.step(0.02)
    scene.task(1, ran=0.005, waited=0.026, waiting=True)
    scene.step(0.02)
    assert 0.005 + 0.004 + 0.005 == pytest.approx(scene.watch.charge)


def test_a_wait_is_never_counted_twice(scene):
    """What was seen as it lasted, and is counted when it ends."""
    scene.tasks[1] = Task(0.5, 0.5, 7, waiting=True)
    scene.step(0.005)
    scene.step(0.02)
    scene.task(1, ran=0.001, waited=0.029)  # and then it slept
    scene.step(0.02)
    assert 0.005 + 0.011 == pytest.approx(scene.watch.charge)


def test_a_wait_that_ended_when_the_bot_was_stopped_is_taken_off(scene):
    """To stop it had to run; and what it waited after that is nobody's."""
    scene.step(0.005)
    scene.task(1, ran=0.002, waited=0.001, waiting=True)
    scene.step(0.02)
    scene.task(1, waited=0.03, waiting=True)
    scene.task(2, waited=0.03, waiting=True)
    scene.record_trial(overloaded=True)
    assert 0.005 + 0.002 == pytest.approx(scene.watch.charge)


def test_a_task_that_was_born_in_the_slice_has_waited_in_it(scene):
    """Also one with the number of another that has ended."""
    scene.task(1, turns=9)
    scene.step(0.005)
    scene.tasks[1] = Task(0.001, 0.004, 1, waiting=False)
    scene.step(0.01)
    assert 0.005 + 0.006 == pytest.approx(scene.watch.charge)


def test_of_several_that_wait_at_a_time_one_counts(scene):
    """The most delayed: the sum would be more than the time."""
    scene.task(1)
    scene.task(2)
    scene.step(0.005)
    scene.task(1, waited=0.004)
    scene.task(2, waited=0.006)
    scene.step(0.01)
    assert 0.009 == pytest.approx(scene.watch.charge)


def test_a_wait_does_not_cover_up_the_sleep_of_another_slice(scene):
    """What a busy child waited is no excuse for what was slept before."""
    scene.task(1)
    scene.step(0.02)
    scene.task(1, ran=0.01, waited=0.03)  # it hadn't wanted to run when the slice began
    scene.step(0.02)
    assert 0.03 == pytest.approx(scene.watch.charge)


def test_an_answer_that_we_were_kept_from_reading_is_not_the_bot_s(scene):
    """Our own wait in the slice with the answer; of the others it says nothing."""
    scene.task(1)
    scene.step(0.005, own=0.003)
    scene.task(1, ran=0.002)
    scene.step(0.02, own=0.007, answered=True)
    assert 0.005 + 0.013 == pytest.approx(scene.watch.charge)


def test_a_decision_that_is_read_late_is_charged_until_then():
    """Without a reading of its start the first slice is time by the clock."""
    scene = Scene(read=False)
    scene.step(0.005)
    assert 0.005 == pytest.approx(scene.watch.charge)
    assert 0.005 == pytest.approx(scene.watch.cpu)


@pytest.mark.parametrize(("cpu", "charge"), [(0.0, 0.005), (0.004, 0.005), (0.03, 0.02)])
def test_when_we_came_late_for_the_first_reading_it_is_the_bot_s_if_it_may_have_run(cpu, charge):
    """By the CPU since any earlier reading."""
    scene = Scene(read=False)
    scene.step(0.02, cpu=cpu, own=0.015)
    assert charge == pytest.approx(scene.watch.charge)


def test_when_the_answer_was_there_before_we_came_our_wait_is_taken_off():
    """A brisk bot on a loaded core."""
    scene = Scene(read=False)
    assert TimeVerdict.UNPROVEN is scene.step(0.12, cpu=0.1, own=0.118, answered=True)
    assert TimeVerdict.IN_TIME is scene.record_trial(overloaded=True)
    assert 0.002 == pytest.approx(scene.watch.charged)


@pytest.mark.parametrize("read", [True, False])
def test_a_gap_begins_the_decision_anew(read):
    """We stood still for seconds: the answer that is there then is in time."""
    scene = Scene(read=read)
    scene.step(0.005)
    scene.step(0.01, cpu=0.01)
    assert TimeVerdict.IN_TIME is scene.step(3.0, answered=True)
    assert 1 == scene.watch.gaps
    assert 0.0 == scene.watch.charged
    assert 3.015 == pytest.approx(scene.watch.elapsed)
    for _ in range(5):
        assert TimeVerdict.IN_TIME is scene.step(0.02)
    assert TimeVerdict.LATE is scene.step(0.02)


def test_a_gap_right_at_the_start():
    """Before anything was read."""
    scene = Scene(read=False)
    assert TimeVerdict.IN_TIME is scene.step(3.0, answered=True)
    assert 0.0 == scene.watch.charged


def test_our_own_waiting_is_no_gap(scene):
    """The kernel has counted it."""
    scene.step(0.005)
    scene.step(0.3, own=0.27)
    assert 0 == scene.watch.gaps
    assert 0.305 == pytest.approx(scene.watch.charge)


def test_where_waits_are_not_counted_a_gap_is_longer_and_time_is_charged():
    """A kernel without the figures: by the clock, as ever."""
    scene = Scene(counted=False)
    scene.step(0.3)
    assert 0 == scene.watch.gaps
    scene.step(0.8)
    assert 1 == scene.watch.gaps


def test_a_decision_that_the_machine_never_lets_be_made_is_the_machine_s_trouble():
    """After 30 seconds, or twenty times the limit."""
    scene = Scene()
    scene.tasks[1] = Task(0.0, 0.0, 1, waiting=True)
    scene.step(0.0)
    verdict = TimeVerdict.IN_TIME
    while verdict is not TimeVerdict.STUCK:
        verdict = scene.step(0.02)
        if verdict is TimeVerdict.UNPROVEN:
            verdict = scene.record_trial(overloaded=True)
        assert verdict is not TimeVerdict.LATE
    assert 30 == pytest.approx(scene.watch.wall, abs=0.1)
