"""A submission that changes while it is read: nothing of a stranger's comes in, nothing waits."""

import contextlib
import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from arena.bots import discovery, folder, keep_bots, load, restore
from arena.bots.folder import MAX_ENTRIES, SnapshotError, open_folder, open_path
from arena.bots.snapshot import content_hash, listing

SECRET = "a stranger's secret"

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def secret(tmp_path):
    """A file and a folder of somebody else, who has the same names in them as a bot."""
    place = tmp_path / "stranger"
    (place / "sub").mkdir(parents=True)
    for path in (place / "bot.py", place / "sub" / "bot.py"):
        path.write_text(SECRET)
    return place


def link_file(bot, stranger):
    (bot / "sub" / "bot.py").unlink()
    (bot / "sub" / "bot.py").symlink_to(stranger / "bot.py")


def link_folder(bot, stranger):
    (bot / "sub").rename(bot.with_name("aside"))
    (bot / "sub").symlink_to(stranger / "sub")


def link_back(bot, stranger):
    """By a link that stays inside, to one that doesn't."""
    link_folder(bot, stranger)
    (bot / "sub").rename(bot / "way")
    (bot / "sub").symlink_to("way")


def pipe(bot, stranger):
    del stranger
    (bot / "sub" / "bot.py").unlink()
    os.mkfifo(bot / "sub" / "bot.py")


def unix_socket(bot, stranger):
    del stranger
    (bot / "sub" / "bot.py").unlink()
    here = os.open(bot / "sub", os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{here}/bot.py")
    os.close(here)


def device(bot, stranger):
    del stranger
    (bot / "sub" / "bot.py").unlink()
    os.mknod(bot / "sub" / "bot.py", 0o20666, os.makedev(1, 5))  # endless zeros


def hard_link(bot, stranger):
    (bot / "sub" / "bot.py").unlink()
    os.link(stranger / "bot.py", bot / "sub" / "bot.py")


def folder_there(bot, stranger):
    del stranger
    (bot / "sub" / "bot.py").unlink()
    (bot / "sub" / "bot.py").mkdir()


def grown(bot, stranger):
    del stranger
    with (bot / "sub" / "bot.py").open("a") as file:
        file.write("more")


SWAPS = [link_file, link_folder, link_back, pipe, unix_socket, hard_link, folder_there, grown]


@pytest.mark.parametrize("swap", [*SWAPS, pytest.param(device, marks=as_root)])
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_exchanged_after_the_listing_is_an_error(make, secret, swap, linked):
    """Whether the bot reaches it by a link of its own or not."""
    bot = make("a", {"sub/bot.py": "x"})
    if linked:
        (bot / "also").symlink_to("sub")
        (bot / "bot.py").symlink_to("sub/bot.py")
    with open_folder(bot) as inside:
        files = listing(inside)
        assert 1 + 2 * linked == len(files)
        swap(bot, secret)
        for file in files:
            with pytest.raises(SnapshotError, match=r"bot\.py"):
                b"".join(inside.chunks(file.found, file.path))


@pytest.mark.parametrize("swap", [link_file, link_folder, pipe])
def test_a_load_during_which_a_bot_changes_takes_in_nothing(make, secret, cache, monkeypatch, swap):
    """The whole way: one problem, and nothing of the stranger's in the cache."""
    bot = make("a", {"bot.toml": 'run = ["sh", "sub/bot.py"]', "sub/bot.py": "x"})
    listed = discovery.listing

    def swapped(*args):
        found = listed(*args)
        swap(bot, secret)
        return found

    monkeypatch.setattr(discovery, "listing", swapped)
    roster = load([bot], cache=cache)
    assert () == roster.candidates
    (problem,) = roster.problems
    assert "sub/bot.py" in problem.lines[0]
    assert not [path for path in cache.rglob("*") if path.is_file()]


@pytest.mark.parametrize("swap", [link_file, link_folder, pipe])
def test_a_folder_that_changes_while_it_is_listed(make, secret, monkeypatch, swap):
    """A link that appears under way leads outside, whatever the names said before."""
    bot = make("a", {"sub/bot.py": "x"})
    names = folder.Folder.names

    def swapped(self, place="", most=MAX_ENTRIES):
        found = names(self, place, most)
        if place == "sub":
            swap(bot, secret)
        return found

    monkeypatch.setattr(folder.Folder, "names", swapped)
    with open_folder(bot) as inside, pytest.raises(SnapshotError, match=r"outside|neither"):
        listing(inside)


SWAPPER = """
import os, sys
bot, stranger = sys.argv[1:]
os.chdir(bot)
print(flush=True)
while True:
    os.rename("sub", "own")
    os.symlink(stranger, "sub")
    os.unlink("sub")
    os.rename("own", "sub")
"""


@pytest.mark.process
def test_a_process_that_swaps_all_the_time(make, secret):
    """Each try gives the bot's own content or an error."""
    bot = make("a", {"sub/bot.py": "x", "z": "z"})
    with open_folder(bot) as inside:
        right = content_hash(listing(inside))
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, bot, secret / "sub"], stdout=subprocess.PIPE
    )
    try:
        swapper.stdout.readline()
        for _ in range(300):
            try:
                with open_folder(bot) as inside:
                    files = listing(inside)
                    content = {file.path: b"".join(inside.chunks(file.found)) for file in files}
            except SnapshotError:
                continue
            assert SECRET.encode() not in content.values()
            assert content.keys() <= {"own/bot.py", "sub/bot.py", "z"}
    finally:
        swapper.kill()
        swapper.wait()
        swapper.stdout.close()
    assert 64 == len(right)


