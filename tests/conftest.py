"""What all tests share: which of them are run, and by whom; commands; small events.

The small events have real records and no processes, for tests of whatever reads a results folder.
"""

import collections
import contextlib
import fcntl
import gc
import hashlib
import importlib
import json
import os
import pkgutil
import random
import select
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import hypothesis
import msgspec
import pytest
from _pytest.assertion import rewrite

from arena import registry
from arena.deals import Deals, commitment, secret_from_seed, with_beacon
from arena.event.results import first_wave, schedule_of
from arena.model import Entrant, Event, Fault, FaultKind, SeatUse, Settings
from arena.referee import Failure, Referee
from arena.store import Private, Store

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell has what it starts in the background ignore Ctrl-C, and that is inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Rest:
    """Leaves tests marked `long` out, unless they are asked for, and says at the end which.

    `@pytest.mark.long("every attack", quick=("tcp", "udp"))`: what the rest is, and which of a
    parametrized test's cases are run all the same. A test that is named (`file.py::test`) is run.
    """

    KEY = "left_out"

    def __init__(self, config):
        self._config = config
        self._left_out = collections.Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        """Choose. The rest would take three times as long with coverage, which is held without."""
        everything = self._config.option.long or any("::" in arg for arg in self._config.args)
        kept, left = [], []
        unused = set()
        used = set()
        for item in items:
            mark = item.get_closest_marker("long")
            if mark is None:
                kept.append(item)
                continue
            function = item.nodeid.partition("[")[0]
            case = item.callspec.id if hasattr(item, "callspec") else ""
            quick = mark.kwargs.get("quick", ())
            unused |= {(function, name) for name in quick}
            used.add((function, case))
            if case in quick:
                kept.append(item)
            elif everything:
                kept.append(item)
                if self._config.pluginmanager.hasplugin("_cov"):
                    item.add_marker("no_cover")
            else:
                left.append(item)
                (what,) = mark.args
                self._left_out[f"{item.nodeid.partition('::')[0].rpartition('/')[0]}: {what}"] += 1
        if unused - used and not everything:
            raise pytest.UsageError(f"quick cases that are not there: {sorted(unused - used)}")
        items[:] = kept
        if left:
            self._config.hook.pytest_deselected(items=left)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self):
        """Tell the process that reports, if that is another one."""
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[self.KEY] = dict(self._left_out)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """All workers collect the same tests."""
        self._left_out |= getattr(node, "workeroutput", {}).get(self.KEY, {})

    def pytest_terminal_summary(self, terminalreporter):
        """A line for each part of the rest."""
        for what, count in sorted(self._left_out.items()):
            terminalreporter.write_line(f"LONG [{count}] {what}")
        if self._left_out:
            terminalreporter.write_line(
                f"{self._left_out.total()} tests that take long were not run: --long runs them, too"
            )


def pytest_addoption(parser):
    """The flag for the long rest."""
    parser.addoption("--long", action="store_true", help="run the tests that take long, too")


def pytest_configure(config):
    """For workers and for the process that reports."""
    config.pluginmanager.register(Rest(config), "rest")
    config.pluginmanager.register(Turns(config), "turns")
    if worker := getattr(config, "workerinput", None):
        rewrite_share(config, int(worker["workerid"].removeprefix("gw")), worker["workercount"])


def rewrite_share(config, number, count):
    """Rewrite the assertions of every `count`th file of a fresh clone, for all processes.

    Each would rewrite all files beside the others, which takes 5 s of CPU. It is what
    `AssertionRewritingHook.exec_module` does before it runs a module.
    """
    for path in sorted(Path(__file__).parent.rglob("test_*.py"))[number::count]:
        cached = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
        if rewrite._read_pyc(path, cached) is None and rewrite.try_makedirs(cached.parent):
            stat, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, stat, cached)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Thousands of tests are never garbage: looking through them takes a third of the time.

    A module that a test without coverage were to import first would count as never run.
    """
    for measured in session.config.getoption("cov_source", None) or ():
        importlib.import_module(measured)
        for module in pkgutil.walk_packages(
            getattr(sys.modules[measured], "__path__", ()), f"{measured}."
        ):
            importlib.import_module(module.name)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Half of the time a test waits for processes."""
    return 2 * len(os.sched_getaffinity(0))


SPREAD = ("event", "live", "engine", "play", "sandbox", "seeded")
"""Folders whose files are too slow for one process each."""
BROWSER = "test_browser.py"
"""Files that share a browser, which takes two seconds to start."""
SECONDS = Path(__file__).with_name("seconds.json")
"""What each scope took that takes long, with --long. Written by a run with ARENA_UPDATE_SECONDS."""
NOTICED_S = 2.0
TURN = "ARENA_TESTS_TURN"


