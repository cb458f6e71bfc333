"""Turns, the cap and discards, against holes that are really played."""

import random

import pytest

from arena import registry
from arena.audit.caps import at_cap
from arena.audit.discards import offers
from arena.deals import Deals
from arena.games.table import turns
from arena.model import HoleRecord


def played(game, *, seats, cap, seed, idle):
    """A hole as it is logged, and who ended it; `idle` players put off its end."""
    deck = Deals(bytes(32)).deck("p", seed, 1, game.pack(seats))
    hole = game.start(seats=seats, order=tuple(range(seats)), deck=deck, turn_cap=cap)
    draw, moves, who = random.Random(seed), [], []
    while seats_to_act := hole.to_act():
        seat = seats_to_act[0]
        legal = hole.legal(seat)
        if idle:
            ending = ("flip", "knock") if "skip" in legal or "knock" in legal else ("knock",)
            legal = [move for move in legal if not move.startswith(ending)] or legal
        move = draw.choice(legal)
        moves.append(move)
        who.append(seat)
        hole.apply(seat, move)
    ended_by = hole.view(0).ended_by
    record = HoleRecord(
        order=tuple(range(seats)), moves=",".join(moves), scores=tuple(hole.scores())
    )
    return record, who, ended_by


@pytest.mark.parametrize("idle", [False, True])
@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("name", ["play-nine", "four-card-golf"])
def test_the_cap_ended_a_hole_if_nobody_did(name, seats, idle):
    """For many holes and caps, as the game itself knows it; both kinds are among them."""
    game = registry.game(name)
    seen = set()
    for seed in range(60):
        cap = 1 + seed % 12
        record, _, ended_by = played(game, seats=seats, cap=cap, seed=seed, idle=idle)
        assert (ended_by is None) == at_cap(game.about, record, cap)
        seen.add(ended_by is None)
    assert {True, False} == seen or idle


@pytest.mark.parametrize("name", ["play-nine", "four-card-golf"])
def test_turns_are_whose_the_game_says(name):
    """The seat of each turn is who was asked; a draw and its use are one."""
    for seed in range(20):
        record, who, _ = played(registry.game(name), seats=3, cap=9, seed=seed, idle=False)
        moves = record.moves.split(",")
        firsts = [
            (seat, move)
            for seat, move, before in zip(who, moves, ["", *moves], strict=False)
            if before != "draw"
        ]
        assert firsts == [(seat, first) for seat, first, _ in turns(record)]


def test_who_left_what_to_whom():
    """The first discard is nobody's, a knock leaves none, and a tee-off neither."""
    about = registry.game("four-card-golf").about
    hole = HoleRecord(order=(2, 0, 1), moves="take 0,draw,discard,knock,take 1,take 2")
    assert [(2, 0, False), (0, 1, False), (2, 0, True)] == list(offers(about, hole))
    about = registry.game("play-nine").about
    hole = HoleRecord(order=(0, 1), moves="tee 0 1,tee 2 3,take 0,take 1")
    assert [(0, 1, True)] == list(offers(about, hole))


def test_moves_of_no_game_make_no_error():
    """A log may come from a stranger: what is no move is a turn that turns nothing up."""
    assert [] == list(turns(HoleRecord(order=(), moves="take 0")))
    assert [(0, "draw", "x")] == list(turns(HoleRecord(order=(0,), moves="draw,x,draw")))
    about = registry.game("play-nine").about
    assert at_cap(about, HoleRecord(order=(0, 0), moves="take 99,tee 8 9"), 1)
    assert at_cap(about, HoleRecord(order=(), moves=""), 1)
