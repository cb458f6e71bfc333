"""What publishing costs: matches a second, bytes a match, memory; and what a browser loads.

`python bench/publish.py [--many N]`. The reference event (2,200 real matches) with one process and
with one a core; then the log of `bench/log.py`, N matches (100,000) under the ids of an event of
ten bots, for memory: their cards are other deals', so they are counted and listed, not unfolded.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

from log import command, event_of, fill

REFERENCE = Path(__file__).parents[1] / "results" / "play-nine"
MATCHES = 2200


def sizes(site):
    """Bytes of segments, of lists with their index, of all else."""
    found = {"segments": 0, "lists": 0, "pages": 0}
    for path in filter(Path.is_file, site.rglob("*")):
        listed = "segments" if path.name.startswith("s") else "lists"
        found[listed if path.parent.name == "m" else "pages"] += path.stat().st_size
    return found


def first_load(site):
    """The largest page with all that any page loads at once, in the largest language."""
    shared = sum(path.stat().st_size for path in (site / "assets").iterdir() if path.is_file())
    words = sorted(path.stat().st_size for path in (site / "assets" / "lang").iterdir())[-2:]
    largest = max(site.rglob("*.html"), key=lambda path: path.stat().st_size)
    return largest.name, largest.stat().st_size + shared + sum(words)


def reference(scratch):
    """Real matches."""
    for jobs in sorted({1, len(os.sched_getaffinity(0))}):
        site = scratch / f"site-{jobs}"
        took, memory = command("publish", REFERENCE, "--to", site, "--jobs", jobs)
        told = f"{jobs} {'process' if jobs == 1 else 'processes'}"
        print(f"{MATCHES:,} matches, {told}: {MATCHES / took:.0f} a second, {memory:.0f} MB")
    took, _ = command("publish", REFERENCE, "--to", site)
    print(f"again, with nothing new: {took:.1f} s")
    found = sizes(site)
    print(
        f"a match: {found['segments'] / MATCHES / 1024:.1f} KB of segments, "
        f"{found['lists'] / MATCHES:.0f} bytes of lists"
    )
    segment = max(path.stat().st_size for path in site.rglob("m/s*.js"))
    print(f"the largest segment, which opening a match loads: {segment / 1024:.0f} KB")
    name, whole = first_load(site)
    print(f"the largest page, {name}, with all scripts, styles and strings: {whole / 1024:.0f} KB")


def large(scratch, many):
    """A large log."""
    folder, site = scratch / "event", scratch / "site"
    fill(folder, event_of(many))
    took, memory = command("publish", folder, "--to", site, "--jobs", 1)
    (entry,) = json.loads((site / "arena-site.json").read_bytes())["events"]
    print(f"{entry['listed']:,} matches read, counted, listed: {took:.0f} s, {memory:.0f} MB")
    index = next(site.rglob("m/index.js")).stat().st_size
    print(f"the index of their segments: {index / 1024:.0f} KB")


def main():
    """Measure, and tell."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--many", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arena-publish-") as scratch:
        reference(Path(scratch))
        large(Path(scratch), options.many)


if __name__ == "__main__":
    main()
