"""Several events in one table: what they count together, and why some can't be."""

from __future__ import annotations

import random

import msgspec
import pytest

from arena.model import (
    ADJUSTED,
    Entrant,
    NotRun,
    RaceSettings,
    RatingSettings,
    Settings,
    UserError,
    sha256_hex,
)
from arena.ratings import pool
from arena.ratings.pool import (
    NamedEvent,
    Pool,
    aliases_of,
    common_event,
    excluded_entrants,
    pooled_field,
    refuse_unlike,
)
from arena.ratings.standings import table

MARGIN = RatingSettings().forfeit_margin


def named(lab, name, bots="ab", *, contents=None, **changes):
    """An event of that name; `contents` has those of bots whose content isn't their name."""
    event = lab.event(bots, **changes)
    entrants = tuple(
        msgspec.structs.replace(
            entrant, hash=sha256_hex((contents or {}).get(entrant.id, entrant.id).encode())
        )
        for entrant in event.entrants
    )
    commitment = sha256_hex(name.encode())
    return NamedEvent(
        name, msgspec.structs.replace(event, entrants=entrants, commitment=commitment)
    )


def pooled(lab, parts, *, gone=frozenset(), **changes):
    """The table of parts: (event, blocks, records[, what is unwanted])."""
    events = [part[0] for part in parts]
    aliases = aliases_of(events)
    pool = Pool(margin=MARGIN, gone=gone)
    for (event, blocks, records, *unwanted), other in zip(parts, aliases, strict=True):
        counting = lab.count(blocks, records)
        pool.take(
            event.event,
            counting.counted(),
            counting.complete(),
            aliases=other,
            **({"unwanted": unwanted[0]} if unwanted else {}),
        )
    field = [e for e in pooled_field(events, aliases) if e.id not in gone]
    common = common_event([event for _, event in events], field)
    return table(common, pool.counted()), pool


def played(lab, names, *, deals, skill=None, faults=None):
    """Blocks and records of a whole event; faults by the number of the match."""
    blocks = lab.round_robin(names, deals=deals)
    records = [
        lab.record(spec, skill, fell=(faults or {}).get(number))
        for number, spec in enumerate(lab.specs(blocks))
    ]
    return blocks, records


# ------------------------------------------------------------------------------ what they count


def test_one_event_alone_is_what_it_is(lab):
    """With withdrawals and annulments: the rows, duels and sums of its own table."""
    event = named(lab, "one", "abc")
    blocks = lab.schedule(["ab", "ac", "bc"], deals=4)
    records = [
        lab.record(spec, {"b": 70}, fell={"a": (1, 1)} if number < 3 else {})
        for number, spec in enumerate(lab.specs(blocks))
    ]
    found, pool = pooled(lab, [(event, blocks, records)])
    assert table(event.event, lab.count(blocks, records).counted()) == found
    assert [out.annulled for out in found.withdrawn] == [True]
    assert (found.matches, found.planned) == (pool.sources[0].matches, pool.sources[0].planned)


def test_two_events_count_as_much_as_both(lab):
    """Of the same pairings and deals, which must not be taken for one: sums of sums."""
    skill = {"a": 80, "b": 90}
    one = (named(lab, "one"), *played(lab, "ab", deals=2, skill=skill))
    two = (named(lab, "two"), *played(lab, "ab", deals=3, skill=skill))
    found, pool = pooled(lab, [one, two])
    whole = (named(lab, "whole"), *played(lab, "ab", deals=5, skill=skill))
    expected, _ = pooled(lab, [whole])
    assert expected.rows == found.rows
    assert expected.duels == found.duels
    assert [(4, 4), (6, 6)] == [(s.matches, s.planned) for s in pool.sources]
    assert 10 == found.matches == found.planned


def test_a_deal_that_lacks_a_rotation_is_not_completed_by_another_event(lab):
    """Half a rated deal in each of two events are none."""
    parts = []
    for number, name in enumerate(("one", "two")):
        blocks, records = played(lab, "ab", deals=1)
        parts.append((named(lab, name), blocks, [records[number]]))
    found, _ = pooled(lab, parts)
    assert [0, 0] == [row.deals for row in found.rows]
    assert 2 == found.matches
    assert 4 == found.planned


