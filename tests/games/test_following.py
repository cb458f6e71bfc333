"""Looking on at a game: it is the same game, and every card is where the onlooker says."""

import random

import pytest

from arena import registry
from arena.deals import Deals
from arena.games.observer import ObservedGame


@pytest.mark.parametrize("game", registry.GAMES)
@pytest.mark.parametrize("order", [(0, 1), (3, 1, 2)])
def test_a_followed_hole_is_the_same_hole(game, order):
    """Views, events, scores and grids are equal; the cards it follows are those of the end."""
    rules = registry.game(game)
    choose = random.Random(7)
    moved = []
    followed = ObservedGame(rules, lambda _, move: moved.append(move))
    assert (rules.name, rules.pack(4)) == (followed.name, followed.pack(4))
    for number in range(20):
        deals = Deals(bytes(32))
        holes = [
            each.start(
                seats=4,
                order=order,
                deck=deals.deck("p", 1, number, rules.pack(4)),
                turn_cap=rules.turn_cap,
            )
            for each in (rules, followed)
        ]
        plain, shown = holes
        moved.clear()
        while seats := plain.to_act():
            assert seats == shown.to_act()
            for seat in seats:
                assert plain.view(seat) == shown.view(seat)
                assert plain.legal(seat) == shown.legal(seat)
                assert plain.fallback(seat) == shown.fallback(seat)
                assert plain.drawn(seat) == shown.drawn(seat)
                move = choose.choice(plain.legal(seat))
                for hole in holes:
                    hole.apply(seat, move)
                assert (seat, move) == (moved[-1].seat, moved[-1].move)
                if move == "draw":
                    assert plain.drawn(seat) == moved[-1].drawn
        assert plain.events(order[0], 0) == shown.events(order[0], 0)
        assert plain.scores() == shown.scores()
        assert [list(grid) for grid in shown.grids()] == followed.cards
        assert [each.move for each in moved] == followed.moves
    assert 20 == followed.holes


def test_a_move_that_is_not_legal_is_not_told():
    """Nothing has happened."""
    moved = []
    rules = registry.game("four-card-golf")
    followed = ObservedGame(rules, lambda _, move: moved.append(move))
    deck = Deals(bytes(32)).deck("p", 1, 1, rules.pack(2))
    hole = followed.start(seats=2, order=(0, 1), deck=deck, turn_cap=5)
    with pytest.raises(ValueError, match="not legal"):
        hole.apply(0, "fly 3")
    assert [] == moved
    assert [] == followed.moves
