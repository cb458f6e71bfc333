"""Entries of the cache as bytes: the same on the other side, or refused in one line."""

import hashlib
import os

import msgspec
import pytest

from arena.bots import Bundle, bundles, load, pack, unpack
from arena.model import UserError

KEY = "packages/" + "0" * 64


@pytest.fixture
def entry(cache):
    """Fill an entry of the cache as `arena fetch` may: files, a program, links, empty folders."""
    folder = cache / KEY
    (folder / "node_modules" / ".bin").mkdir(parents=True)
    (folder / "node_modules" / "empty").mkdir()
    (folder / "node_modules" / "tool.js").write_bytes(b"#!/usr/bin/env node\n")
    (folder / "node_modules" / "tool.js").chmod(0o555)
    (folder / "node_modules" / os.fsdecode(b"\xff.bin")).write_bytes(bytes(range(256)))
    (folder / "node_modules" / ".bin" / "tool").symlink_to("../tool.js")
    (folder / "node_modules" / "self").symlink_to(".")
    return folder


def listed(folder):
    """All that a folder holds: modes, contents, and where links lead."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[path.relative_to(folder)] = ("link", path.readlink())
        else:
            content = path.read_bytes() if path.is_file() else None
            found[path.relative_to(folder)] = (path.stat().st_mode & 0o111, content)
    return found


def bundle_of(*items):
    """What a hostile parent or worker may send: the sum is right."""
    total = hashlib.sha256(b"nine-arena bot 1\n")
    for path, kind, content in sorted(items):
        line = f"{kind} {hashlib.sha256(content).hexdigest()} ".encode()
        total.update(line + path + b"\0")
    return Bundle(total.hexdigest(), msgspec.msgpack.encode(items))


def test_packages_are_the_same_on_the_other_side(cache, entry, tmp_path):
    """With programs, links, empty folders and names of any bytes; read-only; once."""
    bundle = pack(KEY, cache=cache)
    for _ in range(2):
        unpack(KEY, bundle, cache=tmp_path / "other")
        there = tmp_path / "other" / KEY
        assert listed(entry) == listed(there)
        assert 0 == (there / "node_modules" / "tool.js").stat().st_mode & 0o222
        assert [there] == list(there.parent.iterdir())
    assert bundle == pack(KEY, cache=tmp_path / "other")


def test_packages_that_hold_nothing_travel_too(cache, tmp_path):
    """A lock file may name none."""
    (cache / KEY).mkdir(parents=True)
    unpack(KEY, pack(KEY, cache=cache), cache=tmp_path / "other")
    assert (tmp_path / "other" / KEY).is_dir()


def test_a_bot_s_sum_is_its_hash(cache, make, tmp_path):
    """So it can't come under another name."""
    files = {"bot.toml": 'version = "1"\n', "bot.py": "", "src/a": "a", "src-b": "b", "run": "x"}
    (candidate,) = load([make("ann", files, executable=("run",))], cache=cache).candidates
    content = candidate.entrant.hash
    bundle = pack(f"bots/{content}", cache=cache)
    assert content == bundle.sum
    other = tmp_path / "other"
    assert (f"bots/{content}",) == bundles.missing_snapshots([candidate.entrant], cache=other)
    unpack(f"bots/{content}", bundle, cache=other)
    assert () == bundles.missing_snapshots([candidate.entrant], cache=other)
    with pytest.raises(UserError, match="it is another bot's"):
        unpack("bots/" + "0" * 64, bundle, cache=other)


def test_what_is_not_here_or_too_large_is_not_packed(cache, entry, monkeypatch):
    """A name may come from a node: it leads to entries of the cache alone."""
    assert pack(KEY, cache=cache)
    for name in ("packages/" + "1" * 64, "packages/..", "builds/" + "0" * 64, "..", KEY + "/.."):
        assert pack(name, cache=cache) is None
    with pytest.raises(UserError, match="snapshot has vanished"):
        pack("bots/" + "0" * 64, cache=cache)
    monkeypatch.setattr(bundles, "MAX_BYTES", 100)
    assert pack(KEY, cache=cache) is None


FILE = (b"a/file", "-", b"x")


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([(b"/etc/a", "-", b"")], "/etc/a is no path within a folder"),
        ([(b"../a", "-", b"")], "../a is no path within a folder"),
        ([(b"a/../../b", "l", b"c")], "a/../../b is no path within a folder"),
        ([(b"", "d", b"")], " is no path within a folder"),
        ([(b"a/" * 66 + b"a", "-", b"")], "is no path within a folder"),
        ([FILE, (b"a/l", "l", b"/etc/passwd")], "a/l is a link to /etc/passwd, outside"),
        ([FILE, (b"a/l", "l", b"../../b")], "a/l is a link to ../../b, outside"),
        # By its words it stays inside.
        ([(b"a/b/c", "l", b"../.."), (b"l", "l", b"a/b/c/../b")], "l is a link to a/b/c/../b, out"),
        # Nothing is written through a link.
        ([(b"l", "l", b".."), (b"l/file", "-", b"")], "it can't be read"),
        ([FILE, (b"a/file/b", "-", b"")], "it can't be read"),
        ([FILE, FILE], "it can't be read"),
        ([(b"a\0", "-", b"")], "it can't be read"),
        ([(b"a", "p", b"")], "a is neither a file nor a folder nor a link"),
        ([(b"a", "-", 1)], "it can't be read"),
        ([(b"a", "l", b"")], "it can't be read"),
        ([(b"a" * 300, "-", b"")], "it can't be read"),
        ([(b"/".join([b"a" * 200] * 12), "-", b"")], "it holds paths of more than 2048 bytes"),
    ],
)
def test_hostile_bundles_are_refused(items, why, tmp_path):
    """In a line, and nothing of them is left."""
    try:
        bundle = bundle_of(*items)
    except (TypeError, ValueError):
        bundle = Bundle("0" * 64, msgspec.msgpack.encode(items))
    with pytest.raises(UserError) as refused:
        unpack(KEY, bundle, cache=tmp_path / "cache")
    assert str(refused.value).startswith("a bundle is refused: ")
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
    assert [] == list((tmp_path / "cache" / "packages").iterdir())
    assert [tmp_path / "cache"] == list(tmp_path.iterdir())


def test_a_damaged_bundle_is_refused(cache, entry, tmp_path):
    """Another byte, a file less, another mode: its sum comes by another way."""
    bundle = pack(KEY, cache=cache)
    items = msgspec.msgpack.decode(bundle.content)
    damaged = [
        [[path, "x" if kind == "-" else kind, content] for path, kind, content in items],
        [[path, kind, content + b" " * (kind == "-")] for path, kind, content in items],
        items[:-1],
    ]
    for each in damaged:
        with pytest.raises(UserError, match="refused: it was damaged on its way"):
            unpack(KEY, Bundle(bundle.sum, msgspec.msgpack.encode(each)), cache=tmp_path / "other")
    with pytest.raises(UserError, match="refused: it can't be read"):
        unpack(KEY, Bundle(bundle.sum, bundle.content[:-1]), cache=tmp_path / "other")
    for name in ("packages/..", "builds/" + "0" * 64):
        with pytest.raises(UserError, match="it has no place in the cache"):
            unpack(name, bundle, cache=tmp_path / "other")
    assert [] == list((tmp_path / "other" / "packages").iterdir())
