"""The victims: what hostile programs are after, all of it real, and set up outside the sandbox.

A `Stage` makes a folder with the user's and the event's files, starts the referee's stand-in and
a spawner, opens an inheritable descriptor, puts a secret into the environment, and knows how to
find and repair the harm that was done. What programs have to know (ports, pids, paths) it tells
as *facts*. Every secret is a random word that is found nowhere else, so that printing it proves
that it was read.

Invariant: when a stage is closed nothing of it is left: no process, no file, no descriptor.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import pty
import resource
import secrets
import shutil
import subprocess
import sys
import tempfile
import termios
import time
import tty
from pathlib import Path

from arena.sandbox import Launch
from arena.sandbox.client import Spawner
from arena.sandbox.installations import find_installation

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"

LEAKED = "ARENA_HOSTILE_LEAK"
"""A variable of the suite's environment that no program may see."""

IPC_RMID = 0

BITS = 16
"""Length of the word that one colluding program tells the other."""

PYTHON = str(Path(sys.executable).resolve())

C_FLAGS = ("-O1", "-w", "-pthread", "-D_GNU_SOURCE")


def secret():
    """A word that nobody can guess."""
    return secrets.token_hex(12)


JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:MaxRAM=8g")


class Stage:
    """To be used as a context manager."""

    def __init__(self):
        token = f"{secrets.randbits(31) | 1 << 30:x}"
        self.folder = Path(tempfile.mkdtemp(prefix=f"arena-hostile-{token}-"))
        self.folder.chmod(0o755)
        self.facts = {
            "token": token,
            "folder": str(self.folder),
            "uid": str(os.geteuid()),
            **{
                f"{whose}secret": secret()
                for whose in ("", "referee_", "user_", "event_", "sibling_", "leaked_")
            },
        }
        self._count = 0
        self._built = {}
        self._before = {}
        self._referee = None
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.callback(self._clear)
            self._paths()
            self._make_files()
            self._terminal(stack)
            stack.callback(self._end_referee)
            self._start_referee()
            self._leak(stack)
            self.spawner = stack.enter_context(Spawner())
            self._pin(self.spawner._process.pid)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    # ------------------------------------------------------------------------------- programs

    def program(self, name):
        """A folder for one bot that holds the program, built if need be, and a few things."""
        self._count += 1
        folder = self.folder / "bots" / str(self._count)
        folder.mkdir()
        built = self.build(name)
        for path in built:
            shutil.copy(path, folder)
        (folder / "link").symlink_to(self.facts["user_public"])
        (folder / "own").write_text("own\n")
        return folder

    def launch(self, name, args, **fields):
        """How a bot that is this program would be started; `root`: in a folder that is there."""
        folder = fields.pop("root", None) or self.program(name)
        stem, _, suffix = name.rpartition(".")
        run = {
            "py": (PYTHON, "-I", "-S", f"/bot/{name}"),
            "sh": ("bash", f"/bot/{name}"),
            "js": ("node", f"/bot/{name}"),
            # It sees more memory than it has: what it is refused is the sandbox's doing.
            "java": (*JAVA, "-cp", "/bot", stem),
            "c": (f"/bot/{stem}",),
        }[suffix]
        python = (sys.base_prefix,) if suffix == "py" else ()
        # As if it had named the program without a shape, and the Python, of a home.
        home = Path(self.facts["home"])
        found = [find_installation(home / name) for name in ("bin/hello", "bin/python3")]
        parts = (str(part) for each in found if each for part in each.parts)
        expose = (*python, self.facts["exposed"], *parts)
        return Launch(run=(*run, *args), root=str(folder), expose=expose, **fields)

    def build(self, name):
        """The files that make up a program, compiled once."""
        if name not in self._built:
            source = PROGRAMS / name
            folder = self.folder / "built" / name
            folder.mkdir()
            if source.suffix == ".c":
                out = str(folder / source.stem)
                subprocess.run(["gcc", *C_FLAGS, "-o", out, str(source)], check=True)
            elif source.suffix == ".java":
                for path in self._java().glob(f"{source.stem}*.class"):
                    if path.stem.partition("$")[0] == source.stem:
                        shutil.copy(path, folder)
            else:
                shutil.copy(source, folder)
                (folder / name).chmod(0o644)
            self._built[name] = sorted(folder.iterdir())
        return self._built[name]

    def _java(self):
        """The classes of all programs in Java: the compiler's start takes longer than they do."""
        folder = self.folder / "java"
        if not folder.exists():
            sources = map(str, PROGRAMS.glob("*.java"))
            subprocess.run(["javac", "-d", str(folder), *sources], check=True)
        return folder

    # -------------------------------------------------------------------------------- victims

    def _paths(self):
        folder = self.folder
        self.facts |= {
            "user": str(folder / "user"),
            "user_private": str(folder / "user" / "private"),
            "user_public": str(folder / "user" / "public"),
            "home": str(folder / "home"),
            "home_key": str(folder / "home" / "config" / "master.key"),
            "user_link": str(folder / "user" / "link"),
            "cold_file": str(folder / "exposed" / "cold"),
            "event": str(folder / "event"),
            "event_secret_file": str(folder / "event" / "secret"),
            "exposed": str(folder / "exposed"),
            "exposed_file": str(folder / "exposed" / "file"),
            "sockets": str(folder / "sockets"),
            "unix_path": str(folder / "sockets" / "socket"),
            "unix_name": f"arena-hostile-{self.facts['token']}",
            "built": str(folder / "built"),
        }
        for name in ("bots", "built", "sockets"):
            (folder / name).mkdir(mode=0o755)

    def _make_files(self):
        """The user's, the event's, and those of the exposed folder, as new."""
        for name in ("user", "event", "exposed", "home"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir()
            (self.folder / name).chmod(0o700 if name == "event" else 0o755)
        facts = self.facts
        for name in ("bin", "config", "lib/python3.11"):
            (self.folder / "home" / name).mkdir(parents=True)
        for path, text, mode in (
            (f"{facts['home']}/bin/hello", "", 0o755),
            (f"{facts['home']}/bin/python3", "", 0o755),
            (f"{facts['home']}/lib/python3.11/os.py", "", 0o644),
            (facts["home_key"], facts["user_secret"], 0o600),
            (facts["user_private"], facts["user_secret"], 0o600),
            (facts["user_public"], facts["user_secret"], 0o644),
            (facts["event_secret_file"], facts["event_secret"], 0o600),
            (facts["exposed_file"], "a file that bots are shown", 0o644),
            *((f"{facts['exposed']}/bit{bit}", "x" * 64, 0o644) for bit in range(BITS)),
        ):
            Path(path).write_text(text + "\n")
            Path(path).chmod(mode)
        Path(facts["user_link"]).symlink_to(f"where-{facts['user_secret']}")
        with contextlib.suppress(OSError):  # not every file system has them
            os.setxattr(facts["user_public"], "user.arena", facts["user_secret"].encode())
        Path(facts["cold_file"]).write_bytes(b"x" * (BITS << 18))
        self.refresh()

    def refresh(self):
        """As if no two bots had ever talked: nothing was left, and no exposed file read."""
        self._clear_words()
        for bit in range(BITS):
            os.utime(f"{self.facts['exposed']}/bit{bit}", (1, 1))
        self._before["files"] = self._files()
        cold = os.open(self.facts["cold_file"], os.O_RDONLY)
        os.fsync(cold)
        os.posix_fadvise(cold, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(cold)

    def _start_referee(self):
        Path(self.facts["unix_path"]).unlink(missing_ok=True)
        self._referee = subprocess.Popen(
            [PYTHON, "-I", "-S", str(HERE / "referee.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"SECRET": self.facts["referee_secret"], "TOKEN": self.facts["token"]},
            text=True,
        )
        self._referee.stdin.write(json.dumps(self.facts) + "\n")
        self._referee.stdin.flush()
        told = json.loads(self._referee.stdout.readline())
        self.facts |= {name: str(value) for name, value in told.items()}
        self._before["referee"] = self._referee_state()

    def _end_referee(self):
        if self._referee is not None:
            self._referee.kill()
            self._referee.wait()
            self._referee.stdin.close()
            self._referee.stdout.close()

    def _terminal(self, stack):
        """A terminal of the user, which a program could type into."""
        master, slave = pty.openpty()
        stack.callback(os.close, master)
        stack.callback(os.close, slave)
        tty.setraw(slave)
        self._slave = slave
        name = os.ttyname(slave)
        Path(name).chmod(0o666)
        self.facts["terminal"] = name
        self._before["terminal"] = 0
        self._before["timers"] = True

    def _leak(self, stack):
        """What a careless program leaves to its children."""
        leaked = os.open(self.folder, os.O_TMPFILE | os.O_RDWR, 0o600)
        stack.callback(os.close, leaked)
        os.write(leaked, self.facts["leaked_secret"].encode())
        os.set_inheritable(leaked, True)
        os.environ[LEAKED] = self.facts["leaked_secret"]
        stack.callback(os.environ.pop, LEAKED)
        self.facts["leaked_fd"] = str(leaked)
        # What to look for; to tell the whole would make it no proof.
        self.facts["leaked_secret_half"] = self.facts["leaked_secret"][:8]

    def _pin(self, pid):
        """Bots are pinned to one core, as a worker pins its own."""
        cores = sorted(os.sched_getaffinity(0))
        self.facts |= {"core": str(cores[0]), "other_core": str(cores[-1])}
        os.sched_setaffinity(pid, {cores[0]})

    # ----------------------------------------------------------------------------------- harm

    def harmed(self, what):
        """Whether "files", "referee", "terminal" or "timers" are not what they were; repairs them,
        but for the timers, which come back when whoever took them ends.
        """
        look = {
            "timers": self._timers,
            "files": self._files,
            "referee": self._referee_state,
            "terminal": self._typed,
        }[what]
        if look() == self._before[what]:
            return False
        if what == "files":
            self._make_files()
        elif what == "referee":
            self._end_referee()
            self._start_referee()
        elif what == "terminal":
            termios.tcflush(self._slave, termios.TCIFLUSH)
        return True

    def _files(self):
        found = {}
        for name in ("user", "event", "exposed"):
            folder = self.folder / name
            for path in (folder, *sorted(folder.rglob("*"))):
                fact = path.lstat()
                found[str(path)] = (
                    *(fact.st_mode, fact.st_uid, fact.st_gid, fact.st_nlink, fact.st_size),
                    *(fact.st_mtime_ns, fact.st_ctime_ns),
                    os.listxattr(path, follow_symlinks=False),
                    _content(path),
                )
        return found

    def _referee_state(self):
        pid = self._referee.pid
        if self._referee.poll() is not None:
            return "dead"
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        limits = sorted(name for name in dir(resource) if name.startswith("RLIMIT_"))
        return (
            os.getpriority(os.PRIO_PROCESS, pid),
            os.sched_getaffinity(pid),
            os.sched_getscheduler(pid),
            [resource.prlimit(pid, getattr(resource, name)) for name in limits],
            [line for line in status if line.startswith(("SigPnd", "ShdPnd", "TracerPid"))],
        )

    @staticmethod
    def _timers():
        """Whether a process of the referee's user can have one, and with it a queued signal."""
        libc = ctypes.CDLL(None)
        timer = ctypes.c_void_p()
        if libc.timer_create(time.CLOCK_MONOTONIC, None, ctypes.byref(timer)):
            return False
        libc.timer_delete(timer)
        return True

    def _typed(self):
        count = fcntl.ioctl(self._slave, termios.FIONREAD, b"\0\0\0\0")
        return int.from_bytes(count, sys.byteorder)

    def _clear_words(self):
        for place in ("/tmp", "/var/tmp", "/dev/shm"):
            for path in Path(place).glob(f"arena-collude-{self.facts['token']}*"):
                path.unlink()

    def _clear(self):
        shutil.rmtree(self.folder)
        # What control runs may have left where everybody writes.
        self._clear_words()
        token = self.facts["token"]
        libc = ctypes.CDLL(None)
        libc.mq_unlink(f"/arena-collude-{token}".encode())
        libc.shmctl(libc.shmget(ctypes.c_int(int(token, 16)), 0, 0), IPC_RMID, None)


def _content(path):
    if path.is_symlink():
        return str(path.readlink())
    if not path.is_file() or path.name == "cold":
        return b""
    # Looking must not be seen: reading would set the time of the last reading.
    handle = os.open(path, os.O_RDONLY | os.O_NOATIME)
    try:
        return os.read(handle, 4096)
    finally:
        os.close(handle)


if __name__ == "__main__":
    with Stage() as stage:
        for name, value in stage.facts.items():
            sys.stdout.write(f"{name:18} {value}\n")
