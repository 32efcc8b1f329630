"""What several chapters use: recorded patterns, the three counts side by side, faults put into a kernel."""
