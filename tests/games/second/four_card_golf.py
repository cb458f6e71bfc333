"""Four-card golf once more, for the conformance suite."""

from tests.games.mirror import GRIDS, STOCK, Mirror, others


class Referee(Mirror):
    """The rules that are its own."""

    SIZE = 4
    STATED = (2, 8, 30)
    OPEN = False
    FIELDS = frozenset({"known"})
    LEAKS = {  # noqa: RUF012 - read only
        **STOCK,
        **GRIDS,
        "what others placed from the stock": lambda hole, _: hole._plays_own.copy(),
        "what others recycled": lambda hole, seat: hole._recycled_of_others(seat),
        "the recycled stock less others' cards": lambda hole, seat: hole._recycled_for(seat),
        "what others peeked at": lambda hole, seat: [cards[2:] for cards in others(hole, seat)],
    }

    def opening(self):
        for seat in self.order:
            self.seen[seat] |= {self.grid[seat, 2], self.grid[seat, 3]}
        yield from ()

    def instead(self):
        return ["knock"] if self.ended_by is None else []

    def ends(self, seat, move):
        return move == "knock"

    def score(self, grid):
        return sum(0 if rank == 13 else min(rank, 10) for rank in grid)

    def more(self, view):
        view["known"] = [self.letters(other) for other in range(self.seats)]

    def letters(self, seat):
        if seat not in self.order:
            return ""
        letters = ""
        for card in (self.grid[seat, at] for at in range(self.size)):
            knowing = [reader for reader, seen in self.seen.items() if card in seen]
            owner = "r" if card[0] == self.made > 0 else "o"
            letters += "a" if len(knowing) == self.seats else owner if knowing else "n"
        return letters
