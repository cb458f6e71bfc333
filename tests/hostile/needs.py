"""What an attack needs of the machine, so that it is skipped with a reason and not void."""

import functools
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from stage import PROGRAMS

AF_ALG = 38


@functools.cache
def missing(need):
    """What the machine lacks, in words; empty when it has it."""
    kind, _, value = need.partition(":")
    return _CHECKS[kind](value)


def _cores(count):
    return "" if len(os.sched_getaffinity(0)) >= int(count) else f"under {count} cores"


def _program(name):
    return "" if shutil.which(name, path="/usr/local/bin:/usr/bin:/bin") else f"no {name}"


def _family(number):
    kind = socket.SOCK_SEQPACKET if int(number) == AF_ALG else socket.SOCK_STREAM
    try:
        socket.socket(int(number), kind).close()
    except OSError:
        return f"no address family {number}"
    return ""


def _path(path):
    return "" if Path(path).exists() else f"no {path}"


def _setting(text):
    name, _, wanted = text.partition("=")
    path = Path("/proc/sys", *name.split("."))
    return "" if path.exists() and path.read_text().strip() == wanted else f"not {text}"


def _user(name):
    return "" if (os.geteuid() == 0) == (name == "root") else f"for {name}"


def _mount(wanted):
    """Whether the stage lies on a disk ("cache"), or where times of reading are kept ("atime")."""
    folder = Path(tempfile.gettempdir()).resolve()
    best = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        if folder.is_relative_to(fields[4]) and len(fields[4]) >= len(best[4] if best else ""):
            best = fields
    kind = best[best.index("-") + 1]
    if wanted == "cache":
        return f"{folder} is a {kind}" if kind in {"tmpfs", "ramfs"} else ""
    return f"{folder} is mounted noatime" if "noatime" in best[5].split(",") else ""


def _call(table):
    """Whether this kernel takes calls by another table; tried in a child, as it may be deadly."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = str(PROGRAMS / "call.c"), f"{folder}/call"
        built = subprocess.run(["gcc", "-w", "-D_GNU_SOURCE", "-o", program, source], check=False)
        if built.returncode:
            return "no gcc"
        made = subprocess.run([program, table], capture_output=True, text=True, check=False)
    return "" if made.stdout.startswith("BROKE") else f"the kernel has no {table}"


_CHECKS = {
    "cores": _cores,
    "program": _program,
    "family": _family,
    "path": _path,
    "setting": _setting,
    "user": _user,
    "mount": _mount,
    "call": _call,
}

LANGUAGES = {"py": "", "sh": "bash", "js": "node", "java": "javac", "c": "gcc"}


def lacks(attack):
    """Why it can't be tried here; empty when it can."""
    language = LANGUAGES[attack.program.rpartition(".")[2]]
    needs = (*attack.needs, *([f"program:{language}"] if language else ()))
    return next(filter(None, map(missing, needs)), "")
