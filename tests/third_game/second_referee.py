"""Open Six once more, for the conformance suite."""

from tests.games.mirror import STOCK, Mirror


class Referee(Mirror):
    """The rules that are its own."""

    SIZE = 6
    STATED = (2, 4, 30)
    LEAKS = STOCK

    def opening(self):
        self.tell_all(*self.grid.values())
        yield from ()

    def instead(self):
        return ["pass"]

    def ends(self, seat, move):
        return self.score(self.known(seat, seat)) <= 12

    def score(self, grid):
        rows = (grid[:3], grid[3:])
        return sum(sum(row) for row in rows if not row or row.count(row[0]) < 3)
