"""Winners of rated deals at tables of two to six, counted again from the records by other means."""

from __future__ import annotations

import itertools
import random

import pytest

from arena.ratings.standings import table

NAMES = "abcdef"


def made(lab, *, seats: int, playoff: bool, seed: int, deals: int = 40):
    """A schedule, and records with so few different totals that most rated deals are tied."""
    dice = random.Random(f"{seats} {playoff} {seed}")
    blocks = lab.round_robin(NAMES[: min(6, seats + 1)], seats=seats, deals=deals)
    records = []
    for spec in lab.specs(blocks):
        totals = {entrant: 90 + dice.randrange(3) for entrant in spec.seats}
        records.append(lab.record(spec, totals, places=places(totals.values(), dice, playoff)))
    return blocks, records


def places(totals, dice, playoff):
    """As the rules give them: by totals, and those tied for first by a playoff if there is one."""
    totals = list(totals)
    found = [1 + sum(other < total for other in totals) for total in totals]
    first = [seat for seat, place in enumerate(found) if place == 1]
    if playoff:
        dice.shuffle(first)
        for place, seat in enumerate(first, 1):
            found[seat] = place
    return found


def recount(records) -> dict[str, list[int]]:
    """W-T-L of everybody: the strokes of a deal, and if these are equal who went further in the
    playoffs that the two played against each other.
    """
    deals: dict[tuple[str, int], list] = {}
    for record in records:
        deals.setdefault((record.pairing, record.deal), []).append(record)
    found: dict[str, list[int]] = {}
    for matches in deals.values():
        for one, two in itertools.permutations(matches[0].seats, 2):
            score = [[dict(zip(m.seats, m.totals, strict=True))[name] for m in matches]
                     for name in (one, two)]  # fmt: skip
            lead = sum(score[1]) - sum(score[0])
            for match, mine, theirs in zip(matches, *score, strict=True):
                went = dict(zip(match.seats, match.places, strict=True))
                if sum(score[0]) == sum(score[1]) and mine == theirs:
                    lead += (went[two] > went[one]) - (went[two] < went[one])
            found.setdefault(one, [0, 0, 0])[1 if lead == 0 else 0 if lead > 0 else 2] += 1
    return found


@pytest.mark.parametrize("playoff", [False, True], ids=["ties stand", "playoffs"])
@pytest.mark.parametrize("seats", [2, 3, 4, 6])
def test_wins_ties_and_losses_are_those_of_a_recount(lab, seats, playoff):
    """In the rows, in the duels, at every size of table."""
    blocks, records = made(lab, seats=seats, playoff=playoff, seed=1, deals=15)
    names = NAMES[: min(6, seats + 1)]
    found = lab.table(blocks, records, names, seats=seats, playoff=playoff)
    expected = recount(records)
    assert {row.entrant: [row.wins, row.ties, row.losses] for row in found.rows} == expected
    for name in expected:
        mine = [duel for duel in found.duels if duel.row == name]
        assert expected[name] == [
            sum(getattr(duel, what) for duel in mine) for what in ("wins", "ties", "losses")
        ]


def test_without_playoffs_equal_strokes_are_a_tie_whatever_the_places(lab):
    """A third bot's total stood between the two in one rotation: that breaks no tie."""
    blocks = lab.schedule(["abc"], deals=1)
    rotations = (
        {"a": 80, "b": 90, "c": 85},
        {"a": 90, "b": 80, "c": 100},
        {"a": 85, "b": 85, "c": 100},
    )
    records = [
        lab.record(spec, totals, places=None)
        for spec, totals in zip(lab.specs(blocks), rotations, strict=True)
    ]
    found = table(lab.event("abc", seats=3), lab.count(blocks, records).counted())
    rows = {row.entrant: (row.wins, row.ties, row.losses) for row in found.rows}
    assert rows == {"a": (1, 1, 0), "b": (1, 1, 0), "c": (0, 0, 2)}


def test_who_won_more_of_the_playoffs_between_the_two_has_won(lab):
    """Two of three go to one by a hair; the third, that it lost by far, is one playoff too."""
    blocks = lab.schedule(["abcd"], deals=1)
    totals = [{"a": 80, "b": 80, "c": 99, "d": 99}] * 2 + [dict.fromkeys("abcd", 80)]
    totals.append({"a": 95, "b": 95, "c": 90, "d": 91})
    went = [{"a": 1, "b": 2, "c": 3, "d": 3}] * 2 + [{"a": 4, "b": 1, "c": 2, "d": 3}]
    went.append({"a": 3, "b": 3, "c": 1, "d": 2})
    records = [
        lab.record(spec, strokes, places=[places[name] for name in spec.seats])
        for spec, strokes, places in zip(lab.specs(blocks), totals, went, strict=True)
    ]
    found = lab.table(blocks, records, "abcd", seats=4, playoff=True)
    duel = next(duel for duel in found.duels if (duel.row, duel.column) == ("a", "b"))
    assert (duel.wins, duel.ties, duel.losses) == (1, 0, 0)


def test_the_first_rule_broke_ties_by_the_sums_of_places(lab):
    """What files of events that name no rule have, and nothing else."""
    blocks = lab.schedule(["abc"], deals=1)
    rotations = (
        {"a": 80, "b": 90, "c": 85},
        {"a": 90, "b": 80, "c": 100},
        {"a": 85, "b": 85, "c": 100},
    )
    records = [
        lab.record(spec, totals) for spec, totals in zip(lab.specs(blocks), rotations, strict=True)
    ]
    found = table(lab.event("abc", seats=3), lab.count(blocks, records).counted(), rule=1)
    rows = {row.entrant: (row.wins, row.ties, row.losses) for row in found.rows}
    assert rows == {"a": (2, 0, 0), "b": (1, 0, 1), "c": (0, 0, 2)}
