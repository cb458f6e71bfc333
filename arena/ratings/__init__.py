"""From records to standings, in any order to the same bytes.

The way through: `counting` decides which records count and who is withdrawn, `outcomes` turns
counted matches into rated events and sums those up, `fit` finds the ratings that explain the
sums, `intervals` says how sure the averages are, `standings` puts it all into a `Table`.

Beside the way: `trueskill_package` rates online for the progress display.

Invariant of the whole package: a table is a pure function of the event, its schedule and the
*set* of its records. Sums are of whole numbers, or run in an order that is fixed by ids.
"""
