"""From counts to the table of an event.

Sorted by the fitted mu, rounded to the three decimals that are published, then by id. A row's range
of ranks begins behind all that are separated from it above and ends before all that are below:
what can't be told apart shares ranks. Bots of which no rated event counts have no rank and come
last, behind them those whose results were annulled. Every entrant of the event has a row.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence

from arena.model import ADJUSTED, RESULTS, Duel, Event, Settings, Standing, Table, Withdrawal
from arena.ratings.counting import Counted
from arena.ratings.evidence import fitted, lead_of, separation
from arena.ratings.fit import DECIMALS, Fit
from arena.ratings.intervals import Z95, Moments, average, half_width, win_interval
from arena.ratings.outcomes import THOUSANDTHS, Account, PairCount, Tally
from arena.waves import step_down

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
    rated = {entrant for entrant, account in tally.accounts.items() if account.deals}
    found = fitted(event, tally, settings.rate_on)
    withdrawn = {out.entrant: out for out in counted.withdrawn}
    errors = _errors(found, rated, withdrawn, settings)
    ranks = _ranks(found, rated, errors)
    # A trial ends when things are clear, so its interval has to be wider.
    wider = errors / Z95 if settings.trial else 1.0
    annulled = {entrant for entrant, out in withdrawn.items() if out.annulled}
    elsewhere = _elsewhere(event, tally, rated, ranks)
    order = sorted(
        range(len(found.entrants)),
        key=lambda index: (
            found.entrants[index] not in rated,
            found.entrants[index] in annulled,
            -_rounded(found.mu[index]),
            found.entrants[index],
        ),
    )
    results = _results(duels)
    rows: list[Standing] = []
    for position, index in enumerate(order):
        entrant = found.entrants[index]
        below = order[position + 1] if position + 1 < len(order) else None
        p_next = None
        if entrant in rated and below is not None and found.entrants[below] in rated:
            p_next = round(found.better(index, below), SHARE_DECIMALS)
        account = tally.accounts.get(entrant, Account())
        win, win_low, win_high = _win(account)
        rank, rank_last = ranks.get(entrant, UNRATED)
        unknown = settings.rating.forfeit_margin
        delta, delta_ci = _delta(account.margin, unknown=unknown, wider=wider)
        adjusted, adjusted_ci = _delta(account.adjusted, unknown=unknown, wider=wider)
        wins, ties, losses = results.get(entrant, (0, 0, 0))
        rows.append(
            Standing(
                rank=rank,
                rank_last=rank_last,
                entrant=entrant,
                mu=_rounded(found.mu[index]),
                sigma=_rounded(found.sigma(index)),
                p_next=p_next,
                win=win,
                win_low=win_low,
                win_high=win_high,
                delta=delta,
                delta_ci=delta_ci,
                adjusted=adjusted if settings.evaluator else None,
                adjusted_ci=adjusted_ci if settings.evaluator else 0.0,
                luck=_rounded(delta - adjusted) if settings.evaluator else None,
                disputed=entrant in elsewhere,
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
        ended=counted.end.note,
        verdict=counted.end.verdict,
    )


def _ranks(found: Fit, rated: set[str], errors: float) -> dict[str, tuple[int, int]]:
    """First and last rank of each that is rated, apart from others by so many standard errors."""
    placed = [index for index, entrant in enumerate(found.entrants) if entrant in rated]

    def apart(one: int, two: int) -> bool:
        lead, error = found.ahead(one, two)
        return lead > errors * error

    ranks = {}
    for index in placed:
        above = sum(apart(other, index) for other in placed if other != index)
        below = sum(apart(index, other) for other in placed if other != index)
        ranks[found.entrants[index]] = (1 + above, len(placed) - below)
    return ranks


def _errors(
    found: Fit, rated: Collection[str], withdrawn: Collection[str], settings: Settings
) -> float:
    """How many standard errors tell two apart. Who has looked several times, and stopped when
    things were clear, has to be surer: in a race they are those that it was decided by.
    """

    def apart(pairs: int, looks: int) -> float:
        return separation(pairs, looks=looks, error_rate=settings.rating.error_rate)

    if settings.trial is not None:
        return apart(1, settings.trial.looks)
    if (racing := settings.racing) is None:
        # Any two, not neighbours alone: a range of ranks ends wherever somebody is apart.
        return apart(len(rated) * (len(rated) - 1) // 2, 1)
    order = sorted(
        (-mu, entrant, index)
        for index, (mu, entrant) in enumerate(zip(found.mu, found.entrants, strict=True))
        if entrant not in withdrawn
    )
    leads = (
        lead_of(found, one, two, settings.rating)
        for (*_, one), (*_, two) in itertools.pairwise(order)
    )
    return step_down(leads, len(found.entrants) - 1, lambda pairs: apart(pairs, racing.looks))


def _elsewhere(
    event: Event, tally: Tally, rated: set[str], ranks: Mapping[str, tuple[int, int]]
) -> set[str]:
    """Who would be outside its range of ranks by what the event doesn't rate on."""
    if not event.settings.evaluator:
        return set()
    other = RESULTS if event.settings.rate_on == ADJUSTED else ADJUSTED
    found = fitted(event, tally, other)
    order = [entrant for entrant in found.order() if entrant in rated]
    return {
        entrant
        for place, entrant in enumerate(order, 1)
        if not ranks[entrant][0] <= place <= ranks[entrant][1]
    }


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


def _delta(margins: Mapping[str, Moments], *, unknown: float, wider: float) -> tuple[float, float]:
    """Strokes a match against an opponent, and half the interval."""
    found = average(_strata(margins))
    if found is None:
        return 0.0, 0.0
    half = wider * half_width(found, unknown=unknown * THOUSANDTHS)
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
