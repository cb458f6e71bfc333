"""Whole events from the command line, with real bots that behave or misbehave on demand."""

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena import registry
from arena.cli import commands
from arena.event.results import Counts, table_of
from arena.registry import render
from arena.store import canonical_line, read_by_id
from tests.messages import READ

from .clusters import ForkedCommand, certificates

REPOSITORY = Path(__file__).parents[2]

BOT = (
    """
import os, random, sys, time
"""
    + READ
    + """
how, at = sys.argv[1], int(sys.argv[2])
if how == "no-start":
    sys.stderr.write("cannot find my brain\\n")
    sys.exit(3)
if how == "never-ready":
    time.sleep(3600)
if how == "unflushed":
    print(sys.stdin.readline() and '{"type":"ready"}')
    sys.stdin.read()
asked = 0


def say(text):
    os.write(1, text.encode() if isinstance(text, str) else text)


for line in sys.stdin:
    message = read(line)
    if message["type"] == "hello":
        say("banner\\n" if how == "banner" else '{"type":"ready"}\\n')
    elif message["type"] == "match":
        draw = random.Random(message["seed"])
        asked = 0
    elif message["type"] == "act":
        asked += 1
        if asked == at and how not in ("fine", "slow", "chatty", "longest"):
            sys.stderr.write(f"about to {how}\\n")
            sys.stderr.flush()
            if how == "crash":
                os.kill(os.getpid(), 11)
            elif how == "raise":
                raise RuntimeError("my own mistake")
            elif how == "exit":
                sys.exit(0)
            elif how == "hang":
                time.sleep(3600)
            elif how == "close":
                os.close(1)
                time.sleep(3600)
            elif how == "flood":
                try:
                    while True:
                        say("x" * 65536)
                except OSError:
                    pass
            elif how == "nonsense":
                say("take this!\\n")
            elif how == "illegal":
                say(answer_to(message, "fly 3") + "\\n")
            elif how == "stale":
                say(answer_to({"turn": "0-zzzz"}, message["legal"][0]) + "\\n")
            elif how == "breed":
                # Each is within the limit, all together are not.
                while os.fork():
                    time.sleep(0.01)
                held = b"x" * (40 << 20)
                time.sleep(3600)
            elif how == "swarm":
                while os.fork():
                    pass
                time.sleep(3600)
            elif how == "deaf":
                time.sleep(3600)
            continue
        if how == "slow" and asked % at == 0:
            time.sleep(0.03)
        if how == "chatty":
            sys.stderr.write("x" * 20000)
        answer = answer_to(message, draw.choice(message["legal"]))
        if how == "longest":
            # Exactly line_bytes without the newline.
            answer = answer[:-1] + ',"x":"' + "x" * (65536 - len(answer) - 7) + '"}'
            assert len(answer) == 65536
        say(answer + "\\n")
    elif message["type"] == "bye":
        break
"""
)

FAULTS = ("crash", "raise", "exit", "close", "hang", "flood", "nonsense", "illegal", "stale")
"""What a bot may do instead of answering."""


@pytest.fixture(scope="session")
def confined():
    """The sandbox of this machine; without one the events still have to be right."""
    return "bwrap" if registry.backend("bwrap").probe().works else "none"


@pytest.fixture(scope="session")
def sandbox(confined):
    """What commands get; files override it whose events show the same without one."""
    return confined


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """A cache of the tests' own."""
    cache = tmp_path_factory.mktemp("cache")
    return {**os.environ, "XDG_CACHE_HOME": str(cache), "NO_COLOR": "1", "COLUMNS": "80"}


@pytest.fixture
def bot(tmp_path):
    """Make the folder of a bot that plays fine, or fails as told at question `at` of a match."""

    def make(name, /, how="fine", at=5, **fields):
        folder = tmp_path / "bots" / name
        folder.mkdir(parents=True)
        (folder / "bot.py").write_text(BOT)
        manifest = {"version": "1", "run": ["python3", "-S", "bot.py", how, str(at)], **fields}
        lines = [f"{key} = {json.dumps(value)}" for key, value in manifest.items()]
        (folder / "bot.toml").write_text("\n".join(lines) + "\n")
        return folder

    return make


@pytest.fixture
def arena(warm, environment, sandbox, tmp_path):
    """Run a command; its completed process has text output."""

    def run(*words, code=0, **options):
        words = [str(word) for word in words]
        if words[0] in {"run", "resume"} and "--sandbox" not in words:
            words += ["--sandbox", sandbox]
        done = warm(*words, cwd=tmp_path, **{"env": environment} | options)
        assert code == done.returncode, (done.returncode, done.stdout, done.stderr)
        return done

    return run


@pytest.fixture
def running(environment, forks, sandbox, tmp_path):
    """Start a command with JSON events, to be read with `until`; with other constants, if told."""
    started = []

    def start(*words, machine=None, **constants):
        words = [str(word) for word in (*words, "--json")]
        words += [] if "--sandbox" in words else ["--sandbox", sandbox]
        env = environment | (machine.environment if machine else {})
        process = ForkedCommand(
            forks, words, cwd=tmp_path, env=env, constants=constants, machine=machine
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def authority(tmp_path):
    """Make an authority and a certificate by it: the flags of a command, and Dask's."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make certificates with")
    return lambda name: certificates(tmp_path / name)


@pytest.fixture
def refused(environment, tmp_path, monkeypatch):
    """What a command says that is refused before anything is started, in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*words, code=2):
        done = CliRunner(env=environment).invoke(commands, [str(word) for word in words])
        assert code == done.exit_code, (done.exit_code, done.output, done.exception)
        return done.stderr

    return run


@pytest.fixture
def comparable(tmp_path):
    """The bytes of a folder that must not depend on how its event was played."""

    def read(folder):
        counted = read_by_id(tmp_path / folder, Counts(tmp_path / folder))
        lines = [canonical_line(record).decode() for record in counted]
        table = table_of(tmp_path / folder)
        return [
            lines,
            [render(table, kind, canonical=True) for kind in ("text", "md", "csv", "json")],
        ]

    return read


@pytest.fixture
def faults(arena, bot, environment, once, tmp_path):
    """An event in which bots named after what they do fail in each match at their fifth question,
    played once for all tests: its folder, its cache, and what was said.
    """

    def play():
        bots = [bot("ann"), bot("bob"), *(bot(how, how, 5) for how in FAULTS)]
        flags = ["--gauntlet", "ann", "--deals", "1", "--move-time", "1s", "--seed", "f"]
        folder, cache = tmp_path / "faults", str(tmp_path / "cache")
        own = {**environment, "XDG_CACHE_HOME": cache}  # other tests clean theirs
        done = arena("run", *bots, *flags, "--out", folder, env=own)
        return {
            "folder": str(folder),
            "cache": cache,
            "stdout": done.stdout,
            "stderr": done.stderr,
        }

    return once("faults", play)


@pytest.fixture
def records(arena):
    """The counted records of a folder, by the command."""

    def read(folder, *flags):
        return [json.loads(line) for line in arena("log", folder, *flags).stdout.splitlines()]

    return read
