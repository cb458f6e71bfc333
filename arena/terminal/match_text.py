"""Format matches as plain text: a list of matches, a whole match, a hole, a moment."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from arena.model import Fault, MatchRecord, UserError
from arena.reports.cards import Style, picture, scorecard
from arena.reports.escape import plain
from arena.reports.layout import clip, width, wrap
from arena.terminal.moments import Album

SHORTEST = 8  # columns that a name is cut down to at most
_ENDLESS = 10_000  # lines that a picture may have where nothing scrolls away


def listing(
    found: Sequence[tuple[MatchRecord, bool]], style: Style, *, room: int, bots: Sequence[str] = ()
) -> Iterator[str]:
    """A line a match: its id, and each bot with strokes or fault, the best first."""
    wide = max(width(plain(record.id)) for record, _ in found)
    yield style.dim(f"{'match':<{wide}}  strokes, the best first")
    for record, counts in found:
        note = "" if counts else f"  (attempt {record.attempt}, doesn't count)"
        left = max(SHORTEST, room - wide - 2 - width(note))
        placed = _placed(record, style, left, bots)
        yield f"{plain(record.id):<{wide}}  {placed}{style.dim(note)}"


def _placed(record: MatchRecord, style: Style, room: int, bots: Sequence[str]) -> str:
    """All names cut to one length; then some left out, but those that failed and `bots` last."""
    fell = {fault.seat: fault.kind for fault in record.faults}
    seats = sorted(range(len(record.seats)), key=lambda seat: record.places[seat])
    names = {seat: plain(record.seats[seat]) for seat in seats}
    ends = {seat: f" {fell.get(seat, record.totals[seat])}" for seat in seats}
    spare = room - sum(map(len, ends.values())) - 2 * (len(ends) - 1)
    longest = max(map(width, names.values()))
    while longest > SHORTEST and sum(min(width(n), longest) for n in names.values()) > spare:
        longest -= 1
    parts = {seat: clip(names[seat], longest) + ends[seat] for seat in seats}
    kept = sorted(seats, key=lambda seat: seat not in fell and record.seats[seat] not in bots)
    while len(kept) > 1 and _listed(parts, kept, len(parts)) > room:
        kept.pop()
    text = ", ".join(
        style.red(parts[seat]) if seat in fell else parts[seat] for seat in seats if seat in kept
    )
    return text + (f", +{len(parts) - len(kept)}" if len(kept) < len(parts) else "")


def _listed(parts: Mapping[int, str], kept: Sequence[int], many: int) -> int:
    """The width of some of the parts, with the number of the others."""
    more = len(f", +{many - len(kept)}") if len(kept) < many else 0
    return sum(width(parts[seat]) + 2 for seat in kept) - 2 + more


class MatchText(NamedTuple):
    """A recorded match in lines, as a watching seat could know it."""

    album: Album
    tell: Callable[[Fault], Iterable[str]]  # a fault in lines
    style: Style
    room: int
    watcher: int | None

    def whole(self) -> Iterator[str]:
        """Each hole's moves in words, and its cards at the end."""
        album, match = self.album, self.album.match
        yield (
            f"{plain(match.id)}: {match.settings.game}, deal {match.deal}, "
            f"rotation {match.rotation}"
        )
        yield from wrap(album.result(), self.room, indent="  ")
        if match.holes:
            scores = album.picture(len(album.moments) - 1).scores
            yield ""
            yield from scorecard(album.names, scores, match.totals, room=self.room)
        for hole, moments in itertools.groupby(enumerate(album.moments), lambda at: at[1].hole):
            *_, (last, _) = moments
            yield ""
            if hole:
                yield album.opening(match.holes[hole - 1])
            yield from self._moment(last)
            for fault in match.faults:
                if fault.hole == hole:
                    yield from self.tell(fault)

    def hole(self, hole: int) -> Iterator[str]:
        album = self.album
        _there(album, hole)
        yield album.opening(album.match.holes[hole - 1])
        for at, moment in enumerate(album.moments):
            if moment.hole == hole:
                yield ""
                *_, latest = ["The cards are dealt.", *album.news(at, self.watcher)]
                yield latest.strip()
                yield from self._cards(at)
                if moment.fault is not None:
                    yield from self.tell(moment.fault)

    def move(self, hole: int, move: int) -> Iterator[str]:
        """The table after so many moves of a hole, with what was played until then."""
        at = moment_of(self.album, hole, move)
        yield from self._moment(at)
        if (fault := self.album.moments[at].fault) is not None:
            yield from self.tell(fault)

    def _moment(self, at: int) -> Iterator[str]:
        for told in self.album.news(at, self.watcher):
            yield from wrap(told, self.room, indent="     ")
        if self.album.moments[at].hole:
            yield from self._cards(at)

    def _cards(self, at: int) -> list[str]:
        shown = self.album.picture(at, self.watcher)
        bare = msgspec.structs.replace(shown, title="", news=(), scores=())
        return picture(bare, self.style, room=self.room, height=_ENDLESS)[2:]


def moment_of(album: Album, hole: int, move: int | None) -> int:
    """The number of the moment after so many moves of a hole."""
    _there(album, hole)
    if move is None:
        return album.first_of(hole)
    steps = len(album.match.holes[hole - 1].steps)
    if not 0 <= move <= steps:
        raise UserError(f"hole {hole} has moves 1 to {steps} (0: as dealt), not {move}")
    places = [(moment.hole, moment.moves) for moment in album.moments]
    return places.index((hole, move))


def _there(album: Album, hole: int) -> None:
    holes = len(album.match.holes)
    if not holes:
        raise UserError(f"{plain(album.match.id)} ended before its first hole")
    if not 1 <= hole <= holes:
        raise UserError(f"{plain(album.match.id)} has holes 1 to {holes}, not {hole}")
