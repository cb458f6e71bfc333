"""Whole matches between functions are those that an event plays between processes."""

import json
import os
from pathlib import Path

import pytest

from arena.deals import Deals, secret_from_seed
from arena.engine.in_process import play_match
from arena.games import IllegalMoveError, four_card_golf, play_nine

BOTS = Path(__file__).parents[2] / "example_bots"
GAMES = {game.name: game for game in (play_nine.GAME, four_card_golf.GAME)}


def first(_view, legal):
    """The first legal move."""
    return legal[0]


@pytest.mark.no_cover
@pytest.mark.process
@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.long("both games", quick=("play-nine",))
def test_a_match_has_the_digest_that_an_event_writes(warm, policy, tmp_path, game):
    """The same seed, entrants, deals and rotations, played by the example bots' processes."""
    names = ("greedy", "matcher")
    out = tmp_path / "event"
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    bots = (BOTS / name for name in names)
    words = ("--game", game, "--deals", 2, "--seed", "practice", "--sandbox", "none")
    assert 0 == warm("run", *bots, *words, "--out", out, env=environment).returncode
    log = warm("log", out, "--canonical")
    records = [json.loads(line) for line in log.stdout.splitlines()]
    assert len(records) == 4
    deals = Deals(secret_from_seed("practice"))
    policies = {entrant: policy(entrant.partition("@")[0]) for entrant in records[0]["seats"]}
    for record in records:
        mine = play_match(
            GAMES[game], policies, deals=deals, deal=record["deal"], rotation=record["rotation"]
        )
        assert mine.digest == record["digest"]
        assert mine.id == record["id"]
        assert list(mine.totals) == record["totals"]


@pytest.mark.parametrize("game", sorted(GAMES))
def test_each_rotation_seats_the_same_circle_one_further(game):
    """Everybody sits everywhere once, on the same cards."""
    policies = dict.fromkeys(("a@1", "b@1", "c@1"), first)
    deals = Deals(secret_from_seed("x"))
    records = [play_match(GAMES[game], policies, deals=deals, rotation=it) for it in range(3)]
    circle = records[0].seats
    assert [record.seats for record in records] == [
        tuple(circle[(seat + it) % 3] for seat in range(3)) for it in range(3)
    ]
    assert records[0] == play_match(GAMES[game], policies, deals=deals, deal=0)
    assert records[0] == play_match(GAMES[game], policies, deals=deals)
    assert len({record.deck for record in records}) == 1
    assert len({record.totals for record in records}) == 1


def test_a_tie_is_played_off_if_asked_for_and_a_turn_cap_is_kept():
    """Settings reach the referee."""
    policies = dict.fromkeys(("a@1", "b@1"), first)
    found = 0
    for deal in range(400):
        deals = Deals(secret_from_seed("tie"))
        plain = play_match(four_card_golf.GAME, policies, deals=deals, deal=deal, turn_cap=1)
        assert all(len(hole.moves.split(",")) == 2 for hole in plain.holes)
        assert len(plain.holes) == 9
        if plain.totals[0] == plain.totals[1]:
            found += 1
            longer = play_match(
                four_card_golf.GAME, policies, deals=deals, deal=deal, turn_cap=1, playoff=True
            )
            assert len(longer.holes) > 9
            break
    assert found


def test_a_policys_illegal_move_is_an_error_that_says_whose_and_where():
    """It is the caller's own code: no forfeit, no record."""
    policies = {"a@1": first, "b@1": lambda _view, _legal: "fly 3"}
    with pytest.raises(IllegalMoveError, match=r"b@1 answered 'fly 3' on hole 1; legal there: tee"):
        play_match(play_nine.GAME, policies, deals=Deals(bytes(32)))


@pytest.mark.parametrize(
    ("many", "rotation", "message"),
    [
        (1, 0, "play-nine has 2 to 6 seats: give as many policies, not 1"),
        (7, 0, "play-nine has 2 to 6 seats: give as many policies, not 7"),
        (2, 2, "rotation 2 is not one of 0 to 1"),
        (2, -1, "rotation -1 is not one of 0 to 1"),
    ],
)
def test_what_does_not_fit_the_game_is_named_in_one_line(many, rotation, message):
    """What was wrong, and what there is."""
    policies = {f"{number}@1": first for number in range(many)}
    with pytest.raises(ValueError, match=message):
        play_match(play_nine.GAME, policies, deals=Deals(bytes(32)), rotation=rotation)
