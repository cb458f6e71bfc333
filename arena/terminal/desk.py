"""Draw a person's view of the table, and describe plays in words.

Invariant: everything is taken from the desk, so nothing is shown that its seat can't know.
"""

from arena.model import Play
from arena.play.desk import Desk, play_in_words
from arena.play.hints import choices
from arena.referee import HOLES
from arena.reports.cards import Card, Face, Picture, Player
from arena.reports.layout import wrap

CROWD = 4  # with more players than that their plays are described in fewer words


def table_picture(desk: Desk, *, telling: bool = True) -> Picture:
    """A picture of the table, for `arena.reports.cards` to draw. `telling`: with recent plays."""
    playoff = (
        f"hole {desk.hole}, a playoff" if desk.hole > HOLES else f"hole {desk.hole} of {HOLES}"
    )
    over = bool(desk.grids or desk.places)
    view = desk.view
    return Picture(
        title=f"{desk.game}, {playoff}",
        players=tuple(_player(desk, seat) for seat in range(len(desk.names))),
        acting=frozenset(desk.acting()),
        pile="" if over or view is None else desk.about.label(view.discard),
        piled=0 if view is None else len(view.pile),
        stock=0 if view is None else view.stock,
        drawn="" if desk.drawn is None else desk.about.label(desk.drawn),
        news=tuple(news(desk)) if telling else (),
        scores=tuple(desk.scores),
    )


def _player(desk: Desk, seat: int) -> Player:
    cards = []
    for value, everybody in desk.cards(seat):
        face = Face.HIDDEN if value is None else Face.ALL if everybody else Face.OWNER
        cards.append(Card("" if value is None else desk.about.label(value), face))
    row = desk.about.across
    note = ""
    if seat in desk.fallen:
        note = "failed"
    elif desk.view is not None and not desk.grids and desk.view.ended_by == seat:
        note = desk.about.ended
    return Player(
        name=desk.names[seat],
        rows=tuple(tuple(cards[at : at + row]) for at in range(0, len(cards), row)),
        total=desk.totals[seat],
        note=note,
        fallen=seat in desk.fallen,
        numbered=seat == desk.seat and not desk.grids,
    )


def news(desk: Desk) -> list[str]:
    """The person's last move, all plays after it, and failures and ends of holes."""
    mine = [at for at, play in enumerate(desk.plays) if play.seat == desk.seat]
    plays = desk.plays[mine[-1] if mine else 0 :]
    failed = [f"{desk.names[seat]} has failed: {kind}" for seat, kind in desk.fallen.items()]
    if len(desk.names) > CROWD:
        lines = ["; ".join(brief(desk, play) for play in plays)] if plays else []
    else:
        lines = [play_in_words(desk, play) for play in plays]
    return [*failed, *lines, *ending_lines(desk)]


def ending_lines(desk: Desk) -> list[str]:
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
    word, *places = play.move.split(" ")

    def card(value: int | None) -> str:
        return "a card" if value is None else desk.about.label(value)

    does = desk.about.move(word).brief.format(
        at=places[0] if places else "",
        card=card(play.card),
        out=card(play.out),
        cards=", ".join(map(card, play.cards)),
    )
    return f"{desk.names[play.seat]} {does}"


def legal_lines(desk: Desk, room: int) -> list[str]:
    return [
        line
        for move, words in choices(desk)
        for line in wrap(f"  {move:<8} {words}", room, indent=" " * 11)
    ]
