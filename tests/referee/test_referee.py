"""The referee, driven without processes: outcomes in, record out."""

import random

import pytest

from arena.deals import Deals, fingerprint, secret_from_seed
from arena.games.four_card_golf import GAME as FOUR_CARD_GOLF
from arena.games.play_nine import GAME as PLAY_NINE
from arena.model import FaultKind, MatchSpec, Settings
from arena.referee import Failure, Referee, hello
from arena.wire.messages import HoleEnd, MatchEnd, MatchStart

GAMES = {game.name: game for game in (PLAY_NINE, FOUR_CARD_GOLF)}
DEALS = Deals(secret_from_seed("referee"))


def made(game="play-nine", seats=2, deal=0, onlooker=None, **settings):
    """A referee for a fresh match."""
    rules = GAMES[game]
    spec = MatchSpec(
        id=f"pairing-{deal:06d}-0",
        series="s",
        pairing="pairing",
        deal=deal,
        rotation=0,
        seats=tuple(f"bot{seat}@1" for seat in range(seats)),
    )
    chosen = Settings(game=game, seats=seats, turn_cap=rules.turn_cap, **settings)
    return Referee(spec, game=rules, deals=DEALS, settings=chosen, onlooker=onlooker)


def play(referee, policy, fails=None):
    """Play to the end; `fails(seat, question)` gives a Failure or an illegal move, or None."""
    referee.begin()
    while referee.asked:
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=1)
            wrong = fails(seat, question) if fails else None
            if isinstance(wrong, Failure):
                referee.fail(seat, wrong)
            else:
                referee.answer(seat, wrong or policy(seat, question))
    return referee.record()


def rnd(seed):
    """A uniformly random policy."""
    draw = random.Random(seed)
    return lambda _seat, question: draw.choice(question.legal)


def at(target, outcome):
    """Fail seat and turn `target`: the seat's first question from that turn on."""
    failed = []

    def fails(seat, question):
        turn = int(question.turn.split("-")[0])
        if seat != target[0] or turn < target[1] or failed:
            return None
        failed.append(turn)
        return outcome

    return fails


TIMEOUT = Failure(kind=FaultKind.TIMEOUT, message="too late", line="x", status="exit 1")


@pytest.mark.parametrize("game", sorted(GAMES))
def test_a_match_has_nine_holes_and_its_totals_are_their_sums(game):
    """Every seat count plays to the end, and the dealer moves on by one."""
    for seats in range(2, GAMES[game].max_seats + 1):
        record = play(made(game, seats), rnd(seats))
        assert 9 == len(record.holes)
        sums = tuple(sum(hole.scores[s] for hole in record.holes) for s in range(seats))
        assert sums == record.totals
        dealers = [hole.order[-1] for hole in record.holes]
        assert [(seats - 1 + i) % seats for i in range(9)] == dealers
        assert not record.faults


@pytest.mark.parametrize("game", sorted(GAMES))
def test_a_record_replays_through_the_rules(game):
    """Moves alone, in order of play, lead to the same scores: what verification rests on."""
    record = play(made(game, 3, deal=4), rnd(7))
    decks = []
    for number, hole in enumerate(record.holes, 1):
        deck = DEALS.deck("pairing", 4, number, GAMES[game].pack(3))
        decks.append(deck.cards)
        state = GAMES[game].start(
            seats=3, order=hole.order, deck=deck, turn_cap=GAMES[game].turn_cap
        )
        moves = iter(hole.moves.split(","))
        while wanted := state.to_act():
            for seat in wanted:
                state.apply(seat, next(moves))
        assert hole.scores == state.scores()
        assert next(moves, None) is None
    assert fingerprint(decks) == record.deck


def test_the_same_outcomes_give_the_same_digest():
    """Nothing but outcomes goes into a record."""
    one, two = (play(made(seats=4), rnd(3)) for _ in range(2))
    assert one.computed_digest() == two.computed_digest()
    assert one.computed_digest() != play(made(seats=4), rnd(4)).computed_digest()


def test_a_fault_with_two_seats_ends_the_match():
    """The forfeiter is last, the cut hole has no scores, the fault says where it fell."""
    referee = made()
    record = play(referee, rnd(1), at((0, 30), TIMEOUT))
    assert (2, 1) == record.places
    (fault,) = record.faults
    assert (FaultKind.TIMEOUT, 0, "x", "exit 1") == (
        fault.kind,
        fault.seat,
        fault.line,
        fault.status,
    )
    assert fault.turn in (30, 31, 32)
    assert fault.hole == len(record.holes)
    assert () == record.holes[-1].scores
    told = [(seat, note) for seat, note in referee.take_notices() if isinstance(note, MatchEnd)]
    assert [(1, MatchEnd(totals=record.totals, places=(2, 1)))] == told
    finished = record.holes[:-1]
    assert tuple(sum(h.scores[s] for h in finished) for s in (0, 1)) == record.totals


