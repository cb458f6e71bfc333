"""A standing ladder: submissions in, rounds of matches, one ranking for months.

A ladder is a folder. `chain.jsonl` is the truth: what was accepted, retired and played, each line
with the hash of the one before. `versions/` has the accepted bots by content, `rounds/` the results
of each round, as events like any other. All else is derived from these and can be made again.
"""
