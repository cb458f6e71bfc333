"""A person at the table: one seat of a match is theirs, the others are bots'.

Theory of operation. `sitting` plays the match: it is a `Match` like any other for the bots, and
what it has for the person goes to a `Desk`, which keeps what a bot in that seat would know: the
same messages, and the views and plays of which the next question would tell. Whoever shows a match
to a person (a terminal, lines, a page) shows the desk and nothing else. `hints` says of what a
person wants to do which move that is, or why it can't be one.

Invariant: card values reach a desk by the referee's messages and the seat's own view, so nothing
that is shown can hold a card that the seat can't know.
"""
