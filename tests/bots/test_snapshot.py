import hashlib
import os
import shutil
import stat

import pytest

from arena.bots import cache as caches
from arena.bots import clean_cache, default_cache, snapshot, trees
from arena.bots.folder import SnapshotError, open_folder
from arena.bots.snapshot import READ_NS, content_hash, find, listing
from arena.model import UserError


def hash_of(path):
    with open_folder(path) as folder:
        return content_hash(listing(folder))


def take(path, cache):
    with open_folder(path) as folder:
        return snapshot.take(listing(folder), cache)


def files(path, left_out=frozenset()):
    with open_folder(path) as folder:
        return [file.path for file in listing(folder, left_out)]


def refused(path):
    with pytest.raises(SnapshotError) as e:
        files(path)
    return str(e.value)


def test_hash_is_the_documented_one(make):
    """Anybody can recompute a content hash from its definition."""
    folder = make("a", {"bot.py": "x", "b/z": "zz", "b.c": ""}, executable=["bot.py"])
    expected = hashlib.sha256(b"nine-arena bot 1\n")
    for mark, path, content in (("-", "b.c", b""), ("-", "b/z", b"zz"), ("x", "bot.py", b"x")):
        expected.update(f"{mark} {hashlib.sha256(content).hexdigest()} {path}\0".encode())
    assert hash_of(folder) == expected.hexdigest()


def test_hash_sees_content_names_and_execute_bits(make):
    """Whatever a program could notice changes the hash; times don't."""
    folder = make("a", {"f": "1"})
    seen = {hash_of(folder)}
    os.utime(folder / "f", (1, 1))
    seen.add(hash_of(folder))
    assert len(seen) == 1
    (folder / "f").chmod(0o755)
    seen.add(hash_of(folder))
    (folder / "f").write_text("2")
    seen.add(hash_of(folder))
    (folder / "f").rename(folder / "g")
    seen.add(hash_of(folder))
    assert len(seen) == 4


def test_caches_and_version_control_do_not_count(make):
    """What tools leave behind belongs to nobody's bot; node_modules does."""
    folder = make(
        "a",
        {
            "bot.py": "",
            ".git/HEAD": "x",
            "sub/__pycache__/bot.pyc": "x",
            "old.pyc": "x",
            ".venv/pyvenv.cfg": "x",
            ".venv/lib/x": "x",
            "node_modules/m/index.js": "x",
        },
    )
    assert files(folder) == ["bot.py", "node_modules/m/index.js"]


def test_names_may_be_any_bytes(make):
    """A file name that is no UTF-8 is hashed and copied like any other."""
    folder = make("a", {})
    (folder / os.fsdecode(b"\xff\n")).write_text("x")
    assert len(hash_of(folder)) == 64


def test_inner_links_are_followed(make, cache):
    """A link within the folder stands for what it links to."""
    folder = make("a", {"lib/f": "content"})
    (folder / "file").symlink_to("lib/f")
    (folder / "folder").symlink_to("lib")
    taken = take(folder, cache)
    assert (taken / "file").read_text() == "content"
    assert not (taken / "file").is_symlink()
    assert (taken / "folder" / "f").read_text() == "content"


def test_links_that_lead_outside_are_refused(make, tmp_path):
    """A bot can't smuggle in what lies elsewhere on the machine."""
    folder = make("a", {"sub/f": ""})
    (tmp_path / "bots" / "a-secret").write_text("x")
    (folder / "sub" / "link").symlink_to("../../a-secret")
    text = refused(folder)
    assert "sub/link" in text
    assert "outside" in text


def test_dangling_links_are_refused(make):
    """A link to nothing is named with its target."""
    folder = make("a", {})
    (folder / "link").symlink_to("gone")
    assert "gone" in refused(folder)


def test_loops_are_refused(make):
    """A link to a folder above itself would never end; so would two that cross."""
    folder = make("a", {"b/f": ""})
    (folder / "b" / "up").symlink_to("..")
    assert "b/up" in refused(folder)
    crossed = make("c", {"x/f": "", "y/f": ""})
    (crossed / "x" / "y").symlink_to("../y")
    (crossed / "y" / "x").symlink_to("../x")
    assert "links to a folder" in refused(crossed)


