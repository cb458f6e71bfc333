"""Tune a bot: search its parameters for a better setting, then compare that with the bot as it is.

Theory of operation. A tuning is a folder of events: `stage-01`, `stage-02`, … and `comparison`. The
entrants of a stage are settings of one bot, and perhaps a panel of other bots; they follow from
`tuning.json` and from what the stages before it have shown (`arena.tuner`). Each event is complete
in itself: commitment, log, table. Going on means: play what the last event lacks, begin the next.

Invariant: `tuning.json` is written once, before the first event; everything else follows from it
and from the events.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from arena import registry
from arena.bots import Roster, default_cache, in_use, load, restore
from arena.event.commands import command_line
from arena.event.compare import compare_roster
from arena.event.options import EventOptions, TrialOptions, TuneOptions
from arena.event.prepare import new_event, play_new
from arena.event.progress import Outcome
from arena.event.results import count_folder, incomplete, table_of
from arena.event.resume import resume_event
from arena.event.session import Session
from arena.event.workshop import Workshop
from arena.luck import evaluator_name
from arena.machine import ignore_notes
from arena.machine.preflight import SETTINGS
from arena.model import (
    ADJUSTED,
    RESULTS,
    Entrant,
    Event,
    Frozen,
    Parameter,
    RateOn,
    UserError,
    canonical,
)
from arena.model.parameters import LARGEST, settled
from arena.ratings.intervals import Moments
from arena.ratings.outcomes import THOUSANDTHS, PairCount, Tally
from arena.reports.escape import plain
from arena.store import claim_folder, is_results_folder, read_event, read_private
from arena.store.files import UNDECODABLE, read_small, reason
from arena.store.folder import writable, write_atomically
from arena.system import clock, randomness
from arena.tuner.search import Optimum, ParameterSearch, Setting, Stage
from arena.tuner.surface import Gap

_FILE = "tuning.json"
_COMPARISON = "comparison"
_WON = 1.2533
"""Deviations of a rated deal by which one is ahead who wins all of a few: between near equals a
share of wins follows the difference of strokes with this slope."""


class TuningFile(Frozen, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tuning was asked for: the content of tuning.json."""

    format: int = 1
    bot: Entrant
    """By its defaults."""
    parameters: tuple[Parameter, ...]
    start: dict[str, str]
    """The setting that is to be bettered: what differs from the defaults."""
    panel: tuple[Entrant, ...]
    sources: dict[str, str]
    """Paths of the bots, by id."""
    event: EventOptions
    trial: TrialOptions
    tune: TuneOptions
    seed: str
    """Of the settings that are tried; of the deals too if the event has one."""

    def __post_init__(self) -> None:
        for each in self.parameters:
            known = -LARGEST <= each.low <= each.default <= each.high <= LARGEST
            if not known or each.low == each.high or (each.log and each.low <= 0):
                raise ValueError(
                    f"{each.name} needs low < high, low <= default <= high, and low > 0 if log"
                )
        settled(self.parameters, self.start)


class Tuning(Frozen, frozen=True, kw_only=True):
    """The result of tuning a bot."""

    folder: Path
    source: Path
    """Of the bot."""
    old: Entrant
    new: Entrant | None = None
    """The best setting found; None: the search was stopped before its end."""
    optima: tuple[Optimum, ...] = ()
    close: float = 0.5
    matches: int = 0
    """Of the search."""
    outcome: Outcome | None = None
    """How the last event ended; None: the best setting is the old one, so nothing was compared."""


def is_tuning(folder: Path) -> bool:
    return (folder / _FILE).is_file()


class TuneEntry(NamedTuple):
    """What is tuned, and how."""

    bot: Path
    panel: Sequence[Path]
    event: EventOptions
    tune: TuneOptions
    trial: TrialOptions


def tune_bot(entry: TuneEntry, out: Path | None, session: Session) -> Tuning:
    """Search for a better setting of a bot, and compare it with the bot."""
    bot, panel, event, tune, trial = entry
    cache = default_cache()
    with claim_folder(out, "tune-") as folder, in_use(cache):
        rosters = [load([bot], cache=cache), load(panel, cache=cache)]
        if problems := [str(each) for roster in rosters for each in roster.problems]:
            raise UserError("\n".join(problems))
        if len(rosters[0].candidates) != 1:
            raise UserError(f"{plain(str(bot))} is not one bot; name one with a [tune] in bot.toml")
        (found,), others = rosters[0].candidates, rosters[1].candidates
        if not found.stated.tune:
            raise UserError(f"{found.path}: its bot.toml names no parameters; write a [tune] there")
        default = load([Path(found.source)], cache=cache).candidates[0].entrant
        if twins := [each.path for each in others if each.entrant.snapshot == default.snapshot]:
            raise UserError(f"--against {twins[0]}: its settings meet the bot anyway; leave it out")
        asked = TuningFile(
            bot=default,
            parameters=found.stated.tune,
            start=found.entrant.setting,
            panel=tuple(each.entrant for each in others),
            sources={default.id: found.source} | {each.entrant.id: each.source for each in others},
            event=replace(event, seats=2, tables=None, rate_on=event.rate_on or _rate_on(event)),
            trial=trial,
            tune=tune,
            seed=event.seed or randomness.token_hex(8),
        )
        tuner = _Tuner(folder, asked, session)
        if not tuner.deals:
            raise UserError(
                f"--budget {tune.budget}: a deal for each pair in all {tune.stages} stages has "
                f"{tuner.least} matches; choose a larger budget or fewer --stages"
            )
        with writable(folder):
            write_atomically(folder / _FILE, canonical(asked), mode=0o600)
        return tuner.play()


