"""Examine this machine (`arena doctor`): every sandbox is tried, nothing is guessed.

Each candidate of each sandbox gets its live canary; then a bot is started in the one that
`arena run` would take, as a match starts it, and has to end. `Checkup` is what --json prints:
fields are added to it, never renamed.
"""

import os
import re
import select
import sys
import time
from collections.abc import Iterator

import trio

from arena import registry
from arena.bots.interpreters import HiddenToolError, MissingToolError, Toolbox
from arena.bots.roster import FailedError
from arena.bots.tools import ask
from arena.deals import Deals
from arena.engine.match import MatchContext, start_bot
from arena.engine.pipes import Pipes
from arena.machine.facts import this_machine
from arena.machine.preflight import judged
from arena.model import Bot, Entrant, Frozen, HostError, Machine, Settings
from arena.sandbox import Backend, bwrap
from arena.sandbox.client import Spawner
from arena.sandbox.delays import counts_waits
from arena.sandbox.guarantees import GAPS, GUARANTEES
from arena.sandbox.host import Host
from arena.sandbox.host_problems import HostProblem, in_workflow, of_backend, of_bwrap, of_memory
from arena.sandbox.installations import own_python
from arena.sandbox.temporary import temporary_folder
from arena.sandbox.wheel import is_from_wheel
from arena.tables import table

PROGRAM: str = table("machine/doctor")["program"]
SAYS_S = 10.0  # a spawner says at once how it holds memory


class Tried(Frozen, frozen=True, kw_only=True):
    name: str  # as in --sandbox
    label: str  # tells the system's bwrap from the wheel's
    tool: str = ""
    identity: str = ""  # which file confines bots, and its SHA-256, if not the system's own
    works: bool
    detail: str
    memory: str = ""
    kept: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    finding: HostProblem | None = None  # why it doesn't work and what to do about it


class Memory(Frozen, frozen=True, kw_only=True):
    """How the memory of a bot's whole process tree is limited."""

    by: str = ""  # "cgroup v2", "cgroup v1" or "watchdog"
    finding: HostProblem | None = None  # why by no control group


class Trial(Frozen, frozen=True, kw_only=True):
    """A bot in the chosen sandbox, from its start to its end."""

    plays: bool = False
    start_ms: float = 0.0  # until it had answered `hello`
    gone_ms: float = 0.0  # from `bye` until nothing of it was left
    problem: str = "no sandbox to start it in"
    finding: HostProblem | None = None  # what a bot with scratch space needs and the canary didn't


class Checkup(Frozen, frozen=True, kw_only=True):
    v: int = 1
    works: bool
    """Whether `arena run` would find a sandbox, and a bot plays in it with all it is promised."""
    sandbox: str  # which `arena run` would take; empty: none
    backends: tuple[Tried, ...]
    memory: Memory
    waits_counted: bool = True  # whether the kernel counts waits for a core: else bots pay for them
    lack: str = ""  # promises that our own limits break: `arena run` stops
    notes: tuple[str, ...] = ()  # warnings about limits that are scarce
    bot: Trial
    guarantees: dict[str, str]  # what the names in `kept` mean
    gaps: dict[str, str]
    machine: Machine
    user: int  # its uid; 0 is root
    languages: dict[str, str]  # version by name; empty: it isn't there


