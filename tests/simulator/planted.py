"""Defects that the simulator has to find: planted into a copy of the package, a text for a text.

    python -m tests.simulator.planted            # finds each; prints the first seed that does
    python -m tests.simulator.planted NAME ...   # these

The first thirteen are defects that the project once had. An engineer who had not seen the simulator
wrote the next eight, one who had the last two.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_SEEDS = int(os.environ.get("MOST_SEEDS", "10000"))


@dataclass(frozen=True)
class Defect:
    name: str
    story: str
    file: str
    old: str
    new: str
    seed: int | None
    """One that finds it; None: none is known since the generators have changed."""


HISTORY = (
    Defect(
        "released-early",
        "A cluster's results are released when they are written, not when they are durable.",
        "arena/executors/dask.py",
        "while self._arrived and self._arrived[0][0] <= durable:",
        "while self._arrived and durable >= 0:",
        2,
    ),
    Defect(
        "forgotten-event",
        "What a worker should have played that has forgotten the event isn't played elsewhere.",
        "arena/executors/dask.py",
        "                for block, _ in jobs.values():\n                    self._queue.put_back(block)\n                return 0\n",
        "                return 0\n",
        14,
    ),
    Defect(
        "closed-number",
        "A number of a descriptor is closed twice, when it may be another worker's already.",
        "arena/executors/local.py",
        "        process, input_, self._output = start_worker(bufsize=0)\n",
        "        if hasattr(self, '_output'):\n"
        "            try:\n"
        "                os.close(self._number)\n"
        "            except OSError:\n"
        "                pass\n"
        "        process, input_, self._output = start_worker(bufsize=0)\n"
        "        self._number = self._output.fileno()\n",
        12,
    ),
    Defect(
        "worker-left",
        "A worker that is cancelled in its first series is not closed.",
        "arena/executors/local.py",
        "            finally:\n                with trio.CancelScope(shield=True):\n",
        "            finally:\n                with trio.CancelScope(shield=bool(voids)):\n",
        4,
    ),
    Defect(
        "files-left",
        "A folder that can't be opened leaves its log open.",
        "arena/store/recovery.py",
        "    except BaseException:\n        file.close()\n        raise\n    return file, note\n",
        "    except KeyboardInterrupt:\n        file.close()\n        raise\n    return file, note\n",
        44,
    ),
    Defect(
        "index-name",
        "The index's name isn't durable, so damage by a power cut is taken for that of durable lines.",
        "arena/store/index.py",
        "        files.sync_folder(self._folder)\n",
        "",
        96,
    ),
    Defect(
        "failed-sync",
        "Lines whose sync has failed are taken for durable when the log is opened again.",
        "arena/store/recovery.py",
        "            _rewrite(path, file, mark or 0, end)  # all of it, if nobody knows what is durable\n",
        "            pass\n",
        1666,
    ),
    Defect(
        "half-written",
        "A file takes its name before its content is durable.",
        "arena/store/folder.py",
        "            file.flush()\n            files.sync(file)\n",
        "            file.flush()\n",
        8,
    ),
    Defect(
        "stop-unheard",
        "A stop doesn't wake workers that wait for a series: the event hangs.",
        "arena/executors/series_queue.py",
        "        self.over.set()\n        self._waiting.unpark_all()\n",
        "        self.over.set()\n",
        0,
    ),
    Defect(
        "concluded-early",
        "The secret file goes before the tables are written.",
        "arena/event/tournament.py",
        "        table = self.publish()\n        store.forget()\n",
        "        store.forget()\n        table = self.publish()\n",
        4,
    ),
    Defect(
        "stage-unconcluded",
        "A stage of a tuning whose command was killed before it wrote the tables is taken for over.",
        "arena/event/tune.py",
        "            if event.finished and not self._repair and read_private(place) is None:\n",
        "            if event.finished and not self._repair:\n",
        134,
    ),
    Defect(
        "tuning-name",
        "The name of a tuning's folder isn't durable, so a power cut loses stages that were played.",
        "arena/store/folder.py",
        "    created.append(folder)\n    files.sync_folder(folder.parent)\n",
        "    created.append(folder)\n",
        114,
    ),
    Defect(
        "prepared-name",
        "A prepared event is played on although the sync of its folder's name has failed.",
        "arena/store/recovery.py",
        "            files.sync_folder(folder.parent)  # whatever made the folder may have failed to do so\n",
        "",
        8103,
    ),
)
NEW = (
    Defect(
        "failed-sync-told-once",
        "A failed fsync of the log is reported once and then forgotten, so the sync that closing the store makes succeeds over pages the kernel has dropped and moves the synced mark past them: the next writer does not rewrite those records, and a later power cut loses matches that were finished and counted.",
        "arena/store/log_writer.py",
        ("            if self.failed:\n                raise self.failed\n            try:"),
        (
            "            if failed := self.failed:\n"
            "                self.failed = None  # told; a disk that was full may have room again\n"
            "                raise failed\n"
            "            try:"
        ),
        1788,
    ),
    Defect(
        "recovery-looks-for-torn-only",
        "Recovery truncates after the synced mark only at a torn last line and at damage at the very end, so after a power cut that kept a later page and lost an earlier one a damaged line stays before whole ones and a plain resume refuses the event.",
        "arena/store/recovery.py",
        (
            "    for line in read_lines(folder, mark):\n"
            "        if line.body is None:\n"
            "            end = line.start\n"
            "            break"
        ),
        "    end = next((line.start for line in read_lines(folder, mark) if line.torn), end)",
        76,
    ),
    Defect(
        "renamed-before-synced",
        "An atomic write renames the new file into place before its content is synced, so a power cut between the two (or a failed fsync) leaves an empty or half event.json or private.json where a good one was, and the event can't be resumed.",
        "arena/store/folder.py",
        (
            "            file.flush()\n"
            "            files.sync(file)\n"
            "        files.rename(temporary, path)"
        ),
        (
            "            file.flush()\n"
            "            files.rename(temporary, path)\n"
            "            files.sync(file)  # and the name below: one barrier after the other"
        ),
        276,
    ),
    Defect(
        "close-forgets-worker-first",
        "Closing a worker forgets its process before waiting for its end, so when that wait is cancelled (the fourth void gives the event up, a second Ctrl-C or a full disk comes while a void's worker is closed) the shielded close finds nothing to do, and the worker is neither killed nor reaped and its output stays open.",
        "arena/executors/local.py",
        (
            "        await self._input.aclose()\n"
            "        with trio.move_on_after(_END_S):\n"
            "            # Reading to the end is waiting for it without a thread: its bots are gone by then.\n"
            "            while await self._some():\n"
            "                pass\n"
            "        process, self._process = self._process, None"
        ),
        (
            "        process, self._process = self._process, None\n"
            "        await self._input.aclose()\n"
            "        with trio.move_on_after(_END_S):\n"
            "            # Reading to the end is waiting for it without a thread: its bots are gone by then.\n"
            "            while await self._some():\n"
            "                pass"
        ),
        384,
    ),
    Defect(
        "explained-voids-without-limit",
        "The limit on retries counts only voids that nothing explains, so a series void because the machine is out of processes or memory (or because the scheduler was lost) is tried again without end, and the event hangs instead of stopping with its resume command.",
        "arena/executors/attempts.py",
        ("        if self._voids[series.id] <= RETRIES:\n            return True"),
        ("        if self._unexplained[series.id] <= RETRIES:\n            return True"),
        25,
    ),
    Defect(
        "arrived-before-written",
        "A cluster task is noted as arrived before its records are appended, so the log's size noted with it lies before them, and the scheduler is told to forget the results while they are written but not yet durable: a power cut then loses them at both ends.",
        "arena/executors/dask.py",
        (
            "        count = self._take(node, slot, jobs, played)\n"
            "        if future is not None:\n"
            "            self._executor.arrived(future)"
        ),
        (
            "        if future is not None:  # first, so that it is released even if a report raises\n"
            "            self._executor.arrived(future)\n"
            "        count = self._take(node, slot, jobs, played)"
        ),
        2,
    ),
    Defect(
        "drop-skips-workers-being-admitted",
        "When a worker is lost, only an admitted (or leaving) one's waiting calls are cancelled and its refusal forgotten: one lost while it is still being admitted leaves its admission waiting for ever, so gathering the cluster hangs, or a new worker at that address is never admitted.",
        "arena/executors/crew.py",
        (
            "        if gone := self.nodes.pop(address, None) or self._leaving.pop(address, None):\n"
            "            for unfit in self._refused.values():\n"
            "                if unfit.crowded == gone.fit.host:\n"
            "                    unfit.until = 0.0"
        ),
        (
            "        gone = self.nodes.pop(address, None) or self._leaving.pop(address, None)\n"
            "        if gone is None:\n"
            "            return\n"
            "        for unfit in self._refused.values():\n"
            "            if unfit.crowded == gone.fit.host:\n"
            "                unfit.until = 0.0"
        ),
        233,
    ),
    Defect(
        "concluded-in-one-step",
        "The conclusion removes private.json together with revealing the secret, before the tables are written, so a crash or a full disk in between leaves a finished event without tables that resume refuses as finished.",
        "arena/event/tournament.py",
        (
            "        store.reveal(replace(event, finished=True, secret=self._secret.hex()))\n"
            "        table = self.publish()\n"
            "        store.forget()\n"
            "        return table"
        ),
        (
            "        store.conclude(replace(event, finished=True, secret=self._secret.hex()))\n"
            "        table = self.publish()\n"
            "        return table"
        ),
        4,
    ),
    Defect(
        "budget-spent-twice",
        "A tuning that goes on takes the stages that are over off its budget once more, so those that are left have fewer deals than undisturbed, and another setting comes out best.",
        "arena/event/tune.py",
        "        self.deals = asked.tune.budget // self.least",
        (
            "        over = sum((each / 'table.json').is_file() for each in folder.glob('stage-*'))\n"
            "        share = (asked.tune.stages - over) / asked.tune.stages\n"
            "        self.deals = max(1, round(asked.tune.budget * share) // self.least)"
        ),
        144,
    ),
    Defect(
        "search-as-it-came",
        "A sorted search shows matches of the same margin in the order of the log, which is that in which they happened to end, and not by their ids.",
        "arena/event/search.py",
        "        return search.place(found[0]), found[0].id, found[0].attempt",
        '        return search.place(found[0]), "", 0',
        121,
    ),
)
DEFECTS = {defect.name: defect for defect in (*HISTORY, *NEW)}


def plant(defect: Defect, folder: Path) -> None:
    """Make a folder of the package and this one, with the defect in it."""
    shutil.copytree(ROOT / "arena", folder / "arena", copy_function=os.symlink)
    (folder / "tests").symlink_to(ROOT / "tests")
    path = folder / defect.file
    text = path.read_text()
    assert text.count(defect.old) == 1, f"{defect.name}: {defect.file} has changed"
    path.unlink()
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
