"""Programs that do nothing wrong run unhindered in every backend, whatever their neighbours do."""

import functools
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from arena.sandbox import Exited, Launch, Started
from arena.sandbox.bwrap import Bubblewrap
from arena.sandbox.client import Spawner
from arena.sandbox.landlock import Landlock
from arena.sandbox.none import Unconfined

pytestmark = pytest.mark.process

HERE = Path(__file__).parent
HONEST = HERE / "honest"
HOSTILE = HERE / "programs"

DEADLINE_S = 60.0
"""For all of them together on a busy machine."""

AT_ONCE = 3
"""How many run beside each other; the idle ones come on top."""

PATH = "/usr/local/bin:/usr/bin:/bin"

BACKENDS = {"bwrap": Bubblewrap, "landlock": Landlock, "none": Unconfined}

FIELDS = {"scratch.py": {"scratch_mb": 16}}
"""What a program needs beyond the defaults."""

CORPUS = sorted(path.name for path in HONEST.iterdir() if path.is_file())

IDLE = "idle.py"
"""Takes 6 s of doing nothing: started before the others, and awaited after them."""

NEIGHBOURS = ("children.py", "coroutines.py", "native.c")
"""Those that need tasks, memory and answers from the machine while somebody takes them all."""

BOMBS = {
    # A program, its arguments, its launch; what it says when it has come to its limit.
    "forks": ("bomb.c", ("forks", "9"), {"tasks": 64}),
    "threads": ("bomb.c", ("threads", "9"), {"tasks": 64}),
    "memory": ("memory.py", ("bytes", "1000"), {"memory_mb": 256}),
    "sockets": ("memory.c", ("sockets", "1000"), {"memory_mb": 256}),
    "descriptors": ("descriptors.c", ("plain", "9999"), {}),
    "time": ("spin.c", ("3",), {}),
}


@functools.cache
def compiler(suffix):
    """The command that builds such a file, without source and target; empty: nothing is needed."""
    found = {
        ".c": ("gcc", "-O1", "-pthread", "-o"),
        ".java": ("javac", "-d"),
        ".rs": ("rustc", "-O", "-o"),
        ".go": ("go", "build", "-o"),
    }.get(suffix, ())
    if found and subprocess.run(["which", found[0]], capture_output=True, check=False).returncode:
        return None
    return found


def command(name):
    """How a program is run, and what it needs to be shown; None: its language isn't here."""
    stem, suffix = Path(name).stem, Path(name).suffix
    if suffix == ".py":
        return (os.path.realpath(sys.executable), "-I", f"/bot/{name}"), (sys.base_prefix,)
    run = {
        ".sh": ("bash", f"/bot/{name}"),
        ".pl": ("perl", f"/bot/{name}"),
        ".js": ("node", f"/bot/{name}"),
        ".java": ("java", "-cp", "/bot", stem),
    }.get(suffix, (f"/bot/{stem}",))
    missing = compiler(suffix) is None or (
        not run[0].startswith("/bot") and not shutil.which(run[0], path=PATH)
    )
    return None if missing else (run, ())


def built(source, folder):
    """A bot's folder with the program, compiled if need be."""
    folder.mkdir()
    if tool := compiler(source.suffix):
        out = folder if source.suffix == ".java" else folder / source.stem
        subprocess.run([*tool, str(out), str(source)], check=True, capture_output=True)
    else:
        shutil.copy(source, folder)
    for path in folder.iterdir():
        path.chmod(0o755)
    return folder


class Run(msgspec.Struct, eq=False):
    """A program at work, and what has come of it."""

    process: object
    output: bytes = b""
    errors: bytes = b""
    exited: Exited | None = None
    open: int = 2


