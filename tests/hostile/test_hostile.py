"""Attacks in the strongest sandbox of this machine; the matrix runs all of them, in all."""

import pytest
import run

pytestmark = pytest.mark.process

ATTACKS = run.attacks()


@pytest.fixture(scope="module")
def backend():
    """The strongest backend with its name."""
    name = run.strongest()
    if name == "none":
        pytest.skip("no sandbox works here")
    return name, run.backends()[name]


ONE_OF_EACH_GUARD = (
    *("udp", "alg", "unix-path", "event-secret", "program-neighbour", "symlink", "shadow"),
    *("write-outside", "write-own-folder", "process-exists", "referee-memory", "ptrace-child"),
    *("signal", "pidfd-getfd", "descriptors", "environment", "collude-tmp", "collude-sysv"),
    *("collude-times", "collude-pages", "residue-own", "namespaces", "clone3", "io-uring"),
    *("mount", "terminal", "own-core", "real-time", "memory-bytes", "memory-fork"),
    *("memory-shared", "bomb-c", "daemon", "undying", "orphan-of-referee", "spinning"),
    *("disk-one", "descriptors-plain", "flood-stdout"),
)


TRIES = 3
"""A row is void where what is looked for was over too soon to be looked at."""

ROWS = [pytest.param(attack, id=name) for name, attack in ATTACKS.items() if not attack.again]
"""All but those that show by other means what another row shows."""


@pytest.mark.parametrize("attack", ROWS)
@pytest.mark.long("every attack", quick=ONE_OF_EACH_GUARD)
def test_attack(runner, backend, attack):
    """It is held, and breaks through when what holds it is removed; a known gap is still one."""
    for _ in range(TRIES):
        cell = run.judged(runner, attack, *backend)
        if cell.state not in {run.State.VOID, run.State.CLOSED}:  # a measurement may miss once
            break
    if cell.state is run.State.SKIPPED:
        pytest.skip(cell.text)
    assert cell.state in {run.State.HELD, run.State.GAP}, cell.text


def test_there_are_enough():
    """At least 50 attacks, in five languages."""
    assert len(ATTACKS) >= 50
    endings = {attack.program.rpartition(".")[2] for attack in ATTACKS.values()}
    assert endings == {"c", "java", "js", "py", "sh"}


def test_every_backend_is_named():
    """A row says for bwrap and for Landlock what stands in its way, or that nothing does."""
    for attack in ATTACKS.values():
        for kind in ("bwrap", "landlock"):
            assert bool(attack.guards.get(kind)) != bool(attack.gap_in(kind)), (attack.name, kind)


def test_what_is_left_to_the_matrix_is_shown_by_another_row():
    """By one that is judged alike and has the same guards."""
    for attack in ATTACKS.values():
        if attack.again:
            other = ATTACKS[attack.again]
            assert (attack.observe, attack.guards) == (other.observe, other.guards), attack.name
            assert not other.again, attack.name


def test_a_mistake_is_no_guard(runner, backend):
    """An attack that can't succeed, guarded or not, is void."""
    attack = run.Attack(
        name="typo",
        program="read.sh",
        tries="reads a file that isn't there",
        args=("/nowhere",),
        guards={"bwrap": ("rlimit:CORE",), "landlock": ("rlimit:CORE",)},
    )
    assert run.judged(runner, attack, *backend).state is run.State.VOID


def test_a_claim_is_no_proof(runner, backend):
    """A program that says BROKE without the proof has broken nothing."""
    attack = run.Attack(
        name="liar",
        program="read.sh",
        tries="reads what anybody may read, and calls it a secret",
        args=("/usr/bin/env",),
        proof="{event_secret}",
    )
    assert run.perform(runner, attack, backend[1]).broke is False


def test_harm_is_found(runner):
    """What a program does to the victims is seen from outside, and repaired."""
    harmful = run.attacks()
    for name, what in (("rename", "files"), ("signal", "referee")):
        assert run.perform(runner, harmful[name], run.backends()["none"]).broke
        assert not runner.stage.harmed(what)
