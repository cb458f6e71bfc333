"""Test luck by bot: what chance costs a bot is 0 on average, whatever the bots do.

A mean far from 0: the deals were not random, a bot knew of them, or the evaluator is wrong.
"""

from collections import defaultdict

from arena.audit.chance import both_tails, holm
from arena.audit.rated_deals import RatedDeal
from arena.audit.report import Luck
from arena.ratings.intervals import Moments, average
from arena.ratings.outcomes import THOUSANDTHS

FEWEST = 5  # rated deals of a bot: with fewer, the error of its mean means nothing


class LuckByBot:
    def __init__(self) -> None:
        self._moments: dict[str, Moments] = defaultdict(Moments)

    def add(self, rated: RatedDeal) -> None:
        if all(len(record.luck) == len(record.seats) for record in rated.records):
            for entrant, luck in rated.sums(lambda record: record.luck).items():
                self._moments[entrant].add(luck, len(rated.records))

    def rows(self, _: bytes) -> list[Luck]:
        found = {
            bot: mean
            for bot, moments in sorted(self._moments.items())
            if moments.events >= FEWEST and (mean := average([moments])) is not None and mean.error
        }
        answers = holm([both_tails(m.mean / m.error, m.freedom) for m in found.values()])
        return [
            Luck(
                bot=bot,
                strokes=round(mean.mean / THOUSANDTHS, 6),
                error=round(mean.error / THOUSANDTHS, 6),
                z=round(mean.mean / mean.error, 6),
                **answer,
            )
            for (bot, mean), answer in zip(found.items(), answers, strict=True)
        ]
