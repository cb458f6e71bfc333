"""Events on a Dask cluster: a real scheduler, real worker processes, and what becomes of them.

The workers have a cache of their own, so that bots really travel.
"""

import hashlib
import json
import os
import shutil
import socket
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from arena.event.options import ClusterOptions
from arena.executors.cluster import refused as refusal

from .clusters import WAIT_S, Cluster, ForkedCommand, noted, until

GOLF = ("--game", "four-card-golf", "--sandbox", "none")
SMALL = (*GOLF, "--deals", 2, "--series", 1, "--seed", "s")
PERL = Path(__file__).parents[2] / "example_bots" / "beginner"

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not find_spec("distributed"), reason="the extra `dask` is not installed"),
]


@pytest.fixture
def arena(arena, environment, forks, sandbox, tmp_path):
    """Run a command, as everywhere; one that goes to a scheduler has Dask loaded."""

    def run(*words, code=0, **options):
        words = [str(word) for word in words]
        if "--on" not in words or "local:2" in words or options:
            return arena(*words, code=code, **options)
        words += [] if "--sandbox" in words else ["--sandbox", sandbox]
        process = ForkedCommand(forks, words, cwd=tmp_path, env=environment, constants={})
        stdout, stderr = process.communicate(2 * WAIT_S)
        assert code == process.returncode, (process.returncode, stdout, stderr)
        return subprocess.CompletedProcess(words, code, stdout, stderr)

    return run


@pytest.fixture
def alone(arena, comparable, once):
    """What an event comes to on this machine, played once for all tests with the same bots."""

    def get(field, flags):
        bots = [(folder.name, (folder / "bot.toml").read_text()) for folder in field]
        key = hashlib.sha256(json.dumps([bots, flags]).encode()).hexdigest()

        def play():
            arena("run", *field, *flags, "--jobs", 1, "--out", "one")
            return comparable("one")

        return once(f"alone-{key}", play)

    return get


@pytest.fixture
def cluster(environment, tmp_path, forks):
    """A cluster that isn't there yet."""
    made = Cluster(tmp_path, environment, forks)
    yield made
    made.end()


@pytest.mark.long("clusters")
def test_a_race_whose_workers_die_and_come_has_the_bytes_of_one_machine(
    arena, bot, cluster, comparable, running, tmp_path
):
    """Four workers, one is killed, another joins; bots travel; machine and sandbox are recorded."""
    field = [bot("ann"), bot("bob", "slow", 6), bot("cyd", "illegal", 30)]
    flags = ["--game", "four-card-golf", "--until-resolved", "--deals", 4, "--budget", 40]
    flags += ["--series", 2, "--seed", "r"]
    arena("run", *field, *flags, "--jobs", 1, "--sandbox", "none", "--out", "one")
    cluster.begin()
    workers = [cluster.add() for _ in range(4)]
    process = running(
        "run", *field, *flags, "--on", "dask", cluster.file, "--no-pin", "--out", "two"
    )
    until(process, "match", 3)
    workers[0].kill()
    cluster.add()
    until(process, "match", 12)
    workers[1].kill()
    _, stderr = process.communicate(timeout=WAIT_S)
    assert 0 == process.returncode, stderr
    assert comparable("one") == comparable("two")
    event = json.loads((tmp_path / "two" / "event.json").read_text())
    assert event["finished"]
    assert event["sandbox"]
    assert event["machine"]["cores"]
    travelled = {path.name for path in (cluster.cache / "bots").iterdir()}
    assert {entrant["hash"] for entrant in event["entrants"]} == travelled


def test_processes_of_this_machine_give_the_same_bytes(alone, arena, bot, comparable):
    """`--on dask local:N` needs no cluster; more workers than cores share them."""
    field = [bot("ann"), bot("bob")]
    one = alone(field, SMALL)
    arena("run", *field, *SMALL, "--on", "dask", "local:2", "--no-pin", "--out", "two")
    assert one == comparable("two")


