"""The descriptor of a game, all of it that isn't rules: names, cards, moves, ratings, luck.

A game's module ends with one `Descriptor`, and `Game.about` is it. Terminal, pages, audit, ratings,
luck and training ask it; nothing outside of a game's own module decides by a game's name.

Moves are a word and positions. A game chooses from `VOCABULARY` (moves.json), for which the pages
have sentences in every language, and may add words of its own with English sentences. What a word
does to the table is fixed: `take N` lays the top of the pile on position N and `swap N` the drawn
card, `draw` takes a card from the stock and leaves the turn open; any other word completes a turn
and moves no card onto the grid.

Pure data. Invariant: the values of `Move` templates are those that `Move`'s docstring lists.
"""

import functools
import importlib
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, Final, Literal

import msgspec

from arena.model import Frozen, HoleRecord, RatingSettings

TURN: Final = "turn"
DRAWN: Final = "drawn"
TEE: Final = "tee"


class Move(Frozen, frozen=True, kw_only=True):
    """A word of moves, with the sentences about it.

    Templates may name {at} and {two}, the positions; {drawn}, "the 5" or what an unknown card is
    called; {top}, the pile's top before the move; {before}, what lay at the position; {card} and
    {cards}, what lies there since; {out}, what went onto the pile.
    """

    phase: Literal["tee", "turn", "drawn"]
    now: str  # for an onlooker, as it is played
    past: str
    brief: str  # `past` in few words, for a crowded table
    shape: str  # how it is typed: "take N"
    offer: str
    """The move as an offer, in words. {card} is the card that it uses, {last} the highest position,
    {down} the positions that are face down."""
    unseen: str = "a card"  # {drawn} in `now`, where the reader doesn't know the card
    discards: bool = True  # whether it leaves a new card on the pile


def text_of(name: str) -> str:
    """A file of this room, without the newline at its end."""
    return (files("arena.games") / name).read_text("utf-8").removesuffix("\n")


VOCABULARY: Final = msgspec.json.decode(text_of("moves.json"), type=dict[str, Move])


class Descriptor(Frozen, frozen=True, kw_only=True):
    name: str  # as in `--game` and in `hello`
    title: str
    titles: Mapping[str, str] = {}  # by language, where people call it otherwise
    cards: int  # of a player
    across: int  # cards in a row, as they lie
    labels: Mapping[int, str] = {}
    """By card, where its sign isn't its number; at most two columns wide."""
    strokes: Callable[[int], int]  # what a card counts by itself: its colour on a page
    moves: tuple[str, ...]  # its words, in the order in which they are offered
    own_moves: Mapping[str, Move] = {}  # of those, the ones that are not in `VOCABULARY`
    refusals: Mapping[str, str] = {}
    """By a word of `VOCABULARY` that the game doesn't have, why: a key of `arena.play.hints`."""
    ended: Literal["out", "knocked"] = "out"
    """What a seat that has ended the hole is said to have done."""
    was_ended: Callable[[HoleRecord], bool]
    """Whether a player ended a hole that was played to its end; else the turn cap did."""
    rules: str  # for `?` at a terminal: lines of at most 79 columns
    rating: RatingSettings
    luck: str = ""  # import path of its `arena.luck.Measure`; empty: its luck isn't measured
    judge: str = ""  # import path of its `arena.regret.Judge`; empty: its moves aren't judged
    twins: tuple[tuple[float, int], ...] = ()
    """(alike, N), rising: about one pair in N, or fewer, of bots that were written independently is
    as much alike in `arena twins` (bench/twins.py); none: it isn't known how far they get."""
    vector: str = ""
    """Import path of its `arena.rl.vector.VectorEnv`; empty: it can't be trained in batches."""

    def label(self, card: int | None, unknown: str = "") -> str:
        return unknown if card is None else self.labels.get(card, str(card))

    def move(self, word: str) -> Move:
        return self.own_moves.get(word) or VOCABULARY[word]

    def sheet(self, language: str) -> str | None:
        """Its rules as HTML, if sheets/ has a NAME.LANGUAGE.html."""
        file = files("arena.games") / "sheets" / f"{self.name}.{language}.html"
        return file.read_text("utf-8") if file.is_file() else None

    def for_scripts(self, pack: tuple[int, ...]) -> dict[str, Any]:
        """What the scripts of a page have to know, as JSON."""
        return {
            "title": self.title,
            "titles": self.titles,
            "across": self.across,
            "labels": self.labels,
            "strokes": {card: self.strokes(card) for card in sorted(set(pack))},
            "moves": self.moves,
            "sentences": {
                word: {"now": move.now, "past": move.past, "offer": move.offer}
                for word, move in self.own_moves.items()
            },
            "ended": self.ended,
        }


@functools.cache
def named(path: str) -> Any:  # noqa: ANN401 - what each field says
    """What a field of a descriptor names: "module:attribute"."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
