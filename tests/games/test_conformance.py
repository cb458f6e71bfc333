"""What every game must keep to, whatever is played; new games join in conftest.GAMES."""

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import registry
from arena.games import IllegalMoveError
from arena.model import HoleRecord

seeds = st.integers(0, 2**32)
quick = settings(max_examples=40, deadline=None, derandomize=True)


@st.composite
def tables(draw, game):
    """A match's number of seats, an order of play (cyclic, perhaps a playoff's), a turn cap."""
    seats = draw(st.integers(game.min_seats, game.max_seats))
    first = draw(st.integers(0, seats - 1))
    order = [(first + k) % seats for k in range(seats)]
    out = draw(st.sets(st.sampled_from(order), max_size=seats - 2))
    turn_cap = draw(st.sampled_from([game.turn_cap, 15, 2, 1]))
    return seats, [seat for seat in order if seat not in out], turn_cap


def begin(lab, game, data):
    seats, order, turn_cap = data.draw(tables(game))
    seed = data.draw(seeds)
    deck = lab.shuffled(game, seats, seed)
    hole = lab.start(game, deck, seats=seats, order=order, turn_cap=turn_cap)
    return hole, deck, random.Random(seed), data.draw(st.sampled_from(lab.POLICIES))


def compare(lab, game, table):
    """Play to the end beside the second referee, comparing all that either says."""
    hole, deck, rng, policy = table
    start = hole.view(0)
    mirror = lab.second(game)(
        seats=len(start.grids),
        order=start.order,
        deck=lab.ListDeck(deck.cards, deck.handed),
        turn_cap=hole._turn_cap,
    )
    seats = range(mirror.seats)
    seen = {seat: [] for seat in seats}
    while acting := hole.to_act():
        assert mirror.to_act() == acting
        for seat in seats:
            assert list(mirror.legal(seat)) == list(hole.legal(seat))
            assert mirror.view(seat) == lab.sent(hole.view(seat))
            seen[seat] += lab.sent(hole.events(seat, len(seen[seat])))
            assert len(hole.events(seat, 0)) == len(seen[seat])
        seat = rng.choice(acting)
        move = policy(hole, seat, rng)
        hole.apply(seat, move)
        mirror.apply(seat, move)
    assert mirror.to_act() == ()
    for seat in seats:
        events = lab.sent(hole.events(seat, 0))
        assert mirror.events(seat) == events
        assert seen[seat] == events[: len(seen[seat])]
    assert mirror.grids() == hole.grids()
    assert tuple(map(mirror.score, mirror.grids())) == hole.scores()


@pytest.mark.no_cover
@quick
@given(data=st.data())
def test_agrees_with_the_second_referee(game, lab, data):
    """Moves, views, events and final grids are those of a referee written independently."""
    compare(lab, game, begin(lab, game, data))


@pytest.mark.long("more holes")
@settings(quick, max_examples=60)
@given(data=st.data())
def test_agrees_with_the_second_referee_in_more_holes(game, lab, data):
    """The same, with other decks."""
    compare(lab, game, begin(lab, game, data))


@pytest.mark.long("long holes")
def test_agrees_with_the_second_referee_in_long_holes(game, lab):
    """The same over every number of seats and every policy, through several reshuffles."""
    reshuffles = set()
    for seats in range(game.min_seats, game.max_seats + 1):
        for policy in lab.POLICIES:
            deck = lab.shuffled(game, seats, seats)
            hole = lab.start(game, deck, seats=seats)
            compare(lab, game, (hole, deck, random.Random(seats), policy))
            reshuffles.add(len(deck.asked))
    # A game with a short hole comes to fewer.
    assert reshuffles >= ({0, 1, 2, 3} if game.name in registry.GAMES else {0, 1})


@pytest.mark.no_cover
@quick
@given(data=st.data())
def test_cards_are_conserved_and_somebody_can_always_move(game, lab, data):
    """Grids, pile, stock and hand make up the pack after every move, and nobody is stuck."""
    hole, deck, rng, policy = begin(lab, game, data)
    whole = lab.all_cards(hole)
    assert sorted(whole.elements()) == sorted(deck.cards)

    def check():
        assert lab.all_cards(hole) == whole
        for seat in hole.to_act():
            legal = hole.legal(seat)
            assert len(legal) == len(set(legal)) > 0
            assert hole.fallback(seat) in legal

    lab.play(hole, policy, rng, each=check)


