"""The spawner process: start programs, limit them, reap them, and kill them all when it ends.

Run by bare.py, with a SOCK_SEQPACKET socket as its standard input.
Standard library only and one thread, so that forking is safe and cheap, and the parent-death signal
means this process.

Theory of operation. One poll loop; nothing in it waits for a bot. A request is one JSON message:
`{"op":"spawn","id":…,"plan":…}` with the bot's three descriptors as ancillary data, or
`{"op":"kill","id":…}`. Answers are `serves` (once), `started` and `exited`. Each program has a
*guard*, the child that was forked for it: bwrap, or the keeper of child.py. It is gone when its
guard is reaped *and* the root of its tree no longer exists. With bwrap that root is pid 1 of a pid
namespace, which the kernel lets end only after all others in it, and which we inherit.

Invariants: when the socket closes or the referee dies, in whatever way, everything is killed;
memory doesn't grow with the number of programs that have been run.
"""

import contextlib
import errno
import json
import os
import resource
import select
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from arena.sandbox import cgroups, child, meter, mounts, subreaper, uids
from arena.sandbox.program import Program

REQUEST_BYTES = 1 << 18  # above what the default socket buffer lets a client send in one message
LAST_KILL_S = 5.0  # for the trees of a closing spawner: a SIGKILL that is pending works later, too

RAISED = ("AS", "CPU", "DATA", "FSIZE", "NOFILE", "NPROC", "SIGPENDING")
"""Limits that programs inherit, or that we need: raised from the soft limit to the hard one."""

CHECK_S = 0.02  # how often limits are checked; meanwhile a core fills 100 MB and forks 300 times


