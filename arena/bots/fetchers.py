"""pip, npm and cargo, each told to get packages and to run nothing of theirs.

They run as the user, outside the sandbox, in an empty folder of the cache, with the user's own
configuration: mirrors, proxies, certificates, credentials. What keeps packages' code from running
here is stated at each; what a bot's files could tell a tool is checked in locks.

    fetcher = choose(candidate, toolbox)      which tool, and for which interpreter
    fetcher.identity                          what the packages depend on besides the lock file
    fetcher.find(locked)                      the tool, or why there is none
    fetcher.fetch(locked, work, made)         get them; `made` is laid over the bot's files

Invariant: when `fetch` returns or raises, the tool and what it started have ended.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from arena.bots.commands import INSIDE, CommandError, resolve
from arena.bots.interpreters import Toolbox
from arena.bots.locks import CARGO_LOCK, PACKAGE_LOCK, REQUIREMENTS, Locked, canonical_name
from arena.bots.plain_text import printable
from arena.bots.roster import Candidate, FailedError
from arena.bots.tools import ToolError, ask, run

HOME = ".arena-home"
"""A build's home in the bot's folder; it doesn't become part of the result."""
PYTHON = ".arena-packages"
"""Where Python's packages lie in the bot's folder."""

_WHEELS = "only wheels are taken: to build a package is to run its code outside the sandbox"


class Fetcher(Protocol):
    """One way to get packages."""

    @property
    def identity(self) -> str:
        """What the packages depend on besides the lock file."""

    @property
    def env(self) -> tuple[tuple[str, str], ...]:
        """What the bot's environment must say so that they are found."""

    @property
    def compile(self) -> tuple[str, ...]:
        """A command for the sandbox that makes them start faster; empty: none."""

    def find(self, locked: Locked) -> None:
        """Find the tool: MissingToolError or FailedError when it isn't there."""

    def fetch(self, locked: Locked, work: Path, made: Path) -> None:
        """Get them, once the tool was found; FailedError says why not."""


def choose(candidate: Candidate, toolbox: Toolbox) -> Fetcher:
    """The tool for a bot's lock file; MissingToolError when it isn't there."""
    if candidate.lock == REQUIREMENTS:
        return _Pip(_python(candidate, toolbox))
    if candidate.lock == PACKAGE_LOCK:
        return _Npm(toolbox)
    assert candidate.lock == CARGO_LOCK
    return _Cargo(toolbox)


# ---------------------------------------------------------------------------------- Python


def _python(candidate: Candidate, toolbox: Toolbox) -> str:
    """The interpreter that the bot runs with; python3 where it doesn't name any."""
    program = ""
    # The program may come from its build or from its packages.
    with contextlib.suppress(CommandError):
        program = resolve(candidate.run, Path(candidate.snapshot), toolbox).argv[0]
    named = Path(program).name.startswith(("python", "pypy"))
    if not named or program.startswith(f"{INSIDE}/"):
        return toolbox.find("python3").path
    return program


class _Pip:
    """Unpacks wheels: that runs nothing of theirs."""

    env = (("PYTHONPATH", f"{INSIDE}/{PYTHON}"),)

    def __init__(self, python: str) -> None:
        self._python = python
        self._pip: list[str] = []
        # Written beside the sources, never to be checked: they are read-only ever after.
        self.compile = (
            *(python, "-I", "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash"),
            f"{INSIDE}/{PYTHON}",
        )

    @property
    def identity(self) -> str:
        """The binary interface and the platform that wheels are chosen for."""
        question = (
            "import sys, sysconfig as s; print(sys.implementation.cache_tag,"
            "s.get_config_var('SOABI'), s.get_platform(), '%d.%d' % sys.version_info[:2])"
        )
        return ask([self._python, "-I", "-S", "-c", question])

    def find(self, locked: Locked) -> None:
        """Pip of that interpreter, or else arena's own, run with that interpreter."""
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
        """Install the wheels into a folder of their own."""
        target = made / PYTHON
        if locked.names:
            flags = [
                *("--quiet", "--no-input", "--disable-pip-version-check", "--no-user"),
                *("--only-binary", ":all:", "--no-compile", "--no-warn-script-location"),
                *(["--require-hashes"] if locked.hashes else []),
            ]
            try:
                run(
                    [
                        *self._pip,
                        "install",
                        *flags,
                        "--target",
                        str(target),
                        "-r",
                        REQUIREMENTS,
                    ],
                    work,
                    {"PIP_REQUIRE_VIRTUALENV": "0", "PIP_ROOT_USER_ACTION": "ignore"},
                )
            except ToolError as e:
                absent = re.search(rb"No matching distribution found for (\S+)", e.output)
                if absent is None:
                    raise
                wanted = printable(os.fsdecode(absent[1]), 80)
                raise FailedError(
                    f"pip found no wheel of {wanted} for this Python ({_WHEELS})", e.output
                ) from e
        self._check(locked, target)

    @staticmethod
    def _check(locked: Locked, target: Path) -> None:
        """Pip adds what packages depend on; what isn't pinned may be another one tomorrow."""
        found = sorted(folder.name for folder in target.glob("*.dist-info"))
        pairs = [name.removesuffix(".dist-info").partition("-") for name in found]
        extra = [
            f"{name}=={version}"
            for name, _, version in pairs
            if canonical_name(name) not in locked.names
        ]
        if extra:
            raise FailedError(
                f"{REQUIREMENTS} doesn't pin all that its packages need; "
                f"add {printable(', '.join(extra))}"
            )


