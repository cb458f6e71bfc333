"""What a person may do, and why something else can't be done.

`move_of` reads what somebody types or clicks as a move in the protocol's notation; `refusal` says
why it is none, as a key and values, so that each place can say it in its own language; ENGLISH has
the words.

Pure. Invariant: what `move_of` gives is in the desk's `legal`; whatever is not has a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from arena.model import Frozen
from arena.play.desk import Desk
from arena.reports.cards import label

WORDS: Mapping[str, tuple[str, ...]] = {
    "play-nine": ("tee", "take", "draw", "swap", "flip", "skip"),
    "four-card-golf": ("take", "draw", "swap", "discard", "knock"),
}
_PLACED = {"take", "swap", "flip"}
_DRAWN = {"swap", "flip", "skip", "discard"}

ENGLISH: Mapping[str, str] = {
    "not-your-turn": "it is not your turn",
    "no-such-move": "there is no move {said}; there are: {moves}",
    "tee-first": "first turn over two of your cards: tee A B",
    "tee-two": "turn over two different cards: tee A B, with positions 0 to {last}",
    "tee-done": "your two cards are turned already: take the pile's card, or draw",
    "no-tee": "nobody tees off in this game: take the pile's card, draw, or knock",
    "where": "say the position, 0 to {last}: {word} {last}",
    "position": "there is no position {said}: yours are 0 to {last}",
    "draw-first": "that is for a card that you have drawn: draw first, or take the pile's card",
    "drawn-already": "you have drawn: place the card, or throw it away; "
    "there is no way back to the pile",
    "no-knock": "nobody knocks in this game: a hole ends when somebody's cards are all face up",
    "last-turn": "{who} has knocked: this is your last turn, so take the pile's card or draw",
    "face-up": "{at} is face up already; face down are: {down}",
    "skip-one": "without turning a card you may throw it away only with exactly one face down, "
    "and you have {down}",
    "flip-instead": "to throw the drawn card away turn one of yours that is face down: flip {at}",
    "no-flip": "no card is turned over before the end of the hole: swap it, or discard it",
    "discard-instead": "here that is called discard",
}


class Refusal(Frozen, frozen=True):
    """Why something can't be played."""

    key: str
    """Into ENGLISH, and every other language's."""
    values: Mapping[str, str] = {}

    def __str__(self) -> str:
        return ENGLISH[self.key].format(**self.values)


def move_of(desk: Desk, text: str) -> str | None:
    """The legal move that is meant, if one is: case, spaces and the order of a tee-off are free."""
    word, places = _read(text)
    if word == "tee":
        places = sorted(places, key=lambda place: (len(place), place))
    move = " ".join((word, *places))
    return move if move in desk.legal else None


def refusal(desk: Desk, text: str) -> Refusal:  # noqa: PLR0911 - one for each reason
    """Why a text is no legal move."""
    word, places = _read(text)
    last = str(desk.size - 1) if desk.view is not None else ""
    if not desk.legal:
        return Refusal("not-your-turn")
    if word not in {each for words in WORDS.values() for each in words}:
        said = text.strip()[:20] or "''"
        return Refusal("no-such-move", {"said": said, "moves": ", ".join(WORDS[desk.game])})
    if found := _out_of_place(desk, word):
        return found
    if word == "tee":
        return Refusal("tee-two", {"last": last})
    if word in _PLACED and not places:
        return Refusal("where", {"word": word, "last": last})
    if word in _PLACED and places[0] not in set(map(str, range(desk.size))):
        return Refusal("position", {"said": places[0][:8], "last": last})
    if word == "flip" and len(places) == 1:
        return Refusal("face-up", {"at": places[0], "down": _listed(desk.down)})
    if word == "skip" and not places:
        return Refusal("skip-one", {"down": str(len(desk.down))})
    return Refusal(
        "no-such-move", {"said": text.strip()[:20], "moves": ", ".join(WORDS[desk.game])}
    )


def _out_of_place(desk: Desk, word: str) -> Refusal | None:  # noqa: C901, PLR0911 - as above
    """A move that is none of this game's, or none of this moment's."""
    nine = desk.game == "play-nine"
    if word == "knock" and nine:
        return Refusal("no-knock")
    if word == "tee" and not nine:
        return Refusal("no-tee")
    if desk.phase == "tee":
        return None if word == "tee" else Refusal("tee-first")
    if word == "tee":
        return Refusal("tee-done")
    if desk.phase == "turn":
        if word == "knock":
            who = desk.view.ended_by
            knocked = who is not None and "knock" not in desk.legal
            return Refusal("last-turn", {"who": desk.names[who]}) if knocked else None
        return Refusal("draw-first") if word in _DRAWN else None
    if word not in _DRAWN:
        return Refusal("drawn-already")
    if word == "flip" and not nine:
        return Refusal("no-flip")
    if word == "skip" and not nine:
        return Refusal("discard-instead")
    if word == "discard" and nine:
        return Refusal("flip-instead", {"at": str(desk.down[0]) if desk.down else "0"})
    return None


def choices(desk: Desk) -> list[tuple[str, str]]:
    """What is legal now: (in the protocol's notation, in words), a line a kind."""
    legal, last = desk.legal, desk.size - 1
    if not legal:
        return []
    pile = label(desk.game, desk.view.discard)
    if desk.phase == "tee":
        return [("tee A B", f"turn over two of your cards, 0 to {last}")]
    if desk.phase == "turn":
        found = [
            ("take N", f"the pile's {pile} to your position N, 0 to {last}"),
            ("draw", "a card from the stock, and see it first"),
        ]
        if "knock" in legal:
            found.append(("knock", "no card: everybody else has one more turn"))
        return found
    drawn = label(desk.game, desk.view.drawn)
    found = [("swap N", f"put the {drawn} to your position N, 0 to {last}")]
    if desk.game == "play-nine":
        found.append(("flip N", f"throw the {drawn} away and turn N over: {_listed(desk.down)}"))
    if "skip" in legal:
        found.append(("skip", f"throw the {drawn} away and turn nothing"))
    if "discard" in legal:
        found.append(("discard", f"throw the {drawn} away"))
    return found


def _read(text: str) -> tuple[str, list[str]]:
    """A word and the positions behind it."""
    word, *places = re.findall(r"[^\W\d]+|-?\w+", text.lower()[:40]) or [""]
    return word, [str(int(at)) if at.isascii() and at.isdecimal() else at for at in places]


def _listed(positions: list[int]) -> str:
    return ", ".join(map(str, positions))
