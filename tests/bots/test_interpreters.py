import contextlib
import os
import subprocess
import sys
import venv
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.bots import interpreters
from arena.bots.interpreters import HiddenToolError, MissingToolError, Toolbox, outermost
from arena.sandbox import installations
from arena.sandbox.installations import find_environment, private_file


@pytest.fixture
def search(monkeypatch, tmp_path):
    """Set PATH to folders below the test's own, with a home of its own too."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path.parent)

    def search(*folders):
        monkeypatch.setenv("PATH", ":".join(map(str, folders)))

    search()
    return search


@pytest.fixture
def python(program):
    """Make a Python of the given version in a prefix; its program."""

    def python(prefix, version="3.11"):
        real = program(prefix / f"bin/python{version}")
        if not (prefix / "bin/python3").exists():
            (prefix / "bin/python3").symlink_to(real.name)
        (prefix / f"lib/python{version}").mkdir(parents=True)
        (prefix / f"lib/python{version}/os.py").touch()
        return real

    return python


@pytest.fixture
def node(program):
    """Make an installation of node; its program."""

    def node(prefix):
        (prefix / "include/node").mkdir(parents=True)
        return program(prefix / "bin/node")

    return node


def found(name, **options):
    return Toolbox().find(name, **options)


def test_system_programs_need_nothing_shown(search):
    """What lies in the system's own folders is there in every sandbox."""
    search("/usr/bin", "/bin")
    tool = found("env")
    assert tool.path == "/usr/bin/env"
    assert tool.expose == ()


def below(folder, tool):
    """What is shown of a folder, by the names there."""
    return {str(Path(path).relative_to(folder)) for path in tool.expose}


def test_the_parts_of_an_installation_are_shown(search, node, tmp_path):
    """Links are resolved; what else lies in the prefix isn't shown."""
    real = node(tmp_path / "opt/node-20")
    (tmp_path / "opt/node-20/config").mkdir()
    (tmp_path / "links").mkdir()
    (tmp_path / "links/node").symlink_to(real)
    search(tmp_path / "links")
    tool = found("node")
    assert tool.path == str(real)
    assert below(tmp_path / "opt/node-20", tool) == {"bin/node", "include/node"}
    assert tool.identity.startswith(str(real))


def test_the_name_that_a_program_is_called_by_is_kept(search, program, tmp_path, as_systems):
    """clang++ and clang are one file that acts by its name."""
    program(tmp_path / "llvm/bin/clang")
    (tmp_path / "llvm/bin/clang++").symlink_to("clang")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/clang++").symlink_to(tmp_path / "llvm/bin/clang++")
    as_systems(tmp_path / "llvm")
    search(tmp_path / "links")
    assert found("clang++").path == str(tmp_path / "llvm/bin/clang++")


