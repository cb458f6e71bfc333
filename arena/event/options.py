"""Options of an event: what is played (`EventOptions`), and how it is run here (`RunOptions`).

`EventOptions` decides results and becomes the event's `Settings`; `RunOptions` changes no result.
"""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from arena import registry
from arena.executors.cluster import ClusterOptions
from arena.formats import settings_members
from arena.games import Game
from arena.luck import evaluator_name
from arena.machine import Notify, ignore_notes
from arena.model import ADJUSTED, RESULTS, STATED, Frozen, Limits, RateOn, Settings, UserError

_OF_A_MATCH = ("game", "playoff", "freeze", "limits")
_AS_THEY_ARE = (*_OF_A_MATCH, "seats", "deals", "tables", "same_author", "series")
"""Options that are settings of the same name."""


_MOST_STAGES = 50
_LONGEST_LINE = 200  # a name, a headline or a line of hex, not a page


def public_line(flag: str, text: str) -> str:
    """A text that is published as it was given: one line that can be printed."""
    value = text.strip()
    if not value or len(value) > _LONGEST_LINE or not value.isprintable():
        raise UserError(f"{flag}: expected one printable line of 1 to {_LONGEST_LINE} characters")
    return value


class LiveOptions(Frozen, frozen=True, kw_only=True):
    """Pages of the event while it is played (`--live`)."""

    port: int = 0
    """0: a free one."""
    host: str = "127.0.0.1"
    stay: bool = False
    """Go on showing the event when it is over, until a signal."""


class RunOptions(Frozen, frozen=True, kw_only=True):
    """How an event is run here; changes no result."""

    sandbox: str | None = None
    """A sandbox by its name, or `auto`. None: `auto`, or what an existing folder names."""
    jobs: int | None = None
    """Matches at a time; None: one a core."""
    pin: bool = True
    """Keep each worker and its bots on one core."""
    max_seconds: float | None = None
    """Stop after this time and the match in play."""
    live: LiveOptions | None = None
    cluster: ClusterOptions | None = None

    def __post_init__(self) -> None:
        if self.jobs is not None and self.jobs < 1:
            raise UserError(f"--jobs {self.jobs}: at least one match is played at a time")


class TrialOptions(Frozen, frozen=True, kw_only=True):
    """A sequential test of a new bot against an old one (`compare`)."""

    effect: float = 2.0
    """What counts as better: so many strokes a match."""
    alpha: float = 0.05
    """How often a bot that isn't better may pass."""
    beta: float = 0.05
    """How often a bot that is better by `effect` may fail."""
    budget: int = 4_000
    """Matches at most."""
    no_worse: float | None = None
    """Ask instead whether it is weaker by so many strokes a match: `alpha` is how often such a bot
    may pass, `beta` how often one that is as strong may fail; `effect` is not asked about."""

    def members(self) -> dict[str, float]:
        """The options of the trial's settings."""
        members = {name: getattr(self, name) for name in ("effect", "alpha", "beta", "budget")}
        if self.no_worse is not None:
            members |= {"effect": self.no_worse, "no_worse": True}
        return members


class TuneOptions(Frozen, frozen=True, kw_only=True):
    """The search for a bot's best setting (`tune`)."""

    budget: int = 2_000
    """Matches of the search at most; the comparison at its end has a budget of its own."""
    stages: int = 10
    """Steps of the search: each plays settings around the best one so far."""
    close: float = 0.5
    """Strokes a match that don't matter, where it is said how flat the optimum is."""

    def __post_init__(self) -> None:
        if not 1 <= self.stages <= _MOST_STAGES:
            raise UserError(f"--stages {self.stages}: choose 1 to {_MOST_STAGES}")


class MatchOptions(Frozen, frozen=True, kw_only=True):
    """How one match is played."""

    game: str = registry.DEFAULT_GAME
    deal: int = 1
    """Which cards: the same number, game, seed and number of players, the same cards."""
    seed: str = "match"
    playoff: bool = True
    turn_cap: int | None = None
    freeze: bool = False
    limits: Limits = Limits()

    def settings(self, seats: int, notify: Notify = ignore_notes) -> Settings:
        same = {name: getattr(self, name) for name in (*_OF_A_MATCH, "turn_cap")}
        return EventOptions(seats=seats, deals=1, series=1, **same).settings(notify)


