"""What a person is shown and told, without processes: every moment of random matches."""

import random
import re
from pathlib import Path

import pytest

from arena import registry
from arena.deals import Deals, secret_from_seed
from arena.games.descriptor import VOCABULARY
from arena.games.observer import ObservedGame
from arena.model import FaultKind, MatchSpec, Settings
from arena.play.desk import Desk, play_in_words
from arena.play.hints import ENGLISH, choices, move_of, refusal
from arena.referee import Failure, Referee
from arena.reports.cards import Face, Style
from arena.reports.layout import width
from arena.terminal.desk import legal_lines, table_picture
from arena.terminal.seat_keys import Seat
from arena.wire.messages import HoleEnd

PLAIN = Style(lines=False)


@pytest.mark.parametrize("game", registry.GAMES)
def test_the_rules_fit_a_narrow_terminal(game):
    """A line that is too long loses its middle, and with it what it says."""
    assert max(map(len, registry.game(game).about.rules.splitlines())) < 80


def test_the_rules_except_a_hole_in_one_before_they_say_that_columns_cost_nothing():
    """A matched column of -5s costs -10, so no sentence may say that all matched columns cost 0."""
    rules = registry.game("play-nine").about.rules.replace("\n", " ")
    (sentence,) = (part for part in rules.split(". ") if "cost 0" in part)
    assert "-5s" in sentence[: sentence.index("cost 0")]


class Round:
    """A match by the referee alone, with a desk at one seat; `looks` is called at each moment."""

    def __init__(self, game, seats, seat, *, seed=1, looks=lambda at: None, deals=None, fail=0):
        self.followed = ObservedGame(registry.game(game))
        self.desk = Desk(game, [f"bot{n}" if n != seat else "ann" for n in range(seats)], seat)
        self.looks, self.seat, self.fail = looks, seat, fail
        self.draw = random.Random(seed)
        spec = MatchSpec(
            id="p-000000-0",
            series="s",
            pairing="p",
            deal=0,
            rotation=0,
            seats=tuple(f"bot{n}@1" for n in range(seats)),
        )
        settings = Settings(game=game, seats=seats, turn_cap=8, playoff=True)
        deals = deals or Deals(secret_from_seed("desk"))
        self.referee = Referee(spec, game=self.followed, deals=deals, settings=settings)

    def play(self):
        """To the end, as a sitting does it."""
        referee, desk, seat = self.referee, self.desk, self.seat
        referee.begin()
        decisions = 0
        while True:
            self.pass_on()
            if not referee.asked:
                return self
            for asked in referee.asked:
                question = referee.question(asked, bank_ms=0)
                decisions += 1
                if asked == seat:
                    desk.ask(question)
                    self.looks(self)
                    desk.close_question()
                if asked != seat and decisions >= self.fail > 0 and not referee.failed:
                    referee.fail(asked, Failure(kind=FaultKind.CRASH, message="dead"))
                    desk.add_fault(asked, FaultKind.CRASH)
                    break
                referee.answer(asked, self.draw.choice(question.legal))
                if not referee.news:
                    desk.update(*referee.sight(seat))
                    self.looks(self)

    def pass_on(self):
        """What the person is told."""
        ends = []
        for seat, message in self.referee.take_notices():
            if seat == self.seat:
                ends.append(message) if isinstance(message, HoleEnd) else self.desk.take_message(
                    message
                )
        for end in ends:
            self.desk.take_message(end)
            self.looks(self)
        if self.referee.asked:
            self.desk.update(*self.referee.sight(self.seat))
            self.looks(self)


SEATS = [
    ("play-nine", 2, 0),
    ("play-nine", 6, 4),
    ("four-card-golf", 2, 1),
    ("four-card-golf", 8, 3),
]


