"""What a seat lost by its decisions: by what it knew, and by nothing else."""

import random

import msgspec
import pytest

from arena.deals import Deals, secret_from_seed
from arena.games.observer import ObservedGame
from arena.luck import sums
from arena.model import Entrant, Event, FaultKind, MatchSpec, Settings, UntrueError, UserError
from arena.referee import Failure, Referee
from arena.registry import GAMES, game
from arena.regret import (
    MistakeKind,
    Phase,
    decisions,
    judge_name,
    mistake_of,
    with_regret,
    worths_of,
)
from arena.regret.summary import DEAREST, RegretSummary, report
from arena.replay.steps import unfold

SECRET = secret_from_seed("regret")
DEALS = Deals(SECRET)
PINNED = {
    "play-nine": "play-nine/1-d32dc1bb74a1",
    "four-card-golf": "four-card-golf/1-5b3b775d2c5b",
}
"""A changed evaluator, or another use of it, gets a new version; then the figures of
docs/design/regret.md are measured anew."""


def sensible(game_name):
    """The judge's own best move, four times in five; else any."""
    worths = worths_of(game(game_name))

    def choose(lot, view, plays, legal):
        found = worths(view, plays, legal)
        return legal[found.index(min(found))] if lot.random() < 0.8 else lot.choice(legal)

    return choose


def lots(lot, view, plays, legal):
    return lot.choice(legal)


def played(name, seats=2, *, deal=0, rotation=0, fails=None, choose=lots, **settings):
    """A match, and what its decisions are found with. `fails`: (question, seat), which fails at its
    first question from that one on; None: no seat does.
    """
    lot = random.Random(f"{name}/{seats}/{deal}/{rotation}")
    rules = Settings(**{"game": name, "seats": seats, "turn_cap": game(name).turn_cap, **settings})
    bots = [f"bot-{(seat + rotation) % seats}" for seat in range(seats)]
    at = {"deal": deal, "rotation": rotation, "seats": tuple(bots)}
    spec = MatchSpec(id=f"p-{deal:06d}-{rotation}", series="s", pairing="p", **at)
    referee = Referee(spec, game=game(name), deals=DEALS, settings=rules)
    referee.begin()
    turn = 0
    while referee.asked:
        turn += 1
        for seat in referee.asked:
            if fails and turn >= fails[0] and seat == fails[1]:
                referee.fail(seat, Failure(kind=FaultKind.CRASH, message=""))
                continue
            _, view, plays = referee.sight(seat)
            referee.answer(seat, choose(lot, view, plays, referee.legal(seat)))
    record = referee.record()
    record = msgspec.structs.replace(record, digest=record.computed_digest())
    return record, {"game": game(name), "deals": DEALS, "settings": rules}


@pytest.mark.parametrize("name", list(GAMES))
def test_a_judge_is_named_by_version_and_digest_and_pinned(name):
    """The name says by which evaluator a regret was found."""
    assert judge_name(game(name)) == PINNED[name]


def test_a_game_without_a_judge_says_so():
    """Regret is optional in a game's descriptor."""
    plain = ObservedGame(game("play-nine"), lambda *_: None)
    plain.about = msgspec.structs.replace(game("play-nine").about, name="open-six", judge="")
    assert judge_name(plain) == ""
    with pytest.raises(UserError, match="open-six has no evaluator of moves"):
        worths_of(plain)


@pytest.mark.parametrize("name", list(GAMES))
@pytest.mark.parametrize("seats", [2, 5])
def test_every_decision_of_every_seat_has_a_regret_that_is_never_below_zero(name, seats):
    """As many decisions as there are moves; a mistake where there is regret, and a better move."""
    record, told = played(name, seats)
    found = decisions(record, **told)
    moves = [hole.moves.split(",") for hole in record.holes[:9]]
    assert [(each.hole, each.move) for each in found] == [
        (hole, move) for hole, some in enumerate(moves, 1) for move in range(1, len(some) + 1)
    ]
    for each in found:
        assert each.played == moves[each.hole - 1][each.move - 1]
        assert each.regret >= 0
        assert (each.best != each.played) == (each.regret > 0) == (each.mistake is not None)
        assert (each.phase is None) == (each.mistake is None)
    assert {each.seat for each in found} == set(range(seats))
    assert sum(each.regret for each in found) > 0


@pytest.mark.parametrize(
    ("name", "seats", "thousandths"),
    [
        ("play-nine", 2, 150_754_744),
        ("play-nine", 5, 584_053_207),
        ("four-card-golf", 2, 3_039_930),
        ("four-card-golf", 5, 13_096_459),
    ],
)
def test_a_version_of_a_judge_finds_the_same_regrets(name, seats, thousandths):
    """Of every decision, weighed by its number."""
    record, told = played(name, seats)
    found = decisions(record, **told)
    assert sum(number * each.regret for number, each in enumerate(found, 1)) == thousandths


@pytest.mark.parametrize("name", list(GAMES))
def test_the_best_moves_have_no_regret(name):
    """A player that follows the judge loses nothing by its opinion."""
    worths = worths_of(game(name))

    def best(lot, view, plays, legal):
        found = worths(view, plays, legal)
        return legal[found.index(min(found))]

    record, told = played(name, choose=best)
    assert {each.regret for each in decisions(record, **told)} == {0}


