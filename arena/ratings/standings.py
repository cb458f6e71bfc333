"""Make the table of an event from its counts.

Rows are sorted by the fitted mu, rounded to the three published decimals, then by id. A row's range
of ranks begins behind all that are separated from it above and ends before all that are separated
below: bots that can't be told apart share ranks. Bots of which no rated deal counts come last,
behind them those whose results were annulled; neither have a rank or a rating, and a number that
was not measured is None. Every entrant of the event has a row.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import pairwise, zip_longest
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from arena.model import (
    ADJUSTED,
    DERIVATION,
    RESULTS,
    Duel,
    Event,
    OpenPair,
    RateOn,
    Standing,
    Table,
    Withdrawal,
)
from arena.ratings import outlook
from arena.ratings.counts import EventCount
from arena.ratings.evidence import fitted, lead_of, wider
from arena.ratings.fit import DECIMALS, Fit
from arena.ratings.intervals import Z95, Average, Moments, average, half_width, win_interval
from arena.ratings.outcomes import THOUSANDTHS, Account, PairCount, Tally
from arena.ratings.separation import always, separation
from arena.schedule import Errors, step_down

SHARE_DECIMALS = 4

NOT_REPRODUCIBLE = "not reproducible"
WITHDRAWN = "withdrawn"
ANNULLED = "annulled"


def table(
    event: Event,
    counted: EventCount,
    *,
    rule: int = DERIVATION,
    ahead: bool = False,
    hidden: Collection[str] = (),
) -> Table:
    """`rule`: of derivation; an older one only for files of an event that names it. `ahead`: also
    tell what would tell neighbours apart, which no file has. `hidden`: bots that count without a
    row: ranks and intervals are those among the others.
    """
    tally = counted.tally
    settings = event.settings
    withdrawn = {out.entrant: out for out in counted.withdrawn}
    annulled = {entrant for entrant, out in withdrawn.items() if out.annulled}
    # While an event is played, the sums still hold results of annulled bots.
    rated = {entrant for entrant, sums in tally.accounts.items() if sums.deals} - annulled
    duels = _duels(tally.pairs, annulled, by_places=rule == 1)
    found = fitted(event, tally, settings.rate_on, over=_over(event, counted))
    order = sorted(
        (entrant not in rated, entrant in annulled, -_rounded(mu), entrant, index)
        for index, (entrant, mu) in enumerate(zip(found.entrants, found.mu, strict=True))
        if entrant not in hidden
    )
    measured = _measured(event, counted, found, [at for unrated, *_, at in order if not unrated])
    results: dict[str, Counter[str]] = defaultdict(lambda: Counter(wins=0, ties=0, losses=0))
    for duel in duels:
        results[duel.row].update(wins=duel.wins, ties=duel.ties, losses=duel.losses)
    rows: list[Standing] = []
    for *_, entrant, _ in order:
        account = tally.accounts.get(entrant, Account())
        shown = {} if entrant in annulled else _of_matches(account)
        if entrant in rated:
            shown |= {**results[entrant], **measured[entrant]}
        faults, note = sorted(account.faults.items()), _note(entrant, withdrawn, counted)
        rows.append(Standing(entrant=entrant, faults=tuple(faults), note=note, **shown))
    of_rows = tuple(entrant for entrant in event.entrants if entrant.id not in hidden)
    return Table(
        event=replace(event, entrants=of_rows) if hidden else event,
        rows=tuple(rows),
        duels=tuple(duel for duel in duels if not {duel.row, duel.column} & set(hidden)),
        matches=tally.matches,
        planned=counted.planned,
        withdrawn=counted.withdrawn,
        ended=counted.end.note,
        verdict=counted.end.verdict,
        open_pairs=_open_pairs(event, counted, found, order) if ahead else UNSET,
        rule=rule,
    )


def _open_pairs(
    event: Event, counted: EventCount, found: Fit, order: Sequence[tuple[Any, ...]]
) -> tuple[OpenPair, ...]:
    """Of bots that are rated and play on; a trial has a question of its own."""
    if event.settings.trial:
        return ()
    gone = {out.entrant for out in counted.withdrawn}
    placed = [at for unrated, *_, entrant, at in order if not unrated]
    errors = _errors(event, counted, found, len(placed))
    playing = [at for at in placed if found.entrants[at] not in gone]
    tally, share = counted.tally, _share(counted)
    return tuple(outlook.open_pairs(event.settings, tally, (found, playing), errors, share))


def _over(event: Event, counted: EventCount) -> bool:
    """Whether a planned event has been played to its end. False for races and trials: their length
    depends on results.
    """
    return not (counted.missing or event.settings.adaptive)


def _share(counted: EventCount) -> float:
    """Of the matches that the event has as far as it is decided."""
    played = counted.tally.matches
    return played / (played + counted.missing) if counted.missing else 1.0


def _of_matches(account: Account) -> dict[str, Any]:
    """What counted matches show, whether or not their rated deals are whole."""
    return {
        "deals": account.deals,
        "matches": account.matches,
        "strokes": _ratio(account.strokes, account.holes),
        "ms": _ratio(account.think_us, account.decisions * 1000),
        "off_turn_ms": _ratio(account.off_turn_us, account.matches * 1000),
    }


def _measured(
    event: Event, counted: EventCount, found: Fit, order: Sequence[int]
) -> dict[str, dict[str, Any]]:
    """The measured fields of each rated bot; `order`: their indices, the best first."""
    settings, names = event.settings, found.entrants
    errors = _errors(event, counted, found, len(order))

    def apart(one: int, two: int) -> bool:
        lead = lead_of(found, one, two, settings.rating)
        return lead.strokes > errors(lead.error) * lead.error

    ranks = _ranks(order, apart)
    over = _over(event, counted)
    placed = {names[index]: ranks[index] for index in order}
    disputed = _disputed(event, counted.tally, placed, over=over)
    against = found.against(order)
    # A trial ends when things are clear, so its interval has to be wider.
    surer = errors(lead_of(found, 0, 1, settings.rating).error) / Z95 if settings.trial else 1.0
    wide = {on: wider(settings, counted.tally, on, over=over) for on in (RESULTS, ADJUSTED)}
    unknown = settings.rating.forfeit_margin * THOUSANDTHS

    def mean_of(bot: str, sums: Mapping[str, Moments], rate_on: RateOn) -> Average:
        mean = _average(sums)
        return replace(mean, error=mean.error * math.sqrt(wide[rate_on].get(bot, 1.0)))

    def difference(mean: Average) -> tuple[float, float]:
        """Strokes a match against an opponent, and half the interval."""
        half = surer * half_width(mean, unknown=unknown)
        return _rounded(mean.mean / THOUSANDTHS), _rounded(half / THOUSANDTHS)

    rows: dict[str, dict[str, Any]] = {}
    for index, below in zip_longest(order, order[1:]):
        account = counted.tally.accounts[names[index]]
        name = names[index]
        wins = mean_of(name, account.beaten, RESULTS)
        low, high = win_interval(wins)
        delta, delta_ci = difference(mean_of(name, account.margin, RESULTS))
        rows[name] = row = {
            "rank": ranks[index][0],
            "rank_last": ranks[index][1],
            "mu": _rounded(found.mu[index]),
            "sigma": _rounded(found.sigma(index)),
            "sigma_field": _rounded(against[index]) if len(against) > 1 else None,
            "p_next": None if below is None else round(found.better(index, below), SHARE_DECIMALS),
            "win": round(wins.mean, SHARE_DECIMALS),
            "win_low": round(low, SHARE_DECIMALS),
            "win_high": round(high, SHARE_DECIMALS),
            "delta": delta,
            "delta_ci": delta_ci,
            "disputed": name in disputed,
        }
        if settings.evaluator:
            adjusted, adjusted_ci = difference(mean_of(name, account.adjusted, ADJUSTED))
            luck = _rounded(delta - adjusted)
            row |= {"adjusted": adjusted, "adjusted_ci": adjusted_ci, "luck": luck}
    return rows


def _ranks(placed: Sequence[int], apart: Callable[[int, int], bool]) -> dict[int, tuple[int, int]]:
    """First and last rank of each that is rated; `apart`: whether the first is above the second."""
    ranks = {}
    for index in placed:
        above = sum(apart(other, index) for other in placed if other != index)
        below = sum(apart(index, other) for other in placed if other != index)
        ranks[index] = (1 + above, len(placed) - below)
    return ranks


def _errors(event: Event, counted: EventCount, found: Fit, rated: int) -> Errors:
    """How many standard errors tell two apart, by the error of their lead. A format that stops when
    things are clear has to be surer, and so has a table of an event that is still played; a race is
    ranked by the errors that it was decided by.
    """
    settings, withdrawn = event.settings, {out.entrant for out in counted.withdrawn}

    def needed(pairs: int, error: float, times: float = 1.0) -> float:
        del times
        return separation(settings, pairs, error)

    if settings.trial:
        return partial(needed, 1)
    if not (settings.racing or settings.ladder):
        # Any two, not neighbours alone: a range of ranks ends at any separated pair.
        pairs = rated * (rated - 1) // 2
        rate = settings.rating.error_rate / max(1, pairs)

        def planned(error: float, times: float = 1.0) -> float:
            share = times * _share(counted)
            if 0 < share < 1 and settings.looks == 1:
                return always(rate, share**-0.5)
            return needed(pairs, error)

        return planned
    order = sorted(
        (-mu, entrant, index)
        for index, (mu, entrant) in enumerate(zip(found.mu, found.entrants, strict=True))
        if entrant not in withdrawn
    )
    leads = (lead_of(found, one, two, settings.rating) for (*_, one), (*_, two) in pairwise(order))
    return partial(needed, step_down(leads, len(found.entrants) - 1, needed))


def _disputed(
    event: Event, tally: Tally, ranks: Mapping[str, tuple[int, int]], *, over: bool
) -> set[str]:
    """Bots that would be outside their range of ranks by what the event doesn't rate on."""
    if not event.settings.evaluator:
        return set()
    other = RESULTS if event.settings.rate_on == ADJUSTED else ADJUSTED
    found = fitted(event, tally, other, over=over)  # of which only the order counts
    order = [entrant for entrant in found.order() if entrant in ranks]
    return {
        entrant
        for place, entrant in enumerate(order, 1)
        if not ranks[entrant][0] <= place <= ranks[entrant][1]
    }


