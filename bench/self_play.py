"""How strong and how fast are bots? Plays them through the referee: no sandbox, no clock.

    python bench/self_play.py play-nine 200 example_bots/strong example_bots/matcher

Each deal is played in all seat rotations, deals are seeded by their number. Bots are started
as programs over plain pipes (built first in a copy, where the manifest says so), or with
`--in-process` imported, which needs a `choose(view, legal)` or a `Player` in bot.py. A fault ends
the run.

Prints for each bot: strokes a hole, strokes a match against the others' mean with the standard
error over deals, the share of matches won against each of the others (a tie counts half), and
from question to answer, without the start: the mean time, pipes included, and the CPU of the bot's
process, in the mean and at most, which other programs on the machine hardly change.
"""

from __future__ import annotations

import argparse
import atexit
import functools
import importlib.util
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from arena.bots.manifest import of_folder
from arena.deals import Deals, secret_from_seed
from arena.model import MatchSpec, Settings
from arena.referee import HOLES, Referee, hello
from arena.registry import GAMES, game
from arena.wire.messages import Act, Bye, ToBot
from arena.wire.session import encode


class Contestant(Protocol):
    """Somebody who answers questions."""

    name: str
    seconds: float
    cpu: list[float]
    """Seconds of each answer."""

    def tell(self, message: ToBot) -> None:
        """Hand over a message that wants no answer."""

    def ask(self, question: Act) -> str:
        """The move for a question."""

    def close(self) -> None:
        """The end of the run."""


class Imported:
    """A bot's policy in this process; sees what the program would see, JSON and all."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.seconds = 0.0
        self.cpu = list[float]()
        spec = importlib.util.spec_from_file_location(f"bot_{folder.name}", folder / "bot.py")
        assert spec is not None
        assert spec.loader is not None
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self._player = self.module.Player() if hasattr(self.module, "Player") else None

    def tell(self, message: ToBot) -> None:
        """Ignore it, as a bot may."""

    def ask(self, question: Act) -> str:
        """The policy's move."""
        line = encode(question)
        begun, started = time.perf_counter(), time.process_time()
        message = json.loads(line)
        if self._player is None:
            move = self.module.choose(message["view"], message["legal"])
        else:
            move = self._player.choose(message["view"], message["legal"], message["events"])
        self.cpu.append(time.process_time() - started)
        self.seconds += time.perf_counter() - begun
        return str(move)

    def close(self) -> None:
        """Nothing to do."""


@functools.cache
def built(folder: Path) -> Path:
    """The folder, or the copy of it that was built, once."""
    commands = of_folder(folder).build
    if not commands:
        return folder
    # What a build leaves would become part of the bot, and change the hash of its content.
    copies = tempfile.mkdtemp(prefix="self-play-")
    atexit.register(shutil.rmtree, copies)
    copy = Path(shutil.copytree(folder, Path(copies, folder.name)))
    for command in commands:
        subprocess.run(command, cwd=copy, check=True)
    return copy


class Program:
    """A bot as a child process."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.name = folder.name
        self.seconds = 0.0
        self.cpu = list[float]()
        run = of_folder(folder).run
        assert run is not None
        self._process = subprocess.Popen(
            run, cwd=built(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._clock = ~self._process.pid << 3 | 2  # MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED)
        self._exchange(encode(hello(settings)))

    def _exchange(self, line: bytes) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        message: dict[str, Any] = json.loads(answer)
        return message

    def tell(self, message: ToBot) -> None:
        """Write it with the next flush."""
        assert self._process.stdin is not None
        self._process.stdin.write(encode(message))

    def ask(self, question: Act) -> str:
        """The program's move."""
        line, started = encode(question), time.clock_gettime(self._clock)
        begun = time.perf_counter()
        answer = self._exchange(line)
        self.seconds += time.perf_counter() - begun
        self.cpu.append(time.clock_gettime(self._clock) - started)
        assert answer["turn"] == question.turn
        return str(answer["move"])

    def close(self) -> None:
        """Say bye and see the program leave."""
        self.tell(Bye())
        assert self._process.stdin is not None
        self._process.stdin.close()
        status = self._process.wait(timeout=5)
        assert status == 0, f"{self.name} left with status {status}"
        assert self._process.stdout is not None
        self._process.stdout.close()


