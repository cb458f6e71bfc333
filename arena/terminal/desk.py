"""Draw a person's view of the table, and say what has happened there.

Invariant: everything is taken from the desk, so nothing is shown that its seat can't know.
"""

from arena.play.desk import Desk, play_in_words
from arena.play.hints import choices
from arena.referee import HOLES
from arena.reports.cards import Card, Face, Picture, Player
from arena.reports.layout import wrap
from arena.terminal.moments import places_line, strokes_line

CROWD = 4  # with more players than that their plays are described in fewer words


def table_picture(desk: Desk, *, telling: bool = True) -> Picture:
    """A picture of the table, for `arena.reports.cards` to draw. `telling`: with recent plays."""
    which = ", a playoff" if desk.hole > HOLES else f" of {HOLES}"
    over = bool(desk.grids or desk.places)
    view = desk.view
    return Picture(
        title=f"{desk.game}, hole {desk.hole}{which}",
        players=tuple(_player(desk, seat) for seat in range(len(desk.names))),
        acting=frozenset(desk.acting()),
        pile="" if over or view is None else desk.about.label(view.discard),
        piled=0 if view is None else len(view.pile),
        stock=0 if view is None else view.stock,
        drawn=desk.about.label(desk.drawn),
        news=tuple(news(desk)) if telling else (),
        scores=tuple(desk.scores),
    )


def _player(desk: Desk, seat: int) -> Player:
    cards = []
    for value, everybody in desk.cards(seat):
        face = Face.HIDDEN if value is None else Face.ALL if everybody else Face.OWNER
        cards.append(Card(desk.about.label(value), face))
    row = desk.about.across
    ended = desk.view is not None and not desk.grids and desk.view.ended_by == seat
    return Player(
        name=desk.names[seat],
        rows=tuple(tuple(cards[at : at + row]) for at in range(0, len(cards), row)),
        total=desk.totals[seat],
        note="failed" if seat in desk.fallen else desk.about.ended if ended else "",
        fallen=seat in desk.fallen,
        numbered=seat == desk.seat and not desk.grids,
    )


def news(desk: Desk) -> list[str]:
    """The person's last move, all plays after it, and failures and ends of holes."""
    mine = [at for at, play in enumerate(desk.plays) if play.seat == desk.seat]
    plays = desk.plays[mine[-1] if mine else 0 :]
    failed = [f"{desk.names[seat]} has failed: {kind}" for seat, kind in desk.fallen.items()]
    crowded = len(desk.names) > CROWD
    lines = [play_in_words(desk, play, brief=crowded) for play in plays]
    if crowded and plays:
        lines = ["; ".join(lines)]
    return [*failed, *lines, *ending_lines(desk)]


def ending_lines(desk: Desk) -> list[str]:
    lines = []
    if desk.grids:
        lines.append(f"Hole {desk.hole} is over: {strokes_line(desk.names, desk.scores[-1])}.")
    if desk.places:
        ends = ["forfeits" if at in desk.fallen else total for at, total in enumerate(desk.totals)]
        lines.append(f"The match is over: {places_line(desk.names, desk.places, ends)}.")
    return lines


def legal_lines(desk: Desk, room: int) -> list[str]:
    return [
        line
        for move, words in choices(desk)
        for line in wrap(f"  {move:<8} {words}", room, indent=" " * 11)
    ]