def playing(workers):
    """Those of some workers that play, or have played."""
    return [
        worker
        for worker in workers
        for task in Path(f"/proc/{worker.pid}/task").iterdir()
        for child in (task / "children").read_text().split()
        if Path(f"/proc/{child}/comm").read_text() == "arena.executors\n"  # as `Fork` has it
    ]


@pytest.mark.long("clusters")
def test_workers_of_one_machine_with_a_cache_each_both_get_the_bots(
    arena, bot, cluster, running, tmp_path
):
    """As containers have that share their host's name: what one has, another may not see."""
    cluster.begin()
    cluster.add()
    words = ("--deals", 6, "--series", 1, "--on", "dask", cluster.file, "--no-pin", "--out", "out")
    process = running("run", bot("ann"), bot("bob", "slow", 2), *GOLF, *words)
    until(process, "start")
    second = cluster.add(XDG_CACHE_HOME=str(tmp_path / "second"))
    while not playing([second]):
        assert process.poll() is None
        time.sleep(0.05)
    _, stderr = process.communicate(timeout=WAIT_S)
    assert 0 == process.returncode, stderr
    names = [{path.name for path in (cluster.cache / "bots").iterdir()}]
    names += [{path.name for path in (tmp_path / "second" / "nine-arena" / "bots").iterdir()}]
    assert names[0] == names[1]


DEADLY = """
import os, signal
from arena.executors import dask_tasks

play = dask_tasks.play  # a preload is loaded more than once
play = getattr(play, "real", play)

def deadly(event, slot, core, jobs):
    if b"cyd@1" in jobs:
        os.kill(os.getpid(), signal.SIGKILL)
    return play(event, slot, core, jobs)

deadly.__module__, deadly.__qualname__ = "arena.executors.dask_tasks", "play"
deadly.real = play
dask_tasks.play = deadly
"""

OLD = """
import arena
arena.__version__ = "0.0.9"
"""


@pytest.mark.long("clusters")
def test_a_series_that_kills_its_workers_is_named_and_stops_the_event(
    arena, bot, cluster, comparable, tmp_path
):
    """The machine's trouble, with bots and worker; what others played is kept, and it can go on."""
    (tmp_path / "deadly.py").write_text(DEADLY)
    field = [bot("ann"), bot("cyd")]
    flags = ["--game", "four-card-golf", "--deals", 2, "--series", 2, "--seed", "s"]
    arena("run", *field, *flags, "--jobs", 1, "--out", "one")
    cluster.begin()
    for _ in range(4):
        cluster.add("--preload", tmp_path / "deadly.py")
    done = arena(
        *("run", *field, *flags, "--on", "dask", cluster.file, "--no-pin", "--out", "two"), code=4
    )
    assert "was void 4 times: its worker tcp://127.0.0.1:" in done.stderr
    assert "cyd@1" in done.stderr
    assert f"arena resume two --on dask {cluster.file}" in done.stderr
    arena("resume", "two")
    assert comparable("one") == comparable("two")


@pytest.mark.long("clusters")
def test_a_scheduler_that_is_started_anew_gets_the_event_back(
    alone, bot, cluster, comparable, running
):
    """At another address, by its file, with other workers: they play what was lost and the rest."""
    field = [bot("ann"), bot("bob", "slow", 4)]
    flags = ["--game", "four-card-golf", "--deals", 5, "--series", 2, "--seed", "s"]
    one = alone(field, flags)
    scheduler = cluster.begin()
    cluster.add()
    words = [*field, *flags, "--on", "dask", cluster.file, "--no-pin", "--out", "two"]
    process = running("run", *words, cluster_CONNECT_S=2.0)
    until(process, "match", 2)
    scheduler.kill()
    cluster.file.unlink()
    cluster.begin()
    cluster.add()
    stdout, stderr = process.communicate(timeout=WAIT_S)
    assert 0 == process.returncode, stderr
    assert "can't be reached; waiting" in stdout
    assert "the scheduler is there again" in stdout
    assert one == comparable("two")


