"""Verify a results folder: derive everything again from the folder alone, without bots or clock.

Theory of operation. What an event published follows from its secret, its settings, its entrants and
the moves of its bots. `event.py` checks event.json against the commitment and makes the deals, the
rules and the schedule from it. `lines.py` replays the matches of a part of the log, each by
`records.py`; `log.py` spreads all parts over processes and yields their results in the order of the
file. `whole.py` checks what no line shows alone: that every planned match is there, and that the
published tables (`tables.py`) follow from the matches that count. `rerun.py` chooses the series
that bots play again.

Invariants: the result is a function of the folder, whatever the number of processes; memory
does not grow with the log, but for some 50 bytes a match. A hostile folder gives a `Difference`, a
UserError, or is true.
"""
