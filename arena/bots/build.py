"""Builds: from candidates to bots that can be started.

Runs authors' build commands in the sandbox, in a copy of the snapshot, once for the same content,
commands, packages and toolchain. A bot without a build is only resolved; one that needs packages
has a build without commands, so that they lie in its own folder.

Invariant: what a build made is read only after its whole process tree has ended, however it ended,
and no link in it is followed out of its folder.
"""

from __future__ import annotations

import contextlib
import os
import platform
import selectors
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots.cache import BUILDS, cache_errors, in_cache, missing_room, publish, scratch
from arena.bots.commands import CommandError, resolve
from arena.bots.fetchers import HOME
from arena.bots.folder import SnapshotError, open_folder, os_errors
from arena.bots.interpreters import Command, Toolbox
from arena.bots.packages import RESERVED, Packages, find, toolbox_of
from arena.bots.plain_text import printable
from arena.bots.roster import Built, Candidate, FailedError
from arena.bots.snapshot import copy, freeze_times, listing, make_plain, mark_programs
from arena.bots.trees import ShapeError, copy_into, measure, remove
from arena.exhaustion import ran_out_in
from arena.model import Bot, Frozen, HostError, UserError, canonical, sha256_hex
from arena.model.parameters import variables
from arena.sandbox import Backend, Exited, Launch, SpawnPlan, inherited_limits
from arena.sandbox.environment import INSIDE
from arena.system import clock

if TYPE_CHECKING:
    from arena.sandbox.client import BotProcess, Spawner

RESULT_FILES = 100_000  # files that a build may add to its input: a Rust target folder fits
_FORMAT = 2  # raised when builds run differently, so that older results are not used
OUTPUT_BYTES = 16_384
"""Kept of a build's output, from its end: the error stands there, and it may be endless."""
END_SECONDS = 10.0  # for a killed command to end; after that the spawner itself is in trouble
_NOTHING = Command(argv=())
_ENVIRONMENT = {
    # A home to write to; it is no part of the result.
    "HOME": f"{INSIDE}/{HOME}",
    "TMPDIR": f"{INSIDE}/{HOME}",
    # There is no network: fail at once instead of waiting for a name server.
    "CARGO_NET_OFFLINE": "true",
    "GOPROXY": "off",
    "GOTOOLCHAIN": "local",
    # For compilers that put a time into their output.
    "SOURCE_DATE_EPOCH": "0",
}


class BuildLimits(Frozen, frozen=True, kw_only=True):
    """What a build may use: compilers need more than bots."""

    seconds: float = 300.0  # for all commands of one bot
    memory_mb: int = 4096
    tasks: int = 512
    file_mb: int = 512
    disk_mb: int = 1024  # what it may write in all, besides what it was given
    scratch_mb: int = 256  # its /tmp: what compilers and linkers spill


