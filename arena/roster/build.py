"""Builds: from candidates to bots that can be started.

Runs authors' build commands in the sandbox, in a copy of the snapshot, through the spawner.
A build runs once for the same content, commands and toolchain; its result lies in the cache
beside the snapshots. Bots without a build are resolved and passed on.

    key known? -- yes --> take the cached result
         no --> copy the snapshot --> each command in turn --> settle modes --> rename

Invariant: what a build made is looked at only after its whole process tree has ended, and no
link in it is followed out of its folder.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import signal
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from arena.model import Bot, Frozen, HostError, NotRun, canonical, sha256_hex
from arena.roster.cache import BUILDS, publish, remove, scratch, writing
from arena.roster.commands import INSIDE, Command, CommandError, resolve
from arena.roster.discover import missing_tool
from arena.roster.entries import Built, Candidate, Problem
from arena.roster.interpreters import HiddenToolError, MissingToolError, Toolbox
from arena.roster.plain import printable
from arena.roster.process import Spawns, run
from arena.roster.snapshot import copy, listing, set_modes
from arena.sandbox import Backend, Exited, Launch

OUTPUT_LINES = 20
"""Shown of it."""
RESULT_BYTES = 1 << 30
"""What a build may leave on the disk: a Rust target folder fits."""
RESULT_FILES = 100_000
_FORMAT = 1
"""Raised when builds are run differently, so that older results are not taken."""
_HOME = ".arena-home"
_ENVIRONMENT = {
    # A home to write to; it doesn't become part of the result.
    "HOME": f"{INSIDE}/{_HOME}",
    "TMPDIR": f"{INSIDE}/{_HOME}",
    # Without network, say so at once instead of waiting for a name server.
    "CARGO_NET_OFFLINE": "true",
    "GOPROXY": "off",
    "GOTOOLCHAIN": "local",
    # Compilers that stamp their output stamp it alike.
    "SOURCE_DATE_EPOCH": "0",
}


class BuildLimits(Frozen, frozen=True, kw_only=True):
    """What a build may use: compilers need more than bots."""

    seconds: float = 300.0
    """For all commands of one bot."""
    memory_mb: int = 4096
    tasks: int = 512
    file_mb: int = 512


class _FailedError(Exception):
    """A build that did not work out: its first line, then the output's."""

    def __init__(self, line: str, output: bytes = b"") -> None:
        super().__init__(line)
        shown = [printable(text) for text in output.decode("utf-8", "replace").splitlines()]
        kept = [text for text in shown if text.strip()][-OUTPUT_LINES:]
        self.lines = (line, *(f"| {text}" for text in kept))


