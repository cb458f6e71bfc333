"""Simulated bots and sandboxes, beneath the product's workshop.

Theory of operation. Of a bot there is only its name, which says what is the matter with it
(`TROUBLED`). All other names are bots that build, start and play. A sandbox works unless a fault
says otherwise, for the command that runs.
"""

from contextlib import asynccontextmanager, nullcontext
from hashlib import sha256
from pathlib import Path

import trio
from msgspec.structs import replace

from arena import bots, registry
from arena.bots import Asked, Built, Bundle, Candidate, Roster
from arena.bots.manifest import Manifest
from arena.engine.match import FailedStart
from arena.event import admission, workshop
from arena.machine.facts import with_host
from arena.model import (
    Bot,
    Confinement,
    Entrant,
    FaultKind,
    HostError,
    Machine,
    NotRun,
    Parameter,
    UserError,
)
from arena.model.parameters import settled
from arena.referee import Failure
from arena.sandbox import Probe, wheel
from arena.sandbox.host_problems import OTHER, HostProblem
from tests.simulator.loop import here
from tests.simulator.programs import Overlay

MACHINE = Machine(system="simulated", cpu="none", cores=4, speed=20)
CACHE = Path("/cache")
PARAMETERS = {
    "knob": (
        Parameter(name="risk", low=0, high=9, default=5, whole=True),
        Parameter(name="edge", low=0.1, high=10.0, default=1.0, log=True),
    ),
    "switch": (Parameter(name="on", low=0, high=3, default=1, whole=True),),
}
"""Of bots that can be tuned. A setting stands behind a bot's name, as users write it."""
SAME = {"ann-again": "ann", "bad-again": "bad"}
"""Bots with the content of others."""
TROUBLED = {
    "gone": "no such path",
    "crowd": "a folder of two bots",
    "unbuilt": "can't be built",
    "unstarted": "can't be started",
    "optional": "left out where it can't be built",
    "hungry": "asks for more than it gets",
    "shown": "lies where bots see it",
}


def _hash(name: str) -> str:
    return sha256(name.encode()).hexdigest()


def entrant(source: str, content: str = "") -> Entrant:
    name = f"{source}@1"
    return Entrant(id=name, name=source, version="1", hash=_hash(content or name))


def candidate(path: Path) -> Candidate:
    """Bots in a folder called `other` have other content."""
    name, _, given = path.name.partition(":")
    content = f"{SAME[name]}@1" if name in SAME else ""
    if path.parent.name == "other":
        content = str(path)
    asked = Asked(memory_mb=1 << 20) if name == "hungry" else Asked()
    tune = PARAMETERS.get(name, ())
    setting = settled(tune, dict(each.split("=") for each in given.split(",") if each))
    return Candidate(
        entrant=entrant(name, content).with_setting(setting),
        stated=Manifest(name=name, asked=asked, tune=tune),
        snapshot=f"/cache/{name}",
        source=f"/public/{name}" if name == "shown" else f"/{name}",
        path=str(path),
    )


def load(paths, **_) -> Roster:
    """The bots that these paths name."""
    roster = Roster()
    for path in paths:
        if path.name == "gone":
            roster.add("gone", str(path), "there is no such path")
        elif path.name == "crowd":
            roster.candidates += tuple(candidate(path / name) for name in ("gus", "hob"))
        else:
            roster.candidates += (candidate(path),)
    roster.notes = ("these are simulated",)
    return roster


def restore(lost, entrants, **_) -> Roster:
    """The bots of an event. `lost`: names of those that are in no cache."""
    roster = Roster()
    for each, source in entrants:
        if each.name in lost and not source:
            roster.add(each.id, each.id, "it is no longer in the cache")
        else:
            found = candidate(Path(each.name))
            roster.candidates += (replace(found, entrant=each),)
    return roster


def build(candidates, *, report, **_) -> Built:
    built = Built()
    report("building")
    for each in candidates:
        name = each.entrant.name
        if name == "unbuilt":
            built.add(each.entrant.id, each.path, "the build has failed", "line 1: no")
        elif name == "optional":
            built.skipped += (NotRun(name=each.entrant.id, reason="its language is not here"),)
        else:
            built.bots += (bot(each.entrant),)
    return built


def bot(entrant_: Entrant) -> Bot:
    return Bot(entrant=entrant_, root="/", run=("true",), source=f"/{entrant_.name}")


