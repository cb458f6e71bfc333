"""Audit an event: what is unusual in its log, and how often chance alone shows as much. Pure.

Theory of operation. Counted records come in the order of their ids, so that the rotations of a deal
come together; each part takes one rated deal at a time and keeps sums, `auditor` runs all parts and
`report` is the result as data. What permutations need is kept by *cell*: each rated deal belongs to
one, by a hash of its id, and a permutation draws once for a whole cell. So it costs the same in an
event of a million matches as in one of a thousand, and is still exact. Blocks have no cells: a draw
there costs as much as adding up all rated deals.

Invariant: the report is a function of the event, its secret and the set of counted records.
"""
