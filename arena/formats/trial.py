"""Trial: two bots play each other until it is known whether the new one is better.

Theory of operation. Wald's sequential test on the mean difference of strokes over rated deals,
luck taken off: "not better" is 0 strokes a match, "better" is the effect. A trial of
non-inferiority is the same test of the lead plus the effect: "worse" is minus the effect, "no
worse" is 0. After each wave the log-likelihood ratio of the two is compared with two bounds, which
follow from the error rates. The differences are taken to be nearly Gaussian; their variance and,
where the settings say so, their skewness are estimated, so some deals are played before the first
look.

Where the settings ask for it, "better" and "no worse" take a second proof: that strokes gain more
than forfeits cost, seen or not (`arena.formats.forfeits`). The other verdicts take none: unseen
forfeits of the old bot can make them wrong.

Invariant: a wave is a function of the waves before it and of their results.
"""

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from arena.deals import Deals
from arena.formats import Format
from arena.formats.blocks import Dealing
from arena.formats.forfeits import evidence
from arena.formats.tables import all_tables, field_of
from arena.model import ADJUSTED, Entrant, Settings, TrialSettings, TrialVerdict, UserError
from arena.schedule import Lead, ScheduleEnd, Wave, WaveResults

CHUNK = 5  # deals of a series in an event that `arena compare` makes: its settings state them
SKEW = 3.0
"""Of the settings of such an event: the correction, a series cut short, holds that far."""
FORFEITS = 0.6  # of the settings of such an event: at 5 and at 1 % enough for all looks

MOST_DEALS = 1_000_000


class Bounds(NamedTuple):
    lower: float
    ratio: float
    upper: float

    @property
    def verdict(self) -> TrialVerdict:
        if self.ratio >= self.upper:
            return TrialVerdict.BETTER
        return TrialVerdict.NOT_BETTER if self.ratio <= self.lower else TrialVerdict.UNDECIDED


def bounds(test: TrialSettings, lead: Lead) -> Bounds:
    strokes = lead.strokes if test.skew is UNSET else _unskewed(test, lead, test.skew)
    ratio = test.effect * (strokes - test.effect / 2) / lead.error**2
    lower = math.log(test.beta / (1 - test.alpha))
    upper = math.log((1 - test.beta) / test.alpha)
    return Bounds(lower, ratio, upper)


def _unskewed(test: TrialSettings, lead: Lead, far: float) -> float:
    """The lead, corrected for skewness (Johnson's modified t): where losses are rare and large, a
    sample with few of them is ahead and varies little. The correction is of the distance from the
    hypothesis that would be rejected.
    """
    rejected = 0.0 if lead.strokes > test.effect / 2 else test.effect
    errors = min(far, abs(lead.strokes - rejected) / lead.error)
    return lead.strokes + lead.error * lead.skew / 6 * (1 + 2 * errors**2)


