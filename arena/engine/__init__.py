"""Play one match against real processes: pipes, clocks, faults."""
