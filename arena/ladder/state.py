"""What a chain says: the rules, each author's entrants, the rounds.

Invariant: a function of the chain's lines.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from arena.ladder.chain import (
    CHAIN,
    Accepted,
    AnyLine,
    Closed,
    Founded,
    Rejected,
    Retired,
    RoundBegun,
    RoundEnded,
    RulesChanged,
)
from arena.ladder.rules import LadderRules
from arena.model import Entrant, UserError


@dataclass
class AuthorState:
    """One author, by handle."""

    handle: str
    active: Entrant | None = None
    accepted: list[Accepted] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    retired: Retired | None = None
    """Why the newest version plays no more."""
    last: Accepted | Rejected | None = None
    """What became of the newest submission."""

    def is_new(self, submission: str, received: str) -> bool:
        """Whether a submission with this digest is to be handled. What was refused may be handed in
        again: a busy machine may have been the reason.
        """
        last = self.last
        if last is None or last.submission != submission:
            return True
        return isinstance(last, Rejected) and received > last.received

    @property
    def submissions(self) -> int:
        return len(self.accepted) + len(self.rejected)


@dataclass
class Round:
    begun: RoundBegun
    head: str  # of the chain before it began
    active: tuple[Entrant, ...]
    """Who could play, by the chain."""
    rules: LadderRules
    ended: RoundEnded | None = None

    @property
    def name(self) -> str:
        """Of its folder in rounds/."""
        kind = "final" if self.begun.final is True else "round"
        return f"{self.begun.round:04d}-{kind}-{self.begun.game}"


@dataclass
class LadderState:
    rules: LadderRules
    authors: dict[str, AuthorState] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    closed: Closed | None = None

    @property
    def active(self) -> tuple[Entrant, ...]:
        found = (author.active for author in self.authors.values())
        return tuple(sorted((each for each in found if each), key=lambda each: each.id))

    @property
    def unfinished(self) -> Round | None:
        last = self.rounds[-1] if self.rounds else None
        return last if last and not last.ended else None

    @property
    def finals(self) -> tuple[str, ...]:
        """The games whose final is over."""
        return tuple(
            each.begun.game for each in self.rounds if each.ended and each.begun.final is True
        )

    def played(self, game: str) -> list[Round]:
        return [each for each in self.rounds if each.begun.game == game and each.ended]

    def author(self, handle: str) -> AuthorState:
        return self.authors.setdefault(handle, AuthorState(handle))

    def author_of(self, entrant: str) -> str:
        """The handle in an entrant's id."""
        return entrant.rpartition("@")[0]


def state_of(lines: Iterable[AnyLine]) -> LadderState:
    """UserError if the lines contradict each other."""
    first, *others = lines
    assert isinstance(first, Founded), "a chain begins with its foundation"
    reader = _Reader(LadderState(_rules(first)))
    for line in others:
        if wrong := reader.follow(line):
            raise UserError(f"{CHAIN}: line {line.n}: {wrong}")
    return reader.state


def _rules(line: Founded | RulesChanged) -> LadderRules:
    return msgspec.json.decode(line.rules, type=LadderRules)


class _Reader:
    """Each method changes the state by a line, and returns what contradicts it."""

    def __init__(self, state: LadderState) -> None:
        self.state = state
        self._by_kind: Mapping[type[AnyLine], Callable[[Any], str]] = {
            RulesChanged: self._rules,
            Accepted: self._accepted,
            Rejected: self._rejected,
            Retired: self._retired,
            RoundBegun: self._begun,
            RoundEnded: self._ended,
            Closed: self._closed,
        }

    def follow(self, line: AnyLine) -> str:
        return self._by_kind[type(line)](line)

    def _rules(self, line: RulesChanged) -> str:
        self.state.rules = _rules(line)
        return ""

    def _accepted(self, line: Accepted) -> str:
        author = self.state.author(line.author)
        author.active, author.retired, author.last = line.entrant, None, line
        author.accepted.append(line)
        number = len(author.accepted)
        if line.entrant.id != f"{line.author}@{number}":
            return f"version {number} of {line.author} is called {line.entrant.id}"
        return "a submission is accepted after the end" if self.state.closed else ""

    def _rejected(self, line: Rejected) -> str:
        author = self.state.author(line.author)
        author.rejected.append(line)
        author.last = line
        return ""

    def _retired(self, line: Retired) -> str:
        author = self.state.author(line.author)
        if author.active is None or author.active.id != line.entrant:
            return f"{line.entrant} is retired, and doesn't play"
        author.active, author.retired = None, line
        return ""

    def _begun(self, line: RoundBegun) -> str:
        state = self.state
        if state.unfinished or line.round != len(state.rounds) + 1:
            return f"round {line.round} begins out of turn"
        state.rounds.append(Round(line, line.prev, state.active, state.rules))
        return ""

    def _ended(self, line: RoundEnded) -> str:
        last = self.state.unfinished
        if last is None or last.begun.round != line.round:
            return f"round {line.round} ends, and wasn't being played"
        last.ended = line
        return ""

    def _closed(self, line: Closed) -> str:
        self.state.closed = line
        return ""
