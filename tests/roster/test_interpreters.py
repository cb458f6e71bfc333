import contextlib
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from arena.roster import interpreters
from arena.roster.interpreters import HiddenToolError, MissingToolError, Toolbox, outermost


@pytest.fixture
def search(monkeypatch, tmp_path):
    """Set PATH to folders below the test's own, with a home of its own too."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path.parent)

    def search(*folders):
        monkeypatch.setenv("PATH", ":".join(map(str, folders)))

    search()
    return search


def found(name, **options):
    return Toolbox().find(name, **options)


def test_system_programs_need_nothing_shown(search):
    """What lies in the system's own folders is there in every sandbox."""
    search("/usr/bin", "/bin")
    tool = found("env")
    assert tool.path == "/usr/bin/env"
    assert tool.expose == ()


def test_an_installation_is_shown_whole(search, program, tmp_path):
    """A program in a bin folder is shown with the folder above, links resolved."""
    real = program(tmp_path / "opt/node-20/bin/node")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/node").symlink_to(real)
    search(tmp_path / "links")
    tool = found("node")
    assert tool.path == str(real)
    assert tool.expose == (str(tmp_path / "opt/node-20"),)
    assert tool.identity.startswith(str(real))


def test_the_name_that_a_program_is_called_by_is_kept(search, program, tmp_path):
    """clang++ and clang are one file that acts by its name."""
    program(tmp_path / "llvm/bin/clang")
    (tmp_path / "llvm/bin/clang++").symlink_to("clang")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/clang++").symlink_to(tmp_path / "llvm/bin/clang++")
    search(tmp_path / "links")
    assert found("clang++").path == str(tmp_path / "llvm/bin/clang++")


def test_a_program_in_a_folder_of_its_own(search, program, tmp_path):
    """Without a bin folder the program's own is shown."""
    real = program(tmp_path / "zig/zig")
    search(tmp_path / "zig")
    assert found("zig").expose == (str(real.parent),)


def test_the_home_is_never_shown(search, program, tmp_path):
    """~/bin is shown rather than the home above it; a program in the home itself is refused."""
    program(tmp_path / "home/bin/tool")
    program(tmp_path / "home/.local/bin/other")
    program(tmp_path / "home/third")
    search(tmp_path / "home/bin", tmp_path / "home/.local/bin", tmp_path / "home")
    assert found("tool").expose == (str(tmp_path / "home/bin"),)
    assert found("other").expose == (str(tmp_path / "home/.local/bin"),)
    with pytest.raises(HiddenToolError, match="third"):
        found("third")


def test_neither_cache_nor_current_folder_is_shown(search, program, tmp_path, monkeypatch):
    """A bot can't read its opponents over its interpreter's shoulder."""
    program(tmp_path / "event/bin/tool")
    search(tmp_path / "event/bin")
    (tmp_path / "event/cache").mkdir()
    assert Toolbox().find("tool").expose == (str(tmp_path / "event"),)
    with_cache = Toolbox([tmp_path / "event/cache"])
    assert with_cache.find("tool").expose == (str(tmp_path / "event/bin"),)
    monkeypatch.chdir(tmp_path / "event")
    assert Toolbox().find("tool").expose == (str(tmp_path / "event/bin"),)


def test_missing_programs_are_named(search):
    """What isn't there is named, with what to do."""
    with pytest.raises(MissingToolError, match=r"'node'.*PATH"):
        found("node")
    with pytest.raises(MissingToolError, match="does not exist"):
        found("/nowhere/node")


def test_a_foreign_path_may_be_looked_up(search, program, tmp_path):
    """The #! line of another machine finds this machine's program."""
    real = program(tmp_path / "x/bin/node")
    search(tmp_path / "x/bin")
    assert found("/nowhere/bin/node", anywhere=True).path == str(real)


def test_python_is_always_there(search):
    """Without python3 on PATH the interpreter at hand does, without its environment."""
    for name in ("python3", "python"):
        tool = found(name)
        asked = [tool.path, "-I", "-c", "import sys; print(sys.prefix == sys.base_prefix)"]
        assert subprocess.check_output(asked, text=True) == "True\n"


def test_other_names_of_a_program(search, program, tmp_path):
    """Where there is only python3, python means it."""
    real = program(tmp_path / "x/bin/python3")
    search(tmp_path / "x/bin")
    assert found("python").path == str(real)


