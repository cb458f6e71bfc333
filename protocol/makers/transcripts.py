"""The golden transcripts: whole matches of both games, and every way to go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from makers import policies
from makers.conversation import READY, Conversation, Policy, answer, first, says

from arena import registry
from arena.games import Game
from arena.model import Limits
from arena.wire.messages import Act

GAMES: tuple[Game, ...] = tuple(map(registry.game, registry.GAMES))

# Deals on which plain players tie: two of three, seat 0 among them.
PLAYOFFS = {"play-nine": 115, "four-card-golf": 5}
# Tables at which the stock runs out in a few turns.
CROWDED = {"play-nine": 6, "four-card-golf": 4}

LEAN = ('< {"type":"ready","lean":true}',)
TIGHT = Limits(line_bytes=256)
BRIEF = Limits(start_ms=2_000)
SMALL_BANK = Limits(match_ms=1_500)

Blunder = Callable[[Act], Sequence[str]]


def transcripts() -> Iterator[tuple[str, str]]:
    """(path below protocol/, text) of each golden transcript."""
    for game in GAMES:
        for name, text in (*good(game), *bad(game)):
            yield f"transcripts/{game.name}.{name}.txt", text
    for name, text in start():
        yield f"transcripts/start.bad.{name}.txt", text


def good(game: Game) -> Iterator[tuple[str, str]]:
    """Whole matches."""
    name, most = game.name, game.max_seats
    whole = f"A whole match of {name}"
    for seats in (2, most):
        about = f"{whole} with {seats} players, as seat 0 sees it."
        play = says(policies.by_lot(seats))
        yield f"{seats}.good", Conversation(game, about, play, seats=seats).text()
    about = f"{whole} with 2 players, as a lean seat 0 sees it."
    yield "2.lean", Conversation(game, about, says(policies.lean(2))).text(LEAN)

    def plainly(about: str, others: Any = policies.plain, **how: Any) -> str:
        mover = policies.plain if others is policies.failing else others
        return Conversation(game, about, says(mover), others=others, **how).text()

    about = f"A series of two matches of {name}, each with its own deal and seat."
    yield "2.series", plainly(about, deals=(0, 1))
    about = f"{whole} with 3 players of whom two tie: a playoff."
    yield "3.playoff", plainly(about, seats=3, deals=(PLAYOFFS[name],), playoff=True)
    about = f"{whole} in which the stock runs out on hole 1: a reshuffle."
    seats = CROWDED[name]
    yield f"{seats}.reshuffle", plainly(about, policies.stalling, seats=seats)
    about = f"{whole} with 3 players of whom seat 2 forfeits on hole 3: its fallback plays on."
    yield "3.forfeit", plainly(about, policies.failing, seats=3)
    about = f"A match of {name} whose other player forfeits on hole 3: it ends at once."
    yield "2.forfeit", plainly(about, policies.failing)
    about = f"A match of {name} whose other player could not be started."
    yield "2.alone", plainly(about, unready=1)
    about = f"{whole} with 2 players; the answers are odd, but right."
    yield "2.odd", Conversation(game, about, odd(), others=policies.plain).text()


def odd() -> Policy:
    """Right answers in every form that is allowed."""
    asked = 0

    def write(question: Act) -> Sequence[str]:
        nonlocal asked
        asked += 1
        turn, move = question.turn, policies.plain(question)
        forms = (
            f'{{"turn": "{turn}", "move": "{move}"}}',
            f'{{"move":"{move}","turn":"{turn}"}}',
            f'{{"type":"answer","turn":"{turn}","move":"{move}"}}',
            f'{{"turn":"{turn}","move":"{move}","why":{{"best":[1,2],"é":null}}}}',
            f' {{"turn":"{turn}","move":"\\u00{ord(move[0]):02x}{move[1:]}"}} ',
        )
        return ["< " + forms[asked % len(forms)]]

    return write


def bad(game: Game) -> Iterator[tuple[str, str]]:
    """Matches that end with a fault at the fourth question."""
    for name, blunder in BLUNDERS.items():
        about = f"{game.name}: the fourth answer is a fault ({name})."
        yield f"bad.{name}", Conversation(game, about, fourth(blunder), limits=limits(name)).text()
    about = f"{game.name}: each answer takes 600 ms, and the third finds the match's bank too low."
    yield "bad.bank", Conversation(game, about, slow, limits=SMALL_BANK).text()
    about = f"{game.name}: a line that nobody asked for is taken as the first answer."
    unasked = (*READY, "< I am ready!")
    yield "bad.unasked", Conversation(game, about, says(policies.plain)).text(unasked)


def slow(question: Act) -> Sequence[str]:
    """Take a part of the bank each time."""
    return [". 600 ms", answer(question, first(question))]


def limits(name: str) -> Limits:
    """Small ones, where they are what it is about."""
    return TIGHT if name == "flood" else Limits()


def fourth(blunder: Blunder) -> Policy:
    """Good, until the fourth question."""
    fine = says(policies.by_lot(1))
    asked = 0

    def write(question: Act) -> Sequence[str]:
        nonlocal asked
        asked += 1
        return blunder(question) if asked == 4 else fine(question)

    return write


def line(form: str) -> Blunder:
    """One line, made from the question: T is its turn id, M its last legal move."""
    return lambda question: [written(form, question)]


def written(form: str, question: Act) -> str:
    """A line of a transcript from its form."""
    return form.replace("T", question.turn).replace("M", question.legal[-1])


def then(*forms: str) -> Blunder:
    """Several lines, made likewise."""
    return lambda question: [written(form, question) for form in forms]


RIGHT = '{"turn":"T","move":"M"}'
BLUNDERS: dict[str, Blunder] = {
    # The move, or the turn, is not the one to play.
    "illegal": line('< {"turn":"T","move":"fly 1"}'),
    "upper-case": lambda q: ["< " + f'{{"turn":"{q.turn}","move":"{q.legal[0].upper()}"}}'],
    "stale": lambda q: [f'< {{"turn":"0-0000","move":"{q.legal[0]}"}}'],
    "two-answers": then("< " + RIGHT, "< " + RIGHT),
    # Not an answer at all.
    "no-json": line("< take 3"),
    "no-move": line('< {"turn":"T"}'),
    "wrong-type": line('< {"turn":"T","move":3}'),
    "nested": line('< {"turn":"T","move":"draw","x":' + "[" * 65 + "]" * 65 + "}"),
    "array": line('< ["T","M"]'),
    "single-quotes": line("< {'turn':'T','move':'M'}"),
    "empty-line": then("< ", "< " + RIGHT),
    "several-lines": then("< {", '<   "turn": "T",', '<   "move": "M"', "< }"),
    "two-on-a-line": line("< " + RIGHT + RIGHT),
    "byte-order-mark": line("< \ufeff" + RIGHT),
    "flood": line('< {"turn":"T","move":"M","why":"' + "x" * 256 + '"}'),
    # Too late.
    "timeout": then(". 1000 ms"),
    "unflushed": then("- " + RIGHT, ". 1000 ms"),
    # Gone.
    "exit": then(". exit 0"),
    "unfinished": then("- " + RIGHT, ". exit 0"),
    "closed": then(". closed"),
    "crash": then(". exit 1"),
    "signal": then(". signal SIGSEGV"),
    "memory": then(". killed memory"),
    "tasks": then(". killed tasks"),
}


def start() -> Iterator[tuple[str, str]]:
    """Conversations that end before they begin."""
    for name, lines in STARTS.items():
        about = f"The first line is not ready ({name})."
        limits = BRIEF if name in ("silent", "unflushed") else None
        text = Conversation(GAMES[0], about, says(policies.plain), limits=limits).text(lines)
        yield name, text


STARTS: dict[str, Sequence[str]] = {
    "banner": ["< My bot 1.0", *READY],
    "wrong-type": ['< {"type":"hello"}'],
    "byte-order-mark": ["< \ufeff" + '{"type":"ready"}'],
    "no-json": ["< ready"],
    "silent": [". 2000 ms"],
    "unflushed": ['- {"type":"ready"}', ". 2000 ms"],
    "exit": [". exit 0"],
    "crash": [". exit 1"],
}
