"""Check one record: replay its moves by the deals and the rules, and compare."""

from collections.abc import Sequence

from arena.deals import fingerprint
from arena.luck import sums
from arena.model import Fault, FaultKind, HoleRecord, MatchRecord
from arena.referee import Referee
from arena.replay.moves import ReplayError, Witness, replay_moves
from arena.verify.event import VerifiedEvent
from arena.verify.findings import Difference, DiffersError, differs, first_unlike

_ANY_TIME = frozenset({FaultKind.FLOOD, FaultKind.MEMORY, FaultKind.LIMIT})
"""START is for the start-up alone, all others are for questions alone."""

_ROUNDED_MS = 0.001


class RecordCheck:
    """Replays records of an event. Its functions raise DiffersError."""

    def __init__(self, case: VerifiedEvent) -> None:
        self._settings = case.event.settings
        self._game = case.game
        self._deals = case.deals
        self._schedule = case.schedule
        self._pack = case.game.pack(self._settings.seats)

    def place(self, record: MatchRecord) -> int:
        """How many matches come before a true record in the schedule."""
        found = self._schedule.find(record.pairing, record.deal, record.rotation)
        if found is None:
            here = f"pairing {record.pairing}, deal {record.deal}, rotation {record.rotation}"
            raise _differs(record, "schedule", "a match of this event", here)
        place, spec = found
        for name in ("id", "series", "seats"):
            _compare(record, name, getattr(spec, name), getattr(record, name))
        self._replay(record)
        _compare(record, "digest", record.computed_digest(), record.digest)
        luck: tuple[int, ...] = ()
        if self._settings.evaluator:
            luck = sums(record, game=self._game, deals=self._deals, settings=self._settings)
        _compare(record, "luck", luck, record.luck)
        return place

    def _replay(self, record: MatchRecord) -> None:
        illegal = any(fault.kind is FaultKind.ILLEGAL for fault in record.faults)
        try:
            witness = _Doubter() if illegal else None
            again = replay_moves(
                record, game=self._game, deals=self._deals, settings=self._settings, witness=witness
            )
        except ReplayError as error:
            self._check_deck(record)
            what = "move" if error.hole else "fault"
            place = {"hole": error.hole, "move": error.move}
            raise _differs(record, what, error.expected, error.found, **place) from None
        if _core(record) != _core(again):
            self._check_deck(record)
            raise DiffersError(unlike(record, again))
        for fault in record.faults:
            starting = fault.turn == 0
            if fault.kind not in _ANY_TIME and (fault.kind is FaultKind.START) != starting:
                when = "while it starts" if starting else f"at turn {fault.turn}"
                possible = f"one that there can be {when}"
                raise _differs(record, "fault", possible, fault.kind.value, hole=fault.hole)
        self._check_use(record, [use.decisions for use in again.use])

    def _check_use(self, record: MatchRecord, asked: Sequence[int]) -> None:
        """Times are the host's word, but they have limits."""
        _compare(record, "decisions", asked, [use.decisions for use in record.use])
        limits = self._settings.limits
        for seat, use in enumerate(record.use):
            if seat in record.forfeits:
                continue
            for name, found, most in (
                ("max_ms", use.max_ms, min(limits.move_ms, use.think_ms)),
                ("think_ms", use.think_ms, min(limits.match_ms, asked[seat] * use.max_ms)),
            ):
                # Each is rounded, and so is each of those that it is a sum of.
                if found > most + _ROUNDED_MS * (1 + asked[seat]):
                    expected = f"at most {most:g} ms, as seat {seat} has not failed"
                    raise _differs(record, name, expected, f"{found:g}")

    def _check_deck(self, record: MatchRecord) -> None:
        """With other cards, all else differs too."""
        deal, holes = (record.pairing, record.deal), range(1, len(record.holes) + 1)
        decks = [self._deals.deck(*deal, hole, self._pack).cards for hole in holes]
        _compare(record, "deck", fingerprint(decks), record.deck)


class _Doubter(Witness):
    """Refuses a fault for a move that was legal."""

    def outcome(self, referee: Referee, seat: int, fault: Fault | None, move: str | None) -> None:
        del move
        if fault is None or fault.kind is not FaultKind.ILLEGAL:
            return
        if fault.line in referee.legal(seat):
            raise ReplayError(
                referee.hole,
                len(referee.moves) + 1,
                expected=f"a move of seat {seat} that is not legal, as it has forfeited by it",
                found=fault.line,
            )


def _core(record: MatchRecord) -> tuple[object, ...]:
    faults = [(fault.kind, fault.seat, fault.hole, fault.turn) for fault in record.faults]
    return (record.deck, record.holes, record.totals, record.places, faults)


def unlike(record: MatchRecord, again: MatchRecord) -> Difference:
    """Where two records of the same deal differ first, in the order of play."""
    for number, (played, due) in enumerate(zip(record.holes, again.holes, strict=False), 1):
        if played != due:
            return _unlike_hole(record, number, played, due)
    for name in ("holes", "totals", "places"):
        mine, right = getattr(record, name), getattr(again, name)
        if mine != right:
            if name == "holes":
                mine, right = len(mine), len(right)
            return differs(name, right, mine, match=record.id)
    right, mine = (
        [[f.kind.value, f.seat, f.hole, f.turn] for f in r.faults] for r in (again, record)
    )
    return differs("faults", right, mine, match=record.id)


def _unlike_hole(
    record: MatchRecord, number: int, mine: HoleRecord, right: HoleRecord
) -> Difference:
    place = {"match": record.id, "hole": number}
    if mine.order == right.order and mine.moves != right.moves:
        found, expected = mine.moves.split(","), right.moves.split(",")
        at = first_unlike(found, expected)
        end = ["the end of the hole"]
        move, due = ([*moves[at:], *end][0] for moves in (found, expected))
        return differs("move", due, move, move=at + 1, **place)
    name = "scores" if mine.order == right.order else "order"
    return differs(name, getattr(right, name), getattr(mine, name), **place)


def _compare(record: MatchRecord, what: str, expected: object, found: object) -> None:
    if expected != found:
        raise _differs(record, what, expected, found)


def _differs(
    record: MatchRecord, what: str, expected: object, found: object, **place: int
) -> DiffersError:
    return DiffersError(differs(what, expected, found, match=record.id, **place))
