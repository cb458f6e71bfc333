"""The moments of a match: what is told and drawn at each, and what a seat's own view leaves out."""

import pytest

from arena import registry
from arena.replay.steps import unfold
from arena.reports.cards import Face, Style, picture
from arena.reports.layout import width
from arena.terminal.moments import Album, moments


@pytest.fixture
def album(events):
    """Make the album of an event's first match."""

    def make(event, **how):
        record = events.play(event, next(events.specs(event)), **how)
        game = registry.game(event.settings.game)
        return Album(unfold(record, event, game=game, secret=events.secret))

    return make


@pytest.mark.parametrize("game", sorted(registry.GAMES))
def test_there_is_a_moment_for_every_deal_move_and_reveal(events, album, game):
    """In order; the last of a hole has every card face up, and the totals grow by its scores."""
    match = album(events.event_of(game, seats=3)).match
    seen = list(moments(match))
    assert sum(2 + len(hole.steps) for hole in match.holes) == len(seen)
    assert [(m.hole, m.moves) for m in seen] == sorted((m.hole, m.moves) for m in seen)
    for hole in match.holes:
        *_, last = (moment for moment in seen if moment.hole == hole.hole)
        assert last.over
        assert {"a"} == {letter for letters in last.known for letter in letters}
    shown = Album(match).picture(len(seen) - 1)
    assert list(match.totals) == [player.total for player in shown.players]
    assert [hole.scores for hole in match.holes] == list(shown.scores)


def test_a_fault_is_a_moment_before_what_is_played_for_it(events, album):
    """The table stands still, the name is marked, and its seat is to act."""
    book = album(events.event_of(seats=3), fails=events.failing("bob@1", 20))
    (fault,) = book.match.faults
    at = book.fault_after(-1)
    before, now, after = book.moments[at - 1 : at + 2]
    assert fault == now.fault
    assert (before.cards, before.moves, False) == (
        now.cards,
        now.moves,
        fault.seat in before.fallen,
    )
    assert (now.moves + 1, None) == (after.moves, after.fault)
    assert fault.seat in after.fallen
    shown = book.picture(at)
    assert frozenset({fault.seat}) == shown.acting
    assert "failed" == shown.players[fault.seat].note
    assert "bob@1 has failed: crash" in shown.news[-1]
    assert book.picture(at + 1).news[-1].endswith("(played for it)")
    assert at == book.fault_after(at)
    assert "bob@1 failed" in book.result()


def test_faults_before_the_first_hole_and_at_one_tee_off(events, album):
    """Each has a moment of its own, with cards only where some were dealt."""
    event = events.event_of()
    seats = next(events.specs(event)).seats
    start = album(event, broken=seats)
    assert [(0, "start"), (0, "start")] == [(m.hole, m.fault.kind) for m in start.moments]
    assert "before hole 1" == start.where(0)
    assert [] == [row for player in start.picture(1).players for row in player.rows]
    one = album(event, broken=seats[:1])
    assert [0] == [moment.hole for moment in one.moments]
    tee = album(event, fails=events.failing(None, 1))
    assert [None, "crash", "crash"] == [m.fault and m.fault.kind for m in tee.moments]
    assert tee.moments[0].cards == tee.moments[2].cards != ()
    three = album(events.event_of(seats=3), broken=["bob@1"])
    assert 0 == three.moments[0].hole
    assert 9 == three.moments[-1].hole


@pytest.mark.parametrize("game", sorted(registry.GAMES))
def test_a_seats_own_view_has_nothing_that_it_could_not_know(events, album, game):
    """What is drawn and told for a seat is the same when unseen cards are others."""
    book = album(events.event_of(game, seats=3))
    blind = {"n": Face.HIDDEN, "o": Face.HIDDEN, "a": Face.ALL}
    for at, moment in enumerate(book.moments):
        shown = book.picture(at, 1)
        for seat, player in enumerate(shown.players):
            faces = [card.face for row in player.rows for card in row]
            sees = blind | {"o": Face.OWNER} if seat == 1 else blind
            assert [sees[letter] for letter in moment.known[seat]] == faces
        acting = moment.drawn is not None and 1 in shown.acting
        assert bool(shown.drawn) == acting
        step = book.match.holes[moment.hole - 1].steps[moment.moves - 1 : moment.moves]
        told = shown.news[-1] if moment.moves and not moment.over else ""
        if told and step[0].move == "draw" and step[0].seat != 1:
            assert told.endswith(("draws a card", "anew"))
        if told and moment.teeing and step[0].seat != 1:
            assert told.endswith("tees off")
        if told and game == "four-card-golf" and step[0].move.startswith("swap"):
            assert ("what it drew" in told) == (step[0].seat != 1)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("game", "seats"), [("play-nine", 2), ("play-nine", 6), ("four-card-golf", 8)]
)
@pytest.mark.parametrize("room", [39, 79])
def test_every_picture_fits(events, album, game, seats, room):
    """At 40 and at 80 columns, whoever watches, no line is wider."""
    book = album(events.event_of(game, seats=seats), fails=events.failing("bob@1", 9))
    for at in range(0, len(book.moments), 7):
        for watcher in (None, 0):
            for line in picture(book.picture(at, watcher), Style(), room=room, height=200):
                assert width(line) <= room


@pytest.mark.no_cover
def test_a_reshuffle_is_told(events, album):
    """The draw for which the pile became a new stock says so."""
    moves = {"draw", "discard"}
    book = album(
        events.event_of("four-card-golf", seats=4),
        fails=lambda _, question: next(move for move in question.legal if move in moves),
    )
    told = [list(book.news(at))[-1] for at, m in enumerate(book.moments) if m.moves]
    assert any(line.endswith("from the pile shuffled anew") for line in told)
