"""The bots that `arena new` begins with, and what else ships with the package besides code.

The scaffolds lie beside this module, a folder a language: whole bots that run as they are, and know
nothing of this package. Invariant: `render` gives the same bytes for the same name, in every file
with Unix line ends. The protocol's page and the example bots are kept once, in `protocol/` and
`example_bots/`; a wheel carries copies in `shipped/` (pyproject.toml, force-include).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

_WHEEL = Path(__file__).with_name("shipped")
_CHECKOUT = Path(__file__).parents[2]

EXAMPLES = ("beginner", "column-js", "greedy", "matcher", "random", "strong")
"""The example bots that need no compiler."""

MANIFEST = "bot.toml"
README = "README.md"  # one for all languages


class Scaffold(NamedTuple):
    language: str  # as it is written for people
    aliases: tuple[str, ...]  # other words that people type for it
    tools: tuple[str, ...]  # programs that must be on the machine to build and run it
    sources: tuple[str, ...]  # its files; the first is the one with the strategy
    function: str = "choose()"  # where the strategy goes


SCAFFOLDS: Mapping[str, Scaffold] = {
    "bash": Scaffold("Bash", ("sh", "shell"), ("bash",), ("bot.sh",)),
    "c": Scaffold("C", ("c11", "gcc", "cc"), ("cc",), ("bot.c", "json.c", "json.h")),
    "cpp": Scaffold("C++", ("c++", "cxx", "cc++", "g++"), ("c++",), ("bot.cpp", "json.hpp")),
    "go": Scaffold("Go", ("golang",), ("go",), ("bot.go", "go.mod"), "choose"),
    "java": Scaffold("Java", ("jvm", "jdk"), ("javac", "java"), ("Bot.java", "Json.java")),
    "javascript": Scaffold(
        "JavaScript", ("js", "node", "nodejs", "node.js"), ("node",), ("bot.js",)
    ),
    "python": Scaffold("Python", ("py", "python3"), ("python3",), ("bot.py",)),
    "rust": Scaffold("Rust", ("rs", "rustc"), ("rustc", "cc"), ("bot.rs", "json.rs"), "choose"),
}
"""By the name of their folder here, which is the word for `arena new`."""


def any_language() -> str:
    """What SPEC.md says for a language without a scaffold, in short; with $name."""
    return (files(__name__) / "any_language.txt").read_text("utf-8").rstrip()


def names() -> dict[str, str]:
    """Every word for a language, and the scaffold's name that it stands for."""
    return {word: name for name, each in SCAFFOLDS.items() for word in (name, *each.aliases)}


def render(which: str, name: str) -> dict[str, bytes]:
    """The files of a new bot: name in its folder, content."""
    scaffold = SCAFFOLDS[which]
    package = files(__name__)
    folder = package / which
    manifest = (folder / MANIFEST).read_text("utf-8").replace('"NAME"', f'"{name}"', 1)
    readme = (package / README).read_text("utf-8")
    for word in ("language", "function"):
        readme = readme.replace(f"${word}", getattr(scaffold, word))
    sources = {source: (folder / source).read_bytes() for source in scaffold.sources}
    readme = readme.replace("$source", scaffold.sources[0]).replace("NAME", name, 1)
    return {MANIFEST: manifest.encode(), **sources, README: readme.encode()}


def specification() -> Path:
    """SPEC.md: all that a bot's author needs to know, whatever the language."""
    packaged = _WHEEL / "SPEC.md"
    return packaged if packaged.is_file() else _CHECKOUT / "protocol" / "SPEC.md"


def example_bot(name: str) -> Path | None:
    """The folder of an example bot, if there is one of that name; a setting stays behind it."""
    bot, _, _ = name.partition(":")
    if bot not in EXAMPLES:
        return None
    for folder in (_WHEEL / "bots", _CHECKOUT / "example_bots"):
        if (folder / bot).is_dir():
            return folder / name
    return None


def is_example(path: Path) -> bool:
    """Whether a bot is one of them: they are public, wherever the package is installed."""
    return path.parent in {_WHEEL / "bots", _CHECKOUT / "example_bots"}
