"""Fetching with the real pip, npm and cargo where they are, always without network."""

import base64
import hashlib
import io
import json
import os
import shutil
import socket
import sys
import tarfile
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from arena.bots import build, fetch, load, packages, tools
from arena.bots.build import run_plan
from arena.bots.roster import FailedError
from arena.sandbox import Launch

pytestmark = pytest.mark.process


@pytest.fixture
def fetched(cache):
    """Load the paths and fetch for them; the problems, the skipped, and the lines reported."""

    def fetched(*paths):
        roster = load(paths, cache=cache)
        assert (roster.problems, roster.skipped) == ((), ())
        reports = []
        result = fetch(roster.candidates, cache=cache, report=reports.append)
        assert not list((cache / "packages").glob("tmp-*"))
        return result, reports

    return fetched


@pytest.fixture
def built(cache, backend, spawners):
    """Load and build the paths."""

    def built(*paths, **options):
        roster = load(paths, cache=cache)
        return build(roster.candidates, cache=cache, backend=backend, spawners=spawners, **options)

    return built


@pytest.fixture
def output(backend, spawner):
    """What a built bot writes when it is started."""

    def output(bot):
        launch = Launch(run=bot.run, root=bot.root, expose=bot.expose, env=dict(bot.env))
        ended, written = run_plan(backend.plan(launch), spawner, time.monotonic() + 30)
        assert ended is not None
        assert ended.code == 0, written
        return written.decode()

    return output


def the_problem(result):
    (problem,) = result.problems
    return problem


# ---------------------------------------------------------------------------------- Python


@pytest.fixture
def pip(tmp_path, monkeypatch, write_wheel):
    """Make wheels in a folder that is all pip knows of; skip where there is no pip."""
    if not find_spec("pip"):
        pytest.skip("no pip here")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    # What users set for themselves must not get in the way.
    monkeypatch.setenv("PIP_REQUIRE_VIRTUALENV", "1")
    monkeypatch.setenv("PIP_USER", "1")

    def wheel(name, source, requires=()):
        """Write a wheel of one module; return its pip hash."""
        return write_wheel(wheels, name, source, requires)

    return wheel


PYTHON = 'version = "1"\nrun = ["python3", "-S", "bot.py"]\nlock = "requirements.txt"\n'


def test_wheels_are_fetched_once_and_found_by_the_bot(
    pip, make, fetched, built, output, cache, monkeypatch
):
    """Nothing of a package runs before the sandbox; its compiled form is made there, too."""
    told = make("told", {})
    digest = pip("tiny", f"open({str(told / 'run')!r}, 'a').write('x')\nVALUE = 41\n")
    files = {
        "bot.toml": PYTHON,
        "requirements.txt": f"tiny==1.0 --hash={digest}\n",
        "bot.py": "import tiny; print(tiny.VALUE, tiny.__cached__.endswith('.pyc'))",
    }
    path = make("a", files)
    assert the_problem(built(path)).lines == (
        f"needs packages that were not fetched: run `arena fetch {path}`",
    )
    result, reports = fetched(path)
    assert result == packages.Issues()
    assert reports[0] == "a@1: fetching what requirements.txt names"
    assert reports[1].startswith("a@1: fetched, ")
    assert fetched(make("b", files)) == (packages.Issues(), ["b@1: already here"])
    assert not (told / "run").exists()
    lines = []
    (bot,) = built(path, report=lines.append).bots
    assert lines == ["preparing the packages of a@1"]
    assert not (told / "run").exists()
    assert output(bot) == "41 True\n"
    assert bot.env == (("PYTHONPATH", "/bot/.arena-packages"),)
    assert list(Path(bot.root, ".arena-packages/__pycache__").glob("tiny.*.pyc"))
    lines.clear()
    assert built(path, report=lines.append).bots == (bot,)
    assert lines == []
    (entry,) = (cache / "packages").iterdir()
    assert {path.name for path in entry.rglob("*.py")} == {"tiny.py"}
    assert {path.stat().st_mode & 0o222 for path in entry.rglob("*") if path.is_file()} == {0}


@pytest.mark.long("packages by every tool")
def test_what_the_lock_does_not_pin_is_named(pip, make, fetched):
    """A package that another one needs would be another one tomorrow."""
    pip("tiny", "", requires=["Other_one"])
    pip("other_one", "")
    path = make("a", {"bot.toml": PYTHON, "requirements.txt": "tiny==1.0", "bot.py": ""})
    (line,) = the_problem(fetched(path)[0]).lines
    assert line == ("requirements.txt doesn't pin all that its packages need; add other_one==1.0")
    (path / "requirements.txt").write_text("tiny==1.0\nother-one==1.0")
    assert fetched(path)[0].problems == ()


