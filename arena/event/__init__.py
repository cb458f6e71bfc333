"""An event from its bots to its table: entering, playing, resuming, merging, rating again."""
