"""Verify a ladder: its chain, each round, and that each round follows from what came before it.

What is proven, and what is the operator's word, is in docs/design/ladder.md.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import UNSET

from arena.bots.folder import SnapshotError, open_folder
from arena.bots.snapshot import content_hash, listing
from arena.ladder.chain import Accepted, Retired, heads
from arena.ladder.folder import Ladder
from arena.ladder.ranking import earlier
from arena.ladder.rounds import WITHDRAWN, log_hash, round_settings
from arena.ladder.state import Round
from arena.model import ADJUSTED, Event, Frozen, LadderSettings, Settings, UserError
from arena.store import is_results_folder, read_event
from arena.verify.findings import Difference
from arena.verify.whole import verify

_NEAR = 1e-6  # of what earlier rounds say: other builds of Python differ in the last digits


class LadderFinding(Frozen, frozen=True, kw_only=True):
    """Something that is not as the chain says."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


class LadderVerdict(Frozen, frozen=True, kw_only=True):
    findings: tuple[LadderFinding, ...]
    head: str
    lines: int
    rounds: int
    matches: int
    versions: int
    """Whose content is there and is what the chain says."""
    absent: int
    """Versions whose content isn't in the folder, as in a published ladder."""
    unfinished: str = ""
    """The round that is not over."""

    @property
    def verified(self) -> bool:
        return not self.findings


def verify_ladder(folder: Path, *, jobs: int, head: str | None = None) -> LadderVerdict:
    """`head`: of the chain, as it was published once. UserError if the chain itself is broken."""
    ladder = Ladder(folder)
    state, found = ladder.state, list(_head(ladder, head))
    lines = [line for line in ladder.chain.lines if isinstance(line, Accepted)]
    places = {ladder.version(line.entrant) for line in lines}
    there = sorted(place for place in places if place.is_dir())
    found += [
        LadderFinding(place=f"versions/{place.name}", what=wrong)
        for place in there
        if (wrong := _content(place))
    ]
    for played in state.rounds:
        place = f"rounds/{played.name}"
        found += [LadderFinding(place=place, what=what) for what in _round(ladder, played, jobs)]
    found += _unknown(ladder)
    return LadderVerdict(
        findings=tuple(found),
        head=ladder.chain.head,
        lines=len(ladder.chain.lines),
        rounds=len(state.rounds),
        matches=sum(played.ended.matches for played in state.rounds if played.ended),
        versions=len(there),
        absent=len(places) - len(there),
        unfinished=state.unfinished.name if state.unfinished else "",
    )


def _head(ladder: Ladder, head: str | None) -> Iterator[LadderFinding]:
    if head is not None and head.strip().lower() not in set(heads(ladder.chain)):
        what = f"the head {head.strip()} was never that of this chain: it was written anew"
        yield LadderFinding(place=ladder.chain.path.name, what=what)


def _unknown(ladder: Ladder) -> Iterator[LadderFinding]:
    """Rounds that were played, and aren't in the chain."""
    known, rounds = {played.name for played in ladder.state.rounds}, ladder.folder / "rounds"
    for path in sorted(rounds.iterdir()) if rounds.is_dir() else ():
        strange = path.name not in known and is_results_folder(path)
        if strange and read_event(path).sandbox:  # else it was prepared, and nobody knows of it
            yield LadderFinding(place=f"rounds/{path.name}", what="the chain doesn't know of it")


def _content(place: Path) -> str:
    try:
        with open_folder(place) as folder:
            if content_hash(listing(folder)) != place.name:
                return "its content is not what was accepted"
    except (SnapshotError, OSError) as error:
        return f"can't be read: {error}"
    return ""


