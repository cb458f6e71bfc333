"""Which bots decide alike, from answers that are made up."""

import random

import pytest

from arena.twins.likeness import (
    COMPARED,
    EVALUATOR,
    MOMENTS,
    TELLING,
    BotAnswers,
    TwinSearch,
)
from arena.twins.questions import RecordedTurn

MANY = 800
BARS = ((0.45, 100), (0.6, 1000))
MOVES = ("take 0", "take 1", "draw", "swap 0", "swap 1", "flip 2")


def turns(number=MANY, *, best="", phase="turn"):
    """Questions, three a hole; `best`: what the evaluator finds best at each."""
    regrets = {move: float(bool(best) and move != best) for move in MOVES}
    return [
        RecordedTurn(
            match=f"m{at // 27}",
            hole=at // 3 % 9 + 1,
            move=at % 3 + 1,
            bot=f"bot{at % 2}@1",
            played="draw",
            phase=phase,
            regrets=regrets,
        )
        for at in range(number)
    ]


def steady(answers):
    """A bot that decides nothing by lot."""
    return BotAnswers(answers, answers)


def recipe(number=MANY):
    return ["draw"] * number


def departing(seed, share, answers=None, moves=MOVES):
    """What somebody makes of a recipe: another move at some share of the questions."""
    lot = random.Random(seed)
    answers = recipe() if answers is None else answers
    return [lot.choice(moves) if lot.random() < share else move for move in answers]


def report(bots, recipes=None, asked=None, **how):
    """The report on bots by their answers."""
    recipes = {"published": steady(recipe())} if recipes is None else recipes
    programs = how.pop("programs", {bot: bot for bot in bots})
    bars = how.pop("bars", BARS)
    return TwinSearch(asked or turns(), bots, recipes, bars).report(programs, **how)


def test_a_copy_is_found_and_two_who_changed_the_same_recipe_are_not():
    """The copy differs in little of what it departs in."""
    original = departing("ann", 0.3)
    bots = {
        "ann@1": steady(original),
        "bob@1": steady(departing("bob", 0.02, original)),
        "cyd@1": steady(departing("cyd", 0.3)),
    }
    found = report(bots)
    [pair] = found.pairs
    assert ("ann@1", "bob@1") == pair.bots
    assert pair.alike > 0.9
    assert BARS[-1][1] == pair.rare
    assert "published" == pair.recipe
    assert pair.expected < pair.same / 3
    assert (3, 0, 3 / BARS[0][1]) == (found.compared, found.near, found.chance)
    assert (0, BARS[0][1]) == (found.skipped, found.first_bar)


def test_the_numbers_of_a_pair_are_exact():
    """With the others: a recipe, and a bot that shares some of it."""
    ann = ["take 0"] * 40 + recipe()[40:]
    bob = ["swap 0", *ann[1:]]
    cyd = ["take 0"] * 20 + recipe()[20:]
    bots = {"ann@1": steady(ann), "bob@1": steady(bob), "cyd@1": steady(cyd)}
    pair = report(bots, of=["bob@1"], every=True).pairs[0]
    assert ("ann@1", "bob@1") == pair.bots
    assert (MANY, 40, 39) == (pair.compared, pair.telling, pair.same)
    assert (40, 39, 39 / 40) == (pair.telling_kinds, pair.same_kinds, pair.alike)
    # One of the two others at 19 questions, and for half at the one where the two differ.
    assert (19 + 0.5) / 2 == pair.expected
    [other] = pair.differences
    assert (("take 0", "swap 0"), 1) == (other.moves, other.others)


@pytest.mark.parametrize(("departs", "near"), [(TELLING - 1, 1), (TELLING, 0)])
def test_so_many_decisions_tell(departs, near):
    """One less is too few."""
    answers = steady(["take 0"] * departs + recipe()[departs:])
    found = report({"ann@1": answers, "bob@1": answers})
    assert (near, 1 - near) == (found.near, len(found.pairs))
    assert {bool(near)} == {bot.near for bot in found.bots}


@pytest.mark.parametrize(("answered", "compared"), [(COMPARED - 1, 0), (COMPARED, 1)])
def test_so_many_decisions_are_compared(answered, compared):
    """One less is too few."""
    answers = steady([*recipe()[:answered], *[""] * (MANY - answered)])
    found = report({"ann@1": answers, "bob@1": answers})
    assert (compared, 1 - compared) == (found.compared, found.skipped)


