"""Explain what a file that is no bot may be, by its name, and how to make a bot of it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import PurePath

from arena.bots.commands import LANGUAGES
from arena.bots.plain_text import printable

_NATIVE = ["./bot"]
_SOURCES = {
    ".c": ("C", ["cc", "-O2", "-o", "bot", "{name}"], _NATIVE),
    ".cpp": ("C++", ["c++", "-O2", "-o", "bot", "{name}"], _NATIVE),
    ".cc": ("C++", ["c++", "-O2", "-o", "bot", "{name}"], _NATIVE),
    ".cxx": ("C++", ["c++", "-O2", "-o", "bot", "{name}"], _NATIVE),
    ".rs": ("Rust", ["rustc", "-O", "-o", "bot", "{name}"], _NATIVE),
    ".go": ("Go", ["go", "build", "-o", "bot", "{name}"], _NATIVE),
    ".java": ("Java", ["javac", "{name}"], ["java", "{stem}"]),
}
"""By suffix: the language, how it is built, how it is run."""
_ARCHIVE = re.compile(r"\.(zip|tar|tgz|tar\.\w+|7z|rar)$", re.IGNORECASE)
_OTHERS = {
    ".ipynb": "is a notebook: save its code as a script (jupyter nbconvert --to script {name}); "
    'a bot.toml beside it says run = ["python3", "{stem}.py"]',
    ".jar": 'is a Java archive: a bot.toml beside it says run = ["java", "-jar", "{name}"]',
    ".exe": "is a program for Windows: build it for Linux",
}
_LIKELY = ("bot", "main", "player", "agent", "run", "index", "app")


def hint(name: str) -> str:
    """The end of a sentence that says what a file is and what to do; empty for an unknown kind."""
    path = PurePath(name)
    if path.suffix in _SOURCES:
        language, build, run = _SOURCES[path.suffix]
        how = f"build = {_array(build, path)} and run = {_array(run, path)}"
        return f"is {language} source: a bot.toml beside it says how, {how}"
    if path.suffix in LANGUAGES:
        words = _array([*LANGUAGES[path.suffix][0], "{name}"], path)
        return f"is a script: a bot.toml beside it says run = {words}"
    if _ARCHIVE.search(name):
        return "is an archive: unpack it, and name the folder that its bot is in"
    other = _OTHERS.get(path.suffix, "")
    return other.format(name=printable(name), stem=printable(path.stem))


def folder_hint(names: Sequence[str]) -> str:
    """The hint, with its name, for the file in a folder that is most likely meant as the bot."""
    likely = sorted(names, key=lambda name: (PurePath(name).stem.lower() not in _LIKELY, name))
    return next((f"{printable(name)} {what}" for name in likely if (what := hint(name))), "")


def _array(words: Sequence[str], path: PurePath) -> str:
    """A command as bot.toml has it."""
    named = [printable(word.format(name=path.name, stem=path.stem)) for word in words]
    return json.dumps(named, ensure_ascii=False)