def _round(ladder: Ladder, played: Round, jobs: int) -> Iterator[str]:
    place = ladder.place_of(played)
    try:
        event = read_event(place)
    except UserError as error:
        yield f"can't be read: {str(error).partition(': ')[2]}"
        return
    yield from _announced(ladder, played, event)
    verdict = verify(place, jobs=jobs, commitment=played.begun.commitment)
    if verdict.difference:
        yield _in_words(verdict.difference)
        return
    if played.ended is None:
        return
    if not event.finished:
        yield "the chain says that it is over, and its event isn't"
        return
    if verdict.matches != played.ended.matches or log_hash(place, event) != played.ended.log:
        yield "its log is not the one that the chain has the hash of"
    lines = [line for line in ladder.chain.lines if isinstance(line, Retired)]
    retired = {line.entrant for line in lines if line.why == WITHDRAWN}
    gone = set(verdict.withdrawn) & {each.id for each in played.active}
    for entrant in sorted(gone - retired - _replaced(ladder, played)):
        yield f"{entrant} was withdrawn for its faults, and is not retired"


def _replaced(ladder: Ladder, played: Round) -> set[str]:
    """Those of a round's bots whose author had another one accepted."""
    versions = {
        line.author: line.entrant.id for line in ladder.chain.lines if isinstance(line, Accepted)
    }
    return {each.id for each in played.active if versions.get(each.name) != each.id}


def _announced(ladder: Ladder, played: Round, event: Event) -> Iterator[str]:
    """Where a round is not as the chain and the rounds before it say."""
    own, begun = event.settings.ladder, played.begun
    if event.commitment != begun.commitment:
        yield f"its commitment is {event.commitment}, the chain announced {begun.commitment}"
    if not own:
        yield "it is no round of a ladder"
        return
    if own.head != played.head or own.round != begun.round:
        yield "its settings name another place in the chain"
    yield from _field(played, event)
    yield from _rules(played, event.settings, own)
    try:
        names = [each.id for each in event.entrants]
        known = earlier(ladder, begun.game, names, event.settings.rating, before=begun.round)
    except UserError:
        return  # said of that round
    for name in ("skills", "precision"):
        if not _near(known.get(name, UNSET), getattr(own, name)):
            yield f"its {name} don't follow from the rounds before it"


def _rules(played: Round, settings: Settings, own: LadderSettings) -> Iterator[str]:
    """What ladder.toml decides. All else is an arena's own choice, under the commitment."""
    rules, begun = played.rules, played.begun
    due = round_settings(rules, begun, played.head)
    for name, wanted, found in (
        ("game", begun.game, settings.game),
        ("format", "ladder", settings.format),
        ("limits", rules.games[begun.game].limits, settings.limits),
        ("rate_on", ADJUSTED, settings.rate_on),
        ("predictable", bool(rules.seed), settings.predictable),
        ("budget", due.budget, own.budget),
        ("close", due.close, own.close),
    ):
        if found != wanted:
            yield f"its {name} is {found}, by ladder.toml as the chain has it {wanted}"


def _field(played: Round, event: Event) -> Iterator[str]:
    active = {each.id: each for each in played.active}
    for entrant in event.entrants:
        if active.get(entrant.id) != entrant:
            yield f"{entrant.id} plays in it, and was not active then with this content"
    left = active.keys() - {each.id for each in event.entrants} - {o.name for o in event.not_run}
    for name in sorted(left):
        yield f"{name} was active, and is left out of it without a reason"


def _near(expected: object, found: object) -> bool:
    if expected is UNSET or found is UNSET:
        return expected is found
    assert isinstance(expected, Sequence)
    assert isinstance(found, Sequence)
    if len(expected) != len(found):
        return False
    largest = max(map(abs, expected), default=0.0)
    return all(
        math.isclose(one, two, rel_tol=_NEAR, abs_tol=_NEAR * largest)
        for one, two in zip(expected, found, strict=True)
    )


def _in_words(difference: Difference) -> str:
    where = f"{difference.file}" + (f" line {difference.line}" if difference.line else "")
    return f"{where}: {difference.what}: expected {difference.expected}, found {difference.found}"