class Sandbox:
    """A backend. `trouble`: why it doesn't work."""

    def __init__(self, name: str, trouble: str = "") -> None:
        self.name, self._trouble = name, trouble

    def probe(self) -> Probe:
        return Probe(name=self.name, works=not self._trouble, detail=self._trouble or "simulated")

    def take_over(self, _: Probe) -> None:
        pass


BROKEN = {
    "unknown wheel": {"bwrap": f"bwrap: {wheel.UNKNOWN} program"},
    "no sandbox": {"bwrap": "too old", "landlock": "not in this kernel"},
    "no processes": {"bwrap": "fork: Resource temporarily unavailable"},
}
"""Why which sandbox doesn't work, by the name of the fault."""


def played_here(event, backend):
    return with_host(event, backend.name, Confinement(detail="simulated"), (MACHINE,))


class _OnNode(workshop.Workshop):
    """On a node it is a process of its own that starts the bots."""

    def start(self, _):
        return ()


class Beneath:
    """What the workshops of a world stand on. Faults are for commands of the event alone."""

    def __init__(self, world) -> None:
        self._world = world

    @property
    def _trouble(self) -> str:
        return "" if here().bystander else self._world.sandbox

    def backend(self, name: str):
        if name not in registry.SANDBOXES:
            return registry.backend(name)
        return Sandbox(name, BROKEN.get(self._trouble, {}).get(name, ""))

    def promised(self, *_) -> int:
        if self._trouble == "no room":
            raise HostError("the control group leaves no memory for one match")
        return 2

    async def try_start(self, _, context, name: str):
        del context
        world = self._world
        await trio.sleep(2.5 if world.slow_start else 0.01)
        world.count("bot start")
        failed = world.start_fails and not here().bystander
        world.start_fails = world.start_fails and not failed
        if not name.startswith("unstarted") and not (failed and not world.skips_broken):
            return None
        failure = Failure(kind=FaultKind.CRASH, message="it ended", line="what?", status="exit 3")
        return FailedStart(failure=failure, stderr="Traceback\n\nno\n", ended=True, unheard=b"")

    def pack(self, name: str, **_):
        if self._world.bundles == "lost":
            return None
        if self._world.bundles == "damaged":
            raise UserError(f"{name}: damaged in the cache")
        return Bundle(sum=_hash(name), content=name.encode())

    def names(self) -> list:
        """What takes the place of what: (module, name, value)."""
        on_node = Overlay(
            admission.bots,
            default_cache=lambda: CACHE,
            in_use=lambda _: nullcontext(),
            restore=lambda entrants, **_: restore((), entrants),
            missing_snapshots=_missing,
            missing_packages=lambda *_, **__: (),
        )
        return [
            (workshop, "registry", Overlay(registry, backend=self.backend)),
            (workshop, "of_backend", _problem),
            (workshop, "judged", lambda *_, **__: None),
            (workshop, "keep_promises", self.promised),
            (workshop, "default_cache", lambda: CACHE),
            (workshop, "public_folder_of", _public),
            (workshop, "Spawner", nullcontext),
            (workshop, "load", load),
            (workshop, "build", build),
            (workshop, "open_pipes", _open_pipes),
            (workshop, "try_start", self.try_start),
            (workshop, "has_started", lambda *_: False),
            (workshop, "note_start", lambda *_: None),
            (workshop, "fair_jobs", lambda: 4),
            (admission, "bots", on_node),
            (admission, "Workshop", _OnNode),
            (admission, "this_machine", lambda: MACHINE),
            (admission, "confinement", lambda _: Confinement(detail="simulated")),
            (admission, "cores", lambda: list(range(4))),
            (admission, "_identity", lambda _: here().address),
            (admission, "_host", lambda: here().address),
            (bots, "pack", self.pack),
        ]


@asynccontextmanager
async def _open_pipes():
    yield None


def _problem(_, detail: str) -> HostProblem:
    return HostProblem(cause=OTHER, text=detail, advice="mend it")


def _public(place: Path) -> str:
    return "/public" if "public" in Path(place).parts else ""


def _missing(entrants, **_):
    """Two of an event's bots are on no node at first."""
    there = here().cache
    return tuple(each.id for each in entrants[:2] if each.id not in there)
