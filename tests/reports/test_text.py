"""The table on a terminal."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import UNSET
from wcwidth import wcswidth

from arena.model import (
    ADJUSTED,
    RESULTS,
    Machine,
    OpenPair,
    RaceSettings,
    Settings,
    Standing,
    TrialSettings,
    UserError,
    Withdrawal,
)
from arena.registry import REPORTS, render, report
from arena.reports.rows import as_first_rule


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
@pytest.mark.parametrize("kind", ["plain", "eventful"])
def test_text_fits_its_width(tables, kind, width):
    """No line is wider than the terminal, and names in wide scripts count double."""
    made = render(getattr(tables, kind)(), "text", width=width)
    assert max(wcswidth(line) for line in made.splitlines()) <= width


def test_a_matrix_is_shown_from_the_width_that_it_needs(tables):
    """Names are cut for it there; below, a line says how many columns it needs."""
    table = tables.eventful()
    assert "win matrix: needs 43 columns, there are 42" in render(table, "text", width=42)
    _, _, below = render(table, "text", width=43).partition("won by the row against the")
    matrix = below.partition("\n\n")[0].splitlines()
    assert "…" in "".join(matrix)
    assert max(map(wcswidth, matrix)) <= 43


def test_columns_align(tables):
    """The numbers of all rows end in the same column."""
    lines = render(tables.eventful(), "text", width=120).splitlines()
    ends = {wcswidth(line[: line.index("±")]) for line in lines[2:5]}
    assert len(ends) == 1


def test_nothing_is_dropped_without_saying_so(tables):
    """Narrow terminals lose columns by priority, and say which and how to see them."""
    wide = render(tables.plain(), "text")
    assert "not shown" not in wide
    narrow = render(tables.plain(), "text", width=80)
    assert "not shown in 80 columns: σ, deals/matches, strokes/hole, ms/decision" in narrow
    assert "--format md: all" in " ".join(narrow.split())
    least = render(tables.plain(), "text", width=40)
    assert "wishful@1.2.0" in least
    assert least.splitlines()[0].split() == ["rank", "bot", "μ", "Δ", "strokes"]


def test_a_long_name_keeps_its_start_and_its_version(tables):
    """A name is cut in the middle, and not below 20 columns."""
    made = render(tables.eventful(), "text", width=33)
    name = made.splitlines()[4].split()[1]
    assert wcswidth(name) == 20
    assert name.startswith("a-bot-with-a-")
    assert name.endswith("1-beta")


def test_faults_say_how_often_and_how(tables):
    """In the row while there is room, below the table where there is not."""
    assert "3 timeout, 1 crash; withdrawn" in render(tables.eventful(), "text")
    narrow = render(tables.eventful(), "text", width=60)
    assert "timeout, 1 crash; withdrawn" in " ".join(narrow.split())
    assert "faults" not in render(tables.plain(), "text").split("\n\n")[0]


def test_color_only_when_asked_for(tables):
    """The warning is red with color, and nothing is without."""
    table = tables.eventful()
    assert "\x1b" not in render(table, "text", width=80)
    loud = render(table, "text", width=80, color=True)
    assert loud.count("\x1b[1;31mNOT CONFINED") == 1
    assert "\x1b" not in render(tables.plain(), "text", width=80, color=True)
    for name in ("md", "csv", "json"):
        assert "\x1b" not in render(table, name, color=True)


def test_without_a_sandbox_it_says_so(tables):
    """Every human report warns; a confined event has no warning."""
    for name in ("text", "md"):
        assert "NOT CONFINED" in render(tables.eventful(), name)
        assert "NOT CONFINED" not in render(tables.plain(), name)


def test_canonical_leaves_out_the_host(tables):
    """Timings, machine, sandbox and what a machine lacked are not in canonical reports."""
    for name in ("text", "md", "csv", "json"):
        made = render(tables.eventful(), name, canonical=True)
        for fact in (
            "ms/decision",
            "ms_per",
            '"ms"',
            "Linux",
            "CONFINED",
            "sandbox",
            "guarantees",
            "rusty",
        ):
            assert fact not in made


def test_the_matrix_needs_room(tables):
    """Where the matrix does not fit there is a line that says so; two bots need none."""
    many = tables.table([tables.row(n, f"bot-{n:02d}-of-the-field@1.0") for n in range(1, 25)])
    assert "win matrix: needs" in render(many, "text", width=80)
    assert "won by the row" in render(many, "text", width=160)
    two = tables.table([tables.row(1, "a@1"), tables.row(2, "b@1", p_next=None)])
    assert "won by the row" not in render(two, "text")
    assert "7-0-3" in render(two, "md")


def test_an_unfinished_event_says_so(tables):
    """So many of so many matches, and that it is not over."""
    made = " ".join(render(tables.eventful(), "text", width=80).split())
    assert "matches: 212 of 300 counted; THE EVENT IS NOT FINISHED" in made
    assert "DEALS PREDICTABLE (seeded)" in made
    assert "secret not revealed yet" in made
    open_ended = msgspec.structs.replace(tables.plain(), planned=0)
    assert "matches: 300 counted\n" in render(open_ended, "text")


def test_everything_that_was_agreed_is_told(tables):
    """Settings that change what a table means stand below it."""
    table = tables.plain()
    event = msgspec.structs.replace(
        table.event,
        settings=Settings(
            game="four-card-golf", seats=4, deals=1, tables=30, same_author=False, playoff=True
        ),
        sandbox="",
        machine=Machine(),
    )
    withdrawn = (Withdrawal(entrant="random@1.0.0", after="x", annulled=False),)
    made = render(msgspec.structs.replace(table, event=event, withdrawn=withdrawn), "text")
    for told in (
        "four-card-golf, 4 seats",
        "1 deal a table",
        "30 tables",
        "no two bots of one author",
        "playoffs",
        "those of a bot that was withdrawn later are its forfeits from then on",
    ):
        assert told in made
    assert "sandbox" not in made
    assert "machine" not in made


@pytest.mark.parametrize(
    ("rate_on", "forfeits", "apart"),
    [(ADJUSTED, 0.6, True), (ADJUSTED, UNSET, False), (RESULTS, 0.6, False)],
)
def test_forfeits_are_tested_apart_from_strokes_alone(tables, rate_on, forfeits, apart):
    """By results a forfeit is a loss like any other."""
    table = tables.plain()
    settings = Settings(
        game="play-nine",
        rate_on=rate_on,
        deals=5,
        trial=TrialSettings(new="b@1", forfeits=forfeits),
    )
    event = msgspec.structs.replace(table.event, settings=settings)
    made = render(msgspec.structs.replace(table, event=event), "text")
    assert apart == ("forfeits tested apart" in made)


@pytest.mark.parametrize(
    ("no_worse", "told"), [(UNSET, "better: 0 against 3"), (True, "no worse: -3 against 0")]
)
def test_a_trial_says_what_it_asks(tables, no_worse, told):
    """Between which two leads it decides."""
    table = tables.plain()
    trial = TrialSettings(new="b@1", effect=3.0, no_worse=no_worse)
    event = msgspec.structs.replace(table.event, settings=Settings(game="play-nine", trial=trial))
    made = render(msgspec.structs.replace(table, event=event), "text")
    assert f"is b@1 {told} strokes a match" in made


def test_several_machines_and_a_beacon_are_told(tables):
    """Each machine that an event was played on, the public value and where it came from."""
    table = tables.plain()
    machines = (Machine(system="Linux here"), Machine(system="Linux there"))
    settings = msgspec.structs.replace(table.event.settings, beacon="drand round 7")
    event = msgspec.structs.replace(table.event, settings=settings, machines=machines)
    made = render(msgspec.structs.replace(table, event=event), "text")
    assert "machine: Linux here\nmachine: Linux there" in made
    assert "beacon not known yet (drand round 7)" in made
    event = msgspec.structs.replace(event, beacon="8f3c")
    for name in ("text", "md"):
        made = render(msgspec.structs.replace(table, event=event), name, canonical=True)
        assert "beacon 8f3c (drand round 7)" in made
        assert "there" not in made


def test_near_certainty_is_not_certainty(tables):
    """A probability that rounds to 0 or 100 is shown as beyond the last digit."""
    row = tables.row(1, "a@1", p_next=0.0001)
    assert " <0.1 " in render(tables.table([row]), "text")
    row = tables.row(1, "a@1", p_next=1.0)
    assert " >99.9 " in render(tables.table([row]), "text")


def test_a_page_has_no_endless_matrix(tables):
    """Beyond forty bots the page says where the matrix is."""
    many = tables.table([tables.row(n, f"bot-{n}@1") for n in range(1, 42)])
    assert "41 bots are too many for a page; it is in the JSON" in render(many, "md")
    assert "41 bots are too many to show; --format json has it" in render(many, "text")
    forty = tables.table(list(many.rows[:40]))
    for name in ("md", "text"):
        assert "ated events won by the row" in render(forty, name)


def test_the_first_rule_s_file_has_its_matrix_and_the_screen_has_not(tables):
    """However wide the terminal is: a matrix of three hundred bots is half a megabyte."""
    many = tables.table([tables.row(n, f"bot-{n}@1") for n in range(1, 42)], rule=1)
    assert "rated events won by the row" in render(many, "text")
    assert "41 bots are too many to show" in render(many, "text", width=1000)


def test_by_the_first_rule_numbers_that_were_not_measured_have_a_value(tables):
    """For programs all of them; for people nothing of what an annulled bot would have."""
    out, unmeasured = Standing(entrant="gone@1"), Standing(entrant="new@1")
    gone = Withdrawal(entrant="gone@1", after="m", annulled=True)
    table = tables.table([out, unmeasured], withdrawn=(gone,))
    settings = msgspec.structs.replace(table.event.settings, evaluator="play-nine/1")
    event = msgspec.structs.replace(table.event, settings=settings)
    table = msgspec.structs.replace(table, event=event)
    nothing = {"wins": 0, "ties": 0, "losses": 0}
    prior = {"mu": 25.0, "sigma": 8.333}
    assert as_first_rule(table, for_people=True).rows == (
        msgspec.structs.replace(out, **nothing),
        msgspec.structs.replace(unmeasured, **nothing, **prior),
    )
    numbers = {"rank": 0, "rank_last": 0, "win": 0.0, "win_low": 0.0, "win_high": 1.0}
    numbers |= dict.fromkeys(["delta", "delta_ci", "adjusted", "adjusted_ci", "luck"], 0.0)
    numbers |= dict.fromkeys(["strokes", "ms", "off_turn_ms"], 0.0) | nothing | prior
    assert as_first_rule(table, for_people=False).rows == tuple(
        msgspec.structs.replace(row, **numbers) for row in (out, unmeasured)
    )


def test_an_empty_table_renders(tables):
    """An event without bots has a header and a footer in every format."""
    empty = tables.table([])
    assert render(empty, "text", width=80).startswith("rank")
    assert render(empty, "md").startswith("| ")
    assert render(empty, "csv").count("\n") == 1
    assert '"rows": []' in render(empty, "json")


def test_unknown_formats_are_the_users_error(tables):
    """The message names what there is."""
    with pytest.raises(UserError, match=", ".join(REPORTS)):
        render(tables.plain(), "pdf")


def test_cpu_off_turn_is_shown_where_it_means_something(tables):
    """A column from a millisecond a match on, a name from 25 on, never in canonical reports."""
    table = tables.plain()
    first, *others = table.rows

    def made(off_turn_ms, **options):
        row = msgspec.structs.replace(first, off_turn_ms=off_turn_ms)
        return render(msgspec.structs.replace(table, rows=(row, *others)), "text", **options)

    assert "off-turn" not in made(0.9)
    assert "off-turn ms/match" in made(1.0).splitlines()[0]
    assert "while it wasn't asked" not in made(24.9)
    named = f"off turn: {first.entrant}: 25 ms of CPU a match while it wasn't asked"
    assert named in made(25.0).splitlines()
    assert made(0.0, canonical=True) == made(5000.0, canonical=True)


def test_an_event_in_which_bots_were_frozen_says_so(tables):
    """As a rule of the event in every report, and beside who computed nevertheless."""
    table = tables.plain()
    event = msgspec.structs.replace(table.event, settings=Settings(game="play-nine", freeze=True))
    rows = [msgspec.structs.replace(row, off_turn_ms=50.0) for row in table.rows]
    table = msgspec.structs.replace(table, event=event, rows=tuple(rows))
    rule = "bots stand still while it isn't their turn"
    assert rule in render(table, "text")
    assert rule in render(table, "md", canonical=True)
    assert "wasn't asked, although it was to stand still" in render(table, "text")


def test_a_single_match_says_that_it_rates_nobody(tables):
    """There are no rotations; whose seats were chosen runs nothing."""
    plain = tables.plain()
    settings = msgspec.structs.replace(
        plain.event.settings, format="single", deals=1, heroes=("ann@1",)
    )
    event = msgspec.structs.replace(plain.event, settings=settings)
    text = render(msgspec.structs.replace(plain, event=event), "text", width=200)
    assert "single, one match, which rates nobody" in text
    assert "rotations" not in text
    assert "run by" not in text


def test_when_bots_were_withdrawn_is_told_as_the_event_states_it(tables):
    """In its own numbers; three and a half have words."""
    table = tables.plain()
    out = Withdrawal(entrant="random@1.0.0", after="x", annulled=True)
    for stated, words in (
        ({}, "three faulted matches in a row up to x, before half of its schedule: all"),
        (
            {"withdraw_after": 5, "annul_below": 0.25},
            "5 faulted matches in a row up to x, before 25 % of its schedule: all",
        ),
    ):
        settings = msgspec.structs.replace(table.event.settings, **stated)
        event = msgspec.structs.replace(table.event, settings=settings)
        made = render(msgspec.structs.replace(table, event=event, withdrawn=(out,)), "text")
        assert words in made
        first = msgspec.structs.replace(table, event=event, withdrawn=(out,), rule=1)
        words = words.replace(", before", "; under").replace("schedule", "matches were played")
        assert words in render(first, "text")


@pytest.mark.parametrize(
    ("seats", "rule", "annulled", "words"),
    [
        (2, 2, (True,), "300 of 300 counted; those with an annulled bot count for nobody\n"),
        (3, 2, (True,), "; those with an annulled bot count for the others, if they are two or"),
        (2, 2, (False,), "counted; those of a bot that was withdrawn later are its forfeits from"),
        (3, 2, (False,), "later are its forfeits from then on\n"),
        (2, 2, (True, False), "nobody; those of a bot that was withdrawn later are its forfeits"),
        (2, 2, (False,), "from then on, and they are not played\n"),
        (3, 1, (True,), "counted; those with withdrawn bots are void\n"),
        (3, 1, (), "300 of 300 counted\n"),
        (3, 2, (), "300 of 300 counted\n"),
    ],
)
def test_what_became_of_the_matches_of_the_withdrawn(tables, seats, rule, annulled, words):
    """At tables of more than two they count for the others; forfeits count. Files of the first
    rule keep their sentence.
    """
    table = tables.plain()
    settings = msgspec.structs.replace(table.event.settings, seats=seats)
    out = tuple(
        Withdrawal(entrant=row.entrant, after="x", annulled=each)
        for row, each in zip(table.rows, annulled, strict=False)
    )
    event = msgspec.structs.replace(table.event, settings=settings)
    changed = msgspec.structs.replace(table, event=event, withdrawn=out, rule=rule)
    assert words in render(changed, "text")


def test_an_epoch_names_who_takes_no_part(tables):
    """Each that was withdrawn before it; of several events their own lines say it."""
    for table, times in ((tables.plain(), 1), (tables.pooled(), 0)):
        settings = msgspec.structs.replace(table.event.settings, withdrawn=("bad@1",))
        event = msgspec.structs.replace(table.event, settings=settings)
        made = render(msgspec.structs.replace(table, event=event), "text")
        assert times == made.count("kept out: bad@1: was withdrawn before this epoch\n")


def open_pairs(*deals):
    """Neighbours, every second a lower bound."""
    return tuple(
        OpenPair(bots=(f"bot{at}@1", f"bot{at + 1}@1"), deals=many, at_least=bool(at % 2))
        for at, many in enumerate(deals)
    )


@pytest.mark.parametrize(
    ("settings", "of"), [({}, "a table"), ({"racing": RaceSettings()}, "of the two")]
)
def test_what_would_tell_neighbours_apart_is_told_to_people(tables, settings, of):
    """In lines of 80 columns, of many pairs the first; no file and no canonical report has it."""
    table = tables.plain()
    event = msgspec.structs.replace(
        table.event, settings=msgspec.structs.replace(table.event.settings, **settings)
    )
    table = msgspec.structs.replace(table, event=event, open_pairs=open_pairs(*range(40, 50)))
    text = render(table, "text", width=80)
    head = f"more deals {of} to tell neighbours apart (even chance at their lead):"
    assert f"{head}\n  bot0@1 and bot1@1: about 40\n  bot1@1 and bot2@1: more than 41\n" in text
    assert "  and 2 more pairs; --format json has them\n" in text
    assert '"open_pairs"' in render(table, "json")
    for name in ("text", "json"):
        without = msgspec.structs.replace(table, open_pairs=UNSET)
        assert report(name).file_text(table) == report(name).file_text(without)
        assert "open_pairs" not in render(table, name, canonical=True)
        assert "tell neighbours apart" not in render(table, name, canonical=True)
    assert head not in render(msgspec.structs.replace(table, open_pairs=()), "text")
