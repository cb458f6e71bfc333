"""A person's desk as a picture of the table, and in words.

Invariant: everything is taken from the desk, so nothing is shown that its seat can't know.
"""

from __future__ import annotations

from arena.model import Play
from arena.play.desk import Desk, told
from arena.play.hints import choices
from arena.referee import HOLES
from arena.reports.cards import Card, Face, Picture, Player, label
from arena.reports.layout import wrap

CROWD = 4
"""With more players than that what they play is told in fewer words."""
_ROW = {4: 2, 8: 4}

RULES = {
    "play-nine": """\
Eight cards face down in two rows of four; fewest strokes in nine holes win.
First everybody turns two of their own. Then, in turn, either take the pile's
card, or draw one from the stock: it goes face up to any of your positions and
what lay there goes out; or throw the drawn one away and turn one of yours up.
With exactly one card face down you may throw it away and turn nothing.
Whoever has all eight up is out: the others have one more turn each.
Two equal cards above each other, unless they are -5s, cost 0; two such columns
of one value -10, three -15, four -20. A -5 never cancels: each counts -5, and
two columns of them take 10 more off.
A tie for first after nine holes is played off, hole by hole.""",
    "four-card-golf": """\
Four cards face down; you have seen your near two, positions 2 and 3. The
fewest strokes in nine holes win. In turn take the pile's card, or draw one
from the stock: it goes face down to any of your positions and what lay there
goes out; or throw the drawn one away. Nothing is turned up before the end.
Instead of all that you may knock: the others have one more turn each, then all
cards are turned. A costs 1, 2 to 10 their number, J and Q 10, K nothing.
What is taken from the pile everybody has seen; what is drawn, only its owner.
A tie for first after nine holes is played off, hole by hole.""",
}


def seen(desk: Desk, *, telling: bool = True) -> Picture:
    """The table, as the desk has it. `telling`: with what was played."""
    playoff = (
        f"hole {desk.hole}, a playoff" if desk.hole > HOLES else f"hole {desk.hole} of {HOLES}"
    )
    over = bool(desk.grids or desk.places)
    view = desk.view
    return Picture(
        title=f"{desk.game}, {playoff}",
        players=tuple(_player(desk, seat) for seat in range(len(desk.names))),
        acting=frozenset(desk.acting()),
        pile="" if over or view is None else label(desk.game, view.discard),
        piled=0 if view is None else len(view.pile),
        stock=0 if view is None else view.stock,
        drawn="" if desk.drawn is None else label(desk.game, desk.drawn),
        told=tuple(news(desk)) if telling else (),
        scores=tuple(desk.scores),
    )


def _player(desk: Desk, seat: int) -> Player:
    cards = []
    for value, everybody in desk.cards(seat):
        face = Face.HIDDEN if value is None else Face.ALL if everybody else Face.OWNER
        cards.append(Card("" if value is None else label(desk.game, value), face))
    row = _ROW.get(len(cards), len(cards) or 1)
    note = ""
    if seat in desk.fallen:
        note = "failed"
    elif desk.view is not None and not desk.grids and desk.view.ended_by == seat:
        note = "knocked" if desk.game == "four-card-golf" else "out"
    return Player(
        name=desk.names[seat],
        rows=tuple(tuple(cards[at : at + row]) for at in range(0, len(cards), row)),
        total=desk.totals[seat],
        note=note,
        fallen=seat in desk.fallen,
        numbered=seat == desk.seat and not desk.grids,
    )


def news(desk: Desk) -> list[str]:
    """What has been played since the person's last move but one, and what else has happened."""
    mine = [at for at, play in enumerate(desk.plays) if play.seat == desk.seat]
    plays = desk.plays[mine[-1] if mine else 0 :]
    failed = [f"{desk.names[seat]} has failed: {kind}" for seat, kind in desk.fallen.items()]
    if len(desk.names) > CROWD:
        lines = ["; ".join(brief(desk, play) for play in plays)] if plays else []
    else:
        lines = [told(desk, play) for play in plays]
    return [*failed, *lines, *ended(desk)]


def ended(desk: Desk) -> list[str]:
    """How the hole has ended, and the match, if they have."""
    lines = []
    if desk.grids:
        scores = desk.scores[-1]
        listed = ", ".join(
            f"{name} {score}"
            for name, score in zip(desk.names, scores, strict=True)
            if score is not None
        )
        lines.append(f"Hole {desk.hole} is over: {listed}.")
    if desk.places:
        order = sorted(range(len(desk.names)), key=lambda seat: (desk.places[seat], seat))
        places = (
            f"{desk.places[seat]}. {desk.names[seat]} "
            + ("forfeits" if seat in desk.fallen else str(desk.totals[seat]))
            for seat in order
        )
        lines.append(f"The match is over: {', '.join(places)}.")
    return lines


def brief(desk: Desk, play: Play) -> str:
    """A play in few words."""
    name = desk.names[play.seat]
    word, *places = play.move.split(" ")

    def card(value: int | None) -> str:
        return "a card" if value is None else label(desk.game, value)

    match word:
        case "tee":
            return f"{name} turned {', '.join(map(card, play.cards))}"
        case "take":
            return f"{name} took {card(play.card)} to {places[0]}, {card(play.out)} out"
        case "swap":
            return f"{name} drew {card(play.card)} to {places[0]}, {card(play.out)} out"
        case "flip":
            return f"{name} threw {card(play.out)} away, turned {places[0]}: {card(play.card)}"
        case "knock":
            return f"{name} knocked"
        case _:
            return f"{name} threw {card(play.out)} away"


def legal_lines(desk: Desk, room: int) -> list[str]:
    """What may be played now, a line a kind of move."""
    return [
        line
        for move, words in choices(desk)
        for line in wrap(f"  {move:<8} {words}", room, indent=" " * 11)
    ]