@quick
@given(data=st.data())
def test_every_hole_ends(game, lab, data):
    """A hole lasts at most as many turns as the cap, plus one last turn each."""
    hole, _, rng, policy = begin(lab, game, data)
    order, cap = hole.view(0).order, hole._turn_cap
    lab.play(hole, policy, rng, most=2 * len(order) * (cap + 2))
    assert hole.to_act() == ()
    turns = hole.view(0).turns
    assert max(turns) <= cap + 1
    assert max(turns) - min(turns[seat] for seat in order) <= 1
    if hole.view(0).ended_by is None:
        assert {turns[seat] for seat in order} == {cap}
    assert all(turns[seat] == 0 for seat in range(len(turns)) if seat not in order)
    assert all(hole.legal(seat) == () for seat in order)


@pytest.mark.no_cover
@quick
@given(data=st.data())
def test_fallback_alone_plays_a_hole_out(game, lab, data):
    """A seat whose bot has failed can be played on to the end without a choice."""
    hole, _, rng, _ = begin(lab, game, data)
    lab.play(hole, lambda hole, seat, rng: hole.fallback(seat), rng)
    assert hole.to_act() == ()
    assert len(hole.scores()) == len(hole.grids())


def refused(hole, seat, move):
    """Thousands of times; `pytest.raises` takes several times as long as what it looks at."""
    try:
        hole.apply(seat, move)
    except IllegalMoveError:
        return True
    return False


@settings(quick, max_examples=10)
@given(data=st.data())
def test_illegal_moves_change_nothing(game, lab, data):
    """Every move that is not legal now, or is another seat's, is refused without a trace."""
    hole, _, rng, policy = begin(lab, game, data)
    moves = {"", "take", "take 0 ", "TAKE 0", "take 8", "take -1", "swap 9", "flip 8", "skip"}
    moves |= {f"{kind} {at}" for kind in ("take", "swap", "flip") for at in range(8)}
    moves |= {"tee 0 1", "tee 1 0", "tee 0 0", "tee 0 8", "draw", "discard", "knock"}
    moves.add(data.draw(st.text(max_size=8)))

    def check():
        before = lab.snapshot(hole)
        for seat in range(len(hole.view(0).grids)):
            for move in sorted(moves - set(hole.legal(seat))):
                assert refused(hole, seat, move), move
            if seat not in hole.to_act():
                with pytest.raises(IllegalMoveError, match=f"seat {seat} is not to act"):
                    hole.fallback(seat)
        assert before == lab.snapshot(hole)

    lab.play(hole, policy, rng, each=check)


@pytest.mark.parametrize("policy", ["endless", "replacer"])
@pytest.mark.parametrize("seats", [2, 5])
def test_play_that_never_ends_meets_the_cap_and_the_reshuffle(game, lab, policy, seats):
    """Skipping, replacing the same card or never knocking goes on to the default cap."""
    deck = lab.shuffled(game, seats, 7)
    hole = lab.start(game, deck, seats=seats)
    lab.play(hole, getattr(lab, policy), random.Random(7))
    view = hole.view(0)
    if view.ended_by is None:
        assert (game.turn_cap,) * seats == view.turns
    if policy == "endless":
        assert view.ended_by is None
        assert len(deck.asked) >= 1
        assert list(range(1, len(deck.asked) + 1)) == [number for number, _ in deck.asked]
        flagged = [play for play in hole.events(0, 0) if play.reshuffled]
        assert len(deck.asked) == len(flagged)


def test_grids_and_scores_stay_shut_until_the_hole_is_over(game, lab):
    """Asking for the cards of a hole in play is the caller's bug."""
    hole = lab.start(game, lab.shuffled(game, 3, 1), seats=3)
    with pytest.raises(RuntimeError, match="not over"):
        hole.grids()
    with pytest.raises(RuntimeError, match="not over"):
        hole.scores()


def test_seats_that_sit_out_have_no_cards_and_no_strokes(game, lab):
    """In a playoff the others have an empty grid, no turns and 0 strokes."""
    hole = lab.start(game, lab.shuffled(game, 4, 1), seats=4, order=(3, 1))
    lab.play(hole, lab.any_move, random.Random(1))
    assert [None if seat in (1, 3) else strokes for seat, strokes in enumerate(hole.scores())] == [
        0,
        None,
        0,
        None,
    ]
    assert hole.grids()[0] == hole.grids()[2] == hole.view(1).grids[0] == ()
    assert hole.view(1).turns[0] == hole.view(1).turns[2] == 0


@pytest.mark.parametrize(
    ("seats", "order"), [(2, (0,)), (2, (0, 0)), (2, (0, 2)), (3, ()), (2, (-1, 0))]
)
def test_an_impossible_order_is_refused(game, lab, seats, order):
    """The order of play is two or more different seats of the match."""
    with pytest.raises(ValueError, match="order"):
        lab.start(game, lab.shuffled(game, 2, 1), seats=seats, order=order)


