"""A bot that takes more than its share of the machine: its own fault, and nobody else's trouble."""

import json

import pytest

pytestmark = pytest.mark.process


def faults(records, folder):
    """(entrant, kind) of every fault."""
    return {
        (record["seats"][fault["seat"]], fault["kind"])
        for record in records(folder)
        for fault in record.get("faults", [])
    }


def test_memory_counts_for_the_whole_tree(arena, bot, records, tmp_path):
    """Children that are each within the limit and together above it are a fault of kind memory."""
    bots = [bot("greedy", "breed"), bot("ann"), bot("bob")]
    arena("run", *bots, "--deals", "1", "--memory", "128", "--out", "out")
    assert {("greedy@1", "memory")} == faults(records, tmp_path / "out")
    others = {"ann@1", "bob@1"}
    assert 2 == sum(others == set(record["seats"]) for record in records(tmp_path / "out"))


@pytest.mark.long("shares of the machine")
def test_too_many_processes_are_a_fault(arena, bot, records, tmp_path):
    """Where the number of processes can't be refused, exceeding it is a fault of kind limit."""
    bots = [bot("many", "swarm"), bot("ann"), bot("bob")]
    arena("run", *bots, "--deals", "1", "--tasks", "20", "--sandbox", "none", "--out", "out")
    assert {("many@1", "limit")} == faults(records, tmp_path / "out")


@pytest.mark.long("shares of the machine")
def test_the_event_says_how_bots_were_held(arena, bot, sandbox, tmp_path):
    """event.json and the table name the means, the guarantees and the gaps; canonical ones not."""
    if sandbox == "none":
        pytest.skip("no sandbox works here")
    done = arena("run", bot("ann"), bot("bob"), "--deals", "1", "--out", "out")
    held = json.loads((tmp_path / "out" / "event.json").read_text())["confinement"]
    assert {"network", "files", "memory", "lifetime"} <= set(held["kept"])
    assert not held.get("not_kept")
    assert held["memory"] in {"cgroup v2", "cgroup v1", "watchdog"}
    assert "guarantees: yes: network" in done.stdout
    assert "known gaps: cache timing" in done.stdout
    assert "guarantees" not in arena("table", "out", "--canonical").stdout


@pytest.mark.long("shares of the machine")
def test_scratch_space_is_there_for_who_asks(arena, bot, records, tmp_path):
    """limits.scratch_mb gives a bot a place to write to, and nothing to the others."""
    folder = bot("writer")
    script = "echo kept >$TMPDIR/x && exec python3 -S bot.py fine 1"
    manifest = f'version = "1"\nrun = ["sh", "-c", "{script}"]\n[limits]\n'
    (folder / "bot.toml").write_text(f"{manifest}scratch_mb = 1\n")
    arena("run", folder, bot("ann"), "--deals", "1", "--out", "out")
    assert not faults(records, tmp_path / "out")
    (folder / "bot.toml").write_text(f"{manifest}tasks = 60\n")
    done = arena("run", folder, tmp_path / "bots" / "ann", "--deals", "1", "--out", "o", code=3)
    assert "writer@1" in done.stderr