class Ground:
    """One spawner for everything, and one loop that reads and reaps."""

    def __init__(self, spawner):
        self.spawner = spawner
        self.runs = {}
        self.by_fd = {}

    def start(self, backend, root, name, *args, **fields):
        run, expose = command(name)
        launch = Launch(run=(*run, *args), root=str(root), expose=expose, **fields)
        process = self.spawner.spawn(backend.plan(launch))
        found = self.runs[process.id] = Run(process)
        self.by_fd[process.stdout] = self.by_fd[process.stderr] = found
        return found

    def step(self, deadline):
        left = deadline - time.monotonic()
        assert left > 0, [(run.output, run.errors) for run in self.runs.values()]
        ready, _, _ = select.select([self.spawner.fileno(), *self.by_fd], [], [], left)
        for descriptor in ready:
            if descriptor == self.spawner.fileno():
                for news in self.spawner.receive():
                    if not isinstance(news, Started):
                        self.runs[news.id].exited = news
                continue
            run = self.by_fd[descriptor]
            chunk = os.read(descriptor, 65536)
            if descriptor == run.process.stdout:
                run.output = (run.output + chunk)[-65536:]
            else:
                run.errors = (run.errors + chunk)[-65536:]
            if not chunk:
                del self.by_fd[descriptor]
                run.open -= 1

    def wait(self, *runs, seconds=DEADLINE_S):
        """Until all of them are gone and read."""
        deadline = time.monotonic() + seconds
        while any(run.exited is None or run.open for run in runs):
            self.step(deadline)

    def until(self, run, *words, seconds=DEADLINE_S):
        """Until it has said one of the words, or is gone."""
        deadline = time.monotonic() + seconds
        while run.exited is None and not any(word in run.output for word in words):
            self.step(deadline)

    def kill(self, run):
        if run.exited is None:
            self.spawner.kill(run.process.id)
            self.wait(run)

    def close(self):
        for run in self.runs.values():
            for descriptor in (run.process.stdin, run.process.stdout, run.process.stderr):
                os.close(descriptor)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Where programs lie, by name; each is built once."""
    base = tmp_path_factory.mktemp("corpus")

    @functools.cache
    def place(source):
        return built(source, base / source.name.replace(".", "-"))

    return place


@pytest.fixture(scope="module")
def ground():
    with Spawner() as spawner:
        found = Ground(spawner)
        try:
            yield found
        finally:
            found.close()


@pytest.fixture(scope="module")
def backends():
    """Those that work here."""
    made = {name: make() for name, make in BACKENDS.items()}
    return {name: each for name, each in made.items() if each.probe().works}


@pytest.fixture(scope="module")
def outcomes(request, ground, places, backends):
    """All that was chosen of the corpus, by (backend, program)."""
    chosen = {
        (item.callspec.params["backend"], item.callspec.params["name"])
        for item in request.session.items
        if getattr(item, "originalname", "") == "test_honest_program"
    }

    def start(backend, name):
        root = places(HONEST / name)
        return ground.start(backends[backend], root, name, **FIELDS.get(name, {}))

    names = [name for name in CORPUS if command(name)]
    found = {
        (backend, IDLE): start(backend, IDLE) for backend in backends if (backend, IDLE) in chosen
    }
    working = []
    for backend in backends:
        for name in names:
            if name == IDLE or (backend, name) not in chosen:
                continue
            while len(working) >= AT_ONCE:
                ground.step(time.monotonic() + DEADLINE_S)
                working = [run for run in working if run.exited is None]
            found[backend, name] = start(backend, name)
            working.append(found[backend, name])
    ground.wait(*found.values())
    return found


QUICK = ("children.py", "native.c", "shell.sh")


EVERYWHERE = [
    *((backend, name) for backend in ("bwrap", "landlock") for name in CORPUS),
    *(("none", name) for name in QUICK),
]


@pytest.mark.parametrize(("backend", "name"), EVERYWHERE)
@pytest.mark.long(
    "every honest program",
    quick=tuple(f"{backend}-{name}" for backend in ("bwrap", "landlock") for name in QUICK),
)
def test_honest_program(outcomes, backend, name):
    """It says OK, leaves with status 0, and was not held for any limit."""
    if command(name) is None:
        pytest.skip(f"nothing here runs {name}")
    run = outcomes.get((backend, name))
    if run is None:
        pytest.skip(f"{backend} does not work here")
    told = (run.output.decode(), run.errors.decode(), run.exited)
    assert run.output.decode().split() == ["OK"], told
    assert run.exited.code == 0, told
    assert run.exited.overstepped == "", told
    assert run.exited.host_error == "", told


BESIDE = [
    *(("bwrap", bomb) for bomb in BOMBS),
    *(("landlock", bomb) for bomb in ("forks", "memory")),
    ("none", "threads"),
]
"""What holds a bomb there: limits and the watch, which all have, and what the sandbox adds."""


@pytest.mark.parametrize(("backend", "bomb"), BESIDE)
@pytest.mark.long("every honest program", quick=("bwrap-forks",))
def test_innocent_neighbour(ground, places, backends, backend, bomb):
    """While one program has taken all that it may, another runs as if it were alone."""
    program, args, fields = BOMBS[bomb]
    if backend not in backends:
        pytest.skip(f"{backend} does not work here")
    if command(program) is None:
        pytest.skip(f"nothing here runs {program}")
    hog = ground.start(backends[backend], places(HOSTILE / program), program, *args, **fields)
    ground.until(hog, *([b"refused", b"done"] if bomb != "time" else [b"up"]))
    assert b"up" in hog.output, (hog.output, hog.errors, hog.exited)
    names = [name for name in NEIGHBOURS if command(name)]
    runs = [ground.start(backends[backend], places(HONEST / name), name) for name in names]
    ground.wait(*runs)
    ground.kill(hog)
    for run in runs:
        assert run.output == b"OK\n", (run.output, run.errors, run.exited)
        assert run.exited.code == 0