TRIED = """
import os, pathlib
from arena.executors import dask_tasks
from arena.executors.core_probe import CoreTrial

def tried(cores):
    speed, share = map(float, pathlib.Path(os.environ["TRIAL"]).read_text().split())
    trials = tuple(CoreTrial(core=core, speed=int(speed), share=share) for core in cores)
    return dask_tasks._encode(dask_tasks.CoreTrials(trials=trials))

dask_tasks.try_cores = tried
"""


@pytest.mark.long("clusters")
def test_a_worker_whose_cores_others_take_plays_when_they_are_free(
    alone, bot, cluster, comparable, running, tmp_path
):
    """It is named, looked at again, and recorded with its speed."""
    (tmp_path / "tried.py").write_text(TRIED)
    (tmp_path / "trial").write_text("1000000 0.5")
    field = [bot("ann"), bot("bob")]
    one = alone(field, SMALL)
    cluster.begin()
    cluster.add("--preload", tmp_path / "tried.py", TRIAL=str(tmp_path / "trial"))
    words = [*field, *SMALL, "--on", "dask", cluster.file, "--out", "two"]
    process = running("run", *words, crew_BUSY_S=0.5)
    for line in process.stderr:
        if "has 1 thread, and other work takes its cores" in line:
            break
    (tmp_path / "trial").write_text("1000000 1.0")
    _, stderr = process.communicate(timeout=WAIT_S)
    assert 0 == process.returncode, stderr
    assert "plays now" in stderr
    assert one == comparable("two")
    event = json.loads((tmp_path / "two" / "event.json").read_text())
    assert 1000000 == event["machine"]["speed"]


SICK = """
from arena.executors import dask_tasks

play = dask_tasks.play
play = getattr(play, "real", play)

def sick(event, slot, core, jobs):
    return b"".join(
        dask_tasks._line(job.end("no space left")) if TROUBLE else
        play(event, slot, core, dask_tasks._encode([job]))
        .replace(b'"crowded":null', b'"crowded":true')
        for job in dask_tasks._jobs(jobs)
    )

sick.__module__, sick.__qualname__ = "arena.executors.dask_tasks", "play"
sick.real = play
dask_tasks.play = sick
"""


STRANGE = """
from arena.executors import dask_tasks

real = getattr(dask_tasks.NAME, "real", dask_tasks.NAME)

def strange(*arguments):
    return ANSWER

strange.__module__, strange.__qualname__ = "arena.executors.dask_tasks", "NAME"
strange.real = real
dask_tasks.NAME = strange
"""


def strange(name, answer):
    """A worker whose task gives this answer."""
    return STRANGE.replace("NAME", name).replace("ANSWER", answer)


VOIDING = SICK.replace("TROUBLE", "True"), "sits out: no space left"
CROWDED = SICK.replace("TROUBLE", "False"), "sits out: other work has come to take its cores"
NOTHING = strange("versions", "None"), "is left out: gives answers to something else"
NONSENSE = strange("play", "b'nonsense'"), "sits out: gives an answer that is none"


@pytest.mark.parametrize(
    "bad", [(VOIDING, NOTHING), (CROWDED, NONSENSE)], ids=["voids-nothing", "crowded-nonsense"]
)
@pytest.mark.long("clusters")
def test_bad_workers_are_named_and_sit_out_and_the_others_play(
    bad, alone, bot, cluster, comparable, running, tmp_path
):
    """A sick one would void one series over and over, and that would end the event. Of one that
    answers nonsense nothing is kept.
    """
    field = [bot("ann"), bot("bob")]
    one = alone(field, SMALL)
    cluster.begin()
    for number, (preload, _) in enumerate(bad):
        (tmp_path / f"bad{number}.py").write_text(preload)
        cluster.joined(cluster.add("--preload", tmp_path / f"bad{number}.py"))
    process = running(
        *("run", *field, *SMALL, "--on", "dask", cluster.file, "--no-pin", "--out", "two"),
        crew_BUSY_S=600.0,
    )
    noted(process, *(words for _, words in bad if "sits out" in words))
    cluster.add()
    _, stderr = process.communicate(timeout=WAIT_S)
    assert 0 == process.returncode, stderr
    assert all(words in stderr for _, words in bad if "left out" in words)
    assert one == comparable("two")


