"""A cache that others can write to is refused, and so is what they have put into one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.bots import build, clean_cache, default_cache, folder, in_use, load
from arena.bots import cache as caches
from arena.bots.cache import is_own, write_risk
from arena.model import UserError

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
STRANGER = 65534


def refusal(cache):
    with pytest.raises(UserError) as refused, in_use(cache):
        pass
    return str(refused.value)


def test_a_cache_of_ones_own_is_taken(cache):
    """It is made for oneself alone to write to and to look into, whatever the umask; root's bots,
    which are other users, come through.
    """
    before = os.umask(0)
    try:
        with in_use(cache), caches.scratch(cache, "bots"):
            pass
    finally:
        os.umask(before)
    mode = 0o711 if os.geteuid() == 0 else 0o700
    assert [mode, mode] == [place.stat().st_mode & 0o777 for place in (cache, cache / "bots")]
    assert write_risk(cache) == ""


def test_others_look_into_no_older_cache(cache, make, as_ordinary_user):
    """Authors may have closed their files to them."""
    bot = make("a", {"bot.sh": ""})
    (cache / "bots").mkdir(parents=True)
    for place in (cache, cache / "bots"):
        place.chmod(0o755)
        os.chown(place, STRANGER, STRANGER) if os.geteuid() == 0 else None
    with as_ordinary_user(), in_use(cache):
        assert load([bot], cache=cache).problems == ()
    assert [place.stat().st_mode & 0o777 for place in (cache, cache / "bots")] == [0o700, 0o700]


@pytest.mark.parametrize("place", ["", "bots", "builds", "packages", ".."])
def test_a_cache_that_everybody_can_write_to(cache, place):
    """Or an area of it, or a folder that it lies in."""
    (cache / "way" / "nine-arena" / "bots").mkdir(parents=True)
    for area in ("builds", "packages"):
        (cache / "way" / "nine-arena" / area).mkdir()
    own = cache / "way" / "nine-arena"
    with in_use(own):
        pass
    open_to_all = own.parent if place == ".." else own / place
    open_to_all.chmod(0o777)
    said = refusal(own)
    assert f"{open_to_all} can be written to by everybody; set XDG_CACHE_HOME to a folder" in said
    assert "\n" not in said
    with pytest.raises(UserError, match="other users can change"):
        clean_cache(own)
    if place == "..":
        open_to_all.chmod(0o1777)  # as /tmp: its entries can't be exchanged
        with in_use(own):
            pass


def test_a_group_that_is_the_users_alone_may_write(cache, monkeypatch):
    """Where a umask of 002 is usual; no other group may."""
    cache.mkdir()
    cache.chmod(0o775)
    private = cache.stat()
    monkeypatch.setattr(caches, "_private", lambda *ids: ids == (private.st_gid, private.st_uid))
    assert write_risk(cache) == ""
    monkeypatch.setattr(caches, "_private", lambda *_: False)
    assert write_risk(cache) == f"{cache} can be written to by its group"


def test_which_group_is_a_users_alone(monkeypatch):
    """One of the user's name with nobody else in it."""
    user = SimpleUser("ada", ())
    monkeypatch.setattr(caches.pwd, "getpwuid", lambda _: user)
    for group, alone in (
        (SimpleUser("ada", ()), True),
        (SimpleUser("ada", ("ada",)), True),
        (SimpleUser("ada", ("ada", "bob")), False),
        (SimpleUser("users", ()), False),
    ):
        monkeypatch.setattr(caches.grp, "getgrgid", lambda _, group=group: group)
        assert alone is caches._private(1, 1)

    def unknown(_):
        raise KeyError

    monkeypatch.setattr(caches.grp, "getgrgid", unknown)
    assert not caches._private(1, 1)


class SimpleUser:
    def __init__(self, name, members):
        self.pw_name = self.gr_name = name
        self.gr_mem = list(members)


@as_root
def test_root_takes_no_cache_in_another_users_folder(tmp_path, monkeypatch):
    """That user could exchange it; with sudo's HOME root's own place is taken."""
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, STRANGER, STRANGER)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    assert f"{home} belongs to the user nobody" in refusal(default_cache())
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(home))
    assert Path("/var/cache/nine-arena") == default_cache()


@as_root
def test_a_cache_that_another_user_links_to(tmp_path):
    """The link can be made anew at any time."""
    (tmp_path / "own").mkdir()
    link = tmp_path / "link"
    link.symlink_to("own")
    with in_use(link / "nine-arena"):
        pass
    os.lchown(link, STRANGER, STRANGER)
    assert "a link on the way belongs to another user" in refusal(link / "nine-arena")


BOT = {"bot.toml": 'version = "1"\nrun = ["sh", "made"]\nbuild = ["cp", "bot.sh", "made"]\n'}
FILES = {**BOT, "bot.sh": "echo own\n"}


@pytest.fixture
def poisoned(make, cache, backend, spawners):
    """A bot's entry in one area, and a function that enters the bot again."""
    path = make("a", FILES)

    def enter():
        roster = load([path], cache=cache)
        return build(roster.candidates, cache=cache, backend=backend, spawners=spawners)

    assert enter().problems == ()
    return enter


@pytest.mark.process
@pytest.mark.parametrize("area", ["bots", "builds"])
@pytest.mark.parametrize("kind", ["link", "open", pytest.param("stranger", marks=as_root)])
def test_what_was_put_into_a_cache_is_not_believed(poisoned, cache, tmp_path, area, kind):
    """An entry of the right name that isn't the arena's."""
    (entry,) = (cache / area).iterdir()
    if kind == "link":
        entry.rename(tmp_path / "elsewhere")
        entry.symlink_to(tmp_path / "elsewhere")
    elif kind == "open":
        entry.chmod(0o777)
    else:
        os.chown(entry, STRANGER, STRANGER)
    with pytest.raises(UserError, match=rf"{area}/[0-9a-f]{{64}} was not made by arena"):
        poisoned()
    clean_cache(cache)
    assert os.path.lexists(entry)  # nor is it cleaned: it is somebody else's


@pytest.mark.process
def test_the_command_refuses_such_a_cache_in_one_line(make, tmp_path):
    """Before it looks at any bot."""
    (tmp_path / "home" / "nine-arena").mkdir(parents=True)
    (tmp_path / "home" / "nine-arena").chmod(0o777)
    done = subprocess.run(
        [sys.executable, "-m", "arena", "run", make("a.sh", ""), "--out", tmp_path / "out"],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("arena: other users can change the cache")


def test_a_container_of_few_users_has_roots_folders_as_nobodys(monkeypatch, tmp_path):
    """They are its own as little as root's are an ordinary user's."""
    files = {"/proc/self/uid_map": "0 1000 1", "/proc/sys/kernel/overflowuid": "65534"}
    monkeypatch.setattr(Path, "read_text", lambda self: files[str(self)])
    assert {0, os.geteuid(), 65534} == folder.trusted_users()
    files["/proc/self/uid_map"] = "0 0 4294967295"
    assert {0, os.geteuid()} == folder.trusted_users()
    assert is_own(tmp_path)
