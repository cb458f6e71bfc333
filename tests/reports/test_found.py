"""What a table says of events that decide by results, of luck and of cycles."""

import itertools

import msgspec
import pytest

from arena.model import ADJUSTED, Duel, LadderSettings, RaceSettings, Settings, TrialSettings
from arena.registry import render


def told(tables, rows, *, duels=None, ended="", **settings):
    """The table as text, in one line."""
    table = tables.table(rows, ended=ended)
    event = msgspec.structs.replace(table.event, settings=Settings(game="play-nine", **settings))
    table = msgspec.structs.replace(
        table, event=event, duels=table.duels if duels is None else tuple(duels)
    )
    return " ".join(render(table, "text", width=400).split())


@pytest.fixture
def rows(tables):
    """Three of them."""
    return [
        tables.row(n, name, adjusted=1.5 * n, adjusted_ci=0.25, luck=-2.0, disputed=n == 2)
        for n, name in enumerate(("ann@1", "bob@1", "cyd@1"), 1)
    ]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"heroes": ("ann@1", "bob@1")}, "run by ann@1, bob@1"),
        (
            {"racing": RaceSettings(close=1.5, budget=900)},
            (
                "10 deals a table in all rotations to begin with, series of 25, turn cap 60, until "
                "neighbours are told apart, or shown to be within 1.5 strokes or 900 matches"
            ),
        ),
        ({"racing": RaceSettings()}, "or shown to be within 2 strokes matches:"),
        (
            {"racing": RaceSettings(spread=7)},
            "10 deals a table in all rotations at a time, 7 a bot or more to begin with, series",
        ),
        (
            {"trial": TrialSettings(new="bob@1", no_worse=True)},
            "is bob@1 no worse: -2 against 0 strokes a match",
        ),
        (
            {"trial": TrialSettings(new="bob@1", alpha=0.01)},
            "is bob@1 better: 0 against 2 strokes a match, alpha 0.01, beta 0.05, 4000 matches at",
        ),
        (
            {"ladder": LadderSettings(round=7, head="0" * 64, budget=300)},
            "10 deals a table in all rotations at a time, series of 25, turn cap 60, round 7, 300",
        ),
        ({"options": {"share": 0.5, "king": "ann"}}, "turn cap 60, king ann, share 0.5"),
        ({"rate_on": ADJUSTED}, "fitted to all strokes less luck: mu 25"),
        ({"rate_on": ADJUSTED}, "23 strokes a match are one deviation of a rated event"),
    ],
)
def test_the_settings_are_told(tables, rows, settings, words):
    """Every setting that an event decides by."""
    assert words in told(tables, rows, **settings)


def test_a_ladder_s_table_is_of_several_rounds(tables, rows):
    """It has no commitment of its own."""
    found = tables.table(rows)
    ladder = LadderSettings(round=7, head="0" * 64, budget=300)
    settings = Settings(game="play-nine", ladder=ladder)
    event = msgspec.structs.replace(found.event, settings=settings, commitment="")
    text = render(msgspec.structs.replace(found, event=event), "text", width=400)
    assert "rounds up to 7, 300 matches where they tell most" in text
    assert "deals: of several rounds, each with a commitment of its own" in text


@pytest.mark.parametrize(
    ("rate_on", "words"), [("results", "by strokes less luck"), (ADJUSTED, "as played")]
)
def test_luck_has_columns_and_ranks_that_hang_on_it_a_mark(tables, rows, rate_on, words):
    """What the event doesn't rate on would put them elsewhere."""
    text = told(tables, rows, rate_on=rate_on, evaluator="golf-1")
    assert "luck: by the evaluator golf-1" in text
    assert f"{words}, its rank would be outside this range" in text
    assert "+3.0 ± 0.2" in text
    assert "-2.0" in text
    bare = [msgspec.structs.replace(row, adjusted=None, luck=None) for row in rows]
    assert "± 0.2" not in told(tables, bare, evaluator="golf-1")


def test_the_parameters_of_a_bot_are_told(tables, rows):
    """By its id, as a user writes them."""
    table = tables.table(rows)
    ann, *others = table.event.entrants
    ann = msgspec.structs.replace(ann, params={"risk": "2", "depth": "5"})
    event = msgspec.structs.replace(table.event, entrants=(ann, *others))
    shown = render(msgspec.structs.replace(table, event=event), "text", width=400)
    (line,) = (line for line in shown.splitlines() if "depth=5,risk=2" in line)
    assert "ann@1" in line


def test_why_it_ended_is_told(tables, rows):
    """In the format's own words."""
    assert "stopped by: the budget of 40 matches" in told(
        tables, rows, ended="the budget of 40 matches"
    )


def test_cycles_are_told_and_many_are_counted(tables, rows):
    """The first five, and how many there are."""
    order = [row.entrant for row in rows]
    wins = [(order[n], order[(n + 1) % 3]) for n in range(3)]
    text = told(tables, rows, duels=list(both(wins)))
    assert "cycle: ann@1 beats bob@1 beats cyd@1, which beats the first" in text
    assert "cycles:" not in text
    many = [tables.row(n, f"b{n}@1") for n in range(1, 8)]
    ring = [row.entrant for row in many]
    wins = [(ring[n], ring[(n + step) % 7]) for n in range(7) for step in (1, 2, 3)]
    text = told(tables, many, duels=list(both(wins)))
    assert 5 == text.count("which beats the first")
    assert "cycles: 14 in all; no ranking can show them" in text


def both(wins):
    """Twenty wins to none, seen by both."""
    duels = itertools.chain.from_iterable(
        (
            Duel(row=one, column=two, wins=20, ties=0, losses=0),
            Duel(row=two, column=one, wins=0, ties=0, losses=20),
        )
        for one, two in wins
    )
    return sorted(duels, key=lambda duel: (duel.row, duel.column))


def test_no_text_of_a_stranger_acts(tables, rows):
    """An event.json may name anybody as hero; a note may hold any name."""
    text = told(tables, rows, heroes=("\x1b[2Jeve",), ended="\x1b[2Jeve was withdrawn")
    assert "\x1b" not in text


def test_luck_that_not_all_events_have_is_said_to_be_left_out(tables):
    """Else whoever knows one of them looks for its columns."""
    table = tables.pooled()
    assert "left out" not in render(table, "text")
    one, two = table.sources
    settings = msgspec.structs.replace(one.event.settings, evaluator="play-nine/1-0123456789ab")
    one = msgspec.structs.replace(one, event=msgspec.structs.replace(one.event, settings=settings))
    table = msgspec.structs.replace(table, sources=(one, two))
    told = " ".join(render(table, "text").split())
    assert "luck: not measured, or not by one evaluator, in all of the events: left out" in told
