"""A table of cards as text: what it looks like, and that it fits."""

import io
import random
import re

import msgspec
import pytest

from arena import registry
from arena.deals import Deals, secret_from_seed
from arena.model import MatchSpec, Settings
from arena.referee import Failure, Referee
from arena.reports.cards import Card, Face, Picture, Player, Style, picture, scorecard
from arena.reports.layout import width
from arena.terminal.watch import LineDisplay, WatchedMatch


class Kept:
    """A display that keeps every picture."""

    def __init__(self):
        self.pictures = []
        self.told = []

    def show(self, shown, told):
        self.pictures.append(shown)
        self.told += told


def watched(game, seats, *, fall=None):
    """The pictures of a whole match; `fall`: a seat that fails at its 9th question."""
    rules, kept, choose = registry.game(game), Kept(), random.Random(3)
    names = tuple(
        f"{'a-bot-with-a-long-name-' if seat == 1 else 'bot'}{seat}@1" for seat in range(seats)
    )
    onlooker = WatchedMatch(f"{game}, deal 1", rules.about, names, kept)
    spec = MatchSpec(id="m", series="s", pairing="p", deal=1, rotation=0, seats=names)
    referee = Referee(
        spec,
        game=rules,
        deals=Deals(secret_from_seed("cards")),
        settings=Settings(game=game, seats=seats, turn_cap=6),
        onlooker=onlooker,
    )
    referee.begin()
    asked = 0
    while referee.asked:
        for seat in referee.asked:
            question = referee.question(seat, bank_ms=0)
            asked += seat == fall
            if asked == 9 and seat == fall:
                referee.fail(seat, Failure(kind="crash", message="died"))
            else:
                referee.answer(seat, choose.choice(question.legal))
    return kept


CASES = {
    "play-nine-2": ("play-nine", 2, Style(), 41),
    "play-nine-2-end": ("play-nine", 2, Style(), -1),
    "play-nine-6": ("play-nine", 6, Style(), 101),
    "four-card-golf-2-hidden": ("four-card-golf", 2, Style(hidden=True), 30),
    "four-card-golf-8": ("four-card-golf", 8, Style(), 61),
    "four-card-golf-8-ascii": ("four-card-golf", 8, Style(lines=False), 61),
}


@pytest.mark.parametrize("name", CASES)
def test_pictures(snapshot, name):
    """What a watcher sees."""
    game, seats, style, at = CASES[name]
    shown = watched(game, seats, fall=3 if seats > 2 else None).pictures[at]
    text = "\n".join(picture(shown, style, room=79, height=23)) + "\n"
    snapshot(f"cards-{name}.txt", text)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("game", "seats"), [("play-nine", 2), ("play-nine", 6), ("four-card-golf", 8)]
)
@pytest.mark.parametrize("room", [79, 60, 30])
def test_every_picture_fits(game, seats, room):
    """No line is wider than the terminal; at 80 by 24 nothing is cut off."""
    for shown in watched(game, seats).pictures:
        lines = picture(shown, Style(), room=room, height=23)
        assert max(map(width, lines)) <= room
        if room == 79:
            assert len(lines) <= 23


def test_without_unicode_there_is_none():
    """Boxes, backs and marks are ASCII; names are what they are."""
    for shown in watched("four-card-golf", 4).pictures[:20]:
        assert "\n".join(picture(shown, Style(lines=False), room=79, height=40)).isascii()


@pytest.mark.no_cover
def test_colours_change_no_letter():
    """Only bold, dim and red, which light and dark terminals both show."""
    for shown in watched("play-nine", 3, fall=2).pictures:
        plain = picture(shown, Style(), room=79, height=40)
        coloured = picture(shown, Style(colour=True), room=79, height=40)
        assert plain == [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in coloured]
    assert any("\x1b[1;31m" in line for line in coloured)


def test_a_seat_that_sits_out_has_no_cards():
    """As in a playoff; its name and strokes stay, and it has no score for that hole."""
    shown = Picture(
        title="playoff",
        players=(
            Player(name="in", rows=((Card("5"), Card("J", Face.NOBODY)),)),
            Player(name="out", total=7),
        ),
        pile="9",
        piled=1,
        stock=3,
        scores=((1, None),),
    )
    lines = picture(shown, Style(hidden=True), room=60, height=30)
    assert "░░░░ face down" == lines[-1]
    assert any("out 7" in line for line in lines)
    assert any(line.split() == ["out", "-", "7"] for line in lines)


