"""Do the ratings keep what they claim? Fields whose strengths are known, simulated.

    python bench/calibration.py                    all of it, some ten minutes on one core
    python bench/calibration.py races --runs 100   a part: results, strokes, races, large, trials,
                                                   forfeits, skewed, no-worse, looks, live, moods,
                                                   outlook, series, later

Nothing is played: rated deals are drawn, and go as sums into the arena's own classes (`fit`,
`fit_strokes`, `Evidence`, `Race`, `SequentialTrial`), which see what they would see in an event.
Draws are seeded; the same command prints the same tables. In a race or a trial a rated deal is two
matches.

Differences of rated deals are Gaussian here, or have Student's t with five degrees of freedom
(kurtosis 9), scaled to the same deviation; those of the reference events have a kurtosis of 3.1.
Deviations are in strokes a match.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from arena.audit.rated_deals import RatedDeal
from arena.audit.rotations import Rotations
from arena.audit.series import Blocks
from arena.deals import Deals
from arena.formats.race import Race
from arena.formats.trial import CHUNK, SequentialTrial
from arena.model import (
    ADJUSTED,
    BLOCKS,
    Entrant,
    Event,
    MatchRecord,
    RaceSettings,
    RatingSettings,
    Settings,
    TrialSettings,
    TrialVerdict,
    match_id,
    pairing_id,
    sha256_hex,
)
from arena.ratings import normal
from arena.ratings.dependence import BlockSums, variances
from arena.ratings.evidence import Evidence, lead_of
from arena.ratings.fit import Fit, draw_margin, fit
from arena.ratings.intervals import Z95, Moments, average, half_width
from arena.ratings.outcomes import ForfeitSums, PairCount, Tally
from arena.ratings.separation import always, separation
from arena.ratings.stroke_fit import fit_strokes, skill_of_a_stroke
from arena.schedule import NoResults, ScheduleEnd, Wave, WaveResults, more_deals, step_down, worth

RATING = RatingSettings()
RACING = Race.stated(RaceSettings())
OLDER = RaceSettings(growth=0.5)
"""As races were until bounds held at every look: at ten."""
DEALS = Deals(bytes(32))
THOUSANDTHS = 1000
TAILS = 5
"""Degrees of freedom of the heavy-tailed differences."""

Spread = tuple[float, float, float]
"""The least and the largest deviation of a pair, and how many times the variance the pairs of the
last entrant have."""


def names(number: int) -> list[str]:
    """So many entrants, in the order of their ids."""
    return [f"bot{place:02d}" for place in range(number)]


def row(*cells: object) -> None:
    """A row of a Markdown table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def head(title: str, *cells: str) -> None:
    """What a table begins with."""
    print(f"\n**{title}**\n")
    row(*cells)
    row(*("---" if place == 0 else "---:" for place in range(len(cells))))


def percent(count: float, of: float) -> str:
    """A share with its own standard error."""
    if not of:
        return "-"
    share = count / of
    return f"{100 * share:.1f} ± {100 * math.sqrt(share * (1 - share) / of):.1f}"


class Blocked(NamedTuple):
    """Blocks of a pair, by their names, with so many deals each."""

    named: Iterable[tuple[str, int]]
    mood: float
    """The deviation of what the deals of a block have in common, in those of a rated deal."""


class Chance:
    """Differences of rated deals, as sums."""

    def __init__(self, seed: Sequence[int], *, tails: bool = False) -> None:
        self.draw = np.random.default_rng(seed)
        self.tails = tails

    def noise(self, size: tuple[int, ...]) -> np.ndarray:
        """Of deviation 1."""
        if self.tails:
            return self.draw.standard_t(TAILS, size) / math.sqrt(TAILS / (TAILS - 2))
        return self.draw.standard_normal(size)

    def play(self, gap: Moments, lead: float, sd: float, events: int, seats: int = 2) -> None:
        """Add rated deals in which the first is ahead by so much, give or take."""
        add(gap, lead + sd * self.noise((events,)), seats)

    def play_blocks(
        self, tally: Tally, pair: tuple[str, str], lead: float, sd: float, blocks: Blocked
    ) -> None:
        """The same, of a tally; where there is a mood, deals of a block have a part in common."""
        gap = tally.gaps.setdefault(pair, Moments())
        for name, deals in blocks.named:
            noise = self.noise((deals,))
            if blocks.mood:
                noise = noise + blocks.mood * self.noise((1,))
            add(gap, lead + sd * noise)
            for ahead in lead + sd * noise:
                tally.blocks[ADJUSTED][pair].add(name, round(-2 * THOUSANDTHS * float(ahead)))


def add(gap: Moments, leads: np.ndarray, seats: int = 2) -> None:
    """Add rated deals by the strokes a match by which the first was ahead."""
    values = np.rint(-seats * THOUSANDTHS * leads).astype(np.int64)
    gap.events += len(values)
    gap.weight += seats * len(values)
    gap.value += int(values.sum())
    gap.weight2 += seats * seats * len(values)
    gap.value2 += int((values * values).sum())
    gap.cross += seats * int(values.sum())
    gap.value3 += sum(int(value) ** 3 for value in values)


# ------------------------------------------------------------------------------- intervals


def probabilities(ahead: float, deviation: float, margin: float) -> tuple[float, float, float]:
    """Of a win, a tie and a loss."""
    win = normal.cdf((ahead - margin) / deviation)
    loss = normal.cdf((-ahead - margin) / deviation)
    return win, 1 - win - loss, loss