def test_whoever_is_annulled_in_one_event_keeps_the_other(lab):
    """Its note then says withdrawn; its faults stay from both."""
    faults = {number: {"a": (1, 1)} for number in range(3)}
    blocks = lab.schedule(["ab", "ac", "bc"], deals=4)
    records = [
        lab.record(spec, fell=faults.get(number)) for number, spec in enumerate(lab.specs(blocks))
    ]
    bad = (named(lab, "bad", "abc"), blocks, records)
    good = (named(lab, "good", "abc"), *played(lab, "abc", deals=2))
    found, pool = pooled(lab, [bad, good])
    rows = {row.entrant: row for row in found.rows}
    assert 4 == rows["a"].deals
    assert "withdrawn" == rows["a"].note
    assert (("crash", 3),) == rows["a"].faults
    assert 4 + 4 == rows["b"].deals
    assert [True] == [out.annulled for out in pool.sources[0].withdrawn]
    assert () == pool.sources[1].withdrawn
    again, _ = pooled(lab, [bad, bad])
    assert "annulled" == {row.entrant: row.note for row in again.rows}["a"]


def test_a_bot_that_is_left_out_was_never_there(lab):
    """The others have the rows of an event without it; of its withdrawal nothing is told."""
    faults = {number: {"c": (1, 1)} for number in range(8, 12)}
    blocks, records = played(lab, "abc", deals=4, skill={"a": 70}, faults=faults)
    found, _ = pooled(lab, [(named(lab, "one", "abc"), blocks, records)], gone=frozenset("c"))
    expected, _ = pooled(lab, [(named(lab, "one"), *played(lab, "ab", deals=4, skill={"a": 70}))])
    assert expected.rows == found.rows
    assert () == found.withdrawn


def test_at_a_table_of_three_the_others_keep_what_they_did_to_each_other(lab):
    """As for whoever is annulled."""
    blocks = lab.round_robin("abc", seats=3, deals=2)
    records = [lab.record(spec, {"a": 70, "c": 60}) for spec in lab.specs(blocks)]
    event = named(lab, "one", "abc", seats=3)
    found, _ = pooled(lab, [(event, blocks, records)], gone=frozenset("c"))
    assert [("a", 2, 0), ("b", 0, 2)] == [(r.entrant, r.wins, r.losses) for r in found.rows]


def test_unwanted_matches_count_for_nothing(lab):
    """Played or void, whatever is asked for by its deal."""
    faults = {number: {"a": (1, 1)} for number in (9, 10, 11)}
    blocks, records = played(lab, "ab", deals=8, faults=faults)
    event = named(lab, "one")
    found, _ = pooled(lab, [(event, blocks, records, lambda spec: spec.deal > 1)])
    assert [2, 2] == [row.deals for row in found.rows]
    assert [(), (("crash", 1),)] == [row.faults for row in found.rows]
    assert 4 == found.matches
    whole, _ = pooled(lab, [(event, blocks, records)])
    assert [8, 8] == [row.deals for row in whole.rows]


def test_what_is_not_reproducible_is_so_in_all(lab):
    """And whatever ended an event by results is told of that event, alone if it is the only one."""
    blocks, records = played(lab, "ab", deals=1)
    other = lab.record(next(lab.specs(blocks)), {"a": 50}, attempt=1)
    found, _ = pooled(
        lab,
        [
            (named(lab, "one"), blocks, [*records, other]),
            (named(lab, "two", "xb", contents={"x": "a"}), *played(lab, "xb", deals=1)),
        ],
    )
    assert {"not reproducible"} == {row.note for row in found.rows}