@pytest.mark.long("packages by every tool")
def test_a_package_without_a_wheel_is_explained(pip, make, fetched, tmp_path):
    """A source package would be built here; its setup.py is not run."""
    told = tmp_path / "run"
    with tarfile.open(tmp_path / "wheels" / "tiny-1.0.tar.gz", "w:gz") as archive:
        for name, text in {
            "tiny-1.0/setup.py": f"open({str(told)!r}, 'w')\n",
            "tiny-1.0/PKG-INFO": "Metadata-Version: 1.0\nName: tiny\nVersion: 1.0\n",
        }.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    path = make("a", {"bot.toml": PYTHON, "requirements.txt": "tiny==1.0", "bot.py": ""})
    problem = the_problem(fetched(path)[0])
    assert problem.lines[0].startswith("pip found no wheel of tiny==1.0 for this Python (only")
    assert any("No matching distribution" in line for line in problem.lines[1:])
    assert not told.exists()


def test_a_wrong_hash_is_an_error(pip, make, fetched):
    """The end of what pip says is shown."""
    pip("tiny", "")
    text = "tiny==1.0 --hash=sha256:" + "0" * 64
    path = make("a", {"bot.toml": PYTHON, "requirements.txt": text, "bot.py": ""})
    problem = the_problem(fetched(path)[0])
    assert problem.lines[0] == "pip could not get its packages (exit 1)"
    assert any("HASH" in line for line in problem.lines[1:])


@pytest.fixture
def on_path(program, tmp_path, monkeypatch):
    """Put programs of the test's own first on PATH."""

    def on_path(**scripts):
        for name, text in scripts.items():
            program(tmp_path / "tools" / "bin" / name, f"#!/bin/sh\n{text}\n")
        for mark in ("lib/python3.11/os.py", "include/node/node.h", "lib/rustlib/x"):
            program(tmp_path / "tools" / mark)
        monkeypatch.setenv("PATH", f"{tmp_path}/tools/bin:{os.environ['PATH']}")

    return on_path


def test_no_pip_anywhere(make, fetched, on_path, monkeypatch):
    """The way to get one is said; a lock file that pins nothing needs none."""
    on_path(python3='[ "$1" = -I ] && echo cpython')
    monkeypatch.setattr(sys, "executable", "/bin/false")
    path = make("a", {"bot.toml": PYTHON, "requirements.txt": "tiny==1.0", "bot.py": ""})
    (line,) = the_problem(fetched(path)[0]).lines
    assert line.startswith("needs pip, which ")
    assert "ensurepip" in line
    (path / "requirements.txt").write_text("")
    assert fetched(path)[0].problems == ()


def test_an_interpreter_that_answers_nothing(make, fetched, on_path):
    """What can't tell its version can't have packages."""
    on_path(python3="exit 3")
    path = make("a", {"bot.toml": PYTHON, "requirements.txt": "", "bot.py": ""})
    assert "can't tell the version" in the_problem(fetched(path)[0]).lines[0]


def test_an_interpreter_that_only_a_bot_names_is_not_run(make, cache, program, tmp_path):
    """The user who unpacked the bots owns their files, so that the owner says nothing."""
    python = program(tmp_path / "theirs" / "bin" / "python3", f"#!/bin/sh\ntouch {tmp_path}/run\n")
    toml = f'run = ["{python}", "bot.py"]\nlock = "requirements.txt"\n'
    path = make("a", {"bot.toml": toml, "requirements.txt": "", "bot.py": ""})
    assert "because a bot names it" in the_problem(load([path], cache=cache)).lines[0]
    assert not (tmp_path / "run").exists()


def test_another_interpreter_wants_other_packages(make, fetched, built, on_path, tmp_path):
    """What was fetched for one version of Python isn't there for the next."""
    on_path(python3="echo cpython-311")
    path = make("a", {"bot.toml": PYTHON, "requirements.txt": "", "bot.py": ""})
    fetched(path)
    assert built(path).problems == ()
    on_path(python3="echo cpython-312")
    assert "not fetched" in the_problem(built(path)).lines[0]


def test_a_program_that_its_build_makes_uses_python3(make, fetched, built, on_path):
    """The lock file alone says that there is Python in it."""
    on_path(python3="echo cpython-311")
    toml = "run = ['./made']\nbuild = ['cp', '-p', 'bot.sh', 'made']\nlock = 'requirements.txt'\n"
    files = {"bot.toml": toml, "requirements.txt": "", "bot.sh": "#!/bin/sh\n"}
    path = make("a", files, executable=["bot.sh"])
    assert fetched(path)[0].problems == ()
    assert built(path).bots[0].run[-1] == "/bot/made"


