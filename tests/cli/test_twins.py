"""What `arena twins` prints, by made-up reports; tests/event/test_twins.py has real ones."""

import msgspec
import pytest

from arena.reports.layout import width
from arena.terminal.twins_report import twin_lines
from arena.twins.likeness import TellingMove, TwinBot, TwinPair, TwinReport


def moment(**changed):
    """A telling move."""
    fields = {"match": "4f2c01ab99de-000003-1", "hole": 3, "move": 12, "moves": ("draw", "draw")}
    return TellingMove(**{**fields, "recipe": "take 3", "others": 2, **changed})


def a_bot(name, **changed):
    """A bot that was asked."""
    fields = {"answered": 3000, "settled": 2900, "as_recorded": 1.0, "recipe": "arena's greedy"}
    return TwinBot(bot=name, **{**fields, "like_recipe": 0.7, "near": False, **changed})


PAIR = TwinPair(
    bots=("ann@1", "bob@1"),
    alike=0.94,
    rare=1000,
    recipe="arena's greedy",
    compared=2900,
    telling=812,
    same=790,
    expected=251.3,
    telling_kinds=300,
    same_kinds=274,
    same_files=True,
    moments=(moment(),),
    differences=(moment(moves=("draw", "take 2")),),
)
REPORT = TwinReport(
    questions=3000,
    recipes=("arena's greedy", "the evaluator"),
    others=8,
    compared=10,
    skipped=5,
    near=3,
    first_bar=100,
    chance=0.07,
    bots=(a_bot("ann@1"), a_bot("bob@1")),
    pairs=(PAIR,),
)


def text(room=80, **changed):
    """The lines of a report."""
    return "\n".join(twin_lines(msgspec.structs.replace(REPORT, **changed), "friday", room))


def test_a_pair_is_shown_with_its_numbers_and_moments():
    """And with the commands that show these."""
    shown = text()
    assert "ann@1 + bob@1   0.94     790/812     274/300   1,000" in shown
    assert "ann@1 and bob@1: alike 0.94; their files are the same" in shown
    assert "  both draw; arena's greedy: take 3; 2 of 8 others do it" in shown
    assert "  differ: draw | take 2; arena's greedy: take 3" in shown
    command = "    arena replay friday 4f2c01ab99de-000003-1 --hole 3 --move 12"
    assert 2 == shown.splitlines().count(command)
    assert "evidence, not a verdict" in shown
    flat = " ".join(shown.split())
    assert "Of 7 pairs that can be judged, about 0.1 would reach the lowest bar by chance." in flat
    assert "Too near a recipe to tell: 3." in flat
    assert "Not compared, with fewer than 500 decisions in common: 5." in flat
    assert "None of the compared pairs" not in flat
    average = "both do the same; other bots agree with one of them in 251 on average"
    assert average in flat


def test_of_many_pairs_the_moments_of_the_first_are_shown():
    """And how the rest are seen."""
    lines = list(twin_lines(msgspec.structs.replace(REPORT, pairs=(PAIR,) * 3), "friday", 80, 2))
    assert 2 == sum("their files are the same" in line for line in lines)
    assert "and 1 more; their moments: --limit 0, or --bot NAME" in lines


def test_without_a_pair_it_says_so():
    """There is no table, and no caution."""
    shown = text(pairs=(), near=0, skipped=0, first_bar=50)
    none = "None of the compared pairs is as much alike as 1 in 50 pairs of bots that were"
    assert none in " ".join(shown.split())
    for word in ("evidence", "too near", "not compared", "No pair can be judged"):
        assert word not in shown
    unknown = "It isn't known for this game how alike independent bots are; --all shows every pair."
    shown = " ".join(text(pairs=(), first_bar=None, chance=None).split())
    assert unknown in shown
    assert "--all" not in text(first_bar=None, chance=None)
    assert "None of" not in shown


def test_of_all_pairs_none_may_be_rare():
    """The table has them, and it is said that none reaches a bar."""
    common = msgspec.structs.replace(PAIR, rare=0, same_files=False)
    shown = text(pairs=(common,))
    assert shown.splitlines()[4].endswith("      -")
    assert "None of the compared pairs is as much alike as 1 in 100" in " ".join(shown.split())


@pytest.mark.parametrize("first_bar", [100, None])
@pytest.mark.parametrize("near", [0, 4])
def test_where_no_pair_can_be_judged_that_is_all(near, first_bar):
    """Nothing is said of chance, nor that no pair is alike."""
    chance = None if first_bar is None else 0.0
    compared = {"compared": near, "near": near, "skipped": 6}
    found = text(pairs=(), first_bar=first_bar, chance=chance, **compared)
    shown = " ".join(found.split())
    assert "No pair can be judged." in shown
    assert "decisions in common: 6" in shown
    assert bool(near) == ("Too near a recipe to tell: 4." in shown)
    for word in ("None of", "by chance", "isn't known", "--all"):
        assert word not in shown


@pytest.mark.parametrize(
    ("bot", "said"),
    [
        (
            a_bot("cyd@1", like_recipe=0.99, near=True),
            "These bots play a recipe, or nearly: cyd@1 (arena's greedy 99 %).",
        ),
        (a_bot("cyd@1", settled=900), "These bots decide mostly at random: cyd@1."),
        (a_bot("cyd@1", answered=90, settled=90), "cyd@1: answered only 90 of 3,000 questions"),
        (
            a_bot("cyd@1", as_recorded=0.5),
            "cyd@1: repeats only 50 % of its own recorded decisions.",
        ),
        (a_bot("cyd@1", as_recorded=None), ""),
    ],
)
def test_what_else_is_to_be_known_of_a_bot(bot, said):
    """Nothing of one that is as it should be."""
    shown = " ".join(text(bots=(*REPORT.bots, bot)).split())
    assert said in shown
    assert bool(said) == ("cyd@1" in shown)


@pytest.mark.parametrize("name", ["x" * 60, "漢字" * 20, "a\x1b[31m", "e\u0301" * 40])
def test_names_of_strangers_act_on_nothing_and_leave_the_table_narrow(name):
    """At 80 columns, whatever they are called."""
    pair = msgspec.structs.replace(PAIR, bots=(name, f"{name}2"))
    shown = text(pairs=(pair,), bots=(a_bot(name, like_recipe=1.0, near=True), a_bot(f"{name}2")))
    assert "\x1b" not in shown
    assert all(width(line) <= 80 for line in shown.splitlines())