@pytest.mark.skipif(not shutil.which("perl"), reason="no Perl, which a bot is written in")
@pytest.mark.long("clusters")
def test_a_worker_without_a_bots_interpreter_is_named_and_left_out(arena, bot, cluster, tmp_path):
    """With the bot that needs it, and what to do."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "bwrap"):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    cluster.begin()
    cluster.add(PATH=str(tools))
    field = [bot("ann"), PERL]
    words = ("run", *field, "--deals", 2, "--on", "dask", cluster.file, "--no-pin", "--out", "out")
    assert "is left out: beginner@1: optional, and needs 'perl'" in arena(*words, code=2).stderr


@pytest.fixture
def with_packages(arena, bot, environment, tmp_path, write_wheel):
    """Make a bot that needs a package, which was fetched where the command runs."""
    if not find_spec("pip"):
        pytest.skip("no pip here")
    digest = write_wheel(tmp_path, "tiny", "VALUE = 41\n")
    folder = bot("ann", lock="requirements.txt")
    (folder / "requirements.txt").write_text(f"tiny==1.0 --hash={digest}\n")
    (folder / "bot.py").write_text("import tiny\n" + (folder / "bot.py").read_text())
    own = {name: value for name, value in environment.items() if not name.startswith("PIP_")}
    own |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    arena("fetch", folder, env=own)
    return folder


@pytest.mark.long("clusters")
def test_packages_travel_with_the_bots_that_need_them(
    arena, bot, cluster, comparable, environment, tmp_path, with_packages
):
    """What was fetched where the command runs is the same on a node with the same tools."""
    field = [with_packages, bot("bob")]
    arena("run", *field, *SMALL, "--jobs", 1, "--out", "one")
    cluster.begin()
    cluster.add()
    done = arena("run", *field, *SMALL, "--on", "dask", cluster.file, "--no-pin", "--out", "two")
    assert "is left out" not in done.stderr
    assert comparable("one") == comparable("two")
    here = Path(environment["XDG_CACHE_HOME"]) / "nine-arena" / "packages"
    (there,) = (cluster.cache / "packages").iterdir()
    sent = {path.relative_to(there) for path in there.rglob("*")}
    assert {path.relative_to(here / there.name) for path in (here / there.name).rglob("*")} == sent


@pytest.mark.long("clusters")
def test_a_worker_with_other_tools_is_told_to_fetch(arena, bot, cluster, tmp_path, with_packages):
    """Packages are chosen for an interpreter: another one's may not run, or play otherwise."""
    tools = tmp_path / "python" / "bin"
    library = tmp_path / "python" / "lib" / "python3.99"
    for folder in (tools, library):
        folder.mkdir(parents=True)
    (library / "os.py").touch()  # with that it is an installation that bots may be shown
    (tools / "python3").write_text("#!/bin/sh\necho another\n")
    (tools / "python3").chmod(0o755)
    cluster.begin()
    cluster.add(PATH=f"{tools}:{os.environ['PATH']}")
    words = ("--on", "dask", cluster.file, "--no-pin", "--out", "out")
    done = arena("run", with_packages, bot("bob"), "--deals", 2, *words, code=2)
    assert "is left out: ann@1: needs packages that were not fetched: run `arena" in done.stderr


