"""Was an event fair? What in its log is unusual, and how often chance alone shows as much. Pure.

Theory of operation. Counted records come in the order of their ids, so that the rotations of a deal
come together; each of the parts below takes them up one rated event at a time and holds sums. What
has to be permuted lies in *cells*: each rated event belongs to one, by a hash of its id, and what
is drawn for a permutation is drawn for a whole cell. So a permutation costs the same in an event of
a million matches as in one of a thousand, and it is still an exact one: drawing the same for all
of a cell is drawing from fewer of the permutations that a fair event makes equally likely. Blocks
have no cells: a draw there costs as much as adding up all rated events, in slices.

    chance      p-values, permutations, corrections for many questions
    turns       turns and discards out of a hole's moves
    seats       what sitting, and playing, first is worth; ties
    caps        holes that only the turn cap ended
    fortune     luck by bot
    rotations   who does better where the deal had been played before
    company     who does better beside whom (score lift)
    feeding     who leaves good discards to whom
    blocks      whose results within a series hang together
    trends      who gets better or worse in one
    hosts       time, faults, load
    auditor     all of these
    report      what comes out

Invariant: the report is a function of the event, its secret and the set of counted records.
"""