def test_the_same_content_under_two_ids_is_one_bot(lab):
    """With the smaller id, in pairings too: no stratum of its own."""
    skill = {"a": 80, "z": 80}
    one = (named(lab, "one"), *played(lab, "ab", deals=2, skill=skill))
    contents = {"z": "a"}
    blocks, records = played(lab, "bz", deals=2, skill=skill, faults={0: {"z": (3, 3)}})
    found, pool = pooled(lab, [one, (named(lab, "two", "zb", contents=contents), blocks, records)])
    assert {"a", "b"} == {row.entrant for row in found.rows}
    assert [4, 4] == [row.deals for row in found.rows]
    assert (("z", "a"),) == pool.sources[1].aliases
    account = pool.counted().tally.accounts["a"]
    assert 1 == len(account.beaten)
    assert {"crash": 1} == account.faults


@pytest.mark.parametrize("other", [RaceSettings(budget=99), None])
def test_ranks_are_as_sure_as_the_stop_rule_of_any_event_among_them(lab, other):
    """A race that others were added to has looked as often as before."""
    draw = random.Random(4)
    blocks = lab.round_robin("ab", deals=40)
    records = [
        lab.record(spec, {"a": 90 + draw.randint(-5, 4), "b": 90 + draw.randint(-4, 5)})
        for spec in lab.specs(blocks)
    ]
    whole = (blocks, records)
    few = played(lab, "ab", deals=1, skill={"a": 89, "b": 90})
    race = (named(lab, "race", rate_on=ADJUSTED, racing=RaceSettings()), *whole)
    added = (named(lab, "added", rate_on=ADJUSTED, racing=other), *few)
    never = [
        (named(lab, name, rate_on=ADJUSTED), *part) for name, part in (("x", whole), ("y", few))
    ]
    for parts, ranks in ((never, [(1, 1), (2, 2)]), ([race, added], 2 * [(1, 2)])):
        for order in (parts, parts[::-1]):
            found, _ = pooled(lab, order)
            assert ranks == [(row.rank, row.rank_last) for row in found.rows]


# --------------------------------------------------------------------------------- who is who


def test_two_ids_of_one_content_in_one_event_are_two_bots(lab):
    """They have played each other, so they stay apart everywhere."""
    contents = {"b": "a", "z": "a"}
    events = [
        named(lab, "one", "ab", contents=contents),
        named(lab, "two", "zc", contents=contents),
    ]
    assert [{}, {}] == aliases_of(events)


def test_one_id_with_two_contents_is_refused_by_name(lab):
    """With both events and the beginnings of both hashes."""
    events = [named(lab, "one"), named(lab, "two", contents={"b": "new"})]
    with pytest.raises(UserError, match="b is one bot in one .* and another in two") as refused:
        aliases_of(events)
    assert sha256_hex(b"new")[:12] in str(refused.value)


def test_one_id_with_two_contents_is_no_matter_if_it_is_left_out(lab):
    """By its name or its id."""
    events = [named(lab, "one"), named(lab, "two", contents={"b": "new"})]
    assert [{}, {}] == aliases_of(events, without=["b"])
    assert [{}, {}] == aliases_of(events, without=["[b-c]"])


def test_the_field_has_each_bot_once(lab, monkeypatch):
    """In whatever order the events come, and no more than can be rated."""
    events = [named(lab, "one", "ab"), named(lab, "two", "bc")]
    for order in (events, events[::-1]):
        assert ["a", "b", "c"] == [e.id for e in pooled_field(order, aliases_of(order))]
    monkeypatch.setattr(pool, "MOST_BOTS", 2)
    with pytest.raises(UserError, match="3 bots are more than 2"):
        pooled_field(events, aliases_of(events))


def test_bots_are_chosen_by_name_or_id(lab):
    """Of any event; two versions go by one name."""
    field = [
        Entrant(id=f"{name}@{version}", name=name, version=version, hash=name + version)
        for name, version in (("ann", "1"), ("ann", "2"), ("bob", "1"), ("cyd", "1"))
    ]
    aliases = [{"old-cyd@1": "cyd@1"}]
    assert frozenset() == excluded_entrants(field, aliases)
    assert {"bob@1", "cyd@1"} == excluded_entrants(field, aliases, only=["ann"])
    assert {"ann@2", "bob@1"} == excluded_entrants(field, aliases, without=["ann@2", "bob"])
    assert {"ann@2", "bob@1"} == excluded_entrants(field, aliases, only=["ann@1", "old-cyd@1"])
    assert {"bob@1", "cyd@1"} == excluded_entrants(field, aliases, only=["a*"])
    with pytest.raises(UserError, match="--only dan: no bot is called so; there are ann"):
        excluded_entrants(field, aliases, only=["dan"])
    with pytest.raises(UserError, match="1 bot is left"):
        excluded_entrants(field, aliases, only=["ann"], without=["ann@1"])
    with pytest.raises(UserError, match="no bot is left"):
        excluded_entrants(field, aliases, only=["bob"], without=["bob"])


