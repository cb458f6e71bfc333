"""Trace a small `arena run`: the stops of a match on its way from the command to the table.

python bench/walk.py [CHECKOUT]     a checkout; this one by default

The *way* of a match is every call of a function of `arena` that takes or gives the match, and every
call that this one is nested in: as its caller, or as the task that opened its nursery. A call takes
or gives the match if an argument (`self` apart), its result, or what it yields is one of CARRIERS
or a line of JSON with a record, and at the end if it is the event's table. The way begins with the
command's function, and ends where the table is made. The event is one pairing of two bots, so all
its matches go the same way. Parent and worker are traced, and put together by the clock.

A *stop* is a function on the way whose caller on the way is of another module; it counts once,
where it is entered first. A *turn-back* is a return to a layer that the way had left by a call up:
a stop whose layer (of the contract in pyproject.toml) lies above that of its caller.
"""

import atexit
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
CARRIERS = {
    "Block", "Finished", "FinishedMatch", "Job", "MatchRecord", "MatchSpec", "Played", "Series",
    "SeriesEnd", "Table",
}  # fmt: skip
RECORD = b'"rotation":'  # a line of a series or a record has it, and nothing else that is sent
WITHIN = {"<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>", "<lambda>", "<module>"}


# ------------------------------------------------------------------- within the traced processes


class Tracer:
    """Notes the calls on the way in one process; `sitecustomize` installs it."""

    def __init__(self, package: str) -> None:
        self._package = package
        self.seen = {}
        """Time, and caller, of the first call of each function on the way."""

    def __call__(self, frame, event, value) -> None:
        """A profile function."""
        if event not in {"call", "return"} or self._place(frame.f_code) is None:
            return
        if event == "return":
            if carries(value):
                self._note(frame)
        else:
            code = frame.f_code
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if any(carries(frame.f_locals.get(name)) for name in names if name != "self"):
                self._note(frame)

    def _place(self, code) -> tuple[str, str] | None:
        """Module and function, if it is one of the package's."""
        file = code.co_filename
        inner = code.co_name in WITHIN or not code.co_flags & inspect.CO_OPTIMIZED  # a class's body
        if inner or not file.startswith(self._package):
            return None
        return file[len(self._package) + 1 : -3].replace("/", "."), code.co_qualname

    def _note(self, frame) -> None:
        before = ("", "")
        for place in self._chain(frame):
            if place[0] != "cli.__init__":  # which finds the command
                self.seen.setdefault(place, (time.monotonic_ns(), *before))
                before = place

    def _chain(self, frame) -> list[tuple[str, str]]:
        """The calls that a frame is nested in, outermost first."""
        inner, outer, tasks = [], [], []
        found = inner
        while frame is not None:
            if frame.f_code.co_name == "unrolled_run":  # trio's; from here on it is the main stack
                found = outer
            found.append(self._place(frame.f_code))
            frame = frame.f_back
        task = None
        if found is outer:
            task = sys.modules["trio"].lowlevel.current_task()
        while task is not None and task.parent_nursery is not None:
            task = task.parent_nursery.parent_task
            awaited, stack = task.coro, []
            while getattr(awaited, "cr_frame", None) is not None:
                stack.append(self._place(awaited.cr_frame.f_code))
                awaited = awaited.cr_await
            tasks = stack + tasks
        return [place for place in (*outer[::-1], *tasks, *inner[::-1]) if place]


def carries(value, depth=2) -> bool:
    """Whether a value is a match, or holds one."""
    kind = type(value)
    if kind.__name__ in CARRIERS:
        return kind.__module__.startswith("arena.") and kind.__module__ != "arena.engine.pipes"
    if kind in {bytes, bytearray}:
        return RECORD in value[:2000]
    return depth > 0 and kind in {tuple, list} and any(carries(e, depth - 1) for e in value[:4])


def start() -> None:
    """Trace this process until it ends."""
    tracer = Tracer(os.environ["WALK_PACKAGE"])

    def write() -> None:
        sys.setprofile(None)
        rows = [[at, *place, *caller] for place, (at, *caller) in tracer.seen.items()]
        Path(os.environ["WALK_TRACE"], f"{os.getpid()}.json").write_text(json.dumps(rows))

    atexit.register(write)
    sys.setprofile(tracer)


# ------------------------------------------------------------------------------- the measurement


def traced(root: Path) -> list[list]:
    """(time, module, function, caller's module, caller) of a small event, in order."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "hook").mkdir()
        (here / "trace").mkdir()
        (here / "hook" / "sitecustomize.py").write_text(
            "import importlib.util, sys\n"
            f"spec = importlib.util.spec_from_file_location('arena_walk', {__file__!r})\n"
            "walk = importlib.util.module_from_spec(spec)\n"
            "spec.loader.exec_module(walk)\n"
            "walk.start()\n"
        )
        bots = [str(root / "example_bots" / name) for name in ("greedy", "random")]
        subprocess.run(
            [sys.executable, "-m", "arena", "run", *bots, "--deals", "1", "--jobs", "1",
             "--sandbox", "none", "--out", str(here / "event")],
            cwd=root,
            capture_output=True,
            env={
                **os.environ,
                "PYTHONPATH": f"{here / 'hook'}:{root}",
                "WALK_TRACE": str(here / "trace"),
                "WALK_PACKAGE": str(root / "arena"),
            },
            check=True,
        )  # fmt: skip
        rows = [row for path in (here / "trace").iterdir() for row in json.loads(path.read_text())]
    return sorted(rows)


def layers(root: Path) -> dict[str, int]:
    """Each module of the contract, and how far from the top it is."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]
    (lines,) = (c["layers"] for c in contracts["contracts"] if c["type"] == "layers")
    return {
        name.strip().removeprefix("arena."): depth
        for depth, line in enumerate(lines)
        for name in line.split("|")
    }


def parents(module: str) -> list[str]:
    """The module, and the packages that it is in, from the inside."""
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(len(parts), 0, -1)]


def count(root: Path) -> tuple[list[str], int, int]:
    """A line for each stop, how many they are, and how many turn-backs."""
    depths = layers(root)

    def depth(module: str) -> int:
        return next(depths[name] for name in parents(module) if name in depths)

    lines, back = [], 0
    for _, module, function, caller, _ in traced(root):
        if module == caller:
            continue
        turns = bool(caller) and depth(module) < depth(caller)
        back += turns
        lines.append(f"{len(lines) + 1:3} {'^' if turns else ' '} {module}.{function}  ({caller})")
        if function == "table":
            break
    return lines, len(lines), back


def main() -> None:
    """Print the stops in their order, then how many, and how many turn-backs."""
    lines, stops, back = count(Path(sys.argv[1] if sys.argv[1:] else ROOT).resolve())
    print("\n".join(lines))
    print(f"{stops} stops, {back} turn-backs")


if __name__ == "__main__":
    main()
