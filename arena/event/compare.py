"""Compare two bots: an event of the two, whose format ends it when the answer is known."""

from pathlib import Path

from msgspec.structs import replace

from arena.bots import Candidate, Roster, default_cache, in_use, load, printable
from arena.event.options import EventOptions, TrialOptions
from arena.event.prepare import new_event, play_new
from arena.event.progress import Outcome
from arena.event.session import Session
from arena.event.workshop import Workshop, join_rosters
from arena.formats.trial import CHUNK
from arena.machine.preflight import SETTINGS
from arena.model import Entrant, Frozen, TrialVerdict, UserError
from arena.store import claim_folder


class Comparison(Frozen, frozen=True, kw_only=True):
    """The result of comparing two bots."""

    old: Entrant
    new: Entrant
    outcome: Outcome | None = None
    """None: both have the same content, and nothing was played."""

    @property
    def verdict(self) -> TrialVerdict | None:
        """The verdict; None if play was stopped, or there was nothing to play."""
        table = self.outcome.table if self.outcome and self.outcome.complete else None
        return table.verdict if table else None


def compare_bots(
    bots: list[Path], options: EventOptions, trial: TrialOptions, out: Path | None, session: Session
) -> Comparison:
    """Play the second bot against the first until it is known whether it is better."""
    cache = default_cache()
    with claim_folder(out) as folder, in_use(cache):
        return compare_roster(_both(bots, cache), options, trial, folder, session)


def compare_roster(
    found: tuple[Roster, str],
    options: EventOptions,
    trial: TrialOptions,
    folder: Path,
    session: Session,
) -> Comparison:
    """The same of bots that were found, and the id of the new one."""
    roster, contender = found
    notify, run = session.progress.say, session.options
    options = replace(options, seats=2, tables=None, deals=CHUNK, series=CHUNK)
    settings = options.settings(notify, trial={"new": contender, **trial.members()})
    if not roster.problems and len(roster.candidates) == 2:
        one, other = (candidate.entrant for candidate in roster.candidates)
        if one.hash == other.hash:
            # The same content can't be better, and matches would show it only by chance.
            return Comparison(old=one, new=other)
    sandbox, jobs, way_out = run.sandbox, run.jobs, "a comparison needs both"
    workshop = Workshop(
        settings, notify, folder, sandbox=sandbox, jobs=jobs, flags=SETTINGS, way_out=way_out
    )
    entered = new_event(roster, workshop, lambda _: settings, seed=options.seed)
    outcome = play_new(entered, folder, session)
    by_id = {entrant.id: entrant for entrant in entered.event.entrants}
    second = by_id.pop(contender)
    (first,) = by_id.values()
    return Comparison(old=first, new=second, outcome=outcome)


def _both(bots: list[Path], cache: Path) -> tuple[Roster, str]:
    """The two bots, with ids that tell them apart; and the new one's."""
    rosters = [load([path], cache=cache) for path in bots]
    for path, roster in zip(bots, rosters, strict=True):
        if len(roster.candidates) > 1:
            raise UserError(f"{printable(path)} holds several bots; name one of them")
    candidates = [candidate for roster in rosters for candidate in roster.candidates]
    if len({candidate.entrant.id for candidate in candidates}) < len(candidates):
        candidates = [_renamed(*each) for each in zip(candidates, ("old", "new"), strict=True)]
    return join_rosters(rosters, candidates), candidates[-1].entrant.id if candidates else ""


def _renamed(candidate: Candidate, suffix: str) -> Candidate:
    entrant = candidate.entrant
    version = f"{entrant.version}-{suffix}"
    name = f"{entrant.name}@{version}"
    return replace(candidate, entrant=replace(entrant, version=version, id=name))