@pytest.mark.process
def test_virtual_environment_shows_its_base(search, tmp_path):
    """The environment's python is called by its own path, and all it reads is shown."""
    venv.create(tmp_path / "env", symlinks=True)
    search(tmp_path / "env/bin")
    tool = found("python3")
    assert tool.path == str(tmp_path / "env/bin/python3")
    assert str(tmp_path / "env") in tool.expose
    base = os.path.realpath(sys.base_prefix)
    if not base.startswith("/usr"):
        assert base in tool.expose


def test_environment_in_the_current_folder_is_refused(search, program, tmp_path, monkeypatch):
    """An environment made in the event's own folder would show everything in it."""
    program(tmp_path / "event/bin/python3")
    (tmp_path / "event/pyvenv.cfg").write_text("")
    monkeypatch.chdir(tmp_path / "event")
    search(tmp_path / "event/bin")
    with pytest.raises(HiddenToolError, match="current folder"):
        found("python3")


def shim(program, tmp_path, manager):
    real = program(tmp_path / ".pyenv/versions/3.11/bin/python3")
    program(tmp_path / ".pyenv/shims/python3", f"#!/bin/sh\nexec {real}\n")
    program(tmp_path / ".pyenv/bin/pyenv", f"#!/bin/sh\n{manager}\n")
    return real


@pytest.mark.process
def test_shims_are_seen_through(search, program, tmp_path):
    """A version manager is asked which program it would start."""
    real = shim(
        program,
        tmp_path,
        f'[ "$1 $2" = "which python3" ] && echo {tmp_path}/.pyenv/versions/3.11/bin/python3',
    )
    search(tmp_path / ".pyenv/shims")
    tool = found("python3")
    assert tool.path == str(real)
    assert tool.expose == (str(real.parent.parent),)


@pytest.mark.process
def test_a_shim_without_its_program_is_missing(search, program, tmp_path):
    """What the version manager says is passed on."""
    shim(program, tmp_path, "echo 'no such version' >&2; exit 1")
    search(tmp_path / ".pyenv/shims")
    with pytest.raises(MissingToolError, match="no such version"):
        found("python3")


