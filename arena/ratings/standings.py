"""From counts to the table of an event.

Sorted by the fitted mu, rounded to the three decimals that are published, then by id; equal
mu share a range of ranks. Bots of which no rated event counts have no rank and come last, behind
them those whose results were annulled. Every entrant of the event has a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from arena.model import Duel, Event, Standing, Table, Withdrawal
from arena.ratings.counting import Counted
from arena.ratings.fit import Fit, fit
from arena.ratings.intervals import Moments, average, half_width, win_interval
from arena.ratings.outcomes import THOUSANDTHS, Account, PairCount

DECIMALS = 3
SHARE_DECIMALS = 4

NOT_REPRODUCIBLE = "not reproducible"
WITHDRAWN = "withdrawn"
UNRATED = (0, 0)
ANNULLED = "annulled"


def table(event: Event, counted: Counted) -> Table:
    """The table of an event, from what counts in it."""
    tally = counted.tally
    settings = event.settings
    duels = _duels(tally.pairs)
    fitted = fit(
        [entrant.id for entrant in event.entrants],
        tally.pairs,
        seats=settings.seats,
        settings=settings.rating,
    )
    withdrawn = {out.entrant: out for out in counted.withdrawn}
    annulled = {entrant for entrant, out in withdrawn.items() if out.annulled}
    rated = {entrant for entrant, account in tally.accounts.items() if account.deals}
    order = sorted(
        range(len(fitted.entrants)),
        key=lambda index: (
            fitted.entrants[index] not in rated,
            fitted.entrants[index] in annulled,
            -_rounded(fitted.mu[index]),
            fitted.entrants[index],
        ),
    )
    results = _results(duels)
    rows: list[Standing] = []
    for position, (index, (rank, rank_last)) in enumerate(
        zip(order, _ranks(fitted, order, rated), strict=True)
    ):
        entrant = fitted.entrants[index]
        below = order[position + 1] if position + 1 < len(order) else None
        p_next = None
        if entrant in rated and below is not None and fitted.entrants[below] in rated:
            p_next = round(fitted.better(index, below), SHARE_DECIMALS)
        account = tally.accounts.get(entrant, Account())
        win, win_low, win_high = _win(account)
        delta, delta_ci = _delta(account, unknown=settings.rating.forfeit_margin)
        wins, ties, losses = results.get(entrant, (0, 0, 0))
        rows.append(
            Standing(
                rank=rank,
                rank_last=rank_last,
                entrant=entrant,
                mu=_rounded(fitted.mu[index]),
                sigma=_rounded(fitted.sigma(index)),
                p_next=p_next,
                win=win,
                win_low=win_low,
                win_high=win_high,
                delta=delta,
                delta_ci=delta_ci,
                wins=wins,
                ties=ties,
                losses=losses,
                deals=account.deals,
                matches=account.matches,
                strokes=_ratio(account.strokes, account.holes),
                ms=_ratio(account.think_us, account.decisions * 1000),
                off_turn_ms=_ratio(account.off_turn_us, account.matches * 1000),
                faults=tuple(sorted(account.faults.items())),
                note=_note(entrant, withdrawn, counted.not_reproducible),
            )
        )
    return Table(
        event=event,
        rows=tuple(rows),
        duels=duels,
        matches=tally.matches,
        planned=counted.plan.matches,
        withdrawn=counted.withdrawn,
    )


def _ranks(fitted: Fit, order: Sequence[int], rated: set[str]) -> list[tuple[int, int]]:
    """First and last rank of each row; rows that can't be told apart share a range."""
    ranks: list[tuple[int, int]] = []
    placed = [index for index in order if fitted.entrants[index] in rated]
    for _, group in groupby(placed, key=lambda index: _rounded(fitted.mu[index])):
        size = len(list(group))
        ranks += [(len(ranks) + 1, len(ranks) + size)] * size
    return ranks + [UNRATED] * (len(order) - len(placed))


def _win(account: Account) -> tuple[float, float, float]:
    """Share of the points at stake, and its interval."""
    found = average(_strata(account.beaten))
    if found is None:
        return 0.0, 0.0, 1.0
    low, high = win_interval(found)
    return (
        round(found.mean, SHARE_DECIMALS),
        round(low, SHARE_DECIMALS),
        round(high, SHARE_DECIMALS),
    )


def _delta(account: Account, *, unknown: float) -> tuple[float, float]:
    """Strokes a match against an opponent, and half the interval."""
    found = average(_strata(account.margin))
    if found is None:
        return 0.0, 0.0
    half = half_width(found, unknown=unknown * THOUSANDTHS)
    return _rounded(found.mean / THOUSANDTHS), _rounded(half / THOUSANDTHS)


def _strata(moments: Mapping[str, Moments]) -> list[Moments]:
    return [stratum for _, stratum in sorted(moments.items())]


def _duels(pairs: Mapping[tuple[str, str], PairCount]) -> tuple[Duel, ...]:
    """Both cells of every pair that met, sorted by row and column."""
    duels: list[Duel] = []
    for (one, two), count in pairs.items():
        first = count.first + count.first_playoffs
        second = count.second + count.second_playoffs
        ties = count.ties - count.first_playoffs - count.second_playoffs
        duels.append(Duel(row=one, column=two, wins=first, ties=ties, losses=second))
        duels.append(Duel(row=two, column=one, wins=second, ties=ties, losses=first))
    return tuple(sorted(duels, key=lambda duel: (duel.row, duel.column)))


def _results(duels: Sequence[Duel]) -> dict[str, tuple[int, int, int]]:
    results: dict[str, tuple[int, int, int]] = {}
    for duel in duels:
        wins, ties, losses = results.get(duel.row, (0, 0, 0))
        results[duel.row] = (wins + duel.wins, ties + duel.ties, losses + duel.losses)
    return results


def _note(entrant: str, withdrawn: Mapping[str, Withdrawal], unlike: frozenset[str]) -> str:
    notes = []
    if entrant in withdrawn:
        notes.append(ANNULLED if withdrawn[entrant].annulled else WITHDRAWN)
    if entrant in unlike:
        notes.append(NOT_REPRODUCIBLE)
    return ", ".join(notes)


def _ratio(value: int, number: int) -> float:
    return _rounded(value / number) if number else 0.0


def _rounded(value: float) -> float:
    """As published; adding 0.0 turns a negative zero into zero."""
    return round(value, DECIMALS) + 0.0