def test_a_file_under_a_lease_is_not_waited_for(make):
    """Its owner may hold up whoever opens it for 45 s."""
    bot = make("a", {"bot.py": "x"})
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    try:
        with (bot / "bot.py").open("r+") as held:
            try:
                fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            except OSError:
                pytest.skip("no leases on this file system")
            with open_folder(bot) as inside, pytest.raises(SnapshotError, match=r"bot\.py"):
                content_hash(listing(inside))
    finally:
        signal.signal(signal.SIGIO, before)


def test_links_that_multiply_empty_folders_end(make, monkeypatch):
    """Two links in each of forty folders make 2 ** 40 ways, and not one file."""
    monkeypatch.setattr(sys.modules["arena.bots.snapshot"], "MAX_ENTRIES", 2000)
    bot = make("a", {"bot.py": ""})
    for level in range(40):
        (bot / f"f{level}").mkdir()
        for way in "xy":
            (bot / f"f{level}" / way).symlink_to(f"../f{level + 1}")
    (bot / "f40").mkdir()
    with (
        open_folder(bot) as inside,
        pytest.raises(SnapshotError, match="more than 100000 files and"),
    ):
        listing(inside)


def test_a_link_to_the_folder_itself_is_a_loop(make):
    """As one to any other folder above is."""
    bot = make("a", {"bot.py": ""})
    (bot / "sub").symlink_to(".")
    with open_folder(bot) as inside, pytest.raises(SnapshotError, match="it lies in itself"):
        listing(inside)


def test_links_in_a_circle(make):
    """They lead nowhere."""
    bot = make("a", {})
    (bot / "x").symlink_to("y")
    (bot / "y").symlink_to("x")
    with open_folder(bot) as inside, pytest.raises(SnapshotError, match="x: Too many levels"):
        listing(inside)
    with pytest.raises(OSError, match="Too many levels"), open_path(bot / "x"):
        pass


def test_links_that_come_back_inside_are_followed(make, tmp_path):
    """However they are written: absolute, by another name of the folder, out of it and back in."""
    bot = make("a", {"lib/f": "content"})
    (tmp_path / "home").symlink_to(bot.parent)
    for name, target in (
        ("absolute", bot / "lib" / ".." / "lib" / "f"),
        ("other", tmp_path / "home" / "a" / "lib" / "f"),
        ("lib/out", f"../../{bot.name}/lib/f"),
        ("way", "lib/out"),
    ):
        (bot / name).symlink_to(target)
    with open_folder(bot) as inside:
        files = listing(inside)
    assert ["absolute", "lib/f", "lib/out", "other", "way"] == [file.path for file in files]
    assert {"lib/f"} == {file.found.place for file in files}


@pytest.mark.parametrize("start", ["", "/"])
def test_links_through_hundreds_of_folders_end(make, monkeypatch, start):
    """Up and down, to a link that does likewise: what is entered is counted in all."""
    bot = make("a", {"x/f": ""})
    for number in range(20):
        target = f"l{number - 1}" if number else "x/f"
        (bot / f"l{number}").symlink_to((f"{bot}/" if start else "") + "x/../" * 10 + target)
    with open_folder(bot) as inside:
        assert 21 == len(listing(inside))
    monkeypatch.setattr(folder, "MAX_FOLLOWED", 500)
    with open_folder(bot) as inside, pytest.raises(SnapshotError, match="through too many folders"):
        listing(inside)


