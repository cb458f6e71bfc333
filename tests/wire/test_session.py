"""The bot session. Fuzz invariant: any bytes, any split, give an event or a bot's fault."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.model import FaultKind
from arena.wire.messages import (
    PROTOCOL,
    Act,
    Answer,
    BotLimits,
    Hello,
    MatchEnd,
    Next,
    Ready,
    Rules,
)
from arena.wire.session import MAX_BRACKETS, BotSession, Pending, SessionState, WireFault, shown

LIMIT = 200

HELLO = Hello(
    protocol=1,
    game="any",
    rules=Rules(seats=2, holes=9, turn_cap=60, playoff=False),
    limits=BotLimits(1, 1, 1, 1, 1, 1, LIMIT, 1, 1),
)


def act(turn="7-abcd"):
    """A question; the session looks at nothing but its turn."""
    return Act(
        turn=turn,
        hole=1,
        move_ms=1,
        bank_ms=1,
        totals=(0, 0),
        view=None,
        events=(),
        legal=("draw",),
    )


def asked(turn="7-abcd"):
    """A session that has asked."""
    session = BotSession(LIMIT)
    session.hello(HELLO)
    session.receive(b'{"type":"ready"}\n')
    assert session.next_event() == Ready()
    session.ask(act(turn))
    return session


def outcome(session, chunks):
    """The first event that these chunks make."""
    for chunk in chunks:
        if session.full:
            break
        if not chunk:  # an empty read would mean the end
            continue
        session.receive(chunk)
        event = session.next_event()
        if event is not Pending.NEED_DATA:
            return event
    return session.next_event()


garbage = st.binary(max_size=300) | st.lists(
    st.sampled_from(
        [b'{"turn":', b'"7-abcd"', b',"move":', b'"draw"', b"}", b"[", b"{", b"\n", b"\xff", b"1e9"]
    ),
    max_size=30,
).map(b"".join)


@given(
    garbage | st.sampled_from([b'{"turn":"7-abcd","move":"draw"}\n', b'{"turn":"8","move":""}\n']),
    st.sampled_from([b"", b"{", b'{"turn":"7-abcd","move":"draw"}\n']),
)
def test_the_short_way_says_the_same(data, before):
    """What `hear` makes of an output is what `receive` and `next_event` make of it, or nothing."""
    short, long = asked(), asked()
    for session in (short, long):
        session.receive(before)
    answer = short.hear(data)
    if answer is None:
        short.receive(data)
        answer = short.next_event()
    long.receive(data)
    assert answer == long.next_event()
    assert (short.state, short.held) == (long.state, long.held)


def test_a_bot_may_ask_for_less():
    """What it says when it is ready is known afterwards; nobody is lean unasked."""
    plain, lean = BotSession(LIMIT), BotSession(LIMIT)
    assert not plain.lean
    for session, line in (
        (plain, b'{"type":"ready"}\n'),
        (lean, b'{"type":"ready","lean":true}\n'),
    ):
        session.hello(HELLO)
        session.receive(line)
        session.next_event()
    assert not plain.lean
    assert lean.lean
    assert b'{"type":"next","turn":"3-xxxx","bank_ms":5,"events":[],"drawn":0}\n' == lean.ask(
        Next("3-xxxx", 5, (), 0)
    )


def test_the_first_line_is_hello():
    """With the rules and limits that are in force."""
    line = BotSession(LIMIT).hello(HELLO)
    assert line.startswith(b'{"type":"hello","protocol":1,"game":"any","rules":{"seats":2,')
    assert line.endswith(b"}\n")
    assert 1 == PROTOCOL


def test_two_hundred_characters_of_a_line_are_kept():
    """A longer one shows that it was longer."""
    assert "x" * 200 == shown(b"x" * 200)
    assert "x" * 200 + "…" == shown(b"x" * 201) == shown(b"x" * 5_000)


def test_an_ordinary_answer_takes_the_short_way():
    """A whole answer to the question is heard at once, and the session is ready for the next."""
    session = asked()
    assert session.hear(b'{"turn":"7-abcd","move":"draw"}\n') == Answer("7-abcd", "draw")
    assert session.state is SessionState.IDLE


@given(garbage, st.lists(st.integers(0, 300), max_size=5))
@example(b"[" * 150 + b"\n", [])
@example(b'{"turn":"7-abcd","move":"draw"}\r\n', [3])
@example(b'{"turn":"\\ud800","move":"x"}\n', [])
def test_any_bytes_in_any_split_give_an_event_or_a_fault(data, cuts):
    """Nothing else comes out, and the split makes no difference."""
    ends = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    chunks = [data[a:b] for a, b in itertools.pairwise(ends)]
    whole = outcome(asked(), [data])
    assert isinstance(whole, Answer | WireFault | Pending)
    assert whole == outcome(asked(), chunks)
    assert whole == outcome(asked(), [bytes([byte]) for byte in data])


@given(garbage)
def test_any_first_line_is_ready_or_a_start_fault(data):
    """What comes before `ready` is a fault of the start, or too long."""
    session = BotSession(LIMIT)
    session.hello(HELLO)
    event = outcome(session, [data])
    if isinstance(event, WireFault):
        assert event.kind in (FaultKind.START, FaultKind.FLOOD)
        assert session.state is SessionState.CLOSED
    else:
        assert event in (Ready(), Pending.NEED_DATA)


def test_an_answer_needs_turn_and_move_and_may_have_more():
    """Unknown fields are ignored, `type` among them."""
    session = asked()
    session.receive(b'{"type":"answer","turn":"7-abcd","why":[1,{"a":2}],"move":"draw"}\n')
    assert Answer("7-abcd", "draw") == session.next_event()
    assert session.state is SessionState.IDLE


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"turn":"6-zzzz","move":"draw"}', FaultKind.STALE),
        (b'{"turn":"7-abcd"}', FaultKind.MALFORMED),
        (b'{"turn":"7-abcd","move":3}', FaultKind.MALFORMED),
        (b"draw", FaultKind.MALFORMED),
        (b"", FaultKind.MALFORMED),
        (b'["7-abcd","draw"]', FaultKind.MALFORMED),
        (b'\xef\xbb\xbf{"turn":"7-abcd","move":"draw"}', FaultKind.MALFORMED),
        (b'{"turn":"7-abcd","move":"\xff"}', FaultKind.MALFORMED),
        (
            b'{"turn":"7-abcd","move":"draw","x":' + b"[" * 64 + b"]" * 64 + b"}",
            FaultKind.MALFORMED,
        ),
        (b"x" * (LIMIT + 1), FaultKind.FLOOD),
    ],
)
def test_a_bad_line_is_a_fault_by_name(line, kind):
    """Each way to be wrong has its kind, and the line is kept."""
    session = asked()
    session.receive(line + b"\n")
    event = session.next_event()
    assert isinstance(event, WireFault)
    assert kind is event.kind
    assert event.line[:10] == line.decode("utf-8", "backslashreplace")[:10]


def test_brackets_are_counted_anywhere_in_the_line():
    """The bound is simple: so many opening brackets, in strings too."""
    inside = b"[" * (MAX_BRACKETS - 1)
    for extra, fine in ((b"", True), (b"[", False)):
        session = asked()
        session.receive(b'{"turn":"7-abcd","move":"' + inside + extra + b'"}\n')
        assert fine is isinstance(session.next_event(), Answer)


def test_one_question_consumes_one_line_and_a_line_too_many_is_the_next_answer():
    """What is written unasked answers the next question, with a stale turn id."""
    session = asked("1-aaaa")
    session.receive(b'{"turn":"1-aaaa","move":"draw"}\n{"turn":"1-aaaa","move":"draw"}\n')
    assert Answer("1-aaaa", "draw") == session.next_event()
    assert session.next_event() is Pending.NEED_DATA
    session.ask(act("2-bbbb"))
    event = session.next_event()
    assert isinstance(event, WireFault)
    assert FaultKind.STALE is event.kind


def test_a_first_line_with_too_many_brackets_is_no_ready():
    """The bound holds for `ready` as well, to the very number."""
    events = []
    for many in (MAX_BRACKETS - 1, MAX_BRACKETS):
        session = BotSession(LIMIT)
        session.hello(HELLO)
        session.receive(b'{"type":"ready","x":' + b"[" * many + b"]" * many + b"}\n")
        events.append(session.next_event())
    assert Ready() == events[0]
    assert FaultKind.START is events[1].kind


@pytest.mark.parametrize(
    "line", [b"{}", b'{"status":"ready"}', b'{"type":"steady"}', b'{"type":null}', b'["ready"]']
)
def test_a_first_line_that_does_not_say_ready_is_a_fault(line):
    """Whatever else is JSON is no `ready`, also without any `type`."""
    session = BotSession(LIMIT)
    session.hello(HELLO)
    session.receive(line + b"\n")
    assert FaultKind.START is session.next_event().kind


def test_what_is_no_line_yet_can_be_shown():
    """For the message to a bot that forgot its newline."""
    session = asked()
    session.receive(b'{"turn":')
    assert session.next_event() is Pending.NEED_DATA
    assert b'{"turn":' == session.held


def test_a_closed_session_hears_nothing_more():
    """After its end, or a fault, lines mean nothing."""
    session = asked()
    session.close()
    session.receive(b'{"turn":"7-abcd","move":"draw"}\n')
    assert session.next_event() is Pending.NEED_DATA


def test_the_end_of_the_output_is_told_after_what_came_before_it():
    """A last answer still counts."""
    session = asked()
    session.receive(b'{"turn":"7-abcd","move":"draw"}\n')
    session.end()
    assert isinstance(session.next_event(), Answer)
    session.ask(act("8-abcd"))
    assert session.next_event() is Pending.END


def test_one_way_lines_are_single_lines_of_json():
    """Every message is one line that ends with a newline."""
    session = asked()
    line = session.send(MatchEnd(totals=(1, 2), places=(1, 2)))
    assert b'{"type":"match_end","totals":[1,2],"places":[1,2]}\n' == line
