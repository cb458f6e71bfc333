"""Which bots decide alike beyond what strength and published recipes explain (`arena twins`)."""