@pytest.mark.process
def test_python_shims_without_a_manager_answer_themselves(search, program, tmp_path):
    """The interpreter knows where it lies."""
    program(tmp_path / ".pyenv/shims/python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    program(tmp_path / ".pyenv/shims/ruby")
    search(tmp_path / ".pyenv/shims")
    assert found("python3").path == Toolbox().find(sys.executable).path
    with pytest.raises(MissingToolError, match="shim"):
        found("ruby")


@pytest.mark.process
def test_rustup_proxies_are_seen_through(search, program, tmp_path):
    """What lies as cargo in ~/.cargo/bin is rustup, which is asked."""
    real = program(tmp_path / "toolchains/stable/bin/cargo")
    program(
        tmp_path / "home/.cargo/bin/rustup",
        f'#!/bin/sh\n[ "$1 $2" = "which cargo" ] && echo {real}\n',
    )
    (tmp_path / "home/.cargo/bin/cargo").symlink_to("rustup")
    search(tmp_path / "home/.cargo/bin")
    tool = found("cargo")
    assert tool.path == str(real)
    assert tool.expose == (str(tmp_path / "toolchains/stable"),)


def test_the_users_own_path_and_the_system_are_trusted(search, program, tmp_path):
    """Who owns a file says nothing: the user has unpacked the bots. A bot's place is never one."""
    own = program(tmp_path / "tools/bin/python3")
    bots = program(tmp_path / "bots/a/python3")
    (tmp_path / "tools/bin/link").symlink_to(bots)
    (bots.parent / "sh").symlink_to("/bin/sh")
    (tmp_path / "tools/bin/sh").symlink_to(bots.parent / "sh")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/python3").symlink_to("/bin/sh")
    search(tmp_path / "tools/bin", bots.parent, "relative")
    toolbox = Toolbox([tmp_path / "bots/a"])
    assert toolbox.trusted(own)
    assert toolbox.trusted(Path("/bin/sh"))
    assert not toolbox.trusted(bots)
    assert not toolbox.trusted(tmp_path / "tools/bin/link")
    assert not toolbox.trusted(tmp_path / "tools/bin/sh")
    assert not toolbox.trusted(tmp_path / "elsewhere/python3")
    assert not toolbox.trusted(Path("/usr/bin/../..") / bots.relative_to("/"))
    assert not Toolbox().trusted(tmp_path / "other/python3")


@pytest.mark.process
@pytest.mark.parametrize("linked", [False, True])
def test_a_shim_that_only_a_bot_names_is_not_asked(search, program, tmp_path, linked):
    """A bot that names a path can't have a program beside it run unconfined, by no link either."""
    shim(program, tmp_path, f"touch {tmp_path}/asked")
    named = tmp_path / ".pyenv/shims/python3"
    if linked:
        named.unlink()
        named.symlink_to("/bin/sh")
    search("/usr/bin")
    with contextlib.suppress(HiddenToolError):
        found(str(named))
    assert not (tmp_path / "asked").exists()


@pytest.mark.process
def test_a_shim_in_a_bots_place_is_not_asked(search, program, tmp_path):
    """Even with the bot's folder on PATH: it is refused."""
    shim(program, tmp_path, f"touch {tmp_path}/asked")
    search(tmp_path / ".pyenv/shims")
    with pytest.raises(HiddenToolError, match="a bot"):
        Toolbox([tmp_path / ".pyenv"]).find("python3")
    assert not (tmp_path / "asked").exists()


def test_nothing_of_a_bot_is_shown(search, program, tmp_path):
    """Neither its folder, nor one in it, nor one around it, whatever names the program there."""
    bot = tmp_path / "bots/strong"
    names = ["bot.py", "bin/x", "inner/bin/x", "../bin/x"]
    for name in names:
        program(bot / name)
    program(bot / "env/bin/python3")
    (bot / "env/pyvenv.cfg").write_text("")
    search(bot / "bin")
    for name in [*names[:3], "env/bin/python3"]:
        with pytest.raises(HiddenToolError, match="a bot"):
            Toolbox([bot]).find(str(bot / name))
    with pytest.raises(HiddenToolError, match="a bot"):
        Toolbox([bot]).find("x")
    beside = str(tmp_path / "bots/bin/x")
    assert Toolbox([bot]).find(beside).expose == (str(tmp_path / "bots/bin"),)
    with pytest.raises(HiddenToolError, match="a bot"):
        Toolbox([bot / "bot.py"]).find(str(bot / "bin/../bot.py"))


def test_neighbours_of_a_named_file_are_not_shown(search, program, tmp_path):
    """Only a folder for programs, or one on PATH, may be shown because a bot names a file there."""
    data = program(tmp_path / "data/tool")
    with pytest.raises(HiddenToolError, match="put its folder on PATH"):
        found(str(data))
    search(data.parent)
    assert found(str(data)).expose == (str(data.parent),)
    inner = program(tmp_path / "kit/bin/tool")
    assert found(str(inner)).expose == (str(tmp_path / "kit"),)


def test_a_store_with_a_bot_in_it_is_not_shown(search, program, tmp_path, monkeypatch):
    """A store is shown whole, so a bot's source may not lie there."""
    monkeypatch.setattr(interpreters, "STORES", (tmp_path / "store",))
    program(tmp_path / "store/abc-node/bin/node")
    search(tmp_path / "store/abc-node/bin")
    with pytest.raises(HiddenToolError, match="store"):
        Toolbox([tmp_path / "store/def-bots/a"]).find("node")


def test_stores_are_shown_whole(search, program, tmp_path, monkeypatch):
    """Programs of Nix, Guix and Homebrew find their libraries beside themselves."""
    monkeypatch.setattr(interpreters, "STORES", (tmp_path / "store",))
    program(tmp_path / "store/abc-node/bin/node")
    search(tmp_path / "store/abc-node/bin")
    assert found("node").expose == (str(tmp_path / "store"),)


def test_a_change_of_the_program_changes_its_identity(search, program, tmp_path):
    """Another compiler under the same name is another toolchain."""
    real = program(tmp_path / "x/bin/cc")
    search(tmp_path / "x/bin")
    before = found("cc").identity
    os.utime(real, (1, 1))
    assert found("cc").identity != before


def test_inner_folders_are_not_shown_twice():
    """A folder within another that is shown needs no mention."""
    assert outermost(["/b", "/a/b", "/a", "/a", "/ab"]) == ("/a", "/ab", "/b")