@pytest.mark.parametrize(("flips", "left_out"), [(200, 19), (150, 150)])
def test_a_few_lots_are_left_out_alone(flips, left_out):
    """The rest of that kind counts, unless more than a tenth of it is by lot."""
    one = ["flip 2"] * flips + ["take 0"] * 50 + recipe()[flips + 50 :]
    two = [one[0], *["flip 1"] * 19, *one[20:]]
    asked = [turn._replace(regrets={**turn.regrets, "flip 1": 0.0}) for turn in turns()]
    bots = {"ann@1": BotAnswers(two, one), "bob@1": steady(one)}
    [pair] = report(bots, asked=asked).pairs
    telling = flips + 50 - left_out
    assert (MANY - left_out, telling, telling) == (pair.compared, pair.telling, pair.same)


def test_the_evaluators_first_question_is_like_the_others():
    """What is best elsewhere isn't best there."""
    asked = [*turns(1, best="draw"), *turns(best="flip 2")[1:]]
    bots = {
        "ann@1": steady(["draw", *["flip 2"] * (MANY - 1)]),
        "bob@1": steady(["flip 2"] * MANY),
    }
    [pair] = report(bots, {}, asked, every=True).pairs
    assert (EVALUATOR, 1, 0) == (pair.recipe, pair.telling, pair.same)


def test_two_of_the_same_recipe_are_too_near_it():
    """However alike they are."""
    one, two = departing("ann", 0.01), departing("bob", 0.01)
    found = report({"ann@1": steady(one), "bob@1": steady(two)}, every=True)
    assert 1 == found.near
    [pair] = found.pairs
    assert pair.telling < TELLING
    assert (0, 0.0) == (pair.rare, found.chance)


def test_what_any_recipe_explains_is_nothing_rare():
    """The recipe that leaves the smallest share counts: also a program of the course's own."""
    starter = departing("starter", 0.4)
    bots = {name: steady(departing(name, 0.03, starter)) for name in ("ann@1", "bob@1")}
    assert report(bots).pairs
    recipes = {"published": steady(recipe()), "starter": steady(starter)}
    [pair] = report(bots, recipes, every=True).pairs
    assert "starter" == pair.recipe
    assert (0, True) == (pair.rare, pair.alike < 0.2)


def test_what_strength_demands_is_nothing_rare():
    """Two strong bots depart from the recipe alike, to where the evaluator does."""
    best = ["flip 2"] * MANY
    bots = {name: steady(departing(name, 0.2, best)) for name in ("ann@1", "bob@1")}
    assert report(bots).pairs
    found = report(bots, asked=turns(best="flip 2"), every=True)
    assert EVALUATOR in found.recipes
    [pair] = found.pairs
    assert (EVALUATOR, 0) == (pair.recipe, pair.rare)
    assert {"flip 2"} == {moment.recipe for moment in pair.differences}


def test_a_port_with_other_ties_keeps_the_kinds_of_its_moves():
    """The kinds count as much as the moves, where nobody knows which moves are as good."""
    original = departing("ann", 0.5, moves=("take 0", "swap 0"))
    port = [move.replace(" 0", " 1") for move in original]
    [pair] = report({"ann@1": steady(original), "bob@1": steady(port)}).pairs
    assert (0, pair.telling_kinds) == (pair.same, pair.same_kinds)
    assert 0.5 == pair.alike


def test_moves_that_the_evaluator_finds_as_good_are_one():
    """Of a kind; so another order of places is no difference."""
    original = departing("ann", 0.5, moves=("take 0", "swap 0"))
    port = [move.replace(" 0", " 1") for move in original]
    bots = {"ann@1": steady(original), "bob@1": steady(port)}
    [pair] = report(bots, asked=turns(best="flip 2")).pairs
    assert (1.0, pair.telling) == (pair.alike, pair.same)
    assert {("take 0", "take 1"), ("swap 0", "swap 1")} >= {each.moves for each in pair.moments}


def test_of_a_game_that_was_not_measured_nothing_is_called_rare():
    """Its pairs are shown on demand."""
    original = steady(departing("ann", 0.3))
    bots = {"ann@1": original, "bob@1": original}
    assert not report(bots, bars=()).pairs
    found = report(bots, bars=(), every=True)
    assert (None, None) == (found.chance, found.first_bar)
    assert (0, 1.0) == (found.pairs[0].rare, found.pairs[0].alike)


