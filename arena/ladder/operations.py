"""What can be done with a ladder, for `import arena` and for the commands."""

import functools
from collections.abc import Sequence
from pathlib import Path

from arena.api.paths import PathName
from arena.api.threads import call, in_loop
from arena.event.options import RunOptions
from arena.event.progress import Outcome, Progress
from arena.event.session import Session
from arena.executors.cores import fair_jobs
from arena.ladder import folder as ladders
from arena.ladder.feedback import write_feedback
from arena.ladder.folder import Ladder, held_ladder
from arena.ladder.publish import publish_ladder
from arena.ladder.ranking import ranking
from arena.ladder.rounds import play_round
from arena.ladder.submissions import Handled, close_ladder, leave, take_in
from arena.ladder.total import TotalRow, grades, total
from arena.ladder.verify import LadderVerdict, verify_ladder
from arena.ladder.watch import watch_ladder
from arena.live import open_page
from arena.machine import Notify, ignore_notes
from arena.model import Frozen, Table
from arena.site.publish import Progress as SiteProgress
from arena.site.publish import PublishedSummary

_ANY_RUN = RunOptions()


class LadderStatus(Frozen, frozen=True, kw_only=True):
    """Where a ladder stands."""

    name: str
    games: tuple[str, ...]
    head: str
    authors: int
    active: tuple[str, ...]
    submissions: int
    rounds: int
    played: dict[str, int]
    """Rounds that are over, by game."""
    matches: int
    unfinished: str
    """The round that is not over; empty: none."""
    frozen: bool
    finals: tuple[str, ...]
    """The games whose final is over."""


def ladder_init(folder: PathName, *, name: str | None = None) -> LadderStatus:
    """Begin a ladder in a new folder, with a commented ladder.toml."""
    path = Path(folder)
    return _status(ladders.found_ladder(path, name or path.absolute().name))


def ladder_status(folder: PathName) -> LadderStatus:
    """Who is active, what was played, what is not finished."""
    return _status(Ladder(Path(folder)))


def is_ladder(folder: PathName) -> bool:
    """Whether a folder is a ladder's."""
    return ladders.is_ladder(Path(folder))


def _status(ladder: Ladder) -> LadderStatus:
    state = ladder.state
    return LadderStatus(
        name=state.rules.name,
        games=tuple(state.rules.games),
        head=ladder.chain.head,
        authors=len(state.authors),
        active=tuple(each.id for each in state.active),
        submissions=sum(author.submissions for author in state.authors.values()),
        rounds=len(state.rounds),
        played={game: len(state.played(game)) for game in state.rules.games},
        matches=sum(each.ended.matches for each in state.rounds if each.ended),
        unfinished=state.unfinished.name if state.unfinished else "",
        frozen=state.closed is not None,
        finals=state.finals,
    )


def ladder_submit(folder: PathName, author: str, bot: PathName) -> Path:
    """Put a bot into the inbox, in the place of the author's last one; `ladder_intake` takes it in.
    Returns where it lies.
    """
    return leave(Ladder(Path(folder)), author, Path(bot))


def ladder_intake(
    folder: PathName,
    *,
    export: PathName | None = None,
    sandbox: str = "auto",
    notify: Notify = ignore_notes,
) -> list[Handled]:
    """Take in what is new in the inbox: unpack, check, accept or refuse. `export`: a course
    system's download of all submissions, which is put there first.
    """
    act = functools.partial(take_in, Path(folder), notify, sandbox=sandbox)
    return call(functools.partial(act, export=None if export is None else Path(export)))


def ladder_round(
    folder: PathName,
    game: str | None = None,
    *,
    final: bool = False,
    options: RunOptions = _ANY_RUN,
    progress: Progress | None = None,
) -> Outcome:
    """Play a round of a game, or go on with the one that is not over. `final`: the last one, with
    its own budget, after `ladder_freeze`.
    """
    following = progress or Progress()

    def act() -> Outcome:
        with open_page(options.live) as page:
            session = Session(options, following, page)
            return play_round(Path(folder), game, session, final=final)

    return call(act, following) if in_loop() else act()


def ladder_table(folder: PathName, game: str, *, retired: bool = False) -> Table:
    """The ranking of a game after all its rounds; with `retired` also of bots that play no more."""
    ladder = Ladder(Path(folder))
    everyone = [
        line.entrant for author in ladder.state.authors.values() for line in author.accepted
    ]
    return ranking(ladder, game, entrants=everyone if retired else None)


def ladder_total(folder: PathName) -> Sequence[TotalRow]:
    """All games together."""
    return total(Ladder(Path(folder)))


def ladder_grades(folder: PathName) -> str:
    """A CSV for the organiser, with a row for each author."""
    return grades(Ladder(Path(folder)))


def ladder_feedback(folder: PathName, *, notify: Notify = ignore_notes) -> list[Path]:
    """Write what each author may see into feedback/AUTHOR; returns the reports."""
    return write_feedback(Ladder(Path(folder)), notify)


def ladder_freeze(folder: PathName) -> LadderStatus:
    """Accept nothing from now on."""
    with held_ladder(Path(folder)) as ladder:
        close_ladder(ladder)
        return _status(ladder)


def ladder_publish(
    folder: PathName,
    site: PathName,
    *,
    rounds: int | None = None,
    notify: Notify = ignore_notes,
    progress: SiteProgress = lambda _folder, _done, _of: None,
) -> list[PublishedSummary]:
    """Write the ladder as a site, or bring one up to date. `rounds`: how many of the newest of each
    game are shown with their matches; None: all.
    """
    ladder = Ladder(Path(folder))
    return publish_ladder(ladder, Path(site), rounds=rounds, notify=notify, progress=progress)


def ladder_watch(
    folder: PathName, flags: Sequence[str] = (), *, notify: Notify = ignore_notes
) -> int:
    """Take in at once and play rounds by the schedule, until a signal or the end of the ladder;
    returns the signal, or 0. `flags`: of `arena ladder round`. Only in the main thread.
    """
    return watch_ladder(Path(folder), flags, notify)


def ladder_verify(
    folder: PathName, *, head: str | None = None, jobs: int | None = None
) -> LadderVerdict:
    """Follow the chain: versions, rounds, and that each round follows from what was before it.
    `head`: of the chain, as it was published once.
    """
    return verify_ladder(Path(folder), jobs=jobs or fair_jobs(), head=head)