def test_an_illegal_move_is_a_fault_that_names_what_was_legal():
    """The offending move is kept, long ones capped."""
    record = play(made(), rnd(1), at((1, 1), "tee 7 7" + "x" * 500))
    (fault,) = record.faults
    assert FaultKind.ILLEGAL is fault.kind
    assert fault.line.startswith("tee 7 7x")
    assert len(fault.line) <= 200
    assert fault.message.endswith(" is not in `legal`: tee 0 1, tee 0 2, tee 0 3, … (28 moves)")


class Onlooker:
    """Knows who fell."""

    def __init__(self):
        self.fell = []

    def moved(self, game, move):
        """Nothing to note."""

    def fallen(self, seat):
        self.fell.append(seat)


def test_a_fall_is_news_and_an_onlooker_hears_of_it():
    """Also where the others play on; a move alone is no news."""
    onlooker = Onlooker()
    referee = made(seats=3, onlooker=onlooker)
    referee.begin()
    referee.take_notices()
    for seat in referee.asked:
        referee.answer(seat, referee.question(seat, bank_ms=1).legal[0])
    assert not referee.news
    (seat,) = referee.asked
    referee.fail(seat, TIMEOUT)
    assert referee.news
    assert referee.asked
    assert [seat] == onlooker.fell


def test_an_illegal_move_in_a_turn_leaves_no_trace():
    """A move that the rules refuse is a fault, and not in the record."""
    record = play(made(), rnd(1), at((1, 20), "take 8"))
    (fault,) = record.faults
    assert FaultKind.ILLEGAL is fault.kind
    assert "take 8" == fault.line
    assert all("take 8" not in hole.moves for hole in record.holes)
    assert (1, 2) == record.places


def test_two_faults_in_one_tee_off_tie_for_last():
    """All answers to a simultaneous question are judged; neither fault spares the other."""
    both = lambda seat, question: TIMEOUT if question.turn.startswith("1-") else None
    record = play(made(), rnd(1), both)
    assert (1, 1) == record.places
    assert [0, 1] == [fault.seat for fault in record.faults]
    assert 1 == len({fault.turn for fault in record.faults})


def test_with_more_seats_the_others_finish_against_the_fallback():
    """The forfeiter's seat plays on unasked, draws and flips, and is placed last."""
    record = play(made(seats=3), rnd(2), at((1, 4), TIMEOUT))
    assert 9 == len(record.holes)
    assert 3 == record.places[1]
    assert all(hole.scores for hole in record.holes)
    # From hole 2 on the forfeiter tees off at 0 1 by the fallback.
    assert all("tee 0 1" in hole.moves for hole in record.holes[1:])


def test_the_later_forfeiter_is_placed_better_and_one_left_ends_the_match():
    """With one seat left there is nothing more to play for."""

    def fails(seat, question):
        return TIMEOUT if (seat, question.hole) in ((2, 2), (0, 5)) else None

    record = play(made(seats=3), rnd(5), fails)
    assert (2, 1, 3) == record.places
    assert 5 == len(record.holes)
    assert () == record.holes[-1].scores


def test_a_bot_that_never_started_forfeits_before_the_first_deal():
    """Turn 0, hole 0, nothing dealt."""
    referee = made()
    referee.begin([(1, Failure(kind=FaultKind.START, message="no ready"))])
    record = referee.record()
    assert () == referee.asked
    assert {1} == referee.failed
    assert () == record.holes
    assert (1, 2) == record.places
    assert (0, 0) == (record.faults[0].hole, record.faults[0].turn)
    assert fingerprint([]) == record.deck


def test_a_seat_that_never_started_is_played_on_at_a_bigger_table():
    """The others play nine holes, its tee-off is the fallback's."""
    referee = made(seats=3)
    referee.begin([(0, Failure(kind=FaultKind.START, message="no ready"))])
    while referee.asked:
        assert 0 not in referee.asked
        for seat in referee.asked:
            referee.answer(seat, referee.question(seat, bank_ms=1).legal[0])
    assert 9 == len(referee.record().holes)


def test_everybody_is_told_everything_once():
    """Match, nine hole ends, match end, for each seat; forfeiters hear nothing more."""
    referee = made(seats=3)
    heard = {seat: [] for seat in range(3)}
    referee.begin()
    draw = random.Random(0)
    while True:
        for seat, message in referee.take_notices():
            heard[seat].append(message)
        if not referee.asked:
            break
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=1)
            if seat == 2 and question.hole == 2:
                referee.fail(seat, TIMEOUT)
            else:
                referee.answer(seat, draw.choice(question.legal))
    for seat in (0, 1):
        kinds = [type(message) for message in heard[seat]]
        assert [MatchStart, *[HoleEnd] * 9, MatchEnd] == kinds
        assert seat == heard[seat][0].seat
    assert [MatchStart, HoleEnd] == [type(message) for message in heard[2]]
    assert heard[0][0].match == heard[1][0].match
    assert heard[0][0].seed != heard[1][0].seed


