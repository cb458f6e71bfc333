"""What every backend gives a bot: environment variables, rlimits, limits of its process tree.

Pure functions of a `Launch` and the folders that it names.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from arena.model import UserError
from arena.sandbox import Launch, Option, SpawnPlan, TreeLimits, uids
from arena.sandbox.guarantees import EVERYWHERE

INSIDE = "/bot"  # where a bot finds its own folder
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
OPEN_FILES = 256  # a JVM with worker threads has some 30; each can hold 200 KB in the kernel
BUILD_OPEN_FILES = 1024  # linkers keep all that they link open
PENDING_SIGNALS = 256  # and timers; a JVM has none, a program with many timers some dozens
FILES_A_MB = 64  # of scratch space: a file without content takes a kilobyte of kernel memory


def variables(launch: Launch) -> dict[str, str]:
    paths = dict.fromkeys(path for each in launch.expose for path in _programs(Path(each)))
    return {
        "PATH": ":".join([*paths, SYSTEM_PATH]),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        # The only place to write to, for bots that have one.
        **({"TMPDIR": "/tmp"} if launch.scratch_mb else {}),  # noqa: S108 - the sandbox's own
        # A JVM would size its heap by the machine's memory.
        **({"JAVA_TOOL_OPTIONS": f"-XX:MaxRAM={launch.memory_mb}m"} if launch.memory_mb else {}),
        **launch.env,
    }


def _programs(exposed: Path) -> Iterator[str]:
    """The folder `bin` that is exposed, in what is exposed, or around it."""
    if exposed.name == "bin" or (exposed / "bin").is_dir():
        yield str(exposed if exposed.name == "bin" else exposed / "bin")
    elif exposed.parent.name == "bin":
        yield str(exposed.parent)


def has_spare_uids() -> bool:
    """Whether we are root, and run each program as a user of its own."""
    return uids.spare_uids() is not None


def open_gaps(memory: str) -> tuple[str, ...]:
    """The gaps that every backend has on this machine. `memory`: as in `Spawner.memory`."""
    return (
        *EVERYWHERE,
        *([] if has_spare_uids() else ["user counters"]),
        *(["bookkeeping memory"] if memory == "watchdog" else []),
    )


def plan(
    launch: Launch,
    backend: str,
    options: Mapping[str, Option],
    *,
    limits: Mapping[str, int] = {},
    seccomp: str = "",
    mapped: bool = False,
) -> SpawnPlan:
    """The plan of a backend. UserError: none can start it. `limits`: rlimits besides; `mapped`: the
    program finds its folder as INSIDE.
    """
    check(launch)
    root, size = INSIDE if mapped else launch.root, launch.scratch_mb

    def path(text: str) -> str:
        inside = text == INSIDE or text.startswith(INSIDE + "/")
        return root + text[len(INSIDE) :] if inside else text

    # A writable root is measured; scratch space too, where it can't be a file system of its own.
    folder = (launch.root,) if launch.writable else ()
    disk_mb = launch.disk_mb if launch.writable else 0
    files = launch.disk_files if launch.writable else 0
    share = TreeLimits(
        memory_mb=launch.memory_mb,
        tasks=launch.tasks,
        disk_mb=disk_mb + size if disk_mb or not folder else 0,
        files=files + size * FILES_A_MB if files or not folder else 0,
        disk=folder,
    )
    scratch = f"mode=1777,size={size}m,nr_inodes={size * FILES_A_MB}" if size else ""
    return SpawnPlan(
        backend=backend,
        argv=tuple(map(path, launch.run)),
        env={name: path(text) for name, text in variables(launch).items()},
        cwd=root,
        rlimits={**rlimits(launch), **limits},
        share=share,
        seccomp=seccomp,
        options={
            "scratch": scratch,  # mount options
            "spare uid": has_spare_uids(),
            "resident": "" if launch.writable else launch.root,
            **options,
        },
    )


def rlimits(launch: Launch) -> dict[str, int]:
    """The rlimits that mean the same in every backend; NPROC doesn't, and AS would be useless: node
    asks for 736 MB and the JVM for 4 GB of addresses that they never touch.
    """
    table = {
        "CORE": 0,
        "DATA": launch.memory_mb << 20,
        "FSIZE": max(launch.file_mb, launch.scratch_mb) << 20,
        "NOFILE": BUILD_OPEN_FILES if launch.writable else OPEN_FILES,
        "MEMLOCK": 0,
        "MSGQUEUE": 0,
        # Counted per user: more could leave the referee without a timer.
        "SIGPENDING": PENDING_SIGNALS,
        "RTPRIO": 0,
    }
    if launch.cpu_seconds:
        table["CPU"] = launch.cpu_seconds
    return table


def check(launch: Launch) -> None:
    """UserError: no backend can start it."""
    if not launch.run:
        raise UserError("run: a command is needed, for example ['python3', 'bot.py']")
    if "=" in launch.run[0]:
        # The command goes through env(1), which would read this as a variable.
        raise UserError(f"run: a program's name can't hold '=': {launch.run[0]}")
    if any("\0" in text for text in (*launch.run, *launch.env, *launch.env.values())):
        raise UserError("run: a NUL character can't be passed to a program")
    if launch.writable and Path(launch.root).resolve() == Path("/"):
        raise UserError("root: / can't be given to a build: it would own the machine")
    for folder in launch.expose:
        if not Path(folder).is_absolute() or ".." in Path(folder).parts:
            raise UserError(f"expose: {folder}: an absolute path without '..' is needed")
