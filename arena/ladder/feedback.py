"""What an author may see: feedback/HANDLE/, made again from the chain and the rounds.

    report.md          the newest submission, place and history, faults, dear decisions, matches
    feedback.json      the same for programs
    faults/MATCH.txt   what the bot read and wrote until a fault: `arena feed BOT FILE` plays it

Invariant: it names no other author's bot but by the id that every table shows, and holds nothing
that another bot has written.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from arena.api.results import EventResults
from arena.bots.trees import remove
from arena.event.search import BotMatches
from arena.ladder.folder import Ladder
from arena.ladder.history import history
from arena.ladder.ranking import ranking
from arena.ladder.submissions import SubmissionReport
from arena.machine import Notify, ignore_notes
from arena.model import Frozen, MatchRecord, UserError, canonical
from arena.regret.summary import BotRegret
from arena.reports.escape import markdown, sentence
from arena.reports.faults import headline
from arena.store.files import UNDECODABLE
from arena.store.folder import write_atomically

JUDGED = 400
"""Matches of the newest round that are judged for what decisions cost: some 20 s a game."""
FAULTS, MATCHES = 10, 30  # that are shown of a bot


class RankAfter(Frozen, frozen=True, kw_only=True):
    round: int
    entrant: str
    rank: int
    rank_last: int


class FaultShown(Frozen, frozen=True, kw_only=True):
    match: str
    what: str
    stderr: str
    transcript: str
    """The file beside the report; empty if there is none."""


class MatchShown(Frozen, frozen=True, kw_only=True):
    match: str
    opponent: str
    strokes: int
    theirs: int


class GameFeedback(Frozen, frozen=True, kw_only=True):
    game: str
    rank: int | None
    """None: not rated yet."""
    rank_last: int | None
    of: int
    skill: float | None
    matches: int
    history: tuple[RankAfter, ...]
    faults: tuple[FaultShown, ...]
    """Of the newest round."""
    regret: BotRegret | None
    newest: tuple[MatchShown, ...]


class AuthorFeedback(Frozen, frozen=True, kw_only=True):
    author: str
    active: str
    """The entrant that plays; empty: none."""
    retired: str
    """Why the newest version plays no more."""
    submission: SubmissionReport | None
    games: tuple[GameFeedback, ...]


def write_feedback(ladder: Ladder, notify: Notify = ignore_notes) -> list[Path]:
    """Write the feedback of every author; returns the reports."""
    folders = {handle: ladder.folder / "feedback" / handle for handle in ladder.state.authors}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
        remove(folder / "faults")
    games: dict[str, list[GameFeedback]] = {handle: [] for handle in folders}
    for game in ladder.state.rules.games:
        for handle, of_game in _of_game(ladder, game, folders, notify):
            games[handle].append(of_game)
    for handle, author in sorted(ladder.state.authors.items()):
        found = AuthorFeedback(
            author=handle,
            active=author.active.id if author.active else "",
            retired=author.retired.why if author.retired else "",
            submission=_submission(folders[handle]),
            games=tuple(games[handle]),
        )
        place = folders[handle]
        write_atomically(place / "feedback.json", msgspec.json.format(canonical(found)) + b"\n")
        write_atomically(place / "report.md", "\n".join(_lines(found)).encode() + b"\n")
    return [folder / "report.md" for _, folder in sorted(folders.items())]


def _submission(folder: Path) -> SubmissionReport | None:
    try:
        data = (folder / "submission.json").read_bytes()
        return msgspec.json.decode(data, type=SubmissionReport)
    except (OSError, *UNDECODABLE):
        return None


def _of_game(
    ladder: Ladder, game: str, folders: Mapping[str, Path], notify: Notify
) -> Iterator[tuple[str, GameFeedback]]:
    rounds = history(ladder, game)
    table = ranking(ladder, game)
    rows = {row.entrant: row for row in table.rows}
    rated = sum(row.rank is not None for row in table.rows)
    last = _LastRound(ladder, game, notify) if rounds else None
    for handle, author in sorted(ladder.state.authors.items()):
        newest = author.accepted[-1].entrant.id if author.accepted else ""
        row = rows.get(newest)
        yield (
            handle,
            GameFeedback(
                game=game,
                rank=row.rank if row else None,
                rank_last=row.rank_last if row else None,
                of=rated,
                skill=row.mu if row else None,
                matches=row.matches or 0 if row else 0,
                history=tuple(
                    RankAfter(round=each.begun.round, entrant=entrant, rank=first, rank_last=final)
                    for each, ranks in rounds
                    for entrant, (first, final) in ranks.items()
                    if entrant.rpartition("@")[0] == handle
                ),
                faults=tuple(last.faults(newest, folders[handle])) if last else (),
                regret=last.regret.get(newest) if last else None,
                newest=tuple(last.matches.get(newest, ())[-MATCHES:]) if last else (),
            ),
        )


class _LastRound:
    """What the newest round of a game shows of each bot; its log is read once."""

    def __init__(self, ladder: Ladder, game: str, notify: Notify) -> None:
        self._place = ladder.place_of(ladder.state.played(game)[-1])
        self._results = EventResults(self._place, notify)
        self.matches: dict[str, list[MatchShown]] = {}
        self._faulted: dict[str, list[MatchRecord]] = {}
        for record in self._results.matches():
            self._add(record)
        for record in self._results.matches(everything=True):  # of annulled bots, too
            for fault in record.faults:
                self._faulted.setdefault(record.seats[fault.seat], []).append(record)
        judged = self._results.regret(JUDGED).bots if self.matches else ()
        self.regret = {each.bot: each for each in judged}

    def _add(self, record: MatchRecord) -> None:
        for seat, entrant in enumerate(record.seats):
            shown = MatchShown(
                match=record.id,
                opponent=record.seats[1 - seat],
                strokes=record.totals[seat],
                theirs=record.totals[1 - seat],
            )
            self.matches.setdefault(entrant, []).append(shown)

    def faults(self, entrant: str, folder: Path) -> Iterator[FaultShown]:
        for record in self._faulted.get(entrant, ())[:FAULTS]:
            (fault,) = (each for each in record.faults if record.seats[each.seat] == entrant)
            transcript = f"faults/{record.id}.txt"
            try:
                found = BotMatches(
                    self._place,
                    record.id,
                    entrant,
                    record.attempt,
                    ignore_notes,
                    event=self._results.event,
                )
                (folder / "faults").mkdir(exist_ok=True)
                (folder / transcript).write_bytes(found.transcript(lean=False))
            except UserError:
                transcript = ""
            yield FaultShown(
                match=record.id,
                what=headline(record, fault),
                stderr=fault.stderr,
                transcript=transcript,
            )


def _lines(found: AuthorFeedback) -> Iterator[str]:
    """The report in Markdown; what a bot has written is no markup."""
    yield f"# {found.author}"
    yield ""
    yield from _handed_in(found)
    for game in found.games:
        yield from _game_lines(game)


def _handed_in(found: AuthorFeedback) -> Iterator[str]:
    if found.active:
        yield f"**{found.active}** plays for you."
    elif found.retired:
        yield f"No bot plays for you: the last one was retired ({found.retired})."
    else:
        yield "No bot plays for you yet."
    if not (last := found.submission):
        return
    became = f"accepted as {last.accepted}" if last.accepted else "refused"
    yield ""
    yield f"Your newest submission, of {last.received}, was **{became}**."
    if last.why:
        yield ""
        yield sentence(last.why, markdown)
    for each in last.findings:
        yield ""
        yield f"- {sentence(each.title, markdown)}. The rule: {sentence(each.rule, markdown)}"
        yield f"  What to do: {sentence(each.advice, markdown)}"
        yield from _quoted(each.stderr)


def _game_lines(game: GameFeedback) -> Iterator[str]:
    yield ""
    yield f"## {game.game}"
    yield ""
    if game.rank is None:
        yield "Not in the ranking: none of its matches counts yet, or it plays no more."
    else:
        ranks = (
            f"{game.rank}" if game.rank == game.rank_last else f"{game.rank} to {game.rank_last}"
        )
        yield f"Rank **{ranks}** of {game.of}, by {game.matches} matches; skill {game.skill:.2f}."
    if game.history:
        yield ""
        yield "| after round | bot | rank |"
        yield "|---:|---|---|"
        for each in game.history:
            yield f"| {each.round} | {each.entrant} | {each.rank}-{each.rank_last} |"
    if game.faults:
        yield ""
        yield "### Matches lost by faults"
        for fault in game.faults:
            yield ""
            yield f"- {sentence(fault.what, markdown)}"
            if fault.transcript:
                yield f"  again: `arena feed YOUR_BOT {fault.transcript}`"
            yield from _quoted(fault.stderr)
    if game.regret:
        yield from _regret_lines(game.regret)
    if game.newest:
        yield ""
        yield "### Newest matches"
        yield ""
        yield "| match | opponent | yours | theirs |"
        yield "|---|---|---:|---:|"
        for match in game.newest:
            yield f"| {match.match} | {match.opponent} | {match.strokes} | {match.theirs} |"


def _regret_lines(found: BotRegret) -> Iterator[str]:
    yield ""
    yield "### Where it lost strokes by its own decisions"
    yield ""
    yield (
        f"By the opinion of a frozen evaluator: {found.regret:.2f} strokes a match, the others at "
        f"its tables {found.others:.2f}, in {found.matches} matches. The dearest moves:"
    )
    yield ""
    yield "| match | hole | move | played | best | strokes |"
    yield "|---|---:|---:|---|---|---:|"
    for each in found.dearest:
        where = f"| {each.match} | {each.hole} | {each.move} |"
        yield f"{where} {each.played} | {each.best} | {each.regret:.1f} |"


def _quoted(text: str) -> Iterator[str]:
    lines: Iterable[str] = text.splitlines()[-20:]
    for line in lines:
        yield f"      {sentence(line)}"
