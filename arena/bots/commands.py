"""Resolve commands: from `run`, a #! line or an entry file to what the sandbox starts; and explain
what a file that is no bot may be, by its name, and how to make a bot of it.

Invariant: the first word of every result is an absolute path, below /bot (the bot's own program) or
of a program outside that the result's `expose` shows.
"""

import os
import posixpath
import re
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path, PurePath

from msgspec.structs import replace

from arena.bots.folder import Folder, open_folder, read_errors
from arena.bots.interpreters import Command, MissingToolError, Toolbox
from arena.bots.plain_text import BotError, did_you_mean, printable, split_words, toml_array
from arena.sandbox.environment import INSIDE
from arena.tables import table

FILES = table("bots/files")
LANGUAGES: dict[str, list[list[str]]] = FILES["scripts"]
_STEMS = ("bot", "main")
HEAD = 4096  # bytes read of a file to tell its kind; kernels read at most 256
_PROGRAMS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_MARK = b"\xef\xbb\xbf"
_KERNEL = ("/proc", "/dev", "/sys")

_ARCHIVE = re.compile(r"\.(zip|tar|tgz|tar\.\w+|7z|rar)$", re.IGNORECASE)
_LIKELY = ("bot", "main", "player", "agent", "run", "index", "app")


class CommandError(BotError):
    """A command can't be run."""


def head(path: Path) -> bytes:
    """The beginning of a file of a snapshot or of a finished build."""
    with read_errors(path.name), path.open("rb") as file:
        return file.read(HEAD)


def is_program(beginning: bytes) -> bool:
    return beginning.startswith(_PROGRAMS)


def is_script(beginning: bytes) -> bool:
    """Whether there is a #! line, even one that no kernel takes."""
    return beginning.removeprefix(_MARK).startswith(b"#!")


def shebang(beginning: bytes, shown: str) -> tuple[str, ...]:
    """The words of a #! line; empty without one; CommandError for one that no kernel takes."""
    if not is_script(beginning):
        return ()
    if beginning.startswith(_MARK):
        raise CommandError(f"{shown} has a byte-order mark before its #! line; save it without")
    line = beginning.split(b"\n", 1)[0]
    if line.endswith(b"\r"):
        raise CommandError(
            f"the #! line of {shown} ends in CR LF; save the file with Unix line ends"
        )
    program, *rest = os.fsdecode(line[2:]).strip().split(None, 1) or [""]
    if not program.startswith("/") or b"\0" in line:
        raise CommandError(f"the #! line of {shown} names no program by its full path")
    if posixpath.basename(program) != "env":
        return (program, *(word.strip() for word in rest))
    try:
        words = shlex.split(rest[0].removeprefix("-S")) if rest else []
    except ValueError:
        words = []
    if not words or words[0].startswith("-") or "=" in words[0]:
        raise CommandError(f"the #! line of {shown} may name only a program after env")
    return tuple(words)


def entry_file(folder: Folder) -> str | None:
    """The obvious file to run in a folder: bot.* before main.*; None if there is none."""
    for stem in _STEMS:
        names = [stem + suffix for suffix in LANGUAGES]
        found = [name for name in names if (at := folder.find(name)) and at.is_file]
        if stem == "bot" and (own := folder.find(stem)) and own.is_file:
            beginning = folder.read(own, HEAD)
            if is_program(beginning) or is_script(beginning):
                found.append(stem)
        if len(found) > 1:
            raise CommandError(f"has {' and '.join(found)}; say in bot.toml which one: run = [...]")
        if found:
            return found[0]
    return None


def resolve(run: tuple[str, ...] | None, folder: Path, toolbox: Toolbox) -> Command:
    """Resolve how `run` is started; None: the folder's obvious entry file."""
    resolved = _resolve_stated(run, folder, toolbox) if run else _resolve_entry(folder, toolbox)
    if "=" in resolved.argv[0]:
        # env(1), which starts it inside, would take that for a variable.
        raise CommandError(f"a program's path can't hold '=': {printable(resolved.argv[0])}")
    return resolved


def _resolve_entry(folder: Path, toolbox: Toolbox) -> Command:
    with open_folder(folder) as inside:
        name = entry_file(inside)
    if name is None:
        raise CommandError("has neither `run` in bot.toml nor an entry file such as bot.py")
    suffix = PurePath(name).suffix
    if not suffix:
        return _resolve_stated((f"./{name}",), folder, toolbox)
    own = (f"{INSIDE}/{name}",)
    if words := shebang(head(_own_file(name, folder)), printable(name)):
        return _resolve_tool(words, own, toolbox, anywhere=True)
    missing = []
    for choice in LANGUAGES[suffix]:
        try:
            return _resolve_tool(choice, own, toolbox, anywhere=False)
        except MissingToolError as e:
            missing.append(e)
    raise missing[0]


