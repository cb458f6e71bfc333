"""Made everything that is frozen, once, with the arena of commit 9e78cf0. Kept to show how.

Not to be run again: what an arena of today writes is no promise that was made. README.md has more.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from digests import digest, tables

HERE = Path(__file__).resolve().parent
SEEDED = HERE.parent / "seeded"
PROTOCOL = HERE.parents[1] / "protocol"
WORK = Path(tempfile.gettempdir()) / "arena-frozen"
ENVIRONMENT = {**os.environ, "XDG_CACHE_HOME": str(WORK / "cache"), "NO_COLOR": "1"}
ARENA = (sys.executable, "-P", "-m", "arena")
GOLF = ("--game", "four-card-golf")


def arena(*words, codes=(0,), **options):
    """Run a command; its stdout."""
    words = [str(word) for word in words]
    done = subprocess.run(
        [*ARENA, *words],
        cwd=WORK,
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
        **options,
    )
    assert done.returncode in codes, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def bots(names):
    """Their folders."""
    return [f"bots/{name}" for name in names.split()]


def outcome(folder):
    """What an event that was played again must have come to."""
    return {
        "log": digest(arena("log", folder, "--canonical")),
        "tables": tables(WORK / folder),
    }


# ------------------------------------------------------------------------- folders


def finished():
    """Events from the first match to the last."""
    arena("run", *bots("ann bob cyd dice"), "--deals", 2, "--out", "finished-nine-2")
    arena(
        *("run", *bots("ann bob fay"), *GOLF, "--seats", 3, "--deals", 2, "--playoff"),
        *("--seed", "golf-3-playoff/1", "--out", "finished-golf-3-playoff"),
    )
    arena(
        *("run", *bots("ann bob cyd dan eve fay"), "--seats", 4, "--tables", 3, "--deals", 1),
        *("--no-same-author", "--seed", "f2", "--out", "finished-nine-4-balanced"),
    )
    arena(
        *("run", *bots("ann bob cyd dan eve"), *GOLF, "--seats", 5, "--deals", 1),
        *("--series", 1, "--freeze", "--seed", "f3", "--out", "finished-golf-5-fresh"),
    )
    arena(
        *("run", *bots("ann bob cyd fay hal dan"), "--seats", 6, "--deals", 1, "--playoff"),
        *("--seed", "nine-6-playoff/8", "--out", "finished-nine-6-playoff"),
    )
    # Two with equal strokes in a deal, and unequal places.
    arena(
        *("run", *bots("ann bob cyd"), *GOLF, "--seats", 3, "--deals", 10, "--turn-cap", 1),
        *("--no-luck", "--seed", "ties-golf-3/17", "--out", "finished-golf-3-ties"),
    )
    arena(
        *("run", *bots("ann bob cyd dan"), *GOLF, "--deals", 3, "--rate-on", "adjusted"),
        *("--seed", "f5", "--out", "finished-golf-2-adjusted"),
    )
    arena(
        *("run", *bots("ann bob cyd"), "--deals", 2, "--no-luck", "--turn-cap", 9),
        *("--seed", "f6", "--out", "finished-nine-2-no-luck"),
    )
    arena(
        *("run", *bots("ann bob cyd dan"), *GOLF, "--deals", 2, "--gauntlet", "dan"),
        *("--seed", "f7", "--out", "gauntlet-golf-2"),
    )
    arena(
        *("prepare", *bots("ann bob cyd"), "--deals", 2, "--out", "beacon-nine-2"),
        *("--beacon-from", "drand round 7"),
    )
    arena("run", "beacon-nine-2", "--beacon", "4a6f", "--quiet")
    arena(
        *("run", *bots("ann fay hal"), "--deals", 4, "--until-resolved", "--budget", 120),
        *("--series", 4, "--seed", "race/0", "--out", "raced-nine-2"),
    )
    arena(
        *("run", *bots("ann fay hal"), *GOLF, "--deals", 4, "--until-resolved", "--close", 1),
        *("--rate-on", "results", "--budget", 160, "--out", "raced-golf-2-results"),
    )
    arena("compare", *bots("hal ann"), "--seed", "f9", "--out", "compared-nine", codes=(0, 6, 7))
    arena(
        *("compare", *bots("ann dan"), *GOLF, "--budget", 80, "--rate-on", "results"),
        *("--turn-cap", 6, "--seed", "f10", "--out", "compared-golf-worse"),
        codes=(6, 7),
    )
    arena(
        *("run", *bots("ann bob crashes cheats stumbles lags leaves broken"), "--deals", 2),
        *("--skip-broken", "--seed", "faults/2", "--out", "faults-nine-2"),
    )
    arena(
        *("run", *bots("ann bob crashes cheats babbles floods stops"), *GOLF, "--seats", 4),
        *("--tables", 7, "--deals", 1, "--move-time", "500ms", "--seed", "f12"),
        *("--out", "faults-golf-4"),
    )
    arena("run", *bots("ann bob"), *GOLF, "--deals", 2, "--seed", "f13", "--out", "epoch-golf-2")
    arena("run", "--into", "epoch-golf-2", *bots("cyd dan"), "--seed", "f14")
    arena("run", "--into", "epoch-golf-2", *bots("fay"), "--seed", "f15")
    # A bot that was annulled meets the newcomer: what this arena did.
    arena(
        *("run", *bots("ann bob crashes"), *GOLF, "--deals", 2, "--seed", "f16"),
        *("--out", "epoch-faults-golf-2"),
    )
    arena("run", "--into", "epoch-faults-golf-2", *bots("cyd"), "--seed", "f17")


def merged():
    """An event in three parts, and what they make."""
    flags = ("--deals", 3, "--series", 2, "--seed", "f16")
    arena("prepare", *bots("ann bob cyd"), *flags, "--out", "shards")
    for number in (1, 2, 3):
        shard = f"shard-{number}-of-3"
        shutil.copytree(WORK / "shards", WORK / shard)
        arena("run", shard, "--shard", f"{number}/3", "--quiet")
    shards = [f"shard-{number}-of-3" for number in (1, 2, 3)]
    arena("merge", *shards, "--out", "merged-nine-2")
    return {"merged": outcome("merged-nine-2")}


def played():
    """Matches with a person in them, by what is offered."""
    for name, words in {
        "played-nine": ("play", *bots("ann"), "--seed", "f17"),
        "played-golf-3": ("play", *bots("ann bob"), *GOLF, "--seat", 1, "--seed", "f18"),
    }.items():
        process = subprocess.Popen(
            [*ARENA, *map(str, words), "--turn-cap", "5", "--out", name],
            cwd=WORK,
            env={**ENVIRONMENT, "PYTHONUTF8": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

        def until(*ends, process=process):
            text = ""
            while not text.endswith(ends):
                data = process.stdout.read1(65_536).decode()
                if not data:
                    break
                text += data
            return text

        while (asked := until("> ", "[y/N] ")).endswith("> "):
            lines = asked.splitlines()
            offered = [line.split()[0] for line in lines if line.startswith("  ")]
            if "tee" in offered:
                move = "tee 7 0"
            elif "take" in offered:
                move = "draw"
            elif "flip" in offered:
                (flip,) = [line for line in lines if line.startswith("  flip N")]
                move = "flip " + re.search(r": (\d)", flip)[1]
            else:
                move = "discard"
            process.stdin.write(f"{move}\n".encode())
            process.stdin.flush()
        process.stdin.write(b"n\n")
        process.stdin.close()
        process.stdout.read()
        assert process.wait() == 0


def killed(folder, matches):
    """Play a prepared folder, and kill its arena after so many matches."""
    process = subprocess.Popen(
        [*ARENA, "run", folder, "--json", "--jobs", "1"],
        cwd=WORK,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    for line in process.stdout:
        matches -= json.loads(line)["event"] == "match"
        if not matches:
            break
    process.kill()
    process.communicate()


def torn(folder):
    """As if the power had gone while the last line was written."""
    log = WORK / folder / "matches.jsonl"
    data = log.read_bytes()
    start = data.rindex(b"\n", 0, -1) + 1
    log.write_bytes(data[: start + (len(data) - start) // 2])


def unfinished():
    """Events that were killed, each with what it comes to without that; one that went on."""
    ends = {}
    for name, matches, tear, words in (
        (
            "unfinished-nine-2",
            5,
            False,
            (*bots("ann bob cyd"), "--deals", 3, "--series", 2, "--seed", "u1"),
        ),
        (
            "unfinished-golf-3-torn",
            5,
            True,
            (*bots("ann bob cyd"), *GOLF, "--seats", 3, "--deals", 3, "--series", 2, "--playoff"),
        ),
        (
            "unfinished-raced-golf-2",
            19,
            True,
            (
                *(*bots("ann bob cyd"), *GOLF, "--until-resolved", "--deals", 2, "--series", 2),
                *("--budget", 60, "--seed", "u3"),
            ),
        ),
        (
            "unfinished-faults-nine-2",
            14,
            False,
            (*bots("ann crashes cheats lags"), "--deals", 3, "--series", 3, "--seed", "u4"),
        ),
    ):
        arena("prepare", *words, "--out", name)
        shutil.copytree(WORK / name, WORK / f"twin-{name}")
        killed(name, matches)
        if tear:
            torn(name)
        arena("run", f"twin-{name}", "--quiet")
        ends[name] = outcome(f"twin-{name}")
    # Killed twice and gone on with: its log has records of attempts that don't count.
    arena(
        *("prepare", *bots("ann bob"), "--deals", 4, "--series", 4, "--seed", "u5"),
        *("--out", "resumed-nine-2"),
    )
    shutil.copytree(WORK / "resumed-nine-2", WORK / "repaired-nine-2")
    killed("resumed-nine-2", 2)
    arena("resume", "resumed-nine-2", "--quiet")
    # Finished, damaged and repaired.
    arena("run", "repaired-nine-2", "--quiet")
    log = WORK / "repaired-nine-2" / "matches.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"draw", b"drew", 1)
    log.write_bytes(b"".join(lines))
    arena("resume", "repaired-nine-2", "--repair", "--quiet")
    # Not from a prepared folder: its bots lie where private.json says.
    words = (*bots("ann bob"), *GOLF, "--deals", 3, "--series", 2, "--seed", "u6")
    arena("run", *words, "--out", "twin-left-golf-2", "--quiet")
    ends["left-golf-2"] = outcome("twin-left-golf-2")
    arena("run", *words, "--out", "left-golf-2", "--quiet", "--jobs", 1, "--max-time", "1ms")
    return ends


def prepared():
    """Events that have not begun, each with what it comes to."""
    ends = {}
    for name, words, beacon in (
        (
            "prepared-nine-3",
            (*bots("ann bob cyd"), "--seats", 3, "--deals", 2, "--seed", "p1"),
            (),
        ),
        (
            "prepared-golf-2-beacon",
            (*bots("ann bob cyd"), *GOLF, "--deals", 2, "--beacon-from", "the weather"),
            ("--beacon", "sun"),
        ),
        (
            "prepared-race-nine-2",
            (
                *(*bots("ann bob cyd"), "--until-resolved", "--deals", 2, "--series", 2),
                *("--budget", 36),
            ),
            (),
        ),
    ):
        arena("prepare", *words, "--out", name)
        shutil.copytree(WORK / name, WORK / f"twin-{name}")
        arena("run", f"twin-{name}", *beacon, "--quiet")
        ends[name] = {"beacon": beacon, **outcome(f"twin-{name}")}
    return ends


def transcripts():
    """Recorded matches, and the golden conversations."""
    to = HERE / "transcripts"
    shutil.copytree(PROTOCOL / "transcripts", to / "golden", ignore=lambda *_: ["feed.pl"])
    for name, words in {
        "nine-2": bots("ann dan"),
        "golf-3": [*bots("ann bob cyd"), *GOLF],
        "nine-2-cheats": [*bots("ann cheats"), "--deal", 3],
        "golf-2-crashes": [*bots("crashes bob"), *GOLF],
        "nine-4": bots("ann bob cyd dice"),
    }.items():
        arena("match", *words, "--record", f"talk/{name}", codes=(0, 3))
        for file in sorted((WORK / "talk" / name).iterdir()):
            shutil.copy(file, to / f"{name}.{file.name}")


# ------------------------------------------------------------------------- seeded events

ALL = "ann bob cyd dan eve fay gus hal"
EVENTS = {
    "nine-2": (*bots("ann bob cyd dice"), "--deals", 2),
    "nine-3-playoff": (*bots("ann bob fay"), "--seats", 3, "--deals", 3, "--playoff"),
    "nine-4-balanced": (
        *(*bots("ann bob cyd dan eve fay"), "--seats", 4, "--tables", 3, "--deals", 1),
        "--no-same-author",
    ),
    "nine-5": (*bots("ann bob cyd dan eve"), "--seats", 5, "--deals", 1, "--series", 1),
    "nine-6-playoff": (
        *(*bots("ann bob cyd fay hal dan"), "--seats", 6, "--deals", 1, "--playoff"),
    ),
    "golf-2": (*bots("ann bob cyd"), *GOLF, "--deals", 4, "--series", 3, "--freeze"),
    "golf-3-playoff": (*bots("ann bob fay"), *GOLF, "--seats", 3, "--deals", 2, "--playoff"),
    "golf-3-ties": (
        *(*bots("ann bob cyd"), *GOLF, "--seats", 3, "--deals", 10, "--turn-cap", 1),
        "--no-luck",
    ),
    "golf-4-balanced": (*bots(ALL), *GOLF, "--seats", 4, "--tables", 4, "--deals", 1),
    "golf-5": (*bots("ann bob cyd dan eve"), *GOLF, "--seats", 5, "--deals", 1),
    "golf-6": (*bots("ann bob cyd dan eve fay"), *GOLF, "--seats", 6, "--deals", 1),
    "golf-7": (*bots("ann bob cyd dan eve fay hal"), *GOLF, "--seats", 7, "--deals", 1),
    "golf-8-playoff": (*bots(ALL), *GOLF, "--seats", 8, "--deals", 1, "--playoff"),
    "nine-2-faults": (*(*bots("ann bob crashes cheats stumbles lags leaves"), "--deals", 2),),
    "golf-4-faults": (
        *(*bots("ann bob crashes cheats babbles floods stops"), *GOLF, "--seats", 4),
        *("--tables", 7, "--deals", 1, "--move-time", "500ms"),
    ),
    "nine-2-race": (
        *(*bots("ann fay hal"), "--until-resolved", "--deals", 4, "--series", 4),
        *("--budget", 120),
    ),
    "golf-2-race-results": (
        *(*bots("ann fay cyd"), *GOLF, "--until-resolved", "--rate-on", "results", "--deals", 4),
        *("--close", 1, "--budget", 120),
    ),
    "golf-2-gauntlet": (*bots("ann bob cyd dan"), *GOLF, "--gauntlet", "dan", "--deals", 3),
    "golf-2-adjusted": (*bots("ann bob cyd dan"), *GOLF, "--rate-on", "adjusted", "--deals", 3),
    "nine-2-no-luck": (*bots("ann bob cyd"), "--no-luck", "--turn-cap", 9, "--deals", 3),
    "nine-2-cluster": (*bots("ann bob cyd dan"), "--deals", 2, "--series", 2),
    "golf-3-cluster-faults": (
        *(*bots("ann bob cheats lags"), *GOLF, "--seats", 3, "--deals", 2, "--series", 2),
    ),
    "nine-2-shards": (*bots("ann bob cyd dan"), "--deals", 2, "--series", 1),
    "golf-3-shards": (*bots("ann bob cyd dan"), *GOLF, "--seats", 3, "--deals", 2),
    "nine-2-trial": (*bots("hal ann"), "--effect", 10, "--budget", 120),
    "golf-2-trial-results": (
        *(*bots("ann dan"), *GOLF, "--rate-on", "results", "--turn-cap", 6, "--budget", 60),
    ),
}

# Chosen: in these there are playoffs, ties, withdrawals late and early, several waves.
SEEDS = {
    "golf-3-playoff": "golf-3-playoff/1",
    "nine-3-playoff": "nine-3-playoff/1",
    "nine-6-playoff": "nine-6-playoff/8",
    "golf-8-playoff": "golf-8-playoff/1",
    "golf-3-ties": "ties-golf-3/17",
    "nine-2-faults": "faults/2",
    "nine-2-race": "race/0",
}


def seeded():
    """Prepare each event, keep it without its bots, play it, and say what it came to."""
    from arena.roster import carry

    from arena.store import prepare, read_private

    ends = {}
    for name, words in EVENTS.items():
        folder = WORK / "seeded" / name
        words = (*words, "--seed", SEEDS.get(name, name))
        flags = (*words, "--sandbox", "none")
        command = "compare" if "trial" in name else "prepare"
        if command == "compare":
            begun = WORK / "begun" / name
            arena(command, *flags, "--max-time", "1ms", "--out", begun, codes=(0,))
            private = read_private(begun)
            shutil.rmtree(folder, ignore_errors=True)
            prepare(folder, private.entered, private)
            carry(private.entered.entrants, folder, cache=WORK / "cache" / "nine-arena")
        else:
            arena(command, *flags, "--out", folder)
        kept = SEEDED / "events" / name
        kept.mkdir(parents=True)
        for file in ("event.json", "private.json"):
            shutil.copy(folder / file, kept)
        for snapshot in (folder / "bots").iterdir():
            if not (SEEDED / "bots" / snapshot.name).exists():
                shutil.copytree(snapshot, SEEDED / "bots" / snapshot.name)
        if "cluster" in name:
            arena("run", folder, "--sandbox", "none", "--on", "dask", "local:2", "--no-pin")
        elif "shards" in name:
            shards = [folder.with_name(f"{name}-{number}") for number in (1, 2)]
            for number, shard in enumerate(shards, 1):
                shutil.copytree(folder, shard)
                arena("run", shard, "--sandbox", "none", "--shard", f"{number}/2")
            shutil.rmtree(folder)
            arena("merge", *shards, "--out", folder)
        else:
            arena("run", folder, "--sandbox", "none", codes=(0, 6, 7))
        ends[name] = {"command": command, "words": [str(word) for word in words], **outcome(folder)}
    return ends


# ------------------------------------------------------------------------- all


def main():
    """Freeze, unless that has been done."""
    if (HERE / "folders").exists() or (SEEDED / "events").exists():
        raise SystemExit("frozen already, and never made anew: see README.md")
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    shutil.copytree(HERE / "bots", WORK / "bots")
    ends = seeded()
    (SEEDED / "expected.json").write_text(json.dumps(ends, indent=1) + "\n")
    finished()
    expected = merged() | {"unfinished": unfinished(), "prepared": prepared()}
    played()
    shutil.rmtree(WORK / "shards")
    for folder in sorted(WORK.iterdir()):
        if (folder / "event.json").exists() and not folder.name.startswith("twin-"):
            shutil.copytree(folder, HERE / "folders" / folder.name)
    transcripts()
    expected["folders"] = {
        folder.name: {"log": digest(arena("log", folder, "--canonical"))}
        for folder in sorted((HERE / "folders").iterdir())
        if json.loads((folder / "event.json").read_text())["finished"]
    }
    for name, told in expected["folders"].items():
        first = json.loads(arena("log", HERE / "folders" / name, "--canonical").splitlines()[0])
        bot = next(seat for seat in first["seats"] if not seat.endswith("@person"))
        words = ("--transcript", first["id"], "--bot", bot)
        told |= {"match": first["id"], "bot": bot}
        lines = arena("log", HERE / "folders" / name, *words).splitlines(keepends=True)
        told["transcript"] = digest(b"".join(line for line in lines if line[:1] != b"#"))
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    (HERE / "SHA256SUMS").write_text("".join(f"{sums}\n" for sums in _sums()))
    shutil.rmtree(WORK)


def _sums():
    root = HERE.parent
    for place in (
        "frozen/bots",
        "frozen/folders",
        "frozen/transcripts",
        "seeded/bots",
        "seeded/events",
    ):
        for path in sorted((root / place).rglob("*")):
            if path.is_file():
                yield f"{digest(path.read_bytes())}  {path.relative_to(root)}"


if __name__ == "__main__":
    main()