# -------------------------------------------------------------------------------- JavaScript


class _Npm:
    """Unpacks packages: without their scripts that runs nothing of theirs. It isn't given a git
    either, since npm installs what it clones.
    """

    env = ()
    compile = ()

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._npm = ""

    @property
    def identity(self) -> str:
        """Packages with compiled parts have one for each platform, C library included."""
        node = self._toolbox.find("node").path
        return " ".join([ask([node, "--version"]), platform.system(), platform.machine(), *_libc()])

    def find(self, locked: Locked) -> None:
        """By PATH."""
        del locked
        self._npm = self._toolbox.outside("npm")

    def fetch(self, locked: Locked, work: Path, made: Path) -> None:
        """Make node_modules."""
        del locked
        flags = [
            *("--ignore-scripts", "--git=arena-gives-no-git", "--global=false"),
            *("--include=dev", "--include=optional", "--include=peer"),
            # Whatever host a lock names, the user's registry is asked.
            "--replace-registry-host=always",
            *("--no-audit", "--no-fund", "--no-progress", "--no-update-notifier"),
            "--loglevel=error",
        ]
        # npm starts npm where it must, which takes this from the environment.
        env = {"npm_config_ignore_scripts": "true", "COREPACK_ENABLE_PROJECT_SPEC": "0"}
        run([self._npm, "ci", *flags], work, env)
        if (work / "node_modules").is_dir():
            (work / "node_modules").rename(made / "node_modules")


def _libc() -> Sequence[str]:
    return platform.libc_ver()[:1] if platform.system() == "Linux" else ()


# -------------------------------------------------------------------------------------- Rust


class _Cargo:
    """Unpacks sources; build scripts and macros run when they are built, in the sandbox."""

    env = ()
    compile = ()
    identity = "sources"
    """The same for every toolchain and platform."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._cargo = ""

    def find(self, locked: Locked) -> None:
        """By PATH."""
        del locked
        self._cargo = self._toolbox.outside("cargo")

    def fetch(self, locked: Locked, work: Path, made: Path) -> None:
        """Put the sources into the build's home, and the settings that lead cargo there."""
        _unplanted(work)
        # A rustc beside it goes with it, whatever a folder's toolchain file may choose.
        path = os.pathsep.join([str(Path(self._cargo).parent), os.environ.get("PATH", os.defpath)])
        words = ["vendor", "--locked", "--respect-source-config", "--color=never", "vendor"]
        if not locked.names:
            words.append("--offline")
        settings = run([self._cargo, *words], work, {"PATH": path})
        (made / HOME / ".cargo").mkdir(parents=True)
        # Relative to the home, the parent of the folder that the settings lie in.
        (made / HOME / ".cargo" / "config.toml").write_bytes(settings)
        if (work / "vendor").is_dir():
            (work / "vendor").rename(made / HOME / "vendor")


def _unplanted(work: Path) -> None:
    """See that nobody has put what cargo reads in each folder above into one that all may write
    to, as /tmp: it would name programs to run, and hosts.
    """
    for folder in work.parents:
        for name in ("Cargo.toml", ".cargo"):
            with contextlib.suppress(OSError):
                if (folder / name).lstat().st_uid not in {0, os.geteuid()}:
                    raise FailedError(
                        f"cargo would read {printable(folder / name)}, another user's; remove it, "
                        "or set XDG_CACHE_HOME to a folder of your own"
                    )