class Held:
    """How true intervals of differences are, and predictions of events that weren't seen."""

    def __init__(self) -> None:
        self.pairs = self.covered = 0
        self.excess = 0.0

    def take(self, found: Fit, skills: Sequence[float], margin: float) -> None:
        """Hold a fit against the skills in its unit. What a log-loss is more than that of who
        knows the skills is an expectation over all outcomes, so none need be drawn for it.
        """
        noise = math.sqrt(2) * RATING.beta
        for one, two in itertools.combinations(range(len(skills)), 2):
            ahead, error = found.ahead(one, two)
            true = skills[one] - skills[two]
            self.pairs += 1
            self.covered += abs(ahead - true) <= Z95 * error
            known = probabilities(true, noise, margin)
            said = probabilities(ahead, math.hypot(noise, error), margin)
            self.excess += sum(
                p * math.log(p / max(q, 1e-300)) for p, q in zip(known, said, strict=True) if p > 0
            )

    def shown(self) -> tuple[str, str]:
        """Coverage in percent, and the excess of the log-loss in thousandths of a nat."""
        share = 100 * self.covered / self.pairs
        return f"{share:.1f}", f"{1000 * self.excess / self.pairs:.1f}"


def counts(
    chance: Chance, skills: np.ndarray, seats: int, deals: int, margin: float
) -> dict[tuple[str, str], PairCount]:
    """Results of every table of the field."""
    found: dict[tuple[str, str], PairCount] = {}
    entrants = names(len(skills))
    for table in itertools.combinations(range(len(skills)), seats):
        shown = skills[list(table)] + RATING.beta * chance.draw.standard_normal((deals, seats))
        for one, two in itertools.combinations(range(seats), 2):
            ahead = shown[:, one] - shown[:, two]
            pair = found.setdefault((entrants[table[one]], entrants[table[two]]), PairCount())
            pair.first += int((ahead > margin).sum())
            pair.second += int((ahead < -margin).sum())
            pair.ties += int((abs(ahead) <= margin).sum())
    return found


