"""Results of loading and building bots: candidates, built bots, and problems with the rest.

Invariant: every text in a `Problem`, a note or a `NotRun` is fit for a terminal.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from arena.bots.commands import CommandError
from arena.bots.folder import SnapshotError
from arena.bots.interpreters import HiddenToolError, MissingToolError
from arena.bots.manifest import NAME, Manifest
from arena.bots.plain_text import BotError, last_lines
from arena.model import Bot, Entrant, Frozen, NotRun


class Problem(Frozen, frozen=True, kw_only=True):
    """Why an entrant can't take part; its author or the user can fix it."""

    name: str  # name@version where known, else the last part of the path
    path: str  # as the user gave it
    lines: tuple[str, ...]
    """The problem in words, the most important line first; then details such as compiler output."""

    def __str__(self) -> str:
        # A mistake in a manifest is shown as path:line, as compilers do.
        own = [f"{self.path}/{line}" for line in self.lines if line.startswith(f"{NAME}:")]
        if own:
            return "\n".join(own)
        return "\n  ".join([f"{self.path}: {self.lines[0]}", *self.lines[1:]])

    @property
    def not_run(self) -> NotRun:
        """The entry for event.json, where the event goes on without the bot."""
        return NotRun(name=self.name, reason=self.lines[0])


class Candidate(Frozen, frozen=True, kw_only=True):
    """An entrant whose content is in the cache; not yet built."""

    entrant: Entrant
    stated: Manifest
    snapshot: str  # folder with its files
    source: str  # absolute path of what the user named; `restore` reads it when the cache is gone
    path: str  # as the user gave it


class FailedError(BotError):
    """A program that was run for a bot has failed: a line, and the end of its output."""

    def __init__(self, line: str, output: bytes = b"") -> None:
        super().__init__(line, *last_lines(output))
        self.output = output


@dataclass
class Issues:
    """Collects what is wrong with bots, so that one bad bot stops no other."""

    problems: tuple[Problem, ...] = ()
    skipped: tuple[NotRun, ...] = ()

    def add(self, name: str, path: str, *lines: str) -> None:
        self.problems += (Problem(name=name, path=path, lines=lines),)

    @contextmanager
    def of(self, candidate: Candidate, where: str = "") -> Iterator[None]:
        """Collect an error with a candidate; `where` begins the line about a command."""
        name, path = candidate.entrant.id, candidate.path
        try:
            yield
        except MissingToolError as e:
            if candidate.stated.optional:
                self.skipped += (NotRun(name=name, reason=f"optional, and {e}"),)
            else:
                remedy = "or set optional = true in bot.toml to leave the bot out without it"
                self.add(name, path, f"{e}; {remedy}")
        except BotError as e:
            of_command = isinstance(e, CommandError | HiddenToolError | SnapshotError)
            self.add(name, path, f"{where if of_command else ''}{e}", *e.lines[1:])


@dataclass(kw_only=True)
class Roster(Issues):
    """The bots in the given paths, in their order."""

    candidates: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True)
class Built(Issues):
    """The bots that can be started, in the order of the candidates."""

    bots: tuple[Bot, ...] = ()
