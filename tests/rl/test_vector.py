"""The batch plays by the same rules as the games, state for state.

Each row is played beside a hole of `arena.games` that was dealt the same deck: after every move
what the seat to act sees, what it may do, and what nobody sees are compared.
"""

import pytest

from arena.deals import Deals, secret_from_seed
from arena.games import IllegalMoveError, four_card_golf, play_nine

CASES = [
    (game, seats)
    for game in (play_nine.GAME, four_card_golf.GAME)
    for seats in (game.min_seats, game.min_seats + 1, game.max_seats)
]
IDS = [f"{game.name}-{seats}" for game, seats in CASES]


class Beside:
    """The rows' holes, as the library plays them."""

    def __init__(self, rl, game, env, deals, turn_cap):
        self.rl, self.game, self.env, self.deals, self.turn_cap = rl, game, env, deals, turn_cap
        self.codes = {card: 1 + at for at, card in enumerate(sorted(set(game.pack(env.seats))))}
        self.holes = [self.dealt(row) for row in range(env.batch)]

    def dealt(self, row):
        seats, number = self.env.seats, int(self.env.hole[row])
        first = (number - 1) % seats
        pack = self.game.pack(seats)
        deck = self.deals.deck("practice", int(self.env.deal[row]), number, pack)
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
            assert self.rl.mask(self.game.name, hole.legal(seat)) == legal[row].tolist()
            # Grids, who knows what, pile, stock, last turns, turns, the card in hand.
            assert self.rl.observe(sent(hole.view(seat))) == seen[row].tolist()
            # And what nobody sees: the cards that are face down, and the stock's order.
            held = [self.codes[card] for place in hole._order for card in hole._cards[place]]
            assert held == cards[row].tolist()
            left = [0 if card is None else self.codes[card] for card in hole._stock]
            assert left == stock[row, : len(left)].tolist()
            assert not stock[row, len(left) :].any()


@pytest.mark.parametrize(("game", "seats"), CASES, ids=IDS)
@pytest.mark.long("batches of every size", quick=("play-nine-3", "four-card-golf-3"))
def test_a_batch_is_in_the_same_states_as_the_library_after_every_move(
    rl, game, seats, policies, seeded, sent
):
    """The same decks and moves give the same views, legal moves, hidden cards and scores."""
    deals, rng = Deals(secret_from_seed(f"batch-{seats}")), seeded(seats)
    seen = {"reshuffles": 0, "capped": 0, "ended": 0}
    for cap, wanted in ((2 * game.turn_cap, 150), (game.turn_cap, 100), (3, 80), (1, 60)):
        env = rl.vector_env(game.name, 24, seats=seats, holes=9, turn_cap=cap, deals=deals)
        beside = Beside(rl, game, env, deals, cap)
        styles = [policies[row % len(policies)] for row in range(env.batch)]
        over = 0
        while over < wanted or seen["reshuffles"] < 2:
            beside.compare(sent)
            seen["reshuffles"] = max(seen["reshuffles"], int(env._reshuffles.max()))
            seats_before = env.acting
            moves = [
                style(rng, hole.legal(int(seat)))
                for style, hole, seat in zip(styles, beside.holes, seats_before, strict=True)
            ]
            step = env.step([rl.encode(game.name, move) for move in moves])
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
    # Every kind of end has been there.
    assert seen["ended"] > 100
    assert seen["capped"] > 25


@pytest.mark.parametrize("holes", [1, 9])
def test_a_match_is_nine_holes_and_each_row_plays_on_by_itself(rl, game, holes):
    """`done` comes with the last hole, the deal goes on clockwise, deals are numbered in order."""
    env = rl.vector_env(game.name, 5, seats=game.max_seats, holes=holes, seed=3)
    rng, dealt = numpy(3), 5
    for _ in range(1200):
        before = list(zip(env.deal.tolist(), env.hole.tolist(), strict=True))
        step = env.step(env.random_actions(rng))
        for row, (deal, hole) in enumerate(before):
            assert step.done[row] == (row in step.over and hole == holes)
            after = (env.deal[row], env.hole[row])
            if step.done[row]:
                assert after == (dealt, 1)
                dealt += 1
            else:
                assert after == (deal, hole + (row in step.over))
            if row in step.over:
                assert env.acting[row] == (env.hole[row] - 1) % game.max_seats
    assert dealt > 8


def numpy(seed):
    """A generator; numpy is there if the fixture `rl` was."""
    from numpy.random import default_rng

    return default_rng(seed)


def test_the_margin_sums_to_zero_and_is_the_others_mean_less_the_own_strokes(rl, game):
    """The other reward, by row and seat."""
    env = rl.vector_env(game.name, 50, seats=3, reward="margin", seed=1)
    rng, seen = numpy(1), 0
    while seen < 50:
        step = env.step(env.random_actions(rng))
        for row, scores in zip(step.over, step.scores.tolist(), strict=True):
            wanted = [(sum(scores) - mine) / 2 - mine for mine in scores]
            assert step.rewards[row].tolist() == pytest.approx(wanted)
            assert abs(step.rewards[row].sum()) < 1e-4
        seen += len(step.over)