class SequentialTrial(Format):
    adaptive = True
    Options = TrialSettings
    options_member = "trial"

    @staticmethod
    def stated(options: TrialSettings) -> TrialSettings:
        # It ends with an error of about so much.
        mixture = 0.4 * options.effect if options.mixture is UNSET else options.mixture
        return replace(options, forfeits=FORFEITS, skew=SKEW, mixture=mixture)

    _most_deals = MOST_DEALS

    def __init__(self, settings: Settings, entrants: Sequence[Entrant], deals: Deals) -> None:
        field = field_of(settings, entrants)
        if settings.seats != 2 or len(field) != 2:
            raise UserError("a trial is between two bots: name the old and the new one")
        self._test = settings.trial or TrialSettings(new=field[1].id)
        self._new = self._test.new
        others = [entrant.id for entrant in field if entrant.id != self._new]
        if len(others) != 1:
            raise UserError(f"{self._new} is not one of the two bots")
        self._old = others[0]
        self._dealing = Dealing(settings, all_tables(settings, field), deals)
        if not self._dealing.pairings:
            raise UserError("these two have one author: leave --no-same-author out")
        (self._pairing,) = self._dealing.pairings
        chunk = self._dealing.chunk
        self._first, self._step = (
            -(-deals // chunk) * chunk for deals in (self._test.first, self._test.step)
        )
        self._most = min(self._test.budget, 2 * MOST_DEALS)
        self._margin = settings.rating.forfeit_margin
        worse = self._test.no_worse is True
        self._allowed = self._test.effect if worse else 0.0  # strokes by which it may be behind
        self._passed, self._failed = (
            (TrialVerdict.NO_WORSE, TrialVerdict.WORSE)
            if worse
            else (TrialVerdict.BETTER, TrialVerdict.NOT_BETTER)
        )
        self._proof: float | None = None
        """Evidence of strokes against forfeits that "better" takes; None if the event rates on
        results, where a forfeit costs what any loss does.
        """
        if self._test.forfeits is not UNSET and settings.rate_on == ADJUSTED:
            certain = math.log((1 - self._test.beta) / self._test.alpha)
            self._proof = certain + self._test.forfeits
        if 2 * self._first > self._most:
            raise UserError(
                f"{self._test.budget} matches are too few: {self._first} deals, "
                f"{2 * self._first} matches, are played before the first look"
            )

    def wave(self, before: Sequence[Wave], results: WaveResults) -> Wave | ScheduleEnd:
        played = before[-1].deals[self._pairing].stop if before else 0
        if results.withdrawn:
            return self._without(results.withdrawn)
        note, more = f"{self._first} deals before the first look", 0
        if before:
            found = self._open(results, played)
            if isinstance(found, ScheduleEnd):
                return found
            note, more = found
        deals = range(played, played + (self._step if before else self._first))
        if 2 * deals.stop > self._most:
            return ScheduleEnd(f"the budget of {self._most} matches", TrialVerdict.UNDECIDED)
        return self._dealing.wave({self._pairing: deals}, note=note, more=more)

    def _open(self, results: WaveResults, played: int) -> ScheduleEnd | tuple[str, int]:
        """The end; or a note on what is open, and an estimate of the matches it takes."""
        lead = results.lead(self._new, self._old)
        stand = bounds(self._test, self._moved(lead))
        error = results.separation(1, lead.error) * lead.error
        where = "ahead" if lead.strokes > 0 else "behind"
        note = (
            f"{self._failed} {stand.lower:+.2f} < {stand.ratio:+.2f} < {stand.upper:+.2f} "
            f"{self._passed}; "
            f"{where} by {abs(lead.strokes):.1f} ± {error:.1f} strokes"
        )
        if stand.verdict is TrialVerdict.UNDECIDED:
            far = stand.upper - stand.ratio if stand.ratio > 0 else stand.ratio - stand.lower
            return note, self._likely(far / max(abs(stand.ratio), 0.5), played)
        if stand.verdict is TrialVerdict.BETTER and self._proof is not None:
            shown = results.forfeits(self._new, self._old)
            proven = evidence(shown._replace(lead=self._moved(shown.lead)), self._margin)
            if proven < self._proof:
                note += (
                    f"; {shown.one} forfeits in {shown.matches} matches may yet cost that: "
                    f"{proven:.2f} < {self._proof:.2f}"
                )
                return note, self._likely((self._proof - proven) / max(proven, 0.5), played)
        verdict = self._passed if stand.verdict is TrialVerdict.BETTER else self._failed
        return ScheduleEnd(f"{self._new} is {verdict}", verdict)

    def _moved(self, lead: Lead) -> Lead:
        """The lead over what the new bot has to be ahead of."""
        return lead._replace(strokes=lead.strokes + self._allowed)

    def _without(self, withdrawn: Collection[str]) -> ScheduleEnd:
        """The bot that is left is the better one."""
        if len(withdrawn) > 1:
            return ScheduleEnd("both were withdrawn", TrialVerdict.UNDECIDED)
        (out,) = withdrawn
        verdict = self._failed if out == self._new else self._passed
        return ScheduleEnd(f"{out} was withdrawn", verdict)

    def _likely(self, far: float, played: int) -> int:
        """Matches after the next wave, if the trial takes `far` times as many again."""
        deals = played * far - self._step
        return max(0, min(math.ceil(2 * deals), self._most - 2 * (played + self._step)))
