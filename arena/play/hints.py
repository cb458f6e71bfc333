"""Read a person's input as a move, or say why it is none: as a key and values, so that each display
can use its own language.

Pure. Invariant: a move is in the desk's `legal`; everything else has a refusal.
"""

import json
import re
from collections.abc import Mapping
from importlib.resources import files

from arena.games.descriptor import DRAWN, TEE, TURN
from arena.model import Frozen
from arena.play.desk import Desk

ENGLISH: Mapping[str, str] = json.loads((files("arena.play") / "assets/refusals.json").read_bytes())
"""What a terminal says, by key; a page has words of its own in each language."""


class Refusal(Frozen, frozen=True):
    key: str  # into ENGLISH, and every other language's
    values: Mapping[str, str] = {}

    def __str__(self) -> str:
        return ENGLISH[self.key].format(**self.values)


def move_of(desk: Desk, text: str) -> str | None:
    """The legal move that a text means: case, spaces and the order of a tee-off are free."""
    word, places = _read(text)
    if word == "tee":
        places = sorted(places, key=lambda place: (len(place), place))
    move = " ".join((word, *places))
    return move if move in desk.legal else None


def refusal(desk: Desk, text: str) -> Refusal:  # noqa: PLR0911 - one for each reason
    word, places = _read(text)
    about = desk.about
    if not desk.legal:
        return Refusal("not-your-turn")
    last = str(about.cards - 1)
    no_such = Refusal(
        "no-such-move", {"said": text.strip()[:20] or "''", "moves": ", ".join(about.moves)}
    )
    if word not in about.moves and word not in about.refusals:
        return no_such
    if found := _out_of_place(desk, word):
        return found
    if word == "tee":
        return Refusal("tee-two", {"last": last})
    if about.move(word).shape.endswith(" N"):
        if not places:
            return Refusal("where", {"word": word, "last": last})
        if places[0] not in set(map(str, range(about.cards))):
            return Refusal("position", {"said": places[0][:8], "last": last})
    if word == "flip" and len(places) == 1:
        return Refusal("face-up", {"at": places[0], "down": _listed(desk.down)})
    if word == "skip" and not places:
        return Refusal("skip-one", {"down": str(len(desk.down))})
    return no_such


def _out_of_place(desk: Desk, word: str) -> Refusal | None:  # noqa: PLR0911 - as above
    """A move of another game, or of another phase."""
    about, phase = desk.about, desk.about.move(word).phase
    foreign = about.refusals.get(word)
    if foreign and phase != DRAWN:
        return Refusal(foreign)
    if desk.phase == TEE:
        return None if word == "tee" else Refusal("tee-first")
    if word == "tee":
        return Refusal("tee-done")
    if desk.phase == TURN:
        if word == "knock" and "knock" not in desk.legal and desk.view.ended_by is not None:
            return Refusal("last-turn", {"who": desk.names[desk.view.ended_by]})
        return Refusal("draw-first") if phase == DRAWN else None
    if phase != DRAWN:
        return Refusal("drawn-already")
    return Refusal(foreign, {"at": str(next(iter(desk.down), 0))}) if foreign else None


def choices(desk: Desk) -> list[tuple[str, str]]:
    """What is legal now, a line a kind of move: (notation, words)."""
    if not desk.legal:
        return []
    about, words = desk.about, {move.partition(" ")[0] for move in desk.legal}
    card = desk.view.drawn if desk.phase == DRAWN else desk.view.discard
    values = {"card": about.label(card), "last": about.cards - 1, "down": _listed(desk.down)}
    moves = [about.move(word) for word in about.moves if word in words]
    return [(move.shape, move.offer.format(**values)) for move in moves]


def _read(text: str) -> tuple[str, list[str]]:
    word, *places = re.findall(r"[^\W\d]+|-?\w+", text.lower()[:40]) or [""]
    return word, [str(int(at)) if at.isascii() and at.isdecimal() else at for at in places]


def _listed(positions: list[int]) -> str:
    return ", ".join(map(str, positions))
