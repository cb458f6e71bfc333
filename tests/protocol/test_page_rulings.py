"""The list of house rulings: each row is shown by a test of the engine, and states its figures."""

import ast
import re
from pathlib import Path

import pytest

from arena.cli import commands
from arena.games import four_card_golf, play_nine
from arena.model import Settings

TESTS = Path(__file__).parents[1]
TITLE = "10."
NINE, FOUR, TABLE = (f"games/test_{name}.py" for name in ("play_nine", "four_card_golf", "table"))
REFEREE = "referee/test_referee.py"

SHOWN = {
    "both games": {
        "who deals hole 1": "protocol/test_page_rulings.py::test_the_last_seat_deals_hole_1",
        "which card is drawn": f"{TABLE}::test_taking_instead_of_drawing_changes_no_later_card",
        "the stock is empty": f"{TABLE}::test_the_pile_is_reshuffled_only_when_somebody_draws",
        "a hole that nobody ends": f"{TABLE}::test_the_cap_ends_a_hole_that_nobody_ended",
        "a tie for first": f"{REFEREE}::test_without_a_playoff_a_tie_is_shared",
        "a tie after nine extra holes": (
            f"{REFEREE}::test_a_playoff_ends_after_nine_holes_with_a_shared_win"
        ),
        "those who lose a playoff": f"{REFEREE}::test_a_tie_for_first_goes_to_sudden_death",
        "a player who can't go on": (
            f"{REFEREE}::test_with_more_seats_the_others_finish_against_the_fallback"
        ),
    },
    "Play Nine": {
        "the order of the tee-off": (
            f"{NINE}::test_a_tee_off_stays_hidden_until_all_have_made_theirs"
        ),
        "the skip with one card face down": (
            f"{NINE}::test_skipping_turns_nothing_and_may_be_repeated"
        ),
        "replacing cards that are face up": (
            f"{NINE}::test_face_up_cards_may_be_replaced_turn_after_turn"
        ),
        "the last turn": f"{NINE}::test_a_last_turn_is_an_ordinary_turn",
        "eight cards face up in a last turn": (
            f"{NINE}::test_putting_out_in_a_last_turn_triggers_nothing"
        ),
        "columns of one number": f"{NINE}::test_score",
        "going out without the lowest score": (
            f"{NINE}::test_eight_cards_face_up_end_the_hole_after_one_turn_of_every_other"
        ),
    },
    "four-card golf": {
        "the number of packs": f"{FOUR}::test_the_pack_doubles_from_five_players_on",
        "the look before play": f"{FOUR}::test_everybody_knows_their_own_near_two",
        "cards that were seen once": f"{FOUR}::test_a_taken_discard_is_known_to_all",
        "a knock on the first turn": (
            f"{FOUR}::test_a_knock_gives_every_other_player_one_turn_without_knocking"
        ),
        "the knocker's cards": (
            f"{FOUR}::test_a_knock_gives_every_other_player_one_turn_without_knocking"
        ),
        "a knocker who isn't lowest": f"{FOUR}::test_the_knocker_has_no_bonus_and_no_penalty",
    },
}
"""Table -> row -> the test that shows what we play."""


@pytest.mark.parametrize("table", SHOWN)
def test_every_ruling_is_shown_by_a_test(page, table):
    """No row without a test, and no test of it that is gone."""
    rows = page.table(TITLE, table)
    assert list(SHOWN[table]) == [row[table] for row in rows]
    for row in rows:
        assert list(row) == [table, "the sheets say", "we play", "others play"]
        assert all(row.values()), row
        file, name = SHOWN[table][row[table]].split("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        assert name in {node.name for node in tree.body if isinstance(node, functions)}, row


def row(page, table, name):
    """What we play, of one row."""
    (found,) = (row["we play"] for row in page.table(TITLE, table) if row[table] == name)
    return found


def test_the_last_seat_deals_hole_1(messages):
    """The dealer is last in the order of play."""
    orders = [
        message["view"]["order"]
        for _, message in messages
        if message["type"] == "act" and message["hole"] == 1
    ]
    assert orders
    assert all(order[-1] == max(order) == len(order) - 1 for order in orders)


def test_the_figures_of_the_rulings_are_the_engine_s(page):
    """Turn caps, packs, and which commands play ties off."""
    caps = re.search(
        r"(\d+) in Play Nine, (\d+) in four", row(page, "both games", "a hole that nobody ends")
    )
    assert [play_nine.GAME.turn_cap, four_card_golf.GAME.turn_cap] == [
        int(cap) for cap in caps.groups()
    ]
    one, two = re.findall(r"for (\d) to (\d)", row(page, "four-card golf", "the number of packs"))
    packs = {seats: len(four_card_golf.GAME.pack(seats)) // 52 for seats in range(2, 9)}
    expected = dict.fromkeys(range(int(one[0]), int(one[1]) + 1), 1)
    assert packs == expected | dict.fromkeys(range(int(two[0]), int(two[1]) + 1), 2)
    assert Settings(game="play-nine").playoff is False
    ties = row(page, "both games", "a tie for first")
    for command, flag in (
        ("run", "--playoff"),
        ("match", "--no-playoff"),
        ("play", "--no-playoff"),
    ):
        options = commands.get_command(None, command).params
        assert any(flag in option.opts for option in options)
        assert flag in ties
