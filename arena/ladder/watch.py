"""`arena ladder watch`: take in at once, play rounds by the schedule, for months.

Theory of operation. The watching process decides only when; each intake and each round is a command
of its own in a process of its own. So memory stays flat, a crash of one ends nothing, and killing
all of them at any moment is what each of them survives alone. Taking in goes on during a round.

A command that ends by the machine's trouble (exit code 4, a full disk) is tried again after a
pause. A clock that was set back is noticed: the next round then begins a period later.

Invariant: one process watches a ladder.
"""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from arena.ladder.chain import CHAIN
from arena.ladder.folder import Ladder
from arena.ladder.rules import FILE, HOUR
from arena.machine import Notify
from arena.model import UserError
from arena.store.folder import write_atomically
from arena.store.lock import lock
from arena.system import clock

POLL_S = 2.0
PAUSE_S = 60.0
_EVERY_S = 600.0
"""Even if nothing came: an author's submissions may have waited for the next day."""
_HOST = 4  # the exit code of the machine's trouble
_STARTED = "watch/round"
_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def watch_ladder(folder: Path, flags: Sequence[str], notify: Notify) -> int:
    """Until a signal, which is returned, or the end of the ladder. `flags`: of the rounds."""
    Ladder(folder)
    place = folder / "watch"
    place.mkdir(exist_ok=True)
    try:
        held = lock(place)
    except UserError:
        raise UserError(f"{folder}: another process watches it already") from None
    with held:
        return _Watch(folder, flags, notify).run()


class _Watch:
    def __init__(self, folder: Path, flags: Sequence[str], notify: Notify) -> None:
        self._folder, self._flags, self._notify = folder, flags, notify
        self._seen = ""  # of the inbox, when it was taken in last
        self._taken_in = 0.0
        self._intake: subprocess.Popen[bytes] | None = None
        self._round: subprocess.Popen[bytes] | None = None
        self._again = 0.0
        """When a round may be tried again that the machine's trouble has ended."""
        self._final = False
        self._problem = ""
        self._known: tuple[object, Ladder] | None = None
        self._told = len(Ladder(folder).state.rounds)
        self._stopped = 0

    def run(self) -> int:
        before = {number: signal.signal(number, self._stop) for number in _STOPS}
        try:
            while not self._stopped:
                if self._looked():
                    self._notify("the ladder is over: its final is played")
                    return 0
                clock.sleep(POLL_S)
            return self._stopped
        finally:
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self._stopped = number

    def _end(self) -> None:
        """Stop what runs: a round finishes its series, and goes on with the next `watch`."""
        for process in (self._intake, self._round):
            if process and process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in (self._intake, self._round):
            if process:
                process.wait()

    def _looked(self) -> bool:
        """Begin what is due. A mistake in ladder.toml is told once, and waited for to be mended."""
        try:
            over, self._problem = self._look(), ""
        except UserError as error:
            over = False
            if str(error) != self._problem:
                self._problem = str(error)
                self._notify(self._problem)
        return over

    def _look(self) -> bool:
        """Begin what is due; whether the ladder is over."""
        if self._intake is None or self._intake.poll() is not None:
            self._intake, now = None, clock.monotonic()
            inbox = _signature(self._folder / "inbox")
            if inbox != self._seen or now > self._taken_in + _EVERY_S:
                self._seen, self._taken_in = inbox, now
                self._intake = self._command("intake", "--quiet")
        return self._rounds()

    def _rounds(self) -> bool:
        if self._round is not None:
            code = self._round.poll()
            if code is None:
                return False
            self._round = None
            if code == 0:
                self._tell()
                return self._final
            self._again = clock.monotonic() + PAUSE_S
            if code == _HOST:
                self._notify(f"a round was stopped by the machine; again in {PAUSE_S:.0f} s")
            else:
                self._notify(f"a round ended with exit code {code}; again in {PAUSE_S:.0f} s")
        if clock.monotonic() < self._again:
            return False
        ladder = self._read()
        freeze = ladder.state.rules.freeze
        if freeze and clock.unix() >= freeze.timestamp() and self._intake is None:
            if set(ladder.state.finals) >= set(ladder.state.rules.games):
                return True
            self._final = True
            self._round = self._command("round", "--quiet", "--final", *self._flags)
        elif len(ladder.state.active) > 1 and (ladder.state.unfinished or self._due(ladder)):
            self._round = self._command("round", "--quiet", *self._flags)
        return False

    def _read(self) -> Ladder:
        """The ladder, read again if its files have changed."""
        stats = [(self._folder / name).stat() for name in (CHAIN, FILE)]
        state = [(stat.st_mtime_ns, stat.st_size, stat.st_ino) for stat in stats]
        if self._known is None or state != self._known[0]:
            self._known = state, Ladder(self._folder)
        return self._known[1]

    def _tell(self) -> None:
        """What was played, a line for each round."""
        rounds = Ladder(self._folder).state.rounds
        for each in rounds[self._told :]:
            if each.ended:
                self._notify(f"{each.name}: {each.ended.matches} matches")
        self._told = len(rounds)
        self._notify(f"head of the chain: {Ladder(self._folder).chain.head}")

    def _due(self, ladder: Ladder) -> bool:
        """Whether the next round begins now; then that is written down."""
        place, now = self._folder / _STARTED, clock.unix()
        try:
            last = float(place.read_text())
        except (OSError, ValueError):
            last = 0.0
        if last > now:
            self._notify("the clock was set back: the next round begins a period from now")
            write_atomically(place, f"{now:.0f}".encode())
            return False
        if now - last < ladder.file.schedule.hours * HOUR:
            return False
        write_atomically(place, f"{now:.0f}".encode())
        return True

    def _command(self, name: str, *flags: str) -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-m", "arena", "ladder", name, str(self._folder), *flags]
        # In a group of its own: Ctrl-C comes to us, and we pass it on once.
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, process_group=0)


def _signature(inbox: Path) -> str:
    """Another text after a change of what lies in the inbox, two levels deep."""
    found = []
    for path in sorted(inbox.iterdir()):
        if not path.name.startswith("."):
            inner = sorted(path.iterdir()) if path.is_dir() and not path.is_symlink() else []
            for each in (path, *inner):
                info = each.lstat()
                found.append(f"{each.name} {info.st_size} {info.st_mtime_ns} {info.st_ino}")
    return "\n".join(found)
