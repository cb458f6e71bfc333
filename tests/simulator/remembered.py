"""Memoize pure functions of the product, across events and seeds.

Theory of operation. All events of a scenario have one secret and come to one table, so in a hundred
seeds the same blocks are dealt, the same results fitted and the same tables written thousands of
times. Each function here has frozen arguments and results, or its key holds all that it reads.

Invariant: an answer is what the product's function has returned for an equal key.
"""

import functools

import msgspec

from arena import reports
from arena.formats import blocks
from arena.ratings import evidence
from arena.tuner.search import ParameterSearch

MOST = 1_000
"""Answers of a function that are kept: a table's text and its key are 9 KB, so 9 MB at most."""

_encode = msgspec.msgpack.Encoder().encode


def _kept(function, key_of):
    """The function; `key_of` makes a key of its arguments."""
    known = {}

    @functools.wraps(function)
    def answer(*words, **options):
        key = key_of(*words, **options)
        if key not in known:
            if len(known) >= MOST:
                known.clear()
            known[key] = function(*words, **options)
        return known[key]

    return answer


def _block_key(dealing, pairing, deals):
    return dealing._deals._secret, dealing._shuffled, pairing, dealing.pairings[pairing], deals


def _text_key(report, table):
    return report.render, _encode(table)


def _fit_key(entrants, pairs, *, wider, **options):
    return _encode((entrants, [*pairs.items()], [*wider.items()], options))


def _search_key(search, *words):
    state = (search._parameters, search._was, search._before, search._centre)
    return _encode((state, search._seed, search._stages, words))


FUNCTIONS = (
    (blocks.Dealing, "_block", _kept(blocks.Dealing._block, _block_key)),
    (evidence, "fit", _kept(evidence.fit, _fit_key)),
    (reports.TableReport, "file_text", _kept(reports.TableReport.file_text, _text_key)),
    *(
        (ParameterSearch, name, _kept(getattr(ParameterSearch, name), _search_key))
        for name in ("_highest", "optima")
    ),
)
"""What takes the place of what: (where it is, its name, the function)."""