@pytest.mark.long("clusters")
def test_unfit_workers_are_named_and_left_out(arena, bot, cluster, tmp_path):
    """One with another arena, whose results could differ; with more threads than cores, where bots
    would pay with their time; much slower, where they would get less done. With nobody else the
    event doesn't begin.
    """
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "tried.py").write_text(TRIED)
    (tmp_path / "trial").write_text("1 1.0")
    cluster.begin()
    for flags in (
        ("--preload", tmp_path / "old.py"),
        ("--nthreads", 99),
        ("--preload", tmp_path / "tried.py"),
    ):
        cluster.joined(cluster.add(*flags, TRIAL=str(tmp_path / "trial")))
    field = [bot("ann"), bot("bob")]
    done = arena("run", *field, "--on", "dask", cluster.file, "--out", "out", code=2)
    assert "is left out: has arena 0.0.9, here it is" in done.stderr
    assert "is left out: has 99 threads, and the machine has room for " in done.stderr
    assert "is left out: is 0.00 times as fast as the machine here" in done.stderr
    assert "none of its workers can play" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
@pytest.mark.long("clusters")
def test_workers_that_are_each_kept_to_their_own_cores_all_play(arena, bot, cluster, tmp_path):
    """As tasks of a batch system on one machine: none takes another's room."""
    (tmp_path / "tried.py").write_text(TRIED)
    (tmp_path / "trial").write_text("1000000 1.0")
    cluster.begin()
    for core in sorted(os.sched_getaffinity(0))[:2]:
        kept = tmp_path / f"kept-to-{core}.py"
        kept.write_text(f"import os\nos.sched_setaffinity(0, [{core}])\n")
        flags = ["--preload", tmp_path / "tried.py", "--preload", kept]
        cluster.add(*flags, TRIAL=str(tmp_path / "trial"))
    until_there(cluster, 2)
    field = [bot("ann"), bot("bob")]
    done = arena("run", *field, *GOLF, "--on", "dask", cluster.file, "--deals", 1, "--out", "out")
    assert "left out" not in done.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
@pytest.mark.long("clusters")
def test_a_worker_whose_cores_other_workers_had_plays_when_they_have_gone(
    arena, bot, cluster, comparable, running, tmp_path
):
    """As the next task of a batch system, which comes before the last one has ended."""
    (tmp_path / "tried.py").write_text(TRIED)
    (tmp_path / "trial").write_text("1000000 1.0")
    kept = tmp_path / "kept.py"
    kept.write_text("import os\nos.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])\n")
    flags = ["--preload", tmp_path / "tried.py", "--preload", kept]
    field = [bot("ann"), bot("bob", "slow", 3)]
    event = [*GOLF, "--deals", 4, "--series", 1, "--seed", "s"]
    arena("run", *field, *event, "--jobs", 1, "--out", "one")
    cluster.begin()
    first = cluster.add(*flags, TRIAL=str(tmp_path / "trial"))
    process = running("run", *field, *event, "--on", "dask", cluster.file, "--out", "two")
    until(process, "start")
    cluster.add(*flags, TRIAL=str(tmp_path / "trial"))
    noted(process, "1 taken by other workers there")
    first.kill()
    stdout, stderr = process.communicate(timeout=WAIT_S)
    assert 0 == process.returncode, stderr
    assert "plays now" in stdout
    assert comparable("one") == comparable("two")


def until_there(cluster, count):
    """Wait for so many workers."""
    from distributed import Client

    with Client(scheduler_file=str(cluster.file)) as client:
        client.wait_for_workers(count, timeout=WAIT_S)


# ------------------------------------------------------------------------- who may be spoken to


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("tcp://127.0.0.1:8786", True),
        ("127.0.0.1:8786", True),
        ("tcp://[::1]:8786", True),
        ("localhost:8786", True),
        ("tls://head.example:8786", True),
        ("tcp://10.0.0.1:8786", False),
        ("tcp://localhost.example:8786", False),
        ("head.example:8786", False),
        ("ws://127.0.0.1:8786", False),
        ("tcp://127.0.0.1", False),
        ("tcp://127.0.0.1:1@evil.example:8786", False),
        ("tcp://0.0.0.0:8786", False),
    ],
)
def test_plain_tcp_goes_no_further_than_this_machine(address, allowed):
    """Tasks are programs: whoever can speak to a worker runs what they like."""
    assert allowed is not bool(refusal(address))


