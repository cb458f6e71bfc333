"""Transcripts: every byte comes back, every wrong line is named; and what a log tells of a bot."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena import registry
from arena.deals import Deals, secret_from_seed
from arena.games.observer import ObservedGame
from arena.model import Fault, FaultKind, MatchSpec, SeatUse, Settings, UserError
from arena.referee import Failure, Referee
from arena.replay.rebuild import rebuild_lines
from arena.replay.transcripts import (
    Mark,
    comment_line,
    failure_lines,
    parse_transcript,
    read_script,
    received_line,
    sent_line,
)
from arena.wire.messages import Act, Answer, Ready
from arena.wire.session import WireFault
from tests.records import match_record

GOLDEN = sorted((Path(__file__).parents[2] / "protocol" / "transcripts").glob("*.txt"))
HELLO = next(line for line in GOLDEN[0].read_text().splitlines() if line.startswith("> "))


@given(st.binary())
@example(b"\\n")
@example(b"a\r\n")
@example(b"\xff\xfe\n")
@example(b"\xe2\x80\xa8")
@example("\u00e9 \u202e\n".encode())
@example(b"\n\n")
def test_every_byte_of_a_bot_comes_back(data):
    """Whatever a bot writes is a line of text that is read as the same bytes."""
    text = received_line(data)
    assert text.isprintable()
    (entry,) = parse_transcript(text.encode(), "t")
    assert (Mark.BY_BOT, data) == (entry.mark, entry.data)


def test_what_is_written_as_it_is_and_what_is_escaped():
    """A whole printable line is itself; anything else shows what it is made of."""
    assert '< {"turn":"1","x":"\\u00e9 é"}' == received_line(
        '{"turn":"1","x":"\\u00e9 é"}\n'.encode()
    )
    assert "- half" == received_line(b"half")
    assert "<\\ a\\x0d\\n" == received_line(b"a\r\n")
    assert "<\\ \\xff\\\\\\x00" == received_line(b"\xff\\\0")
    assert "> {}" == sent_line(b"{}\n")
    assert [". signal SIGSEGV", "! crash"] == list(failure_lines(FaultKind.CRASH, "signal SIGSEGV"))
    assert ["! timeout"] == list(failure_lines(FaultKind.TIMEOUT, ""))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_golden_transcripts_are_read(path):
    """Each begins with hello; what came of each question is what the name says."""
    read = read_script(path.read_bytes(), path.name)
    good = ".bad." not in path.name
    assert good == (read.kind is None)
    wanting = [step for step in read.steps if step.wants_answer]
    assert isinstance(wanting[0].said, Ready) or read.kind is FaultKind.START
    last = wanting[-1].said
    if read.kind in (None, FaultKind.ILLEGAL):
        assert isinstance(last, Answer | Ready)
    elif read.kind in (FaultKind.MALFORMED, FaultKind.STALE, FaultKind.FLOOD):
        assert isinstance(last, WireFault)
        assert read.kind is last.kind
    else:  # nothing came, or nothing that could be one
        assert last is None or (FaultKind.START, FaultKind.START) == (read.kind, last.kind)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "not a transcript: no line to the bot"),
        ("# only a comment\n\n", "not a transcript: no line to the bot"),
        ("take 3\n", "line 1: no line of a transcript: 'take 3'"),
        ("<\\ a\\q\n", "line 1: column 5: after a backslash"),
        ('> {"type":"bye"}\n', "line 1: the first line to the bot must be hello"),
        ("> hello\n", "line 1: not a line of the referee's"),
        (f"{HELLO}\n{HELLO}\n", "line 2: a second hello"),
        (f"{HELLO}\n! tired\n", "line 2: 'tired' is no kind of fault: start, timeout"),
        (f"{HELLO}\n! start\n< x\n", "line 3: comes after the fault"),
        (f'{HELLO}\n< banner\n> {{"type":"bye"}}\n', "line 3: goes on after a line"),
    ],
)
def test_what_is_no_transcript_is_named(text, wrong):
    """File, line and what is wrong with it."""
    with pytest.raises(UserError) as caught:
        read_script(text.encode(), "t.txt")
    assert str(caught.value).startswith("t.txt: ")
    assert wrong in str(caught.value)


def test_an_editors_line_ends_and_an_empty_line_do_no_harm():
    """CRLF and blank lines are no part of what was said; `<` alone is an empty line."""
    read = read_script(f"{HELLO}\r\n\r\n<\r\n. exit 3\r\n! start\r\n".encode(), "t")
    assert isinstance(read.steps[0].said, WireFault)
    assert (FaultKind.START, "exit 3") == (read.kind, read.status)


def test_an_answer_that_is_not_known():
    """Nothing is expected of it, and the next question stands for itself."""
    path = next(path for path in GOLDEN if path.name == "play-nine.2.good.txt")
    act = next(x for x in path.read_text().splitlines() if x.startswith('> {"type":"act"'))
    read = read_script(f'{HELLO}\n< {{"type":"ready"}}\n{act}\n{act}\n'.encode(), "t")
    assert [None, None] == [step.said for step in read.steps[1:]]


# ------------------------------------------------------------------------------ from the log


def played(game, seats, faults, *, deal=1):
    """A record of a match in which everybody plays the first legal move, but for `faults`: kinds
    by (question, seat); question 0 is the start.
    """
    rules = registry.game(game)
    settings = Settings(game=game, seats=seats, turn_cap=5)
    spec = MatchSpec(
        id=f"p-{deal:06d}-0",
        series="s",
        pairing="p",
        deal=deal,
        rotation=0,
        seats=tuple(f"bot{seat}@1" for seat in range(seats)),
    )
    deals = Deals(secret_from_seed("transcripts"))
    followed = ObservedGame(rules)
    referee = Referee(spec, game=followed, deals=deals, settings=settings)

    def failure(kind):
        line = {"illegal": "fly 3", "malformed": "what?", "flood": "x" * 9}.get(kind, "")
        return Failure(kind=FaultKind(kind), message=kind, line=line)

    referee.begin([(s, failure(kind)) for (turn, s), kind in faults.items() if turn == 0])
    turn, told = 0, [[] for _ in range(seats)]
    while True:
        for seat, notice in referee.take_notices():
            told[seat].append(notice)
        if not referee.asked:
            break
        turn += 1
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=0)
            told[seat].append(question)
            if (turn, seat) in faults:
                referee.fail(seat, failure(faults[turn, seat]))
            else:
                referee.answer(seat, question.legal[0])
    record = referee.record()
    record = msgspec.structs.replace(record, digest=record.computed_digest())
    return record, settings, rules, deals, told


@pytest.mark.parametrize(
    ("game", "seats", "faults"),
    [
        ("play-nine", 2, {}),
        ("play-nine", 6, {}),
        ("four-card-golf", 8, {}),
        ("play-nine", 2, {(0, 1): "start"}),
        ("play-nine", 2, {(1, 0): "illegal"}),
        ("play-nine", 2, {(1, 1): "timeout", (1, 0): "crash"}),
        ("play-nine", 4, {(0, 2): "start", (1, 1): "malformed", (7, 3): "flood"}),
        ("play-nine", 3, {(1, 1): "malformed", (1, 2): "bank"}),
        ("four-card-golf", 5, {(8, 3): "memory", (0, 4): "start"}),
    ],
)
def test_the_log_tells_each_seat_what_it_was_told(game, seats, faults):
    """The same messages in the same order for every seat, up to its fault, which is named."""
    record, settings, rules, deals, told = played(game, seats, faults)
    for seat, entrant in enumerate(record.seats):
        text = "\n".join(
            rebuild_lines([record], entrant, settings=settings, game=rules, deals=deals, lean=False)
        )
        read = read_script(text.encode(), "t")
        mine = [(turn, kind) for (turn, who), kind in faults.items() if who == seat]
        assert ([kind for _, kind in mine] or [None])[0] == read.kind
        messages = [step.message for step in read.steps[1:]]
        if not mine:
            messages.pop()  # bye
        elif mine[0][0] == 0:
            assert [] == messages
            continue
        assert [kinds(m) for m in messages] == [kinds(m) for m in told[seat]][: len(messages)]
        assert sum(isinstance(m, Act) for m in messages) == sum(
            isinstance(m, Act) for m in told[seat]
        )


def kinds(message):
    """A message by what is told from others by."""
    return (type(message), getattr(message, "turn", None), getattr(message, "totals", None))


def test_the_time_left_is_interpolated():
    """Evenly over the match's decisions, never below nothing."""
    record, settings, rules, deals, _ = played("four-card-golf", 2, {})
    use = (SeatUse(decisions=2, think_ms=60_000.0), SeatUse())
    record = msgspec.structs.replace(record, use=use)
    lines = rebuild_lines(
        [record], "bot0@1", settings=settings, game=rules, deals=deals, lean=False
    )
    read = read_script("\n".join(lines).encode(), "t")
    banks = [step.message.bank_ms for step in read.steps if isinstance(step.message, Act)]
    assert [60_000, 30_000, 0, 0] == banks[:4]