def test_special_files_are_refused(make):
    """Reading a pipe would wait for ever."""
    folder = make("a", {})
    os.mkfifo(folder / "pipe")
    assert "pipe" in refused(folder)


def test_caps(make, monkeypatch):
    """Too many, too much and too deep are told apart."""
    monkeypatch.setattr(snapshot, "MAX_FILES", 2)
    monkeypatch.setattr(snapshot, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(snapshot, "MAX_DEPTH", 3)
    assert "2 files" in refused(make("many", {"a": "", "b": "", "c": ""}))
    assert "1 MB" in refused(make("much", {"a": b"x" * (1 << 20), "b": "x"}))
    assert "3 folders deep" in refused(make("deep", {"a/b/c/d": ""}))


def test_unreadable_files_are_named(make, tmp_path, as_ordinary_user):
    """A file that its owner has closed is an error with its name."""
    folder = make("a", {"f": "x"})
    (folder / "f").chmod(0)
    folder.chmod(0o755)
    with as_ordinary_user(), pytest.raises(SnapshotError, match="f: Permission denied"):
        hash_of(folder)


def test_snapshot_is_readable_by_all_and_writable_by_none(make, cache):
    """Another uid can run it, and nobody changes it by accident."""
    folder = make("a", {"bot": "x", "lib/f": "y"}, executable=["bot"])
    (folder / "lib").chmod(0o700)
    (folder / "lib/f").chmod(0o600)
    taken = take(folder, cache)
    modes = {
        str(path.relative_to(taken)): stat.S_IMODE(path.stat().st_mode)
        for path in [taken, *taken.rglob("*")]
    }
    assert modes == {".": 0o755, "bot": 0o555, "lib": 0o755, "lib/f": 0o444}
    assert taken == cache / "bots" / taken.name
    assert hash_of(taken) == taken.name == hash_of(folder)


def test_an_edit_during_the_copy_gives_the_hash_of_what_was_copied(make, cache, monkeypatch):
    """A snapshot is never filed under the hash of other content."""
    folder = make("a", {"f": "before"})
    real = snapshot.copy

    def edited(files, target, where):
        (folder / "f").write_text("after!")
        real(files, target, where)

    monkeypatch.setattr(snapshot, "copy", edited)
    taken = take(folder, cache)
    assert (taken / "f").read_text() == "after!"
    assert hash_of(taken) == taken.name


def test_damaged_snapshots_are_replaced(make, cache):
    """A cache that somebody has edited can't change what is played."""
    folder = make("a", {"f": "x"})
    taken = take(folder, cache)
    (taken / "f").chmod(0o644)
    (taken / "f").write_text("y")
    assert find(cache, taken.name) is None
    again = take(folder, cache)
    assert again == taken
    assert (again / "f").read_text() == "x"


def test_a_race_for_one_snapshot_has_one_result(make, cache, monkeypatch):
    """When another arena was faster its entry stays, and no litter is left."""
    folder = make("a", {"f": "x"})
    first = take(folder, cache)
    monkeypatch.setattr(snapshot, "find", lambda *_: None)
    assert take(folder, cache) == first
    assert [p.name for p in (cache / "bots").iterdir()] == [first.name]


def test_a_failed_copy_leaves_nothing(make, cache, monkeypatch):
    """Nothing half-made stays in the cache."""
    folder = make("a", {"f": "x", "g": "y"})
    with open_folder(folder) as bot:
        found = listing(bot)
        (folder / "g").unlink()
        with pytest.raises(SnapshotError, match="g"):
            snapshot.take(found, cache)
        monkeypatch.setattr(snapshot, "content_hash", lambda _: "0" * 64)
        with pytest.raises(SnapshotError, match="g"):
            snapshot.take(found, cache)
    assert list((cache / "bots").iterdir()) == []


def test_trouble_with_the_cache_is_the_users_to_solve(make, cache):
    """A cache that can't be written is one line, not a bot's problem."""
    cache.write_text("a file")
    with pytest.raises(UserError, match="XDG_CACHE_HOME"):
        take(make("a", {"f": ""}), cache)


def test_what_a_lock_file_s_tool_makes_is_left_out(make):
    """Right below the folder; a folder of that name elsewhere is the bot's."""
    made = {"bot.js": "", "node_modules/a/index.js": "", "lib/node_modules/b/index.js": ""}
    found = files(make("a", made), frozenset({"node_modules"}))
    assert found == ["bot.js", "lib/node_modules/b/index.js"]


def test_clean_removes_what_the_cache_made_and_nothing_else(make, cache):
    """Even a cache that was pointed at somebody's folder loses only its own entries."""
    take(make("a", {"f": "abc", "g": "de"}), cache)
    with caches.scratch(cache, "builds") as folder:
        left = folder.with_name("tmp-arena-left")
        shutil.copytree(folder, left)
        (left / "x").write_text("xyz")
    (cache / "packages" / ("e" * 64)).mkdir(parents=True)
    (cache / "bots" / "mine").mkdir()
    (cache / "bots" / ("f" * 64)).symlink_to(make("other", {"f": ""}))
    known = clean_cache(cache, dry_run=True)
    assert ((1, 5), (1, 3), (1, 0)) == tuple(known[a][:2] for a in ("bots", "builds", "packages"))
    assert clean_cache(cache, unused_s=3600)["bots"] == (0, 0, 1, 5)
    assert clean_cache(cache, kept=["packages"])["packages"] == (0, 0, 1, 0)
    assert clean_cache(cache)["packages"] == (1, 0, 0, 0)
    assert sorted(p.name for p in (cache / "bots").iterdir()) == ["f" * 64, "mine"]
    assert list((cache / "builds").iterdir()) == []
    assert list((cache / "packages").iterdir()) == []


def test_clean_of_no_cache(cache):
    """Nothing there is nothing to do."""
    assert clean_cache(cache) == {}


def test_default_cache_follows_the_environment(monkeypatch, tmp_path):
    """XDG_CACHE_HOME counts where it is absolute."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache() == tmp_path / "nine-arena"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_cache() == tmp_path / "home/.cache/nine-arena"


def test_long_paths_are_refused(make):
    """They would be too long in the cache, whose own path counts as well."""
    folder = make("a", {"/".join(["d" * 200] * 11) + "/f": ""})
    assert "more than 2048 bytes" in refused(folder)


@pytest.mark.parametrize("kind", ["link", "file", "nothing"])
def test_removing_what_is_no_folder_removes_only_that(tmp_path, kind):
    """A link at the top is no folder: what it leads to stays as it was."""
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o755)
    (victim / "file").touch()
    place = tmp_path / "place"
    if kind == "link":
        place.symlink_to(victim)
    elif kind == "file":
        place.touch()
    trees.remove(place)
    assert not os.path.lexists(place)
    assert stat.S_IMODE(victim.stat().st_mode) == 0o755
    assert (victim / "file").exists()


@pytest.mark.parametrize("work", [trees.measure, snapshot.make_plain, snapshot.mark_programs])
def test_a_link_at_the_top_is_not_walked_through(tmp_path, work):
    """Every function that reads a build's output refuses it."""
    (tmp_path / "victim").mkdir()
    (tmp_path / "link").symlink_to("victim")
    with pytest.raises(trees.ShapeError, match="something else"):
        work(tmp_path / "link")


def test_what_a_killed_build_left_is_cleaned_however_deep(tmp_path):
    """It isn't counted, and it is gone."""
    left = tmp_path / "cache" / "builds" / "tmp-arena-x"
    left.mkdir(parents=True)
    here = os.open(left, os.O_RDONLY)
    for _ in range(1300):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert clean_cache(tmp_path / "cache")["builds"] == (1, 0, 0, 0)
    assert not left.exists()
    assert list(left.parent.iterdir()) == []


def test_reading_leaves_no_time(make, cache):
    """Of nothing in an entry, folders included; an older entry is brought up to date."""
    kept_as = take(make("a", {"bot.py": "x", "inner/data": "y"}), cache)
    entries = [kept_as, *sorted(kept_as.rglob("*"))]

    def times():
        return [path.lstat().st_atime_ns for path in entries]

    def read():
        for path in entries:
            _ = list(path.iterdir()) if path.is_dir() else path.read_bytes()

    kept = times()
    read()
    assert times() == kept == [READ_NS] * len(entries)
    for path in entries:
        os.utime(path, (1, 1))
    assert find(cache, kept_as.name) == kept_as
    read()
    assert times() == kept
    assert [1] * len(entries[1:]) == [path.lstat().st_mtime for path in entries[1:]]
