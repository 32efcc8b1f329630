"""The puzzles of notebook 10b: the clock, the peak at that clock, energy, and what a tile asks of L2."""
