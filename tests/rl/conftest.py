"""What the tests of the training environments share; each is skipped where the extra is missing."""

import random

import msgspec
import pytest

from arena import registry

GAMES = {name: game for name in registry.GAMES if (game := registry.game(name)).about.vector}
"""Those that can be trained; without the extra arena.rl can't be asked."""


@pytest.fixture(scope="session")
def rl():
    """The package that is tested."""
    for name in ("numpy", "gymnasium", "pettingzoo"):
        pytest.importorskip(name, reason="the extra is missing: pip install 'nine-arena[rl]'")
    import arena.rl

    return arena.rl


@pytest.fixture(params=GAMES)
def game(request):
    """Each game."""
    return GAMES[request.param]


@pytest.fixture
def sent():
    """What a bot reads of a view."""
    return lambda view: msgspec.json.decode(msgspec.json.encode(view))


def any_move(rng, moves):
    """Each move as likely."""
    return rng.choice(moves)


def any_kind(rng, moves):
    """Each kind of move as likely: goes on longer, takes and keeps more."""
    kind = rng.choice(sorted({move.split()[0] for move in moves}))
    return rng.choice([move for move in moves if move.split()[0] == kind])


def keeper(rng, moves):
    """Draws and keeps, and hardly ever ends the hole: stocks run out, caps are reached."""
    wanted = [move for move in moves if move.split()[0] in ("draw", "swap", "skip", "discard")]
    if wanted and rng.random() < 0.97:
        return rng.choice(wanted)
    return rng.choice(moves)


def endless(rng, moves):
    """Never ends the hole while it can help it."""
    for move in ("skip", "discard", "draw"):
        if move in moves:
            return move
    return rng.choice(moves)


@pytest.fixture
def policies():
    """From a random number generator and the legal moves to a move."""
    return (any_move, any_kind, keeper, endless)


@pytest.fixture
def seeded():
    """A random number generator of one's own."""
    return random.Random