# -------------------------------------------------------------------------------- JavaScript


def tarball(folder, name):
    """A package with an installation script; its integrity."""
    manifest = {"name": name, "version": "1.0.0", "scripts": {"install": "exit 3"}}
    path = folder / f"{name}-1.0.0.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for inner, text in {
            "package/package.json": json.dumps(manifest),
            "package/index.js": "module.exports = 41;\n",
        }.items():
            entry = tarfile.TarInfo(inner)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


NODE = 'version = "1"\nrun = ["node", "bot.mjs"]\nlock = "package-lock.json"\n'


def node_bot(make, name="a"):
    """A bot that brings its one package along."""
    path = make(name, {"bot.toml": NODE, "bot.mjs": "import t from 'tiny'; console.log(t);"})
    integrity = tarball(path, "tiny")
    source = "file:tiny-1.0.0.tgz"
    manifest = {"name": "bot", "version": "1.0.0", "dependencies": {"tiny": source}}
    tiny = {"version": "1.0.0", "resolved": source, "integrity": integrity}
    lock = {
        "name": "bot",
        "version": "1.0.0",
        "lockfileVersion": 3,
        "requires": True,
        "packages": {"": manifest, "node_modules/tiny": {**tiny, "hasInstallScript": True}},
    }
    (path / "package.json").write_text(json.dumps(manifest))
    (path / "package-lock.json").write_text(json.dumps(lock))
    return path


@pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="no npm here")
@pytest.mark.long("packages by every tool")
def test_node_modules_are_made_without_scripts(make, fetched, built, output, monkeypatch, tmp_path):
    """The package's installation script would fail; what the author installed doesn't count."""
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("npm_config_registry", "http://localhost:9")
    path = node_bot(make)
    assert "not fetched" in the_problem(built(path)).lines[0]
    result, reports = fetched(path)
    assert result.problems == ()
    assert reports[1].startswith("a@1: fetched, ")
    (bot,) = built(path).bots
    assert output(bot) == "41\n"
    (path / "node_modules" / "tiny").mkdir(parents=True)
    (path / "node_modules" / "tiny" / "index.js").write_text("broken(")
    assert built(path).bots[0].entrant.hash == bot.entrant.hash


def test_npm_is_missing(make, fetched, on_path, tmp_path, monkeypatch, program):
    """An author must mend it, an optional bot is left out; npm's failures show their end."""
    on_path(node="echo v20")
    node = tmp_path / "tools/bin/node"
    monkeypatch.setenv("PATH", str(node.parent))
    path = node_bot(make)
    assert "'npm', which is not on PATH" in the_problem(fetched(path)[0]).lines[0]
    (path / "bot.toml").write_text(NODE + "optional = true\n")
    result, _ = fetched(path)
    assert result.problems == ()
    assert "'npm'" in result.skipped[0].reason
    program(node.with_name("npm"), "#!/bin/sh\necho 'npm error 404' >&2\nkill -9 $$\n")
    assert the_problem(fetched(path)[0]).lines == (
        "npm could not get its packages (signal 9)",
        "| npm error 404",
    )


def test_npm_gets_no_settings_of_the_bot(make, fetched, on_path, tmp_path, monkeypatch):
    """It sees package.json, the lock and the bot's packages; standard input is closed."""
    seen = tmp_path / "seen"
    on_path(node="echo v20", npm=f'cat; ls -A > {seen}; echo "$@" >> {seen}')
    path = node_bot(make)
    (path / ".npmrc").write_text("ignore-scripts=false\n")
    assert fetched(path)[0].problems == ()
    *files, words = seen.read_text().splitlines()
    assert files == ["package-lock.json", "package.json", "tiny-1.0.0.tgz"]
    assert words.startswith("ci --ignore-scripts --git=")
    assert "--replace-registry-host=always" in words.split()


# -------------------------------------------------------------------------------------- Rust