def test_the_legend_tells_of_what_there_is():
    """Cards that nobody knows have no mark to be explained when there are none."""
    rows = ((Card("5"), Card("J", Face.OWNER)),)
    shown = Picture(title="t", players=(Player(name="a", rows=rows),), pile="9", piled=1, stock=3)
    lines = picture(shown, Style(), room=79, height=30)
    assert "( 5) its owner alone does     5  everybody does" == lines[-1]


def test_before_the_first_hole_there_is_no_pile():
    """Nor a stock beside it."""
    players = (Player(name="a", rows=((Card("5"),),)),)
    shown = Picture(title="t", players=players, pile="", piled=0, stock=0)
    assert not any("pile of" in line for line in picture(shown, Style(), room=79, height=30))


def test_of_more_holes_than_fit_the_last_are_shown():
    """A playoff may need nine more."""
    lines = scorecard(["a"], [(n,) for n in range(18)], [99], room=60)
    assert "18" in lines[0].split()
    assert "1" not in lines[0].split()
    assert max(map(len, lines)) <= 60


def test_names_cannot_act():
    """They are strangers' words."""
    lines = scorecard(["\x1b[2Jx"], [], [0], room=60)
    assert "\x1b" not in "".join(lines)


def test_moves_in_plain_words():
    """Every kind of move of both games has its sentence; without a terminal that is all."""
    told = "\n".join(watched("play-nine", 2).told + watched("four-card-golf", 2).told)
    for part in (
        "turns ",
        "takes the ",
        "draws the ",
        "puts the ",
        " away and turns ",
        "knocks",
        " away\n",
    ):
        assert part in told
    out = io.StringIO()
    kept, lines = watched("play-nine", 2), LineDisplay(out)
    for shown in kept.pictures:
        lines.show(shown, shown.news[-1:])
    text = out.getvalue()
    assert 9 == text.count("play-nine, deal 1, hole ")
    assert 9 == text.count(" is over: ")


def test_nobody_is_played_on_for_when_the_match_is_over():
    """Of two, one that fails ends it; the last picture says who."""
    kept = watched("play-nine", 2, fall=1)
    assert "a-bot-with-a-long-name-1@1 has failed" == kept.told[-1]
    assert kept.pictures[-1].players[1].fallen
    assert "bot3@1 has failed, and is played on for" in watched("play-nine", 6, fall=3).told


def test_positions_are_numbered_where_somebody_chooses():
    """Above each card, in both kinds of lines; nothing gets wider by it."""
    shown = watched("four-card-golf", 2).pictures[0]
    numbered = msgspec.structs.replace(shown.players[0], numbered=True)
    mine = msgspec.structs.replace(shown, players=(numbered, shown.players[1]))
    for style, rules in ((Style(), "┌──0─┬──1─┐ ├──2─┼──3─┤"), (Style(lines=False), "+--0-+--1-+")):
        lines = picture(mine, style, room=79, height=24)
        assert all(any(rule in line for line in lines) for rule in rules.split(" "))
        plain = picture(shown, style, room=79, height=24)
        assert [len(line) for line in plain] == [len(line) for line in lines]


def test_a_narrow_terminal_has_words_for_pile_and_hand():
    """Three boxes would not fit side by side."""
    players = (Player(name="a", rows=((Card("5"),),)),)
    shown = Picture(title="t", players=players, pile="9", piled=1, stock=3, drawn="Q")
    lines = picture(shown, Style(), room=30, height=30)
    assert "pile of 1: 9, stock of 3, drawn Q" in " ".join(" ".join(lines).split())
    lines = picture(msgspec.structs.replace(shown, drawn=""), Style(), room=30, height=30)
    assert "pile of 1: 9, stock of 3" in [line.strip() for line in lines]


def test_the_latest_news_is_shown_before_the_legend_is():
    """Where the terminal is not high enough for both."""
    players = (Player(name="a", rows=((Card("5", Face.NOBODY),),)),)
    shown = Picture(title="t", players=players, pile="9", piled=1, stock=3)
    cards = picture(shown, Style(), room=79, height=0)
    (legend,) = picture(shown, Style(), room=79, height=30)[len(cards) :]
    shown = msgspec.structs.replace(shown, news=("b knocks", "a knocks"))
    for height, below in (
        (4, ["", "b knocks", "a knocks", legend]),
        (3, ["", "a knocks", legend]),
        (2, ["", "a knocks"]),
        (1, []),
    ):
        assert picture(shown, Style(), room=79, height=len(cards) + height) == cards + below
