"""Find bots of an event that decide alike (`arena twins`)."""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from arena import registry
from arena.api.paths import PathName, bot_paths
from arena.api.threads import call
from arena.bots import default_cache, in_use, load, restore
from arena.event.commands import command_line
from arena.event.epochs import epochs_of
from arena.event.poll import PollTerms, choose_courses, poll_bots
from arena.event.search import seat_of
from arena.event.workshop import Workshop
from arena.executors.cores import fair_jobs
from arena.machine import Notify, ignore_notes
from arena.model import Bot, Event, Frozen, UserError
from arena.scaffolds import EXAMPLES, example_bot, render
from arena.store import read_event, read_private
from arena.twins.likeness import TwinReport, TwinSearch
from arena.verify.rerun import sources_of

_BY_LOT = "random"  # the example bot that has no policy
_QUESTIONS_A_SECOND = 1500  # that bots in Python answer


class TwinOptions(Frozen, frozen=True, kw_only=True):
    of: tuple[str, ...] = ()
    """Only pairs with one of these, by name or id."""
    every: bool = False
    """All pairs, not only those that are rarely as much alike."""
    bots: tuple[PathName, ...] = ()
    """Paths of bots that the cache no longer has."""
    recipes: tuple[PathName, ...] = ()
    """Programs that all had to begin with, besides the scaffolds and the example bots."""
    seconds: float = 20.0
    """A bot is asked for at most so long."""
    sandbox: str = "auto"
    jobs: int | None = None
    """Bots at a time; None: one a core."""


_ANY_TWINS = TwinOptions()


def find_twins(
    folder: PathName, options: TwinOptions = _ANY_TWINS, *, notify: Notify = ignore_notes
) -> TwinReport:
    """Ask all bots of an event the same recorded questions; report pairs that decide alike."""
    return call(partial(_find, Path(folder), options, notify))


def _find(folder: Path, options: TwinOptions, notify: Notify) -> TwinReport:
    event = read_event(folder)
    entrants = {each.id: each for path in epochs_of(folder) for each in read_event(path).entrants}
    entrants |= {each.id: each for each in event.entrants}
    everybody = replace(event, entrants=tuple(entrants[name] for name in sorted(entrants)))
    wanted = {seat_of(everybody, name) for name in options.of}
    courses = choose_courses(folder, event, notify)
    turns = [turn for course in courses for turn in course.turns]
    with in_use(default_cache()), tempfile.TemporaryDirectory() as scratch:
        sandbox = options.sandbox
        workshop = Workshop(event.settings, notify, folder, sandbox=sandbox, skip_broken=True)
        named = bot_paths(options.bots)
        bots = _entered(folder, everybody, named, workshop)
        recipes = published_recipes(Path(scratch), workshop)
        if options.recipes:
            recipes |= _own_recipes(bot_paths(options.recipes), workshop)
        asked = [*bots, *recipes.values()]
        jobs = min(options.jobs or fair_jobs(), workshop.room)
        seconds = len(asked) * 2 * len(turns) // _QUESTIONS_A_SECOND // jobs
        notify(
            f"asking {len(bots)} bots and {len(recipes)} recipes {len(turns):,} questions twice: "
            f"about {max(1, seconds)} s"
        )
        terms = PollTerms(event.settings, courses, workshop.backend.name, options.seconds)
        answers = iter(list(poll_bots(asked, terms, jobs)))
    given = {bot.entrant.id: next(answers) for bot in bots}
    bars = registry.game(event.settings.game).about.twins
    search = TwinSearch(turns, given, dict(zip(recipes, answers, strict=True)), bars)
    programs = {bot.entrant.id: bot.entrant.hash for bot in bots}
    return search.report(programs, of=wanted, every=options.every)


def _entered(folder: Path, event: Event, named: Sequence[Path], workshop: Workshop) -> list[Bot]:
    """The event's bots as they were entered; print notes about bots that are missing or can't
    start.
    """
    private = read_private(folder)
    known = private.sources if private else {}
    sources = sources_of(named, event.entrants, workshop.cache, known)
    entrants = [(each, sources.get(each.id, "")) for each in event.entrants if each.hash]
    bots, _ = workshop.enter(restore(entrants, cache=workshop.cache, folder=folder))
    if len(bots) < 2:
        command = command_line("twins", folder)
        raise UserError(
            f"{folder}: fewer than two of its bots can be asked (see the notes); where the cache "
            f"({workshop.cache}) has lost them, name their folders: {command} BOTS..."
        )
    return bots


def published_recipes(scratch: Path, workshop: Workshop) -> dict[str, Bot]:
    """What everybody may begin with, by a name that no bot has."""
    scaffold = scratch / "scaffold"
    scaffold.mkdir()
    for file, content in render("python", "scaffold").items():
        (scaffold / file).write_bytes(content)
    examples = (example_bot(name) for name in EXAMPLES if name != _BY_LOT)
    roster = load([scaffold, *filter(None, examples)], cache=workshop.cache)
    bots, _, _ = workshop.build(roster)
    return {f"arena's {bot.entrant.name}": bot for bot in bots}


def _own_recipes(named: Sequence[Path], workshop: Workshop) -> dict[str, Bot]:
    bots, problems, left_out = workshop.build(load(named, cache=workshop.cache))
    if problems or left_out:
        reasons = [*map(str, problems), *(f"{each.name}: {each.reason}" for each in left_out)]
        raise UserError("\n".join(reasons))
    return {f"recipe {bot.entrant.id}": bot for bot in bots}