def examine() -> Checkup:
    """Try everything. Takes a second or two."""
    host = Host()
    settings = Settings(game=next(iter(registry.GAMES)))
    given = judged(settings.limits, seats=settings.seats, series=settings.series)
    tries: list[Tried] = []
    chosen: tuple[str, Backend] | None = None  # its tool and itself
    for label, tool, backend in _candidates():
        probe = backend.probe()
        finding = None
        if probe.works:
            chosen = chosen or (tool, backend)
        else:
            finding = _finding(backend, tool, probe.detail, host)
        tries.append(
            Tried(
                name=backend.name,
                label=label,
                tool=tool,
                identity=probe.tool,
                works=probe.works,
                detail=probe.detail,
                memory=probe.memory,
                kept=probe.kept,
                gaps=probe.gaps,
                finding=finding,
            )
        )
    memory, bot = Memory(), Trial()
    try:
        with Spawner() as spawner:
            if select.select([spawner.fileno()], [], [], SAYS_S)[0]:
                spawner.receive()
            finding = of_memory(spawner.groupless, host) if spawner.groupless else None
            memory = Memory(by=spawner.memory, finding=finding)
            if chosen:
                bot = _play(spawner, chosen[1])
    except HostError as error:
        found = _finding(chosen[1], chosen[0], str(error), host) if chosen else None
        bot = Trial(problem=str(error), finding=found)
    return Checkup(
        works=bot.plays and not given.lack,
        sandbox=chosen[1].name if chosen else "",
        backends=tuple(tries),
        memory=memory,
        waits_counted=counts_waits(),
        lack=given.lack,
        notes=given.notes,
        bot=bot,
        guarantees=dict(GUARANTEES),
        gaps=dict(GAPS),
        machine=this_machine(),
        user=host.uid,
        languages=_languages(),
    )


def _finding(backend: Backend, tool: str, detail: str, host: Host) -> HostProblem:
    if backend.name == "bwrap":
        # Of this one, while of_backend looks at all.
        return in_workflow(of_bwrap(host, tool, detail))
    return of_backend(backend.name, detail, host)


def _candidates() -> Iterator[tuple[str, str, Backend]]:
    """(label, tool, backend), in the order in which `arena run` tries them."""
    for name in registry.SANDBOXES:
        if name == "none":
            continue
        tools = tuple(bwrap.candidates()) if name == "bwrap" else ()
        for tool in tools:
            yield "bwrap-wheel" if is_from_wheel(tool) else "bwrap", tool, bwrap.Bubblewrap(tool)
        if not tools:
            yield name, "", registry.backend(name)


def _play(spawner: Spawner, backend: Backend) -> Trial:
    """Start a bot with scratch space, as a match does, and measure until it is gone."""
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    with temporary_folder("arena-doctor-") as folder:
        folder.chmod(0o711)  # where root can't bind folders, spare users have to enter
        root = folder / "bot"
        root.mkdir()
        bot = Bot(
            entrant=Entrant(id="doctor@1", name="doctor", version="1", hash=""),
            root=str(root),
            run=(python, "-I", "-S", "-c", PROGRAM),
            expose=own_python(),
            scratch_mb=1,
        )
        game = next(iter(registry.GAMES))
        context = MatchContext(
            settings=Settings(game=game),
            game=registry.game(game),
            deals=Deals(bytes(32)),
            bots={bot.entrant.id: bot},
            backend=backend,
        )
        table = Pipes(spawner)
        try:
            return trio.run(_start_and_end, table, context, bot.entrant.id)
        finally:
            table.close()


async def _start_and_end(table: Pipes, context: MatchContext, entrant: str) -> Trial:
    began = time.monotonic()
    contestant, failure = await start_bot(table, context, entrant)
    ready = time.monotonic()
    await table.dismiss([contestant])
    gone = time.monotonic()
    if failure is not None:
        last = contestant.last_words().strip().rpartition("\n")[2]
        return Trial(problem=": ".join(filter(None, (failure.message, failure.status, last))))
    start_ms, gone_ms = round((ready - began) * 1000, 1), round((gone - ready) * 1000, 1)
    return Trial(plays=True, start_ms=start_ms, gone_ms=gone_ms, problem="")


def _languages() -> dict[str, str]:
    toolbox, flags = Toolbox(), table("machine/doctor")["languages"]
    return {name: _version(toolbox, name, flag) for name, flag in flags.items()}


def _version(toolbox: Toolbox, name: str, flag: str) -> str:
    try:
        answer = ask([toolbox.find(name).path, flag])
    except MissingToolError:
        return ""
    except (HiddenToolError, FailedError) as error:
        return f"unusable: {error}"
    found = re.search(r"\d+(?:\.\d+)+", answer)
    return found[0] if found else answer
