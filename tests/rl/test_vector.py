"""The batch plays by the same rules as the games, state for state.

Each row is played beside a hole of `arena.games` that was dealt the same deck: after every move
what the seat to act sees, what it may do, and what nobody sees are compared.
"""

import pytest

from arena.deals import Deals, secret_from_seed
from arena.games import four_card_golf, play_nine
from arena.rl import encode, mask, observe, vector_env
from arena.rl.aec import PAIRING

CASES = [
    (game, seats)
    for game in (play_nine.GAME, four_card_golf.GAME)
    for seats in range(game.min_seats, game.max_seats + 1)
]
IDS = [f"{game.name}-{seats}" for game, seats in CASES]


class Beside:
    """The rows' holes, as the library plays them."""

    def __init__(self, game, env, deals, turn_cap):
        self.game, self.env, self.deals, self.turn_cap = game, env, deals, turn_cap
        self.codes = {card: 1 + at for at, card in enumerate(sorted(set(game.pack(env.seats))))}
        self.holes = [self.dealt(row) for row in range(env.batch)]

    def dealt(self, row):
        seats, number = self.env.seats, int(self.env.hole[row])
        first = (number - 1) % seats
        pack = self.game.pack(seats)
        deck = self.deals.deck(PAIRING, int(self.env.deal[row]), number, pack)
        order = [*range(first, seats), *range(first)]
        return self.game.start(seats=seats, order=order, deck=deck, turn_cap=self.turn_cap)

    def compare(self, sent):
        """Everything, in every row."""
        env = self.env
        seen, legal, acting = env.observe(), env.legal(), env.acting
        cards = env._cards.reshape(env.batch, -1)[:, :-1]
        stock = env._stock.reshape(env.batch, -1)
        for row, hole in enumerate(self.holes):
            seat = hole.to_act()[0]
            assert seat == acting[row]
            assert mask(self.game.name, hole.legal(seat)) == legal[row].tolist()
            # Grids, who knows what, pile, stock, last turns, turns, the card in hand.
            assert observe(sent(hole.view(seat))) == seen[row].tolist()
            # And what nobody sees: the cards that are face down, and the stock's order.
            held = [self.codes[card] for place in hole._order for card in hole._cards[place]]
            assert held == cards[row].tolist()
            left = [0 if card is None else self.codes[card] for card in hole._stock]
            assert left == stock[row, : len(left)].tolist()
            assert not stock[row, len(left) :].any()


@pytest.mark.parametrize(("game", "seats"), CASES, ids=IDS)
def test_a_batch_is_in_the_same_states_as_the_library_after_every_move(
    game, seats, policies, seeded, sent
):
    """The same decks and moves give the same views, legal moves, hidden cards and scores."""
    deals, rng = Deals(secret_from_seed(f"batch-{seats}")), seeded(seats)
    seen = {"reshuffles": 0, "capped": 0, "ended": 0}
    for cap, wanted in ((2 * game.turn_cap, 600), (game.turn_cap, 200), (3, 120), (1, 60)):
        env = vector_env(game.name, 24, seats=seats, holes=9, turn_cap=cap, deals=deals)
        beside = Beside(game, env, deals, cap)
        styles = [policies[row % len(policies)] for row in range(env.batch)]
        over = 0
        while over < wanted:
            beside.compare(sent)
            seen["reshuffles"] = max(seen["reshuffles"], int(env._reshuffles.max()))
            seats_before = env.acting
            moves = [
                style(rng, hole.legal(int(seat)))
                for style, hole, seat in zip(styles, beside.holes, seats_before, strict=True)
            ]
            step = env.step([encode(game.name, move) for move in moves])
            ended = []
            for row, (hole, move) in enumerate(zip(beside.holes, moves, strict=True)):
                hole.apply(int(seats_before[row]), move)
                if not hole.to_act():
                    ended.append(row)
            assert ended == step.over.tolist()
            for at, row in enumerate(ended):
                seen["capped" if beside.holes[row]._ended_by is None else "ended"] += 1
                scores = beside.holes[row].scores()
                assert scores == tuple(step.scores[at].tolist())
                assert [-score for score in scores] == step.rewards[row].tolist()
                beside.holes[row] = beside.dealt(row)
            assert not step.rewards[[row for row in range(24) if row not in ended]].any()
            over += len(ended)
    assert seen["ended"] > 100
    assert seen["capped"] > 50
    assert seen["reshuffles"] >= 2, "every kind of end, and of stock, has been there"