def build(
    candidates: Sequence[Candidate],
    *,
    cache: Path,
    backend: Backend,
    spawners: Callable[[], Spawner],
    limits: BuildLimits | None = None,
    scratch_mb: int = 0,
    results: Path | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Built:
    """Build what has to be built; resolve how each bot is started.

    `spawners` makes one for each command that really runs. `scratch_mb`: the most scratch space
    that a bot gets of what it asks for. `results`: the event's folder, which no tool may show.
    `report` gets a line before each build that really runs. HostError when the sandbox, not an
    author, is at fault.
    """
    toolbox = toolbox_of(candidates, cache, *filter(None, [results]))
    built = Built()
    for candidate in candidates:
        with built.of(candidate, "after its build: " if candidate.stated.build else ""):
            root = Path(candidate.snapshot)
            packages = find(candidate, cache=cache, toolbox=toolbox)
            if candidate.stated.build or packages:
                most = limits or BuildLimits()
                work = _Build(candidate, packages, cache, backend, spawners, most, toolbox)
                root = work.result(report)
            command = resolve(candidate.stated.run, root, toolbox)
            bot = Bot(
                entrant=candidate.entrant,
                root=str(root),
                run=command.argv,
                expose=command.expose,
                env=(
                    *(packages.fetcher.env if packages else ()),
                    *variables(candidate.stated.tune, candidate.entrant.setting),
                ),
                scratch_mb=min(candidate.stated.asked.scratch_mb or 0, scratch_mb),
                source=candidate.source,
            )
            built.bots += (bot,)
    return built


@dataclass
class _Build:
    candidate: Candidate
    packages: Packages | None
    cache: Path
    backend: Backend
    spawners: Callable[[], Spawner]
    limits: BuildLimits
    toolbox: Toolbox
    made: Path = Path()
    deadline: float = 0.0
    input: tuple[int, int] = (0, 0)  # files and bytes before the first command

    def result(self, report: Callable[[str], None]) -> Path:
        final = self.cache / BUILDS / self._key()
        if not in_cache(final):
            doing = "building" if self.candidate.stated.build else "preparing the packages of"
            report(f"{doing} {self.candidate.entrant.id}")
            self._make(final)
        freeze_times(final)
        return final

    def _key(self) -> str:
        """Hash of the named inputs of the result; programs that `make` calls aren't among them."""
        tools = []
        for argv in self.candidate.stated.build:
            # A later command may be a program that an earlier one makes.
            with contextlib.suppress(CommandError):
                tools.append(resolve(argv, Path(self.candidate.snapshot), self.toolbox).identity)
        packages = self.packages.key if self.packages else ""
        content, commands = self.candidate.entrant.snapshot, self.candidate.stated.build
        given = [_FORMAT, content, commands, packages, tools]
        # Unconfined, a build may have fetched what another one can't.
        where = [self.backend.name, platform.system(), platform.machine()]
        return sha256_hex(canonical([*given, *where]))

    def _make(self, final: Path) -> None:
        self.deadline = clock.monotonic() + self.limits.seconds
        with scratch(self.cache, BUILDS) as folder:
            made = self.made = folder / "bot"
            with cache_errors(self.cache):
                made.mkdir()
            try:
                with open_folder(Path(self.candidate.snapshot)) as snapshot:
                    copy(listing(snapshot), made, self.cache)
            except SnapshotError as e:  # the cache has just been cleaned
                raise UserError(f"{printable(self.cache)}: a bot's snapshot: {e}; try again") from e
            for name in RESERVED:
                if os.path.lexists(made / name):
                    raise FailedError(f"build: the name {name} is reserved; rename that file")
            with cache_errors(self.cache):
                if self.packages:
                    copy_into(self.packages.folder, made)
                (made / HOME).mkdir(exist_ok=True)
            self.input = measure(made)
            if self.packages and self.packages.compile:
                # It may fail: some sources (templates, other versions') can't be compiled.
                self._run_command(self.packages.compile)
                self._check_tree()
            for argv in self.candidate.stated.build:
                self._build_step(argv)
            # Also after exit 0: a result that a full disk has cut off must not be kept.
            self._check_room()
            with cache_errors(self.cache):
                self._finish()
                publish(made, final)

    def _build_step(self, argv: tuple[str, ...]) -> None:
        ended, output = self._run_command(argv)
        if ended.code != 0:
            if not ended.overstepped:
                self._check_room(output)
            how = f"ended with {ended.status}"
            if ended.overstepped:
                how = f"was killed: more {ended.overstepped} than a build may use"
            # Most builds need far less than they may use, and the output is the author's.
            limits = inherited_limits.read_limits()
            complains = ran_out_in(output.decode(errors="replace"))
            if complains and (short := inherited_limits.lack(limits, self._launch())):
                raise HostError(
                    f"the build of {self.candidate.entrant.id} has failed because of a limit of "
                    f"this machine: {short}"
                )
            raise FailedError(f"build: {_shown(argv)} {how}", output)
        self._check_tree()
        with cache_errors(self.cache):
            mark_programs(self.made)

    def _check_room(self, output: bytes = b"") -> None:
        """HostError if the cache's disk could not give what a build is promised."""
        if what := missing_room(self.made, self._disk_mb() << 20, output):
            raise HostError(
                f"the build of {self.candidate.entrant.id} could not write to the cache "
                f"{printable(self.cache)}: {what}; make room there, or set XDG_CACHE_HOME to "
                "another folder"
            )

    def _disk_mb(self) -> int:
        return self.limits.disk_mb + (self.input[1] >> 20) + 1

    def _check_tree(self) -> None:
        """FailedError if what a command left can't be walked through."""
        try:
            with os_errors("build: can't read what it made", FailedError):
                # As many folders as files; the home counts, too.
                measure(self.made, most=2 * (self.input[0] + RESULT_FILES))
        except ShapeError as e:
            raise FailedError(f"build: made {e}") from e

    def _run_command(self, argv: tuple[str, ...]) -> tuple[Exited, bytes]:
        try:
            command = resolve(argv, self.made, self.toolbox)
        except CommandError as e:
            raise FailedError(f"build: {e}") from e
        plan = self.backend.plan(self._launch(command))
        with self.spawners() as spawner:
            ended, output = run_plan(plan, spawner, self.deadline)
        if ended is None:
            self._check_room()
            raise FailedError(
                f"build: {_shown(argv)} took longer than {self.limits.seconds:g} s", output
            )
        if ended.host_error:
            raise HostError(f"the sandbox could not run a build: {printable(ended.host_error)}")
        return ended, output

    def _launch(self, command: Command = _NOTHING) -> Launch:
        return Launch(
            run=command.argv,
            root=str(self.made),
            writable=True,
            expose=command.expose,
            env={**_ENVIRONMENT, **dict(self.packages.fetcher.env if self.packages else ())},
            memory_mb=self.limits.memory_mb,
            tasks=self.limits.tasks,
            file_mb=self.limits.file_mb,
            scratch_mb=self.limits.scratch_mb,
            disk_mb=self._disk_mb(),
            disk_files=self.input[0] + RESULT_FILES,
        )

    def _finish(self) -> None:
        remove(self.made / HOME)
        files, size = make_plain(self.made)
        given_files, given = self.input
        if files > given_files + RESULT_FILES or size > given + (self.limits.disk_mb << 20):
            raise FailedError(
                f"build: made {size / (1 << 20):.1f} MB in {files} files; "
                f"{self.limits.disk_mb} MB in {RESULT_FILES} files are allowed besides what it "
                "was given"
            )


def _shown(argv: tuple[str, ...]) -> str:
    return f"`{printable(shlex.join(argv), 100)}`"


def run_plan(plan: SpawnPlan, spawner: Spawner, deadline: float) -> tuple[Exited | None, bytes]:
    """Run one command; None: killed at the deadline (monotonic). With the end of all its output."""
    process = spawner.spawn(plan)
    pipes = (process.stdout, process.stderr)
    output = bytearray()
    ended: Exited | None = None
    try:
        os.close(process.stdin)
        for pipe in pipes:
            os.set_blocking(pipe, False)
        ended = _wait(process, spawner, deadline, output)
    finally:
        try:
            if ended is None:
                spawner.kill(process.id)
                # Its folder is removed next.
                if not _wait(process, spawner, clock.monotonic() + END_SECONDS, output):
                    raise HostError("the sandbox did not end a program that was killed")
            # Its tree has ended: all its output is in the pipes.
            for pipe in pipes:
                while _read(pipe, output):
                    pass
        finally:
            for pipe in pipes:
                os.close(pipe)
    return ended, bytes(output)


def _wait(
    process: BotProcess, spawner: Spawner, deadline: float, output: bytearray
) -> Exited | None:
    with selectors.DefaultSelector() as waiting:
        for descriptor in (process.stdout, process.stderr, spawner.fileno()):
            waiting.register(descriptor, selectors.EVENT_READ)
        while (left := deadline - clock.monotonic()) > 0:
            for key, _ in waiting.select(left):
                if key.fd == spawner.fileno():
                    for each in spawner.receive():
                        if isinstance(each, Exited) and each.id == process.id:
                            return each
                elif not _read(key.fd, output):
                    waiting.unregister(key.fd)
    return None


def _read(pipe: int, output: bytearray) -> bool:
    """Read what is there; False at the end, or if there is nothing now."""
    try:
        data = os.read(pipe, 65_536)
    except BlockingIOError:
        return False
    output += data
    del output[:-OUTPUT_BYTES]
    return bool(data)
