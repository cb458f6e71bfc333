"""The bots' folders, their policies as functions, and bench/self_play.py as a module."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BOTS = ROOT / "example_bots"

View = dict[str, Any]


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def compilers(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> dict[str, str]:
    """The environment in which each program is compiled once, however often it is asked for; of the
    quick tests, in which nothing plays long, without optimizing.
    """
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "compiled"
    shared.mkdir(exist_ok=True)
    tools = tmp_path_factory.mktemp("tools")
    for name in ("c++", "cc", "go", "rustc"):
        if shutil.which(name):
            (tools / name).symlink_to(Path(__file__).with_name("compile_once.py"))
    path = os.environ["PATH"]
    plainly = "" if pytestconfig.option.long else "1"
    return {
        "REAL_PATH": path,
        "COMPILED": str(shared),
        "PLAINLY": plainly,
        "PATH": f"{tools}:{path}",
    }


@pytest.fixture(scope="module", autouse=True)
def compiled(compilers: dict[str, str]) -> Iterator[None]:
    """For the tests of a module; others have the compilers of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in compilers.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def bots() -> Path:
    """The folder of the example bots."""
    return BOTS


@pytest.fixture(scope="session")
def policy() -> Callable[[str], Callable[[View], str]]:
    """`policy("greedy")(view)` is greedy's move."""

    def by_name(name: str) -> Callable[[View], str]:
        module = _load(f"example_bot_{name}", BOTS / name / "bot.py")
        return lambda view: str(module.choose(view, []))

    return by_name


@pytest.fixture(scope="session")
def self_play() -> ModuleType:
    """The simulator."""
    return _load("self_play", ROOT / "bench" / "self_play.py")


@pytest.fixture(scope="session")
def nine_view() -> Callable[..., View]:
    """A view of play-nine from the own grid, the discard, the card in hand and the other grid."""

    def make(
        grid: Sequence[int | None],
        *,
        discard: int = 12,
        drawn: int | None = None,
        other: Sequence[int | None] = (None, 6, None, 6, None, None, None, None),
        ended_by: int | None = None,
    ) -> View:
        return {
            "seat": 0,
            "order": [1, 0],
            "phase": "turn" if drawn is None else "drawn",
            "grids": [list(grid), list(other)],
            "discard": discard,
            "pile": [discard],
            "stock": 91 if drawn is None else 90,
            "recycled": [],
            "drawn": drawn,
            "turns": [1, 1],
            "ended_by": ended_by,
        }

    return make


@pytest.fixture(scope="session")
def four_view() -> Callable[..., View]:
    """A view of four-card-golf from the own grid, the discard and the card in hand."""

    def make(
        grid: Sequence[int | None],
        *,
        discard: int = 11,
        drawn: int | None = None,
        ended_by: int | None = None,
    ) -> View:
        return {
            "seat": 0,
            "order": [1, 0],
            "phase": "turn" if drawn is None else "drawn",
            "grids": [list(grid), [None] * 4],
            "known": ["".join("n" if card is None else "o" for card in grid), "nnoo"],
            "discard": discard,
            "pile": [discard],
            "stock": 43 if drawn is None else 42,
            "recycled": [],
            "drawn": drawn,
            "turns": [1, 1],
            "ended_by": ended_by,
        }

    return make
