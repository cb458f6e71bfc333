"""The public API: listed once, loaded late, documented, and all that the command line uses."""

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import arena

PACKAGE = Path(arena.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "python.md").read_text()

ALLOWED = {
    "arena.registry": "the names that flags choose from",
    "arena.cli": "the command line's own",
    "arena.terminal": "what is drawn and pressed",
}
EXCEPTIONS = {
    ("__init__.py", "arena.exhaustion"): "memory that runs out anywhere is one line",
    ("__init__.py", "arena.model"): "errors become exit codes before the API is loaded",
    ("__init__.py", "arena.reports"): "an error's words, made fit for a terminal",
    ("clean.py", "arena.bots"): "of the machine: the cache",
    ("doctor.py", "arena.machine"): "of the machine: its sandboxes",
    ("feed.py", "arena.api"): "of a bot's author: a debugger's conversation",
    ("feed.py", "arena.check"): "of a bot's author: a debugger's conversation",
    ("fetch.py", "arena.bots"): "of the machine: the cache",
    ("fetch.py", "arena.model"): "of the machine: the cache",
    ("new.py", "arena.bots"): "of a bot's author: a first bot",
    ("new.py", "arena.model"): "of a bot's author: a first bot",
    ("new.py", "arena.scaffolds"): "of a bot's author: a first bot",
    ("node.py", "arena.event"): "what a cluster's worker runs",
    ("paths.py", "arena.reports"): "a path's words, made fit for a terminal",
    ("paths.py", "arena.scaffolds"): "example bots by name",
    ("paths.py", "arena.store"): "a shell's completion, which has to answer at once",
    ("play.py", "arena.play"): "a person's seat",
    ("spec.py", "arena.scaffolds"): "the protocol's page",
}


def imported(path):
    """(module, name) of what a command imports from the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name != "arena")
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield node.module, alias.name
    for used in re.findall(r"\barena\.([a-z_A-Z]+)\(", path.read_text()):
        yield "arena", used


def test_the_command_line_uses_the_public_api_alone():
    """But for what is about a machine or a bot's author, each with its reason."""
    found = set()
    for path in sorted((PACKAGE / "cli").glob("*.py")):
        for module, name in imported(path):
            if not module.startswith("arena") or module.startswith(tuple(ALLOWED)):
                continue
            if module == "arena":
                assert name in {*arena.__all__, "registry"}, f"{path.name}: {name} is not public"
                continue
            found.add((path.name, ".".join(module.split(".")[:2])))
    assert set(EXCEPTIONS) == found


@pytest.mark.parametrize("name", arena.__all__)
def test_a_public_name_is_documented(name):
    """In docs/python.md; a function with each of its parameters."""
    assert re.search(rf"\b{name}\b", PAGE)
    value = getattr(arena, name)
    assert name == "__version__" or inspect.getdoc(value)
    if inspect.isfunction(value):
        for parameter in inspect.signature(value).parameters:
            assert re.search(rf"\b{parameter}\b", PAGE), f"{name}: {parameter}"


def test_editors_see_what_is_loaded():
    """The names that are imported for annotations are those that are loaded when used."""
    (block,) = (
        node
        for node in ast.parse((PACKAGE / "__init__.py").read_text()).body
        if isinstance(node, ast.If)
    )
    seen = {alias.asname: node.module for node in block.body for alias in node.names}
    assert seen == arena._HOME


def test_no_public_name_is_a_module():
    """Loading arena.check, say, would replace a function of that name."""
    for name in arena.__all__:
        assert name == "__version__" or importlib.util.find_spec(f"arena.{name}") is None


def test_a_private_name_is_refused():
    """In the words of any module."""
    with pytest.raises(AttributeError, match="no public name 'sedan'"):
        _ = arena.sedan
    assert set(arena.__all__) == set(dir(arena))


def test_importing_the_package_loads_nothing():
    """Neither trio nor anything else but the standard library."""
    code = "import sys, arena; print([m for m in sys.modules if m.split('.')[0] in WATCHED])"
    watched = "WATCHED = {'trio', 'msgspec', 'click', 'asyncio', 'trueskill'}\n"
    done = subprocess.run([sys.executable, "-c", watched + code], capture_output=True, check=True)
    assert b"[]" == done.stdout.strip()
    code = "import sys, arena; arena.open_results; print('trio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert b"False" == done.stdout.strip()