def test_a_link_that_is_gone_when_it_is_read(make, monkeypatch):
    """Whatever the system says of it, it is a line about the bot."""
    bot = make("a", {"bot.py": ""})
    (bot / "way").symlink_to("bot.py")

    def gone(*_, **__):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    with open_folder(bot) as inside:
        monkeypatch.setattr(os, "readlink", gone)
        with pytest.raises(SnapshotError, match="can't read way: No such file"):
            listing(inside)


def test_a_path_is_followed_through_links_of_the_user(make, tmp_path):
    """To what `open` would give, relative and absolute ones."""
    bot = make("a", {"bot.py": "x"})
    make("links", {})
    (bot.parent / "links" / "rel").symlink_to("../../bots/a")
    (bot.parent / "links" / "abs").symlink_to(bot.parent / "links" / "rel")
    for path in (bot, bot.parent / "links" / "rel", bot.parent / "links" / "abs" / "bot.py"):
        with open_path(path) as reached:
            assert os.path.samestat(path.stat(), reached.info)
    with open_path(Path("/")) as reached:
        assert os.path.samestat(Path("/").stat(), reached.info)


@as_root
def test_a_link_of_a_stranger_is_followed_to_what_is_the_strangers(make, cache, tmp_path):
    """A folder full of links must not make root hand out its own files."""
    own = make("own.py", SECRET)
    theirs = make("theirs.py", "x")
    os.chown(theirs, 65534, 65534)
    for name, target in (("a.py", own), ("b.py", theirs)):
        (own.parent / name).symlink_to(target)
        os.lchown(own.parent / name, 65534, 65534)
    roster = load([own.parent / "a.py", own.parent / "b.py"], cache=cache)
    assert ["b"] == [candidate.entrant.name for candidate in roster.candidates]
    (problem,) = roster.problems
    assert problem.lines[0].startswith("can't be read: a link on the way belongs to another user")


@as_root
def test_a_hard_link_to_what_its_maker_can_not_read(make):
    """Old kernels let anybody make one."""
    bot = make("a", {"bot.py": ""})
    secret = make("secret", "x")
    secret.chmod(0o600)
    os.link(secret, bot / "data")
    os.chown(bot, 65534, 65534)
    with open_folder(bot) as inside, pytest.raises(SnapshotError, match="data is a hard link"):
        listing(inside)
    secret.chmod(0o644)
    with open_folder(bot) as inside:
        assert 2 == len(listing(inside))


def test_what_is_no_folder_can_not_be_opened(make):
    """One line."""
    with pytest.raises(SnapshotError, match="Not a directory"), open_folder(make("a", "")):
        pass
    with pytest.raises(SnapshotError, match="No such file"), open_folder(Path("/no/where")):
        pass


def test_a_path_that_goes_up_stays_inside(make, secret):
    """No text that a bot has for a path leads outside its folder."""
    bot = make("a", {"sub/bot.py": "x"})
    (bot / "way").symlink_to("sub")
    with open_folder(bot) as inside:
        for path in ("sub/../sub/bot.py", "way/../sub/bot.py", "way/bot.py"):
            assert "sub/bot.py" == inside.find(path).place
        assert inside.find("no/where") is None
        for path in ("../../stranger/bot.py", "..", "sub/../../a/../../stranger", str(secret)):
            with contextlib.suppress(SnapshotError):
                assert inside.find(path) is None
    with open_path(bot) as reached:
        outer = folder.Folder(reached.parent)
        assert outer.find("a/sub/bot.py").is_file


def test_a_bot_in_a_strangers_event_is_read_likewise(make, cache, tmp_path):
    """Its folder travels with the event, and anybody may have sent that."""
    (candidate,) = load([make("a", {"bot.py": "x"})], cache=cache).candidates
    event = tmp_path / "event"
    event.mkdir()
    keep_bots([candidate.entrant], event, {}, cache=cache)
    bot = event / "bots" / candidate.entrant.hash / "bot.py"
    recorded = [(candidate.entrant, "")]
    assert restore(recorded, cache=tmp_path / "one", folder=event).problems == ()
    bot.parent.chmod(0o755)
    for swap in (lambda: os.mkfifo(bot), lambda: bot.symlink_to("/etc/passwd")):
        bot.unlink()
        swap()
        (problem,) = restore(recorded, cache=tmp_path / "two", folder=event).problems
        assert "bot.py" in problem.lines[0]
    assert not [path for path in (tmp_path / "two").rglob("*") if path.is_file()]