@pytest.mark.parametrize("game", sorted(GAMES))
def test_events_tell_each_completed_move_once(game):
    """The events of all messages to a seat, strung together, are the hole's moves but draws."""
    referee = made(game, 3)
    referee.begin()
    told = {seat: [] for seat in range(3)}
    draw = random.Random(9)
    while referee.asked:
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=1)
            told[seat] += [(question.hole, play.seat, play.move) for play in question.events]
            referee.answer(seat, draw.choice(question.legal))
        for seat, message in referee.take_notices():
            if isinstance(message, HoleEnd):
                told[seat] += [(message.hole, play.seat, play.move) for play in message.events]
    assert told[0] == told[1] == told[2]
    for number, hole in enumerate(referee.record().holes, 1):
        moves = [move for move in hole.moves.split(",") if move != "draw"]
        assert moves == [move for at_hole, _, move in told[0] if at_hole == number]


def playoff_match(game="four-card-golf", seats=3):
    """The first deal whose random match goes to a playoff, and its record."""
    for deal in range(2_000):
        record = play(made(game, seats, deal=deal, playoff=True), rnd(deal))
        if len(record.holes) > 9:
            return record
    raise AssertionError("no tie for first in 2,000 matches")


def test_a_tie_for_first_goes_to_sudden_death():
    """Only the tied play on, totals stay, one is left, and the deal skips the others."""
    record = playoff_match()
    best = min(record.totals)
    tied = {seat for seat in range(3) if record.totals[seat] == best}
    assert len(tied) >= 2
    assert tied == set(record.holes[9].order)
    for hole in record.holes[9:]:
        assert all(hole.scores[seat] == 0 for seat in range(3) if seat not in hole.order)
        assert tied.issuperset(hole.order)
    last = record.holes[-1]
    lowest = [s for s in last.order if last.scores[s] == min(last.scores[t] for t in last.order)]
    assert [seat for seat in range(3) if record.places[seat] == 1] == lowest
    assert 1 == len(lowest)
    before, after = record.holes[8].order[-1], record.holes[9].order[-1]
    steps = [(before + step) % 3 for step in range(1, 4)]
    assert after == next(seat for seat in steps if seat in tied)


def test_without_a_playoff_a_tie_is_shared():
    """Equal totals share a place."""
    with_playoff = playoff_match()
    deal = int(with_playoff.id.split("-")[1])
    record = play(made("four-card-golf", 3, deal=deal), rnd(deal))
    assert 9 == len(record.holes)
    assert record.places.count(1) >= 2


def test_a_playoff_ends_after_nine_holes_with_a_shared_win():
    """Two that play alike on every extra hole share the win after hole 18."""
    referee = made("four-card-golf", 2, playoff=True)
    # Both knock at once with equal cards: a game whose every hole is a tie.
    referee._game = Even()
    referee.begin()
    while referee.asked:
        for seat in referee.asked:
            referee.answer(seat, referee.question(seat, bank_ms=1).legal[0])
    record = referee.record()
    assert 18 == len(record.holes)
    assert (1, 1) == record.places


def test_a_fault_in_a_playoff_leaves_the_win_to_the_other():
    """With one contender left the match is decided; the forfeiter is last of all."""
    deal = int(playoff_match().id.split("-")[1])
    referee = made("four-card-golf", 3, deal=deal, playoff=True)
    fallen = []

    def fails(seat, question):
        if question.hole == 10 and (not fallen or seat in fallen):
            fallen.append(seat)
            return TIMEOUT
        return None

    record = play(referee, rnd(deal), fails)
    (fault,) = record.faults
    assert (fault.seat,) == record.forfeits
    assert 3 == record.places[fault.seat]
    assert 10 == fault.hole


class Even:
    """A game of one move a seat in which every hole is a tie."""

    name, min_seats, max_seats, turn_cap, view_type = "even", 2, 8, 1, dict

    def pack(self, seats):
        return tuple(range(10))

    def start(self, *, seats, order, deck, turn_cap):
        return EvenHole(seats, order)


class EvenHole:
    """One hole of it."""

    def __init__(self, seats, order):
        self.seats, self.left = seats, list(order)

    def to_act(self):
        return tuple(self.left[:1])

    def legal(self, seat):
        return ("pass",)

    def apply(self, seat, move):
        self.left.remove(seat)

    def view(self, seat):
        return {}

    def events(self, seat, start):
        return ()

    def scores(self):
        return (1,) * self.seats

    def grids(self):
        return ((1,),) * self.seats


def test_hello_states_what_is_in_force():
    """Rules and limits come from the settings."""
    message = hello(Settings(game="play-nine", seats=3, playoff=True, series=7))
    assert (3, 9, True, 7, 1000) == (
        message.rules.seats,
        message.rules.holes,
        message.rules.playoff,
        message.limits.series,
        message.limits.move_ms,
    )


@pytest.mark.parametrize("game", GAMES)
def test_between_its_questions_a_seat_can_be_shown_what_the_next_one_tells(game):
    """The view that it is going to be asked by, and the plays of the hole that it may see."""
    referee = made(game, 3)
    sights, known = [], []

    def look(seat, question):
        if seat != 0:
            return
        number, view, plays = referee.sight(0)
        if question.hole != (known[0] if known else 0):
            known[:] = [question.hole]
        known.extend(question.events)
        assert (question.hole, question.view) == (number, view)
        assert known[1:] == list(plays)
        sights.append(number)

    play(referee, rnd(5), look)
    assert set(range(1, 10)) == set(sights)
