"""What is an extra stays one: only its own modules import it, and only they need its packages."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "arena"

HOMES = {
    "distributed": ("executors/cluster.py",),
    "dask": ("executors/cluster.py",),
    "numpy": ("rl/",),
    "gymnasium": ("rl/",),
    "pettingzoo": ("rl/",),
    "arena.rl": ("rl/",),
    "h11": ("live/",),
    "starlette": ("live/", "play/"),
    "arena.bots.fetch": ("cli/fetch.py",),
    "arena.bots.fetchers": ("bots/",),
    "arena.event.admission": ("cli/node.py",),
    "arena.executors.dask": ("event/cluster.py",),
    "arena.executors.crew": ("executors/dask.py", "event/cluster.py"),
    "arena.executors.cluster": (
        *("executors/dask.py", "executors/crew.py", "event/cluster.py"),
        *("__init__.py", "event/options.py"),  # its options; the package is loaded later
    ),
}
"""Where a package of an extra, or a module that serves an extra, may be imported."""

AT_ONCE = {"trueskill": "ratings/online.py", "tabulate": "reports/text.py"}
"""Where a package that every installation has is in use."""


def imports(path):
    """Every module that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.fixture(scope="module")
def imported():
    """The imports of each module of the package, by its path."""
    return {
        str(path.relative_to(PACKAGE)): set(imports(path)) for path in sorted(PACKAGE.rglob("*.py"))
    }


@pytest.mark.parametrize("name", HOMES)
def test_an_extra_is_imported_by_its_own_modules_alone(name, imported):
    """Cluster, training and fetching packages; nothing else pays for them."""
    found = {
        path
        for path, names in imported.items()
        if any(each == name or each.startswith(f"{name}.") for each in names)
    }
    assert found, f"{name} is nowhere in use"
    assert not {path for path in found if not path.startswith(HOMES[name])}


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_dependency_is_in_use(name, imported):
    """Not only declared: the table and its ratings are made by it."""
    assert name in imported[AT_ONCE[name]]