@pytest.mark.parametrize("name", list(GAMES))
@pytest.mark.parametrize("seats", [2, 3])
def test_a_regret_depends_on_nothing_that_the_seat_does_not_know(name, seats):
    """At every decision all cards that the seat doesn't see are exchanged: the same worths."""
    rules, lot = game(name), random.Random(7)
    pack = rules.pack(seats)
    worths, policy = worths_of(rules), sensible(name)

    class Deck:
        def __init__(self, cards):
            self.cards = cards

        def reshuffle(self, number, cards):
            return lot.sample(cards, len(cards))

    def start(cards):
        return rules.start(seats=seats, order=tuple(range(seats)), deck=Deck(cards), turn_cap=60)

    cards = lot.sample(pack, len(pack))
    hole, moves, compared = start(cards), [], 0
    while acting := hole.to_act():
        seat = acting[0]
        mine = (hole.view(seat), hole.events(seat, 0), hole.legal(seat))
        for _ in range(3 if compared < 4 or lot.random() < 0.1 else 0):
            # Another deal in which the same moves lead to what the seat sees now, found by lot.
            swapped = list(cards)
            one, two = lot.sample(range(len(pack)), 2)
            swapped[one], swapped[two] = swapped[two], swapped[one]
            other = start(swapped)
            for mover, move in moves:
                other.apply(mover, move)
            if (other.view(seat), other.events(seat, 0)) == mine[:2]:
                compared += cards != swapped
                assert worths(*mine) == worths(other.view(seat), other.events(seat, 0), mine[2])
        move = policy(lot, *mine)
        moves.append((seat, move))
        hole.apply(seat, move)
    assert compared > 3


@pytest.mark.parametrize("name", list(GAMES))
def test_reshuffled_stocks_are_counted(name):
    """Players that only draw get through the stock; the judge goes on with what is left."""
    rules, worths, judged = game(name), worths_of(game(name)), 0
    deck = DEALS.deck("p", 0, 1, rules.pack(3))
    hole = rules.start(seats=3, order=(0, 1, 2), deck=deck, turn_cap=60)
    while (acting := hole.to_act()) and judged < 20:
        seat, legal = acting[0], hole.legal(acting[0])
        view = hole.view(seat)
        if view.recycled:
            judged += 1
            assert len(worths(view, hole.events(seat, 0), legal)) == len(legal)
        shown = [f"swap {at}" for at, card in enumerate(view.grids[seat]) if card is not None]
        wanted = ("draw", "discard", *(shown if "discard" not in legal else ()))
        hole.apply(seat, next((move for move in wanted if move in legal), legal[0]))
    assert judged == 20


def test_what_a_failed_seat_did_not_decide_is_nobodys_regret():
    """The fallback plays for it; the hole in which a match ended is left out, as in its totals."""
    record, told = played("play-nine", 3, fails=(30, 1))
    found = decisions(record, **told)
    (fault,) = record.faults
    mine = [each for each in found if each.seat == 1]
    assert len(mine) < len([each for each in found if each.seat == 0]) / 2
    assert max(each.hole for each in mine) == fault.hole
    cut, told = played("play-nine", fails=(100, 0))
    finished = sum(bool(hole.scores) for hole in cut.holes)
    assert {each.hole for each in decisions(cut, **told)} == set(range(1, finished + 1))
    unstarted, told = played("play-nine", fails=(1, 0))
    assert decisions(unstarted, **told) == ()


def test_a_playoff_is_left_out():
    """It adds to nobody's total."""
    for deal in range(300):
        record, told = played("four-card-golf", 4, deal=deal, choose=lots, playoff=True)
        if len(record.holes) > 9:
            break
    assert max(each.hole for each in decisions(record, **told)) == 9


def test_a_record_whose_moves_are_others_is_refused():
    """An illegal move, or a legal one that leads elsewhere."""
    record, told = played("play-nine")
    first = record.holes[0]
    for moves in ("tee 0 9" + first.moves[7:], "tee 6 7" + first.moves[7:]):
        holes = (msgspec.structs.replace(first, moves=moves), *record.holes[1:])
        with pytest.raises(UntrueError, match="its moves, played again"):
            decisions(msgspec.structs.replace(record, holes=holes), **told)


class View:
    """As much of a view as tells mistakes apart."""

    def __init__(self, phase, *grid, ended_by=None):
        self.phase, self.seat, self.grids, self.ended_by = phase, 0, (grid,), ended_by


OPEN, LAST = (None, None, 3, 4, 5, 6, 7, 8), (1, 2, 3, 4, 5, 6, 7, None)