def _rate_on(event: EventOptions) -> RateOn:
    return ADJUSTED if event.luck and evaluator_name(registry.game(event.game)) else RESULTS


def resume_tuning(folder: Path, session: Session, *, repair: bool = False) -> Tuning:
    """Play what an unfinished tuning lacks; of a finished one its result."""
    with in_use(default_cache()):
        return _Tuner(folder, _read(folder), session, repair=repair).play()


def events_of(folder: Path) -> list[Path]:
    """The events of a tuning that have begun, in their order; UserError if the settings of one
    don't follow from those before it.
    """
    course = _Course(folder, _read(folder))
    found = []
    for place, entrants in course.steps():
        if not is_results_folder(place):
            break
        course.refuse_others(place, entrants)
        found.append(place)
        if not read_event(place).finished:
            break
        course.take_in(place, entrants)
    return found


def _read(folder: Path) -> TuningFile:
    path = folder / _FILE
    try:
        asked = msgspec.json.decode(read_small(path), type=TuningFile)
    except OSError as error:
        raise UserError(f"{path}: can't be read: {error.strerror}") from None
    except UNDECODABLE as error:
        raise UserError(f"{path}: damaged, or of a newer arena: {reason(error)}") from None
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    return asked


def _stage(number: int) -> str:
    return f"stage-{number + 1:02d}"


class _Course:
    """Which events a tuning has, from tuning.json and those that are over."""

    def __init__(self, folder: Path, asked: TuningFile) -> None:
        self._folder, self._asked = folder, asked
        self._defaults = {each.name: each.text(each.default) for each in asked.parameters}
        start, stages = self._defaults | asked.start, asked.tune.stages
        self._search = ParameterSearch(asked.parameters, start, seed=asked.seed, stages=stages)
        self.old = self._entrant(start)
        self.matches = 0  # of the search
        settings = self._search.settings
        self.least = stages * settings * (settings - 1 + 2 * len(asked.panel))
        self.deals = asked.tune.budget // self.least

    def steps(self) -> Iterator[tuple[Path, list[Entrant]]]:
        """The folder and the settings of each event; `take_in` each before the next."""
        for number in range(self._asked.tune.stages):
            settings = self._search.next_settings()
            if len(settings) == 1:
                break  # all that are left to try are the same
            yield self._folder / _stage(number), [self._entrant(each) for each in settings]
        if (new := self.best()) != self.old:
            yield self._folder / _COMPARISON, [self.old, new]

    def best(self) -> Entrant:
        return self._entrant(self._search.best())

    def _entrant(self, setting: Setting) -> Entrant:
        params = {name: text for name, text in setting.items() if text != self._defaults[name]}
        return self._asked.bot.with_setting(dict(sorted(params.items())))

    def refuse_others(self, place: Path, entrants: Sequence[Entrant]) -> None:
        panel = () if place.name == _COMPARISON else self._asked.panel
        wanted = {each.hash for each in (*entrants, *panel)}
        if wanted != {each.hash for each in read_event(place).entrants}:
            raise UserError(
                f"{place}: its bots are not those that follow from {_FILE} and the stages before it"
            )

    def take_in(self, place: Path, entrants: Sequence[Entrant]) -> None:
        """An event that is over; the comparison shows nothing more to the search."""
        if place.name == _COMPARISON:
            return
        event, counting = count_folder(place)
        counted = counting.counted()
        if counted.missing:
            raise incomplete(place, counted.missing, counted.planned)
        gone = {out.entrant for out in counted.withdrawn}
        every = gaps_of(event, counted.tally)
        gaps = [gap for gap in every if gone.isdisjoint((gap.one, gap.two))]
        self.matches += 2 * sum(gap.deals for gap in gaps)
        settings = {each.id: self._defaults | each.setting for each in entrants}
        self._search.add(Stage(settings=settings, gaps=gaps))


