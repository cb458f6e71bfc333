"""Audit an event: what is unusual in its log, and how often chance alone shows as much. Pure.

Theory of operation. Counted records come in the order of their ids, so that the rotations of a deal
come together; each part below takes one rated event at a time and keeps sums. What permutations
need is kept by *cell*: each rated event belongs to one, by a hash of its id, and a permutation
draws once for a whole cell. So it costs the same in an event of a million matches as in one of a
thousand, and is still exact: it draws from fewer of the permutations that a fair event makes
equally likely. Blocks have no cells: a draw there costs as much as adding up all rated events.

    rated_events  records grouped into rated events
    chance        p-values, permutations, corrections for many questions
    turns         turns and discards out of a hole's moves
    seats         what sitting, and playing, first is worth; ties
    caps          holes that only the turn cap ended
    luck          luck by bot
    rotations     bots that do better where the deal had been played before
    table_mates   bots that do better beside one other (score lift)
    discards      bots that leave good discards to one other
    blocks        bots whose results within a series are correlated
    trends        bots that get better or worse within a series
    hosts         time, faults, load
    auditor       all of these
    report        the result, as data

Invariant: the report is a function of the event, its secret and the set of counted records.
"""
