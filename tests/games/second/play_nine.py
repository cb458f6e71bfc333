"""Play Nine once more, for the conformance suite."""

from tests.games.mirror import GRIDS, STOCK, Mirror


class Referee(Mirror):
    """The rules that are its own."""

    SIZE = 8
    STATED = (2, 6, 60)
    LEAKS = {  # noqa: RUF012 - read only
        **STOCK,
        **GRIDS,
        "a tee-off before all have made theirs": lambda hole, _: [
            (hole._cards[seat][int(tee[4])], hole._cards[seat][int(tee[6])])
            for seat, tee in hole._tees.items()
        ],
    }

    def opening(self):
        self.phase = "tee"
        legal = [f"tee {a} {b}" for a in range(8) for b in range(a + 1, 8)]
        chosen = {}
        while len(chosen) < len(self.order):
            seat, move = yield {seat: legal for seat in self.order if seat not in chosen}
            chosen[seat] = move
        for seat in self.order:
            cards = [self.grid[seat, int(at)] for at in chosen[seat].split()[1:]]
            self.tell_all(*cards)
            self.note(seat, chosen[seat], cards=cards)
        self.phase = "turn"

    def away(self, seat):
        down = [at for at in range(8) if not self.open(seat, at)]
        return [f"flip {at}" for at in down] + ["skip"] * (len(down) == 1)

    def ends(self, seat, move):
        return all(self.open(seat, at) for at in range(8))

    def score(self, grid):
        columns = list(zip(grid[:4], grid[4:], strict=True))
        matched = [top for top, bottom in columns if top == bottom]
        loose = sum(top + bottom for top, bottom in columns if top != bottom)
        off = {1: 0, 2: -10, 3: -15, 4: -20}
        together = sum(off[matched.count(value)] for value in set(matched))
        return loose - 10 * matched.count(-5) + together
