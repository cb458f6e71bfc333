"""Test luck by bot: what chance costs a bot is 0 on average, whatever the bots do.

A mean far from 0 says that the deals were not random, that a bot knew of them, or that the
evaluator is wrong. The unit is the rated deal.
"""

from arena.audit.chance import both_tails, holm
from arena.audit.rated_deals import RatedDeal
from arena.audit.report import Luck
from arena.ratings.intervals import Moments, average
from arena.ratings.outcomes import THOUSANDTHS

FEWEST = 5
"""Rated deals of a bot: with fewer, the error of its mean means nothing."""


class LuckByBot:
    def __init__(self) -> None:
        self._moments: dict[str, Moments] = {}

    def add(self, rated: RatedDeal) -> None:
        if all(len(record.luck) == len(record.seats) for record in rated.records):
            for entrant, luck in rated.sums(lambda record: record.luck).items():
                self._moments.setdefault(entrant, Moments()).add(luck, len(rated.records))

    def rows(self, _: bytes) -> list[Luck]:
        found = {
            bot: mean
            for bot, moments in sorted(self._moments.items())
            if moments.events >= FEWEST and (mean := average([moments])) is not None and mean.error
        }
        scores = {bot: mean.mean / mean.error for bot, mean in found.items()}
        alone = [both_tails(scores[bot], mean.freedom) for bot, mean in found.items()]
        return [
            Luck(
                bot=bot,
                strokes=round(mean.mean / THOUSANDTHS, 6),
                error=round(mean.error / THOUSANDTHS, 6),
                z=round(scores[bot], 6),
                p_alone=own,
                p=p,
            )
            for (bot, mean), own, p in zip(found.items(), alone, holm(alone), strict=True)
        ]
