"""Tunings that are simulated: a folder of events, begun, and gone on with until it has its answer.

Theory of operation. A tuning is played as a person would: `tune_bot` until its folder says what was
asked for, `resume_tuning` from then on. It is over when a command says which setting is best; the
events, and the answer, have to be those of the tuning that nothing strikes.
"""

from pathlib import Path
from typing import NamedTuple

from arena.event.options import EventOptions, TrialOptions, TuneOptions
from arena.event.progress import Outcome
from arena.event.session import Session
from arena.event.tune import TuneEntry, Tuning, events_of, is_tuning, resume_tuning, tune_bot
from arena.store import is_results_folder, read_event

_STAGES = 2


class Tuned(NamedTuple):
    """A bot that is tuned, and the panel that its settings meet."""

    bot: str
    panel: tuple[str, ...]
    budget: int

    def entry(self) -> TuneEntry:
        return TuneEntry(
            bot=Path(self.bot),
            panel=[Path(name) for name in self.panel],
            event=EventOptions(luck=False, seed="simulated", game="four-card-golf", series=2),
            tune=TuneOptions(stages=_STAGES, budget=self.budget),
            trial=TrialOptions(budget=160, effect=6.0),
        )


PLANS = {
    "tuning": Tuned("knob", (), 290),
    "tuning a setting": Tuned("knob:risk=3,edge=0.5", ("ann", "bad"), 220),
    "tuning a switch": Tuned("switch", (), 290),
}


def go_on(tuned: Tuned, folder: Path, session: Session, *, repair: bool) -> Tuning:
    if is_tuning(folder):
        return resume_tuning(folder, session, repair=repair)
    return tune_bot(tuned.entry(), folder, session)


def outcome_of(found: Tuning, world) -> Outcome:
    """Of the event at which a command has ended; complete: there is an answer."""
    if found.new is None:
        if str(found.folder) not in found.outcome.resume.split():
            world.broken(f"what goes on is no tuning: {found.outcome.resume}")
        return found.outcome
    return Outcome(folder=found.folder, event=read_event(begun(found.folder)), complete=True)


def answer_of(found: Tuning) -> tuple:
    return found.old, found.new, found.optima, found.matches


def begun(folder: Path) -> Path:
    """The event of a tuning that was begun last; the folder, if none is."""
    places = [*sorted(folder.glob("stage-*")), folder / "comparison"]
    return [folder, *filter(is_results_folder, places)][-1]


def look(folder: Path) -> str:
    """What is wrong with the events of a tuning; UserError if one is damaged."""
    wanted = [f"stage-{number:02d}" for number in range(1, _STAGES + 1)] + ["comparison"]
    found = [place.name for place in events_of(folder)]
    if found != wanted[: len(found)] or begun(folder).name != (found or [folder.name])[-1]:
        return f"events of a tuning: {found}"
    return ""