def build(
    candidates: Sequence[Candidate],
    *,
    cache: Path,
    backend: Backend,
    spawner: Spawns,
    limits: BuildLimits | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Built:
    """Build what has to be built and say how each bot is started.

    `report` gets a line before each build that really runs. HostError when the sandbox, not
    an author, is at fault.
    """
    toolbox = Toolbox([cache])
    bots: list[Bot] = []
    problems: list[Problem] = []
    skipped: list[NotRun] = []
    for candidate in candidates:
        try:
            root = Path(candidate.snapshot)
            if candidate.build:
                work = _Build(
                    candidate,
                    cache=cache,
                    backend=backend,
                    spawner=spawner,
                    limits=limits or BuildLimits(),
                    toolbox=toolbox,
                )
                root = work.result(report)
            command = resolve(candidate.run, root, toolbox)
        except MissingToolError as e:
            missing = missing_tool(candidate, e)
            if isinstance(missing, NotRun):
                skipped.append(missing)
            else:
                problems.append(missing)
        except _FailedError as e:
            problems.append(_problem(candidate, *e.lines))
        except (CommandError, HiddenToolError) as e:
            after = "after its build: " if candidate.build else ""
            problems.append(_problem(candidate, f"{after}{e}"))
        else:
            bots.append(
                Bot(
                    entrant=candidate.entrant,
                    root=str(root),
                    run=command.argv,
                    expose=command.expose,
                    source=candidate.source,
                )
            )
    return Built(bots=tuple(bots), problems=tuple(problems), skipped=tuple(skipped))


def _problem(candidate: Candidate, *lines: str) -> Problem:
    return Problem(name=candidate.entrant.id, path=candidate.shown, lines=lines)


class _Build:
    """The build of one candidate."""

    def __init__(
        self,
        candidate: Candidate,
        *,
        cache: Path,
        backend: Backend,
        spawner: Spawns,
        limits: BuildLimits,
        toolbox: Toolbox,
    ) -> None:
        self.candidate = candidate
        self.cache = cache
        self.backend = backend
        self.spawner = spawner
        self.limits = limits
        self.toolbox = toolbox

    def result(self, report: Callable[[str], None]) -> Path:
        """The folder that the build made, now or earlier."""
        final = self.cache / BUILDS / self._key()
        if not final.is_dir():
            report(f"building {self.candidate.entrant.id}")
            self._make(final)
        return final

    def _key(self) -> str:
        """What the result depends on, as far as it is named: not what `make` calls in turn."""
        tools = [command.identity for command in self._known(Path(self.candidate.snapshot))]
        return sha256_hex(
            canonical(
                [
                    _FORMAT,
                    self.candidate.entrant.hash,
                    self.candidate.build,
                    tools,
                    # Unconfined, a build may have fetched what another one can't.
                    self.backend.name,
                    platform.system(),
                    platform.machine(),
                ]
            )
        )

    def _known(self, folder: Path) -> Iterator[Command]:
        """The commands whose program is there before the build begins."""
        for argv in self.candidate.build:
            # A later command may be a program that an earlier one makes.
            with contextlib.suppress(CommandError):
                yield resolve(argv, folder, self.toolbox)

    def _make(self, final: Path) -> None:
        deadline = time.monotonic() + self.limits.seconds
        with scratch(self.cache, BUILDS) as folder:
            made = folder / "bot"
            with writing(self.cache):
                made.mkdir()
            copy(listing(Path(self.candidate.snapshot)), made, self.cache)
            with writing(self.cache):
                (made / _HOME).mkdir()
            for argv in self.candidate.build:
                self._run(argv, made, deadline)
            with writing(self.cache):
                _settle(made)
                publish(made, final)

    def _run(self, argv: tuple[str, ...], made: Path, deadline: float) -> None:
        shown = f"`{printable(shlex.join(argv), 100)}`"
        try:
            command = resolve(argv, made, self.toolbox)
        except CommandError as e:
            raise _FailedError(f"build: {e}") from e
        plan = self.backend.plan(
            Launch(
                run=command.argv,
                root=str(made),
                writable=True,
                expose=(*command.expose, *self._shared()),
                env=_ENVIRONMENT,
                memory_mb=self.limits.memory_mb,
                tasks=self.limits.tasks,
                file_mb=self.limits.file_mb,
            )
        )
        ended, output = run(plan, self.spawner, deadline)
        if ended is None:
            raise _FailedError(f"build: {shown} took longer than {self.limits.seconds:g} s", output)
        if ended.host_error:
            raise HostError(f"the sandbox could not run a build: {printable(ended.host_error)}")
        if ended.code != 0:
            raise _FailedError(f"build: {shown} {self._end(ended)}", output)

    def _end(self, ended: Exited) -> str:
        if ended.overstepped:
            return f"was killed: more {ended.overstepped} than a build may use"
        if ended.signal is None:
            return f"ended with exit {ended.code}"
        try:
            return f"was ended by {signal.Signals(ended.signal).name}"
        except ValueError:
            return f"was ended by signal {ended.signal}"

    def _shared(self) -> Iterator[str]:
        """What one tool may call another for, as cargo calls rustc: the tools of all commands."""
        for command in self._known(Path(self.candidate.snapshot)):
            yield from command.expose


def _settle(made: Path) -> None:
    """Make a build's result fit for the cache: plain files of ours, within bounds, read-only."""
    remove(made / _HOME)
    _own(made)
    files = size = 0
    for where, folders, names in os.walk(made):
        for name in [*folders, *names]:
            path = Path(where, name)
            _own(path)
            info = path.lstat()
            if stat.S_ISDIR(info.st_mode) or stat.S_ISLNK(info.st_mode):
                continue
            if not stat.S_ISREG(info.st_mode):
                path.unlink()
                continue
            files += 1
            size += info.st_size
    if size > RESULT_BYTES or files > RESULT_FILES:
        raise _FailedError(
            f"build: made {size >> 20} MB in {files} files; "
            f"{RESULT_BYTES >> 20} MB in {RESULT_FILES} files are allowed"
        )
    set_modes(made, folders=0o755, files=0o444)


def _own(path: Path) -> None:
    """Take back what the sandbox gave to the builder's uid, and make folders enterable."""
    info = path.lstat()
    if os.geteuid() == 0 and info.st_uid != 0:
        os.chown(path, 0, 0, follow_symlinks=False)
    if stat.S_ISDIR(info.st_mode):
        path.chmod(0o755)
