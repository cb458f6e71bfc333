"""Events that decide in waves, counted from records that were made up."""

import functools
import random

import pytest

from arena.deals import Deals, secret_from_seed
from arena.formats.race import Race
from arena.formats.trial import SequentialTrial
from arena.model import ADJUSTED, TrialSettings, TrialVerdict
from arena.model import RaceSettings as Rules
from arena.ratings.evidence import Evidence
from arena.ratings.incremental import Counting
from arena.ratings.standings import table

STRENGTHS = {"a": 80, "b": 84, "c": 85, "d": 99}


class Waves:
    """An event whose matches have results that follow from their ids."""

    def __init__(self, lab, format_, names="abcd", fell=lambda spec: {}, **settings):
        self.lab, self.fell = lab, fell
        self.event = lab.event(names, rate_on=ADJUSTED, **settings)
        deals = Deals(secret_from_seed("deciding"))
        self.format = format_(self.event.settings, self.event.entrants, deals)
        self.told = []

    def counting(self):
        self.told = []
        return Counting(
            self.format.wave,
            self.event.settings,
            judge=functools.partial(Evidence, self.event),
            decided=self.told.append,
        )

    def record(self, spec, attempt=0):
        draw = random.Random(f"{spec.pairing} {spec.deal} {spec.rotation}")
        totals = {name: STRENGTHS[name] + draw.randint(-9, 9) for name in spec.seats}
        return self.lab.record(spec, totals, fell=self.fell(spec), attempt=attempt)

    def play(self, counting, draw=None, most=None):
        """Play what is wanted, in the order of the schedule or in any; all records."""
        records = []
        while counting.left:
            wanted = [
                (series, attempt)
                for block in counting.ahead()
                for series in block.series
                if (attempt := counting.wanted(series)) is not None
            ]
            if draw:
                draw.shuffle(wanted)
            for series, attempt in wanted:
                for spec in series.matches:
                    if most is not None and len(records) >= most:
                        return records
                    records.append(self.record(spec, attempt))
                    counting.add(records[-1])
        return records

    def result(self, counting):
        return table(self.event, counting.counted())


@pytest.fixture
def race(lab):
    """A race of four, of whom two are close, in series of two."""
    return Waves(
        lab, Race, format="racing", deals=4, series=2, racing=Rules(close=2.0, budget=1500)
    )


def planned(told):
    """What has been decided, wave by wave."""
    return [dict(wave.deals) for wave in told]


def test_a_race_plays_where_it_is_open_and_ends(race):
    """The table knows why; whoever is apart from all has no more matches than the warm-up."""
    counting = race.counting()
    records = race.play(counting)
    result = race.result(counting)
    assert len(planned(race.told)) > 2
    assert result.ended
    assert len(records) == result.matches == result.planned
    rows = {row.entrant: row for row in result.rows}
    assert rows["d"].matches < rows["c"].matches
    assert rows["d"].rank == rows["d"].rank_last == 4
    assert 0 == counting.left == len(counting.strange)


@pytest.mark.no_cover
def test_any_order_and_any_interruption_decide_the_same(race):
    """The records are the same, and so is the table."""
    counting = race.counting()
    records = race.play(counting)
    waves, result = planned(race.told), race.result(counting)
    draw = random.Random(3)
    for _ in range(6):
        counting = race.counting()
        kept = race.play(counting, draw, most=draw.randrange(len(records)))
        again = race.counting()  # from the log, in another order
        for record in draw.sample(kept, len(kept)):
            again.add(record)
        kept += race.play(again, draw)
        assert waves == planned(race.told)
        assert result == race.result(again)
        counted = {spec.id for chosen in again.chosen() for spec, _, _ in chosen.matches}
        assert {record.id for record in records} == counted
    counting = race.counting()
    for record in records[::-1]:  # the last wave's before the first's
        counting.add(record)
    assert 0 == counting.left
    assert result == race.result(counting)
    assert waves == planned(race.told)


def test_behind_a_gap_nothing_is_known_and_nothing_refused(race):
    """A log that lost a match of its first wave: the later waves wait for it."""
    counting = race.counting()
    records = race.play(counting)
    result = race.result(counting)
    counting = race.counting()
    lost = next(n for n, record in enumerate(records) if record.deal == 1)
    for record in records[:lost] + records[lost + 1 :]:
        counting.add(record)
    assert counting.counted().missing == 2
    assert 1 == len(race.told)
    assert set() == counting.strange
    counting.add(records[lost])
    assert 0 == counting.left
    assert result == race.result(counting)


def test_what_nobody_has_decided_on_is_kept_and_does_not_count(race):
    """It is named, for whoever wants to know."""
    counting = race.counting()
    records = race.play(counting)
    result = race.result(counting)
    pairing = next(r.pairing for r in records if set(r.seats) == {"a", "d"})
    _, spec = race.format.find(pairing, 90, 1)
    assert spec.id not in {record.id for record in records}
    counting.add(race.record(spec))
    assert {spec.series} == counting.strange
    assert result == race.result(counting)
    assert 0 == counting.left


def test_a_wave_is_told_once(race):
    """Also where a late record makes the count begin anew."""
    counting = race.counting()
    records = race.play(counting)
    waves = planned(race.told)
    counting.add(records[0])
    assert 0 == counting.left
    assert waves == planned(race.told)


@pytest.mark.parametrize(("deal", "annulled"), [(0, True), (2, False)])
def test_who_is_withdrawn_plays_in_no_later_wave(lab, deal, annulled):
    """Annulled or not; and what it did is judged by as the table has it."""

    def fell(spec):
        return {"c": (2, 9)} if "c" in spec.seats and spec.deal >= deal else {}

    race = Waves(
        lab,
        Race,
        fell=fell,
        format="racing",
        deals=4,
        series=2,
        racing=Rules(close=0.5, budget=400),
    )
    counting = race.counting()
    race.play(counting)
    result = race.result(counting)
    (out,) = result.withdrawn
    assert ("c", annulled) == (out.entrant, out.annulled)
    assert len(race.told) > 1
    for wave in race.told[1:]:
        assert "c" not in wave.by_entrant


def test_a_trial_ends_with_a_verdict(lab):
    """The same from its log."""
    question = TrialSettings(new="a", effect=2.0)
    trial = Waves(lab, SequentialTrial, "ad", format="trial", deals=5, series=5, trial=question)
    counting = trial.counting()
    records = trial.play(counting)
    result = trial.result(counting)
    assert TrialVerdict.BETTER is result.verdict
    assert "a is better" == result.ended
    again = trial.counting()
    for record in records:
        again.add(record)
    assert result == trial.result(again)