# ----------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"game": "four-card-golf"}, "their game differs, play-nine and four-card-golf"),
        ({"game_version": 2}, "their rules differ, 1 and 2"),
        ({"seats": 3}, "their seats differ, 2 and 3"),
        (
            {"rating": RatingSettings(draw_probability=0.25, beta=2)},
            "beta 4.16667, draw_probability 0.01 and beta 2, draw_probability 0.25",
        ),
        ({"rate_on": "adjusted"}, "one rates on results, two on adjusted.* --rate-on"),
    ],
)
def test_unlike_events_are_refused_with_the_reason(lab, changes, reason):
    """Both named, and what it is of each."""
    two = named(lab, "two")
    settings = msgspec.structs.replace(two.event.settings, **changes)
    two = NamedEvent("two", msgspec.structs.replace(two.event, settings=settings))
    with pytest.raises(UserError, match=reason):
        refuse_unlike([named(lab, "one"), two], None)


def test_the_evaluator_matters_where_it_is_rated_on(lab):
    """Rated on results, and that said, events with other evaluators go together."""
    events = [
        named(lab, "one", evaluator="grid-2"),
        named(lab, "none"),
        named(lab, "two", evaluator="grid-1"),
    ]
    refuse_unlike(events, "results")
    refuse_unlike(events[:2], None)
    with pytest.raises(UserError, match="one and two.* by grid-2 and grid-1; .*--rate-on results"):
        refuse_unlike(events, None)
    events = [events[0], events[2]]
    with pytest.raises(UserError, match="their evaluator differs, grid-2 and grid-1"):
        refuse_unlike(events, "adjusted")
    with pytest.raises(UserError, match="one: luck was not measured"):
        refuse_unlike([named(lab, "one")], "adjusted")
    with pytest.raises(UserError, match="their evaluator differs, none and grid-1"):
        refuse_unlike(
            [
                named(lab, "one", rate_on="adjusted"),
                named(lab, "two", rate_on="adjusted", evaluator="grid-1"),
            ],
            None,
        )


def test_one_event_twice_is_refused(lab):
    """It would count double."""
    with pytest.raises(UserError, match="one and copy are the same event"):
        refuse_unlike([named(lab, "one"), NamedEvent("copy", named(lab, "one").event)], None)


# ----------------------------------------------------------------------- what is said of all


def test_what_events_have_in_common(lab):
    """Settings in which they agree; both formats; of the rest the defaults."""
    absent = NotRun(name="rusty", reason="no cargo")
    one = named(lab, "one", "ab", deals=5, series=7).event
    one = msgspec.structs.replace(one, not_run=(absent,), predictable=True)
    two = named(lab, "two", "bc", deals=6, series=7, format="gauntlet", heroes=("c",)).event
    two = msgspec.structs.replace(two, not_run=(absent,), finished=False)
    found = common_event([one, two], two.entrants, "adjusted")
    assert (
        Settings(game="play-nine", format="gauntlet+round-robin", series=7, rate_on="adjusted")
        == found.settings
    )
    assert (True, False, (absent,), "") == (
        found.predictable, found.finished, found.not_run, found.commitment,
    )  # fmt: skip


def test_of_one_event_all_but_its_bots_is_kept(lab):
    """Its commitment and secret too; what it is rated on may be another."""
    event = named(lab, "one", "abc", deals=3).event
    found = common_event([event], event.entrants[:2])
    assert msgspec.structs.replace(event, entrants=event.entrants[:2]) == found
    assert "adjusted" == common_event([event], event.entrants, "adjusted").settings.rate_on
