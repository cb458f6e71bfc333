"""The folder of a ladder: its paths, its lock, its chain.

Invariant: only the holder of the lock writes; `Ladder.state` is what the chain says now.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from arena.intake import Author
from arena.ladder import rules as ladder_rules
from arena.ladder.chain import CHAIN, AnyLine, Chain, Founded, RulesChanged, read_chain
from arena.ladder.rules import LadderFile, LadderRules, read_rules, template
from arena.ladder.state import LadderState, Round, state_of
from arena.model import Entrant, Frozen, UserError, canonical
from arena.ratings.outcomes import Tally
from arena.store.files import UNDECODABLE, read_small, reason
from arena.store.folder import writable, write_atomically, writes_into
from arena.store.lock import lock
from arena.system import clock, randomness

_PRIVATE = "private.json"
_PATIENCE_S, _AGAIN_S = 600.0, 0.2
_FOLDERS = ("inbox", "versions", "rounds", "feedback")


class PrivateLadder(Frozen, frozen=True, kw_only=True):
    """private.json: for the organiser alone."""

    key: str
    """Makes pseudonyms."""
    authors: Mapping[str, Author]
    """By handle."""


def is_ladder(folder: Path) -> bool:
    return (folder / CHAIN).is_file() or (folder / ladder_rules.FILE).is_file()


class Ladder:
    """An open ladder; `append` and `write_private` need `held`."""

    def __init__(self, folder: Path) -> None:
        """UserError if ladder.toml or the chain can't be read."""
        self.folder = folder
        self.file: LadderFile = read_rules(folder)
        self.chain: Chain = read_chain(folder)
        self.private = _read_private(folder)
        if not self.chain.lines:
            raise UserError(
                f"{folder}: nothing is in {CHAIN}; begin with: arena ladder init {folder}"
            )
        self.state: LadderState = state_of(self.chain.lines)
        self.pools: dict[str, tuple[int, Tally]] = {}
        """By game: of how many of its rounds the sums are together, and these sums."""

    def append(self, line: AnyLine) -> None:
        self.chain.append(line)
        self.state = state_of(self.chain.lines)

    def write_private(self, private: PrivateLadder) -> None:
        write_atomically(self.folder / _PRIVATE, canonical(private), mode=0o600)
        self.private = private

    def version(self, entrant: Entrant) -> Path:
        """The folder with an entrant's content."""
        return self.folder / "versions" / entrant.snapshot

    def place_of(self, played: Round) -> Path:
        return self.folder / "rounds" / played.name

    def derived(self, name: str) -> Path:
        return self.folder / "derived" / name


def found_ladder(folder: Path, name: str) -> Ladder:
    """Begin a ladder in a folder; complete one that a killed process has begun."""
    with writable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        strange = {entry.name for entry in folder.iterdir()} - {
            *_FOLDERS,
            *(ladder_rules.FILE, "lock", _PRIVATE, "authors.csv"),
        }
        if strange:
            what = f"{folder}: there is a ladder already" if CHAIN in strange else ""
            raise UserError(what or f"{folder} is not empty: {min(strange)}; choose another folder")
        if not (folder / ladder_rules.FILE).exists():
            write_atomically(folder / ladder_rules.FILE, template(name).encode())
        file = read_rules(folder)
        for each in _FOLDERS:
            (folder / each).mkdir(exist_ok=True, mode=0o700)
        with lock(folder):
            if not (folder / _PRIVATE).exists():
                private = PrivateLadder(key=randomness.token_hex(32), authors={})
                write_atomically(folder / _PRIVATE, canonical(private), mode=0o600)
            rules = msgspec.Raw(canonical(ladder_rules.known(file.rules)))
            read_chain(folder).append(Founded(name=file.rules.name, rules=rules))
    return Ladder(folder)


@contextmanager
def held_ladder(folder: Path) -> Iterator[Ladder]:
    """A ladder for this process alone to change; its chain follows ladder.toml. Waits for others:
    who takes in holds it for one submission, a round at its begin and its end.
    """
    Ladder(folder)  # what is wrong with it is said first
    with writes_into(folder), _lock(folder):
        ladder = Ladder(folder)
        if ladder.file.rules != ladder.state.rules:
            _refuse_change(ladder.state, ladder.file.rules)
            rules = msgspec.Raw(canonical(ladder_rules.known(ladder.file.rules)))
            ladder.append(RulesChanged(rules=rules))
        yield ladder


def _lock(folder: Path) -> BinaryIO:
    until = clock.monotonic() + _PATIENCE_S
    while True:
        try:
            return lock(folder)
        except UserError:
            if clock.monotonic() > until:
                raise
            clock.sleep(_AGAIN_S)


def _refuse_change(state: LadderState, rules: LadderRules) -> None:
    """UserError for a change that would make what was played untrue."""
    if rules.anonymous != state.rules.anonymous and state.authors:
        raise UserError(
            "ladder.toml: anonymous: authors have been named in the chain already; begin another "
            "ladder"
        )


def _read_private(folder: Path) -> PrivateLadder:
    path = folder / _PRIVATE
    try:
        return msgspec.json.decode(read_small(path), type=PrivateLadder)
    except FileNotFoundError:
        return PrivateLadder(key="", authors={})
    except OSError as error:
        raise UserError(f"{path}: can't be read: {error.strerror}") from None
    except UNDECODABLE as error:
        raise UserError(f"{path}: damaged: {reason(error)}") from None
