"""Many holes, or matches, at once as numpy arrays: the rules of `arena.games` in columns.

This is a second implementation of the rules, made for speed. What keeps it equal to the first is a
test (tests/rl/test_vector.py) that plays the same decks and moves in both and compares all that a
seat can see, and all that it can't, after every move.
"""
