"""Make the numbers by which regret judges moves: arena/regret/play_nine.json, four_card_golf.json.

    python bench/train_regret.py            # train, measure, write both files
    python bench/train_regret.py --check    # compare instead

**play-nine**: the tables are those of bench/train_strong: ten seconds of a C compiler's program,
the same bytes everywhere. What it costs to turn both cards of a column at the tee-off is measured:
5,000 deals of two seats are played to their end both ways by the example bot strong.

**four-card-golf**: how many turns are left, and which cards lie on the pile, is counted in 400
matches of results/four-card-golf, by classes of hands as the seat knows them that has moved: those
of the event whose commitment begins with 751b377e, with champion 1, not of today's. What hands come
to is computed for some chances of another turn, by iteration, from an endless pack.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path

from regret import by_bot, margin, play_on

from arena import open_results
from arena.deals import Deals, secret_from_seed
from arena.luck.four_card_golf import CLASSES, CODE, HANDS, KIND, KINDS, PACK, POINTS
from arena.registry import game
from arena.regret.four_card_golf import UnseenCards, class_of, expected_hands, last_gains

HERE = Path(__file__).parent
FILE = HERE.parent / "arena/regret/play_nine.json"
RESULTS = HERE.parent / "results/four-card-golf"
FOUR_FILE = FILE.with_name("four_card_golf.json")
TEES = 5000
MATCHES = 400
FEW = 5  # turns of a cell at which it counts as much as the mean of all cells
TURNS = (0, 100, 150, 200, 300, 400, 600, 900)
ROUNDS = 60  # of the iteration, at most; it ends when no hand changes by half a hundredth
FOUR = "Made by bench/train_regret.py from 400 matches of results/four-card-golf."
ABOUT = "Made by bench/train_regret.py: tables of bench/train_strong, and the tee-off measured."


def tables() -> dict[str, list]:
    """What bench/train_strong writes for the bot."""
    path = HERE / "train_strong" / "train.py"
    spec = importlib.util.spec_from_file_location("train_strong", path)
    train = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(train)
    return json.loads(train.tables(train.train(train.HOLES)))


def tee_off(deals: int) -> tuple[float, float]:
    """Strokes above the other that a tee-off in one column costs, and the standard error."""
    rules, policy = game("play-nine"), by_bot("strong")
    decks = Deals(secret_from_seed("tee"))
    costs = []
    for deal in range(deals):
        seat, scores = deal % 2, []
        for tee in ("tee 0 4", "tee 0 1"):
            deck = decks.deck("tee", deal, 1, rules.pack(2))
            hole = rules.start(seats=2, order=(0, 1), deck=deck, turn_cap=rules.turn_cap)
            for each in (0, 1):
                hole.apply(each, tee if each == seat else "tee 0 1")
            scores.append(margin(play_on(hole, policy), seat))
        costs.append(scores[0] - scores[1])
    mean = sum(costs) / deals
    return mean, (sum((cost - mean) ** 2 for cost in costs) / deals / (deals - 1)) ** 0.5


def nine(learned: dict[str, list], tee: float) -> str:
    """The text of the file. The bot's tables are tenths, but for its factors."""
    times = [
        {
            **{name: [10 * x for x in learned[name][at]] for name in ("moved", "to_move", "lead")},
            **{name: learned[name][at] for name in ("live_moved", "live_to_move", "feed")},
        }
        for at in range(9)
    ]
    found = {"about": ABOUT, "tee": max(0, round(100 * tee)), "times": times}
    return json.dumps(found, separators=(",", ":")) + "\n"