@pytest.mark.parametrize(
    ("view", "did", "best", "mistake"),
    [
        (View("tee", *OPEN), "tee 0 4", "tee 0 1", MistakeKind.TEE),
        (View("turn", *OPEN), "take 0", "draw", MistakeKind.TOOK),
        (View("turn", *OPEN), "draw", "take 0", MistakeKind.DREW),
        (View("turn", *OPEN), "take 1", "take 0", MistakeKind.MISPLACED),
        (View("drawn", *OPEN), "swap 1", "flip 0", MistakeKind.KEPT),
        (View("drawn", *OPEN), "flip 0", "swap 1", MistakeKind.DISCARDED),
        (View("drawn", *OPEN), "flip 0", "flip 1", MistakeKind.MISPLACED),
        (View("drawn", *OPEN), "swap 0", "swap 1", MistakeKind.MISPLACED),
        (View("turn", *LAST), "take 7", "draw", MistakeKind.EARLY),
        (View("turn", *LAST), "take 7", "take 1", MistakeKind.EARLY),
        (View("turn", *LAST), "take 1", "take 7", MistakeKind.LATE),
        (View("turn", *LAST), "draw", "take 7", MistakeKind.DREW),
        (View("turn", *LAST, ended_by=1), "draw", "take 7", MistakeKind.DREW),
        (View("drawn", *LAST), "flip 7", "skip", MistakeKind.EARLY),
        (View("drawn", *LAST), "skip", "swap 7", MistakeKind.LATE),
        (View("drawn", *LAST), "swap 1", "skip", MistakeKind.KEPT),
        (View("drawn", *LAST), "skip", "swap 1", MistakeKind.DISCARDED),
    ],
)
def test_mistakes_of_play_nine_are_told_apart(view, did, best, mistake):
    """By what was done and what was best; a move that ends the hole is about its end."""
    assert mistake_of(game("play-nine"), view, did, best) is mistake


@pytest.mark.parametrize(
    ("did", "best", "mistake"),
    [
        ("knock", "draw", MistakeKind.EARLY),
        ("draw", "knock", MistakeKind.LATE),
        ("take 1", "knock", MistakeKind.LATE),
        ("take 1", "draw", MistakeKind.TOOK),
    ],
)
def test_mistakes_of_four_card_golf_are_told_apart(did, best, mistake):
    """A seat that draws can't knock any more."""
    view = View("turn", 1, 2, 3, 4)
    assert mistake_of(game("four-card-golf"), view, did, best) is mistake


def test_steps_carry_the_regret_of_their_moves():
    """Beside each move that cost something what it cost, and the best one."""
    record, told = played("play-nine")
    settings = told["settings"]
    entrants = tuple(
        Entrant(id=bot, name=bot, version="", author="", hash=bot) for bot in record.seats
    )
    event = Event(settings=settings, entrants=entrants, commitment="c")
    found = decisions(record, **told)
    steps = unfold(record, event, game=told["game"], secret=SECRET)
    assert all(step.regret == 0 for hole in steps.holes for step in hole.steps)
    steps = with_regret(steps, found)
    for each in found:
        step = steps.holes[each.hole - 1].steps[each.move - 1]
        assert (step.seat, step.move, step.regret) == (each.seat, each.played, each.regret)
        assert step.best == (each.best if each.regret else "")


def test_a_report_adds_up_whatever_the_order_of_matches():
    """Strokes = luck + regret - others' + rest, in the mean over matches; phases and mistakes."""
    told = {}
    records = []
    for deal in range(2):
        for rotation in range(3):
            choose = sensible("play-nine") if rotation else lots
            record, told = played(
                "play-nine", 3, deal=deal, rotation=rotation, choose=choose, turn_cap=4
            )
            records.append(record)
    found = report(records, 20, **told)
    assert (found.judge, found.matches, found.of) == (PINNED["play-nine"], 6, 20)
    assert report(reversed(records), 20, **told) == found
    assert [each.regret for each in found.bots] == sorted(
        (each.regret for each in found.bots), reverse=True
    )
    for each in found.bots:
        assert each.matches == 6
        whole = each.luck + each.regret - each.others + each.rest
        assert whole == pytest.approx(each.strokes)
        assert sum(each.phases.values()) == pytest.approx(each.regret)
        assert sum(each.mistakes.values()) == pytest.approx(each.regret)
        assert list(each.phases) == list(Phase)
        assert each.times.keys() == each.mistakes.keys()
        assert each.rest_error > 0
        costs = [dear.regret for dear in each.dearest]
        assert len(costs) == DEAREST
        assert costs == sorted(costs, reverse=True)
    for field in ("strokes", "luck", "rest"):  # against the table: what one loses the others win
        assert sum(getattr(each, field) for each in found.bots) == pytest.approx(0)
    most = max(d.regret for record in records for d in decisions(record, **told))
    assert max(each.dearest[0].regret for each in found.bots) == most / 1000
    luck = msgspec.structs.replace(records[0], luck=sums(records[0], **told))
    assert report([luck], 1, **told) == report(records[:1], 1, **told)
    assert report([luck], 1, **told).bots[0].rest_error is None  # of one deal there is none


def test_without_luck_there_is_no_rest():
    """A game without a ledger: regret alone."""
    record, told = played("play-nine")
    summary = RegretSummary()
    summary.add(record, decisions(record, **told))
    for each in summary.bots():
        assert (each.luck, each.rest, each.rest_error) == (None, None, None)
        assert each.regret > 0