def test_a_log_that_does_not_fit_the_secret_is_refused():
    """What is played again has another digest."""
    record, settings, rules, deals, _ = played("play-nine", 2, {})
    other = Deals(secret_from_seed("another"))
    with pytest.raises(UserError, match="give another digest"):
        list(
            rebuild_lines([record], "bot0@1", settings=settings, game=rules, deals=other, lean=True)
        )
    hole = msgspec.structs.replace(record.holes[0], moves="fly 3")
    record = msgspec.structs.replace(record, holes=(hole,))
    with pytest.raises(UserError, match="give another digest"):
        list(
            rebuild_lines([record], "bot0@1", settings=settings, game=rules, deals=deals, lean=True)
        )


def test_a_long_line_of_the_log_is_a_comment():
    """It was cut, so it is not what the bot wrote."""
    fault = Fault(
        kind=FaultKind.START, seat=0, hole=0, turn=0, message="no", line="x…", status="exit 1"
    )
    record = match_record(id="m", series="s", places=(2, 1), faults=(fault,))
    lines = list(
        rebuild_lines(
            [record],
            "a@1",
            settings=Settings(game="play-nine"),
            game=registry.game("play-nine"),
            deals=Deals(bytes(32)),
            lean=False,
        )
    )
    assert [comment_line("Its line began: x…"), ". exit 1", "! start"] == lines[2:]
