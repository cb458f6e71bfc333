"""Draw a table of cards as text: the cards, whose turn it is, the last moves.

`picture` draws a `Picture` (a match at one moment, live or recorded) into a width and a height;
`scorecard` is the strokes by hole.

Pure. Invariant: no line is wider than `width`, and if every player's cards fit into `height`, all
of it does: what is least needed is left out.
"""

import enum
from collections.abc import Sequence

from arena.model import Frozen
from arena.reports.escape import plain
from arena.reports.layout import clip, width, wrap

CELL = 4  # columns in a card: two digits, and a mark on either side
GAP = 3
BOX = 21  # columns for the pile, and for the stock, with their names
NAME = 20  # the most of a name in front of its strokes

_BOLD, _DIM, _RED, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[0m"
_REVERSED = "\x1b[7m"


class Face(enum.Enum):
    """Which players see a card."""

    ALL = enum.auto()
    OWNER = enum.auto()
    NOBODY = enum.auto()
    HIDDEN = enum.auto()  # hidden from the watcher; others may see it


class Card(Frozen, frozen=True):
    label: str  # at most two columns
    face: Face = Face.ALL


class Player(Frozen, frozen=True, kw_only=True):
    name: str
    rows: tuple[tuple[Card, ...], ...] = ()  # empty: it does not play this hole
    total: int = 0
    note: str = ""  # a word on how it stands: out, knocked, or a fault
    fallen: bool = False  # it has forfeited
    numbered: bool = False  # with the number of each position above its card


class Picture(Frozen, frozen=True, kw_only=True):
    title: str
    players: tuple[Player, ...]
    acting: frozenset[int] = frozenset()
    pile: str
    """The card on top; empty before the first deal: then there is neither pile nor stock."""
    piled: int  # cards in the pile
    stock: int
    drawn: str = ""  # the card in the acting player's hand
    news: tuple[str, ...] = ()  # what was played, in words, the latest last
    scores: tuple[tuple[int | None, ...], ...] = ()
    """By finished hole, then seat; None: it did not play that hole."""


class Style(Frozen, frozen=True, kw_only=True):
    """What a terminal can show, and what the watcher is to see."""

    lines: bool = True  # box drawing characters; else ASCII
    colour: bool = False
    hidden: bool = False  # whether cards that some player doesn't know are shown by their backs

    def bold(self, text: str) -> str:
        return f"{_BOLD}{text}{_RESET}" if self.colour else text

    def dim(self, text: str) -> str:
        return f"{_DIM}{text}{_RESET}" if self.colour else text

    def red(self, text: str) -> str:
        return f"{_RED}{text}{_RESET}" if self.colour else text

    def reversed(self, text: str) -> str:
        return f"{_REVERSED}{text}{_RESET}" if self.colour else text

    @property
    def bar(self) -> str:
        return "│" if self.lines else "|"

    def rule(self, corners: str, cards: int = 1, *, first: int | None = None) -> str:
        """`corners`: left, between two, right; `first`: the number of the first card below."""
        left, between, right = tuple(corners if self.lines else "+++")
        dashes = [("─" if self.lines else "-") * CELL] * cards
        if first is not None:
            dashes = [f"{dash[:2]}{first + at}{dash[3:]}" for at, dash in enumerate(dashes)]
        return left + between.join(dashes) + right

    @property
    def back(self) -> str:
        """Beside a card that no player knows, and all over a hidden one."""
        return "░" if self.lines else ":"


def picture(picture: Picture, style: Style, *, room: int, height: int) -> list[str]:
    """Lines no wider than `room` columns; at most `height` lines, if possible."""
    lines = [style.bold(clip(plain(picture.title), room)), ""]
    lines += _players(picture, style, room)
    if picture.pile:
        lines += _middle(picture, style, room)
    legend = [style.dim(clip(line, room)) for line in _legend(picture, style, room)]
    news = [line for text in picture.news for line in wrap(text, room, indent="  ")]
    names = [player.name for player in picture.players]
    totals = [player.total for player in picture.players]
    board = scorecard(names, picture.scores, totals, room=room)
    left = height - len(lines)
    if picture.scores and left >= len(board) + 5:
        lines += ["", *board]
        left -= len(board) + 1
    if left < len(legend) + 2:
        legend = []
    left -= len(legend)
    if (shown := min(len(news), left - 1)) > 0:
        lines += ["", *news[-shown:]]
    lines += legend
    return lines if style.lines else [line.replace("…", "~") for line in lines]


def scorecard(
    names: Sequence[str], scores: Sequence[Sequence[int | None]], totals: Sequence[int], room: int
) -> list[str]:
    """The strokes by hole, a line a player; of more holes than fit the last ones."""
    label = max(4, *(min(NAME, width(plain(name))) for name in names))
    shown = max(0, min(len(scores), (room - label - 7) // 5))
    first = len(scores) - shown
    numbers = "".join(f"{number:>5}" for number in range(first + 1, len(scores) + 1))
    lines = [f"{_padded('hole', label)}{numbers}  total"]
    for seat, name in enumerate(names):
        row = "".join(f"{'-' if hole[seat] is None else hole[seat]:>5}" for hole in scores[first:])
        lines.append(f"{_padded(clip(plain(name), label), label)}{row}{totals[seat]:>7}")
    return lines


def _players(picture: Picture, style: Style, room: int) -> list[str]:
    """Every player's cards, as many side by side as fit."""
    columns = max((len(row) for player in picture.players for row in player.rows), default=0)
    grid = columns * (CELL + 1) + 1
    block = min(room, max(grid, NAME - GAP))
    across = max(1, (room + GAP) // (block + GAP))
    # Rows of the same length look better than a full one and a rest.
    bands = -(-len(picture.players) // across)
    across = -(-len(picture.players) // bands)
    block = min(room, max(block, min((room + GAP) // across - GAP, 2 * NAME)))
    # Beside the cards a word has the gap too, but for the last player in a row.
    spare = min(GAP - 1, room - across * (block + GAP) + GAP)
    lines = []
    for start in range(0, len(picture.players), across):
        blocks = [
            _block(picture, seat, style, block, spare=spare)
            for seat in range(start, min(start + across, len(picture.players)))
        ]
        for row in range(max(map(len, blocks))):
            parts = [block_[row] if row < len(block_) else ("", 0) for block_ in blocks]
            line = "".join(text + " " * (block + GAP - columns) for text, columns in parts)
            lines.append(line.rstrip())
    return lines


def _block(
    picture: Picture, seat: int, style: Style, block: int, *, spare: int
) -> list[tuple[str, int]]:
    """A player: lines, each with its width."""
    player = picture.players[seat]
    mark = "> " if seat in picture.acting else "  "
    if style.lines:
        mark = mark.replace(">", "▸")
    total, name = f" {player.total}", plain(player.name)
    cards = len(player.rows[0]) if player.rows else 0
    columns = cards * (CELL + 1) + 1
    beside = f" {player.note}" if player.note else ""
    if width(mark + name + total + beside) <= block or columns + width(beside) > block + spare:
        total, beside = total + beside, ""
    name = clip(name, max(4, block - len(mark) - width(total)))
    text = clip(f"{mark}{name}{total}", block)
    look = style.red if player.fallen else style.bold if seat in picture.acting else str
    lines = [(look(text), width(text))]
    if not cards:
        return lines
    for index, row in enumerate(player.rows):
        first = index * cards if player.numbered else None
        lines.append((style.rule("├┼┤" if index else "┌┬┐", cards, first=first), columns))
        line = style.bar + style.bar.join(_cell(card, style) for card in row) + style.bar
        note = "" if index else beside
        lines.append((line + (look(note) if note else ""), columns + width(note)))
    lines.append((style.rule("└┴┘", cards), columns))
    return lines


def _cell(card: Card, style: Style) -> str:
    back = style.back
    label = f"{card.label:>2}"
    if card.face is Face.ALL:
        return f" {label} "
    if style.hidden or card.face is Face.HIDDEN:
        return style.dim(back * CELL)
    if card.face is Face.OWNER:
        return style.dim(f"({label})")
    return style.dim(f"{back}{label}{back}")


def _middle(picture: Picture, style: Style, room: int) -> list[str]:
    names = [f"pile of {picture.piled}", f"stock of {picture.stock}"]
    faces = [f" {picture.pile:>2} ", style.dim(style.back * CELL)]
    if room < BOX * 3:
        drawn = f", drawn {picture.drawn}" if picture.drawn else ""
        return wrap(f"{names[0]}: {picture.pile}, {names[1]}{drawn}", room, indent="  ")
    if picture.drawn:
        names.append("drawn")
        faces.append(f" {picture.drawn:>2} ")
    top, bottom = (" " * (BOX - CELL - 2) + style.rule(corners) for corners in ("┌┬┐", "└┴┘"))
    middle = "".join(
        f"{name:>{BOX - CELL - 3}} {style.bar}{face}{style.bar}"
        for name, face in zip(names, faces, strict=True)
    )
    return [top * len(faces), middle, bottom * len(faces)]


def _legend(picture: Picture, style: Style, room: int) -> list[str]:
    """What the marks of hidden cards mean, of those that there are."""
    faces = {card.face for player in picture.players for row in player.rows for card in row}
    back = style.back
    parts = []
    if (style.hidden and faces - {Face.ALL}) or Face.HIDDEN in faces:
        parts.append(f"{back * CELL} face down")
    if not style.hidden and faces - {Face.ALL, Face.HIDDEN}:
        if Face.NOBODY in faces:
            parts.append(f"{back} 5{back} nobody knows it")
        if Face.OWNER in faces:
            parts.append("( 5) its owner alone does")
        parts.append("  5  everybody does")
    line = "   ".join(parts)
    if width(line) > room:
        return parts
    return [line] if parts else []


def _padded(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))
