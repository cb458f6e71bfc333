"""A folder as a stranger could have made it: any content, with right checksums."""

import json
import shutil
import unicodedata
import zlib

import pytest
from click.testing import CliRunner

from arena.cli import commands
from arena.model import Fault, FaultKind

# What acts in a terminal, or makes a line of two.
ACTING = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}

HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J\x1b[31m",
    "\x9b31m\u202eevil\u2066\u200b\ufeff",
    "line\nline\r\nline\u2028line\x85line",
    "| a | b |\n|---|---|\n[x](javascript:alert(1)) ![i](//evil) <script>alert(1)</script>",
    "=HYPERLINK(1)\t,;\"'@SUM(A1)",
    "$(touch owned) `touch owned` ; touch owned & '\" \\",
    "-rf --help",
    "../../../etc/passwd\x00.txt",
    "\U000e0041\U000e0042\u034f\u115f",
    "z\u0335\u0336\u0337\u0338" * 50,
    "x" * 100_000,
)


def sealed(text):
    """A line with the checksum that fits it."""
    body = text.encode("utf-8", "surrogatepass")[:-1]
    return body + b',"check":"%08x"}\n' % zlib.crc32(body)


DEEP = "deeper than any parser goes"


def written(value):
    """JSON as the arena writes it, for any value."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace(f'"{DEEP}"', "[" * 100_000 + "]" * 100_000)


class Forger:
    """Changes a folder; its checksums are put right."""

    def __init__(self, folder):
        self.folder = folder

    def event(self):
        """event.json as data."""
        value = json.loads((self.folder / "event.json").read_bytes())
        del value["check"]
        return value

    def records(self):
        """The records as data."""
        lines = (self.folder / "matches.jsonl").read_bytes().splitlines()
        values = [json.loads(line) for line in lines]
        for value in values:
            del value["check"]
        return values

    def put_event(self, value):
        """Write event.json; text is taken as it is."""
        text = value if isinstance(value, str) else written(value)
        (self.folder / "event.json").write_bytes(sealed(text))

    def put_records(self, values):
        """Write the log; text is taken as it is."""
        texts = (value if isinstance(value, str) else written(value) for value in values)
        (self.folder / "matches.jsonl").write_bytes(b"".join(map(sealed, texts)))
        (self.folder / "matches.index").unlink(missing_ok=True)


@pytest.fixture(scope="session")
def published(play_event, tmp_path_factory):
    """Two bots, two deals, a fault, finished."""
    fault = Fault(
        kind=FaultKind.ILLEGAL,
        seat=0,
        hole=1,
        turn=1,
        message="m",
        line="l",
        stderr="e",
        status="s",
    )
    return play_event(tmp_path_factory.mktemp("published") / "event", deals=2, faults={1: fault})


@pytest.fixture
def forger(published, tmp_path):
    """A copy of it to be changed."""
    shutil.copytree(published, tmp_path / "event")
    return Forger(tmp_path / "event")


@pytest.fixture(params=HOSTILE, ids=range(len(HOSTILE)))
def hostile(request):
    """A text that somebody means to do harm with."""
    return request.param


@pytest.fixture
def harmless(tmp_path, monkeypatch):
    """Run a command on what is hostile: it succeeds or says in lines what is wrong, and nothing
    that it prints acts.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*words):
        done = CliRunner().invoke(commands, [str(word) for word in words])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise AssertionError(f"{words}: {done.exception!r}") from done.exception
        assert done.exit_code in {0, 1, 2, 3, 5}, (words, done.exit_code, done.output)
        printed = (done.stdout_bytes + done.stderr_bytes).decode()
        acting = {c for c in printed if unicodedata.category(c) in ACTING} - {"\n"}
        assert not acting, (words, acting)
        if done.exit_code == 2:
            lines = done.stderr.splitlines()
            assert all(line.startswith(("arena: ", "note: ")) for line in lines), lines
            assert len(lines) <= 5, lines
            assert len(done.stderr) < 1500, lines
        assert not (tmp_path / "owned").exists()
        return done

    return run
