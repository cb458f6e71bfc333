"""The total of several games, and the sheet of grades.

The rule. Skills of all games have one scale: one deviation of performance is `beta`. An author's
total is the mean of the skills of the active bot in all games; who lacks one is not in the total.
Games are played apart, so the variance of a difference of totals is the sum of those of the games,
by the square of their number. Ranges of ranks follow as in a game's table.
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping
from itertools import pairwise, starmap
from statistics import fmean

from arena.ladder.authors import listed_authors
from arena.ladder.folder import Ladder
from arena.ladder.ranking import fit_of, ranking
from arena.ladder.state import AuthorState
from arena.model import Frozen, Standing
from arena.ratings.fit import DECIMALS, Fit
from arena.ratings.separation import at_any_scale
from arena.ratings.stroke_fit import skill_of_a_stroke
from arena.schedule import Lead, step_down


class TotalRow(Frozen, frozen=True, kw_only=True):
    author: str
    """The handle."""
    entrant: str
    rank: int
    rank_last: int
    skill: float
    games: dict[str, float]


def total(ladder: Ladder) -> list[TotalRow]:
    """The authors in the order of their totals; empty where fewer than two games were played."""
    games = [game for game in ladder.state.rules.games if ladder.state.played(game)]
    if len(games) < 2:
        return []
    fits = {game: fit_of(ladder, game) for game in games}
    common = set.intersection(*({*found.rated} for found in fits.values()))
    names = sorted(common)
    if not names:
        return []
    skill = {
        name: {game: found.fit.mu[found.fit.entrants.index(name)] for game, found in fits.items()}
        for name in names
    }
    mean = {name: fmean(skill[name].values()) for name in names}
    order = sorted(names, key=lambda name: (-round(mean[name], DECIMALS), name))
    places = {
        game: {name: at for at, name in enumerate(found.fit.entrants)}
        for game, found in fits.items()
    }
    whole: Mapping[str, Fit] = {game: found.fit for game, found in fits.items()}

    def lead(one: str, two: str) -> Lead:
        errors = (whole[game].ahead(places[game][one], places[game][two])[1] for game in games)
        return Lead(mean[one] - mean[two], math.hypot(*errors) / len(games))

    ladder_rules = ladder.state.rules
    ratings = [ladder_rules.event(game).settings().rating for game in games]
    narrow = max(ladder_rules.close, 0.5) / 3
    unit = math.hypot(*(narrow * skill_of_a_stroke(each) for each in ratings)) / len(games)

    def errors(pairs: int, error: float) -> float:
        return at_any_scale(ratings[0].error_rate / max(1, pairs), error / unit)

    pairs = step_down(starmap(lead, pairwise(order)), len(order) - 1, errors)

    def apart(one: str, two: str) -> bool:
        found = lead(one, two)
        return found.strokes > errors(pairs, found.error) * found.error

    return [
        TotalRow(
            author=ladder.state.author_of(name),
            entrant=name,
            rank=1 + sum(apart(other, name) for other in order if other != name),
            rank_last=len(order) - sum(apart(name, other) for other in order if other != name),
            skill=round(mean[name], DECIMALS),
            games={game: round(value, DECIMALS) for game, value in skill[name].items()},
        )
        for name in order
    ]


def grades(ladder: Ladder) -> str:
    """A CSV with a row for each author, also for those who never had a bot that runs."""
    games = list(ladder.state.rules.games)
    tables = {game: ranking(ladder, game) for game in games}
    totals = {row.author: row for row in total(ladder)}
    rows = {game: {row.entrant: row for row in found.rows} for game, found in tables.items()}
    listed, known = listed_authors(ladder.folder), ladder.private.authors
    keys = {handle: author.key for handle, author in known.items()}
    every = {(keys.get(handle, handle), handle) for handle in {*ladder.state.authors, *keys}}
    every |= {(name, "") for name in listed if name not in keys.values()}
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    head = ["author", "name", "group", "handle", "submissions", "accepted", "active", "faults"]
    for game in [*games, *(["total"] if len(games) > 1 else [])]:
        head += [f"{game} rank", f"{game} rank last", f"{game} skill"]
    sheet.writerow(head)
    for name, handle in sorted(every):
        row, author = listed.get(name), ladder.state.authors.get(handle, AuthorState(handle))
        active = author.active.id if author.active else ""
        standings = [rows[game].get(active) for game in games]
        cells = [name, row.name if row else "", row.group if row else "", handle]
        cells += [str(author.submissions), str(len(author.accepted)), active, _faults(standings)]
        for standing in standings:
            shown = (standing.rank, standing.rank_last, standing.mu) if standing else ()
            cells += _cells(shown)
        if len(games) > 1:
            found = totals.get(handle)
            cells += _cells((found.rank, found.rank_last, found.skill) if found else ())
        sheet.writerow([_harmless(cell) for cell in cells])
    return out.getvalue()


def _faults(standings: Iterable[Standing | None]) -> str:
    return str(sum(count for each in standings if each for _, count in each.faults))


def _cells(found: tuple[float | None, ...]) -> list[str]:
    return ["" if each is None else f"{each:g}" for each in found or (None, None, None)]


def _harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
