"""Loads the attacks, runs them, judges.

An attack is run guarded and, for its control, with its guards removed; `judged` compares the two.
Whatever a program claims, BROKE counts only with the proof that its row asks for: a secret in its
last line, or harm that the stage finds on its victims. And harm that was done counts even if the
program claims to have been held.
"""

import enum
import functools
import os
import secrets
import shutil
import signal
import time
import tomllib

import guards
import msgspec
from bots import GRACE_S, Bot, Runner
from needs import lacks
from stage import BITS, HERE

from arena.sandbox.bwrap import Bubblewrap, candidates
from arena.sandbox.landlock import Landlock
from arena.sandbox.none import Unconfined

__all__ = ["Attack", "Bot", "Cell", "Result", "Runner", "Scene", "State"]


class Attack(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of a table; README.md explains the keys."""

    name: str = ""
    program: str
    tries: str
    args: tuple[str, ...] = ()
    proof: str = ""
    harm: str = ""
    sibling: bool = False
    guards: dict[str, tuple[str, ...]] = {}
    gap: str | dict[str, str] = ""
    partner: tuple[str, ...] | None = None
    launch: dict[str, int | bool | dict[str, str]] = {}
    seconds: float = 10.0
    observe: str = ""
    needs: tuple[str, ...] = ()
    again: str = ""

    def gap_in(self, kind):
        """Why it is known to break through there; empty when it is not."""
        if isinstance(self.gap, str):
            return self.gap
        user = "ordinary" if os.geteuid() else "root"
        return self.gap.get(kind) or self.gap.get(f"{kind}-{user}", "")


class State(enum.Enum):
    """What is known of an attack on a backend after both runs."""

    HELD = "held"
    OPEN = "open"
    """Nothing is meant to stop it there, and nothing does."""
    GAP = "gap"
    BROKE = "BROKE"
    CLOSED = "closed"
    """Called a gap, but held: the row has to be brought up to date."""
    VOID = "void"
    SKIPPED = "skipped"

    @property
    def good(self):
        return self in {State.HELD, State.OPEN, State.GAP}


class Result(msgspec.Struct, kw_only=True):
    """Of one run."""

    broke: bool | None
    """None: no verdict."""
    text: str
    note: dict[str, float] = {}


class Cell(msgspec.Struct, kw_only=True):
    """An attack on a backend."""

    state: State
    text: str
    alone: tuple[str, ...] = ()
    """Guards that hold it even when all the others that it tests are removed."""
    note: dict[str, float] = {}


def attacks():
    """All rows of all tables, by name."""
    found = {}
    for path in sorted((HERE / "attacks").glob("*.toml")):
        for name, row in tomllib.loads(path.read_text()).items():
            assert name not in found, f"two attacks are called {name}"
            found[name] = msgspec.convert({"name": name, **row}, Attack)
    return found


def backends():
    """Every backend by name, strongest first, working here or not."""
    system = shutil.which("bwrap")
    found = {}
    for tool in candidates():
        is_system = system and os.path.realpath(system) == os.path.realpath(tool)
        found["bwrap-system" if is_system else "bwrap-wheel"] = Bubblewrap(tool)
    return {**found, "landlock": Landlock(), "none": Unconfined()}


def strongest():
    """The name of the best backend that works here, or "none"."""
    return next(name for name, backend in backends().items() if backend.probe().works)


def processes():
    """The ids of all there are."""
    return {int(entry.name) for entry in os.scandir("/proc") if entry.name.isdecimal()}


class Scene:
    """One run, as an observer sees it."""

    def __init__(self, runner, attack, backend, removed):
        self.runner = runner
        self.attack = attack
        self.backend = backend
        self.removed = removed
        self.facts = runner.stage.facts
        self.note = {}
        self.bots = []
        self.bot = None
        self.strangers = processes()
        """Processes that are none of any program of this scene."""

    def start(self, program, *args, confined=True, **launch):
        """Start another program in the same backend; it is ended with the scene."""
        removed = () if confined else self.removed
        bot = self.runner.start(self.backend, program, args, removed, **launch)
        self.bots.append(bot)
        return bot

    def start_row(self, args, facts):
        """Start the row's own program."""
        filled = [text.format_map(facts) for text in args]
        return self.start(self.attack.program, *filled, confined=False, **self.attack.launch)

    def kill(self, bot):
        """End a bot; milliseconds until nothing of it was left."""
        took = bot.kill()
        if took is not None:
            self.note["kill_ms"] = round(took, 1)
        return took

    def close(self):
        for bot in self.bots:
            if self.attack.partner is None:
                bot.kill()
            else:
                self.kill(bot)
            bot.close()


def perform(runner, attack, backend, removed=()):
    """Run an attack once and judge it."""
    runner.stage.build(attack.program)  # before its time runs
    scene = Scene(runner, attack, backend, removed)
    try:
        if attack.sibling:
            scene.bots.append(runner.sibling(backend))
        number = str(secrets.randbelow(150) + 50)
        facts = {**runner.stage.facts, "word": _word(), "number": number}
        verdict = _observed(scene) if attack.observe else _reported(scene, facts)
        # Some harm ends with whoever did it.
        harmed = bool(attack.harm) and runner.stage.harmed(attack.harm)
    finally:
        scene.close()
    claims = verdict.startswith("BROKE")
    proof = attack.proof.format_map(facts)
    broke = (claims and proof in verdict and (harmed or not attack.harm)) or harmed
    if not (broke or claims or verdict.startswith("HELD")):
        return Result(broke=None, text=verdict, note=scene.note)
    if claims and not broke:
        verdict = f"HELD (without proof) {verdict}"
    # Nothing that changes from run to run belongs into the matrix.
    for name, value in facts.items():
        if name.endswith("secret") or name in {"word", "number", "token"}:
            verdict = verdict.replace(value, f"<{name}>")
    return Result(broke=broke, text=verdict, note=scene.note)


def _word():
    """Bits that the receiver can't guess, of either sort."""
    while True:
        word = f"{secrets.randbits(BITS):0{BITS}b}"
        if 4 <= word.count("1") <= BITS - 4:
            return word


def _observed(scene):
    import observe

    scene.bot = scene.start_row(scene.attack.args, scene.facts)
    return getattr(observe, scene.attack.observe)(scene)


def _reported(scene, facts):
    """The last line of the row's program."""
    deadline = time.monotonic() + scene.attack.seconds
    if scene.attack.partner is not None:
        scene.runner.stage.refresh()
        partner = scene.start_row(scene.attack.partner, facts)
        first = partner.line(scene.attack.seconds)
        if first is None or first.startswith("HELD"):
            return first or f"the partner is silent: {_end_of(partner)}"
        facts["partner_pid"] = partner.wait_started(GRACE_S)
    known = {**facts, "word": "", "number": ""}  # these are the partner's to tell
    bot = scene.bot = scene.start_row(scene.attack.args, known)
    lines = bot.rest(deadline - time.monotonic()).split("\n")
    verdict = next((line for line in reversed(lines) if line.strip()), "")
    if bot.process.stdout not in bot.ended:
        bot.kill()
        return verdict if verdict.startswith(("HELD", "BROKE")) else "no verdict in time"
    exited = bot.wait(GRACE_S)
    assert exited, "it has closed its output and lives"
    scene.note["memory_mb"] = round(exited.memory_mb, 1)
    if exited.host_error:
        return f"host error: {exited.host_error}"
    if exited.signal == signal.SIGSYS:
        return "HELD killed by the filter of system calls"
    if not verdict.startswith(("HELD", "BROKE")):
        return f"no verdict: {_end_of(bot)}"
    return verdict


def _end_of(bot):
    exited = bot.wait(1)
    text = " ".join(bot.errors().split())[-300:]
    return f"{(exited.code, exited.signal, exited.host_error) if exited else 'lives'} {text}"


def judged(runner, attack, name, backend, *, thorough=False):
    """Run an attack guarded and unguarded. `thorough`: find out which of its guards hold alone."""
    kind = name.partition("-")[0]
    if reason := lacks(attack):
        return Cell(state=State.SKIPPED, text=reason)
    guarded = perform(runner, attack, backend)
    cell = functools.partial(Cell, text=guarded.text, note=guarded.note)
    tested = attack.guards.get(kind, ())
    nothing_meant = kind == "none" and guards.SPAWNER not in tested
    if guarded.broke is None:
        return cell(state=State.VOID)
    if attack.gap_in(kind):
        return cell(state=State.GAP if guarded.broke else State.CLOSED)
    if guarded.broke:
        return cell(state=State.OPEN if nothing_meant else State.BROKE)
    control = perform(runner, attack, backend, tested)
    if not control.broke:
        text = f"guarded: {guarded.text}; without {', '.join(tested) or 'any guard'}: "
        return cell(state=State.VOID, text=text + control.text)
    alone = tested if len(tested) == 1 else ()
    if thorough and len(tested) > 1:
        alone = tuple(each for each in tested if _holds(runner, attack, backend, each, tested))
    return cell(state=State.HELD, alone=alone)


def _holds(runner, attack, backend, guard, tested):
    others = tuple(each for each in tested if each != guard)
    return perform(runner, attack, backend, others).broke is False
