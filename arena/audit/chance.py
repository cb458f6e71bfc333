"""Compute p-values: tails, permutations, corrections for many questions.

Permutations are drawn from SHAKE-256 under a label, as deals are: the same event gives the same
p-values everywhere. They also correct for many questions: the most unusual of all is compared with
the most unusual of each permutation, the next with that of those that remain (Westfall and Young's
step-down).

A question is a row of doubles: cell by cell, what each way in which it could have been drawn makes
of it. The first of a cell is what was observed; all of a cell sum to 0.

Invariant: a p-value is never less than what the permutations can show, 1 of (tries + 1).
"""

from __future__ import annotations

import hashlib
import math
import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TypedDict
from zlib import crc32

from arena.ratings.intervals import log_ways
from arena.ratings.normal import cdf

TRIES = 1999
FEWEST_TRIES = 1599  # enough for 1 % in both tails, corrected for all parts of a report
_WORK = 100_000_000  # values looked up for a family of questions: some ten seconds
_SLACK = 1e-9  # the most by which rounding may lower a draw that equals the observation


class PValues(TypedDict):
    p_alone: float  # how often chance shows as much in this one
    p: float  # how often in any of those that were asked together


def cell_of(pairing: str, deal: int, cells: int) -> int:
    return crc32(b"%s/%d" % (pairing.encode(), deal)) % cells


def numbers(seed: bytes, *, tries: int, many: int) -> Iterator[tuple[int, ...]]:
    """Yield, for each try, `many` pseudorandom numbers of 32 bits."""
    layout = struct.Struct(f"<{many}I")
    for number in range(tries):
        yield layout.unpack(hashlib.shake_256(seed + b"/%d" % number).digest(layout.size))


def draws(seed: bytes, *, tries: int, cells: int, ways: int) -> Iterator[list[int]]:
    """Draw one of `ways` for each cell, so many times: where in a row each of them is."""
    starts = range(0, cells * ways, ways)
    for stream in numbers(seed, tries=tries, many=cells):
        yield [start + value % ways for start, value in zip(starts, stream, strict=True)]


def tries_for(values: int) -> int:
    return max(FEWEST_TRIES, min(TRIES, _WORK // max(1, values)))


def permutation_test(rows: Sequence[array[float]], seed: bytes, *, ways: int) -> list[PValues]:
    cells = len(rows[0]) // ways if rows else 0
    spread = [math.sqrt(sum(value * value for value in row) / ways) or 1.0 for row in rows]
    drawn = (
        [sum(map(row.__getitem__, way)) / sd for row, sd in zip(rows, spread, strict=True)]
        for way in draws(seed, tries=tries_for(cells * len(rows)), cells=cells, ways=ways)
    )
    observed = [sum(row[::ways]) / sd for row, sd in zip(rows, spread, strict=True)]
    return p_values(observed, drawn if rows else ())


def p_values(observed: Sequence[float], drawn: Iterable[Sequence[float]]) -> list[PValues]:
    """By question, from the scores of what was observed and of permutations; great is unusual."""
    order = sorted(range(len(observed)), key=observed.__getitem__)
    alone, family = [0] * len(observed), [0] * len(observed)
    tries = 0
    for scores in drawn:
        tries += 1
        most = -math.inf
        for at in order:
            score = scores[at] + _SLACK
            most = max(most, score)
            alone[at] += score >= observed[at]
            family[at] += most >= observed[at]
    found = [PValues(p_alone=(1 + many) / (1 + tries), p=0.0) for many in alone]
    least = 0.0
    for at in reversed(order):
        least = found[at]["p"] = max(least, (1 + family[at]) / (1 + tries))
    return found


def sign_flips(values: Iterable[float]) -> array[float]:
    """A question whose cells could as well have had the other sign."""
    return array("d", (signed for value in values for signed in (value, -value)))


def holm(alone: Sequence[float]) -> list[PValues]:
    found = [PValues(p_alone=p, p=1.0) for p in alone]
    most = 0.0
    for before, answer in enumerate(sorted(found, key=itemgetter("p_alone"))):
        most = answer["p"] = max(most, min(1.0, answer["p_alone"] * (len(alone) - before)))
    return found


def both_tails(t: float, freedom: int) -> float:
    """P(Student's t is farther from 0), by Wallace: 5 % off at most from 4 degrees on."""
    z = math.sqrt(freedom * math.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return 2 * cdf(-z)


def hypergeometric_tail(hits: int, *, drawn: int, marked: int, all_: int) -> float:
    """P(at least `hits` of `drawn` are marked), when `marked` of `all_` are."""
    whole, others = log_ways(all_, drawn), all_ - marked
    tail = range(max(hits, drawn - others), min(drawn, marked) + 1)
    ways = (log_ways(marked, k) + log_ways(others, drawn - k) for k in tail)
    return min(1.0, sum(math.exp(some - whole) for some in ways))