@pytest.mark.parametrize("prefix", ["home", "home/.local", "home/.pyenv/versions/3.11", "event"])
def test_of_a_shared_prefix_only_the_runtime_is_shown(
    search, python, tmp_path, prefix, monkeypatch
):
    """A Python in ~/.local, in the home itself or in an event's folder shows itself alone."""
    (tmp_path / "event").mkdir()
    monkeypatch.chdir(tmp_path / "event")
    folder = tmp_path / prefix
    python(folder)
    python(folder, "3.10")
    for name in ("bin/deploy", "share/key", "config/master.key", "private.json", "lib/key"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("secret")
    search(folder / "bin")
    assert below(folder, found("python3")) == {"bin/python3", "bin/python3.11", "lib/python3.11"}


@pytest.mark.parametrize("suffix", ["", "/lib/python3.11/event"])
def test_neither_cache_nor_current_folder_is_shown(search, python, tmp_path, monkeypatch, suffix):
    """Not even where they lie within a runtime, or are one."""
    python(tmp_path / "x")
    place = Path(f"{tmp_path}/x{suffix}")
    place.mkdir(exist_ok=True)
    search(tmp_path / "x/bin")
    with pytest.raises(HiddenToolError, match="the cache"):
        Toolbox([place]).find("python3")
    if suffix:
        monkeypatch.chdir(place)
        with pytest.raises(HiddenToolError, match="current folder"):
            found("python3")


SHAPES = {
    "javac": (
        ["bin/java", "bin/javac", "bin/deploy", "lib/modules", "release"],
        {"bin/java", "bin/javac", "lib", "release"},
    ),
    "go": (
        ["bin/go", "bin/deploy", "VERSION", "src/runtime/x.go", "pkg/tool/x"],
        {"bin/go", "VERSION", "src", "pkg"},
    ),
    "cargo": (
        ["bin/cargo", "bin/rustc", "lib/rustlib/x", "lib/libLLVM.so.1", "etc/key"],
        {"bin/cargo", "bin/rustc", "lib/rustlib", "lib/libLLVM.so.1"},
    ),
    "pypy3.10": (
        ["bin/pypy3.10", "bin/libpypy3.10-c.so", "lib/pypy3.10/os.py"],
        {"bin/pypy3.10", "bin/libpypy3.10-c.so", "lib/pypy3.10"},
    ),
    "python3.12": (
        ["bin/python3.12", "conda-meta/x", "lib/libz.so", "lib/python3.12/os.py"],
        {"bin/python3.12", "lib"},
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_other_shapes(search, program, tmp_path, name):
    """What each names is shown, and nothing beside it; a home is no prefix for one with `lib`."""
    files, shown = SHAPES[name]
    for prefix in (tmp_path / "tool", tmp_path / "home"):
        for file in (*files, "config/master.key"):
            program(prefix / file)
    search(tmp_path / "tool/bin")
    assert below(tmp_path / "tool", found(name)) == shown
    search(tmp_path / "home/bin")
    if {"lib", "pkg"} & shown:
        with pytest.raises(HiddenToolError, match="a home"):
            found(name)
    else:
        assert below(tmp_path / "home", found(name)) == shown


def test_npm_is_called_where_it_lies(search, node, program, tmp_path):
    """It finds its own parts by where it is itself, and node on PATH."""
    node(tmp_path / "node")
    real = program(tmp_path / "node/lib/node_modules/npm/bin/npm-cli.js")
    program(tmp_path / "node/lib/node_modules/another/x.js")
    (tmp_path / "node/bin/npm").symlink_to(real)
    search(tmp_path / "node/bin")
    tool = found("npm")
    assert tool.path == str(real)
    shown = {"bin/node", "include/node", "lib/node_modules/npm"}
    assert below(tmp_path / "node", tool) == shown


@pytest.mark.parametrize("name", ["bin/hello", "bin/rails", "sbin/x", "libexec/x", "zig", "x/node"])
def test_what_has_no_shape_is_not_shown(search, program, tmp_path, name):
    """Whatever lies beside it: neither the folder above `bin`, nor one on PATH, nor the file."""
    place = program(tmp_path / "home" / name)
    program(tmp_path / "home/config/master.key")
    for path in ("/usr/bin", place.parent):
        search(path)
        with pytest.raises(HiddenToolError, match="can't be shown"):
            found(str(place))
    with pytest.raises(HiddenToolError, match="no installation of Python"):
        found(place.name)


def test_what_a_bot_names_is_no_reason_to_show_it(search, python, tmp_path):
    """A path counts for as much as its name does on PATH, whatever its shape."""
    ours = python(tmp_path / "ours")
    theirs = python(tmp_path / "theirs")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/python3").symlink_to(ours)
    search(tmp_path / "links")
    with pytest.raises(HiddenToolError, match='write "python3.11", and put its folder'):
        found(str(theirs))
    with pytest.raises(HiddenToolError, match="can't be shown"):
        found(str(theirs), anywhere=True)
    assert found(str(tmp_path / "ours/bin/python3")) == found("python3")
    search(tmp_path / "links", tmp_path / "theirs/bin")
    assert found(str(theirs)).path == str(theirs)


@pytest.mark.process
def test_an_environment_counts_only_on_path(search, tmp_path):
    """Named by a bot alone it isn't shown, nor is what it is based on taken in its place."""
    venv.create(tmp_path / "env", symlinks=True)
    search("/usr/bin")
    with pytest.raises(HiddenToolError, match="PATH"):
        found(str(tmp_path / "env/bin/python3"))


def test_homes_of_others_are_no_prefix(search, program, tmp_path, monkeypatch):
    """Those of everybody who logs in, and of root; not those of the system's users."""
    users = [(0, tmp_path / "a"), (1000, tmp_path / "b"), (1, tmp_path / "c"), (1001, "")]
    entries = [SimpleNamespace(pw_uid=uid, pw_dir=str(home)) for uid, home in users]
    monkeypatch.setattr(interpreters.pwd, "getpwall", lambda: entries)
    for name in "abc":
        for file in SHAPES["go"][0]:
            program(tmp_path / name / file)
    for name, shown in (("a", False), ("b", False), ("c", True)):
        search(tmp_path / name / "bin")
        with contextlib.nullcontext() if shown else pytest.raises(HiddenToolError, match="a home"):
            assert found("go").expose


def test_missing_programs_are_named(search):
    """What isn't there is named, with what to do."""
    with pytest.raises(MissingToolError, match=r"'node'.*PATH"):
        found("node")
    with pytest.raises(MissingToolError, match="does not exist"):
        found("/nowhere/node")


def test_a_foreign_path_may_be_looked_up(search, node, tmp_path):
    """The #! line of another machine finds this machine's program."""
    real = node(tmp_path / "x")
    search(tmp_path / "x/bin")
    assert found("/nowhere/bin/node", anywhere=True).path == str(real)


def test_python_is_always_there(search):
    """Without python3 on PATH the interpreter at hand does, without its environment."""
    for name in ("python3", "python"):
        tool = found(name)
        asked = [tool.path, "-I", "-c", "import sys; print(sys.prefix == sys.base_prefix)"]
        assert subprocess.check_output(asked, text=True) == "True\n"


def test_other_names_of_a_program(search, python, tmp_path):
    """Where there is only python3, python means it."""
    real = python(tmp_path / "x")
    search(tmp_path / "x/bin")
    assert found("python").path == str(real)


@pytest.mark.process
def test_virtual_environment_shows_its_base(search, tmp_path):
    """The environment's python is called by its own path, and all it reads is shown."""
    venv.create(tmp_path / "env", symlinks=True)
    search(tmp_path / "env/bin")
    tool = found("python3")
    assert tool.path == str(tmp_path / "env/bin/python3")
    own = {path for path in tool.expose if Path(path).is_relative_to(tmp_path)}
    version = "python{}.{}".format(*sys.version_info)
    parts = ("bin/python", "bin/python3", f"bin/{version}", f"lib/{version}", "pyvenv.cfg")
    assert own == {str(tmp_path / "env" / part) for part in parts}
    base = os.path.realpath(sys.base_prefix)
    if not base.startswith("/usr"):
        assert {*installations.own_python()} == {*tool.expose} - own


def test_of_an_environment_in_a_project_only_the_environment_is_shown(search, program, tmp_path):
    """`python -m venv ~/proj`: what else lies in its bin and lib is the project's."""
    project = tmp_path / "proj"
    program(project / "bin/python3")
    program(project / "bin/deploy")
    program(project / "lib/keys/id")
    program(project / "lib/python3.11/site-packages/x.py")
    (project / "pyvenv.cfg").touch()
    search(project / "bin")
    with pytest.raises(HiddenToolError, match="no installation of Python"):
        found("deploy")
    shown = find_environment(project / "bin/python3")
    assert {str(part.relative_to(project)) for part in shown.parts} == {
        "bin/python3",
        "lib/python3.11",
        "pyvenv.cfg",
    }


def test_a_program_beside_java_is_no_part_of_a_jdk(search, program, tmp_path):
    """A shape is that of the program that was asked for."""
    for name in ("bin/java", "bin/mytool", "lib/modules"):
        program(tmp_path / "tool" / name)
    search(tmp_path / "tool/bin")
    assert found("java").expose
    with pytest.raises(HiddenToolError, match="no installation of Python"):
        found("mytool")


def test_what_is_its_owners_alone_is_not_shown(search, program, tmp_path):
    """A file of mode 600 among files for everybody: root's binds would have it read. Under a
    umask of 077 nothing tells one from another.
    """
    tool = tmp_path / "tool"
    java = program(tool / "bin/java")
    program(tool / "lib/modules")
    password = program(tool / "conf/management/jmxremote.password")
    search(tool / "bin")
    assert found("java").expose
    for place, mode in ((password, 0o600), (password.parent, 0o700)):
        before = place.stat().st_mode
        place.chmod(mode)
        private_file.cache_clear()  # as in the next command
        with pytest.raises(HiddenToolError, match=f"{place}, a part of its installation, is for"):
            found("java")
        place.chmod(before)
    private_file.cache_clear()
    password.chmod(0o600)
    java.chmod(0o700)
    assert found("java").expose


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
    program(tmp_path / ".pyenv/versions/3.11/lib/python3.11/os.py")
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
    assert below(real.parent.parent, tool) == {"bin/python3", "lib/python3.11"}


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
    assert found("python3").path == sys.executable
    with pytest.raises(MissingToolError, match="shim"):
        found("ruby")


@pytest.mark.process
def test_rustup_proxies_are_seen_through(search, program, tmp_path):
    """What lies as cargo in ~/.cargo/bin is rustup, which is asked."""
    real = program(tmp_path / "toolchains/stable/bin/cargo")
    program(tmp_path / "toolchains/stable/lib/rustlib/x")
    program(
        tmp_path / "home/.cargo/bin/rustup",
        f'#!/bin/sh\n[ "$1 $2" = "which cargo" ] && echo {real}\n',
    )
    (tmp_path / "home/.cargo/bin/cargo").symlink_to("rustup")
    search(tmp_path / "home/.cargo/bin")
    tool = found("cargo")
    assert tool.path == str(real)
    assert below(tmp_path / "toolchains/stable", tool) == {"bin/cargo", "lib/rustlib"}


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


def test_a_store_with_a_bot_in_it_is_not_shown(search, program, tmp_path, monkeypatch):
    """A store is shown whole, so a bot's source may not lie there."""
    monkeypatch.setattr(interpreters, "STORES", {tmp_path / "store": ("",)})
    program(tmp_path / "store/abc-node/bin/node")
    search(tmp_path / "store/abc-node/bin")
    with pytest.raises(HiddenToolError, match="store"):
        Toolbox([tmp_path / "store/def-bots/a"]).find("node")


@pytest.mark.parametrize("names", [("",), ("Cellar", "bin", "lib")])
def test_stores_are_shown_with_all_packages(search, program, tmp_path, monkeypatch, names):
    """Programs of Nix, Guix and Homebrew find their libraries beside themselves; what services
    keep in Homebrew's `var` and `etc` isn't shown.
    """
    monkeypatch.setattr(interpreters, "STORES", {tmp_path / "store": names})
    real = program(tmp_path / "store/Cellar/node/1/bin/node")
    (tmp_path / "store/bin").mkdir()
    (tmp_path / "store/bin/node").symlink_to(real)
    for name in ("lib/ld.so", "var/postgres/key", "etc/key"):
        program(tmp_path / "store" / name)
    search(tmp_path / "store/bin")
    assert found("node").expose == tuple(str(tmp_path / "store" / each) for each in names)


def test_a_change_of_the_program_changes_its_identity(search, node, tmp_path):
    """Another compiler under the same name is another toolchain."""
    real = node(tmp_path / "x")
    search(tmp_path / "x/bin")
    before = found("node").identity
    os.utime(real, (1, 1))
    assert found("node").identity != before


def test_nothing_of_a_bot_is_taken_from_path(search, program, tmp_path, as_systems):
    """A file's owner says nothing: the user has unpacked the bots. No link makes it the user's."""
    bot = tmp_path / "bots/a"
    program(bot / "x")
    (bot / "sh").symlink_to("/bin/sh")
    program(bot / "env/bin/python3")
    (bot / "env/pyvenv.cfg").write_text("")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/sh").symlink_to(bot / "sh")
    search(tmp_path / "tools", bot, bot / "env/bin", "relative")
    for name in ("x", "sh", "python3", str(bot / "x"), str(tmp_path / "tools/sh")):
        with pytest.raises(HiddenToolError, match="a bot"):
            Toolbox([bot]).find(name)
    assert Toolbox([bot]).find("/bin/sh").expose == ()
    with pytest.raises(HiddenToolError):
        Toolbox([bot]).find(f"/usr/bin/../..{bot}/x")


def test_inner_folders_are_not_shown_twice():
    """A folder within another that is shown needs no mention."""
    assert outermost(["/b", "/a/b", "/a", "/a", "/ab"]) == ("/a", "/ab", "/b")
