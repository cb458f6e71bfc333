"""Diagnose a line that a bot wrote: which mistake makes it wrong, what it was meant to be. Pure."""

import ast
import difflib
import functools
import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from arena.check.mistakes import Diagnosis, Expected, Facts, Mistake
from arena.tables import table
from arena.wire.session import MAX_BRACKETS

NO_JSON: Any = object()


@functools.cache
def pattern(name: str, form: str = "{}") -> re.Pattern[str]:
    """What runtimes write, by runtimes.toml."""
    return re.compile(form.format("|".join(table("check/runtimes")[name])), re.MULTILINE)


def decode(data: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Decode with the decoder of an event; `NO_JSON` if it fails."""
    if _brackets(data) > MAX_BRACKETS:
        return NO_JSON
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return NO_JSON


def _brackets(line: bytes) -> int:
    return line.count(b"[") + line.count(b"{")


def diagnose_line(facts: Facts, line: bytes) -> Diagnosis:
    value = decode(line)
    if _brackets(line) > MAX_BRACKETS:
        return Diagnosis(Mistake.NESTED)
    echoed = line.strip() in (sent.strip() for sent in facts.sent.split(b"\n"))
    if value is not NO_JSON and line and echoed:
        return Diagnosis(Mistake.ECHO)
    if isinstance(value, dict):
        return _wrong_object(facts, value)
    if value is NO_JSON:
        other = Mistake.BANNER if facts.expected is Expected.READY else Mistake.PRINT
        return Diagnosis(recognise(line, facts) or other)
    bare = facts.legal and value in facts.legal
    return Diagnosis(Mistake.BARE_MOVE if bare else Mistake.NOT_AN_OBJECT)


def recognise(line: bytes, facts: Facts | None = None) -> Mistake | None:  # noqa: PLR0911 - one after another
    """Name the mistake in a line that is not JSON; without facts, in a line without its newline."""
    if mistake := _other_encoding(line):
        return mistake
    text = line.decode().strip()
    if not text:
        return Mistake.EMPTY_LINE if facts else None
    if facts and text in facts.legal:
        return Mistake.BARE_MOVE
    more = facts.more if facts else ()
    if text[0] in "{[" and (
        _over_several_lines(text, more) or "\n" in text or (text in {"{", "["} and not more)
    ):
        return Mistake.PRETTY_PRINTED
    if _with_constants(text):
        return Mistake.NOT_A_NUMBER
    if mistake := _printed(text):
        return mistake
    if _begins_with_object(text):
        return Mistake.TWO_ON_A_LINE
    return Mistake.BROKEN_JSON if text[0] == "{" and '"' in text else None


def _other_encoding(line: bytes) -> Mistake | None:
    if line.startswith((b"\xff\xfe", b"\xfe\xff")) or line.count(b"\0") > len(line) // 3:
        return Mistake.UTF_16
    if line.startswith(b"\xef\xbb\xbf"):
        return Mistake.BYTE_ORDER_MARK
    try:
        line.decode()
    except UnicodeDecodeError:
        return Mistake.NOT_UTF_8
    return None


def _over_several_lines(text: str, more: Sequence[bytes]) -> bool:
    """Whether a line and those after it are one JSON value."""
    for line in more:
        text += "\n" + line.decode("utf-8", "replace")
        if decode(text.encode()) is not NO_JSON:
            return True
    return False


def _with_constants(text: str) -> bool:
    """Whether it is JSON but for NaN and Infinity, which many encoders write."""
    if text.count("{") + text.count("[") > MAX_BRACKETS:
        return False
    constants: list[str] = []
    try:
        json.loads(pattern("constant").sub("NaN", text), parse_constant=constants.append)
    except ValueError:
        return False
    return bool(constants)


def _printed(text: str) -> Mistake | None:
    if pattern("printed_object").fullmatch(text):
        return Mistake.NOT_ENCODED
    # Longer than any answer; Python's own parser is slow on deep nesting.
    if text[0] not in "{b'" or len(text) > 2_000:
        return None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(value, str) and decode(value.encode("utf-8", "replace")) is not NO_JSON:
        return Mistake.NOT_ENCODED
    if isinstance(value, dict) and "'" in text:
        return Mistake.SINGLE_QUOTES
    return Mistake.BYTES if isinstance(value, bytes) else None


def _begins_with_object(text: str) -> bool:
    if not text.startswith("{") or text.count("{") + text.count("[") > MAX_BRACKETS:
        return False
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return False
    return end < len(text)


def _wrong_object(facts: Facts, answer: dict[str, Any]) -> Diagnosis:  # noqa: PLR0911 - one after another
    if facts.expected is Expected.READY:
        if "move" in answer or "turn" in answer:
            return Diagnosis(Mistake.NOT_READY, "It answers as if it had been asked for a move.")
        given = json.dumps(answer.get("type"))
        return Diagnosis(Mistake.NOT_READY, f'`type` is {given}, not "ready".')
    turn, move = answer.get("turn"), answer.get("move")
    if facts.expected is Expected.NOTHING:
        if turn is not None and turn == (facts.earlier[-1] if facts.earlier else None):
            return Diagnosis(Mistake.TWO_ANSWERS)
        return Diagnosis(Mistake.UNASKED, f"It came after `{facts.after}`.")
    more = [value for line in facts.more if isinstance(value := decode(line), dict)]
    answered = any(value.get("turn") == facts.turn for value in more)
    if answered and facts.earlier and turn == facts.earlier[-1]:
        return Diagnosis(Mistake.TWO_ANSWERS, "This is an answer to the question before.")
    if answer.get("type") == "ready":
        return Diagnosis(Mistake.UNASKED, "It says `ready` a second time.")
    if answered and turn != facts.turn:
        return Diagnosis(Mistake.UNASKED, f"It came after `{facts.after}`.")
    return _wrong_turn(facts, answer) or _wrong_move(facts, answer, move)


def _wrong_turn(facts: Facts, answer: dict[str, Any]) -> Diagnosis | None:
    turn = answer.get("turn")
    if turn == facts.turn:
        return None
    if turn is None and "turn" not in answer:
        return Diagnosis(Mistake.TURN_MISSING, _similar_field("turn", answer))
    if not isinstance(turn, str):
        return Diagnosis(
            Mistake.TURN_TYPE, f'It is {json.dumps(turn)[:40]}, the question has "{facts.turn}".'
        )
    detail = f'It is "{turn[:40]}", the question has "{facts.turn}".'
    if turn and (turn in facts.turn or turn == facts.turn.partition("-")[0]):
        return Diagnosis(Mistake.TURN_CUT, detail)
    return Diagnosis(Mistake.TURN_OLD if turn in facts.earlier else Mistake.TURN_WRONG, detail)


def _wrong_move(facts: Facts, answer: dict[str, Any], move: object) -> Diagnosis:
    if "move" not in answer:
        return Diagnosis(Mistake.MOVE_MISSING, _similar_field("move", answer))
    if isinstance(move, int) and not isinstance(move, bool):
        known = 0 <= move < len(facts.legal)
        legal = f'; legal[{move}] is "{facts.legal[move]}"' if known else ""
        return Diagnosis(Mistake.MOVE_INDEX, f"It is {move}{legal}.")
    if not isinstance(move, str):
        return Diagnosis(Mistake.MOVE_TYPE, f"It is {json.dumps(move)[:60]}.")
    return Diagnosis(Mistake.ILLEGAL, _nearest(move, facts.legal))


def _similar_field(field: str, answer: dict[str, Any]) -> str:
    near = difflib.get_close_matches(field, [str(key) for key in answer], n=1, cutoff=0.5)
    others = [key for key in answer if str(key).lower() in ("action", "id", "play", "choice")]
    meant = near or others
    return f"Is `{str(meant[0])[:40]}` meant to be it?" if meant else ""


def _nearest(move: str, legal: Sequence[str]) -> str:
    simple = move.strip().lower()
    near = [each for each in legal if each == simple]
    near = near or difflib.get_close_matches(simple, legal, n=1, cutoff=0.3)
    some = ", ".join(f'"{each}"' for each in legal[:4]) + (", …" if len(legal) > 4 else "")
    hint = f' The nearest is "{near[0]}".' if near else ""
    return f'It is "{move[:40]}"; legal were {some}.{hint}'
