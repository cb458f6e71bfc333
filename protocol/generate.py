"""Writes everything in this folder that follows from the code: schemas, vectors, transcripts.

    python protocol/generate.py            write what has changed
    python protocol/generate.py --check    say what would change, exit 1 if anything would

The tests run the check, so that page and program can't drift apart.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from arena.cli.options import Duration
from arena.cli.run import run
from arena.deals import Deals, commitment, fingerprint, secret_from_seed, shuffled
from arena.games import Game
from arena.games.four_card_golf import GAME as FOUR_CARD_GOLF
from arena.games.play_nine import GAME as PLAY_NINE
from arena.model import Entrant, Event, MatchRecord, MatchSpec, Settings
from arena.referee import Failure, Referee, hello
from arena.wire.messages import (
    Act,
    Answer,
    Bye,
    Hello,
    HoleEnd,
    MatchEnd,
    MatchStart,
    Next,
    Ready,
)
from arena.wire.session import BotSession, WireFault

HERE = Path(__file__).parent
GAMES: tuple[Game, ...] = (PLAY_NINE, FOUR_CARD_GOLF)
SECRET = secret_from_seed("protocol")


def pretty(value: Any) -> str:
    """JSON for people."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


# ----------------------------------------------------------------------------------- schemas


def schemas() -> Iterator[tuple[str, str]]:
    """(file name, text) of each JSON Schema."""
    types: dict[str, Any] = {
        "hello": Hello,
        "ready": Ready,
        "match": MatchStart,
        "next": Next,
        "answer": Answer,
        "hole_end": HoleEnd,
        "match_end": MatchEnd,
        "bye": Bye,
        "match-record": MatchRecord,
        "event": Event,
    }
    for game in GAMES:
        fields = [
            (field.name, game.view_type if field.name == "view" else field.type)
            for field in msgspec.structs.fields(Act)
        ]
        types[f"act.{game.name}"] = msgspec.defstruct(
            "Act", fields, frozen=True, tag_field="type", tag="act"
        )
    for name, kind in types.items():
        schema = msgspec.json.schema(kind)
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        yield f"schema/{name}.json", pretty(schema)


def event_file() -> Iterator[tuple[str, str]]:
    """The schema of an event file, from the flags of `arena run`."""
    properties: dict[str, Any] = {
        "bots": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "description": "Paths of the bots, relative to this file; * and ? match.",
        }
    }
    for option in run.params:
        if isinstance(option, click.Option) and option.opts[0] not in ("--event", "--help"):
            key = next(name for name in option.opts if name.startswith("--")).removeprefix("--")
            properties[key] = {**kind_of(option), "description": option.help or ""}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An event of arena: arena run --event FILE",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }
    yield "schema/event-file.json", pretty(schema)


