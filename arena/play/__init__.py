"""A person at the table: one seat of a match is a person's, the others are bots'.

Theory of operation. `session` plays the match, for the bots a match like any other. What it has for
the person goes to a `Desk`; terminal, lines and page show the desk and nothing else. `hints` reads
the person's input as a move, or says why it is none.

Invariant: card values reach a desk only by the referee's messages and the seat's own view, so
nothing that is shown can hold a card that the seat can't know.
"""
