"""The end of an event, cut short at any of its steps, is made good by `arena resume`."""

import os

import msgspec
import pytest

from arena.cli import commands
from arena.event.options import RunOptions
from arena.event.session import Session, conclude
from arena.event.tournament import Tournament
from arena.model import canonical
from arena.store import Private, Store, read_event, secret_of
from arena.store.folder import write_atomically
from arena.terminal.progress import progress

STEPS = ("fsync", "replace", "unlink", "open")
DERIVED = ("table.txt", "table.md", "table.csv", "table.json")


@pytest.fixture
def played(play_event, tmp_path, monkeypatch):
    """Every match is in the log, and that is all."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = play_event(tmp_path / "event", ("ann@1", "bob@1", "cyd@1"), series=2)
    over = read_event(folder)
    private = Private(secret=over.secret, sources={}, cache="")
    write_atomically(folder / "private.json", canonical(private), mode=0o600)
    with Store.open(folder) as store:
        store.restate(msgspec.structs.replace(over, finished=False, secret="", sandbox="none"))
    return folder


def resume(folder, *flags, code=0):
    with pytest.raises(SystemExit) as end:
        commands.main(["resume", str(folder), "--quiet", *flags], standalone_mode=False)
    assert code == end.value.code


def content(folder):
    """Everything but the lock, which names a process."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def killed_at(folder, step):
    """Conclude in a process that dies at its step; whether it got that far."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        steps = 0

        def dying(call):
            def counted(*words, **flags):
                nonlocal steps
                if steps == step:
                    os._exit(7)
                steps += 1
                return call(*words, **flags)

            return counted

        for name in STEPS:
            setattr(os, name, dying(getattr(os, name)))
        try:
            with Store.open(folder) as store:
                session = Session(RunOptions(), progress(as_json=False, quiet=True))
                secret = secret_of(folder, store.event)
                conclude(store, Tournament(store, secret, session.progress), session)
            os._exit(0)
        finally:  # an error must not go on with the tests in this process
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in {0, 7}
    return code == 7


def test_a_conclusion_killed_at_every_fifth_step_is_made_good(played, tmp_path, capsys):
    """Without a bot: secret, tables and nothing private, the same bytes after every kill. The
    simulator kills at any step.
    """
    whole = content(played)
    resume(played)
    right = content(played)
    assert read_event(played).finished
    assert "private.json" not in right
    assert right.keys() >= set(DERIVED)
    step = 0
    while True:
        folder = tmp_path / f"killed-{step}"
        folder.mkdir()
        for name, data in whole.items():
            (folder / name).write_bytes(data)
        if not killed_at(folder, step):
            break
        if (folder / "private.json").exists():
            resume(folder)
        assert right == content(folder)
        step += 5
    assert step > 20


def test_a_finished_event_is_not_resumed(played):
    """Its table is there."""
    resume(played)
    resume(played, code=2)


def test_a_finished_event_with_a_damaged_log_can_be_repaired(played, capsys):
    """What isn't damaged is all kept; what to do about the rest is told, without bots too."""
    resume(played)
    right = content(played)
    resume(played, "--repair")
    assert right == content(played)
    log = played / "matches.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:3], lines[3].replace(b"ann", b"amm"), *lines[4:]]))
    resume(played, "--repair", code=2)
    assert b"".join([*lines[:3], *lines[4:]]) == log.read_bytes()
    log.write_bytes(b"".join(lines))
    resume(played, "--repair")
    assert right == {
        name: data for name, data in content(played).items() if name != "matches.damaged"
    }