def test_what_is_decided_by_lot_tells_nothing():
    """Neither for nor against, and a habit of it is known by its kind of move."""
    lot = random.Random("lot")
    original = departing("ann", 0.4, moves=("take 0", "take 1", "swap 0"))

    def flips():
        return [lot.choice(("flip 2", "flip 3")) if at % 4 == 0 else None for at in range(MANY)]

    def mixed(by_lot):
        return [flip or move for flip, move in zip(by_lot, original, strict=True)]

    asked = [turn._replace(regrets={**turn.regrets, "flip 3": 0.0}) for turn in turns()]
    bots = {name: BotAnswers(mixed(flips()), mixed(flips())) for name in ("ann@1", "bob@1")}
    found = report(bots, asked=asked)
    [pair] = found.pairs
    assert (1.0, MANY * 3 // 4) == (pair.alike, pair.compared)
    assert {MANY * 3 // 4} == {bot.settled for bot in found.bots}


def test_a_bot_that_plays_by_lot_is_compared_with_none():
    """Nothing of it is settled."""
    lot = random.Random("lot")
    runs = [[lot.choice(MOVES) for _ in range(MANY)] for _ in range(2)]
    found = report({"ann@1": BotAnswers(*runs), "bob@1": steady(departing("bob", 0.3))}, every=True)
    assert (0, ()) == (found.compared, found.pairs)
    assert (0, 0.0, False) == (
        found.bots[0].settled,
        found.bots[0].like_recipe,
        found.bots[0].near,
    )


def test_too_few_answers_are_not_compared():
    """Of a bot that failed, or whose time was over."""
    original = departing("ann", 0.3)
    cut = [*original[: COMPARED - 1], *[""] * (MANY - COMPARED + 1)]
    found = report({"ann@1": steady(original), "bob@1": steady(cut)}, every=True)
    assert (0, 1) == (found.compared, found.skipped)
    assert (MANY, COMPARED - 1) == tuple(bot.answered for bot in found.bots)


def test_the_moments_are_the_rarest_one_of_a_hole():
    """With what the recipe does, and how many others do the same."""
    original = departing("ann", 0.3)
    bots = {name: steady(departing(name, 0.05, original)) for name in ("ann@1", "bob@1")}
    bots |= {f"other{n}@1": steady(departing(n, 0.3)) for n in range(6)}
    found = report(bots)
    assert 7 == found.others
    [pair] = [pair for pair in found.pairs if {"ann@1", "bob@1"} == set(pair.bots)]
    for moments in (pair.moments, pair.differences):
        assert MOMENTS == len({(each.match, each.hole) for each in moments})
        assert [each.others for each in moments] == sorted(each.others for each in moments)
        for each in moments:
            at = 27 * int(each.match[1:]) + 3 * (each.hole - 1) + each.move - 1
            answers = [bots[name].first[at] for name in ("ann@1", "bob@1")]
            assert tuple(answers) == each.moves
            assert "draw" == each.recipe
            assert any(move != "draw" for move in answers)
            same = sum(bots[f"other{n}@1"].first[at] in answers for n in range(6))
            assert same + ("draw" in answers) == each.others
    assert all(len(set(each.moves)) == 1 for each in pair.moments)
    assert all(len(set(each.moves)) == 2 for each in pair.differences)


def test_only_pairs_with_some_bots():
    """The others are not even counted."""
    bots = {name: steady(departing(name, 0.3)) for name in ("ann@1", "bob@1", "cyd@1")}
    found = report(bots, of=["cyd@1"], every=True)
    assert {("ann@1", "cyd@1"), ("bob@1", "cyd@1")} == {pair.bots for pair in found.pairs}
    assert (2, 0) == (found.compared, found.skipped)
    assert 3 == len(found.bots)


def test_the_same_program_under_two_names_is_said():
    """By its content."""
    original = steady(departing("ann", 0.3))
    bots = {"ann@1": original, "bob@1": original}
    [pair] = report(bots, programs=dict.fromkeys(bots, "abc")).pairs
    assert (True, 1.0) == (pair.same_files, pair.alike)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_bot_is_said_to_be_near_a_recipe_and_to_play_as_it_did(share):
    """Of its own recorded decisions it takes those again that it takes again."""
    answers = departing("ann", share)
    found = report({"bot0@1": steady(answers), "bob@1": steady(departing("bob", 0.3))})
    bot = {each.bot: each for each in found.bots}["bot0@1"]
    assert "published" == bot.recipe
    assert answers.count("draw") / MANY == bot.like_recipe
    own = answers[::2]
    assert own.count("draw") / len(own) == bot.as_recorded
    assert {each.bot: each.as_recorded for each in found.bots}["bob@1"] is None


def test_the_order_of_bots_changes_nothing():
    """The same report."""
    names = ("ann@1", "bob@1", "cyd@1", "dan@1")
    bots = {name: steady(departing(name, 0.3)) for name in names}
    backwards = {name: bots[name] for name in reversed(names)}
    assert report(bots, every=True) == report(backwards, every=True)