class _Tuner(_Course):
    """Plays them."""

    def __init__(
        self, folder: Path, asked: TuningFile, session: Session, *, repair: bool = False
    ) -> None:
        super().__init__(folder, asked)
        self._session, self._repair = session, repair
        seconds = session.options.max_seconds
        self._until = None if seconds is None else clock.monotonic() + seconds

    def play(self) -> Tuning:
        asked = self._asked
        source = Path(asked.sources.get(asked.bot.id, asked.bot.name))
        tuning = Tuning(folder=self._folder, source=source, old=self.old)
        outcome: Outcome | None = None
        for place, entrants in self.steps():
            outcome = self._event(place, entrants)
            if not outcome.complete:
                return replace(tuning, outcome=outcome)
            self.take_in(place, entrants)
        new = self.best()
        if new != self.old and outcome:
            self._session.progress.result(outcome)
        return replace(
            tuning,
            new=new,
            optima=tuple(self._search.optima(asked.tune.close)) if self.matches else (),
            close=asked.tune.close,
            matches=self.matches,
            outcome=outcome if new != self.old else None,
        )

    def _event(self, place: Path, entrants: Sequence[Entrant]) -> Outcome:
        try:
            return self._played(place, entrants)
        except BaseException as error:
            if not isinstance(error, Exception):  # Ctrl-C, perhaps within a group of trio's
                go_on = command_line("resume", self._folder)
                self._session.progress.warn(f"not finished; go on with: {go_on}")
            raise

    def _played(self, place: Path, entrants: Sequence[Entrant]) -> Outcome:
        """Play an event, or what it lacks."""
        last, asked, options = place.name == _COMPARISON, self._asked, self._session.options
        if self._until is not None:
            options = replace(options, max_seconds=max(0.0, self._until - clock.monotonic()))
        session = Session(options, self._session.progress, whole=self._folder)
        if is_results_folder(place):
            self.refuse_others(place, entrants)
            event = read_event(place)
            if event.finished and not self._repair and read_private(place) is None:
                table = table_of(place, event) if last else None
                return Outcome(folder=place, event=event, complete=True, table=table)
            return resume_event(place, session, repair=self._repair)
        session.progress.say(place.name if last else f"{place.name} of {asked.tune.stages}")
        with claim_folder(place):
            if not last:
                return self._stage(place, entrants, session)
            found = self._roster(entrants), entrants[-1].id
            chosen = replace(asked.event, seed=self._seed(place))
            outcome = compare_roster(found, chosen, asked.trial, place, session).outcome
            assert outcome is not None, "they have different settings"
            return outcome

    def _stage(self, place: Path, entrants: Sequence[Entrant], session: Session) -> Outcome:
        asked, run = self._asked, session.options
        notify = session.progress.say if place.name == _stage(0) else ignore_notes
        seed = self._seed(place)
        settings = replace(asked.event, seed=seed, deals=self.deals).settings(notify)
        if asked.panel:
            heroes = tuple(sorted(each.id for each in entrants))
            settings = replace(settings, format="gauntlet", heroes=heroes)
        sandbox, jobs, way_out = run.sandbox, run.jobs, "a tuning needs all of its bots"
        workshop = Workshop(
            settings, notify, place, sandbox=sandbox, jobs=jobs, flags=SETTINGS, way_out=way_out
        )
        roster = self._roster((*entrants, *asked.panel))
        return play_new(new_event(roster, workshop, lambda _: settings, seed=seed), place, session)

    def _seed(self, place: Path) -> str | None:
        return None if self._asked.event.seed is None else f"{self._asked.seed}/{place.name}"

    def _roster(self, entrants: Sequence[Entrant]) -> Roster:
        sources = self._asked.sources
        mine = sources.get(self._asked.bot.id, "")
        bots = [(each, sources.get(each.id, mine)) for each in entrants]
        return restore(bots, cache=default_cache(), folder=self._folder)


def gaps_of(event: Event, tally: Tally) -> list[Gap]:
    """What each pair has shown, by what the event rates on."""
    if event.settings.rate_on == ADJUSTED:
        return [_of_strokes(pair, sums) for pair, sums in sorted(tally.gaps.items()) if sums.events]
    scale = _WON * event.settings.rating.event_sd
    return [_of_wins(pair, count, scale) for pair, count in sorted(tally.pairs.items())]


def _of_strokes(pair: tuple[str, str], sums: Moments) -> Gap:
    # Thousandths of strokes of the first above the second.
    mean = -sums.value / sums.weight / THOUSANDTHS
    a_deal = THOUSANDTHS * sums.weight / sums.events
    squares = sums.spread(sums.value, sums.weight) / a_deal**2
    return Gap(one=pair[0], two=pair[1], deals=sums.events, strokes=mean, squares=squares)


def _of_wins(pair: tuple[str, str], count: PairCount, scale: float) -> Gap:
    deals = count.first + count.ties + count.second
    mean = (count.first - count.second) / deals
    squares = (count.first + count.second - deals * mean**2) * scale**2
    return Gap(one=pair[0], two=pair[1], deals=deals, strokes=scale * mean, squares=squares)