def test_the_same_seed_and_actions_give_the_same_holes(rl, game):
    """And another seed gives others."""

    def played(seed):
        env, rng = rl.vector_env(game.name, 20, seed=seed), numpy(7)
        return [env.step(env.random_actions(rng)).scores.tolist() for _ in range(200)]

    assert played(1) == played(1)
    assert played(1) != played(2)


def test_a_reset_deals_every_row_anew(rl, game):
    """Nothing of the holes in play is left."""
    env = rl.vector_env(game.name, 8, holes=9, seed=1)
    rng = numpy(1)
    for _ in range(300):
        env.step(env.random_actions(rng))
    env.reset()
    assert env.hole.tolist() == [1] * 8
    assert env.acting.tolist() == [0] * 8
    turns = env.observe()[:, env.fields["turns"]]
    assert turns.sum() == (0 if game.name == "play-nine" else 8)


def test_cards_are_conserved_on_its_own_decks_too(rl, game):
    """Grids, pile, stock and a drawn card are the pack after every move, reshuffles included."""
    import numpy as np

    env = rl.vector_env(game.name, 40, seats=game.max_seats, seed=4)
    # Whoever can goes on: what ends holes is not liked.
    order = ("skip", "discard", "draw", "swap", "flip", "take", "tee", "knock")
    liked = np.array([-order.index(move.split()[0]) for move in env.moves])
    codes = np.arange(1, env._codes)
    pack = sorted(game.pack(game.max_seats))
    counts = [pack.count(card) for card in sorted(set(pack))]
    rng, reshuffled = numpy(4), 0
    while reshuffled < 3:
        drawn = env.observe()[:, env.fields["drawn"]]
        held = np.concatenate((drawn, *map(env_rows(env), (env._cards, env._stock))), axis=1)
        found = (held[:, :, None] == codes).sum(axis=1) + env._pile.reshape(40, -1)[:, 1:]
        assert (found == counts).all()
        reshuffled = max(reshuffled, int(env._reshuffles.max()))
        wanted = np.where(env.legal(), liked, -99).argmax(axis=1)
        env.step(np.where(rng.random(40) < 0.9, wanted, env.random_actions(rng)))


def env_rows(env):
    """Of a flat array: its rows."""
    return lambda flat: flat.reshape(env.batch, -1)


def test_its_own_decks_are_whole_packs_in_any_order(rl, game):
    """Every card once, every place alike: no card's mean place is far from the middle."""
    from arena.rl.vector.decks import RandomDecks

    pack = game.pack(2)
    decks = RandomDecks(pack, 5).deal(range(4000), None, None)
    codes = {card: 1 + at for at, card in enumerate(sorted(set(pack)))}
    assert (decks.astype(int).sum(axis=1) == sum(codes[card] for card in pack)).all()
    assert all((decks == code).sum() == 4000 * pack.count(card) for card, code in codes.items())
    # A cell's mean code has a standard deviation of about 4 / sqrt(4000) = 0.06.
    assert abs(decks.mean(axis=0) - decks.mean()).max() < 0.35


def test_random_actions_are_the_legal_ones_each_as_likely(rl, game):
    """Counted in one state over many draws."""
    env, rng = rl.vector_env(game.name, 3000, seed=1), numpy(2)
    actions = env.random_actions(rng).tolist()
    legal = env.legal()[0].nonzero()[0].tolist()
    counts = [actions.count(action) for action in legal]
    assert sum(counts) == 3000
    assert min(counts) > 3000 / len(legal) * 0.6


def test_an_illegal_action_is_refused_by_row_and_changes_nothing(rl, game):
    """The message says which row, action and move; every row is as it was."""
    env = rl.vector_env(game.name, 4, seed=1)
    before = env.observe().tolist()
    swap = rl.encode(game.name, "swap 1")
    good = env.random_actions(numpy(1)).tolist()
    for wrong, named in ((swap, "'swap 1'"), (-1, "not an action"), (99, "not an action")):
        with pytest.raises(IllegalMoveError, match=rf"row 2: action {wrong} \({named}\)"):
            env.step([*good[:2], wrong, good[3]])
        assert env.observe().tolist() == before
    for shape in ([0], [0.0] * 4, [[0] * 4]):
        with pytest.raises(ValueError, match="they must be 4 whole numbers"):
            env.step(shape)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"game": "chess"}, "no game called 'chess'; there are: play-nine, four-card-golf"),
        ({"seats": 9}, "seats, not 9"),
        ({"batch": 0}, "batch is 0: it must be 1 or more"),
        ({"holes": 0}, "holes is 0: a match has 1 to 9"),
        ({"turn_cap": 0}, "turn_cap is 0: it must be 1 to 1000"),
        ({"reward": "fame"}, "reward is 'fame'; there are: strokes, margin"),
        ({"seed": 1, "deals": Deals(bytes(32))}, "give a seed or deals, not both"),
    ],
)
def test_a_wrong_setting_is_named_in_one_line(rl, wrong, message):
    """What was wrong, and what there is."""
    settings = {"game": "play-nine", "batch": 2} | wrong
    with pytest.raises(ValueError, match=message):
        rl.vector_env(**settings)