def _average(moments: Mapping[str, Moments]) -> Average:
    """Of a rated bot, over its pairings."""
    found = average(stratum for _, stratum in sorted(moments.items()))
    assert found is not None, "it is rated"
    return found


def _duels(
    pairs: Mapping[tuple[str, str], PairCount], annulled: Collection[str], *, by_places: bool
) -> tuple[Duel, ...]:
    """Both cells of every pair that met, sorted by row and column. `by_places`: see `PairCount`."""
    duels: list[Duel] = []
    for (one, two), count in pairs.items():
        if one in annulled or two in annulled:
            continue
        mine, theirs = count.first_playoffs, count.second_playoffs
        if by_places:
            mine, theirs = count.first_places, count.second_places
        first, second, ties = count.first + mine, count.second + theirs, count.ties - mine - theirs
        duels.append(Duel(row=one, column=two, wins=first, ties=ties, losses=second))
        duels.append(Duel(row=two, column=one, wins=second, ties=ties, losses=first))
    return tuple(sorted(duels, key=lambda duel: (duel.row, duel.column)))


def _note(entrant: str, withdrawn: Mapping[str, Withdrawal], counted: EventCount) -> str:
    out = withdrawn.get(entrant)
    notes = [ANNULLED if out.annulled else WITHDRAWN] if out else []
    return ", ".join(notes + [NOT_REPRODUCIBLE] * (entrant in counted.not_reproducible))


def _ratio(value: int, number: int) -> float | None:
    return _rounded(value / number) if number else None


def _rounded(value: float) -> float:
    """Round as published; adding 0.0 turns a negative zero into zero."""
    return round(value, DECIMALS) + 0.0
