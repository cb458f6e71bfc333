"""Check one record: replay its moves by the deals and the rules, and compare."""

from __future__ import annotations

from arena.deals import Deals, fingerprint
from arena.formats import Format
from arena.games import Game
from arena.luck import sums
from arena.model import Fault, FaultKind, HoleRecord, MatchRecord, Settings
from arena.referee import Referee
from arena.replay.moves import ReplayError, Witness, replay_moves, spec_of
from arena.verify.findings import Difference, differs, first_unlike

_ANY_TIME = frozenset({FaultKind.FLOOD, FaultKind.MEMORY, FaultKind.LIMIT})
"""START is for the start-up alone, all others are for questions alone."""

_ROUNDED_MS = 0.001


class RecordCheck:
    """Replays records of an event."""

    def __init__(self, *, game: Game, deals: Deals, schedule: Format, settings: Settings) -> None:
        self._game = game
        self._deals = deals
        self._schedule = schedule
        self._settings = settings
        self._pack = game.pack(settings.seats)

    def place(self, record: MatchRecord) -> int | Difference:
        """How many matches come before it in the schedule; or why it is not in it."""
        found = self._schedule.find(record.pairing, record.deal, record.rotation)
        if found is None:
            return _differs(
                record,
                "schedule",
                "a match of this event",
                f"pairing {record.pairing}, deal {record.deal}, rotation {record.rotation}",
            )
        place, spec = found
        mine = spec_of(record)
        for name in ("id", "series", "seats"):
            if getattr(mine, name) != getattr(spec, name):
                return _differs(record, name, getattr(spec, name), getattr(mine, name))
        return place

    def difference(self, record: MatchRecord) -> Difference | None:
        """How it differs from its replay; it must be in the schedule."""
        illegal = [fault for fault in record.faults if fault.kind is FaultKind.ILLEGAL]
        try:
            again = replay_moves(
                record,
                game=self._game,
                deals=self._deals,
                settings=self._settings,
                witness=_Doubter() if illegal else None,
            )
        except ReplayError as error:
            return self._deck(record) or _differs(
                record,
                "move" if error.hole else "fault",
                error.expected,
                error.found,
                hole=error.hole,
                move=error.move,
            )
        if _core(record) != _core(again):
            return self._deck(record) or unlike(record, again)
        if found := self._fault(record) or self._use(record, again):
            return found
        if record.digest != record.computed_digest():
            return _differs(record, "digest", record.computed_digest(), record.digest)
        luck = self._luck(record)
        return None if luck == record.luck else _differs(record, "luck", luck, record.luck)

    def _luck(self, record: MatchRecord) -> tuple[int, ...]:
        if not self._settings.evaluator:
            return ()
        return sums(record, game=self._game, deals=self._deals, settings=self._settings)

    @staticmethod
    def _fault(record: MatchRecord) -> Difference | None:
        """A kind of fault that is impossible at its moment."""
        for fault in record.faults:
            starting = fault.turn == 0
            if fault.kind not in _ANY_TIME and (fault.kind is FaultKind.START) != starting:
                when = "while it starts" if starting else f"at turn {fault.turn}"
                possible, kind = f"one that there can be {when}", fault.kind.value
                return _differs(record, "fault", possible, kind, hole=fault.hole)
        return None

    def _use(self, record: MatchRecord, again: MatchRecord) -> Difference | None:
        """Times are the host's word, but they have limits."""
        asked = [use.decisions for use in again.use]
        stated = [use.decisions for use in record.use]
        if stated != asked:
            return _differs(record, "decisions", asked, stated)
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
                    return _differs(record, name, expected, f"{found:g}")
        return None

    def _deck(self, record: MatchRecord) -> Difference | None:
        """With other cards, all else differs too."""
        dealt = fingerprint(
            [
                self._deals.deck(record.pairing, record.deal, hole, self._pack).cards
                for hole in range(1, len(record.holes) + 1)
            ]
        )
        if dealt == record.deck:
            return None
        return _differs(record, "deck", dealt, record.deck)


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
    found: tuple[tuple[str, object, object], ...] = (
        ("holes", len(record.holes), len(again.holes)),
        ("totals", record.totals, again.totals),
        ("places", record.places, again.places),
    )
    for name, mine, right in found:
        if mine != right:
            return _differs(record, name, right, mine)
    right, mine = (
        [[f.kind.value, f.seat, f.hole, f.turn] for f in r.faults] for r in (again, record)
    )
    return _differs(record, "faults", right, mine)


def _unlike_hole(
    record: MatchRecord, number: int, mine: HoleRecord, right: HoleRecord
) -> Difference:
    if mine.order != right.order:
        return _differs(record, "order", right.order, mine.order, hole=number)
    if mine.moves != right.moves:
        found, expected = mine.moves.split(","), right.moves.split(",")
        at = first_unlike(found, expected)
        return _differs(
            record,
            "move",
            expected[at] if at < len(expected) else "the end of the hole",
            found[at] if at < len(found) else "the end of the hole",
            hole=number,
            move=at + 1,
        )
    return _differs(record, "scores", right.scores, mine.scores, hole=number)


def _differs(
    record: MatchRecord, what: str, expected: object, found: object, *, hole: int = 0, move: int = 0
) -> Difference:
    return differs(what, expected, found, match=record.id, hole=hole, move=move)