def rust_bot(make, build=""):
    """A bot with one dependency."""
    lock = (
        'version = 3\n[[package]]\nname = "bot"\nversion = "0.1.0"\ndependencies = ["tiny"]\n'
        '[[package]]\nname = "tiny"\nversion = "1.0.0"\n'
        'source = "registry+https://github.com/rust-lang/crates.io-index"\n'
        f'checksum = "{"a" * 64}"\n'
    )
    manifest = (
        '[package]\nname = "bot"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ntiny = "1"\n'
    )
    files = {
        "bot.toml": f'version = "1"\nrun = ["sh"]\nlock = "Cargo.lock"\n{build}',
        "Cargo.lock": lock,
        "Cargo.toml": manifest,
        "src/main.rs": 'fn main() { println!("{}", tiny::f()); }',
        "target/debug/junk": "x",
        ".cargo/config.toml": "[build]\nrustc = '/no/such'\n[net]\noffline = false\n",
    }
    return make("a", files)


@pytest.fixture
def cargo(make, monkeypatch):
    """A user's settings that name a mirror; skip where there is no cargo."""
    if not shutil.which("cargo"):
        pytest.skip("no cargo here")
    mirror = {
        "tiny/Cargo.toml": '[package]\nname = "tiny"\nversion = "1.0.0"\nedition = "2021"\n',
        "tiny/src/lib.rs": "pub fn f() -> i32 { 41 }\n",
        "tiny/.cargo-checksum.json": json.dumps({"files": {}, "package": "a" * 64}),
    }
    home = make("cargo-home", {f"mirror/{path}": text for path, text in mirror.items()})
    (home / "config.toml").write_text(
        '[source.crates-io]\nreplace-with = "mirror"\n'
        f'[source.mirror]\ndirectory = "{home}/mirror"\n'
    )
    monkeypatch.setenv("RUSTUP_HOME", os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")))
    monkeypatch.setenv("CARGO_HOME", str(home))


def test_crates_are_there_for_the_build_alone(cargo, make, fetched, built, backend):
    """The sources and the settings that lead to them lie in the build's home."""
    path = rust_bot(make, "build = ['sh', '-c', 'cat .arena-home/.cargo/config.toml > settings']")
    assert "not fetched" in the_problem(built(path)).lines[0]
    assert fetched(path)[0].problems == ()
    (bot,) = built(path).bots
    settings = Path(bot.root, "settings").read_text()
    assert 'directory = "vendor"' in settings
    assert 'replace-with = "vendored-sources"' in settings
    assert not Path(bot.root, ".arena-home").exists()
    assert not Path(bot.root, "target").exists()


def test_a_crate_is_built_offline_in_the_sandbox(cargo, make, fetched, cache, real):
    """The build of cargo finds the fetched sources, and nothing else is needed."""
    path = rust_bot(make, "build = ['cargo', 'build', '--offline', '--locked']")
    (path / ".cargo" / "config.toml").unlink()
    (path / "bot.toml").write_text(
        (path / "bot.toml").read_text().replace('"sh"', '"target/debug/bot"')
    )
    assert fetched(path)[0].problems == ()
    result = build(load([path], cache=cache).candidates, cache=cache, **real)
    assert result.problems == ()
    (bot,) = result.bots
    plan = real["backend"].plan(Launch(run=bot.run, root=bot.root))
    with real["spawners"]() as spawner:
        ended, output = run_plan(plan, spawner, time.monotonic() + 20)
    assert ended is not None
    assert (ended.code, output) == (0, b"41\n")


def test_a_bot_without_crates_makes_cargo_ask_nobody(cargo, make, fetched, monkeypatch):
    """The bot's settings may name any host, and there may be no mirror."""
    with socket.create_server(("127.0.0.1", 0)) as host:
        there = f"sparse+http://127.0.0.1:{host.getsockname()[1]}/"
        path = rust_bot(make)
        (path / "Cargo.lock").write_text(
            'version = 3\n[[package]]\nname = "bot"\nversion = "0.1.0"\n'
            '[[package]]\nname = "own"\nversion = "0.1.0"\n'
        )
        (path / "Cargo.toml").write_text(
            '[package]\nname = "bot"\nversion = "0.1.0"\nedition = "2021"\n'
            '[workspace]\nmembers = ["own"]\n'
        )
        (path / ".cargo" / "config.toml").write_text(
            f'[source.crates-io]\nreplace-with = "x"\n[source.x]\nregistry = "{there}"\n'
        )
        (path / "own" / "src").mkdir(parents=True)
        (path / "own" / "src" / "lib.rs").touch()
        (path / "own" / "Cargo.toml").write_text('[package]\nname = "own"\nversion = "0.1.0"\n')
        Path(os.environ["CARGO_HOME"], "config.toml").unlink()
        assert fetched(path)[0].problems == ()
        host.setblocking(False)
        with pytest.raises(BlockingIOError):
            host.accept()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_others_have_put_above_the_cache_is_not_read_by_cargo(cargo, make, fetched, tmp_path):
    """As in a /tmp where all may write: it would be a workspace, or settings."""
    os.chown(make("x", ""), 65534, 65534)
    (tmp_path / "bots" / "x").rename(tmp_path / "Cargo.toml")
    (line,) = the_problem(fetched(rust_bot(make))[0]).lines
    assert line.startswith(f"cargo would read {tmp_path}/Cargo.toml, another user's")


@pytest.mark.parametrize("real", ["bwrap"], indirect=True)
def test_wheels_are_found_in_the_sandbox(pip, make, fetched, cache, real):
    """Packages lie in the bot's own folder there, compiled."""
    pip("tiny", "VALUE = 41\n")
    source = "import tiny; print(tiny.VALUE)"
    files = {"bot.toml": PYTHON, "requirements.txt": "tiny==1.0", "bot.py": source}
    path = make("a", files)
    assert fetched(path)[0].problems == ()
    (bot,) = build(load([path], cache=cache).candidates, cache=cache, **real).bots
    launch = Launch(run=bot.run, root=bot.root, expose=bot.expose, env=dict(bot.env))
    with real["spawners"]() as spawner:
        plan = real["backend"].plan(launch)
        ended, output = run_plan(plan, spawner, time.monotonic() + 20)
    assert ended is not None
    assert ended.code == 0, output
    assert output == b"41\n"
    assert list(Path(bot.root).glob(".arena-packages/__pycache__/tiny.*.pyc"))


# --------------------------------------------------------------------------------- in general


def test_a_bot_without_a_lock_file_is_noted(make, fetched):
    """Naming all bots is no mistake."""
    result, (line,) = fetched(make("a", {"bot.toml": "version = '1'", "bot.sh": ""}))
    assert result == packages.Issues()
    assert line == "a@1: names no lock file in bot.toml, nothing to fetch"


def test_packages_are_capped(make, fetched, on_path, monkeypatch, cache):
    """They can't fill the cache."""
    on_path(node="echo v20", npm="mkdir node_modules; cd node_modules; touch a b c")
    monkeypatch.setattr(packages, "MAX_FILES", 2)
    problem = the_problem(fetched(node_bot(make))[0])
    assert problem.lines[0].startswith("package-lock.json: its packages are 0 MB in 3 files")
    assert list((cache / "packages").iterdir()) == []


def test_packages_in_deep_folders_are_refused(make, fetched, on_path, cache):
    """Nothing that walks through them later has to recurse that far."""
    deep = "/".join("d" * 66)
    on_path(node="echo v20", npm=f"mkdir -p node_modules/{deep}")
    problem = the_problem(fetched(node_bot(make))[0])
    assert problem.lines == ("package-lock.json: its packages hold folders more than 64 deep",)
    assert list((cache / "packages").iterdir()) == []


def test_names_of_the_arena_can_not_be_taken(make, built):
    """A bot's folder that has one says so instead of breaking the build."""
    toml = "run = ['sh']\nbuild = ['true']\n"
    problem = the_problem(built(make("a", {"bot.toml": toml, ".arena-home/x": ""})))
    assert problem.lines == ("build: the name .arena-home is reserved; rename that file",)


def test_a_tool_that_hangs_is_ended(program, tmp_path):
    """With all that it has started, and the output until then."""
    tool = program(tmp_path / "cargo", "#!/bin/sh\necho waiting\nsleep 100 & wait\n")
    work = tmp_path / "in" / "work"
    work.mkdir(parents=True)
    with pytest.raises(FailedError) as e:
        tools.run([str(tool)], work, {}, seconds=0.2)
    assert e.value.lines == ("cargo did not get its packages within 0.2 s", "| waiting")


def test_an_interruption_ends_the_tool(program, tmp_path):
    """Ctrl-C leaves no process behind, also none that has left the tool's session."""
    told = tmp_path / "told"
    script = f"#!/bin/sh\nsetsid sleep 100 & echo $$ $! > {told}; kill -INT {os.getpid()}; wait\n"
    tool = program(tmp_path / "cargo", script)
    work = tmp_path / "in" / "work"
    work.mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt):
        tools.run([str(tool)], work, {})
    assert not [pid for pid in told.read_text().split() if Path("/proc", pid).exists()]


def test_a_tool_that_can_not_be_run(tmp_path):
    """A file that isn't a program is named."""
    work = tmp_path / "in" / "work"
    work.mkdir(parents=True)
    with pytest.raises(FailedError, match="/nowhere can't be run"):
        tools.run(["/nowhere"], work, {})
