"""What the roster hands to its caller: candidates, bots, and what is wrong with the rest.

Pure data. Invariant: every text in a `Problem`, a note or a `NotRun` is fit for a terminal.
"""

from __future__ import annotations

from arena.bots.manifest import NAME, Asked
from arena.bots.plain_text import last_lines
from arena.model import Bot, Entrant, Frozen, NotRun


class Problem(Frozen, frozen=True, kw_only=True):
    """An entrant that can't take part as it is: the author's or the user's to mend."""

    name: str
    """name@version where known, else what the path ends in."""
    path: str
    """As the user gave it."""
    lines: tuple[str, ...]
    """What is wrong, the most telling line first; then details such as compiler output."""

    def __str__(self) -> str:
        # What is wrong with the manifest is told by its path and line, as compilers do.
        own = [f"{self.path}/{line}" for line in self.lines if line.startswith(f"{NAME}:")]
        if own:
            return "\n".join(own)
        return "\n  ".join([f"{self.path}: {self.lines[0]}", *self.lines[1:]])

    @property
    def not_run(self) -> NotRun:
        """The same for an event that goes on without it."""
        return NotRun(name=self.name, reason=self.lines[0])


class Candidate(Frozen, frozen=True, kw_only=True):
    """An entrant whose content is safe in the cache; not yet built."""

    entrant: Entrant
    snapshot: str
    """Folder with its files."""
    run: tuple[str, ...] | None
    """As in the manifest; None: the folder's obvious entry file."""
    build: tuple[tuple[str, ...], ...] = ()
    lock: str = ""
    """Name of the lock file with its packages, if it needs any."""
    optional: bool = False
    asked: Asked = Asked()
    source: str
    """Absolute path of what the user named; where `restore` looks when the cache is gone."""
    shown: str
    """The path as the user gave it."""


class Roster(Frozen, frozen=True, kw_only=True):
    """What a look at the given paths has found, in their order."""

    candidates: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    skipped: tuple[NotRun, ...] = ()


class FailedError(Exception):
    """Something that was run for a bot did not work out: a line, and the end of its output."""

    def __init__(self, line: str, output: bytes = b"") -> None:
        super().__init__(line)
        self.lines = (line, *last_lines(output))


class Built(Frozen, frozen=True, kw_only=True):
    """The bots that can be started, in the order of the candidates."""

    bots: tuple[Bot, ...] = ()
    problems: tuple[Problem, ...] = ()
    skipped: tuple[NotRun, ...] = ()
