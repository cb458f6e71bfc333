"""What a game says of its own cards and moves."""

import pytest

from arena import registry


@pytest.mark.parametrize(
    ("game", "labels", "strokes"),
    [
        ("play-nine", "-5 0 1 2 3 4 5 6 7 8 9 10 11 12", [-5, *range(13)]),
        ("four-card-golf", "A 2 3 4 5 6 7 8 9 10 J Q K", [*range(1, 11), 10, 10, 0]),
    ],
)
def test_each_card_has_its_sign_and_its_strokes(game, labels, strokes):
    """From the lowest to the highest."""
    rules = registry.game(game)
    cards = sorted(set(rules.pack(2)))
    assert labels.split() == [rules.about.label(card) for card in cards]
    assert strokes == [rules.about.strokes(card) for card in cards]


@pytest.mark.parametrize(("game", "none"), [("play-nine", {"tee"}), ("four-card-golf", {"knock"})])
def test_some_moves_leave_no_card_on_the_pile(game, none):
    """All others do."""
    about = registry.game(game).about
    assert none == {word for word in about.moves if not about.move(word).discards}
