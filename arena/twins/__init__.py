"""Find bots that decide alike beyond what strength and published recipes explain."""