class SpawnerProcess:
    """The loop and its tables, all of them bounded by the number of living programs."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.programs: dict[int, Program] = {}
        self.by_pid: dict[int, Program] = {}  # by guard and by root
        self.slots: list[int] = []  # ids by slot, 0 where free
        self.answers: deque[bytes] = deque()  # not sent yet: at most two for each program
        self.closing = 0.0
        self.checked = 0.0
        self.groups, self.groupless = cgroups.find()
        self.kills = cgroups.OomKills()
        self.uids = uids.SpareUids()
        self.poll = select.poll()
        self.handlers: dict[int, Callable[[int], object]] = {}  # by descriptor; get the event
        self.news = subreaper.become()
        self.referee = os.pidfd_open(os.getppid())
        self.listen(self.referee, lambda _: self.close())
        self.listen(self.news, lambda _: self.reap())
        self.listen(connection.fileno(), self.talk)

    def listen(self, descriptor: int, handler: Callable[[int], object]) -> None:
        self.poll.register(descriptor, select.POLLIN)
        self.handlers[descriptor] = handler

    def run(self) -> None:
        memory = self.groups.name if self.groups else "watchdog"
        self.answer({"serves": {"memory": memory, "groupless": self.groupless}})
        while not self.closing or (self.programs and time.monotonic() < self.closing):
            for descriptor, event in self.poll.poll(CHECK_S * 1000 if self.programs else None):
                if handler := self.handlers.get(descriptor):
                    handler(event)
            if self.programs and time.monotonic() - self.checked > CHECK_S:
                self.checked = time.monotonic()
                for program in self.programs.values():
                    self.check(program)
        self.kill_orphans()
        self.uids.close()
        if self.groups:
            self.groups.close()

    def check(self, program: Program) -> None:
        """Kill it if it exceeds a limit. If it can't be checked, only this program fails."""
        try:
            over = program.check(self.checked)
        except (OSError, ValueError, OverflowError) as error:
            program.failure = f"could not watch it: {error}"
            over = True
        if over:
            self.kill(program)

    def talk(self, event: int) -> None:
        if event & select.POLLOUT:
            self.flush()
        if event & ~select.POLLOUT and not self.closing:
            self.serve()

    def serve(self) -> None:
        """Read one request; the loop comes back for the next."""
        descriptors: list[int] = []
        try:
            flags = socket.MSG_CMSG_CLOEXEC | socket.MSG_DONTWAIT
            data, descriptors, _, _ = socket.recv_fds(self.connection, REQUEST_BYTES, 3, flags)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        request = json.loads(data)
        if request["op"] == "kill":
            if (found := self.programs.get(request["id"])) is not None:
                self.kill(found)
            return
        program = Program(request["id"], request["plan"])
        try:
            self.spawn(program, descriptors)
        except (OSError, ValueError, OverflowError) as error:
            program.failure = f"could not start a process: {child.reason(error)}"
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        if program.failure:
            self.answer({"exited": program.exited()})

    def spawn(self, program: Program, descriptors: list[int]) -> None:
        """Fork the guard. Raises OSError when the machine can't."""
        if len(descriptors) != 3:  # the kernel drops those for which there is no room
            raise OSError(errno.EMFILE, "the spawner has run out of file descriptors")
        opened: list[int] = []
        slot = self.slots.index(0) if 0 in self.slots else len(self.slots)
        if program.plan["options"]["spare uid"]:
            program.uid = self.uids.of(slot)
            mounts.prepare(program.plan["options"].get("shown", ()), program.uid)
        try:
            for _ in range(3):
                opened += os.pipe2(os.O_CLOEXEC)
            program.group = self.group(program)
            program.kills = None if program.group else self.kills
            status, errors, gate = opened[0:2], opened[2:4], opened[4:6]
            guard = os.fork()
        except OSError:
            for descriptor in opened:
                os.close(descriptor)
            if program.group:
                program.group.remove()
            raise
        if guard == 0:
            join = program.group.entrance_file if program.group else ""
            ends = (errors[1], *descriptors, status[1], gate[0])
            child.begin(program.plan, ends, program.uid, join)
        for descriptor in (status[1], errors[1], gate[0]):
            os.close(descriptor)
        for descriptor in (status[0], errors[0]):
            os.set_blocking(descriptor, False)
        program.guard, program.status = guard, status[0]
        program.errors, program.gate = errors[0], gate[1]
        self.slots[slot : slot + 1] = [program.id]
        self.programs[program.id] = self.by_pid[guard] = program
        self.listen(status[0], lambda _: self.read_status(program))

    def group(self, program: Program) -> cgroups.Group | None:
        """A control group for it, if we can have them and its memory is limited."""
        share = program.plan["share"]
        if not (self.groups and share["memory_mb"]):
            return None
        # A random name: a program can read it in its /proc/self/cgroup, and a running number would
        # show it how far the event is. Two more tasks: bwrap and its pid 1.
        return self.groups.group(
            os.urandom(8).hex(), memory_mb=share["memory_mb"], tasks=share["tasks"] + 2
        )

    def read_status(self, program: Program) -> bool:
        """Read the guard's lines; the first opens the gate. False: there is no more now."""
        known = program.root
        try:
            more = program.read_status()
        except EOFError:
            self.forget_status(program)
            return False
        if program.root != known:
            self.release(program)
        return more

    def release(self, program: Program) -> None:
        """Its sandbox is set up: apply the limits, and let the program run."""
        self.by_pid[program.root] = program
        if program.killed or program.wait_status is not None:
            return
        if program.as_bwrap:
            try:
                program.handle = os.pidfd_open(program.root)
                # The limits are set on the sandbox's pid 1 while it waits at the gate, so that
                # they don't count bwrap's own set-up and the user's other processes.
                with uids.real_uid(program.uid):
                    limits = program.plan["rlimits"].items()
                    child.limit(program.root, {n: v for n, v in limits if n != "FSIZE"})
                os.write(program.gate, child.OPEN_GATE)
            except (ProcessLookupError, BrokenPipeError):
                return  # died in its set-up; `conclude` finds out why
            except (OSError, ValueError, OverflowError) as error:
                program.failure = f"could not set the limits: {error}"
                self.kill(program)
                return
        program.begin_watch()
        self.answer({"started": {"id": program.id, "pid": program.root, "tree": program.tree}})

    def kill(self, program: Program) -> None:
        """Begin to kill a program's tree; `reap` and `settle` complete it."""
        program.killed = True
        if program.group:
            program.group.kill()
        if program.gate >= 0:
            os.close(program.gate)
            program.gate = -1
        if program.handle >= 0:
            # Pid 1 directly: on a busy core the guard would pass the signal on late.
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(program.handle, signal.SIGKILL)
        if program.as_bwrap and program.wait_status is None:
            os.kill(program.guard, signal.SIGKILL)

    def reap(self) -> None:
        """Collect every child that has ended, inherited ones too, then settle their programs."""
        subreaper.drain(self.news)
        with contextlib.suppress(ChildProcessError):
            while (found := os.wait4(-1, os.WNOHANG))[0]:
                pid, status, used = found
                if (program := self.by_pid.pop(pid, None)) is None:
                    continue
                program.cpu_ms += (used.ru_utime + used.ru_stime) * 1000
                if pid == program.guard:
                    program.wait_status = status
                else:
                    # A guard's own peak is useless: it was forked from us, and contains ours.
                    program.memory_mb = used.ru_maxrss / 1024
        for program in list(self.programs.values()):
            if program.wait_status is not None:
                self.settle(program)

    def settle(self, program: Program) -> None:
        """The guard is dead: kill what is left of the tree, or report that nothing is."""
        while self.read_status(program):
            pass
        if not program.root or not (program.as_bwrap or program.ended):
            self.kill_orphans()
        if program.root in self.by_pid:
            with contextlib.suppress(ChildProcessError):
                # An unreaped child of ours: its pid can't have been reused.
                os.waitid(os.P_PID, program.root, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                os.kill(program.root, signal.SIGKILL)
                return  # its end wakes us again
        self.by_pid.pop(program.root, None)
        program.conclude()
        self.forget_status(program)
        program.close()
        self.slots[self.slots.index(program.id)] = 0
        while self.slots and not self.slots[-1]:
            self.slots.pop()
        del self.programs[program.id]
        self.answer({"exited": program.exited()})

    def forget_status(self, program: Program) -> None:
        if program.status >= 0:
            self.poll.unregister(program.status)
            del self.handlers[program.status]
            os.close(program.status)
            program.status = -1

    def kill_orphans(self) -> None:
        """Kill inherited children, whose guard has died; what is below them is inherited next."""
        guards = {each.guard for each in self.programs.values() if each.wait_status is None}
        try:
            orphans = set(meter.children(os.getpid())) - guards
        except meter.NoListsError:
            orphans = meter.descendants(os.getpid()) - guards - meter.descendants(*guards)
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def answer(self, message: dict[str, Any]) -> None:
        if not self.closing:
            self.answers.append(json.dumps(message).encode())
            self.flush()

    def flush(self) -> None:
        wanted = select.POLLIN
        try:
            while self.answers:
                self.connection.send(self.answers[0], socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
                self.answers.popleft()
        except BlockingIOError:
            wanted |= select.POLLOUT
        except OSError:
            self.close()
            return
        self.poll.modify(self.connection, wanted)

    def close(self) -> None:
        """The referee has gone: kill everything, and send no more answers."""
        if self.closing:
            return
        self.closing = time.monotonic() + LAST_KILL_S
        for descriptor in (self.connection.fileno(), self.referee):
            self.poll.unregister(descriptor)
            del self.handlers[descriptor]
        for program in self.programs.values():
            self.kill(program)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the referee's to handle
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in RAISED:
        number = getattr(resource, f"RLIMIT_{name}")
        _, most = resource.getrlimit(number)
        resource.setrlimit(number, (most, most))
    connection = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC), 0)
    SpawnerProcess(connection).run()