def test_the_flags_of_a_cluster_are_told_for_copying():
    """The command that goes on with an event plays it where it was played, in the same way."""
    assert "--on dask 'a b.json'" == ClusterOptions(place="a b.json").flags
    where = ClusterOptions(
        place="tls://head:1", tls_ca=Path("ca.pem"), tls_cert=Path("me.pem"), tls_key=Path("me.key")
    )
    tls = "--tls-ca ca.pem --tls-cert me.pem --tls-key me.key"
    assert f"--on dask tls://head:1 {tls}" == where.flags


def said(done):
    """The last lines of what a command says."""
    return [line for line in done.stderr.splitlines() if line.startswith("arena: ")]


@pytest.mark.long("clusters")
def test_what_is_no_cluster_is_one_line(arena, bot, tmp_path, refused, running, environment):
    """Unreachable, beyond this machine, no file, another file, flags that don't go together."""
    field = [bot("ann"), bot("bob")]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"127.0.0.1:{free.getsockname()[1]}"
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "far.json").write_text('{"address": "tcp://192.0.2.1:8786"}')
    for place, words in (
        ("tcp://192.0.2.1:8786", "plain TCP beyond this machine"),
        ("far.json", "plain TCP beyond this machine"),
        ("nowhere.json", "nor a scheduler's file: No such file"),
        ("other.json", "not what `dask scheduler --scheduler-file"),
        ("tls://127.0.0.1:8786", "needs certificates"),
    ):
        (line,) = said(arena("run", *field, "--on", "dask", place, "--out", "out", code=2))
        assert words in line
    words = ("run", *field, "--on", "dask", closed, "--out", "out")
    _, stderr = running(*words, cluster_CONNECT_S=1.0).communicate(timeout=WAIT_S)
    assert "no scheduler answers there" in stderr
    assert "--jobs" in refused("run", *field, "--on", "dask", "local:2", "--jobs", 2)
    assert "goes with a cluster" in refused("run", *field, "--tls-ca", "far.json")
    assert "name the engine, then the cluster" in refused("run", "--on", "local:2", *field)
    (tmp_path / "without" / "distributed").mkdir(parents=True)
    (tmp_path / "without" / "distributed" / "__init__.py").write_text("raise ImportError")
    without = {**environment, "PYTHONPATH": str(tmp_path / "without")}
    done = arena("run", *field, "--on", "dask", "local:2", "--out", "out", code=2, env=without)
    assert ["arena: --on dask needs Dask: pip install 'nine-arena[dask]'"] == said(done)


@pytest.mark.long("clusters")
def test_with_tls_nobody_plays_without_a_certificate_of_the_same_authority(
    alone, arena, authority, bot, cluster, comparable
):
    """No certificate, a foreign authority's, plain TCP: one line each; the right one plays."""
    field = [bot("ann"), bot("bob")]
    one, flags = alone(field, SMALL), [*SMALL, "--no-pin"]
    ours, theirs = authority("ours")
    foreign, _ = authority("foreign")
    cluster.begin("--protocol", "tls", "--host", "127.0.0.1", *theirs)
    cluster.add("--protocol", "tls", *theirs)
    address = json.loads(cluster.file.read_text())["address"]
    assert address.startswith("tls://")
    for place, with_, words in (
        (address, [], "needs certificates: --tls-ca CA"),
        (address, foreign, "no scheduler answers there"),
        (address.replace("tls", "tcp"), [], "no scheduler answers there"),
    ):
        (line,) = said(
            arena("run", *field, *flags, "--on", "dask", place, *with_, "--out", "no", code=2)
        )
        assert words in line
    arena("run", *field, *flags, "--on", "dask", cluster.file, *ours, "--out", "two")
    assert one == comparable("two")