class EventOptions(Frozen, frozen=True, kw_only=True):
    """What is played; the same options, bots and seed give the same results."""

    game: str = registry.DEFAULT_GAME
    seats: int = 2
    tables: int | None = None
    """None: every subset of the bots."""
    deals: int = 10
    """Deals a table; each is played in every rotation."""
    series: int = 25
    """Matches that a bot's process plays before it is replaced."""
    schedule: str | None = None
    """A format by its name; None: what other options ask for, else a round robin."""
    schedule_options: Mapping[str, int | float | str] = {}
    """Options of the format's own."""
    gauntlet: tuple[str, ...] = ()
    """Only these bots, by name or path, meet all others."""
    until_resolved: bool = False
    """A race: after `deals` for every pair, only where the order is open."""
    budget: int | None = None
    """Of a race: matches at most."""
    close: float | None = None
    """Of a race: a difference in strokes a match that needn't be told apart."""
    rate_on: RateOn | None = None
    luck: bool = True
    """Measure luck, match by match."""
    playoff: bool = False
    same_author: bool = True
    """Whether bots of one author meet."""
    turn_cap: int | None = None
    freeze: bool = False
    limits: Limits = Limits()
    seed: str | None = None
    """Deals from this seed: repeatable, and labelled predictable."""
    name: str | None = None
    """What people call the event, in its tables and pages."""

    def _evaluator(self, rules: Game) -> str:
        """What measures the luck of the event; empty: it isn't measured."""
        found = evaluator_name(rules) if self.luck else ""
        if not found and self.rate_on == ADJUSTED:
            lack = "has no measure of it" if self.luck else "doesn't measure it"
            what = rules.name if self.luck else "--no-luck"
            raise UserError(f"--rate-on adjusted takes the luck off, and {what} {lack}")
        return found

    def _schedule(self) -> str:
        """The name of the format; UserError where options ask for two."""
        asked = {"--gauntlet": "gauntlet"} if self.gauntlet else {}
        if self.until_resolved:
            asked["--until-resolved"] = "racing"
        if self.schedule:
            asked[f"--schedule {self.schedule}"] = self.schedule
        if len(set(asked.values())) > 1:
            raise UserError(f"{' and '.join(asked)} are two ways to run an event; choose one")
        name = next(iter(asked.values()), "round-robin")
        if name in registry.COMMAND_OF:
            raise UserError(f"--schedule {name}: that is what {registry.COMMAND_OF[name]} plays")
        if name not in registry.FORMATS:
            there = ", ".join(each for each in registry.FORMATS if each not in registry.COMMAND_OF)
            raise UserError(f"there is no format called {name!r}; there are: {there}")
        if name != "racing" and self.budget is not None:
            raise UserError("--budget is a race's; add --until-resolved, or choose --deals")
        if name != "racing" and self.close is not None:
            raise UserError("--close is a race's; add --until-resolved")
        return name

    def settings(
        self, notify: Notify = ignore_notes, *, trial: Mapping[str, str | float] | None = None
    ) -> Settings:
        """The settings of an event; `trial`: options of a trial. Heroes follow with the bots."""
        name = "trial" if trial else self._schedule()
        limits = self.limits
        if limits.move_ms > limits.match_ms:
            raise UserError(
                f"--move-time {limits.move_ms} ms is more than --match-time {limits.match_ms} ms, "
                "the time for all of a bot's decisions in a match"
            )
        rules = registry.game(self.game)
        measured = self._evaluator(rules)
        if not rules.min_seats <= self.seats <= rules.max_seats:
            fit = f"{rules.min_seats} to {rules.max_seats} players"
            raise UserError(f"--seats {self.seats}: {self.game} is for {fit}")
        if self.luck and not measured:
            notify(f"note: {self.game} has no measure of luck: strokes stay as they are played")
        if name == "racing" and not measured:
            what = "a race rates on results and needs many more matches"
            notify(f"note: without its luck measured, {what}")
        kind = registry.format_class(name)
        race = {"budget": self.budget, "close": self.close}
        own = trial or {key: value for key, value in race.items() if value is not None}
        members = settings_members(kind, name, {**own, **self.schedule_options})
        settings = Settings(
            **{each: getattr(self, each) for each in _AS_THEY_ARE},
            game_version=rules.version,
            turn_cap=self.turn_cap or rules.turn_cap,
            format=name,
            rate_on=self.rate_on or (ADJUSTED if kind.adaptive and measured else RESULTS),
            evaluator=measured,
            rating=rules.about.rating,
            **STATED,
            **members,
            predictable=False,
        )
        if self.name is not None:
            settings = replace(settings, name=public_line("--name", self.name))
        try:
            # A script may have chosen values that no flag would let through.
            return msgspec.convert(msgspec.to_builtins(settings), Settings)
        except msgspec.ValidationError as error:
            what, _, path = str(error).rpartition(" - at ")
            field = path.strip("`").rpartition(".")[2]
            flag = field.removesuffix("_mb").replace("_ms", "_time").replace("_", "-")
            raise UserError(f"--{flag}: {what}") from None
