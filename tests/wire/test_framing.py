"""Framing: bytes in, lines out, whatever the split."""

from hypothesis import given
from hypothesis import strategies as st

from arena.wire.session import BotSession

LIMIT = 40


def lines_of(chunks):
    """Every line that a framer gives for these chunks, and whether one is too long."""
    framer = BotSession(LIMIT)
    found = []
    for chunk in chunks:
        framer.receive(chunk)
        while isinstance(line := framer.next_line(), bytes):
            found.append(line)
        if framer.full:
            break
    return found, framer.full


@given(st.lists(st.binary(max_size=30) | st.just(b"\n"), max_size=20))
def test_any_split_gives_the_same_lines(chunks):
    """Whole, in chunks or byte by byte, the same bytes are the same lines."""
    whole = b"".join(chunks)
    expected = lines_of([whole])
    assert expected == lines_of(chunks)
    assert expected == lines_of([bytes([byte]) for byte in whole])


def test_lines_end_at_newlines_and_lose_their_carriage_return():
    """CRLF is as good as LF."""
    assert ([b"a", b"b", b""], False) == lines_of([b"a\r\nb\n\nrest"])


def test_a_line_of_exactly_the_limit_passes_and_one_more_does_not():
    """The limit counts the line without its newline."""
    assert ([b"x" * LIMIT], False) == lines_of([b"x" * LIMIT + b"\n"])
    assert ([], True) == lines_of([b"x" * (LIMIT + 1) + b"\n"])
    assert ([], True) == lines_of([b"x" * (LIMIT + 1)])


def test_full_says_when_to_leave_the_rest_in_the_pipe():
    """A framer holds no more than a line and what came with one read."""
    framer = BotSession(LIMIT)
    assert not framer.receive(b"x" * LIMIT)
    assert not framer.full
    assert framer.receive(b"x")
    assert framer.full


def test_a_line_in_pieces_is_whole_and_so_is_the_next():
    """What was looked through of one line is not left out of another; a line may be empty."""
    framer = BotSession(LIMIT)
    framer.receive(b"\nabcdef")
    assert b"" == framer.next_line()
    assert framer.next_line() is None
    framer.receive(b"g\nh\n\ni")
    assert [b"abcdefg", b"h", b"", None] == [framer.next_line() for _ in range(4)]