def play_match(
    settings: Settings, deals: Deals, seats: Sequence[Contestant], deal: int, rotation: int
) -> tuple[tuple[int, ...], int]:
    """(totals, completed turns) of one match; `seats` are already rotated."""
    names = tuple(bot.name for bot in seats)
    spec = MatchSpec(
        id=f"self-{deal:06d}-{rotation}",
        series="self",
        pairing="self",
        deal=deal,
        rotation=rotation,
        seats=names,
    )
    referee = Referee(spec, game=game(settings.game), deals=deals, settings=settings)
    referee.begin()
    while referee.asked:
        for seat, notice in referee.take_notices():
            seats[seat].tell(notice)
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=settings.limits.match_ms)
            referee.answer(seat, seats[seat].ask(question))
    for seat, notice in referee.take_notices():
        seats[seat].tell(notice)
    record = referee.record()
    assert not record.faults, record.faults[0]
    moves = [move for hole in record.holes for move in hole.moves.split(",")]
    # A drawn card's use completes the turn that its draw began.
    turns = sum(not move.startswith(("draw", "tee")) for move in moves)
    return record.totals, turns


class Tally:
    """Totals by deal and bot, over the rotations."""

    def __init__(self, bots: Sequence[Contestant]) -> None:
        self.bots = bots
        self.totals: list[list[int]] = [[] for _ in bots]
        self.beaten = [0.0] * len(bots)
        self.differences: list[list[float]] = [[] for _ in bots]
        self.matches = 0
        self.turns = 0

    def deal(self, rotated: Sequence[Sequence[int]], turns: int) -> None:
        """Take in a deal: the totals by bot, one row for each rotation."""
        others = len(self.bots) - 1
        self.matches += len(rotated)
        self.turns += turns
        for bot in range(len(self.bots)):
            difference = 0.0
            for totals in rotated:
                mine = totals[bot]
                rest = [total for other, total in enumerate(totals) if other != bot]
                self.totals[bot].append(mine)
                difference += mine - sum(rest) / others
                self.beaten[bot] += sum((mine < it) + (mine == it) / 2 for it in rest) / others
            self.differences[bot].append(difference / len(rotated))

    def strokes(self, bot: int) -> float:
        """Strokes a hole."""
        return sum(self.totals[bot]) / len(self.totals[bot]) / HOLES

    def turns_each(self) -> float:
        """Turns of a player on a hole."""
        return self.turns / self.matches / HOLES / len(self.bots)

    def lines(self) -> list[str]:
        """The result for people."""
        lines = [f"{self.matches} matches, {self.turns_each():.2f} turns a player and hole"]
        for index, bot in enumerate(self.bots):
            differences = self.differences[index]
            count = len(differences)
            mean = sum(differences) / count
            error = math.sqrt(sum((it - mean) ** 2 for it in differences) / count / count)
            beaten = self.beaten[index] / self.matches
            micros, cpu = (sec * 1e6 / len(bot.cpu) for sec in (bot.seconds, sum(bot.cpu)))
            longest = max(bot.cpu) * 1e3
            lines.append(
                f"{bot.name:>12}  {self.strokes(index):6.2f} a hole  {mean:+7.2f} ± {error:.2f} a "
                f"match  {beaten:6.1%} beaten  {micros:6.1f} µs an answer; "
                f"CPU {cpu:.1f} µs, at most {longest:.1f} ms"
            )
        return lines


def mirror(settings: Settings, bots: Sequence[Contestant], count: int, seed: str) -> Tally:
    """Play `count` deals in one seating: enough where all bots are alike, no comparison else."""
    deals = Deals(secret_from_seed(seed))
    tally = Tally(bots)
    for deal in range(count):
        totals, turns = play_match(settings, deals, bots, deal, 0)
        tally.deal([totals], turns)
    return tally


def play(settings: Settings, bots: Sequence[Contestant], count: int, seed: str) -> Tally:
    """Play `count` deals in all rotations."""
    deals = Deals(secret_from_seed(seed))
    tally = Tally(bots)
    seats = len(bots)
    for deal in range(count):
        rows, turns = [], 0
        for rotation in range(seats):
            # Seat s is taken by bot s + rotation.
            order = [(seat + rotation) % seats for seat in range(seats)]
            totals, played = play_match(
                settings, deals, [bots[bot] for bot in order], deal, rotation
            )
            row = [0] * seats
            for seat, bot in enumerate(order):
                row[bot] = totals[seat]
            rows.append(row)
            turns += played
        tally.deal(rows, turns)
    return tally


def main() -> None:
    """Play as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("game", choices=list(GAMES))
    parser.add_argument("deals", type=int, help="each is played in all seat rotations")
    parser.add_argument("bots", type=Path, nargs="+", help="folders, one for each seat")
    parser.add_argument("--in-process", action="store_true", help="import bot.py, no child process")
    parser.add_argument("--seed", default="self-play")
    asked = parser.parse_args()
    settings = Settings(game=asked.game, seats=len(asked.bots), turn_cap=game(asked.game).turn_cap)
    bots: list[Contestant] = [
        Imported(folder) if asked.in_process else Program(folder, settings) for folder in asked.bots
    ]
    tally = play(settings, bots, asked.deals, asked.seed)
    for bot in bots:
        bot.close()
    sys.stdout.write("\n".join(tally.lines()) + "\n")


if __name__ == "__main__":
    main()