def results(runs: int) -> None:
    """Coverage and predictions of the fit to results."""
    head(
        "Results", "field", "seats", "deals a table", "skills' deviation", "95 % cover", "log-loss"
    )
    margin = draw_margin(RATING)
    cases = [(4, 2), (8, 2), (12, 2), (20, 2), (5, 4), (7, 4)]
    for (size, seats), (spread, deals) in itertools.product(
        cases, [(RATING.sigma, 10), (RATING.sigma, 100), (2.0, 10), (2.0, 100)]
    ):
        held = Held()
        for run in range(max(20, 8 * runs // size**2)):
            chance = Chance((1, size, seats, int(spread), deals, run))
            skills = RATING.mu + spread * chance.draw.standard_normal(size)
            pairs = counts(chance, skills, seats, deals, margin)
            held.take(fit(names(size), pairs, seats=seats, settings=RATING), skills, margin)
        row(size, seats, deals, f"{spread:.3g}", *held.shown())


def strokes(runs: int) -> None:
    """Coverage and predictions of the fit to strokes."""
    numbers = [1, 2, 5, 10, 40]
    head(
        "Strokes: 95 % cover, and the log-loss, by deals a table",
        *("field", "seats", "deviations", "differences", *map(str, numbers)),
    )
    spreads: dict[str, Spread] = {
        "all 12": (12.0, 12.0, 1.0),
        "5 to 25": (5.0, 25.0, 1.0),
        "one of 10 times the variance": (5.0, 25.0, 10.0),
    }
    for (size, seats), (told, spread), tails in itertools.product(
        [(2, 2), (4, 2), (8, 2), (12, 2), (20, 2), (6, 4)], spreads.items(), [False, True]
    ):
        if (size <= 4 or seats > 2) and told != "all 12":
            continue
        cells = []
        for deals in numbers:
            held = Held()
            for run in range(max(20, 16 * runs // size**2)):
                chance = Chance((2, size, seats, deals, run, tails), tails=tails)
                skills = 15 * chance.draw.standard_normal(size)
                if seats > 2:
                    gaps = crowded(chance, skills, seats, deals, spread[0])
                else:
                    gaps = pairwise(chance, skills, deals, spread)
                found = fit_strokes(names(size), gaps, seats=seats, settings=RATING)
                unit = skill_of_a_stroke(RATING)
                held.take(found, [RATING.mu + unit * skill for skill in skills], 0.0)
            cells.append("{} ({})".format(*held.shown()))
        row(size, seats, told, "t(5)" if tails else "Gaussian", *cells)


def deviations(chance: Chance, size: int, spread: Spread) -> np.ndarray:
    """Of each pair."""
    low, high, outlier = spread
    found = np.exp(chance.draw.uniform(math.log(low), math.log(high), (size, size)))
    found[:, -1] *= math.sqrt(outlier)
    return found


def pairwise(
    chance: Chance, skills: np.ndarray, deals: int, spread: Spread
) -> dict[tuple[str, str], Moments]:
    """Differences of every pair."""
    sd = deviations(chance, len(skills), spread)
    entrants, gaps = names(len(skills)), {}
    for one, two in itertools.combinations(range(len(skills)), 2):
        gap = gaps[entrants[one], entrants[two]] = Moments()
        chance.play(gap, skills[one] - skills[two], sd[one, two], deals)
    return gaps


def crowded(
    chance: Chance, skills: np.ndarray, seats: int, deals: int, sd: float
) -> dict[tuple[str, str], Moments]:
    """Differences at every table of more than two, where each has luck of its own."""
    gaps: dict[tuple[str, str], Moments] = {}
    entrants = names(len(skills))
    for table in itertools.combinations(range(len(skills)), seats):
        shown = skills[list(table)] + sd / math.sqrt(2) * chance.noise((deals, seats))
        for one, two in itertools.combinations(range(seats), 2):
            gap = gaps.setdefault((entrants[table[one]], entrants[table[two]]), Moments())
            add(gap, shown[:, one] - shown[:, two], seats)
    return gaps


# ----------------------------------------------------------------------------------- races


def entered(size: int) -> tuple[Entrant, ...]:
    """The entrants of an event."""
    return tuple(
        Entrant(id=name, name=name, version="1", hash=sha256_hex(name.encode()))
        for name in names(size)
    )


Units = Literal["blocks"] | UnsetType
Field = Callable[[Chance], tuple[np.ndarray, np.ndarray]]
"""Draws strengths in strokes and the deviations of pairs."""


def fields(size: int) -> Mapping[str, Field]:
    """Those that races are simulated with."""
    steps = np.arange(size, dtype=float)

    def made(strengths: np.ndarray, outlier: float = 1.0) -> Field:
        return lambda chance: (
            -strengths,
            deviations(chance, len(strengths), (5.0, 25.0, outlier)),
        )

    def drawn(chance: Chance) -> tuple[np.ndarray, np.ndarray]:
        return made(20 * chance.draw.standard_normal(size))(chance)

    near = np.cumsum(np.resize([1.0, 2.0, 3.0], size))
    away = np.append(4 * steps[:-1], 350.0)
    return {
        "drawn, deviation 20": drawn,
        "all equal": made(0 * steps),
        "pairs of equals, 8 apart": made(8 * (steps // 2)),
        "pairs of equals, 30 apart": made(30 * (steps // 2)),
        "pairs 2 apart, 30 between them": made(30 * (steps // 2) + 2 * (steps % 2)),
        "1, 2, 3 strokes apart": made(near),
        "4 apart, one 300 behind, 10 times the variance": made(away, 10.0),
    }


class Raced:
    """What became of a race."""

    def __init__(
        self,
        field: Field,
        chance: Chance,
        *,
        size: int,
        deals: int,
        racing: RaceSettings = RACING,
        units: Units = UNSET,
        mood: float = 0.0,
    ) -> None:
        self._chance = chance
        self.strengths, self._deviations = field(chance)
        settings = Settings(
            game="play-nine",
            format="racing",
            rate_on=ADJUSTED,
            deals=deals,
            racing=racing,
            units=units,
        )
        entrants = entered(size)
        self.place = {entrant.id: place for place, entrant in enumerate(entrants)}
        event = Event(settings=settings, entrants=entrants, commitment="")
        tally = Tally(margin=RATING.forfeit_margin)
        race = Race(settings, entrants, DEALS)
        seated = {pairing_id(pair): pair for pair in itertools.combinations(names(size), 2)}
        self.waves: list[Wave] = []
        self.evidence: WaveResults = NoResults()
        self.ever_wrong = False
        """Whether after any wave neighbours were told apart though they aren't in this order."""
        while isinstance(wave := race.wave(self.waves, self.evidence), Wave):
            for pairing, dealt in wave.deals.items():
                one, two = pair = seated[pairing]
                chunks = race.chunks(dealt)
                blocks = Blocked([(str(some.start), len(some)) for some in chunks], mood)
                lead, sd = self.ahead(one, two), self._sd(one, two)
                chance.play_blocks(tally, pair, lead, sd, blocks)
            self.waves.append(wave)
            self.evidence = Evidence(event, tally, {})
            self.ever_wrong |= self.wrong()

    def ahead(self, one: str, two: str) -> float:
        """By how much the first is better."""
        return float(self.strengths[self.place[one]] - self.strengths[self.place[two]])

    def _sd(self, one: str, two: str) -> float:
        return float(self._deviations[self.place[one], self.place[two]])

    def neighbours(self) -> Iterator[tuple[float, float, float]]:
        """Lead, its error and the true lead of all neighbours in the final order."""
        for one, two in itertools.pairwise(self.evidence.order()):
            lead = self.evidence.lead(one, two)
            yield lead.strokes, lead.error, self.ahead(one, two)

    def _reach(self) -> Callable[[float], float]:
        """How many strokes tell two apart, by the error of their lead."""
        order = self.evidence.order()
        leads = itertools.starmap(self.evidence.lead, itertools.pairwise(order))
        pairs = step_down(leads, len(order) - 1, self.evidence.separation)
        return lambda error: error * self.evidence.separation(pairs, error)

    def wrong(self) -> bool:
        """Whether any neighbours are told apart though they aren't in this order."""
        reach = self._reach()
        return any(lead > reach(error) and true <= 0 for lead, error, true in self.neighbours())

    def wrongly_close(self) -> bool:
        """Whether any neighbours are shown to be close though they aren't."""
        reach = self._reach()
        return any(
            abs(lead) + reach(error) < RACING.close <= abs(true)
            for lead, error, true in self.neighbours()
        )

    def wrong_somewhere(self) -> bool:
        """Whether any two are, neighbours or not."""
        reach = self._reach()
        for one, two in itertools.combinations(self.evidence.order(), 2):
            lead = self.evidence.lead(one, two)
            if lead.strokes > reach(lead.error) and self.ahead(one, two) <= 0:
                return True
        return False

    @property
    def matches(self) -> int:
        """That were played."""
        return sum(wave.matches for wave in self.waves)


def races(runs: int, *, size: int = 12) -> None:
    """Error rates, coverage and length of races."""
    head(
        f"Races of {size}",
        *(
            "field",
            "differences",
            "neighbours wrongly apart, ever, %",
            "at the end, %",
            "any two, %",
            "neighbours wrongly close, %",
        ),
        *("95 % cover", "matches", "waves"),
    )
    for (told, field), tails in itertools.product(fields(size).items(), [False, True]):
        done = [
            Raced(field, Chance((3, size, 10, run, tails), tails=tails), size=size, deals=10)
            for run in range(runs)
        ]
        pairs = [pair for race in done for pair in race.neighbours()]
        covered = sum(abs(lead - true) <= Z95 * error for lead, error, true in pairs)
        row(
            told,
            "t(5)" if tails else "Gaussian",
            percent(sum(race.ever_wrong for race in done), runs),
            percent(sum(race.wrong() for race in done), runs),
            percent(sum(race.wrong_somewhere() for race in done), runs),
            percent(sum(race.wrongly_close() for race in done), runs),
            f"{100 * covered / len(pairs):.1f}",
            f"{statistics.mean(race.matches for race in done):,.0f}",
            f"{statistics.mean(len(race.waves) for race in done):.1f}",
        )


def large(runs: int) -> None:
    """Races of many: warm-ups in which every pair plays ten deals, and that are spread."""
    head(
        "Races of many, strengths with a deviation of 20 strokes",
        *("bots", "warm-up", "of it matches", "neighbours wrongly apart, ever, %", "matches"),
    )
    for size, racing in itertools.product((30, 60, 120), (replace(RACING, spread=UNSET), RACING)):
        drawn = fields(size)["drawn, deviation 20"]
        done = [
            Raced(drawn, Chance((6, size, run)), size=size, deals=10, racing=racing)
            for run in range(runs)
        ]
        row(
            size,
            "every pair" if racing.spread is UNSET else f"{racing.spread} others",
            f"{done[0].waves[0].matches:,}",
            percent(sum(race.ever_wrong for race in done), runs),
            f"{statistics.median(race.matches for race in done):,.0f}",
        )


def looks(runs: int) -> None:
    """Error rates over all looks, where there is most to err about; with bounds that hold at all,
    and at ten. In the warm-up a bot plays so many deals; at ten looks so many against each other.
    """
    cases = [(2, 5, "all equal"), (2, 10, "all equal"), (2, 25, "all equal"), (3, 10, "all equal")]
    cases += [
        (size, 10, f"pairs of equals, {apart} apart") for size in (4, 12) for apart in (8, 30)
    ]
    shown = (f"{size} bots, warm-up of {deals}, {told}" for size, deals, told in cases)
    head("Races that ever tell neighbours apart wrongly, %, and their matches", "rule", *shown)
    rules = {"ten looks, waves of a half": OLDER, "every look, waves of a fifth": RACING}
    for rule, racing in rules.items():
        cells = []
        for size, deals, told in cases:
            done = [
                Raced(
                    fields(size)[told],
                    Chance((4, size, deals, run)),
                    size=size,
                    deals=deals,
                    racing=racing if racing is OLDER else replace(racing, spread=deals),
                )
                for run in range(runs)
            ]
            wrong = percent(sum(race.ever_wrong for race in done), runs)
            cells.append(f"{wrong}; {statistics.mean(race.matches for race in done):,.0f}")
        row(rule, *cells)


# ---------------------------------------------------------------------------------- trials


COMPARED = SequentialTrial.stated(TrialSettings(new=names(2)[1], budget=20_000))
"""As `arena compare` asks."""
BEFORE = TrialSettings(new=names(2)[1], budget=20_000)
"""As it asked before it set forfeits apart and allowed for skewness."""


class Tried(NamedTuple):
    """How a trial ended."""

    verdict: TrialVerdict
    matches: int
    off: float
    """By how many standard errors its lead is off the truth."""
    within: float
    """Within how many it should be."""


def tried(
    test: TrialSettings,
    lead: float,
    sd: float,
    chance: Chance,
    *,
    units: Units = UNSET,
    mood: float = 0.0,
) -> Tried:
    """Play one."""
    settings = Settings(
        game="play-nine", format="trial", rate_on=ADJUSTED, deals=CHUNK, trial=test, units=units
    )
    entrants = entered(2)
    event = Event(settings=settings, entrants=entrants, commitment="")
    tally = Tally(margin=RATING.forfeit_margin)
    old, new = names(2)
    trial = SequentialTrial(settings, entrants, DEALS)
    waves: list[Wave] = []
    evidence: WaveResults = NoResults()
    while not isinstance(wave := trial.wave(waves, evidence), ScheduleEnd):
        many = wave.matches // (2 * CHUNK)
        blocks = Blocked([(f"{len(waves)} {number}", CHUNK) for number in range(many)], mood)
        chance.play_blocks(tally, (old, new), -lead, sd, blocks)
        waves.append(wave)
        evidence = Evidence(event, tally, {})
    shown = evidence.lead(new, old)
    matches = sum(wave.matches for wave in waves)
    verdict = wave.verdict or TrialVerdict.UNDECIDED
    within = evidence.separation(1, shown.error)
    return Tried(verdict, matches, abs(shown.strokes - lead) / shown.error, within)


class Rare(NamedTuple):
    """Two whose matches are forfeited now and then."""

    lead: float
    """Strokes by which the new one is ahead in matches without a forfeit."""
    new: float
    """The share of matches that it forfeits."""
    old: float
    """That the other does."""


def forfeited(test: TrialSettings, rare: Rare, sd: float, draw: np.random.Generator) -> Tried:
    """Play a trial match by match; who forfeits loses by the margin."""
    settings = Settings(game="play-nine", format="trial", rate_on=ADJUSTED, deals=CHUNK, trial=test)
    entrants = entered(2)
    event = Event(settings=settings, entrants=entrants, commitment="")
    tally = Tally(margin=RATING.forfeit_margin)
    old, new = names(2)
    gap = tally.gaps[old, new] = Moments()
    apart = tally.forfeited[old, new] = ForfeitSums()
    margin = round(THOUSANDTHS * RATING.forfeit_margin)
    trial = SequentialTrial(settings, entrants, DEALS)
    waves: list[Wave] = []
    evidence: WaveResults = NoResults()
    while not isinstance(wave := trial.wave(waves, evidence), ScheduleEnd):
        size = (wave.matches // 2, 2)
        leads = rare.lead + math.sqrt(2) * sd * draw.standard_normal(size)
        gaps = np.rint(THOUSANDTHS * leads).astype(np.int64)  # by which the old one is above
        fell = draw.random(size)
        for one, two, by_one, by_two in zip(*gaps.T, *fell.T, strict=True):
            kept, value = [], 0
            for each, by in ((int(one), by_one), (int(two), by_two)):
                if by < rare.new:
                    apart.second += 1
                    value -= margin
                elif by < rare.new + rare.old:
                    apart.first += 1
                    value += margin
                else:
                    kept.append(each)
                    value += each
            gap.add(value, 2)
            if len(kept) < len(size):
                apart.whole.add(value, 2)
                if kept:
                    apart.rest.add(sum(kept), 1)
        waves.append(wave)
        evidence = Evidence(event, tally, {})
    matches = sum(wave.matches for wave in waves)
    return Tried(wave.verdict or TrialVerdict.UNDECIDED, matches, 0.0, 0.0)


def forfeits(runs: int) -> None:
    """Error rates and length of trials where forfeits are rare, with and without a proof that they
    cost less than strokes gain.
    """
    head(
        "Trials with rare forfeits",
        *("alpha = beta", "deviation", "strokes", "new forfeits", "old forfeits", "true lead"),
        *("better, %", "matches", "as before: better, %", "matches"),
    )
    margin = RATING.forfeit_margin
    level = [Rare(d, d / (margin + d), 0.0) for d in (1.0, 2.0, 5.0, 10.0, 20.0)]
    level += [Rare(-2.0, 0.0, 2 / (margin + 2)), Rare(2.0, 3 / (margin + 2), 1 / (margin - 2))]
    ahead = [Rare(2.0, 0.0, 0.0), Rare(5.0, 0.0, 0.0), Rare(4.0, 2 / (margin + 4), 0.0)]
    ahead += [Rare(0.0, 0.0, 0.1)]
    for rate, sd, rare in itertools.product([0.05, 0.01], [5.0, 9.0, 15.0], level + ahead):
        if rate < 0.05 and (sd > 9 or rare.lead > 10):
            continue
        cells: list[str] = []
        for asked in (COMPARED, BEFORE):
            test = replace(asked, alpha=rate, beta=rate)
            done = [
                forfeited(test, rare, sd, np.random.default_rng((7, int(sd), run)))
                for run in range(runs)
            ]
            better = sum(one.verdict is TrialVerdict.BETTER for one in done)
            matches = statistics.median(one.matches for one in done)
            cells += [percent(better, runs), f"{matches:g}"]
        true = (1 - rare.new - rare.old) * rare.lead + margin * (rare.old - rare.new)
        shares = (f"1 in {1 / share:.0f}" if share else "none" for share in (rare.new, rare.old))
        row(rate, f"{sd:g}", f"{rare.lead:+g}", *shares, f"{true:+.1f}", *cells)


def trials(runs: int) -> None:
    """Error rates and length of trials."""
    head(
        "Trials",
        *("deviation", "differences", "alpha = beta", "better at 0, %", "not better at 2, %"),
        *("undecided, %", "matches at 0", "at 2", "at 5"),
        *("cover at 0, %", "at 2", "at 5", "as after one look"),
    )
    for rate, tails, sd in itertools.product([0.05, 0.01], [False, True], [5.0, 9.0, 15.0, 25.0]):
        found = {}
        for lead in (0.0, 2.0, 5.0):
            test = replace(COMPARED, alpha=rate, beta=rate)
            found[lead] = [
                tried(test, lead, sd, Chance((5, int(sd), int(lead), run, tails), tails=tails))
                for run in range(runs if lead < 5 else runs // 4)
            ]
        undecided = sum(one.verdict is TrialVerdict.UNDECIDED for one in found[0.0] + found[2.0])
        row(
            f"{sd:g}",
            "t(5)" if tails else "Gaussian",
            rate,
            percent(sum(one.verdict is TrialVerdict.BETTER for one in found[0.0]), runs),
            percent(sum(one.verdict is not TrialVerdict.BETTER for one in found[2.0]), runs),
            percent(undecided, 2 * runs),
            *(f"{statistics.median(one.matches for one in some):g}" for some in found.values()),
            *(percent(sum(o.off <= o.within for o in some), len(some)) for some in found.values()),
            percent(sum(one.off <= Z95 for one in found[0.0] + found[2.0]), 2 * runs),
        )


def weaker_by(margin: float) -> TrialSettings:
    """Of a trial that asks whether the new bot is weaker by so much."""
    new = names(2)[1]
    return SequentialTrial.stated(
        TrialSettings(new=new, effect=margin, no_worse=True, budget=20_000)
    )


def no_worse(runs: int) -> None:
    """Error rates and length of trials that ask whether the new bot is weaker by a margin; the last
    rows are of one that is weaker by its forfeits alone.
    """
    head(
        "Trials with --no-worse, alpha = beta = 0.05",
        *("margin", "deviation", "weaker by it passes, %", "as strong passes, %"),
        *("undecided, %", "matches, weaker", "as strong", "9 of 10 as strong, at most"),
    )
    for margin, sd in itertools.product([1.0, 2.0, 5.0], [5.0, 9.0, 15.0]):
        test = weaker_by(margin)
        weaker, equal = (
            [tried(test, lead, sd, Chance((10, int(sd), run))) for run in range(runs)]
            for lead in (-margin, 0.0)
        )
        row(margin, f"{sd:g}", *_passes(weaker, equal, runs))
    for margin in (2.0, 5.0):
        test = weaker_by(margin)
        share = margin / RATING.forfeit_margin
        weaker, equal = (
            [forfeited(test, rare, 9.0, np.random.default_rng((10, run))) for run in range(runs)]
            for rare in (Rare(0.0, share, 0.0), Rare(0.0, 0.0, 0.0))
        )
        row(margin, f"9, 1 forfeit in {1 / share:.0f}", *_passes(weaker, equal, runs))


def _passes(weaker: Sequence[Tried], equal: Sequence[Tried], runs: int) -> list[str]:
    passed = [
        percent(sum(one.verdict is TrialVerdict.NO_WORSE for one in some), runs)
        for some in (weaker, equal)
    ]
    open_ = sum(one.verdict is TrialVerdict.UNDECIDED for one in (*weaker, *equal))
    lengths = sorted(one.matches for one in equal)
    middle = [f"{statistics.median(one.matches for one in some):g}" for some in (weaker, equal)]
    return [*passed, percent(open_, 2 * runs), *middle, f"{lengths[9 * runs // 10]}"]


class Skewed(Chance):
    """Gamma-distributed differences: now and then one bot loses much."""

    def __init__(self, seed: Sequence[int], skew: float) -> None:
        super().__init__(seed)
        self._shape, self._sign = 4 / skew**2, math.copysign(1.0, skew)

    def noise(self, size: tuple[int, ...]) -> np.ndarray:
        """Of deviation 1."""
        drawn = self.draw.gamma(self._shape, 1.0, size) - self._shape
        return self._sign * drawn / math.sqrt(self._shape)


def skewed(runs: int) -> None:
    """Error rates of trials of skewed differences."""
    head(
        "Trials of skewed differences, alpha = beta = 0.05",
        *("skewness of the new bot's lead", "deviation", "better at 0, %", "not better at 2, %"),
        *("matches at 0", "as before: better at 0, %", "not better at 2, %"),
    )
    for skew, sd in itertools.product([-2.0, -1.0, -0.5, 0.5, 2.0], [5.0, 9.0, 15.0]):
        cells: list[str] = []
        for test in (COMPARED, BEFORE):
            none, some = (
                # Gaps are those of the old bot, whose skewness is the other way round.
                [tried(test, lead, sd, Skewed((8, int(sd), run), -skew)) for run in range(runs)]
                for lead in (0.0, 2.0)
            )
            cells.append(percent(sum(one.verdict is TrialVerdict.BETTER for one in none), runs))
            cells.append(percent(sum(one.verdict is not TrialVerdict.BETTER for one in some), runs))
            if test is COMPARED:
                cells.append(f"{statistics.median(one.matches for one in none):g}")
        row(f"{skew:+g}", f"{sd:g}", *cells)


# ------------------------------------------------------------------------------------ live

LIVE_BOTS = 8
LIVE_LOOKS = 20
LIVE_SERIES = 5
"""Deals of each table between two looks."""
MOOD = 0.5
"""The deviation of what the deals of a bot's series have in common, in those of a rated deal."""
LIVE_MOODS = {
    "moods": (LIVE_LOOKS, LIVE_SERIES, LIVE_BOTS),
    "a mood of one bot": (LIVE_LOOKS, LIVE_SERIES, 1),
    "moods, series of 25": (4, 25, LIVE_BOTS),
}
"""Looks, deals of each table between two, and how many bots carry a mood."""


def played_on(seats: int, told: str, run: int) -> dict[bool, tuple[bool, bool]]:
    """Whether a table of equals ever tells any two apart while it is played, at all looks; and at
    its end, in one look; by whether errors follow blocks.
    """
    looks, deals, moody = LIVE_MOODS.get(told, (LIVE_LOOKS, LIVE_SERIES, 0))
    draws = {"skewness 2": lambda: Skewed((11, seats, run), 2.0)}
    chance = draws.get(told, lambda: Chance((11, seats, run), tails=told == "t(5)"))()
    bots, sd = names(LIVE_BOTS), 10.0 / math.sqrt(2)  # of a bot; of a difference 10 strokes
    gaps = {pair: Moments() for pair in itertools.combinations(bots, 2)}
    tables = list(itertools.combinations(bots, seats))
    moods = np.array([[[bot in bots[:moody] for bot in table]] for table in tables]) * MOOD
    sums: dict[tuple[str, ...], BlockSums] = defaultdict(BlockSums)
    ever, end = {True: False, False: False}, {True: False, False: False}
    for look in range(1, looks + 1):
        shown = chance.noise((len(tables), deals, seats))
        if moody:
            shown = shown + moods * chance.noise((len(tables), 1, seats))
        for table, values in zip(tables, sd * THOUSANDTHS * shown, strict=True):
            for seat, bot in enumerate(table if seats > 2 else table[:1]):
                key = (bot, *(other for other in table if other != bot))
                for value in seats * values[:, seat] - values.sum(axis=1):
                    sums[key].add(f"{look}", round(float(value)))
        leads: dict[tuple[str, str], list[np.ndarray]] = {pair: [] for pair in gaps}
        for table, strokes in zip(tables, sd * shown, strict=True):
            for (one, mine), (two, theirs) in itertools.combinations(
                zip(table, strokes.T, strict=True), 2
            ):
                leads[one, two].append(theirs - mine)
        for pair, parts in leads.items():
            add(gaps[pair], np.concatenate(parts))
        rate, share = RATING.error_rate / len(gaps), look / looks
        for by_block in (True, False):
            wider = variances(sums, over=look == looks) if by_block else {}
            found = fit_strokes(bots, gaps, seats=seats, settings=RATING, wider=wider)
            pairs = itertools.combinations(range(len(bots)), 2)
            sure = max(abs(ahead) / error for ahead, error in itertools.starmap(found.ahead, pairs))
            ever[by_block] |= look < looks and sure > always(rate, share**-0.5)
            end[by_block] = sure > normal.quantile(1 - rate / 2)
    return {by_block: (ever[by_block], end[by_block]) for by_block in ever}


def live(runs: int) -> None:
    """Tables of equals, looked at after every twentieth of a planned event."""
    head(
        f"{LIVE_BOTS} equals in a planned event, looked at {LIVE_LOOKS} times",
        *("seats", "differences", "any two ever told apart while it is played, %"),
        *("at its end, %", "errors by deals alone: while it is played, %", "at its end, %"),
    )
    kinds = ("Gaussian", "t(5)", "skewness 2", *LIVE_MOODS)
    for seats, told in itertools.product((2, 4, 6), kinds):
        done = [played_on(seats, told, run) for run in range(runs)]
        cells = (
            percent(sum(one[by_block][at] for one in done), runs)
            for by_block, at in itertools.product((True, False), (0, 1))
        )
        row(seats, told, *cells)


def moods(runs: int) -> None:
    """Races and trials of bots with and without a mood, by both units of errors."""
    head(
        "Errors by deals alone, and as wide as blocks ask for",
        *("event", "moods", "by deals: ever wrong, %", "matches"),
        *("by blocks: ever wrong, %", "matches", "more matches, %"),
    )
    kinds = [(2, 5, "all equal"), (2, 10, "all equal"), (4, 10, "pairs of equals, 30 apart")]
    kinds += [(12, 10, "pairs of equals, 8 apart"), (12, 10, "drawn, deviation 20")]

    def raced(case: tuple[int, int, str], units: Units, mood: float) -> list[tuple[bool, int]]:
        size, deals, told = case
        return [
            (race.ever_wrong, race.matches)
            for race in (
                Raced(
                    fields(size)[told],
                    Chance((4, size, deals, run)),
                    size=size,
                    deals=10,
                    racing=replace(RACING, spread=deals),
                    units=units,
                    mood=mood,
                )
                for run in range(runs if size < 12 else max(1, runs // 5))
            )
        ]

    def compared(case: tuple[float, float], units: Units, mood: float) -> list[tuple[bool, int]]:
        sd, lead = case
        done = [
            tried(COMPARED, lead, sd, Chance((5, int(sd), int(lead), run)), units=units, mood=mood)
            for run in range(runs)
        ]
        right = TrialVerdict.BETTER if lead else TrialVerdict.NOT_BETTER
        return [(one.verdict is not right, one.matches) for one in done]

    cases: list[tuple[str, Callable[[Units, float], list[tuple[bool, int]]]]] = [
        (f"race of {case[0]}, warm-up of {case[1]}, {case[2]}", partial(raced, case))
        for case in kinds
    ] + [
        (f"trial, {case[1]:g} strokes ahead, deviation {case[0]:g}", partial(compared, case))
        for case in itertools.product((5.0, 9.0, 15.0), (0.0, 2.0))
    ]
    for (told, play), mood in itertools.product(cases, (0.0, MOOD)):
        cells, lengths = [], []
        units: tuple[Units, ...] = (UNSET, BLOCKS)
        for unit in units:
            done = play(unit, mood)
            lengths.append(statistics.mean(matches for _, matches in done))
            cells += [percent(sum(wrong for wrong, _ in done), len(done)), f"{lengths[-1]:,.0f}"]
        more = 100 * (lengths[1] / lengths[0] - 1)
        row(told, f"{mood:g}" if mood else "none", *cells, f"{more:+.0f}")


# --------------------------------------------------------------------------------- outlook

OUTLOOK_SD = 9.0
MOST_TIMES = 40  # the predicted number of deals, after which a continuation is given up


class Continued:
    """A round robin that goes on until the neighbours that were open are told apart: all pairs,
    judged by one look as an event that is over; or as a race without a `close`, by a bound of
    every look, the open neighbours alone.
    """

    def __init__(self, chance: Chance, skills: np.ndarray, deals: int, *, looks: bool) -> None:
        self._chance, self._skills, self._size = chance, skills, len(skills)
        self._names = names(self._size)
        racing = Race.stated(RaceSettings(close=0.0)) if looks else None
        self._settings = Settings(game="play-nine", rate_on=ADJUSTED, deals=deals, racing=racing)
        self._pairs = self._size - 1 if looks else math.comb(self._size, 2)
        self._gaps = {pair: Moments() for pair in itertools.combinations(self._names, 2)}
        self._alone = looks
        self._play(deals, itertools.combinations(range(self._size), 2))
        order = [self._names.index(name) for name in self._fit.order()]
        each = (self._size - 1) * deals
        self._known = known = worth(each, each, self._size) if looks else deals
        self.asked = {
            pair: more_deals(lead_of(self._fit, *pair, RATING), known, self._errors)
            for pair in itertools.pairwise(order)
            if not self.apart(*pair)
        }
        """By open neighbours: more deals, and whether they are a lower bound."""

    def _errors(self, error: float, times: float = 1.0) -> float:
        del times
        return separation(self._settings, self._pairs, error)

    def _play(self, many: int, pairs: Iterable[tuple[int, int]]) -> None:
        for one, two in map(sorted, pairs):
            gap = self._gaps[self._names[one], self._names[two]]
            self._chance.play(gap, self._skills[one] - self._skills[two], OUTLOOK_SD, many)
        self._fit = fit_strokes(self._names, self._gaps, seats=2, settings=RATING)

    def apart(self, one: int, two: int) -> bool:
        """By the rule, in whichever order."""
        lead = lead_of(self._fit, one, two, RATING)
        return abs(lead.strokes) > self._errors(lead.error) * lead.error

    def took(self) -> Iterator[tuple[bool, float, bool]]:
        """Of each open pair: whether its number is a lower bound; how many times as many it took;
        whether the two are apart when so many have been played.
        """
        more, first = 0, dict[tuple[int, int], float]()
        then: dict[tuple[int, int], bool] = {}
        while left := [pair for pair in self.asked if pair not in first or pair not in then]:
            step = max(1, int(self._known + more) // 20)
            everyone = itertools.combinations(range(self._size), 2)
            self._play(step, left if self._alone else everyone)
            more += step
            for pair in left:
                predicted, at_least = self.asked[pair]
                if more >= predicted:
                    then.setdefault(pair, self.apart(*pair))
                if self.apart(*pair):
                    first.setdefault(pair, more / predicted)
                elif more > predicted * (1 if at_least else MOST_TIMES):
                    first.setdefault(pair, math.inf)
        for pair, (_, at_least) in self.asked.items():
            yield at_least, first[pair], then[pair]


def outlook(runs: int) -> None:
    """How many more deals neighbours really take, against what the table predicts."""
    head(
        "More deals until neighbours are told apart: needed / predicted",
        *("rule", "bots", "deals a pair when asked", "skills' deviation"),
        *("pairs with a number", "median", "middle half", "8 of 10", "apart at the number, %"),
        *('pairs with "more than"', "needed more, %"),
    )
    for looks, (size, deals, spread) in itertools.product(
        (False, True), ((2, 20, 3.0), (6, 20, 8.0), (6, 100, 8.0))
    ):
        ratios, apart, bounded = [], [], []
        for run in range(runs // size):
            chance = Chance((11, size, deals, run))
            skills = spread * chance.draw.standard_normal(size)
            for at_least, ratio, then in Continued(chance, skills, deals, looks=looks).took():
                if at_least:
                    bounded.append(ratio > 1)
                else:
                    ratios.append(ratio)
                    apart.append(then)
        ordered = sorted(ratios)
        marks = [f"{ordered[int(at * len(ordered))]:.2f}" for at in (0.5, 0.25, 0.75, 0.1, 0.9)]
        row(
            *("every look" if looks else "one look", size, deals, f"{spread:g}", len(ratios)),
            *(marks[0], f"{marks[1]} to {marks[2]}", f"{marks[3]} to {marks[4]}"),
            *(percent(sum(apart), len(apart)), len(bounded), percent(sum(bounded), len(bounded))),
        )


# ---------------------------------------------------------------------------------- series

SERIES_DEALS = 25
SERIES_SD = 12.0
ASKED = 5
"""Parts of the audit of an event of two seats, which share its 5 %."""


def at_two(pairing: str, deal: int, series: int, *leads: float) -> RatedDeal:
    """A rated deal in which the first of two was ahead by so many strokes in each rotation."""
    behind = [round(THOUSANDTHS * lead) for lead in leads]
    return RatedDeal(
        pairing=pairing,
        deal=deal,
        records=tuple(
            MatchRecord(
                id=match_id(pairing, deal, rotation),
                series=f"{pairing}-{series:06d}-s{rotation}",
                pairing=pairing,
                deal=deal,
                rotation=rotation,
                seats=("first", pairing) if not rotation else (pairing, "first"),
                deck="",
                holes=(),
                totals=(0, 0),
                places=(1, 1),
                luck=(behind[0], 0) if not rotation else (0, behind[1]),
            )
            for rotation in range(2)
        ),
        whole=True,
    )


def series(runs: int) -> None:
    """What intervals cover where the results of a series hang together, and who is found."""
    head(
        f"A bot whose results within a series of {SERIES_DEALS} deals hang together",
        *("opponents", "blocks each", "correlation", "95 % cover, %", "by block, %"),
        *("times as wide", "found by `arena audit`, %"),
    )
    for opponents, many, correlation in itertools.product((1, 9), (2, 4), (0.0, 0.02, 0.05, 0.2)):
        covered, by_block, found, wider = 0, 0, 0, []
        audits = runs // 20
        for run in range(runs):
            chance = Chance((6, opponents, many, int(100 * correlation), run))
            size = (opponents, many, SERIES_DEALS)
            leads = math.sqrt(correlation) * chance.noise((*size[:2], 1))
            leads = SERIES_SD * (leads + math.sqrt(1 - correlation) * chance.noise(size))
            units = [[Moments(), Moments()] for _ in range(opponents)]
            for (event, block), own in zip(units, leads, strict=True):
                add(event, own.ravel())
                add(block, own.mean(axis=1))
            means = [average(some) for some in zip(*units, strict=True)]
            truths = [mean and abs(mean.mean) <= half_width(mean, unknown=0.0) for mean in means]
            covered, by_block = covered + bool(truths[0]), by_block + bool(truths[1])
            if run < audits:
                blocks = Blocks(2)
                for opponent, block, deal in itertools.product(*map(range, size)):
                    number = SERIES_DEALS * block + deal
                    lead = leads[opponent, block, deal]
                    blocks.add(at_two(f"{opponent}", number, SERIES_DEALS * block, lead, lead))
                (own_row,) = (r for r in blocks.rows(b"%d" % run) if r.bot == "first")
                found += ASKED * own_row.p <= 0.05
                wider.append(own_row.wider)
        row(
            *(opponents, many, correlation, percent(covered, runs), percent(by_block, runs)),
            *(f"{statistics.median(wider):.2f}", percent(found, audits)),
        )


def later(runs: int) -> None:
    """How often a bot is found that gains where its deal had been played before."""
    opponents = 3
    head(
        f"A bot that gains where its deal had been played before, with {opponents} opponents",
        *("deals with each", "strokes gained", "called unusual by itself, %"),
        "found by `arena audit`, %",
    )
    for many, gain in itertools.product((8, 25, 50), (0, 4, 8)):
        alone = found = 0
        for run in range(runs):
            chance = Chance((7, many, gain, run))
            leads = SERIES_SD * math.sqrt(2) * chance.noise((opponents, many, 2))
            first = chance.noise((opponents, many)) > 0
            orders = {
                (f"{opponent}", deal): (0, 1) if first[opponent, deal] else (1, 0)
                for opponent, deal in itertools.product(range(opponents), range(many))
            }
            part = Rotations(2, lambda *deal: orders[deal], 128)  # noqa: B023 - used at once
            for opponent, deal in itertools.product(range(opponents), range(many)):
                own = leads[opponent, deal].copy()
                own[1 if first[opponent, deal] else 0] += gain
                part.add(at_two(f"{opponent}", deal, 0, *map(float, own)))
            (bot,) = (r for r in part.rows(b"%d" % run) if r.bot == "first")
            alone += bot.p <= 0.05
            found += ASKED * bot.p <= 0.05
        row(many, gain, percent(alone, runs), percent(found, runs))


PARTS: Mapping[str, tuple[Callable[[int], None], int]] = {
    "results": (results, 1000),
    "strokes": (strokes, 1000),
    "races": (races, 400),
    "large": (large, 10),
    "trials": (trials, 1500),
    "forfeits": (forfeits, 1000),
    "skewed": (skewed, 1000),
    "no-worse": (no_worse, 1000),
    "looks": (looks, 1000),
    "live": (live, 1000),
    "moods": (moods, 400),
    "outlook": (outlook, 600),
    "series": (series, 2000),
    "later": (later, 60),
}


def main() -> None:
    """Simulate what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--runs", type=int, help="of each case; differs by part")
    chosen = parser.parse_args()
    if strange := set(chosen.parts).difference(PARTS):
        parser.error(f"there is no part called {min(strange)}")
    for name in chosen.parts or list(PARTS):
        part, runs = PARTS[name]
        part(chosen.runs or runs)


if __name__ == "__main__":
    main()
