"""Fetch packages with pip, npm or cargo, without running any code of theirs.

The tools run as the user, outside the sandbox, in an empty folder of the cache, with the user's own
configuration: mirrors, proxies, certificates, credentials. What keeps packages' code from running
here stands at each tool and in fetchers.toml; locks/ checks what a bot's files could make one do.

Each has an `identity` (what the packages depend on besides the lock file), an `env` (what the bot
needs to find them) and `compile` (a command for the sandbox that makes them start faster). `fetch`
fills a folder that is copied over the bot's files; when it returns or raises, the tool and all that
it started have ended.
"""

import contextlib
import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

from arena.bots.commands import CommandError, resolve
from arena.bots.interpreters import Toolbox
from arena.bots.locks import PACKAGE_LOCK, REQUIREMENTS, Locked, canonical_name
from arena.bots.plain_text import printable
from arena.bots.roster import Candidate, FailedError
from arena.bots.tools import ask, run
from arena.sandbox.environment import INSIDE
from arena.tables import table

HOME = ".arena-home"  # a build's home in the bot's folder; it is no part of the result
PYTHON = ".arena-packages"  # the folder of Python packages in the bot's folder

_WHEELS = "only wheels are taken: to build a package is to run its code outside the sandbox"


def _called(tool: str) -> Any:  # noqa: ANN401 - of a table
    return table("bots/fetchers")[tool]


def _python(candidate: Candidate, toolbox: Toolbox) -> str:
    """The interpreter that runs the bot; python3 if it names none."""
    program = ""
    # It may come from the bot's build or from its packages.
    with contextlib.suppress(CommandError):
        program = resolve(candidate.stated.run, Path(candidate.snapshot), toolbox).argv[0]
    named = Path(program).name.startswith(("python", "pypy"))
    if not named or program.startswith(f"{INSIDE}/"):
        return toolbox.find("python3").path
    return program


class _Pip:
    """Only unpacks wheels, which runs nothing of theirs."""

    env = (("PYTHONPATH", f"{INSIDE}/{PYTHON}"),)

    def __init__(self, python: str) -> None:
        self._python = python
        self._pip: list[str] = []
        # Bytecode that is never checked against the sources: they are read-only from now on.
        self.compile = (
            *(python, "-I", "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash"),
            f"{INSIDE}/{PYTHON}",
        )

    @property
    def identity(self) -> str:
        return ask([self._python, "-I", "-S", "-c", _called("pip")["identity"]])

    def find(self, locked: Locked) -> None:
        """That interpreter's pip, else arena's own pip for that interpreter."""
        if not locked.names:
            return
        for pip in (
            [self._python, "-m", "pip"],
            [sys.executable, "-m", "pip", "--python", self._python],
        ):
            with contextlib.suppress(FailedError):
                ask([*pip, "--version"])
                self._pip = pip
                return
        raise FailedError(
            f"needs pip, which {printable(self._python)} doesn't have; install it: "
            "python3 -m ensurepip, or the package python3-pip"
        )

    def fetch(self, locked: Locked, work: Path, made: Path) -> None:
        target = made / PYTHON
        if locked.names:
            flags = [*_called("pip")["flags"], *(["--require-hashes"] if locked.hashes else [])]
            words = ["install", *flags, "--target", str(target), "-r", REQUIREMENTS]
            try:
                run([*self._pip, *words], work, _called("pip")["env"])
            except FailedError as e:
                absent = re.search(rb"No matching distribution found for (\S+)", e.output)
                if absent is None:
                    raise
                wanted = printable(os.fsdecode(absent[1]), 80)
                raise FailedError(
                    f"pip found no wheel of {wanted} for this Python ({_WHEELS})", e.output
                ) from e
        # What pip added is not pinned: it may be another version tomorrow.
        found = sorted(folder.name for folder in target.glob("*.dist-info"))
        pairs = (name.removesuffix(".dist-info").partition("-") for name in found)
        extra = [
            f"{name}=={of}" for name, _, of in pairs if canonical_name(name) not in locked.names
        ]
        if extra:
            raise FailedError(
                f"{REQUIREMENTS} doesn't pin all that its packages need; "
                f"add {printable(', '.join(extra))}"
            )


class _ToolOnPath:
    env = ()
    compile = ()

    def __init__(self, toolbox: Toolbox, name: str) -> None:
        self._toolbox = toolbox
        self._name = name
        self._tool = ""

    def find(self, _: Locked) -> None:
        self._tool = self._toolbox.outside(self._name)


class _Npm(_ToolOnPath):
    """Unpacks packages without their scripts; and without git: npm installs what it clones."""

    @property
    def identity(self) -> str:
        """Compiled parts differ by platform and C library."""
        node = self._toolbox.find("node").path
        libc = platform.libc_ver()[:1] if platform.system() == "Linux" else ()
        return " ".join([ask([node, "--version"]), platform.system(), platform.machine(), *libc])

    def fetch(self, _: Locked, work: Path, made: Path) -> None:
        run([self._tool, "ci", *_called("npm")["flags"]], work, _called("npm")["env"])
        if (work / "node_modules").is_dir():
            (work / "node_modules").rename(made / "node_modules")


class _Cargo(_ToolOnPath):
    """Only unpacks sources; their build scripts and macros run in the build, in the sandbox."""

    identity = "sources"  # the same for every toolchain and platform

    def fetch(self, locked: Locked, work: Path, made: Path) -> None:
        """Put the sources into the build's home, with the settings that lead cargo there."""
        _check_parents(work)
        # The rustc beside it, whatever a folder's toolchain file chooses.
        path = os.pathsep.join([str(Path(self._tool).parent), os.environ.get("PATH", os.defpath)])
        words = ["vendor", *_called("cargo")["flags"], "vendor"]
        if not locked.names:
            words.append("--offline")
        settings = run([self._tool, *words], work, {"PATH": path})
        (made / HOME / ".cargo").mkdir(parents=True)
        # Paths in it are relative to the home, the parent of the settings' folder.
        (made / HOME / ".cargo" / "config.toml").write_bytes(settings)
        if (work / "vendor").is_dir():
            (work / "vendor").rename(made / HOME / "vendor")


def _check_parents(work: Path) -> None:
    """FailedError if cargo would read another user's files above: they could name programs."""
    for folder in work.parents:
        for name in ("Cargo.toml", ".cargo"):
            with contextlib.suppress(OSError):
                if (folder / name).lstat().st_uid not in {0, os.geteuid()}:
                    raise FailedError(
                        f"cargo would read {printable(folder / name)}, another user's; remove it, "
                        "or set XDG_CACHE_HOME to a folder of your own"
                    )


Fetcher = _Pip | _Npm | _Cargo


def choose(candidate: Candidate, toolbox: Toolbox) -> Fetcher:
    """The tool for a bot's lock file; MissingToolError if there is no python3."""
    if candidate.stated.lock == REQUIREMENTS:
        return _Pip(_python(candidate, toolbox))
    if candidate.stated.lock == PACKAGE_LOCK:
        return _Npm(toolbox, "npm")
    return _Cargo(toolbox, "cargo")
