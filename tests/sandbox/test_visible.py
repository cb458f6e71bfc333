"""What every bot sees of the system, and what is refused because it would be seen."""

import os
import tempfile
from pathlib import Path

import pytest

from arena import registry
from arena.bots import load
from arena.event.workshop import find_sandbox, refuse_shown_bots
from arena.model import UserError
from arena.sandbox import visible

LOOK = """
import os
for top in {places!r}:
    for folder, _, files in os.walk(top):
        for name in files:
            try:
                print(open(os.path.join(folder, name)).read(), flush=True)
            except OSError:
                pass
print("done", flush=True)
"""


@pytest.fixture
def below_usr():
    """Make folders below /usr, for everybody to read; gone afterwards."""
    made = []

    def make(parent):
        try:
            folder = tempfile.TemporaryDirectory(prefix="arena-test-", dir=parent)
        except OSError as error:
            pytest.skip(f"{parent}: {error.strerror}")
        made.append(folder)
        Path(folder.name).chmod(0o755)
        return Path(folder.name)

    yield make
    for folder in made:
        folder.cleanup()


@pytest.mark.process
def test_what_lies_below_usr_is_hidden(host, backend, below_usr):
    """But for the system's own folders: not what was unpacked or configured there."""
    places = [str(below_usr(parent)) for parent in ("/usr", "/usr/src", "/usr/local/etc")]
    for number, place in enumerate(places):
        Path(place, "key").write_text(f"secret-{number}")
    found = host.start(
        backend, "/usr/bin/python3", "-c", LOOK.format(places=places), expose=("/usr",)
    ).output()
    assert found.endswith("done\n")
    assert found.count("secret") == (3 if backend.name == "none" else 0)


def test_the_systems_folders_are_apart():
    """None lies in another one, so that each is shown once; a link among them is none."""
    for name in visible.SYSTEM:
        assert not any(name.startswith(f"{other}/") for other in visible.SYSTEM)
    shown = visible.system()
    assert "/usr/bin" in shown
    assert "/usr" not in shown
    assert not any(map(os.path.islink, shown))


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A folder that every bot sees, and a backend that needn't work."""
    folder = tmp_path / "system"
    folder.mkdir()
    monkeypatch.setattr(visible, "SYSTEM", (str(folder),))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def none_works(name):
        raise LookupError(name)  # nothing was refused before

    monkeypatch.setattr(registry, "backend", none_works)
    return folder


@pytest.mark.parametrize(
    ("variable", "what", "remedy"),
    [
        ("HOME", "your home", "set HOME"),
        ("XDG_CACHE_HOME", "the cache", "set XDG_CACHE_HOME"),
        ("", "the results folder", "--out"),
    ],
)
def test_private_places_that_bots_would_see_are_refused(
    system, tmp_path, monkeypatch, variable, what, remedy
):
    """In one line that says what, where, and what to do; by a link, too."""
    (tmp_path / "link").symlink_to(system)
    folder = tmp_path / "link/inner"
    if variable:
        monkeypatch.setenv(variable, str(folder))
    results = tmp_path / "results" if variable else folder
    with pytest.raises(UserError, match=rf"^{what} .*/inner.* lies in {system}, .*; .*{remedy}"):
        find_sandbox("auto", print, results)
    with pytest.raises(LookupError, match="none"):
        find_sandbox("none", print, results)


def test_places_elsewhere_are_not_refused(system, tmp_path):
    """The next thing that is asked for is a backend."""
    assert not visible.public_folder_of(Path(f"{system}-2"))
    with pytest.raises(LookupError):
        find_sandbox("auto", print, tmp_path / "results")


def test_a_bot_that_others_would_see_is_refused(system, tmp_path):
    """Its source would be read by its opponents."""
    bot = system / "bot"
    bot.mkdir()
    (bot / "bot.py").write_text("")
    roster = load([bot], cache=tmp_path / "cache")
    with pytest.raises(UserError, match=rf"^the bot .*/bot lies in {system}, which every bot sees"):
        refuse_shown_bots(roster.candidates)