@pytest.mark.parametrize(("game", "seats", "seat"), SEATS)
def test_a_desk_has_what_the_seat_may_know_and_nothing_else(game, seats, seat):
    """Every card on it is the one that lies there, and one that the seat's own view has."""
    moments = []

    def look(at):
        desk, true = at.desk, at.followed.cards
        if desk.grids or desk.places:
            return
        view = at.referee.sight(seat)[1]
        for other in range(seats):
            for position, (card, public) in enumerate(desk.cards(other)):
                assert view.grids[other][position] == card
                assert card is None or card == true[other][position]
                if other != seat and card is not None:
                    assert public
        if desk.legal:
            assert desk.acting() == (seat,)
        elif (acting := desk.acting()) and view.phase != "tee":
            assert acting == at.referee.asked[:1]
        moments.append(desk.hole)

    done = Round(game, seats, seat, looks=look).play()
    assert set(range(1, 10)) <= set(moments)
    assert done.desk.totals == done.referee.record().totals
    assert done.desk.places == done.referee.record().places


@pytest.mark.parametrize(("game", "seats", "seat"), SEATS)
def test_everything_is_a_legal_move_or_has_a_reason(game, seats, seat):
    """Whatever is typed; each reason has its words, and names no card."""
    texts = [f"{word}{rest}" for word in VOCABULARY for rest in ENDS]
    texts += [
        "",
        "fly 3",
        "7",
        "TAKE  1",
        "take,1",
        "tee 5 0",
        "tee 0 0",
        "tee 1,2",
        "\x1b[2J",
        "²",
    ]
    keys = set()

    def look(at):
        desk = at.desk
        for text in texts if at.draw.random() < 0.1 or desk.phase == "tee" else texts[::7]:
            move = move_of(desk, text)
            if move is not None:
                assert move in desk.legal
                continue
            why = refusal(desk, text)
            keys.add(why.key)
            assert str(why)
            assert "{" not in str(why)
        assert bool(choices(desk)) == bool(desk.legal)
        for move in desk.legal:
            assert move == move_of(desk, f" {move.upper()} ")

    def looks(at):
        if at.desk.view is not None and not at.desk.grids:
            look(at)

    Round(game, seats, seat, looks=looks).play()
    assert keys <= ENGLISH.keys()
    assert {"not-your-turn", "no-such-move", "where", "position", "drawn-already"} <= keys


ENDS = ("", " 0", " 1", " 7", " 9", " -1", " x", " 0 1", " 1 0")


def test_every_reason_is_given_somewhere():
    """In one game or the other; those of four-card golf's last turn too."""
    keys = set()

    def looks(at):
        desk = at.desk
        if desk.view is not None and not desk.grids:
            texts = [f"{word}{rest}" for word in VOCABULARY for rest in ENDS]
            keys.update(refusal(desk, text).key for text in texts if move_of(desk, text) is None)

    for game, seats, seat in SEATS:
        Round(game, seats, seat, looks=looks).play()
    assert ENGLISH.keys() == keys


@pytest.mark.parametrize(("game", "seats", "seat"), SEATS)
def test_what_can_t_be_known_changes_no_letter(game, seats, seat):
    """With all unseen cards in other places every screen until then is the same."""

    class Swapped:
        """Deals in which what the seat never saw lies elsewhere."""

        def __init__(self, hidden):
            self.real, self.hidden = Deals(secret_from_seed("desk")), hidden

        def __getattr__(self, name):
            return getattr(self.real, name)

        def deck(self, pairing, deal, hole, pack):
            return Other(self.real.deck(pairing, deal, hole, pack), self.hidden)

    class Other:
        def __init__(self, deck, hidden):
            cards = list(deck.cards)
            values = [cards[at] for at in hidden]
            for at, card in zip(hidden, [*values[1:], *values[:1]], strict=True):
                cards[at] = card
            self.cards, self.reshuffle = cards, deck.reshuffle

    class EnoughError(Exception):
        pass

    def screens(deals):
        """The screens of the first moments, and where in the deck what was never seen lies."""
        shown = []

        def look(at):
            desk = at.desk
            keys = Seat(PLAIN)
            keys.wait_for("move" if desk.legal else "", desk)
            shown.append(
                "\n".join([*keys.frame(79, 40), *(play_in_words(desk, p) for p in desk.plays)])
            )
            if len(shown) == MOMENTS:
                raise EnoughError

        done = Round(game, seats, seat, looks=look, deals=deals)
        with pytest.raises(EnoughError):
            done.play()
        desk = done.desk
        moved = {(play.seat, int(at)) for play in desk.plays for at in play.move.split(" ")[1:]}
        return shown, [
            place + seats * position
            for place, other in enumerate(desk.order)
            for position, (card, _) in enumerate(desk.cards(other))
            if card is None and (other, position) not in moved
        ]

    first, hidden = screens(None)
    assert len(hidden) > 1
    second, _ = screens(Swapped(hidden))
    assert MOMENTS == len(first)
    assert first == second


