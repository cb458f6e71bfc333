"""Is a results folder true? Derived again from the folder alone: no bots, no sandbox, no clock.

Theory of operation. What an event published follows from its secret, its settings, its entrants
and the moves of its bots. `case.py` holds event.json against the commitment and makes from it
what everything else follows from: the deals, the rules, the schedule. `lines.py` plays the
matches of a part of the log again; `log.py` has all parts done by as many processes as there are
cores, in any order, and takes in what they found in the order of the file. `whole.py` asks what
no line tells alone: whether every match that was to be played is there, and whether the published
tables follow from those that count. `rerun.py` names the series that are to be played again.

Invariants: the verdict is a function of the folder, whatever the number of processes; memory
does not grow with the log, but for some 50 bytes a match. A folder made by somebody who wishes
us ill gives a `Difference`, a UserError, or is true.
"""