def counted(matches: int) -> tuple[list, list, list, int]:
    """Turns left of the seat that moved and of the others, by class; cards on the pile; what a last
    turn saves beyond what the judge computes.
    """
    results = open_results(RESULTS)
    rules, deals = game("four-card-golf"), Deals(bytes.fromhex(results.event.secret))
    pack, cells = rules.pack(2), range(len(CLASSES) + 1)
    moved, waiting = ([[[] for _ in cells] for _ in cells] for _ in range(2))
    piled, saved = [0] * KINDS, []
    wanted = [r for r in results.matches() if not any("random" in bot for bot in r.seats)]
    for record in sorted(wanted, key=lambda record: record.digest)[:matches]:
        for number, played in enumerate(record.holes[:9], 1):
            deck = deals.deck(record.pairing, record.deal, number, pack)
            hole = rules.start(seats=2, order=played.order, deck=deck, turn_cap=rules.turn_cap)
            seen, knocked = [], None
            for move in played.moves.split(","):
                (seat,) = hole.to_act()
                hole.apply(seat, move)
                view = hole.view(seat)
                if move == "draw" or (view.ended_by is not None and move != "knock"):
                    continue
                piled[KIND[view.discard]] += 1
                unseen, other = UnseenCards(view), 1 - seat
                (theirs,) = expected_hands(view, hole.events(seat, 0), unseen, [other])
                if move == "knock":
                    knocked = other, sum(theirs) - unseen.drawn(last_gains(theirs))
                    continue
                mine = sum(unseen.mean if card is None else KIND[card] for card in view.grids[seat])
                seen.append((seat, class_of(mine), class_of(sum(theirs)), view.turns))
            if knocked:
                other, expected = knocked
                saved.append(expected - hole.scores()[other])
            ending = hole.view(0)
            # A turn that is a knock changes no hand.
            turns = [many - (seat == ending.ended_by) for seat, many in enumerate(ending.turns)]
            for seat, mine, theirs, then in seen:
                moved[mine][theirs].append(turns[seat] - then[seat])
                # The other's next turn has begun, and is still to be played.
                waiting[theirs][mine].append(1 + turns[1 - seat] - then[1 - seat])
    return means(moved), means(waiting), piled, round(100 * sum(saved) / len(saved))


def means(cells: list) -> list:
    """In hundredths; a cell with few turns is drawn to the mean of all."""
    every = [turns for row in cells for cell in row for turns in cell]
    mean = sum(every) / len(every)
    return [[round(100 * (sum(c) + FEW * mean) / (len(c) + FEW)) for c in row] for row in cells]


def hands_worth(turns: int, piled: list) -> list:
    """By hand, what it comes to with so many hundredths of turns left, in hundredths.

    After a knock each of the others has one more turn, so the first is certain, if there is one;
    each of those behind it comes with the same chance.
    """
    plain = {
        hand: sum(POINTS[k] * (hand // CODE[k] % 8) for k in range(KINDS + 1)) for hand in HANDS
    }
    if not turns:
        return list(plain.values())
    after = {
        hand: [
            [hand - CODE[kind] + CODE[card] for kind in range(KINDS + 1) if hand // CODE[kind] % 8]
            for card in range(KINDS)
        ]
        for hand in HANDS
    }
    top = [many / sum(piled) for many in piled]
    draw = [many / sum(PACK) for many in PACK]

    def turn(value: dict) -> dict:
        """What hands come to that have a turn before they are worth so much."""
        found = {}
        for hand in HANDS:
            uses = [min([value[other] for other in others]) for others in after[hand]]
            stay = value[hand]
            drawn = sum(chance * min(stay, use) for chance, use in zip(draw, uses, strict=True))
            found[hand] = sum(chance * min(drawn, x) for chance, x in zip(top, uses, strict=True))
        return found

    again, value = (turns - 100) / turns, plain
    for _ in range(ROUNDS):
        further = turn(value)
        found = {hand: (1 - again) * plain[hand] + again * further[hand] for hand in HANDS}
        most = max(abs(found[hand] - value[hand]) for hand in HANDS)
        value = found
        if most < 0.5:
            break
    return list(map(round, turn(value).values()))


def four() -> str:
    """The text of the file for four-card golf."""
    moved, waiting, piled, saved = counted(MATCHES)
    values = [hands_worth(turns, piled) for turns in TURNS]
    found = {"about": FOUR, "moved": moved, "waiting": waiting}
    found |= {"saved": saved, "turns": TURNS, "values": values}
    return json.dumps(found, separators=(",", ":")) + "\n"


def main() -> int:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare: 1 if it differs")
    asked = parser.parse_args()
    made_now = {FOUR_FILE: four()}
    tee, error = tee_off(TEES)
    print(f"a tee-off in one column costs {tee:.2f} ± {error:.2f} strokes")
    made_now[FILE] = nine(tables(), tee)
    different = False
    for path, text in made_now.items():
        if asked.check:
            same = path.read_text(encoding="ascii") == text
            different = different or not same
            print(f"{path}: {'the same' if same else 'differs'}")
        else:
            path.write_text(text, encoding="ascii")
    return int(different)


if __name__ == "__main__":
    sys.exit(main())
