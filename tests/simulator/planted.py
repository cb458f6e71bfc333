"""Defects that the simulator has to find: planted into a copy of the package, a text for a text.

    python -m tests.simulator.planted            # finds each; prints the first seed that does
    python -m tests.simulator.planted NAME ...   # these

The first ten are defects that the project once had. The others were written by an engineer who
had not seen the simulator.
"""

import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_SEEDS = 10_000


@dataclass(frozen=True)
class Defect:
    name: str
    story: str
    file: str
    old: str
    new: str
    seed: int
    """The first that finds it."""


HISTORY = (
    Defect(
        "released-early",
        "A cluster's results are released when they are written, not when they are durable.",
        "arena/executors/dask.py",
        "while self._arrived and self._arrived[0][0] <= durable:",
        "while self._arrived and durable >= 0:",
        -1,
    ),
    Defect(
        "forgotten-event",
        "What a worker should have played that has forgotten the event isn't played elsewhere.",
        "arena/executors/dask.py",
        "                for block, _ in jobs.values():\n                    self._queue.put_back(block)\n                return 0\n",
        "                return 0\n",
        -1,
    ),
    Defect(
        "closed-number",
        "A number of a descriptor is closed twice, when it may be another worker's already.",
        "arena/executors/local.py",
        "        self._output.close()\n        process.kill()\n",
        "        number = self._output.fileno()\n"
        "        self._output.close()\n"
        "        await trio.sleep(0.05)\n"
        "        try:\n"
        "            os.close(number)\n"
        "        except OSError:\n"
        "            pass\n"
        "        process.kill()\n",
        -1,
    ),
    Defect(
        "worker-left",
        "A worker that is cancelled in its first series is not closed.",
        "arena/executors/local.py",
        "            finally:\n                with trio.CancelScope(shield=True):\n",
        "            finally:\n                with trio.CancelScope(shield=bool(voids)):\n",
        -1,
    ),
    Defect(
        "files-left",
        "A folder that can't be opened leaves its log open.",
        "arena/store/log_writer.py",
        "            opened.callback(self._log.close)\n",
        "",
        -1,
    ),
    Defect(
        "index-name",
        "The index's name isn't durable, so damage by a power cut is taken for that of durable lines.",
        "arena/store/index.py",
        "        files.sync_folder(self._folder)\n",
        "",
        -1,
    ),
    Defect(
        "failed-sync",
        "Lines whose sync has failed are taken for durable when the log is opened again.",
        "arena/store/recovery.py",
        "            _rewrite(path, file, mark, end)\n",
        "            pass\n",
        -1,
    ),
    Defect(
        "half-written",
        "A file takes its name before its content is durable.",
        "arena/store/folder.py",
        "            file.flush()\n            files.sync(file)\n",
        "            file.flush()\n",
        -1,
    ),
    Defect(
        "attempt-twice",
        "An attempt at a series that left no record leaves its number to the next one.",
        "arena/executors/attempts.py",
        "attempt = max(wanted, self._next.get(series.id, 0))",
        "attempt = wanted",
        -1,
    ),
    Defect(
        "concluded-early",
        "The secret file goes before the tables are written.",
        "arena/event/tournament.py",
        "        table = self.publish()\n        remove_from_event(event.entrants, store.folder)\n        store.forget()\n",
        "        store.forget()\n        table = self.publish()\n        remove_from_event(event.entrants, store.folder)\n",
        -1,
    ),
)
NEW: tuple[Defect, ...] = ()
DEFECTS = {defect.name: defect for defect in (*HISTORY, *NEW)}


def plant(defect: Defect, folder: Path) -> None:
    """Copy the package and this one into a folder, with the defect."""
    shutil.copytree(ROOT / "arena", folder / "arena")
    (folder / "tests").symlink_to(ROOT / "tests")
    path = folder / defect.file
    text = path.read_text()
    assert text.count(defect.old) == 1, f"{defect.name}: {defect.file} has changed"
    path.write_text(text.replace(defect.old, defect.new))


def run(folder: Path, *, first: int, seeds: int) -> tuple[int | None, str]:
    """The first seed that breaks a promise in a copy, and what it says."""
    program = (
        "import sys\n"
        "from tests.simulator.simulate import simulate\n"
        f"for seed in range({first}, {first + seeds}):\n"
        "    try:\n"
        "        found = simulate(seed)\n"
        "    except AssertionError as error:\n"
        "        print(seed, error); break\n"
        "    if found.violations:\n"
        "        print(found.seed, found); break\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    seed, _, text = done.stdout.partition(" ")
    return (int(seed), text) if seed else (None, "")


def find(defect: Defect) -> tuple[int | None, str]:
    with tempfile.TemporaryDirectory() as name:
        plant(defect, Path(name))
        return run(Path(name), first=0, seeds=MOST_SEEDS)


def main() -> None:
    names = sys.argv[1:] or list(DEFECTS)
    with ThreadPoolExecutor(2) as pool:
        for name, (seed, text) in zip(
            names, pool.map(lambda name: find(DEFECTS[name]), names), strict=True
        ):
            print(name, seed)
            print("   ", "\n    ".join(text.splitlines()), flush=True)


if __name__ == "__main__":
    main()