def _resolve_tool(
    words: Sequence[str], rest: tuple[str, ...], toolbox: Toolbox, *, anywhere: bool
) -> Command:
    path = Path(words[0])
    places = [Path(os.path.realpath(place)) for place in (path, *path.parents)]
    if path.is_absolute() and any(
        place.is_relative_to(kernel) for place in places for kernel in _KERNEL
    ):
        raise CommandError(
            f"{printable(words[0])} is another file in each process; name the program by its own "
            "path"
        )
    tool = toolbox.find(words[0], anywhere=anywhere)
    return replace(tool, argv=(tool.path, *words[1:], *rest))


def _resolve_stated(run: tuple[str, ...], folder: Path, toolbox: Toolbox) -> Command:
    _refuse_command_line(run, folder)
    program, *rest = run
    for word in (*([program] if PurePath(program).suffix in LANGUAGES else []), *rest):
        _refuse_outside_path(word, folder)
    if program in {"env", "/usr/bin/env", "/bin/env"} and rest and "=" not in rest[0]:
        # Inside, env would search the sandbox's PATH; the PATH out here counts.
        program, *rest = rest
    if program == INSIDE or program.startswith(f"{INSIDE}/"):
        return _resolve_own(posixpath.relpath(program, INSIDE), tuple(rest), folder, toolbox)
    own = (
        "/" in program or PurePath(program).suffix in LANGUAGES or os.path.lexists(folder / program)
    )
    if own and not program.startswith("/"):
        return _resolve_own(posixpath.normpath(program), tuple(rest), folder, toolbox)
    command = _resolve_tool((program,), tuple(rest), toolbox, anywhere=False)
    first = rest[0] if rest else ""
    if PurePath(first).suffix in LANGUAGES and not first.startswith(("-", "/")):
        _own_file(first, folder)
    return command


def _refuse_command_line(run: tuple[str, ...], folder: Path) -> None:
    program = run[0]
    if len(program.split()) < 2 or os.path.lexists(folder / program):
        return
    array = toml_array([*split_words(program), *run[1:]])
    raise CommandError(f'"{printable(program)}" is taken as the name of one program; write {array}')


def _refuse_outside_path(word: str, folder: Path) -> None:
    """Refuse the outside path of the bot's own file, which lies elsewhere inside."""
    path = Path(word)
    if not path.is_absolute() or path.is_relative_to(INSIDE) or "\0" in word:
        return
    for start in range(1, len(path.parts)):
        tail = Path(*path.parts[start:])
        if ".." not in tail.parts and os.path.isfile(path) and (folder / tail).is_file():  # noqa: PTH113
            raise CommandError(
                f"{printable(word)} can't be seen by the bot, only its own folder and the "
                f'system can; write "{printable(tail)}"'
            )


def _own_file(name: str, folder: Path) -> Path:
    """A file of the bot's own; CommandError if it does not exist."""
    root = os.path.realpath(folder)
    real = Path(os.path.realpath(folder / name))
    shown = printable(name)
    if not real.is_relative_to(root):
        raise CommandError(f"{shown} leads outside the bot's folder")
    try:
        mode = real.stat().st_mode
    except OSError as e:
        files = (str(p.relative_to(folder)) for p in folder.glob("*") if p.is_file())
        raise CommandError(f"{shown} is not in the bot's folder{did_you_mean(name, files)}") from e
    if not stat.S_ISREG(mode):
        raise CommandError(f"{shown} is not a file")
    return real


def _resolve_own(name: str, rest: tuple[str, ...], folder: Path, toolbox: Toolbox) -> Command:
    path = _own_file(name, folder)
    shown = printable(name)
    beginning = head(path)
    if not path.stat().st_mode & stat.S_IXUSR:
        raise CommandError(
            f"{shown} has no execute permission: chmod +x {shown}, or name its interpreter first"
        )
    words = shebang(beginning, shown)
    if words:
        return _resolve_tool(words, (f"{INSIDE}/{name}", *rest), toolbox, anywhere=True)
    if is_program(beginning):
        return Command(argv=(f"{INSIDE}/{name}", *rest))
    raise CommandError(f"{shown} is neither a program nor a script with a #! line")


def hint(name: str) -> str:
    """The end of a sentence that says what a file is and what to do; empty for an unknown kind."""
    path = PurePath(name)
    if path.suffix in FILES["sources"]:
        language, build, run = FILES["sources"][path.suffix]
        how = f"build = {_named(build, path)} and run = {_named(run, path)}"
        return f"is {language} source: a bot.toml beside it says how, {how}"
    if path.suffix in LANGUAGES:
        words = _named([*LANGUAGES[path.suffix][0], "{name}"], path)
        return f"is a script: a bot.toml beside it says run = {words}"
    if _ARCHIVE.search(name):
        return "is an archive: unpack it, and name the folder that its bot is in"
    other: str = FILES["others"].get(path.suffix, "")
    return other.format(name=printable(name), stem=printable(path.stem))


def folder_hint(names: Sequence[str]) -> str:
    """The hint, with its name, for the file in a folder that is most likely meant as the bot."""
    likely = sorted(names, key=lambda name: (PurePath(name).stem.lower() not in _LIKELY, name))
    return next((f"{printable(name)} {what}" for name in likely if (what := hint(name))), "")


def _named(words: Sequence[str], path: PurePath) -> str:
    return toml_array(word.format(name=path.name, stem=path.stem) for word in words)
