"""No view and no event depends on a card that its reader can't know.

The proof: play some moves, take the cards that a seat has not seen (the second referee says
which), deal them anew among themselves, play the same moves again. The seat must not notice.
Cards of the first deal and cards of each reshuffle are pools apart, for everybody saw what was
shuffled in. No move's legality depends on an unseen card, so the same moves can be played.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .conftest import GAMES, second


def honest(hole, seat):
    """All that a seat is ever told."""
    return hole.view(seat), list(hole.events(seat, 0)), hole.legal(seat), hole.to_act()


def experiment(lab, game, seed):
    """A hole after some moves, and for each seat the same with its unseen cards dealt anew."""
    rng = random.Random(seed)
    seats = rng.randint(game.min_seats, game.max_seats)
    policy = rng.choice(lab.POLICIES)
    deck = lab.shuffled(game, seats, seed)
    whole = lab.start(game, deck, seats=seats)
    script = lab.play(whole, policy, rng)
    script = script[: rng.randint(0, len(script))]

    def replay(deck):
        hole = lab.start(game, deck, seats=seats)
        for seat, move in script:
            hole.apply(seat, move)
        return hole

    record = lab.ListDeck(deck.cards, deck.handed)
    mirror = lab.second(game)(seats=seats, order=range(seats), deck=record, turn_cap=game.turn_cap)
    for seat, move in script:
        mirror.apply(seat, move)
    hole = replay(record)
    for seat in range(seats):
        value = dict(mirror.value)
        for made in range(mirror.made + 1):
            unseen = sorted(c for c in value if c[0] == made and c not in mirror.seen[seat])
            anew = [value[card] for card in unseen]
            rng.shuffle(anew)
            value.update(zip(unseen, anew, strict=True))
        dealt = [
            [value[card] for card in sorted(value) if card[0] == made]
            for made in range(mirror.made + 1)
        ]
        other_deck = lab.ListDeck(dealt[0], dict(enumerate(dealt[1:], 1)))
        other = replay(other_deck)
        # Everybody saw what was shuffled in, so it is the same cards in either world.
        assert record.asked[: len(other_deck.asked)] == other_deck.asked
        yield hole, other, seat


@pytest.mark.no_cover
@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_what_a_seat_is_told_does_not_depend_on_cards_it_has_not_seen(game, lab, seed):
    """Dealing the unseen cards anew changes neither view nor events nor legal moves."""
    for hole, other, seat in experiment(lab, game, seed):
        assert honest(hole, seat) == honest(other, seat)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("game", "tells"),
    [
        pytest.param(game, tells, id=f"{game.name}: {leak}")
        for game in GAMES
        for leak, tells in second(game).LEAKS.items()
    ],
)
def test_a_leak_would_be_noticed(game, lab, tells):
    """The experiment can fail: each way of telling too much differs in some of the worlds."""
    assert any(
        tells(hole, seat) != tells(other, seat)
        for seed in range(200)
        for hole, other, seat in experiment(lab, game, seed)
    )