MOMENTS = 14


@pytest.mark.parametrize(("columns", "rows"), [(79, 24), (39, 24), (24, 3), (150, 50)])
@pytest.mark.parametrize(("game", "seats", "seat"), SEATS)
def test_every_screen_fits(game, seats, seat, columns, rows):
    """At each moment, on each page, with each key half pressed."""
    style = Style(lines=False)

    def look(at):
        if at.draw.random() > 0.05 and not at.desk.grids:
            return
        keys = Seat(style)
        keys.wait_for("move" if at.desk.legal else "hole" if at.desk.grids else "", at.desk)
        for key in KEYS:
            keys.press(key)
            frame = keys.frame(columns, rows)
            assert rows == len(frame)
            assert all(width(line) <= columns and line.isascii() for line in frame)
            assert all(width(line) <= columns for line in legal_lines(at.desk, columns))
        assert not keys.left

    done = Round(game, seats, seat, looks=look, fail=40).play()
    assert done.desk.fallen


KEYS = ["enter", "?", "x", "c", "x", "t", "escape", "f", "escape", ":", "t", "9", "enter", "q", "n"]


def test_plays_are_told_in_words():
    """Each in two lengths; a card that the seat can't know is none."""
    lines = set()

    def look(at):
        for play in at.desk.plays:
            lines.add(re.sub(r"\d+", "N", play_in_words(at.desk, play)))
            lines.add(re.sub(r"\d+", "N", play_in_words(at.desk, play, brief=True)))
        assert table_picture(at.desk).news is not None

    Round("four-card-golf", 3, 0, looks=look).play()
    assert "botN drew a card to N, the N went out" in lines
    assert "botN drew a card to N, N out" in lines
    assert "ann drew the K to N, the N went out" in lines
    assert any(line.endswith(" knocked") for line in lines)


def test_faces_tell_who_knows():
    """One's own secrets are marked, what nobody knows has no value at all."""
    faces = set()

    def look(at):
        for player in table_picture(at.desk).players:
            for row in player.rows:
                for card in row:
                    faces.add((player.name == "ann", card.face))
                    assert (card.face is Face.HIDDEN) == (card.label == "")

    Round("four-card-golf", 2, 0, looks=look).play()
    assert {(True, Face.OWNER), (False, Face.ALL), (True, Face.HIDDEN)} <= faces
    assert (False, Face.OWNER) not in faces
    assert "K" == registry.game("four-card-golf").about.label(13)


def test_the_pages_screen_is_one():
    """A person's second turn against three, on a terminal of 19 rows."""
    frames = []

    def look(at):
        if at.desk.legal and at.desk.phase == "turn":
            at.desk.names = ["you", "greedy", "matcher", "quick"]
            keys = Seat(Style())
            keys.wait_for("move", at.desk)
            frames.append("\n".join(line.rstrip() for line in keys.frame(79, 19)))

    Round("four-card-golf", 4, 0, seed=PAGE_SEED, looks=look).play()
    shown = next(frame for frame in frames if "you drew" in frame)
    assert f"```\n{shown}\n```" in (REPOSITORY / "docs" / "bot.md").read_text(encoding="utf-8")


PAGE_SEED = 6
REPOSITORY = Path(__file__).parents[2]
