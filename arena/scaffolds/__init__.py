"""The bots that `arena new` begins with: by language, which files, which programs they need.

The files lie beside this module, a folder a language: whole bots that run as they are, and know
nothing of this package. Invariant: `render` gives the same bytes for the same name, in every file
with Unix line ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

MANIFEST = "bot.toml"
README = "README.md"  # one for all languages


class Scaffold(NamedTuple):
    language: str  # as it is written for people
    aliases: tuple[str, ...]  # other words that people type for it
    tools: tuple[str, ...]  # programs that must be on the machine to build and run it
    sources: tuple[str, ...]  # its files; the first is the one with the strategy
    function: str = "choose()"  # where the strategy goes


SCAFFOLDS: Mapping[str, Scaffold] = MappingProxyType(
    {
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
)
"""By the name of their folder here, which is the word for `arena new`."""


def any_language() -> str:
    """What SPEC.md says for a language without a scaffold, in short; with $name."""
    return (files(__name__) / "any_language.txt").read_text("utf-8").rstrip()


def names() -> dict[str, str]:
    """Every word for a language, and the scaffold's name that it stands for."""
    words = {name: name for name in SCAFFOLDS}
    for name, scaffold in SCAFFOLDS.items():
        words.update(dict.fromkeys(scaffold.aliases, name))
    return words


def render(which: str, name: str) -> dict[str, bytes]:
    """The files of a new bot: name in its folder, content."""
    scaffold = SCAFFOLDS[which]
    package = files(__name__)
    folder = package / which
    manifest = (folder / MANIFEST).read_text("utf-8").replace('"NAME"', f'"{name}"', 1)
    readme = (
        (package / README)
        .read_text("utf-8")
        .replace("$language", scaffold.language)
        .replace("$function", scaffold.function)
        .replace("$source", scaffold.sources[0])
        .replace("NAME", name, 1)
    )
    return {
        MANIFEST: manifest.encode(),
        **{source: (folder / source).read_bytes() for source in scaffold.sources},
        README: readme.encode(),
    }
