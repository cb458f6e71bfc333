"""A person at the keys in a game with a move of its own."""

import pytest

from arena import registry
from arena.deals import Deals, secret_from_seed
from arena.model import MatchSpec, Settings
from arena.play.desk import Desk
from arena.referee import Referee
from arena.reports.cards import Style
from arena.terminal.seat_keys import Seat


@pytest.fixture
def seat(monkeypatch):
    """Seat 0 at its first question."""
    line = {"open-six": "tests.third_game.open_six:GAME"}
    monkeypatch.setattr(registry, "GAMES", {**registry.GAMES, **line})
    spec = MatchSpec(id="p-000000-0", series="s", pairing="p", deal=0, rotation=0, seats=("a", "b"))
    settings = Settings(game="open-six", turn_cap=30)
    deals = Deals(secret_from_seed("keys"))
    referee = Referee(spec, game=registry.game("open-six"), deals=deals, settings=settings)
    referee.begin()
    desk = Desk("open-six", ["ann", "bob"], 0)
    desk.ask(referee.question(0, bank_ms=0))
    seat = Seat(Style(lines=False))
    seat.wait_for("move", desk)
    return seat


def test_a_move_of_its_own_is_offered_and_typed(seat):
    """The prompt has it behind a colon, the help its offer and the game's rules."""
    assert "d draw, :pass" in " ".join("\n".join(seat.frame(79, 24)).split())
    seat.press("?")
    text = "\n".join(seat.frame(79, 30))
    assert "Six open cards in two rows of three" in text
    assert "pass     no card at all" in text
    seat.press("x")
    for key in (":", "p", "a", "s", "s", "enter"):
        seat.press(key)
    assert "pass" == seat.move


def test_keys_of_other_games_say_what_there_is(seat):
    """No knock, no flip: the moves that there are."""
    for key in ("k", "f"):
        seat.press(key)
        assert "there are: take, draw, pass, swap, discard" in "\n".join(seat.frame(79, 24))
    seat.press("x")
    assert "that is for a card that you have drawn" in "\n".join(seat.frame(79, 24))
