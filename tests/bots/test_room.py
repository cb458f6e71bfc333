"""A disk that is full while bots are entered is the machine's trouble, whoever meets it."""

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from arena.bots import cache, interpreters
from arena.bots.folder import open_folder
from arena.bots.interpreters import MissingToolError
from arena.bots.tools import ask
from arena.exhaustion import NO_QUOTA, NO_SPACE
from arena.model import HostError

EXAMPLES = Path(__file__).parents[2] / "example_bots"
FULL = b"cc1: error: closing main.o: No space left on device"


@pytest.fixture
def small(tmp_path):
    """Run a command with a disk of some megabytes for its cache, which vanishes with it."""
    place = tmp_path / "small"
    place.mkdir()

    def small(*words, megabytes=4, first="true"):
        own = [] if os.geteuid() == 0 else ["--map-root-user"]
        script = f"mount -t tmpfs -o mode=755,size={megabytes}m none {place} && {{ {first}; }} && "
        command = ["unshare", "--mount", "--propagation", "private", *own, "sh", "-c"]
        if subprocess.run([*command, script + "true"], capture_output=True, check=False).returncode:
            pytest.skip("no disk of one's own can be mounted here")
        return subprocess.run(
            [*command, script + 'exec "$@"', "sh", sys.executable, "-m", "arena", *words],
            env={**os.environ, "XDG_CACHE_HOME": str(place)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    return small


SH = "#!/bin/sh\nexit 1\n"


def building(make, name, command):
    toml = f'version = "1"\nrun = ["./bot.sh"]\nbuild = ["sh", "-c", {command!r}]\n'
    return make(name, {"bot.toml": toml, "bot.sh": SH}, executable=["bot.sh"])


def on_one_line(done):
    """The machine's trouble, told in one line beside the notes of what was being done."""
    assert done.returncode == 4, done.stderr
    *before, line = done.stderr.splitlines()
    assert all(each.startswith(("building ", "note: ")) for each in before), done.stderr
    assert "the cache " in line, done.stderr
    assert NO_SPACE in line, done.stderr
    return line


@pytest.mark.process
@pytest.mark.parametrize(
    ("sandbox", "command"),
    [
        ("none", "yes | head -c 8000000 > made"),
        # Not a word.
        ("auto", "yes | head -c 8000000 > made 2>/dev/null"),
        # Half a file, and all is well.
        ("none", "yes | head -c 8000000 > made || true"),
        # Gone when it is looked for.
        ("auto", "yes | head -c 8000000 > made || { rm made; exit 1; }"),
    ],
)
@pytest.mark.long("machines that run out")
def test_a_build_that_fills_the_disk_leaves_nobody_out(small, make, tmp_path, command, sandbox):
    """Neither is it told as the bot's, nor does the event go on without it."""
    bad, good = building(make, "bad", command), make("good", {"bot.sh": SH})
    words = ["run", bad, good, "--out", tmp_path / "out", "--skip-broken", "--sandbox", sandbox]
    line = on_one_line(small(*words))
    assert line.startswith("arena: the build of bad@1 could not write to the cache")
    assert not (tmp_path / "out" / "event.json").exists()


@pytest.mark.process
def test_a_snapshot_that_does_not_fit(small, make, tmp_path):
    """As the build: the machine's."""
    large = make("large", {"bot.sh": SH, "weights": b"x" * 8_000_000})
    on_one_line(small("run", large, make("b.sh", SH), "--out", tmp_path / "out", "--skip-broken"))


@pytest.mark.process
def test_a_bot_whose_copy_for_the_build_does_not_fit(small, make, tmp_path):
    """Its snapshot does."""
    bot = building(make, "bot", "true")
    (bot / "weights").write_bytes(b"x" * 3_000_000)
    on_one_line(small("run", bot, make("b.sh", SH), "--out", tmp_path / "out", "--skip-broken"))


PYTHON = 'version = "1"\nrun = ["python3", "-S", "bot.py"]\nlock = "requirements.txt"\n'


@pytest.mark.process
@pytest.mark.parametrize(("megabytes", "fetched"), [(1, False), (5, True)])
@pytest.mark.long("machines that run out")
def test_packages_that_do_not_fit(
    small, make, tmp_path, write_wheel, monkeypatch, megabytes, fetched
):
    """Neither into the cache, by pip's words, nor a second time, for the bot's build."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    write_wheel(tmp_path, "tiny", "'" + "x" * 3_000_000 + "'")
    files = {"bot.toml": PYTHON, "requirements.txt": "tiny==1.0", "bot.py": ""}
    bot, other = make("a", files), make("b.sh", SH)
    first = shlex.join([sys.executable, "-m", "arena", "fetch", str(bot)]) if fetched else "true"
    words = ["run", bot, other, "--skip-broken", "--out", tmp_path / "out"]
    done = small(*(words if fetched else ["fetch", bot]), megabytes=megabytes, first=first)
    assert done.returncode == 4, done.stderr
    line = done.stderr.splitlines()[-1]
    assert NO_SPACE in line
    assert "the cache" in line


@pytest.mark.process
def test_bots_that_are_carried_do_not_fit(small, make, tmp_path):
    """Into a prepared event's folder, here on the same disk."""
    player = (EXAMPLES / "greedy" / "bot.py").read_text()
    bot = make("a", {"bot.py": player, "weights": b"x" * 3_000_000})
    out = tmp_path / "small" / "out"
    words = ["prepare", bot, make("b.py", player), "--out", out, "--sandbox", "none"]
    done = small(*words, megabytes=5)
    assert done.returncode == 4, done.stderr
    assert NO_SPACE in done.stderr.splitlines()[-1]


@pytest.mark.process
def test_a_build_that_fails_by_itself_is_its_authors(small, make, tmp_path):
    """On a small disk, too, that isn't full."""
    done = small("run", building(make, "bad", "echo no; exit 1"), make("good", {"bot.sh": SH}))
    assert done.returncode == 2, done.stderr
    assert "build: `sh -c" in done.stderr


def test_words_count_only_where_there_is_less_than_promised(tmp_path):
    """They are an author's."""
    disk = os.statvfs(tmp_path)
    free = disk.f_bavail * disk.f_frsize
    assert cache.missing_room(tmp_path, 1 << 20, FULL) == ""
    assert cache.missing_room(tmp_path, 2 * free, FULL) == NO_SPACE
    assert cache.missing_room(tmp_path, 2 * free, b"error: expected ';'") == ""
    assert cache.missing_room(tmp_path, 1 << 20, b"") == ""


def test_a_quota_is_found_by_trying(tmp_path, monkeypatch):
    """No figure tells it."""
    said = b"ld: final link failed: Disk quota exceeded"
    assert cache.missing_room(tmp_path, 1 << 20, said) == ""

    def over(*_):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "posix_fallocate", over)
    assert cache.missing_room(tmp_path, 1 << 20, said) == NO_QUOTA
    assert cache.missing_room(tmp_path, 1 << 20, b"") == NO_QUOTA


def test_descriptors_that_run_out_are_no_bots_fault(make, monkeypatch):
    """Nor is a program missing that can't be started."""
    bot = make("a", {"bot.sh": SH})

    def none(*_, **__):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", none)
    with pytest.raises(HostError, match="out of file descriptors"), open_folder(bot):
        pass
    monkeypatch.setattr(subprocess, "run", none)
    with pytest.raises(HostError, match="python3 can't be started: out of file descriptors"):
        ask(["python3"])
    with pytest.raises(HostError, match="can't be started"):
        interpreters._ask(("/usr/bin/rustup", "which"), "cargo")


def test_a_shim_that_is_not_there_is_a_missing_program():
    """Only what ran out is the machine's."""
    with pytest.raises(MissingToolError, match="its version manager did not name"):
        interpreters._ask((str(Path("/no/where")),), "cargo")
