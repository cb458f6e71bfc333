"""Rounds of a ladder: begin one, play it, end it.

Theory of operation. A round is an event in rounds/. It is prepared, with its secret; then the
chain's line tells of its commitment; then it is played, like any prepared event; at its end bots
that were withdrawn for their faults are retired, and a line tells the hash of its log. Killed
anywhere, the same command goes on: what is prepared and not in the chain is made anew, since nobody
knows of it; what is in the chain is played to its end.

Invariant: a round's commitment covers the chain's head, and all that earlier rounds have shown.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from arena.bots import default_cache, in_use, restore, share_bots
from arena.bots.trees import remove
from arena.event.prepare import new_event, write_prepared
from arena.event.progress import Outcome
from arena.event.results import Counts, count_folder
from arena.event.resume import resume_event, run_prepared
from arena.event.session import Session
from arena.event.workshop import Workshop
from arena.ladder.chain import Retired, RoundBegun, RoundEnded
from arena.ladder.folder import Ladder, held_ladder
from arena.ladder.ranking import earlier, mixture
from arena.ladder.rules import LadderRules
from arena.ladder.state import Round
from arena.machine.preflight import SETTINGS
from arena.model import Bot, Event, LadderSettings, Settings, UserError
from arena.store import canonical_line, is_results_folder, read_by_id, read_event, read_private

WITHDRAWN = "faults"


def play_round(folder: Path, game: str | None, session: Session, *, final: bool = False) -> Outcome:
    """Play a round of a game, or the one that is not over. None: of the game with the fewest."""
    session = session._replace(whole=folder, command="ladder round")
    with held_ladder(folder) as ladder:
        current = ladder.state.unfinished or _begin(ladder, game, session, final=final)
        place = ladder.place_of(current)
    event = read_event(place)
    if event.finished and read_private(place) is None:
        outcome = Outcome(folder=place, event=event, complete=True)
    elif event.sandbox:
        outcome = resume_event(place, session)
    else:
        outcome = run_prepared(place, session)
    if outcome.complete:
        with held_ladder(folder) as ladder:
            if (last := ladder.state.unfinished) and last.begun == current.begun:
                _end(ladder, last, outcome.event)
    return outcome


def _begin(ladder: Ladder, game: str | None, session: Session, *, final: bool) -> Round:
    state, rules, options = ladder.state, ladder.state.rules, session.options
    number = len(state.rounds) + 1
    game = game or min(rules.games, key=lambda each: len(state.played(each)))
    if game not in rules.games:
        known = ", ".join(rules.games)
        raise UserError(f"{ladder.folder}: no game {game!r} in ladder.toml; there are: {known}")
    begun = RoundBegun(round=number, game=game, commitment="0" * 64, final=True if final else UNSET)
    place = ladder.place_of(Round(begun, ladder.chain.head, (), rules))
    if is_results_folder(place):
        if read_event(place).sandbox:
            raise UserError(
                f"{place}: played, and the chain doesn't know of it: put back {ladder.chain.path}"
            )
        remove(place)  # prepared by a process that was killed before the chain knew of it
    if (active := len(state.active)) < 2:
        raise UserError(
            f"{ladder.folder}: a round needs two active bots, there is {active or 'none'}; first: "
            f"arena ladder intake {ladder.folder}"
        )
    if final and game in state.finals:
        raise UserError(f"{ladder.folder}: the final of {game} is played already")
    name = f"{rules.name}, {'final' if final else f'round {number}'}"
    base = replace(rules.event(game), name=name).settings(session.progress.say)

    def settle(ready: Sequence[Bot]) -> Settings:
        own = round_settings(rules, begun, ladder.chain.head)
        known = earlier(ladder, game, [bot.entrant.id for bot in ready], base.rating)
        return replace(base, format="ladder", ladder=replace(own, **known))

    seed = f"{rules.seed}/{number}" if rules.seed else None
    with in_use(default_cache()) as cache:
        sources = [(each, str(ladder.version(each))) for each in state.active]
        workshop = Workshop(
            base,
            session.progress.say,
            place,
            sandbox=options.sandbox,
            jobs=options.jobs,
            flags=SETTINGS,
            skip_broken=True,
        )
        new = new_event(restore(sources, cache=cache), workshop, settle, seed=seed)
        write_prepared(new, place, options)
        share_bots(place, ladder.folder / "versions")
    ladder.append(replace(begun, commitment=new.event.commitment))
    return ladder.state.rounds[-1]


def round_settings(rules: LadderRules, begun: RoundBegun, head: str) -> LadderSettings:
    """Without what earlier rounds say."""
    return LadderSettings(
        round=begun.round,
        head=head,
        budget=rules.final_matches if begun.final is True else rules.matches,
        close=rules.close,
        mixture=mixture(rules.close),
    )


def _end(ladder: Ladder, current: Round, event: Event) -> None:
    place = ladder.place_of(current)
    _, counting = count_folder(place, event)
    counted = counting.counted()
    for out in counted.withdrawn:
        handle = ladder.state.author_of(out.entrant)
        active = ladder.state.authors[handle].active
        if active and active.id == out.entrant:
            ladder.append(Retired(author=handle, entrant=out.entrant, why=WITHDRAWN))
    ladder.append(
        RoundEnded(
            round=current.begun.round, log=log_hash(place, event), matches=counted.tally.matches
        )
    )


def log_hash(folder: Path, event: Event) -> str:
    """SHA-256 of the canonical log: what `arena log --canonical` prints."""
    found = sha256()
    for record in read_by_id(folder, Counts(folder, event=event), event):
        found.update(canonical_line(record))
    return found.hexdigest()