def scope_of(nodeid):
    """What one process runs: a file with its fixtures, or a test of a slow folder."""
    file, _, name = nodeid.partition("::")
    _, folder, *_ = file.split("/")
    if file.endswith(BROWSER):
        return BROWSER
    return f"{file}::{name}" if folder in SPREAD else file


class Turns:
    """Which process runs which tests when, if several run them.

    What takes longest comes first, so that no process is left with it in the end.

    Tests marked `alone` have the machine for themselves: programs that take what they can would
    disturb others, and load would disturb what is measured. One process runs all of them, when the
    others have nothing left to do. The variable TURN may name the file that is locked for it:
    `flock --shared` keeps other programs from running beside them.
    """

    ALONE = "alone"

    def __init__(self, config):
        self._config = config
        self._known = json.loads(SECONDS.read_text()) if SECONDS.exists() else {}
        self._took = collections.Counter()
        self._holding = None
        self._alone = None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        """Sort, in each process alike. What a test without coverage came to first may be kept, and
        would count as never run: with coverage such tests come last.
        """
        if not hasattr(self._config, "workerinput"):
            if self._config.getoption("cov_source", None):
                items.sort(key=lambda item: item.get_closest_marker("no_cover") is not None)
            return
        alone = [item.nodeid for item in items if self._is_alone(item)]
        own = self._shared / f"{self.ALONE}-{os.getpid()}"
        own.write_text(json.dumps(alone))
        own.replace(self._shared / self.ALONE)
        items.sort(
            key=lambda item: (self._is_alone(item), -self._known.get(scope_of(item.nodeid), 0))
        )

    def _is_alone(self, item):
        return item.get_closest_marker("alone") is not None

    @property
    def _shared(self):
        """The folder of all processes of this run."""
        base = self._config._tmp_path_factory.getbasetemp()
        return base.parent if hasattr(self._config, "workerinput") else base

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config, log):
        """By scopes, in the order of the collection."""
        from xdist.scheduler import LoadScopeScheduling

        turns = self

        class Scopes(LoadScopeScheduling):
            def _split_scope(self, nodeid):
                return turns.ALONE if turns.is_alone(nodeid) else scope_of(nodeid)

        config.option.loadscopereorder = False
        return Scopes(config, log)

    def is_alone(self, nodeid):
        """For the process that schedules, which has collected nothing itself."""
        if self._alone is None:
            self._alone = set(json.loads((self._shared / self.ALONE).read_text()))
        return nodeid in self._alone

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        """Hold the lock from the first test to the last one of the same kind."""
        if not hasattr(self._config, "workerinput"):
            return (yield)
        alone = self._is_alone(item)
        if self._holding is None:
            path = os.environ.get(TURN) or self._shared / "turn"
            self._holding = Path(path).open("a")  # noqa: SIM115 - closed after the last test
            fcntl.flock(self._holding, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        try:
            return (yield)
        finally:
            if nextitem is None or self._is_alone(nextitem) != alone:
                self._holding.close()
                self._holding = None

    def pytest_runtest_logreport(self, report):
        """Also those of other processes come by here."""
        self._took[scope_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self):
        """Write what was measured, if that is asked for."""
        if "ARENA_UPDATE_SECONDS" in os.environ and not hasattr(self._config, "workerinput"):
            slow = {scope: round(s) for scope, s in self._took.items() if s >= NOTICED_S}
            SECONDS.write_text(json.dumps(dict(sorted(slow.items())), indent=1) + "\n")


# How long an example takes tells of other load.
hypothesis.settings.register_profile("any load", deadline=None)
hypothesis.settings.load_profile("any load")

# Of several hundred commands each would compile the whole package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

if Path("/usr/bin/python3").exists():
    # A version manager's shim takes 0.2 s a start, and its installation 0.2 s to be looked through.
    os.environ["PATH"] = f"/usr/bin:{os.environ['PATH']}"

CHROMIUM = (
    os.environ.get("ARENA_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
)
CHROMIUM_FLAGS = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    # As root it can't confine itself.
    *(("--no-sandbox",) if os.geteuid() == 0 else ()),
)


class Warm:
    """`tests/warm.py`, and the commands that it has been asked for."""

    LONGEST_S = 300

    def __init__(self, folder, path=None):
        self._out = tuple(folder / name for name in ("stdout", "stderr"))
        self._process = subprocess.Popen(
            [sys.executable, "-P", Path(__file__).with_name("warm.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(path)} if path else None,
        )

    def __call__(self, *words, cwd=None, env=None, stdout=None, stdin=""):
        """Run a command; the completed process has text output, unless that goes elsewhere."""
        for path in self._out:
            path.write_bytes(b"")
        words = [str(word) for word in words]
        order = {
            "words": words,
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
            "out": [str(stdout or self._out[0]), str(self._out[1])],
            "stdin": stdin,
        }
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], self.LONGEST_S)[0]:
            self.close()
            raise TimeoutError(f"{words} takes more than {self.LONGEST_S} s")
        code = int(self._process.stdout.readline())
        return subprocess.CompletedProcess(words, code, *(path.read_text() for path in self._out))

    def close(self):
        """Also when a command hangs."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """`once("name", make)`: what `make` returns, made by the first process that asks for it."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent

    def get(name, make):
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = folder / f"{name}.json"
            if not made.exists():
                made.write_text(json.dumps(make()))
            return json.loads(made.read_text())

    return get


@pytest.fixture(scope="session")
def warm(tmp_path_factory):
    """`warm("table", folder)`: run a command of the arena in a process of its own."""
    process = Warm(tmp_path_factory.mktemp("command"))
    yield process
    process.close()


@pytest.fixture(scope="session")
def forks():
    """Starts commands to be read while they run, and Dask's processes: `tests.event.clusters`."""
    from tests.event.clusters import Forks

    made = Forks()
    yield made
    made.end()


@pytest.fixture(scope="session")
def warm_copy(tmp_path_factory):
    """`warm_copy(folder)` is a `warm` of the copy of the package in that folder."""
    processes = []

    def begin(folder):
        processes.append(Warm(tmp_path_factory.mktemp("command"), folder))
        return processes[-1]

    yield begin
    for process in processes:
        process.close()


@pytest.fixture(scope="session")
def chromium():
    """The one browser of all tests: Playwright can't be started twice in a process."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine (Debian: apt-get install chromium)")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


def _entrant(name):
    """An entrant by its id, name@version, or as it is."""
    if isinstance(name, Entrant):
        return name
    return Entrant(id=name, name=name.partition("@")[0], version="1", author="x", hash="0" * 64)


def _record(spec, setting, deals, draw, fault):
    """A match of random legal moves; with a fault, seat 0 fails at its third question."""
    game = registry.game(setting.game)
    referee = Referee(spec, game=game, deals=deals, settings=setting)
    referee.begin()
    asked = [0] * len(spec.seats)
    while referee.asked:
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=60_000)
            asked[seat] += 1
            if fault is not None and seat == 0 and asked[0] == 3:
                referee.fail(0, Failure(kind=fault.kind, message=fault.message))
                break
            referee.answer(seat, draw.choice(question.legal))
    record = referee.record()
    if fault is not None:
        told = [
            msgspec.structs.replace(
                fault, seat=own.seat, hole=own.hole, turn=own.turn, message=own.message
            )
            for own in record.faults
        ]
        record = msgspec.structs.replace(record, faults=tuple(told))
    use = tuple(SeatUse(decisions=decisions) for decisions in asked)
    return msgspec.structs.replace(record, use=use, digest=record.computed_digest(), ended=1.0)


@pytest.fixture(scope="session")
def play_event():
    """Play an event between `names` into `folder` without bots: random legal moves.

    `faults`: by the number of the match, a `Fault` whose seat and place are found out.
    """

    def play(folder, names=("ann@1", "bob@1"), *, beacon="", faults=None, **settings):
        settings = {"game": "play-nine", "deals": 1, **settings}
        setting = Settings(rating=registry.game(settings["game"]).about.rating, **settings)
        secret = secret_from_seed("tests")
        entrants = tuple(_entrant(name) for name in names)
        event = Event(
            settings=setting,
            entrants=entrants,
            commitment=commitment(secret, setting, entrants),
            predictable=True,
            beacon=beacon,
        )
        deals = Deals(with_beacon(secret, beacon))
        draw = random.Random(1)
        with Store.create(folder, event, Private(secret=secret.hex(), sources={}, cache="")) as to:
            number = 0
            for block in first_wave(schedule_of(event, secret)).blocks():
                for series in block.series:
                    for spec in series.matches:
                        fault = (faults or {}).get(number)
                        to.append(_record(spec, setting, deals, draw, fault))
                        number += 1
            to.conclude(msgspec.structs.replace(event, finished=True, secret=secret.hex()))
        return folder

    return play


@pytest.fixture(scope="session")
def write_wheel():
    """Write a wheel of one module into a folder; return its pip hash."""

    def write(wheels, name, source, requires=()):
        info = f"{name}-1.0.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        files = {
            f"{name}.py": source,
            f"{info}/METADATA": metadata + "".join(f"Requires-Dist: {r}\n" for r in requires),
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
        path = wheels / f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for inner, text in files.items():
                archive.writestr(inner, text)
        return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    return write


@pytest.fixture
def a_fault():
    """A fault with every text in it that a bot has a say in."""
    return Fault(
        kind=FaultKind.ILLEGAL,
        seat=0,
        hole=1,
        turn=1,
        message="its words",
        line="swap 99",
        stderr="Traceback\nValueError",
        status="exit 1",
    )
