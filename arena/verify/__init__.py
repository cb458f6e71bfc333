"""Verify a results folder: derive everything again from the folder alone, without bots or clock.

Theory of operation. What an event published follows from its secret, its settings, its entrants and
the moves of its bots. `event` checks event.json against the commitment, `records` replays the
matches that `log` reads in parts, over processes, and `whole` checks what no line shows alone: that
every planned match is there, and that the published tables follow from the matches that count.
`rerun` has bots play matches again.

Invariants: the result is a function of the folder, whatever the number of processes; memory
does not grow with the log, but for some 50 bytes a match. A hostile folder gives a `Difference`, a
UserError, or is true.
"""
