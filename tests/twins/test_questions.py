"""What a seat was asked, to be asked again."""

import pytest
from msgspec.structs import replace

from arena.deals import Deals, secret_from_seed
from arena.engine.in_process import play_match
from arena.model import FaultKind, MatchSpec, Settings, UntrueError
from arena.referee import Failure, Referee
from arena.registry import game
from arena.replay.rebuild import rebuild_lines
from arena.replay.transcripts import sent_line
from arena.twins.questions import course_of
from arena.wire.messages import Act, MatchStart
from arena.wire.session import encode

DEALS = Deals(secret_from_seed("questions"))


def lowest(view, legal):
    return legal[0]


def highest(view, legal):
    return legal[-1]


def played(name):
    """A match, and what its questions are found with."""
    rules = game(name)
    bots = {"low@1": lowest, "high@1": highest}
    record = play_match(rules, bots, deals=DEALS, turn_cap=4)
    settings = Settings(game=name, seats=2, turn_cap=4)
    return record, {"game": rules, "deals": DEALS, "settings": settings}


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("name", ["play-nine", "four-card-golf"])
def test_a_seat_is_sent_what_it_was_sent_in_the_match(name, lean):
    """To the byte, also to a bot that asks for `next`."""
    record, rules = played(name)
    for seat, bot in enumerate(record.seats):
        course = course_of(record, seat, **rules)
        sent = [sent_line(encode(line)) for line in (course.lean() if lean else course.lines)]
        lines = rebuild_lines([record], bot, lean=lean, **rules)
        due = [line for line in lines if line.startswith("> ")]
        assert due[1:-1] == sent  # hello and bye are the process's


@pytest.mark.parametrize("name", ["play-nine", "four-card-golf"])
def test_each_question_has_its_place_and_the_evaluators_opinion(name):
    """The move that was played is found at its hole and number; one is without regret."""
    record, rules = played(name)
    course = course_of(record, 1, **rules)
    assert len(course.turns) == sum(isinstance(line, Act) for line in course.lines)
    for turn in course.turns:
        moves = record.holes[turn.hole - 1].moves.split(",")
        assert moves[turn.move - 1] == turn.played
        assert turn.played in turn.regrets
        assert min(turn.regrets.values()) == 0
        assert (turn.match, turn.bot) == (record.id, record.seats[1])
    assert any(any(turn.regrets.values()) for turn in course.turns)


def test_without_an_evaluator_there_is_no_opinion():
    """Every move is as good."""
    record, rules = played("four-card-golf")
    plain = game("four-card-golf")
    about = replace(plain.about, judge="")
    silent = type(plain)(**{**vars(plain), "about": about})
    course = course_of(record, 0, **{**rules, "game": silent})
    assert {0.0} == {regret for turn in course.turns for regret in turn.regrets.values()}


def test_another_seed_changes_nothing_else():
    """Only the line that has it."""
    record, rules = played("play-nine")
    course = course_of(record, 0, **rules)
    again = course.reseeded()
    differing = [(a, b) for a, b in zip(course.lines, again.lines, strict=True) if a != b]
    [(one, two)] = differing
    assert isinstance(one, MatchStart)
    assert two == replace(one, seed=two.seed)
    assert 0 <= two.seed < 1 << 31
    assert course.turns == again.turns


def test_of_a_seat_that_failed_nothing_after_it_is_asked():
    """Its fault is no decision."""
    settings = Settings(game="play-nine", seats=2, turn_cap=4)
    rules = {"game": game("play-nine"), "deals": DEALS, "settings": settings}
    seats = ("low@1", "high@1")
    spec = MatchSpec(id="m", series="s", pairing="p", deal=0, rotation=0, seats=seats)
    referee = Referee(spec, **rules)
    referee.begin()
    answered = [0, 0]
    for _ in range(6):
        for seat in referee.asked:
            referee.answer(seat, referee.legal(seat)[0])
            answered[seat] += 1
    [seat] = referee.asked
    referee.fail(seat, Failure(kind=FaultKind.CRASH, message=""))
    record = referee.record()
    record = replace(record, digest=record.computed_digest())
    course = course_of(record, seat, **rules)
    assert answered[seat] == len(course.turns) == len(course.lines) - 1
    with pytest.raises(UntrueError):
        course_of(replace(record, digest="0" * 64), seat, **rules)
