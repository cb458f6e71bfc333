"""The machine that plays: its facts, its limits, and what `arena doctor` finds."""
