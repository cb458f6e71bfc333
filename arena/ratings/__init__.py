"""From records to standings, in any order to the same bytes.

`archive` keeps what ratings need of a record, `counts` decides which matches count and which bots
are withdrawn (`incremental` while the event is played), `outcomes` turns counted matches into rated
deals and their sums, `fit` and `stroke_fit` find the skills that explain the sums, `intervals` says
how sure averages are, `standings` makes the `Table`.

Invariant of the whole package: a table is a pure function of the event, its schedule and the
*set* of its records. Sums are of whole numbers, or run in an order that is fixed by ids.
"""