def kind_of(option: click.Option) -> dict[str, Any]:
    """What a flag takes, as a schema."""
    kind = option.type
    if option.is_flag:
        return {"type": "boolean"}
    if isinstance(kind, Duration):
        return {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*(ms|s|m|h)\s*$"}
    if isinstance(kind, click.Choice):
        return {"enum": list(kind.choices)}
    if isinstance(kind, click.IntRange):
        bounds = {"minimum": kind.min, "maximum": kind.max}
        return {"type": "integer"} | {k: v for k, v in bounds.items() if v is not None}
    return {"type": "string"}


# ----------------------------------------------------------------------------------- vectors


def vectors() -> Iterator[tuple[str, str]]:
    """Test vectors for DEALS.md."""
    deals = Deals(SECRET)
    pairing, match = "0123456789ab", "0123456789ab-000003-1"
    entrants = ("ada@1", "bob@2", "cy@3")
    decks = []
    for game, seats in ((PLAY_NINE, 2), (FOUR_CARD_GOLF, 2), (FOUR_CARD_GOLF, 5)):
        for hole in (1, 2):
            deck = deals.deck(pairing, 3, hole, game.pack(seats))
            rest = sorted(deck.cards[:20])
            decks.append(
                {
                    "game": game.name,
                    "seats": seats,
                    "pairing": pairing,
                    "deal": 3,
                    "hole": hole,
                    "cards": list(deck.cards),
                    "reshuffle": {"number": 1, "of": rest, "cards": list(deck.reshuffle(1, rest))},
                }
            )
    settings = Settings(game="play-nine", seats=3)
    contestants = [
        Entrant(id=entrant, name=entrant, version="1", hash=f"{i:064x}")
        for i, entrant in enumerate(entrants)
    ]
    turn_ids = deals.turn_ids(match)
    yield (
        "vectors/deals.json",
        pretty(
            {
                "seed": "protocol",
                "secret": SECRET.hex(),
                "shuffled": {"key": "00", "items": 10, "order": shuffled(b"\0", range(10))},
                "decks": decks,
                "fingerprint": fingerprint([d["cards"] for d in decks[:2]]),
                "circle": {
                    "pairing": pairing,
                    "deal": 3,
                    "entrants": entrants,
                    "order": deals.circle(pairing, 3, entrants),
                },
                "rotations": {
                    "pairing": pairing,
                    "deal": 3,
                    "seats": 3,
                    "order": deals.rotations(pairing, 3, 3),
                },
                "match": match,
                "seeds": [deals.seed(match, seat) for seat in range(3)],
                "name": deals.opaque(match),
                "turn_ids": [turn_ids(n) for n in (1, 2, 3, 300)],
                "commitment": {
                    "settings": json.loads(msgspec.json.encode(settings)),
                    "entrants": [[e.id, e.hash] for e in contestants],
                    "value": commitment(SECRET, settings, contestants),
                },
            }
        ),
    )


# ------------------------------------------------------------------------------- transcripts

Policy = Callable[[Any], bytes | None]

MATCH = "0123456789ab-000000-0"


def transcript(game: Game, seats: int, answer: Policy, *, ready: bytes, about: str) -> str:
    """A match as seat 0 sees it. The others play the first legal move.

    `answer` gives seat 0's line, or None to stop answering.
    """
    settings = Settings(game=game.name, seats=seats, turn_cap=game.turn_cap)
    spec = MatchSpec(
        id=MATCH,
        series="0123456789ab-000000-s0",
        pairing="0123456789ab",
        deal=0,
        rotation=0,
        seats=tuple(f"bot{seat}@1" for seat in range(seats)),
    )
    referee = Referee(spec, game=game, deals=Deals(SECRET), settings=settings)
    session = BotSession(settings.limits.line_bytes)
    lines = [f"# {about}"]

    def to_bot(data: bytes) -> None:
        lines.append("> " + data.decode().rstrip("\n"))

    def from_bot(data: bytes) -> Ready | Answer | WireFault:
        session.receive(data)
        lines.extend("< " + line for line in data.decode().splitlines())
        event = session.next_event()
        assert isinstance(event, Ready | Answer | WireFault)
        return event

    to_bot(session.hello(hello(settings)))
    event = from_bot(ready)
    if isinstance(event, WireFault):
        lines.append(f"! {event.kind.value}")
        return "\n".join(lines) + "\n"
    referee.begin()
    while True:
        for seat, notice in referee.take_notices():
            if seat == 0 and 0 not in referee.failed:
                to_bot(session.send(notice))
        if not referee.asked:
            break
        for seat in referee.asked:
            lean = seat == 0 and session.lean
            question = referee.question(seat, bank_ms=60_000, lean=lean)
            if seat != 0:
                assert isinstance(question, Act)
                referee.answer(seat, question.legal[0])
                continue
            to_bot(session.ask(question))
            data = answer(question)
            assert data is not None
            event = from_bot(data)
            if isinstance(event, WireFault):
                referee.fail(seat, Failure(kind=event.kind, message=event.message))
            elif isinstance(event, Answer):
                referee.answer(seat, event.move)
        if 0 in referee.failed:
            lines.append(f"! {referee.record().faults[0].kind.value}")
            return "\n".join(lines) + "\n"
    to_bot(session.send(Bye()))
    return "\n".join(lines) + "\n"


def good(seed: int) -> Policy:
    """A uniformly random, legal answer."""
    draw = random.Random(seed)

    def answer(question: Act) -> bytes:
        move = draw.choice(question.legal)
        return msgspec.json.encode({"turn": question.turn, "move": move}) + b"\n"

    return answer


def lean(seed: int) -> Policy:
    """Moves that are always legal, for a bot that isn't told which are."""
    draw = random.Random(seed)

    def answer(question: Act | Next) -> bytes:
        if isinstance(question, Act):
            move = draw.choice(question.legal)
        elif question.drawn is None:
            move = draw.choice(["draw", "take 0", "take 1", "take 2", "take 3"])
        else:
            move = f"swap {draw.randrange(4)}"
        return msgspec.json.encode({"turn": question.turn, "move": move}) + b"\n"

    return answer


def bad(line: Callable[[Act], bytes]) -> Policy:
    """Good, until the fourth question."""
    fine = good(1)
    asked = 0

    def answer(question: Act) -> bytes | None:
        nonlocal asked
        asked += 1
        return line(question) if asked == 4 else fine(question)

    return answer


def transcripts() -> Iterator[tuple[str, str]]:
    """(file name, text) of each golden transcript."""
    ready = b'{"type":"ready"}\n'
    for game in GAMES:
        for seats in (2, game.max_seats):
            about = f"A whole match of {game.name} with {seats} players, as seat 0 sees it."
            text = transcript(game, seats, good(seats), ready=ready, about=about)
            yield f"transcripts/{game.name}.{seats}.good.txt", text
        about = f"A whole match of {game.name} with 2 players, as a lean seat 0 sees it."
        text = transcript(game, 2, lean(2), ready=b'{"type":"ready","lean":true}\n', about=about)
        yield f"transcripts/{game.name}.2.lean.txt", text
        faults: dict[str, Callable[[Act], bytes]] = {
            "illegal": lambda q: b'{"turn":"%s","move":"fly 1"}\n' % q.turn.encode(),
            "stale": lambda q: b'{"turn":"0-0000","move":"%s"}\n' % q.legal[0].encode(),
            "no-json": lambda _: b"take 3\n",
            "no-move": lambda q: b'{"turn":"%s"}\n' % q.turn.encode(),
            "wrong-type": lambda q: b'{"turn":"%s","move":3}\n' % q.turn.encode(),
            "nested": lambda q: (
                b'{"turn":"%s","move":"draw","x":%s}\n' % (q.turn.encode(), b"[" * 65 + b"]" * 65)
            ),
            "two-answers": _two_answers(),
        }
        for name, line in faults.items():
            about = f"{game.name}: the fourth answer is a fault ({name})."
            text = transcript(game, 2, bad(line), ready=ready, about=about)
            yield f"transcripts/{game.name}.bad.{name}.txt", text
    for name, line in (("banner", b"My bot 1.0\n"), ("wrong-type", b'{"type":"hello"}\n')):
        about = f"The first line is not ready ({name})."
        text = transcript(PLAY_NINE, 2, good(1), ready=line, about=about)
        yield f"transcripts/start.bad.{name}.txt", text


def _two_answers() -> Callable[[Act], bytes]:
    """Two lines to one question: the second is taken for the next one's answer."""

    def line(question: Act) -> bytes:
        one = b'{"turn":"%s","move":"%s"}\n' % (question.turn.encode(), question.legal[-1].encode())
        return one + one

    return line


def files() -> dict[str, str]:
    """Everything that is generated: path below this folder -> text."""
    return dict([*schemas(), *event_file(), *vectors(), *transcripts()])


def main() -> int:
    """Write, or check."""
    changed = []
    for name, text in files().items():
        path = HERE / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            changed.append(name)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for name in changed:
        print(("differs: " if "--check" in sys.argv else "wrote: ") + name)
    return int(bool(changed) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