def test_a_deck_too_small_or_a_cap_without_turns_is_refused(game, lab):
    """A first discard, a stock and a turn are what a hole needs at least."""
    dealt = 2 * game.about.cards
    with pytest.raises(ValueError, match="too few"):
        lab.start(game, lab.ListDeck([1] * (dealt + 1)))
    assert lab.start(game, lab.ListDeck([1] * (dealt + 2))).view(0).stock == 1
    with pytest.raises(ValueError, match="turn cap"):
        lab.start(game, lab.ListDeck([1] * (dealt + 2)), turn_cap=-1)


def test_the_smallest_deck_reshuffles_one_card_again_and_again(game, lab):
    """With one card of stock every draw finds a card."""
    dealt = 2 * game.about.cards
    hole = lab.start(game, lab.ListDeck(range(1, dealt + 3)), turn_cap=9)
    lab.play(hole, lab.endless, random.Random(0))
    assert hole.view(0).turns == (9, 9)


@pytest.mark.parametrize("seats", range(2, 9))
def test_the_pack_is_ascending_and_serves_the_table(game, seats):
    """The pack is given in order, and leaves a stock for every number of players."""
    if seats > game.max_seats:
        return
    pack = game.pack(seats)
    assert list(pack) == sorted(pack)
    assert len(pack) > seats * 8 + 1


def test_views_are_snapshots(game, lab):
    """A view that was handed out doesn't change with the game."""
    hole = lab.start(game, lab.shuffled(game, 2, 3))
    view = hole.view(0)
    before = msgspec.json.encode(view)
    lab.play(hole, lab.endless, random.Random(3))
    assert before == msgspec.json.encode(view)
    assert hole.view(0) != view


def test_views_hold_the_fields_of_the_specification(game, lab):
    """The view's fields are those of protocol/SPEC.md, all of them always sent."""
    fields = {"seat", "order", "phase", "grids", "discard", "pile", "stock", "recycled"}
    fields |= {"drawn", "turns", "ended_by"}
    fields |= lab.second(game).FIELDS
    view = lab.start(game, lab.shuffled(game, 2, 3)).view(1)
    assert type(view) is game.view_type
    assert fields == set(msgspec.json.decode(msgspec.json.encode(view)))
    with pytest.raises(AttributeError):
        view.stock = 0


def test_games_state_their_name_table_sizes_and_cap(game, lab):
    """What `hello` and the command line say about a game."""
    assert game.name == game.about.name
    assert lab.second(game).STATED == (game.min_seats, game.max_seats, game.turn_cap)


@pytest.mark.no_cover
@quick
@given(data=st.data())
def test_the_descriptor_fits_what_is_played(game, lab, data):
    """Its cards, its words, their phases, and whether a player ended the hole."""
    hole, _, rng, policy = begin(lab, game, data)
    about, start = game.about, hole.view(0)
    assert all(len(grid) in (0, about.cards) for grid in start.grids)

    def check():
        for seat in hole.to_act():
            phase = hole.view(seat).phase
            words = [move.split(" ")[0] for move in hole.legal(seat)]
            assert {phase} == {about.move(word).phase for word in words}
            assert set(words) <= set(about.moves)

    script = lab.play(hole, policy, rng, each=check)
    # A log has tee-offs in the order of play.
    tees = [start.order.index(seat) if move[:3] == "tee" else 99 for seat, move in script]
    moves = [move for _, (_, move) in sorted(zip(tees, script, strict=True), key=lambda t: t[0])]
    record = HoleRecord(order=start.order, moves=",".join(moves), scores=hole.scores())
    assert about.was_ended(record) == (hole.view(0).ended_by is not None)


def test_the_descriptor_has_words_for_everything(game):
    """Labels fit into a card, rules onto a terminal, sentences take their values."""
    about = game.about
    assert about.cards % about.across == 0
    assert about.title
    assert max(map(len, about.rules.splitlines())) < 80
    for card in set(game.pack(game.max_seats)):
        assert 1 <= len(about.label(card)) <= 2
        assert isinstance(about.strokes(card), int)
    values = dict.fromkeys(("at", "two", "drawn", "top", "before", "card", "cards", "out"), "7")
    for word in about.moves:
        move = about.move(word)
        assert word == move.shape.split(" ")[0]
        for sentence in (move.now, move.past, move.brief):
            assert sentence.format(**values)
        assert move.offer.format(card="7", last=7, down="7")
    assert not set(about.refusals) & set(about.moves)
    assert set(about.own_moves) <= set(about.moves)
    assert msgspec.json.encode(about.for_scripts(game.pack(2)))
